"""Certificates of Gaussian noise whose promise is for the population carry its evidence, and verify looks again."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.certificates.proving import load_redacted
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.mechanisms.evidence import Confidence


@pytest.fixture(scope="module")
def priors():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"s": np.repeat(["a", "b"], 200)})
    table["x"] = np.clip(np.rint(rng.normal(np.where(table.s == "a", 4, 5), 1.5)), 0, 10)
    return tk.fit_priors(table, secret="s", query=tk.Raw("x", bounds=(0, 10), step=1))


@pytest.mark.parametrize("asked", [{"confidence": 0.9}, {"assurance": "band"}], ids=["confidence", "band"])
def test_the_evidence_is_in_the_file_and_is_looked_at_again(priors, asked, tmp_path):
    calibration = tk.calibrate(priors, alpha=2, epsilon=1, **asked)
    certificate = tk.certify(calibration)
    certificate.save(tmp_path / "certificate.json")
    proved = tk.verify(tmp_path / "certificate.json")
    assert proved == certificate
    assert proved.theta == calibration.theta
    assert proved.calibration.evidence == calibration.evidence is not None
    assert "Gaussian noise of standard deviation" in proved.claim
    certificate.redacted().save(tmp_path / "public.json")
    certificate.require_match(load_redacted(tmp_path / "public.json"))


def test_evidence_that_does_not_hold_is_refused(priors):
    """Noise that is enough for the sample and not for the draws: true in balls, and still no certificate."""
    naked = tk.calibrate(priors, alpha=2, epsilon=1)
    claimed = replace(naked, evidence=Confidence(0.95, 59, 0, naked.error))
    with pytest.raises(tk.CertificationError, match="about the population does not hold"):
        tk.certify(claimed)
    honest = tk.certify(tk.calibrate(priors, alpha=2, epsilon=1, confidence=0.95))
    forged = replace(honest, calibration=replace(honest.calibration, channel=GaussianNoise(naked.theta)))
    with pytest.raises(tk.CertificationError, match="about the population does not hold"):
        tk.verify(forged)


def test_a_lattice_that_the_counts_are_not_about_is_refused(priors):
    content = tk.calibrate(priors, alpha=2, epsilon=1, confidence=0.9).to_dict()
    content["problem"]["answer"]["domain"]["high"] = 9.0
    with pytest.raises(tk.InputError, match="not about the points of the lattice"):
        tk.release([1.0], tk.Calibration.from_dict(content), secret=["a"])


def test_without_evidence_the_file_stays_what_it_was(priors):
    assert tk.certify(tk.calibrate(priors, alpha=2, epsilon=1)).to_dict()["version"] == 1
