"""Shaped noise through the public doors: calibrated, judged by 50-digit arithmetic, written and read."""

import dataclasses
import json
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.channels.vector_noise import GaussianVector
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.shaped import Shaped, shaped_noise
from vector_problems import gaussian_loss, random_laws, sampled_loss

HEART = tk.datasets.load("heart")
COLUMNS = ["oldpeak", "age", "thalach"]
LAWS = random_laws(np.random.default_rng(0), 3, 2)


@cache
def calibrated():
    return tk.calibrate(LAWS, alpha=2, epsilon=1)


def over_budget(calibration) -> list:
    """Every place above its budget, by determinants with 50 digits."""
    alpha, covariance = calibration.alpha, calibration.channel.covariance
    return [
        (belief, pair)
        for belief in calibration.beliefs
        for pair in calibration.losses
        if gaussian_loss(belief[pair[0]], belief[pair[1]], covariance, alpha=alpha) > calibration.epsilon
    ]


@settings(max_examples=some_of(12))
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 4),
    secrets=st.integers(2, 4),
    alpha=st.sampled_from([1.05, 2.0, 5.0, 32.0]),
    epsilon=st.sampled_from([0.02, 0.3, 2.0]),
    shape=st.sampled_from(["full", "diagonal", "equal"]),
)
def test_gaussian_vectors_are_never_over_budget(seed, d, secrets, alpha, epsilon, shape):
    laws = random_laws(np.random.default_rng(seed), secrets, d)
    found = tk.calibrate(laws, alpha=alpha, epsilon=epsilon, options={"shape": shape})
    assert found.mechanism == "shaped"
    assert not over_budget(found)
    assert found.meets_budget()
    if shape != "full":
        assert np.count_nonzero(found.channel.covariance - np.diag(np.diagonal(found.channel.covariance))) == 0


@settings(max_examples=3)
@given(seed=st.integers(0, 10**6))
def test_mixtures_of_vectors_are_not_seen_over_budget(seed):
    laws = random_laws(np.random.default_rng(seed), 2, 2, components=2, apart=0.6)
    found = tk.calibrate(laws, alpha=2.0, epsilon=0.5)
    for pair in found.losses:
        value, error = sampled_loss(*(laws[s] for s in pair), found.channel.covariance, alpha=2.0)
        assert value - 4 * error <= math.exp(found.epsilon)
        assert math.log(value + 4 * error) <= found.losses[pair] + 0.05  # the loss told is a bound
    assert found.meets_budget()
    assert tk.verify(tk.certify(found))


def test_means_of_several_columns_from_table_to_certificate(tmp_path):
    priors = tk.fit_priors(HEART, secret="slope", query=tk.Mean(COLUMNS))
    found = tk.calibrate(priors, alpha=3, epsilon=0.5)
    alone = shaped_noise([list(priors.values())], alpha=3.0, epsilon=0.5)
    assert found.error == pytest.approx(alone.cost, rel=1e-12)
    assert found.answer == priors.answer
    assert found.answer.columns == tuple(COLUMNS)
    assert found.worst_pair == (3, 1)
    assert found.loss == max(found.losses.values())
    assert "vectors of 3 numbers" in str(found)
    assert not over_budget(found)
    found.save(tmp_path / "c.json")
    assert tk.Calibration.load(tmp_path / "c.json") == found
    certificate = tk.certify(found)
    certificate.save(tmp_path / "k.json")
    assert tk.verify(tmp_path / "k.json").calibration == found
    assert "noise on vectors of 3 numbers keeps 3 pairs" in certificate.claim
    for pair, loss in zip(found.problem.places(), certificate.losses, strict=True):
        truth = gaussian_loss(*found.problem.ends(pair), found.channel.covariance, alpha=3.0)
        assert loss.lower <= truth <= loss.upper <= 0.5


