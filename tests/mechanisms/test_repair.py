"""Whatever a solver returns becomes a channel that is proved, or an error; on sane input it costs next to nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from repair_campaign import campaign
from scipy.optimize import linprog

import takifugu as tk
from how_many import some_of
from takifugu.errors import CalibrationError, InputError
from takifugu.mechanisms.optimal.finite_problem import Promise
from takifugu.mechanisms.optimal.repair import repaired

MANY = some_of(400)
BOTH = [(0, 1), (1, 0)]
COINS = np.array([[3.0, 1.0], [1.0, 3.0]])


def mended(matrix, *, allowed=None, fallback=None, bits=32, **promise):
    return repaired(matrix, Promise(**promise), allowed=allowed, fallback=fallback, bits=bits)


def test_of_many_random_problems_none_is_over_budget():
    found = campaign(MANY, seed=7)  # ten thousand take a minute: run repair_campaign.py
    assert found["over budget"] == 0
    assert found["proved"] > 0.9 * MANY


def best_for_odds(laws, mass, loss, odds):
    """The linear program, as SciPy's HiGHS solves it."""
    n, m = loss.shape
    shares = laws / laws.sum(axis=1, keepdims=True)
    rows = [np.kron(shares[i] - odds * shares[j], np.eye(m)[y]) for i, j in BOTH for y in range(m)]
    equal = np.kron(np.eye(n), np.ones(m))
    solved = linprog((mass[:, None] * loss).ravel(), A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=equal, b_eq=np.ones(n))
    return solved.x.reshape(n, m), solved.fun


@pytest.mark.parametrize("seed", range(12))
def test_repairing_an_optimum_costs_less_than_three_in_ten_thousand(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 25))
    laws = rng.multinomial(3_000, rng.dirichlet(np.full(n, 0.7)), 2).astype(float) + rng.integers(0, 40, (2, n))
    mass, x = laws.sum(axis=0) / laws.sum(), np.arange(n)
    loss = (x[:, None] - x) ** 2.0
    solved, least = best_for_odds(laws, mass, loss, odds := 1.3)
    counts = mended(solved, laws=laws, pairs=BOTH, odds=odds)
    error = float(mass @ (counts / 2**32 * loss).sum(axis=1))
    assert least * (1 - 1e-6) - 1e-9 <= error <= least * (1 + 3e-4) + 1e-9
    assert Promise(laws=laws, pairs=BOTH, odds=odds).is_kept(counts)


def test_what_already_holds_is_only_rounded():
    counts = mended([[0.75, 0.25], [0.25, 0.75]], laws=np.eye(2), pairs=BOTH, odds=3)
    assert counts.tolist() == [[3 * 2**30, 2**30], [2**30, 3 * 2**30]]


def test_rare_outputs_are_mended_without_mixing_in_much():
    """One law never publishes the third value, the other one time in five million: infinite, and cheap to mend."""
    solved = np.array([[0.5, 0.5, 0.0], [0.5 - 2e-7, 0.5, 2e-7]])
    counts = mended(solved, laws=np.eye(2), pairs=BOTH, alpha=3.0, epsilon=0.1)
    assert np.abs(counts / 2**32 - solved).max() < 1e-5


@pytest.mark.parametrize(
    "nonsense",
    [
        np.full((2, 3), math.nan),
        np.full((2, 3), -1.0),
        np.full((2, 3), math.inf),
        np.zeros((2, 3)),
        [[1e308, 1e308, 0], [5e-324, 0, 0]],
        [[1, 0, 0], [math.nan, -math.inf, 1e-9]],
    ],
)
def test_a_solver_that_lies_gets_a_channel_all_the_same(nonsense):
    for promise in ({"odds": 1.5}, {"alpha": 2.0, "epsilon": 0.01}, {"alpha": 64.0, "epsilon": 1.0, "odds": 2}):
        counts = mended(nonsense, laws=COINS, pairs=BOTH, **promise)
        assert counts.sum(axis=1).tolist() == [2**32] * 2
        assert Promise(laws=COINS, pairs=BOTH, **promise).is_kept(counts)


@pytest.mark.parametrize("alpha", [1 + 1e-9, 2.0, 1e9, math.inf])
def test_a_budget_below_every_rounding_leaves_a_constant(alpha):
    rng = np.random.default_rng(0)
    laws = rng.dirichlet(np.full(40, 0.5), 3)
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    counts = mended(np.eye(40), laws=laws, pairs=pairs, alpha=alpha, epsilon=5e-324)
    assert (counts == counts[0]).all()


def test_forbidden_moves_stay_forbidden():
    allowed = np.array([[True, True, False], [True, True, True], [True, False, True]])
    laws = np.array([[5.0, 1, 1], [1, 1, 5]])
    counts = mended(np.eye(3), laws=laws, pairs=BOTH, odds=1.2, allowed=allowed)
    assert (counts[~allowed] == 0).all()
    assert Promise(laws=laws, pairs=BOTH, odds=1.2).is_kept(counts)


