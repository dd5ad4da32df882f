"""The best channel against other solvers: Clarabel through cvxpy, libqif, and the two solvers against each other."""

import itertools
import math
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import takifugu as tk
from clarabel_oracle import clarabel
from how_many import some_of
from random_programs import random_program, random_wishes
from takifugu.mechanisms.optimal import interior_point as interior_points
from takifugu.mechanisms.optimal import solving
from takifugu.mechanisms.optimal.interior_point import Iterate, interior_point
from takifugu.mechanisms.optimal.linear_program import linear
from takifugu.mechanisms.optimal.lower_bound import lower_bound
from takifugu.mechanisms.optimal.program import Program, allowed_moves, shortfall, violation
from takifugu.mechanisms.optimal.solving import solve


def forbidding(n: int, seed: int) -> np.ndarray:
    forbidden = np.random.default_rng(seed).random((n, n)) < 0.2
    np.fill_diagonal(forbidden, False)
    return forbidden


CASES = {
    "plain": {},
    "marginal": {"keep": "marginal"},
    "mean": {"keep": "mean"},
    "unbiased": {"unbiased": True, "epsilon": 1.5},
    "forbidden": {"forbidden": forbidding(8, 1)},
    "diagonal": {"diagonal": 0.5, "epsilon": 0.8},
    "radius": {"radius": np.array([0.02, 0.05, 0.0])},
    "odds beside": {"odds": 1.7},
    "radius, odds, marginal": {"radius": np.array([0.02, 0.01, 0.03]), "odds": 1.7, "keep": "marginal"},
    "radius and forbidden": {"radius": np.array([0.02, 0.01, 0.03]), "forbidden": forbidding(8, 2)},
    "low order": {"alpha": 1.2, "epsilon": 0.05},
    "high order": {"alpha": 40.0, "epsilon": 0.5},
}


@pytest.mark.parametrize("name", CASES)
def test_it_agrees_with_clarabel(name: str):
    given = {"alpha": 3.0, "epsilon": 0.2, "loss": None} | CASES[name]
    values = np.arange(8.0)
    given["loss"] = (values[:, None] - values) ** 2
    program = random_program(11, n=8, secrets=3, **given)
    ours, theirs = solve(program), clarabel(program)
    assert ours.method == "interior-point"  # there is something to hide
    assert ours.gap < 1e-4
    assert ours.value == pytest.approx(theirs, rel=2e-4, abs=1e-6)
    assert ours.lower_bound <= theirs * (1 + 1e-5) + 1e-7
    assert violation(program, ours.matrix) <= 0
    assert shortfall(program, ours.matrix) < 1e-7


@pytest.mark.parametrize("name", [name for name in CASES if "order" not in name and "beside" not in name])
def test_the_linear_solvers_agree(name: str):
    given = {"epsilon": 0.5} | CASES[name]
    program = random_program(11, n=8, secrets=3, **given | {"alpha": math.inf})
    allowed = allowed_moves(program)
    vertex, centre = linear(program, allowed), interior_point(program, allowed)
    assert vertex is not None
    assert centre.value == pytest.approx(program.value(vertex.matrix), rel=1e-3)
    for duals in (vertex.duals, centre.duals):
        bound = lower_bound(program, duals)
        assert bound <= program.value(vertex.matrix) <= bound * (1 + 1e-3) + 1e-9


