"""What CONTRIBUTING.md shows is sound: a mechanism, a noise, a law and a query of one's own."""

import dataclasses
import importlib.util
import math
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_examples import ROOT
from scipy import integrate, stats
from scipy.stats import poisson

import takifugu as tk
from how_many import some_of
from takifugu.channels import InsecureSeededBits, protocol
from takifugu.divergences import between
from takifugu.problems import MaxDivergence, guarantee


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/examples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@settings(max_examples=some_of(25))
@given(st.floats(-0.99, 2), st.floats(-3, 3), st.floats(0.2, 3), st.floats(1.1, 10), st.floats(0.05, 4))
def test_a_foreign_mechanism_never_goes_below_the_exact_noise(margin, gap, std, alpha, epsilon):
    priors = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(gap, std)}
    rule = example("new_mechanism").WithMargin(margin=margin)
    made = tk.calibrate(priors, alpha=alpha, epsilon=epsilon, mechanism=rule)
    least = tk.calibrate(priors, alpha=alpha, epsilon=epsilon)
    assert made.theta >= least.theta * (1 - 1e-9)
    assert made.meets_budget()


@pytest.mark.parametrize("mean", [0.1, 2, 9])
def test_the_law_is_that_of_the_clipped_count(mean):
    law = example("new_law").poisson(mean, most=8)
    for k in range(8):
        assert law.probability(k) == pytest.approx(poisson.pmf(k, mean), rel=1e-12)
    assert law.probability(8) == pytest.approx(poisson.sf(7, mean), abs=1e-15)


def test_the_query_counts_what_pandas_counts():
    people = tk.datasets.load("adult")
    share = example("new_query").Share("marital-status", "Divorced")
    priors = tk.fit_priors(people, secret="race", query=share)
    for name, law in priors.items():
        rows = people[people["race"] == name]
        p = (rows["marital-status"] == "Divorced").mean()
        assert law.mean == pytest.approx(p)
        assert law.std == pytest.approx(math.sqrt(p * (1 - p) / len(rows)))
        assert priors.rows[name] == len(rows)
    assert set(tk.fit_priors(people, secret="race", query=share, secrets=["Other"])) == {"Other"}


@pytest.fixture
def logistic(monkeypatch):
    """The noise of the example, known for one test."""
    monkeypatch.setattr(protocol, "_OFFERED", {})
    return example("new_noise")


def on_points(p, q):
    points = list(range(len(p)))
    return tk.Mixture.empirical(points, p), tk.Mixture.empirical(points, q)


WEIGHTS = st.lists(st.integers(1, 9), min_size=3, max_size=3)


@settings(max_examples=some_of(20), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(WEIGHTS, WEIGHTS, st.floats(0.2, 3))
def test_the_odds_of_a_foreign_noise_are_those_of_scipy_and_decided(logistic, p, q, scale):
    laws, noise = on_points(p, q), logistic.LogisticNoise(scale)
    at = np.linspace(-60 * scale, 2 + 60 * scale, 200_001)
    mine, others = (
        sum(w * stats.logistic.pdf(at, x, scale) for w, x in zip(law.weights, law.means, strict=True)) for law in laws
    )
    found = noise.loss(*laws, MaxDivergence())
    assert found == pytest.approx(max(0.0, float(np.log(mine / others).max())), abs=1e-6)
    assert noise.decide(*laws, MaxDivergence(), found + 1e-7).holds is True
    if found > 1e-3:
        assert noise.decide(*laws, MaxDivergence(), found - 1e-4).holds is False


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.9])
def test_more_of_it_is_what_less_becomes(ratio):
    less, phi = ratio * 2.0, math.pi * ratio

    def difference(y):
        return math.sin(phi) / (2 * math.pi * less * (math.cosh(y / 2.0) + math.cos(phi)))

    assert integrate.quad(difference, -200, 200, points=[0])[0] == pytest.approx(1.0, abs=1e-9)
    for x in (0.0, 1.3):
        sum_of_both = integrate.quad(lambda y, at=x: difference(y) * stats.logistic.pdf(at - y, 0, less), -90, 90)[0]
        assert sum_of_both == pytest.approx(stats.logistic.pdf(x, 0, 2.0), rel=1e-8)


def test_a_foreign_noise_is_calibrated_certified_drawn_and_published_once(logistic, tmp_path):
    laws = dict(zip("ab", on_points([5, 3, 2], [2, 3, 5]), strict=True))
    made = tk.calibrate(laws, odds=2, mechanism=logistic.LeastLogistic())
    path = tmp_path / "certificate.json"
    tk.certify(made).save(path)
    assert tk.verify(path).claim.startswith("Logistic noise of scale")
    less = dataclasses.replace(made, channel=made.channel.resized(made.channel.size * (1 - 1e-4)))
    with pytest.raises(tk.CertificationError):
        tk.certify(less)
    drawn = made.channel.publish(np.zeros(4_000), source=InsecureSeededBits(5))
    assert stats.kstest(drawn, stats.logistic(0, made.channel.scale).cdf).pvalue > 1e-3
    tk.release(np.array([0.0, 1.0]), made, ledger=tmp_path / "ledger", order="keep")
    with pytest.raises(tk.BudgetError):
        tk.release(np.array([0.0, 1.0]), made, ledger=tmp_path / "ledger", order="keep")
    with pytest.raises(tk.CompositionError, match="published once"):
        made.channel.repeated([made.channel])
    with pytest.raises(tk.InputError, match="from a list of numbers"):
        made.channel.decide(tk.Mixture.gaussian(0, 1), laws["a"], MaxDivergence(), 1.0)