def test_where_no_output_is_open_to_all_a_fallback_helps_or_an_error_says_so():
    blocks = np.array([[True, True, False, False]] * 2 + [[False, False, True, True]] * 2)
    laws = np.array([[3.0, 1, 1, 1], [1, 1, 3, 1]])  # the blocks themselves tell 2 to 1
    promise = {"laws": laws, "pairs": BOTH, "odds": 2.0, "allowed": blocks}
    flat = blocks / 2
    counts = mended(np.eye(4), fallback=flat, **promise)
    assert (counts[~blocks] == 0).all()
    assert Promise(laws=laws, pairs=BOTH, odds=2.0).is_kept(counts)
    with pytest.raises(CalibrationError, match="forbidden moves"):
        mended(np.eye(4), **{**promise, "odds": 1.9}, fallback=flat)
    with pytest.raises(CalibrationError, match="no output at all"):
        mended(np.eye(4), **{**promise, "allowed": np.zeros((4, 4), dtype=bool)})


def test_a_radius_asks_for_more():
    laws, solved = np.array([[2.0, 1, 1], [1, 1, 2]]), np.eye(3) * 0.4 + 0.2
    bare = mended(solved, laws=laws, pairs=BOTH, odds=2.5)
    wide = mended(solved, laws=laws, pairs=BOTH, odds=2.5, radius=np.array([0.3, 0.3]))
    everyone = mended(solved, laws=laws, pairs=BOTH, odds=2.5, radius=np.array([1.0, 1.0]))
    assert [np.trace(c) / 2**32 for c in (bare, wide, everyone)] == sorted(
        (np.trace(c) / 2**32 for c in (bare, wide, everyone)), reverse=True
    )
    table = everyone / 2**32  # a radius of one is a promise about any two inputs
    assert all(
        Fraction(int(a)) <= Fraction(5, 2) * int(b) for y in range(3) for a in everyone[:, y] for b in everyone[:, y]
    )
    assert table.sum() == 3


def test_the_float_screen_is_never_believed(monkeypatch):
    monkeypatch.setattr(Promise, "seems_kept", lambda self, matrix: True)
    counts = mended(np.eye(2), laws=np.eye(2), pairs=BOTH, odds=3)
    assert Promise(laws=np.eye(2), pairs=BOTH, odds=3).is_kept(counts)
    assert counts.max() <= 3 * counts.min()


def test_equality_of_odds_is_kept_and_one_unit_more_is_not():
    promise = Promise(laws=np.eye(2), pairs=[(0, 1)], odds=3)
    assert promise.is_kept(np.array([[12, 4], [4, 12]]))
    assert not promise.is_kept(np.array([[13, 3], [4, 12]]))


def test_only_channels_are_proved():
    promise = Promise(laws=np.eye(2), pairs=[(0, 1)], odds=3)
    for counts in ([[12, 4], [4, 13]], [[12, 4, 0]], [[0.5, 0.5], [0.5, 0.5]]):
        with pytest.raises(InputError, match="counts"):
            promise.is_kept(np.array(counts))


def test_many_pairs_are_screened_in_parts(monkeypatch):
    from takifugu.mechanisms.optimal import finite_problem as exact_promise

    monkeypatch.setattr(exact_promise, "_AT_ONCE", 1)
    promise = Promise(laws=np.eye(3), pairs=[(0, 1), (1, 0), (0, 2)], odds=3)
    assert promise.seems_kept(np.full((3, 2), 0.5))
    assert not promise.seems_kept(np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]]))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"laws": [[1.0, math.nan], [1, 1]]}, "laws"),
        ({"laws": [[0.0, 0.0], [1, 1]]}, "not all 0"),
        ({"laws": [[-1.0, 2.0], [1, 1]]}, "0 or more"),
        ({"laws": [1.0, 2.0]}, "table"),
        ({"pairs": []}, "at least one pair"),
        ({"pairs": [(0, 2)]}, "between 0 and 1"),
        ({"odds": None}, "epsilon, odds"),
        ({"odds": 1.0}, "odds"),
        ({"odds": None, "epsilon": -1.0}, "epsilon"),
        ({"odds": None, "epsilon": math.inf}, "epsilon, odds"),
        ({"alpha": 1.0}, "alpha"),
        ({"radius": [0.1]}, "radius"),
        ({"radius": [0.1, -0.1]}, "radius"),
        ({"matrix": [[1.0, 0.0]]}, "row for each"),
        ({"matrix": [["a", "b"], ["c", "d"]]}, "table of numbers"),
        ({"matrix": [[1.0], [1.0, 2.0]]}, "table of numbers"),
        ({"allowed": [[True]]}, "shape"),
        ({"bits": 63}, "bits"),
        ({"bits": 0}, "bits"),
    ],
)
def test_bad_input_is_a_sentence(change, sentence):
    given = {"matrix": np.eye(2), "laws": COINS, "pairs": BOTH, "odds": 2.0, **change}
    with pytest.raises(InputError, match=sentence):
        mended(given.pop("matrix"), **given)


@pytest.mark.parametrize("radius", [1e-3, 1e-2])
@pytest.mark.parametrize("keep", [None, "mean"])
def test_a_value_that_nobody_has_does_not_make_the_channel_constant(radius, keep):
    laws = {0: tk.Finite([0, 1, 2, 3], [16, 2, 0, 0]), 1: tk.Finite([0, 1, 2, 3], [1, 27, 21, 0])}
    found = tk.calibrate(laws, alpha=3, epsilon=1, preserve=keep, radius=radius)
    assert found.error <= found.lower_bound * 1.001
