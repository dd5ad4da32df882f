"""Certificates of Gaussian noise whose promise is for the population carry its evidence, and verify looks again."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.certificates import ChannelCertificate
from takifugu.certificates.document import _digest
from takifugu.certificates.proving import load_redacted
from takifugu.channels.gaussian import GaussianNoise
from takifugu.cli import main
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


@pytest.fixture(scope="module")
def counted():
    """A certificate of rows from a list, whose evidence is drawn from counts."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"s": np.repeat(["a", "b"], 90)})
    table["x"] = np.where(rng.random(180) < 0.4, rng.integers(0, 4, 180), np.where(table.s == "a", 1, 2))
    made = tk.publish(table, secret="s", columns=["x"], domain=range(4), odds=2)
    return made.certificate


def tampered(certificate, change):
    """The file of a certificate with other counts or rows, sealed again."""
    content = copy.deepcopy(certificate.to_dict())
    for belief in content["calibration"]["problem"]["beliefs"]:
        change(belief)
    content.pop("sha256")
    return content | {"sha256": _digest(content)}


def refused(content):
    with pytest.raises((tk.InputError, tk.CertificationError)):
        tk.verify(ChannelCertificate.from_dict(content))


def test_the_number_of_rows_is_named_as_the_holders_word(counted, tmp_path):
    counted.save(tmp_path / "certificate.json")
    proved = tk.verify(tmp_path / "certificate.json")
    assert "it rests on 180 rows (90 of the rarest secret), by the word of whoever holds them" in str(proved)
    assert "nothing here proves that number" in str(proved)
    said = CliRunner().invoke(main, ["verify", str(tmp_path / "certificate.json")])
    assert said.exit_code == 0
    assert "180 rows (90 of the rarest secret), by the word of whoever holds them" in " ".join(said.output.split())


@pytest.mark.parametrize("rows", [None, 0, -90, 90.5, "90", True, 91, 90 * 10**9])
def test_rows_that_are_not_those_counted_are_refused(counted, rows):
    def change(belief):
        belief["rows"] = [rows for _ in belief["rows"]]

    refused(tampered(counted, change))


def test_more_counts_than_rows_are_refused(counted):
    """Counts times a billion make any sample as good as the population; that number of rows would have to be said."""

    def more(belief):
        for secret in belief["counted"]:
            secret["counts"] = [1e9 * n for n in secret["counts"]]

    def more_and_silent(belief):
        more(belief)
        belief["rows"] = [None for _ in belief["rows"]]

    refused(tampered(counted, more))
    refused(tampered(counted, more_and_silent))


def test_no_counts_and_no_rows_are_refused(counted):
    def silent(belief):
        belief["counted"] = [None for _ in belief["counted"]]
        belief["rows"] = [None for _ in belief["rows"]]

    refused(tampered(counted, silent))
    with pytest.raises(tk.InputError, match="must say how many rows"):
        ChannelCertificate.from_dict(tampered(counted, silent))


def test_half_a_row_is_refused(counted):
    def halves(belief):
        for secret in belief["counted"]:
            secret["counts"][0] += 0.5
            secret["counts"][1] -= 0.5

    refused(tampered(counted, halves))


def test_priors_made_by_hand_rest_on_their_weights(tmp_path):
    priors = {"a": tk.Finite([0, 1], [40, 20]), "b": tk.Finite([0, 1], [20, 40])}
    certificate = tk.certify(tk.calibrate(priors, odds=1.5, confidence=0.9))
    assert "120 rows (60 of the rarest secret)" in str(certificate)
    certificate.save(tmp_path / "certificate.json")
    assert tk.verify(tmp_path / "certificate.json") == certificate

    def silent(belief):
        belief["rows"] = [None, None]

    refused(tampered(certificate, silent))
