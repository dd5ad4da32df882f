"""Discrete Laplace noise: its law in fractions and balls, draws bit for bit, and all that follows a calibration."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import takifugu as tk
from how_many import some_of
from takifugu import DiscreteLaplaceNoise, LaplaceNoise, Mixture
from takifugu.channels.laplace_on_lattice import _Folded
from takifugu.channels.rounded_draws import exact_multiple
from takifugu.channels.sampling import InsecureSeededBits
from takifugu.errors import BudgetError, CertificationError, CompositionError, InputError
from takifugu.mechanisms import least_noise_for

shares = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=50)
POINTS = {"a": Mixture([0.5, 0.5], [0, 1], [0, 0]), "b": Mixture([0.8, 0.2], [0, 1], [0, 0])}


def law_of(r, z):
    return (1 - r) / (1 + r) * r ** abs(z)


@given(shares, shares, st.fractions(min_value=-1, max_value=1, max_denominator=20))
def test_more_noise_is_less_with_more_added(r, other, cosine):
    small, large = sorted((r, other))

    def characteristic(share):
        return (1 - share) ** 2 / (1 - 2 * share * cosine + share**2)

    kept = small * (1 - large) ** 2 / (large * (1 - small) ** 2)
    assert 0 < kept <= 1
    assert characteristic(large) == characteristic(small) * (kept + (1 - kept) * characteristic(large))


@given(st.floats(0.05, 20), st.floats(0.05, 20), st.floats(-40, 40))
def test_laplace_noise_is_discrete_noise_with_more_added(scale, step, y):
    noise = DiscreteLaplaceNoise(scale, step)
    r, y = mpmath.exp(-mpmath.mpf(step) / scale), mpmath.mpf(y) * step / 10
    whole = mpmath.quad(lambda w: mpmath.sinh((step - abs(w)) / scale), [-step, 0, step])
    near = math.floor(y / step)
    mixed = sum(
        law_of(r, z) * mpmath.sinh((step - abs(y - z * step)) / scale) / whole
        for z in (near, near + 1)
        if abs(y - z * step) < step
    )
    assert mixed == pytest.approx(mpmath.exp(-abs(y) / scale) / (2 * scale), rel=1e-9)
    assert 0 <= noise.variance < LaplaceNoise(scale).variance


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_the_variance_is_less_by_a_sixth_of_the_squared_step_at_most(scale, step):
    noise = DiscreteLaplaceNoise(scale, step)
    with mpmath.workdps(40):
        r = mpmath.exp(-mpmath.mpf(step) / scale)
        exact = 2 * r / (1 - r) ** 2 * mpmath.mpf(step) ** 2
        assert noise.variance == pytest.approx(float(exact), rel=1e-12)
        gap = 2 * mpmath.mpf(scale) ** 2 - exact
        assert 0 < gap < mpmath.mpf(step) ** 2 / 6
        moments = [2 * mpmath.nsum(lambda z, k=k: z**k * law_of(r, z), [1, mpmath.inf]) for k in (2, 4)]
        if step < 20 * scale < 400 * step:
            assert noise.excess_kurtosis == pytest.approx(float(moments[1] / moments[0] ** 2 - 3), rel=1e-6)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=50, max_denominator=1000), st.integers(1, 200))
def test_sizes_are_as_probable_as_they_should_be(rate, k):
    u = arb(fmpq(rate.numerator, rate.denominator))
    r, shape = (-u).exp(), _Folded(rate)
    assert (shape.survival((k - arb(1) / 2) * u) - 2 * r**k / (1 + r)).contains(0)
    assert shape.lowered == pytest.approx(float((u / 2).cosh().log()), rel=1e-12, abs=1e-15)
    assert shape.lowered < float(rate) / 2


@given(st.integers(0, 2**31 - 1), st.floats(1e-2, 1e3), st.floats(1e-2, 1e2))
def test_a_size_is_that_of_its_uniform(size, scale, step):
    """The largest k that |Z| reaches with a probability above U, found by counting up."""
    source = InsecureSeededBits(3)
    found = exact_multiple(
        0.0, size, source, theta=scale, granularity=step, shape=_Folded(Fraction(step) / Fraction(scale))
    )
    with mpmath.workdps(60):
        u = mpmath.mpf(step) / mpmath.mpf(scale)
        ends = []
        for uniform in (mpmath.mpf(size + 1) / 2**31, mpmath.mpf(max(size, 2**-200)) / 2**31):
            ends.append(max(0, math.floor((mpmath.log(2 / (1 + mpmath.exp(-u))) - mpmath.log(uniform)) / u)))
    assert ends[0] <= found <= ends[1]


@pytest.mark.parametrize(("scale", "step"), [(1.0, 1.0), (0.2, 1.0), (33.3, 0.1), (1e5, 2.0), (3.0, 2.5)])
def test_both_paths_draw_the_same(scale, step):
    noise, n = DiscreteLaplaceNoise(scale, step), some_of(3_000)
    shape = _Folded(Fraction(step) / Fraction(scale))
    fast = noise.draw(np.zeros(n), source=InsecureSeededBits(5))
    source = InsecureSeededBits(5)
    words = np.frombuffer(source.read(4 * n), dtype="<i4")
    slow = [exact_multiple(0.0, int(w), source, theta=scale, granularity=step, shape=shape) for w in words]
    assert np.array_equal(noise.places(fast), slow)


@pytest.mark.parametrize(("scale", "step", "x"), [(0.5, 1.0, 3.0), (2.0, 1.0, 0.0), (7.0, 2.5, -5.0), (0.9, 0.1, 0.3)])
def test_draws_have_the_law(scale, step, x):
    n, noise = some_of(1_200_000), DiscreteLaplaceNoise(scale, step)
    drawn = noise.draw(np.full(n, x), source=InsecureSeededBits(11))
    steps = np.rint((drawn - x) / step).astype(int)
    r = math.exp(-step / scale)
    at = np.arange(-400, 401)
    mass = np.array([law_of(r, z) for z in at.tolist()]) * n
    seen = np.bincount(steps + 400, minlength=801)
    kept = mass > 5
    expected = np.append(mass[kept], max(n - mass[kept].sum(), 1e-9))
    found = np.append(seen[kept], seen[~kept].sum())
    assert chisquare(found, expected).pvalue > 1e-5


def test_published_values_stay_on_the_points():
    tenths = DiscreteLaplaceNoise(0.7, 0.1, 0.05)
    published = tenths.draw(np.full(1_000, 0.35), source=InsecureSeededBits(2))
    assert all(Fraction(repr(value)) % Fraction(1, 10) == Fraction(1, 20) for value in published.tolist())
    whole = DiscreteLaplaceNoise(3).draw([1, 2, 3], source=InsecureSeededBits(2))
    assert (whole == np.rint(whole)).all()
    assert not (np.signbit(whole) & (whole == 0)).any()


def test_what_is_off_the_lattice_is_refused():
    noise = DiscreteLaplaceNoise(0.7, 0.5)
    with pytest.raises(InputError, match=r"2 of 3 values are not on the points"):
        noise.draw([0.5, 0.3, 0.7])
    with pytest.raises(InputError, match="not on the points"):
        noise.loss(Mixture.gaussian(0.2, 0), Mixture.gaussian(0, 0), tk.Odds(2).divergence)
    with pytest.raises(InputError, match="this one has normals"):
        noise.require_law(Mixture.gaussian(0, 1))
    with pytest.raises(InputError, match="granularity"):
        noise.draw([0.5], granularity=0.25)
    for bad in (
        {"scale": -1},
        {"scale": math.nan},
        {"scale": 1, "step": 0},
        {"scale": 1, "step": 1e-30},
        {"scale": "1"},
    ):
        with pytest.raises(InputError):
            DiscreteLaplaceNoise(**bad)


@given(st.lists(shares, min_size=1, max_size=4), st.data())
def test_several_releases_are_drawn_from_one(rs, data):
    """In fractions: the measure from which the releases are drawn has no negative mass, and gives their law back."""
    ys = [data.draw(st.integers(-6, 6)) for _ in rs]
    one = math.prod(rs)

    def given_x(x):
        return math.prod(r ** abs(x - y) for r, y in zip(rs, ys, strict=True))

    def measure(x):
        beside = given_x(x + 1) + given_x(x - 1)
        return ((1 + one**2) * given_x(x) - one * beside) / (1 - one) ** 2

    masses = {z: measure(z) for z in range(-8, 9)}
    assert all(mass >= 0 for mass in masses.values())
    assert masses[-8] == masses[8] == 0  # beyond all that was published nothing is left
    for x in (-7, 0, 3):
        assert sum(law_of(one, x - z) * mass for z, mass in masses.items()) == given_x(x)


def test_two_releases_tell_no_more_than_one_with_their_rates_added():
    p, q = POINTS["a"], POINTS["b"]
    one, two = DiscreteLaplaceNoise(1.5), DiscreteLaplaceNoise(0.8)
    together = one.repeated([two])
    assert 1 / together.scale == pytest.approx(1 / 1.5 + 1 / 0.8, rel=1e-12)
    rates = [math.exp(-1 / noise.scale) for noise in (one, two)]
    joint = {"p": [], "q": []}
    for y in itertools.product(range(-60, 62), repeat=2):
        for name, law in (("p", p), ("q", q)):
            points = zip(law.weights.tolist(), law.means.tolist(), strict=True)
            joint[name].append(
                sum(w * math.prod(law_of(r, k - x) for r, k in zip(rates, y, strict=True)) for w, x in points)
            )
    first, second = np.array(joint["p"]), np.array(joint["q"])
    for alpha in (1.5, 4.0):
        lost = math.log((first**alpha * second ** (1 - alpha)).sum()) / (alpha - 1)
        assert 0 < lost <= tk.renyi_divergence(p, q, alpha=alpha, noise=together)
    for epsilon in (0.0, 0.3):
        lost = np.maximum(first - math.exp(epsilon) * second, 0).sum()
        assert 0 < lost <= tk.hockey_stick(p, q, epsilon=epsilon, noise=together)
    assert np.log(first / second).max() <= tk.max_divergence(p, q, noise=together) * (1 + 1e-12)
    with pytest.raises(CompositionError, match="on different points"):
        one.repeated([DiscreteLaplaceNoise(1.0, 0.5)])
    with pytest.raises(CompositionError):
        one.repeated([LaplaceNoise(1.0)])
    assert not one.at_least(DiscreteLaplaceNoise(1.0, 0.5))


def table(rows=500):
    rng = np.random.default_rng(4)
    secret = rng.choice(["a", "b"], rows)
    return pd.DataFrame({"s": secret, "x": rng.integers(0, 5, rows) + (secret == "b") * rng.integers(0, 2, rows)})


def test_a_column_of_counts_goes_all_the_way(tmp_path):
    rows = table()
    priors = tk.fit_priors(rows, secret="s", query=tk.Raw("x"))
    made = tk.calibrate(priors, odds=3)
    assert (made.mechanism, made.channel.kind, made.channel.step) == ("laplace", "discrete-laplace", 1.0)
    assert tk.Calibration.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    tk.verify(tk.certify(made))
    half = tk.calibrate(priors, odds=1.5)
    ledger = tk.Ledger(tmp_path / "l.db", budget=made)
    out = tk.release(
        rows, half, secret="s", column="x", ledger=ledger, order="keep", utility=tk.Utility(allow_no_noise=True)
    )
    assert out["x"].dtype.kind == "i"
    assert ledger.loss(made) < made.loss
    tk.release(rows, half, secret="s", column="x", ledger=ledger, utility=tk.Utility(allow_no_noise=True))
    with pytest.raises(BudgetError, match="Nothing was released"):
        tk.release(rows, made, secret="s", column="x", ledger=ledger, utility=tk.Utility(allow_no_noise=True))
    published = rows.assign(x=out["x"].to_numpy())[["x"]]
    assert "No attack contradicts" in str(tk.audit(published, rows, half))
    mean = tk.estimate(published, half, columns="x").mean("x")
    assert abs(mean.value - rows["x"].mean()) < 6 * half.channel.std / math.sqrt(len(rows))
    assert "Discrete Laplace noise of scale b" in tk.report(made)
    assert made.plot() is not None
    swept = tk.sweep(priors, odds=[2, 3])
    assert swept.variance.tolist()[1] == pytest.approx(made.variance, rel=1e-12)
    sure = tk.calibrate(priors, odds=3, confidence=0.9)
    assert sure.channel.kind == "discrete-laplace"
    assert sure.channel.scale > made.channel.scale
    with pytest.raises(InputError, match="stays on its points"):
        tk.release(rows, made, secret="s", column="x", utility=tk.Utility(granularity=0.25))


def test_a_certificate_verifies_and_a_billionth_less_does_not():
    made = tk.calibrate(POINTS, odds=math.exp(0.3))
    assert 1.081512213946 * (1 - 1e-12) <= made.channel.scale <= 1.081512213946 * (1 + 1e-9)
    tk.verify(tk.certify(made))
    weaker = replace(made, channel=made.channel.resized(made.channel.scale * (1 - 1e-9)))
    assert not weaker.meets_budget()
    with pytest.raises(CertificationError, match="not proved to be within"):
        tk.certify(weaker)


@pytest.mark.parametrize("asked", [tk.Renyi(3, 0.3), tk.Approximate(0.2, 0.01), tk.Renyi(2, 0.5) & tk.Odds(3)], ids=str)
def test_other_guarantees_take_the_noise_of_less_variance(asked):
    made = tk.calibrate(POINTS, asked, mechanism="laplace")
    assert made.meets_budget()
    for other in (LaplaceNoise(0.0), DiscreteLaplaceNoise(0.0)):
        found = least_noise_for(made.problem, asked, other).channel
        assert made.variance <= found.variance


def test_points_without_a_common_step_take_laplace_noise():
    for values in ([0, 1, math.pi], [0.0, 0.001, 7.123]):
        laws = {"a": Mixture.empirical(values), "b": Mixture.empirical(values, np.arange(1, len(values) + 1))}
        assert tk.calibrate(laws, odds=1.2).channel.kind == "laplace"
    tenths = {"a": Mixture.empirical([0.1, 0.3]), "b": Mixture.empirical([0.1, 0.3], [3, 1])}
    made = tk.calibrate(tenths, odds=1.2)
    assert (made.channel.step, made.channel.offset) == (0.2, 0.1)
