"""One search for every noise and every divergence, against quadrature by mpmath that shares no code with it."""

import math
from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

import takifugu as tk
from how_many import some_of
from takifugu.divergences import registered
from takifugu.errors import CertificationError, InputError, MechanismError
from takifugu.mechanisms.evidence import drawn_laws
from takifugu.problems import HockeyStick, MaxDivergence, RenyiDivergence

NORMALS = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}
POINTS = {"a": tk.Mixture([0.5, 0.5], [0, 1], [0, 0]), "b": tk.Mixture([0.8, 0.2], [0, 1], [0, 0])}
MIXED = {"a": tk.Mixture([0.3, 0.7], [0, 1], [0.5, 1]), "b": tk.Mixture([0.6, 0.4], [0.2, 2], [1, 0])}
PROBLEMS = {"normals": NORMALS, "points": POINTS, "mixed": MIXED}
GUARANTEES = [tk.Renyi(3, 0.2), tk.Renyi(1.5, 0.03), tk.Approximate(0.3, 1e-5), tk.Approximate(0.2, 0.01)]


def of_rows():
    rng = np.random.default_rng(7)
    secret = rng.choice(["a", "b"], 300)
    return pd.DataFrame({"s": secret, "x": rng.integers(0, 4, 300) + (secret == "b") * rng.integers(0, 2, 300)})


def density(law, noise):
    """The law after noise, as a function of mpmath."""

    def normal(x, s):
        return mpmath.exp(-x * x / (2 * s * s)) / (s * mpmath.sqrt(2 * mpmath.pi))

    def laplace_of_normal(x, s, b):
        if s == 0:
            return mpmath.exp(-abs(x) / b) / (2 * b)
        grow = mpmath.exp(s * s / (2 * b * b)) / (4 * b)
        low = mpmath.erfc((s / b - x / s) / mpmath.sqrt(2)) * mpmath.exp(-x / b)
        return grow * (low + mpmath.erfc((s / b + x / s) / mpmath.sqrt(2)) * mpmath.exp(x / b))

    parts = [tuple(map(mpmath.mpf, map(float, one))) for one in zip(law.weights, law.means, law.stds, strict=True)]
    size = mpmath.mpf(noise.size)
    if noise.kind == "gaussian":
        return lambda y: sum(w * normal(y - m, mpmath.sqrt(s * s + size * size)) for w, m, s in parts)
    return lambda y: sum(w * laplace_of_normal(y - m, s, size) for w, m, s in parts)


def integral(f, law, other, noise, changes=None):
    """Over panels that end at every mean, and where the integrand changes its form."""
    cuts = sorted({float(m) for one in (law, other) for m in one.means})
    width = noise.std + max(float(law.stds.max()), float(other.stds.max()))
    reach = 10 * width + 60 * noise.size * (noise.kind == "laplace")
    places = {*cuts, *np.linspace(cuts[0] - reach, cuts[-1] + reach, 121).tolist()}
    places |= set(np.linspace(cuts[0] - 2 * width, cuts[-1] + 2 * width, 41).tolist())
    if changes is not None:
        at = sorted(places)
        places |= {brentq(changes, a, c, xtol=1e-14) for a, c in pairwise(at) if changes(a) * changes(c) < 0}
    return mpmath.fsum(mpmath.quad(f, [a, c]) for a, c in pairwise(sorted(places)))


def on_whole_numbers(p, q, noise, of):
    """A sum far beyond the points."""
    r = mpmath.exp(-1 / mpmath.mpf(noise.scale))

    def mass(law, k):
        parts = zip(law.weights.tolist(), law.means.tolist(), strict=True)
        return sum(w * (1 - r) / (1 + r) * r ** abs(k - x) for w, x in parts)

    pairs = [(mass(p, k), mass(q, k)) for k in range(-300, 302)]
    if isinstance(of, RenyiDivergence):
        return mpmath.log(mpmath.fsum(a**of.alpha * b ** (1 - of.alpha) for a, b in pairs)) / (of.alpha - 1)
    return mpmath.fsum(max(mpmath.mpf(0), a - mpmath.exp(of.epsilon) * b) for a, b in pairs)


def truth(p, q, noise, of):
    first, second = density(p, noise), density(q, noise)
    with mpmath.workdps(20):
        if noise.kind == "discrete-laplace":
            return on_whole_numbers(p, q, noise, of)
        if isinstance(of, RenyiDivergence):
            found = integral(lambda y: first(y) ** of.alpha * second(y) ** (1 - of.alpha), p, q, noise)
            return mpmath.log(found) / (of.alpha - 1)
        factor = mpmath.exp(of.epsilon)

        def difference(y):
            return first(y) - factor * second(y)

        return integral(lambda y: max(mpmath.mpf(0), difference(y)), p, q, noise, lambda y: float(difference(y)))