@pytest.mark.parametrize("wish", ["forbidden", "diagonal", "marginal", "mean", "unbiased"])
def test_around_every_law_the_vertex_is_proved_whatever_is_wished(wish: str, monkeypatch: pytest.MonkeyPatch):
    """Columns are written from their least entry up, so the multipliers of half of the rows are those of bounds."""
    n, far = 9, np.abs(np.subtract.outer(np.arange(9), np.arange(9))) > 4
    wished = {
        "forbidden": {"forbidden": far},
        "diagonal": {"diagonal": 0.2},
        "marginal": {"keep": "marginal", "forbidden": far},
        "mean": {"keep": "mean"},
        "unbiased": {"unbiased": True},
    }[wish]
    smooth = np.random.default_rng(5).dirichlet(np.full(n, 40.0), 3)
    radius = np.array([0.01, 0.0, 0.02])
    program = random_program(5, n=n, secrets=3, laws=smooth, alpha=math.inf, epsilon=1.5, radius=radius, **wished)
    allowed = allowed_moves(program)
    found = linear(program, allowed)
    monkeypatch.setattr("takifugu.mechanisms.optimal.linear_program._STEPS", 0)  # the interior point takes over
    again = linear(program, allowed)
    assert found is not None
    assert again is not None
    assert found.iterations != again.iterations
    for one in (found, again):
        value = program.value(one.matrix)
        assert value == pytest.approx(program.value(found.matrix), rel=1e-9)
        assert value * (1 - 1e-6) <= lower_bound(program, one.duals) <= value * (1 + 1e-8)
        assert violation(program, one.matrix) <= 1e-8


@pytest.mark.skipif(sys.platform == "win32", reason="libqif is not built for Windows")
@pytest.mark.parametrize("seed", range(4))
def test_it_agrees_with_libqif(seed: int):
    """Point priors and α = ∞: local differential privacy, of which libqif knows the best mechanism."""
    import qif

    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(3, 8)), float(rng.uniform(0.2, 2.0))
    loss = np.abs(np.arange(n)[:, None] - np.arange(n)).astype(float) ** (1 + seed % 2)
    pi = rng.dirichlet(np.full(n, 3.0))
    theirs = qif.mechanism.d_privacy.min_loss_given_d(pi, n, lambda a, b: epsilon, lambda x, y: float(loss[x, y]))
    best = float((pi[:, None] * loss * np.asarray(theirs)).sum())
    program = Program(
        laws=np.eye(n),
        constraints=tuple(itertools.permutations(range(n), 2)),
        epsilon=epsilon,
        mass=pi,
        loss=loss,
    )
    ours = solve(program)
    assert ours.value == pytest.approx(best, rel=1e-6)
    assert ours.gap < 1e-6
    # From the front door: each secret is its own value, and how common a value is goes into the loss.
    weighed = (pi[:, None] * loss * n).tolist()
    secrets = {value: tk.Finite(range(n), np.eye(n)[value]) for value in range(n)}
    found = tk.calibrate(secrets, odds=math.exp(epsilon), preserve=None, utility=tk.Utility(loss=weighed))
    assert found.error == pytest.approx(best, rel=1e-6)
    assert found.lower_bound <= best * (1 + 1e-6)


@pytest.mark.parametrize(
    ("table", "secret", "pair", "column", "rmse"),
    [
        ("adult", "race", ("White", "Other"), "education-num", 0.295),
        ("heart", "slope", ("1", "3"), "oldpeak", 0.79),
        ("student-mat", "schoolsup", ("no", "yes"), "G3", 1.18),
        ("student-por", "schoolsup", ("no", "yes"), "G3", 0.54),
    ],
)
def test_the_columns_of_the_paper(table: str, secret: str, pair: tuple[str, str], column: str, rmse: float):
    data = tk.datasets.load(table)
    groups = [data.loc[data[secret].astype(str) == name, column].to_numpy(float) for name in pair]
    values = np.unique(np.concatenate(groups))
    counts = np.array([[np.sum(group == value) for value in values] for group in groups], dtype=float)
    program = Program(
        laws=counts,
        constraints=((0, 1), (1, 0)),
        alpha=3.0,
        epsilon=0.5,
        mass=counts.sum(axis=0),
        loss=(values[:, None] - values) ** 2,
    )
    found = solve(program)
    assert math.sqrt(found.value) == pytest.approx(rmse, abs=0.006)
    assert found.gap < 1e-6