def test_the_published_certificate_tells_no_direction(tmp_path):
    certificate = tk.certify(calibrated())
    public = certificate.redacted()
    public.save(tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text()
    covariance = certificate.calibration.channel.covariance
    assert public.content["channel"]["deviations"] == np.sqrt(np.diagonal(covariance)).tolist()
    assert repr(float(covariance[0, 1])) not in text
    from takifugu.certificates import load_redacted

    certificate.require_match(load_redacted(tmp_path / "r.json"))


def test_pairs_and_beliefs():
    beliefs = [random_laws(np.random.default_rng(k), 3, 2) for k in (1, 2)]
    both = tk.calibrate(beliefs, alpha=2, epsilon=0.5, utility=tk.Utility(weights=[1.0, 1.0]))
    one = tk.calibrate(beliefs[0], alpha=2, epsilon=0.5, utility=tk.Utility(weights=[1.0, 1.0]))
    few = tk.calibrate(beliefs, alpha=2, epsilon=0.5, pairs=[("s0", "s2")], utility=tk.Utility(weights=[1.0, 1.0]))
    assert not over_budget(both)
    assert one.error <= both.error * (1 + 1e-3)
    assert few.error <= both.error * (1 + 1e-3)
    assert set(few.worst_pair) == {"s0", "s2"}
    assert both.error == pytest.approx(np.trace(both.channel.covariance))


def test_laws_that_agree_need_the_floor_alone():
    law = LAWS["s0"]
    found = tk.calibrate({"a": law, "b": law}, alpha=2, epsilon=0.1)
    assert found.loss == 0
    assert found.error == pytest.approx(2 * 0.05**2)


@pytest.mark.parametrize("smaller", [1 - 1e-6, 0.5])
def test_a_changed_file_neither_loads_as_kept_nor_verifies(tmp_path, smaller):
    found = calibrated()
    weaker = dataclasses.replace(found, channel=GaussianVector(smaller * found.channel.covariance))
    assert not weaker.meets_budget()
    with pytest.raises(tk.CertificationError, match="not proved"):
        tk.certify(weaker)
    with pytest.raises(tk.CalibrationError, match="does not meet"):
        tk.release(np.zeros(2), weaker)
    forged = dataclasses.replace(tk.certify(found), calibration=weaker)
    with pytest.raises(tk.CertificationError, match=r"not proved|not what the certificate says"):
        tk.verify(forged)
    path = tmp_path / "c.json"
    found.save(path)
    data = json.loads(path.read_text())
    data["channel"]["covariance"][0][1] *= 1 + 1e-12
    path.write_text(json.dumps(data))
    with pytest.raises(tk.InputError, match="symmetric to the last digit"):
        tk.Calibration.load(path)


def test_a_losing_claim_or_a_false_figure_is_refused():
    certificate = tk.certify(calibrated())
    losses = list(certificate.losses)
    losses[0] = type(losses[0])(0.0, losses[0].upper * 0.9)
    with pytest.raises(tk.CertificationError, match="not what the certificate says"):
        tk.verify(dataclasses.replace(certificate, losses=tuple(losses)))
    with pytest.raises(tk.CertificationError, match="limit"):
        tk.verify(certificate, limit=300)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["channel"].update(covariance=[[1.0, 0.0], [0.0]]), "2 entries"),
        (lambda d: d["channel"].update(covariance=[[1.0]]), "vectors of 1 numbers"),
        (lambda d: d["channel"].update(covariance=[[1.0, 2.0], [2.0, 1.0]]), "positive"),
        (lambda d: d["channel"].update(covariance=[[0.0] * 101] * 101), "100 entries"),
        (lambda d: d["channel"].update(covariance="much"), "a list"),
        (lambda d: d.update(channel={"kind": "gaussian", "theta": 1.0}), "not of the kind"),
        (lambda d: d["problem"]["beliefs"][0]["laws"][0].update(means=[[1.0]]), "1 entries|1 rows|must have"),
        (lambda d: d["problem"]["beliefs"][0]["laws"][0].update(weights=[0.5]), "sum to 1"),
        (lambda d: d["problem"]["beliefs"][0]["laws"][0].update(covariances=[]), "entries"),
        (lambda d: d["problem"]["beliefs"][0]["laws"].__setitem__(0, {"values": [1], "weights": [1.0]}), "one kind"),
        (lambda d: d.update(error=d["error"] * 1.01), "'error' is not that"),
        (lambda d: d["options"].update(shape="round"), "shape must be"),
    ],
)
def test_files_that_are_wrong_are_refused_by_field(tmp_path, change, words):
    path = tmp_path / "c.json"
    calibrated().save(path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(tk.InputError, match=words):
        tk.Calibration.load(path)


def test_what_shaped_noise_cannot_do_is_refused_in_a_sentence():
    line = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}
    with pytest.raises(tk.MechanismError, match="adds noise to vectors"):
        tk.calibrate(line, alpha=2, epsilon=1, mechanism="shaped")
    with pytest.raises(tk.MechanismError, match="tails know no bound"):
        tk.calibrate(LAWS, odds=3)
    with pytest.raises(tk.MechanismError, match="numbers on the line"):
        tk.calibrate(LAWS, alpha=2, epsilon=1, mechanism="exact")
    with pytest.raises(tk.MechanismError, match="confidence"):
        tk.calibrate(LAWS, alpha=2, epsilon=1, confidence=0.9)
    with pytest.raises(tk.InputError, match="vectors of 2, 3 numbers"):
        tk.calibrate(LAWS | {"c": random_laws(np.random.default_rng(1), 1, 3)["s0"]}, alpha=2, epsilon=1)
    with pytest.raises(tk.InputError, match="one kind"):
        tk.calibrate(LAWS | {"c": tk.Mixture.gaussian(0, 1)}, alpha=2, epsilon=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shape": "round"}, "shape must be one of"),
        ({"shape": 3}, "shape must be one of"),
        ({"floor": 0.0}, "floor must be"),
        ({"floor": math.nan}, "floor must be"),
        ({"weights": "heavy"}, "weights must be"),
        ({"weights": [1.0, math.inf]}, "finite"),
        ({"weights": [1.0]}, "each of the 2 axes"),
        ({"weights": [[1.0, 2.0], [2.0, 1.0]]}, "positive"),
        ({"size": 3}, "no option"),
    ],
)
def test_options_that_cannot_be_used(options, words):
    weights = options.get("weights")
    rest = {name: value for name, value in options.items() if name != "weights"}
    with pytest.raises(tk.InputError, match=words):
        tk.calibrate(LAWS, alpha=2, epsilon=1, utility=tk.Utility(weights=weights), options=rest or None)


