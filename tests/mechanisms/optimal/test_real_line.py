"""The bound over every real output, against brute force between the grid's points and against finer grids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_programs import random_program
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.lower_bound import lower_bound
from takifugu.mechanisms.optimal.program import Program
from takifugu.mechanisms.optimal.real_line import _between, lower_bound_on_the_line, reaches_every_real, refined
from takifugu.mechanisms.optimal.solving import solve


def squared(**fixed: object) -> Program:
    values = np.arange(6, dtype=float)
    laws = np.array([[5.0, 4.0, 3.0, 2.0, 1.0, 1.0], [1.0, 1.0, 2.0, 3.0, 4.0, 5.0]])
    known = {
        "laws": laws,
        "mass": laws.sum(axis=0),
        "loss": (values[:, None] - values) ** 2,
        "alpha": 3.0,
        "epsilon": 0.3,
    }
    return random_program(0, n=6, secrets=2, **known | fixed)


@settings(max_examples=60)
@given(
    ends=st.lists(st.floats(-3, 3), min_size=2, max_size=5),
    steps=st.lists(st.floats(0.1, 3), min_size=4, max_size=4),
    mass=st.floats(0.01, 1),
)
def test_the_least_between_neighbours(ends: list[float], steps: list[float], mass: float):
    grid = np.concatenate([[0.0], np.cumsum(steps[: len(ends) - 1])])
    below = np.array([ends])
    found = _between(below, grid, np.array([mass]))[0]
    s = np.linspace(0, 1, 2001)
    t0, t1, h = below[0, :-1, None], below[0, 1:, None], np.diff(grid)[:, None]
    brute = ((1 - s) * t0 + s * t1 - mass * h**2 * s * (1 - s)).min()
    assert found <= brute + 1e-12
    assert found >= brute - 1e-6 * mass * h.max() ** 2 - 1e-12


@pytest.mark.parametrize(
    "wish", [{}, {"keep": "mean"}, {"unbiased": True, "epsilon": 1.2}, {"radius": np.full(2, 0.02)}]
)
def test_no_finer_grid_does_better(wish: dict[str, object]):
    program = squared(**wish)
    bound = lower_bound_on_the_line(program, solve(program).duals)
    assert bound <= lower_bound(program, solve(program).duals)
    tighter = []
    for parts in (3, 9, 27):
        finer = refined(program, parts)
        found = solve(finer)
        own = lower_bound_on_the_line(finer, found.duals)
        assert bound <= found.value
        tighter.append((found.value - own) / found.value)
        assert all(own <= solve(refined(program, other)).value * (1 + 1e-9) for other in (2, 7))
    if not program.unbiased:  # an unbiased channel gains without limit from outputs far beyond the inputs
        assert tighter[2] < tighter[0]
        assert tighter[2] < 0.01


def test_outputs_beyond_the_grid_are_covered():
    """A grid that leaves out the ends: real outputs beyond it would do better, and the bound knows."""
    program = squared()
    narrow = Program(
        laws=program.laws,
        constraints=program.constraints,
        mass=program.mass,
        alpha=3.0,
        epsilon=0.3,
        inputs=program.inputs,
        outputs=program.inputs[2:4],
        loss=(program.inputs[:, None] - program.inputs[2:4]) ** 2,
    )
    assert lower_bound_on_the_line(narrow, solve(narrow).duals) <= solve(refined(program, 8)).value


def test_a_kept_marginal_has_no_other_outputs():
    program = squared(keep="marginal")
    duals = solve(program).duals
    assert lower_bound_on_the_line(program, duals) == lower_bound(program, duals)
    with pytest.raises(InputError, match="finer"):
        refined(program, 2)


def test_other_losses_prove_nothing_about_the_line():
    program = random_program(3, n=5, loss=1.0 - np.eye(5))
    assert not reaches_every_real(program)
    assert lower_bound_on_the_line(program, solve(program).duals) == 0.0