@settings(max_examples=some_of(60))
@given(seed=st.integers(0, 10**6))
def test_random_programs_are_solved_inside_the_promise(seed: int):
    secrets = 2 + seed % 3
    program = random_program(seed, n=3 + seed % 6, secrets=secrets, **random_wishes(seed, 0, secrets))
    found = solve(program)
    assert found.matrix.shape == program.size
    assert (found.matrix >= 0).all()
    assert violation(program, found.matrix) <= 0
    assert shortfall(program, found.matrix) < 1e-6
    assert found.lower_bound <= found.value
    assert found.gap < 1e-3 or found.value < 1e-6 * program.loss.max()


def test_nothing_to_hide_costs_nothing():
    laws = np.array([[1.0, 2.0, 1.0], [1.1, 2.0, 1.0]])
    program = random_program(0, n=3, secrets=2, laws=laws, alpha=3.0, epsilon=5.0)
    found = solve(program)
    assert (found.method, found.value, found.gap) == ("free", 0.0, 0.0)
    assert np.array_equal(found.matrix, np.eye(3))


def test_a_value_that_one_secret_never_has_is_not_shown_as_it_is():
    program = random_program(
        0, n=3, secrets=2, laws=np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]), alpha=2.0, epsilon=50.0
    )
    assert violation(program, np.eye(3)) == math.inf
    assert solve(program).method != "free"


def test_a_wider_promise_never_costs_more():
    program = random_program(21, n=8, secrets=2, alpha=3.0, epsilon=0.1)
    costs = [solve(replace(program, epsilon=epsilon)).value for epsilon in (0.05, 0.1, 0.2, 0.4)]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(costs))


@pytest.mark.parametrize(("alpha", "epsilon"), [(2.0, 1e5), (1.0001, 1e-306)])
def test_budgets_beyond_the_numbers_here_are_refused(alpha: float, epsilon: float):
    laws = {"a": tk.Finite([0, 1, 2], [1, 2, 0]), "b": tk.Finite([0, 1, 2], [5, 1, 3])}
    for keep in (None, "marginal", "mean"):
        with pytest.raises(tk.InputError, match="epsilon"):
            tk.calibrate(laws, alpha=alpha, epsilon=epsilon, preserve=keep)


def test_progress_is_told():
    told: list[tuple[int, float]] = []
    solve(random_program(11, n=8, secrets=3, alpha=3.0, epsilon=0.2), progress=lambda k, gap: told.append((k, gap)))
    assert told
    assert told[-1][1] < 1e-5


def test_many_constraints_of_which_few_bind():
    """Eight secrets, 56 directed pairs: the working set keeps the promise for all of them, and the bound holds."""
    x = np.arange(10.0)
    laws = np.array([np.exp(-0.5 * ((x - 4 - 0.3 * s) / 2) ** 2) for s in range(8)])
    program = random_program(0, n=10, secrets=8, laws=laws, mass=laws.sum(axis=0), alpha=3.0, epsilon=0.1)
    found, whole = solve(program), interior_point(program, allowed_moves(program))
    assert found.value == pytest.approx(whole.value, rel=1e-3)
    assert found.gap < 1e-5
    assert violation(program, found.matrix) <= 0
    assert np.count_nonzero(found.duals.weights) < len(program.constraints)


@pytest.mark.parametrize("keep", [None, "marginal"])
def test_large_programs_with_a_radius_are_for_the_interior_point_and_cost_what_highs_finds(keep: str | None):
    wishes = {"radius": np.full(3, 0.02), "keep": keep}
    program = random_program(1, n=66, secrets=3, alpha=math.inf, epsilon=1.0, **wishes)
    found, vertex = solve(program), linear(program, allowed_moves(program))
    assert found.method == "interior-point"
    assert found.gap < 1e-4
    assert violation(program, found.matrix) <= 0
    assert vertex is not None
    assert found.value == pytest.approx(program.value(vertex.matrix), rel=1e-4)
    assert found.value > found.lower_bound > 0