def test_options_are_values():
    assert Shaped(weights=[1, 2]) == Shaped(weights=np.array([1.0, 2.0]))
    assert hash(Shaped(weights=np.eye(2))) == hash(Shaped(weights=[[1, 0], [0, 1]]))
    found = tk.calibrate(
        LAWS, alpha=2, epsilon=1, utility=tk.Utility(weights=[[2.0, 0.5], [0.5, 1.0]]), options={"floor": 0.1}
    )
    weights = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert found.error == pytest.approx(np.trace(weights @ found.channel.covariance))
    assert tk.Calibration.from_dict(json.loads(json.dumps(found.to_dict()))) == found


@dataclasses.dataclass(frozen=True)
class Careless(Mechanism):
    name = "careless"
    label = summary = "Too little noise"

    size: float = 1e-3

    def find(self, problem, asked):
        return Found(GaussianVector(self.size * np.eye(2)))


def test_somebody_elses_noise_on_vectors_is_proved_or_refused():
    with pytest.raises(tk.CalibrationError, match="not proved"):
        tk.calibrate(LAWS, alpha=2, epsilon=1, mechanism=Careless())
    enough = float(np.linalg.eigvalsh(calibrated().channel.covariance)[-1])
    found = tk.calibrate(LAWS, alpha=2, epsilon=1, mechanism=Careless(enough * 1.01))
    assert found.meets_budget()
    assert not over_budget(found)


def test_shaped_stands_among_the_mechanisms():
    assert "vectors" in tk.list_mechanisms()["shaped"]


def test_a_sweep_over_vectors_has_no_theta():
    table = tk.sweep(LAWS, alpha=[2], epsilon=[0.5, 1], mechanism="shaped")
    assert table.theta.isna().all()
    assert len(table) == 2