@pytest.fixture
def chi_squared(monkeypatch):
    """The divergence, guarantee and mechanism of the example, known for one test."""
    monkeypatch.setattr(guarantee, "_OFFERED", {})
    monkeypatch.setattr(between, "_KNOWN", dict(between._KNOWN))
    return example("new_divergence")


def on_list(p, q):
    return {name: tk.Finite(["x", "y", "z"], weights) for name, weights in zip("ab", (p, q), strict=True)}


@settings(max_examples=some_of(30), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(WEIGHTS, WEIGHTS, st.floats(0.01, 2))
def test_a_foreign_divergence_is_that_of_scipy_and_kept_by_a_foreign_mechanism(chi_squared, p, q, most):
    laws = on_list(p, q)
    made = tk.calibrate(laws, chi_squared.ChiSquared(most), mechanism=chi_squared.RandomizedResponse(bits=16))
    mine, others = (made.channel.apply(law).probabilities for law in laws.values())
    worst = max(stats.chisquare(mine, others).statistic, stats.chisquare(others, mine).statistic)
    assert worst <= most * (1 + 1e-9)
    assert made.channel.loss(laws["a"], laws["b"], chi_squared.ChiSquare()) == pytest.approx(
        stats.chisquare(mine, others).statistic
    )
    bare = (np.array(p) / sum(p), np.array(q) / sum(q))
    if max(stats.chisquare(*bare).statistic, stats.chisquare(*bare[::-1]).statistic) > most * 1.01:
        assert worst >= 0.98 * most  # the least chance: no step less would do


def test_a_foreign_divergence_is_certified_reported_and_read_again(chi_squared, tmp_path):
    laws = on_list([5, 3, 2], [2, 3, 5])
    asked = chi_squared.ChiSquared(0.1) & tk.Odds(3)
    made = tk.calibrate(laws, asked, mechanism=chi_squared.RandomizedResponse())
    tk.certify(made).save(tmp_path / "certificate.json")
    assert tk.verify(tmp_path / "certificate.json").calibration.guarantee == asked
    assert "a χ² of 0.1" in tk.report(made)
    tk.release(["x", "z"], made, ledger=tmp_path / "ledger", order="keep")
    more = dataclasses.replace(made, guarantee=chi_squared.ChiSquared(0.05))
    assert not more.meets_budget()
    with pytest.raises(tk.CertificationError):
        tk.certify(more)
    with pytest.raises(tk.MechanismError, match="a mechanism that knows it"):
        tk.calibrate(laws, chi_squared.ChiSquared(0.1))
    with pytest.raises(tk.InputError, match="already"):
        chi_squared.offer_guarantee(chi_squared.ChiSquared)


def test_a_divergence_is_not_taken_for_renyi_by_what_its_guarantee_calls_its_numbers(chi_squared):
    """With an order, a budget and odds of its own, a foreign guarantee is held to its own divergence all the same."""

    @dataclasses.dataclass(frozen=True)
    class Disguised(chi_squared.ChiSquared):
        kind: ClassVar[str] = "disguised"
        alpha: ClassVar[float] = 1.5
        epsilon: ClassVar[float] = 5.0
        odds_beside: ClassVar[None] = None

    laws = on_list([5, 3, 2], [2, 3, 5])
    made = tk.calibrate(laws, Disguised(0.1), mechanism=chi_squared.RandomizedResponse())
    loose = tk.calibrate(laws, chi_squared.ChiSquared(0.2), mechanism=chi_squared.RandomizedResponse())
    assert made.meets_budget()
    assert not dataclasses.replace(made, channel=loose.channel).meets_budget()
    assert "χ² = 0.1" in tk.report(
        tk.calibrate(
            on_list([5, 3, 2], [2, 3, 5]) | {"c": laws["a"]}, Disguised(0.1), mechanism=chi_squared.RandomizedResponse()
        )
    )


def test_a_guarantee_without_an_epsilon_has_a_report_and_a_ledger(monkeypatch, tmp_path):
    monkeypatch.setattr(guarantee, "_OFFERED", {})
    asked = example("new_guarantee").TotalVariation(0.1)
    laws = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 2), "c": tk.Mixture.gaussian(2, 1)}
    made = tk.calibrate(laws, asked, noise="laplace")
    shown = tk.report(made)
    assert "in percent of the limit δ = 0.1" in shown
    assert "∞ in one release" not in shown
    tk.release([0.0, 1.0], made, ledger=tmp_path / "ledger", order="keep")
    report = tk.report(tk.calibrate(laws, tk.Approximate(0.5, 0.1)))
    assert "in percent of the limit δ = 0.1" in report