def test_outputs_that_the_interior_point_gives_up_are_published_no_more():
    """It leaves a trace of every input in them, and HiGHS knows which moves the best channel makes."""
    program = random_program(1, n=66, secrets=3, alpha=math.inf, epsilon=0.2, radius=np.full(3, 0.02))
    found, vertex = solve(program), linear(program, allowed_moves(program))
    assert vertex is not None
    assert found.method == "interior-point"
    assert (found.matrix > 0).any(axis=0).tolist() == (vertex.matrix > 0).any(axis=0).tolist()
    assert not (found.matrix > 0).any(axis=0).all()
    assert np.count_nonzero(found.matrix) <= 1.1 * np.count_nonzero(vertex.matrix)
    assert violation(program, found.matrix) <= 0


def test_many_small_steps_are_progress(monkeypatch: pytest.MonkeyPatch):
    """Each a twentieth nearer, as between six hundred rows: that was taken for none, and the start for the answer."""
    program = random_program(1, n=8, secrets=2, alpha=math.inf, epsilon=0.5)
    first = interior_point(program, allowed_moves(program))
    monkeypatch.setattr(interior_points, "_advance", lambda setting, at, pace: (at, 0.1))
    monkeypatch.setattr(
        interior_points,
        "_iterate",
        lambda setting, at, k: replace(first, value=1.0 + 0.95**k, bound=1.0, violation=0.0, iterations=k),
    )
    found = interior_point(program, allowed_moves(program))
    assert found.iterations == interior_points.MOST_STEPS


def test_multipliers_that_swing_where_outputs_vanish_prove_what_the_channel_costs():
    values = np.arange(18.0)
    laws = np.random.default_rng(2).dirichlet(np.ones(18), 5)
    program = Program(
        laws=laws,
        constraints=tuple(itertools.permutations(range(5), 2)),
        mass=laws.sum(axis=0),
        loss=(values[:, None] - values) ** 2,
        alpha=3.0,
        epsilon=0.5,
    )
    found = interior_point(program, allowed_moves(program))
    assert found.gap < 1e-7
    assert found.iterations < 35  # it took 59, of which the first 32 went into a proof that never closed


def test_where_the_interior_point_leaves_a_gap_highs_is_asked(monkeypatch: pytest.MonkeyPatch):
    program = random_program(5, n=66, secrets=2, alpha=math.inf, epsilon=1.0, radius=np.full(2, 0.02))

    def poor(program: Program, allowed: Any, **_: Any) -> Iterate:
        found = interior_point(program, allowed, goal=0.1, enough=0.1)
        assert found.gap > 1e-4
        return found

    monkeypatch.setattr(solving, "working_set", poor)
    found = solve(program)
    assert (found.method, found.gap < 1e-6) == ("highs", True)


@pytest.mark.parametrize("seed", [0, 3])
def test_more_laws_than_inputs(seed: int):
    program = random_program(seed, n=3, secrets=5, alpha=2.5, epsilon=0.2)
    found = solve(program)
    assert found.gap < 1e-4
    assert violation(program, found.matrix) <= 0


def test_a_hair_over_the_promise_is_mended_where_moves_are_forbidden():
    """No row is open to all, so a channel within bounded odds is mixed in: a hair of it, not all of it."""
    rare = 1e-6  # nearly points: an output that is all but given up breaks the odds with whatever is left in it
    laws = np.array([[4, 10, 1, 2], [3, 1, 5, 2.5], [rare, rare, 1, rare], [1, rare, rare, rare], [5, 4, 1, 10]])
    forbidden = np.zeros((4, 4), dtype=bool)
    forbidden[0, 3] = True
    for epsilon in (0.05, 0.2, 1.0):
        program = Program(
            laws=laws,
            constraints=((0, 2), (2, 0), (1, 2), (2, 1), (3, 4), (4, 3)),
            mass=laws.sum(axis=0),
            loss=1.0 - np.eye(4),
            alpha=3.0,
            epsilon=epsilon,
            odds=100.0,
            forbidden=forbidden,
        )
        found = solve(program)
        assert violation(program, found.matrix) <= 0
        assert not found.matrix[forbidden].any()
        assert shortfall(program, found.matrix) <= 2**-52  # rows of floats sum to one but for the last digit
        assert found.gap < 1e-4
        assert found.value == pytest.approx(clarabel(program), rel=1e-4)


