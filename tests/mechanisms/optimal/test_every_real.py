"""The bound over every real output that is kept in a file: against cvxpy on outputs off every grid, and mpmath."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarabel_oracle import clarabel
from how_many import some_of
from random_programs import random_program
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.duals import Duals, no_duals
from takifugu.mechanisms.optimal.every_real import EveryReal, every_real, has_no_other_outputs
from takifugu.mechanisms.optimal.program import Program
from takifugu.mechanisms.optimal.real_line import refined
from takifugu.mechanisms.optimal.solving import solve


def squares(seed: int, **fixed: object) -> Program:
    """Two laws that lean to different ends, on numbers at uneven distances."""
    rng, n = np.random.default_rng(seed), 3 + seed % 4
    at, lean = np.cumsum(rng.uniform(0.2, 2.0, n)), np.linspace(-1, 1, n)
    laws = rng.uniform(0.5, 1.5, (2, n)) * np.exp([lean, -lean])
    known = {"laws": laws, "mass": laws.sum(axis=0), "inputs": at, "outputs": at, "loss": (at[:, None] - at) ** 2}
    return random_program(seed, n=n, secrets=2, **known | fixed)


def kept(program: Program) -> EveryReal | None:
    return every_real(program, solve(program).duals)


def exact_bound(program: Program, found: EveryReal) -> mp.mpf:
    """Tangent planes and weak duality over the whole line, in rationals and 40 digits: two laws, (α, ε) or odds."""
    duals, v = found.duals, [Fraction(x) for x in program.inputs]
    grid = [Fraction(y) for y in (program.outputs if found.parts == 1 else refined(program, found.parts).outputs)]
    laws = [[Fraction(w) / sum(map(Fraction, row)) for w in row] for row in program.laws.tolist()]
    shares = [[_mp(w) for w in row] for row in laws]
    mass = [Fraction(w) / sum(map(Fraction, program.mass.tolist())) for w in program.mass.tolist()]
    tilt = mp.mpf(float(duals.mean[0])) if duals.mean.size else mp.mpf(0)
    total = -mp.fsum(duals.weights.tolist()) - tilt * mp.fsum(_mp(m * x) for m, x in zip(mass, v, strict=True))
    planes = []  # at each output: for each constraint the slopes of p_i and p_j
    for k in range(len(grid)):
        slopes = []
        for c, (i, j) in enumerate(program.constraints):
            if duals.weights.size:
                alpha, weight = mp.mpf(program.alpha), mp.mpf(float(duals.weights[c]))
                r, scale = (
                    mp.mpf(float(duals.ratios[k, c])),
                    1 / mp.expm1((program.alpha - 1) * mp.mpf(program.epsilon)),
                )
                slopes.append((i, j, weight * scale * alpha * (r ** (alpha - 1) - 1)))
                slopes.append((j, i, -weight * scale * (alpha - 1) * (r**alpha - 1)))
            if duals.odds.size:
                slopes.append((i, j, mp.mpf(float(duals.odds[k, c]))))
                slopes.append((j, i, -mp.mpf(float(duals.odds[k, c])) * mp.mpf(program.factor)))
        planes.append(slopes)
    for x, at in enumerate(v):

        def bracket(k: int, y: mp.mpf, x: int = x, at: Fraction = at) -> mp.mpf:
            fixed = mp.fsum(slope * shares[law][x] for law, _, slope in planes[k])
            return _mp(mass[x]) * (_mp(at) - y) ** 2 + fixed + _mp(mass[x]) * tilt * y

        ends = [bracket(k, _mp(y)) for k, y in enumerate(grid)]
        low = min(ends)
        for k in range(len(grid) - 1):
            q = _mp(mass[x] * (grid[k + 1] - grid[k]) ** 2)
            if q > 0 and abs(ends[k] - ends[k + 1]) <= q:
                low = min(low, ends[k] - (q + ends[k] - ends[k + 1]) ** 2 / (4 * q))
        vertex = _mp(at) - tilt / 2
        low = min([low, *(bracket(k, vertex) for k, y in ((0, grid[0]), (-1, grid[-1])) if (vertex < y) == (k == 0))])
        total += low
    return total


def _mp(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / mp.mpf(x.denominator)


@pytest.mark.parametrize("seed", range(some_of(6)))
@pytest.mark.parametrize("keep", [None, "mean"])
def test_the_bound_is_the_formula(seed: int, keep: str | None):
    program = squares(seed, keep=keep)
    found = kept(program)
    if found is None:
        assert solve(program).lower_bound < 1e-3  # next to nothing needs to be hidden
        return
    with mp.workdps(40):
        exact = exact_bound(program, found)
        assert found.lower_bound <= exact
        assert found.lower_bound >= exact - 1e-9 * (1 + abs(exact))
    assert found.proved(program) == found.lower_bound


@pytest.mark.parametrize("seed", range(5))
def test_no_numbers_do_better(seed: int):
    """Outputs drawn at random, inside and beyond the values, solved by Clarabel through cvxpy."""
    program = squares(seed, alpha=2.5, epsilon=0.2)
    found = kept(program)
    assert found is not None
    assert found.lower_bound <= solve(program).value
    rng = np.random.default_rng(seed)
    outputs = np.append(rng.uniform(program.inputs[0] - 1, program.inputs[-1] + 1, 20), program.inputs)
    other = replace(program, outputs=outputs, loss=(program.inputs[:, None] - outputs) ** 2)
    assert found.lower_bound <= clarabel(other) * (1 + 1e-6)


def small_budget(seed: int, keep: str | None) -> Program:
    return squares(seed, keep=keep, alpha=3.0, epsilon=0.3)


@cache
def on_a_fine_grid(seed: int, keep: str | None) -> float:
    return solve(refined(small_budget(seed, keep), 16)).value


@settings(max_examples=some_of(25))
@given(seed=st.integers(0, 10**6), scale=st.floats(0, 3), keep=st.sampled_from([None, "mean"]))
def test_any_multipliers_prove_something_true(seed: int, scale: float, keep: str | None):
    """Wrong ones as well: the bound they give is below what a channel to a fine grid costs."""
    program = small_budget(seed % 7, keep)
    rng, like = np.random.default_rng(seed), no_duals(refined(program, 4))
    wrong = Duals(
        weights=rng.exponential(scale, like.weights.shape),
        ratios=np.exp(rng.normal(0, scale, like.ratios.shape)),
        odds=like.odds,
        kept=like.kept,
        mean=rng.normal(0, scale, like.mean.shape),
        diagonal=0.0,
        spread=like.spread,
    )
    assert EveryReal(1.0, 4, wrong).proved(program) <= on_a_fine_grid(seed % 7, keep) * (1 + 1e-9)


def test_it_is_tight_where_the_grid_is_small():
    program = squares(3, alpha=3.0, epsilon=0.3)
    found = kept(program)
    assert found is not None
    assert found.parts > 1
    assert found.lower_bound >= solve(refined(program, 100)).value * (1 - 2e-3)


def test_wishes_about_single_outputs_are_dropped_not_trusted():
    program = squares(4, alpha=3.0, epsilon=0.3)
    free, n = kept(program), program.size[0]
    forbidden = np.zeros((n, n), dtype=bool)
    forbidden[0, n - 1] = True
    for wish in ({"forbidden": forbidden}, {"diagonal": 0.05}):
        asked = replace(program, **wish)
        found = every_real(asked, solve(asked).duals)
        assert found is not None
        assert found.lower_bound <= solve(asked).value
        assert found.lower_bound == pytest.approx(free.lower_bound, rel=2e-3)


def test_where_there_is_nothing_to_add():
    kept_shares = squares(2, keep="marginal")
    assert kept(kept_shares) is None
    assert has_no_other_outputs(kept_shares)
    changes = random_program(3, n=5, loss=1.0 - np.eye(5), keep="marginal")
    assert not has_no_other_outputs(changes)
    assert every_real(changes, no_duals(changes)) is None


def test_a_file_cannot_ask_for_any_amount_of_work():
    program = squares(2)
    for parts in (0, 2, 64 * 1024):
        with pytest.raises(InputError, match="parts"):
            EveryReal(1.0, parts, no_duals(program)).proved(program)
    large = random_program(1, n=200, secrets=2, loss=(np.arange(200)[:, None] - np.arange(200.0)) ** 2)
    with pytest.raises(InputError, match="parts"):
        EveryReal(1.0, 64, no_duals(large)).proved(large)
    with pytest.raises(InputError, match="shape"):
        EveryReal(1.0, 4, no_duals(program)).proved(program)