def test_the_least_noise_of_two_normals_for_epsilon_and_delta():
    found = tk.calibrate(NORMALS, epsilon=1, delta=1e-5)
    assert found.mechanism == "exact"
    assert 3.594108010994 * (1 - 1e-12) <= found.theta <= 3.594108010994 * (1 + 1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("mechanism", ["exact", "laplace"])
@pytest.mark.parametrize("asked", GUARANTEES, ids=str)
def test_it_is_enough_and_a_hair_less_is_not(name, mechanism, asked):
    laws = PROBLEMS[name]
    found = tk.calibrate(laws, asked, mechanism=mechanism)
    p, q = (laws[secret] for secret in found.worst_pair)
    lost = float(truth(p, q, found.channel, asked.divergence))
    assert asked.budget * (1 - 1e-6) <= lost <= asked.budget * (1 + 1e-7)
    assert found.loss == pytest.approx(asked.budget, rel=1e-7)
    less = replace(found, channel=found.channel.resized(found.channel.size * (1 - 1e-7)))
    assert found.meets_budget()
    assert not less.meets_budget()


@pytest.mark.parametrize("mechanism", ["exact", "laplace"])
def test_it_is_certified_and_read_back(mechanism, tmp_path):
    found = tk.calibrate(MIXED, tk.Approximate(0.5, 1e-3), mechanism=mechanism)
    found.save(tmp_path / "calibration.json")
    assert tk.Calibration.load(tmp_path / "calibration.json") == found
    tk.certify(found).save(tmp_path / "certificate.json")
    assert tk.verify(tmp_path / "certificate.json").calibration == found
    less = replace(found, channel=found.channel.resized(found.channel.size * (1 - 1e-7)))
    with pytest.raises(CertificationError, match="not proved to be within"):
        tk.certify(less)


def test_both_parts_of_a_joined_guarantee_are_kept_and_one_binds():
    asked = tk.Renyi(3, 1) & tk.Odds(20)
    found = tk.calibrate(NORMALS, asked)
    alone = [tk.calibrate(NORMALS, part, mechanism="laplace").channel.scale for part in asked.parts]
    assert found.channel.scale == pytest.approx(max(alone), rel=1e-12)
    assert found.closest.part == asked.parts[alone.index(max(alone))]
    tk.verify(tk.certify(found))
    with pytest.raises(MechanismError, match="Gaussian noise bounds the odds at no size"):
        tk.calibrate(NORMALS, asked, mechanism="exact")
    delta = tk.Renyi(3, 1) & tk.Approximate(0.5, 1e-3)
    both = tk.calibrate(NORMALS, delta, mechanism="exact")
    apart = [tk.calibrate(NORMALS, part, mechanism="exact").theta for part in delta.parts]
    assert both.theta == pytest.approx(max(apart), rel=1e-12)


@settings(max_examples=some_of(30), deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.05, 1), st.floats(-3, 3), st.sampled_from([0.0, 0.3, 1.0])), min_size=2, max_size=4),
    st.sampled_from(["exact", "laplace"]),
    st.sampled_from([tk.Approximate(0.3, 0.02), tk.Renyi(2, 0.5)]),
)
def test_no_answer_is_below_the_truth(parts, mechanism, asked):
    half = len(parts) // 2
    laws = {}
    for name, some in (("a", parts[:half]), ("b", parts[half:])):
        weights, means, stds = zip(*some, strict=True)
        laws[name] = tk.Mixture([w / math.fsum(weights) for w in weights], [round(m, 2) for m in means], stds)
    found = tk.calibrate(laws, asked, mechanism=mechanism)
    if found.channel.is_bare:
        return
    for p, q in ((laws["a"], laws["b"]), (laws["b"], laws["a"])):
        lost = float(truth(p, q, found.channel, asked.divergence))
        assert lost <= asked.budget * (1 + 1e-7) + 1e-12


def test_what_is_registered_is_known_in_floats_and_in_balls():
    kinds = {kind for kind, _ in registered()}
    assert {"gaussian", "laplace", "values", "vector", "bare"} <= kinds
    assert {of for kind, of in registered() if kind == "laplace"} == {MaxDivergence, RenyiDivergence, HockeyStick}
    assert math.isinf(tk.max_divergence(*NORMALS.values()))


def test_confidence_is_for_any_noise_and_any_divergence():
    """Every draw of the posterior is within the guarantee, by the same functions that a file is checked with."""
    priors = tk.fit_priors(of_rows(), secret="s", query=tk.Raw("x"))
    for asked, mechanism in (
        (tk.Odds(3), "laplace"),
        (tk.Approximate(0.5, 1e-3), "exact"),
        (tk.Renyi(3, 0.5), "laplace"),
    ):
        alone = tk.calibrate(priors, asked, mechanism=mechanism)
        found = tk.calibrate(priors, asked, mechanism=mechanism, confidence=0.8)
        assert found.channel.size > alone.channel.size
        assert found.evidence.holds(found.problem, found.channel, asked)
        assert not found.evidence.holds(found.problem, found.channel.resized(0.99 * found.channel.size), asked)
        lost = [
            found.channel.loss(p, q, asked.divergence)
            for p, q in drawn_laws(found.problem, found.evidence.draws, found.evidence.seed)
        ]
        assert max(lost) == pytest.approx(asked.budget, rel=1e-6)
        tk.verify(tk.certify(found))
    means = tk.fit_priors(of_rows(), secret="s", query=tk.Mean("x"))
    assert tk.calibrate(means, odds=3, confidence=0.9).channel.scale > tk.calibrate(means, odds=3).channel.scale


def test_the_noise_of_less_variance_is_taken_where_neither_is_asked_for():
    for epsilon in (0.1, 3.0):
        both = [tk.calibrate(POINTS, alpha=3, epsilon=epsilon, mechanism=name) for name in ("exact", "laplace")]
        found = tk.calibrate(POINTS, alpha=3, epsilon=epsilon, noise="auto")
        assert found == min(both, key=lambda one: one.variance)
    assert tk.calibrate(POINTS, odds=3, noise="auto").mechanism == "laplace"
    assert tk.calibrate(POINTS, alpha=3, epsilon=1, noise="laplace").mechanism == "laplace"
    for bad in ({"noise": "cauchy"}, {"noise": "laplace", "mechanism": "exact"}):
        with pytest.raises(InputError, match="noise"):
            tk.calibrate(POINTS, odds=3, **bad)
