"""A card says what was done, in YAML that others read, and nothing of the data."""

import datetime
import json
import math

import numpy as np
import pytest
import yaml
from broken_releases import audited, finite, gaussian, honest, labelled

import takifugu as tk
from takifugu.audits.outcome import release_card


def test_a_card_of_gaussian_noise_is_read_back():
    certificate = tk.certify(gaussian())
    audit = audited(honest, 300, 1)
    text = release_card(
        gaussian(),
        title='Wards: "2026" #1 \u202e',
        publisher="A hospital",
        date=datetime.date(2026, 3, 9),
        rows=300,
        certificate=certificate,
        audit=audit,
    )
    card = yaml.safe_load(text)
    assert card["title"] == 'Wards: "2026" #1 \u202e'
    assert card["date"] == "2026-03-09" or card["date"] == datetime.date(2026, 3, 9)
    assert card["promise"] | {"words": ""} == {
        "kind": "renyi",
        "alpha": 2,
        "epsilon": 1,
        "odds": None,
        "words": "",
    }
    assert card["channel"]["noise"] == {"kind": "gaussian", "theta": gaussian().theta}
    assert card["evidence"]["certificate_sha256"] == certificate.sha256
    assert card["audit"]["best_guess"][0] == float(audit.best_guess)
    assert card["answer"] == {"query": None, "columns": None, "rows": 300}


def test_a_card_of_a_channel_names_no_secret_and_no_prior():
    truth = labelled(np.random.default_rng(0), 500).replace({"s": {"a": "hidden-one", "b": "hidden-two"}})
    calibration = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Row("x")), odds=3)
    text = release_card(calibration, title="Labels", certificate=tk.certify(calibration))
    card = yaml.safe_load(text)
    assert math.isinf(card["promise"]["alpha"])
    assert card["promise"]["odds"] == pytest.approx(3)
    assert card["hidden"] == {"secret": ["s"], "pairs": 1, "known": []}
    assert card["channel"].keys() == {"kind", "mechanism", "noise"}
    assert card["audit"] is None
    assert "hidden-one" not in text
    assert json.dumps(truth.s.value_counts().tolist())[1:-1] not in text


@pytest.mark.parametrize("number", [1e-05, 1e22, 0.1, 3.0, 1e-300])
def test_numbers_are_numbers_to_a_yaml_reader(number):
    laws = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(0, 1)}
    calibration = tk.calibrate(laws, alpha=2, epsilon=number)
    assert yaml.safe_load(release_card(calibration, title="x"))["promise"]["epsilon"] == number


def test_a_certificate_of_other_beliefs_is_not_of_this_release():
    same = [1, 2, 3]
    one, other = ({"a": tk.Finite(same, [1, 1, w]), "b": tk.Finite(same, [1, 1, w])} for w in (1, 2))
    mine, theirs = (tk.calibrate(laws, odds=3, preserve=None) for laws in (one, other))
    assert mine.channel == theirs.channel
    with pytest.raises(tk.InputError, match="not of this calibration"):
        release_card(mine, title="x", certificate=tk.certify(theirs))
    assert "certificate_sha256" in release_card(mine, title="x", certificate=tk.certify(mine))


def test_papers_of_another_release_are_refused():
    other = tk.calibrate({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(3, 1)}, alpha=2, epsilon=1)
    with pytest.raises(tk.InputError, match="not of this calibration"):
        release_card(other, title="x", certificate=tk.certify(gaussian()))
    with pytest.raises(tk.InputError, match="audit is about"):
        release_card(finite(), title="x", audit=audited(honest, 100, 1))
    with pytest.raises(tk.InputError, match="title must be"):
        release_card(gaussian(), title=" ")
    with pytest.raises(tk.InputError, match="made for a Calibration"):
        release_card("theta", title="x")
