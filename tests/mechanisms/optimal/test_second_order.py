"""The program by cones beside Clarabel through cvxpy, and what it does with nonsense."""

import math

import numpy as np
import pytest

from takifugu.mechanisms.optimal import second_order
from takifugu.mechanisms.optimal.program import Program
from takifugu.mechanisms.optimal.second_order import Margined, with_margin


def _program(values: int, secrets: int, keep: str | None, seed: int = 0) -> Program:
    rng = np.random.default_rng(seed)
    usual = rng.dirichlet(np.full(values, 0.7))
    laws = 0.6 * usual + 0.4 * rng.dirichlet(np.full(values, 0.7), size=secrets)
    numbers = np.arange(values, dtype=np.float64)
    return Program(
        laws=laws,
        constraints=tuple((i, j) for i in range(secrets) for j in range(secrets) if i != j),
        alpha=math.inf,
        epsilon=math.log(3.0),
        mass=laws.sum(axis=0),
        loss=(numbers[:, None] - numbers) ** 2 / values**2,
        keep=keep,  # type: ignore[arg-type]
        inputs=numbers,
        outputs=numbers,
    )


def _margined(program: Program, seed: int = 0) -> Margined:
    rows = np.random.default_rng(seed).integers(60, 900, len(program.laws))
    return Margined(program, program.shares / (rows[:, None] + 1))


def _deviation(margined: Margined, constraint: int) -> np.ndarray:
    """A square root of the covariance of p_i − ρ p_j, from the definition."""
    i, j = margined.program.constraints[constraint]
    covariance = sum(
        weight * (np.diag(d) - np.outer(d, d) / d.sum())
        for d, weight in ((margined.spread[i], 1.0), (margined.spread[j], margined.program.factor**2))
    )
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T


def _clarabel(margined: Margined, factor: np.ndarray) -> float:
    import cvxpy as cp

    program = margined.program
    n, m = program.size
    k = cp.Variable((n, m), nonneg=True)
    wishes = [cp.sum(k, axis=1) == 1]
    if program.keep == "marginal":
        wishes.append(program.pooled @ k == program.pooled)
    if program.keep == "mean":
        wishes.append(program.pooled @ k @ program.outputs == program.pooled @ program.inputs)
    for c, (i, j) in enumerate(program.constraints):
        lean, root = program.factor * program.shares[j] - program.shares[i], _deviation(margined, c)
        wishes += [cp.SOC(lean @ k[:, y], factor[c, y] * root @ k[:, y]) for y in range(m)]
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(program.cost, k))), wishes)
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal"
    return float(problem.value)