def test_an_output_that_nobody_may_use_leaves_the_rest_a_radius():
    """A forbidden move takes it from a secret that is a point, and so from everyone."""
    laws = np.array([[0.0, 0, 0, 1], [1, 2, 1, 2], [3, 1, 1, 1]])
    forbidden = np.zeros((4, 4), dtype=bool)
    forbidden[3, 0] = True
    values = np.arange(4.0)
    for promise in ({"alpha": 1.5, "epsilon": 0.4}, {"epsilon": 0.8}):
        program = Program(
            laws=laws,
            constraints=tuple(itertools.permutations(range(3), 2)),
            mass=laws.sum(axis=0),
            loss=(values[:, None] - values) ** 2,
            inputs=values,
            outputs=values,
            forbidden=forbidden,
            radius=np.full(3, 0.05),
            **promise,
        )
        found = solve(program)
        assert not allowed_moves(program)[:, 0].any()
        assert not found.matrix[:, 0].any()
        assert found.gap < 1e-4
        assert found.value == pytest.approx(clarabel(program), rel=1e-4)


def test_values_that_one_in_fifty_thousand_has_do_not_end_the_search_at_its_start():
    """With kept shares and a radius the first steps are short; given up there, this cost 307.8, a value drawn anew."""
    import takifugu as tk
    from takifugu.mechanisms.optimal.mechanism import Optimal
    from takifugu.problems.guarantee import Renyi
    from takifugu.problems.problem import Problem

    hours = tk.Row("hours-per-week", domain={"hours-per-week": list(range(1, 100))})
    priors = tk.fit_priors(tk.datasets.load("adult"), secret="race", query=hours, secrets=["White", "Black"])
    found = solve(Optimal(radius=0.001).program(Problem.of(priors, None), Renyi(3, 0.2)))
    assert found.gap < 1e-5
    assert found.value < 30


@pytest.mark.parametrize(("alpha", "epsilon"), [(1 + 1e-6, 0.011), (1.0001, 0.1), (100.0, 180.0), (math.inf, 480.0)])
def test_where_the_solver_stops_early_a_stricter_promise_is_at_hand(alpha, epsilon):
    """It had stopped at seven times what bounded odds cost, which keep the promise too; HiGHS alone is the oracle."""
    rng = np.random.default_rng(3)
    laws, loss = rng.dirichlet(np.ones(8), size=2), (np.arange(8)[:, None] - np.arange(8)) ** 2 % 7 / 7
    mass = laws.mean(axis=0)
    found = solve(
        Program(
            laws=laws,
            constraints=((0, 1), (1, 0)),
            mass=mass,
            loss=loss,
            alpha=alpha,
            epsilon=epsilon,
            keep="marginal",
        )
    )
    odds = math.exp(min(epsilon, 10))
    oracle = linprog(
        (mass[:, None] * loss).ravel(),
        A_ub=np.vstack([np.kron(a / odds - b, np.eye(8)) for a, b in (laws, laws[::-1])]),
        b_ub=np.zeros(16),
        A_eq=np.vstack([np.kron(np.eye(8), np.ones(8)), np.kron(mass, np.eye(8))]),
        b_eq=np.append(np.ones(8), mass),
    )
    assert oracle.status == 0
    assert found.lower_bound <= found.value <= oracle.fun * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("keep", [None, "marginal"])
@pytest.mark.parametrize("alpha", [1 + 1e-6, 1.0001, 1.0005])
def test_next_to_order_one_the_bound_still_says_what_the_best_costs(alpha, keep):
    numbers = np.arange(15.0)
    laws = np.random.default_rng(1).dirichlet(np.ones(15), 2)
    given = {"laws": laws, "constraints": ((0, 1), (1, 0)), "mass": laws.sum(axis=0), "keep": keep}
    program = Program(loss=(numbers[:, None] - numbers) ** 2, alpha=alpha, epsilon=0.5, **given)
    found = solve(program)
    assert 0 < found.gap < 0.02
    assert found.value <= solve(replace(program, alpha=1.01)).value * (1 + 1e-6)  # which asks for more
