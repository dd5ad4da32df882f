"""The report on noise on vectors: what it says, and its figures against formulas."""

import math

import numpy as np
import pytest
from page_reader import assert_harmless
from scipy.stats import norm

import takifugu as tk
from takifugu.channels.vector_noise import GaussianVector
from takifugu.errors import InputError
from takifugu.problems.guarantee import Renyi
from takifugu.reports.adversary import vector_adversary
from takifugu.reports.facts import VectorFacts, facts_of, vector_facts

HOSTILE = "<script>alert(1)</script>"
APART = {
    HOSTILE: tk.VectorMixture.gaussian([0.0, 10.0], [[1.0, 0.3], [0.3, 2.0]]),
    "b": tk.VectorMixture.gaussian([1.0, 12.0], [[1.0, 0.3], [0.3, 2.0]]),
    "c": tk.VectorMixture.gaussian([0.5, 10.5], [[1.5, 0.0], [0.0, 2.0]]),
}


def test_the_page_is_whole_and_harmless():
    calibration = tk.calibrate(APART, alpha=2, epsilon=0.5)
    page = tk.report(calibration, certificate=tk.certify(calibration))
    reader = assert_harmless(page)
    for word in ("number 1", "number 2", "Certified", "What an adversary can still infer", "correlations"):
        assert word in page
    assert "How close the others come" in page
    assert reader.words
    facts = facts_of(calibration)
    assert isinstance(facts, VectorFacts)
    told = facts.to_dict()
    assert [axis["noise"] for axis in told["axes"]] == np.sqrt(np.diagonal(calibration.channel.covariance)).tolist()
    assert told["secrets"] == [HOSTILE, "b", "c"]
    assert np.allclose(np.diagonal(told["correlation"]), 1)


def test_columns_give_the_axes_their_names():
    heart = tk.datasets.load("heart")
    priors = tk.fit_priors(heart, secret="slope", query=tk.Mean(["oldpeak", "age"]), secrets=[1, 3])
    calibration = tk.calibrate(priors, alpha=2, epsilon=0.5)
    facts = facts_of(calibration)
    assert [axis.name for axis in facts.axes] == ["oldpeak", "age"]
    assert facts.rows == (142, 21)
    assert "oldpeak" in calibration._repr_html_()
    assert "the mean of oldpeak and age" in tk.report(calibration)


@pytest.mark.parametrize("gap", [0.3, 1.0, 3.0])
def test_the_best_guess_is_that_of_the_formula(gap):
    """Two normals of one covariance are told apart with the chance Φ(Δ/2), Δ their Mahalanobis distance."""
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    noise = np.array([[1.0, -0.2], [-0.2, 3.0]])
    means = np.array([gap, -gap / 2])
    p, q = tk.VectorMixture.gaussian([0, 0], covariance), tk.VectorMixture.gaussian(means, covariance)
    found = vector_adversary(p, q, promise=Renyi(2, 1), channel=GaussianVector(noise))
    for guess, spread in ((found.guess_before, covariance), (found.guess_after, covariance + noise)):
        distance = math.sqrt(means @ np.linalg.solve(spread, means))
        assert guess == pytest.approx(norm.cdf(distance / 2), abs=6e-3)
    # ln p/q is normal with mean Δ²/2 and standard deviation Δ.
    for one in found.odds:
        exact = math.exp(distance**2 / 2 + distance * norm.ppf(one.probability))
        assert one.exact == pytest.approx(exact, rel=0.1)


def test_points_and_many_components_have_figures_too():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 40, (900, 2)).astype(float)
    p, q = tk.VectorMixture.empirical(rows), tk.VectorMixture.empirical(rows[:600] + 1)
    found = vector_adversary(p, q, promise=Renyi(2, 1), channel=GaussianVector(100 * np.eye(2)))
    assert 0.5 <= found.guess_after <= found.guess_before + 0.02 <= 1.02
    same = vector_adversary(p, p, promise=Renyi(2, 1), channel=GaussianVector(100 * np.eye(2)))
    assert same.guess_before == same.guess_after == 0.5


def test_other_channels_are_refused():
    numbers = tk.calibrate({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}, alpha=2, epsilon=0.1)
    with pytest.raises(InputError, match="noise on vectors"):
        vector_facts(numbers, question=None, compare=False, certificate_sha256=None)
