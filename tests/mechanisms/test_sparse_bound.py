"""That no channel costs less than the bound of a sparse one: against fractions, the best channel, and any prices."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.errors import CertificationError, InputError
from takifugu.laws.finite import Finite
from takifugu.mechanisms.optimal.column_generation import Prices
from takifugu.mechanisms.optimal.mechanism import Optimal, _cells
from takifugu.problems.guarantee import Odds, Renyi
from takifugu.problems.problem import Problem

ROWS = list(itertools.product(range(4), "pqr"))
EPSILON = math.log(1.7)
BY_COLUMNS = Optimal(solver="columns")


@st.composite
def laws(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    shape = draw(st.sampled_from([0.1, 1.0, 5.0]))
    return {s: Finite(ROWS, rng.dirichlet(np.full(len(ROWS), shape)) * 50) for s in range(draw(st.integers(2, 4)))}


PAIRS = st.sampled_from([None, [(0, 1)]])


@settings(max_examples=some_of(20))
@given(laws(), PAIRS, st.sampled_from([1.05, 1.7, 20.0]))
def test_the_bound_is_that_of_the_best_channel(laws, pairs, odds):
    found = tk.calibrate(laws, odds=odds, pairs=pairs, options={"solver": "columns"})
    best = tk.calibrate(laws, odds=odds, pairs=pairs, preserve=None)
    assert found.lower_bound <= best.error * (1 + 1e-9)
    assert found.lower_bound <= found.error
    assert found.error <= 1.001 * found.lower_bound + 1e-4  # rounding to odds a little smaller, and to counts


def exact_bound(problem, weights, prices):
    """The bound of prices that are allowed as they are, in fractions and from its statement alone."""
    rational = [[Fraction(x) for x in line] for line in prices.tolist()]
    odds = Fraction(math.exp(EPSILON)) * (1 + Fraction(1, 10**12))
    for y in range(len(ROWS)):
        above = sum(max(line[y], 0) for line in rational)
        below = sum(max(-line[y], 0) for line in rational)
        assert below >= odds * above
    shares = [[Fraction(w) / sum(map(Fraction, law)) for w in law] for law in weights]
    whole = [sum(Fraction(law[x]) for law in weights) for x in range(len(ROWS))]
    mass = [one / sum(whole) for one in whole]
    cells = _cells(None, None, problem, None)
    total = Fraction(0)
    for x in range(len(ROWS)):
        total += min(
            mass[x] * sum(Fraction(float(t[c[x], c[y]])) for c, t in zip(cells.codes, cells.tables, strict=True))
            + sum(rational[k][y] * shares[k][x] for k in range(len(shares)))
            for y in range(len(ROWS))
        )
    return max(total, Fraction(0))


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([1e-3, 1.0, 50.0]))
def test_rounding_never_raises_the_bound(seed, size):
    rng = np.random.default_rng(seed)
    weights = rng.gamma(1.0, size=(3, len(ROWS)))
    problem = Problem.of({s: Finite(ROWS, law) for s, law in enumerate(weights)})
    best = BY_COLUMNS.find(problem, Renyi(math.inf, EPSILON))
    prices = best.optimality.values + size * 1e-4 * rng.normal(size=(3, len(ROWS)))
    above, below = np.maximum(prices, 0).sum(axis=0), np.maximum(-prices, 0).sum(axis=0)
    share = np.minimum(1, 0.999 * below / np.maximum(math.exp(EPSILON) * above, 1e-300))
    prices = np.where(prices > 0, prices * share, prices)
    told = BY_COLUMNS.proved_bound(problem, Renyi(math.inf, EPSILON), Prices(prices))
    exact = exact_bound(problem, weights.tolist(), prices)
    assert told <= exact
    assert told == pytest.approx(float(exact), rel=1e-9, abs=1e-12)


@settings(max_examples=some_of(25))
@given(laws(), PAIRS, st.integers(0, 1000), st.sampled_from([1e-6, 1e-2, 1.0, 1e300]))
def test_whatever_the_prices_the_bound_is_true(laws, pairs, seed, size):
    problem = Problem.of(laws, pairs)
    rows = 2 if pairs else len(laws)
    prices = size * np.random.default_rng(seed).normal(size=(rows, len(ROWS)))
    bound = BY_COLUMNS.proved_bound(problem, Renyi(math.inf, EPSILON), Prices(prices))
    best = tk.calibrate(laws, odds=math.exp(EPSILON), pairs=pairs, preserve=None)
    assert 0 <= bound <= best.error * (1 + 1e-9)


def test_pairs_that_share_a_secret_each_have_their_prices():
    rng = np.random.default_rng(3)
    laws = {s: Finite(ROWS, rng.dirichlet(np.ones(len(ROWS))) * 50) for s in range(4)}
    star = [(0, 1), (0, 2), (0, 3)]
    found = tk.calibrate(laws, odds=1.3, pairs=star, options={"solver": "columns"})
    best = tk.calibrate(laws, odds=1.3, pairs=star, preserve=None)
    assert found.optimality.values.shape == (6, len(ROWS))
    assert best.lower_bound * (1 - 1e-3) <= found.lower_bound <= best.error


@pytest.fixture
def found():
    rng = np.random.default_rng(8)
    laws = {s: Finite(ROWS, rng.integers(1, 40, len(ROWS))) for s in "ab"}
    return tk.calibrate(laws, odds=1.4, options={"solver": "columns"})


def test_the_bound_is_kept_proved_again_and_told(found, tmp_path):
    found.save(tmp_path / "calibration.json")
    again = tk.Calibration.load(tmp_path / "calibration.json")
    assert again.lower_bound == found.lower_bound > 0
    tk.certify(again).save(tmp_path / "certificate.json")
    proved = tk.verify(tmp_path / "certificate.json")
    assert proved.lower_bound == found.lower_bound
    assert "and none between these values" in proved.claim
    tk.report(again, tmp_path / "report.html")
    assert "No channel between these values" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_bound_that_nothing_proves_is_refused(found):
    with pytest.raises(CertificationError, match="not proved"):
        tk.certify(replace(found, lower_bound=found.lower_bound * (1 + 1e-6)))
    weaker = replace(found, optimality=Prices(np.zeros_like(found.optimality.values)))
    with pytest.raises(CertificationError, match="not proved"):
        tk.certify(weaker)
    for wrong in ({"prices": [1.0]}, {"prices": [["a"]]}, {"odds": []}, [], {"prices": [[math.nan]]}):
        data = found.essentials() | {"optimality": wrong}
        with pytest.raises(InputError):
            tk.certify(tk.Calibration.from_essentials(data))


def test_prices_of_another_problem_are_refused(found):
    with pytest.raises(InputError, match="prices"):
        BY_COLUMNS.proved_bound(found.problem, found.guarantee, Prices(np.zeros((3, 2))))
    with pytest.raises(InputError, match="finite order"):
        BY_COLUMNS.proved_bound(found.problem, Renyi(2.0, 1.0) & Odds(1.4), found.optimality)
    assert BY_COLUMNS.proved_bound(found.problem, Renyi(math.inf, 1e4), found.optimality) == 0.0


def test_caution_has_no_bound(found):
    laws = dict(found.beliefs[0].items())
    for guarantee in ({"odds": 3}, {"alpha": 2, "epsilon": 0.3}):
        assert tk.calibrate(laws, **guarantee, options={"solver": "columns", "caution": 1.0}).lower_bound is None