@pytest.mark.parametrize("keep", [None, "marginal", "mean"])
@pytest.mark.parametrize(("values", "secrets"), [(5, 2), (9, 3), (16, 2)])
def test_it_is_as_good_as_clarabel(values, secrets, keep):
    margined = _margined(_program(values, secrets, keep, seed=values))
    factor = np.random.default_rng(1).uniform(1.0, 4.0, (len(margined.program.constraints), values))
    found = with_margin(margined, factor, goal=1e-6)
    assert found is not None
    assert found.value == pytest.approx(_clarabel(margined, factor), rel=2e-4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("keep", [None, "marginal", "mean"])
def test_a_channel_keeps_what_it_says_in_hand(seed, keep):
    margined = _margined(_program(12, 2 + seed % 2, keep, seed), seed)
    program = margined.program
    found = with_margin(margined, 3.0)
    assert found is not None
    assert found.gap < 0.01
    matrix = found.matrix
    assert (matrix >= 0).all()
    assert matrix.sum(axis=1) == pytest.approx(np.ones(12), abs=1e-12)
    if keep == "marginal":
        assert program.pooled @ matrix == pytest.approx(program.pooled, abs=1e-9)
    if keep == "mean":
        assert program.pooled @ matrix @ program.outputs == pytest.approx(program.pooled @ program.inputs, abs=1e-7)
    for c, (i, j) in enumerate(program.constraints):
        off = np.linalg.norm(_deviation(margined, c) @ matrix, axis=0)
        over = (program.shares[i] - program.factor * program.shares[j]) @ matrix + 3.0 * off
        assert over.max() < 1e-9


def test_the_order_of_laws_and_values_changes_nothing():
    program = _program(11, 3, None, seed=4)
    margined = _margined(program)
    rng = np.random.default_rng(0)
    laws, values = rng.permutation(3), rng.permutation(11)
    other = Program(
        laws=program.laws[np.ix_(laws, values)],
        constraints=program.constraints,
        alpha=math.inf,
        epsilon=program.epsilon,
        mass=program.mass[values],
        loss=program.loss[np.ix_(values, values)],
        keep=None,
    )
    one, two = with_margin(margined, 3.0), with_margin(Margined(other, margined.spread[np.ix_(laws, values)]), 3.0)
    assert one is not None
    assert two is not None
    assert two.value == pytest.approx(one.value, rel=1e-6)
    assert two.matrix == pytest.approx(one.matrix[np.ix_(values, values)], abs=1e-5)


def test_through_fewer_outputs_it_costs_no_less():
    margined = _margined(_program(12, 2, None))
    some = np.arange(12) % 2 == 0
    whole, few = with_margin(margined, 3.0), with_margin(margined.narrowed(some), 3.0)
    assert whole is not None
    assert few is not None
    assert few.matrix.shape == (12, 6)
    assert few.value >= whole.value * (1 - 0.005)


@pytest.mark.parametrize("keep", [None, "mean"])
@pytest.mark.parametrize("outputs", [1, 3, 5])
def test_through_few_outputs_the_equations_are_solved_by_outputs(outputs, keep, monkeypatch):
    margined = _margined(_program(40, 2, keep))
    some = np.isin(np.arange(40), np.linspace(4, 35, outputs).astype(int))
    assert outputs * 4 < 40
    few = margined.narrowed(some)
    if keep == "mean" and outputs == 1:
        return
    found = with_margin(few, 3.0, goal=1e-6)
    monkeypatch.setattr(second_order._Newton, "_couple", _by_inputs)
    other = with_margin(few, 3.0, goal=1e-6)
    assert found is not None
    assert other is not None
    assert found.value == pytest.approx(other.value, rel=1e-6)
    factor = np.full((2, outputs), 3.0)
    assert found.value == pytest.approx(_clarabel(few, factor), rel=2e-4)


def _by_inputs(self: second_order._Newton) -> None:
    self.rows_of = self._many_outputs()
    if self.wishes.keeps_mean:
        pooled = self.program.pooled
        nothing = second_order._nothing(self.program)
        self.mean = self._inside(self.program.outputs[:, None] * pooled, nothing)[0]
        self.of_mean = float(self.program.outputs @ (self.mean @ pooled))


@pytest.mark.parametrize("factor", [math.nan, math.inf, -1.0])
def test_nonsense_has_no_answer(factor):
    assert with_margin(_margined(_program(6, 2, None)), factor) is None


def test_a_spread_that_is_no_number_has_no_answer():
    program = _program(6, 2, None)
    for bad in (math.nan, math.inf):
        assert with_margin(Margined(program, np.full((2, 6), bad)), 3.0) is None
    assert with_margin(Margined(program, np.zeros((2, 6))), 3.0) is None


def test_linear_algebra_that_gives_up_leaves_what_was_found_before(monkeypatch):
    margined = _margined(_program(8, 2, None))

    def gives_up(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(second_order, "_Newton", gives_up)
    found = with_margin(margined, 3.0)
    assert found is not None
    assert found.gap > 0.5  # the channel that it starts at, which whoever asks refuses
    assert found.matrix == pytest.approx(np.full((8, 8), 1 / 8))
