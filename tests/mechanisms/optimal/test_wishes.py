"""Wishes that cannot be kept are named, with the nearest that can; moves that cannot be used are found."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from random_programs import random_program
from takifugu.errors import InputError, MechanismError
from takifugu.mechanisms.optimal.program import Program, _promised_moves, allowed_moves, distinct
from takifugu.mechanisms.optimal.solving import solve

TWO = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])


def program(**given: object) -> Program:
    values = np.arange(3.0)
    known = {
        "laws": TWO,
        "constraints": ((0, 1), (1, 0)),
        "mass": TWO.sum(axis=0),
        "loss": (values[:, None] - values) ** 2,
        "inputs": values,
        "outputs": values,
        "alpha": 3.0,
        "epsilon": 0.1,
    }
    return Program(**known | given)  # type: ignore[arg-type]


def test_the_most_that_can_stay_is_named():
    with pytest.raises(MechanismError, match=r"at most 0\.\d+") as error:
        solve(program(diagonal=0.95))
    most = float(str(error.value).split("at most ")[1].split(" ")[0])
    assert solve(program(diagonal=most - 1e-3)).gap < 1e-4
    with pytest.raises(MechanismError):
        solve(program(diagonal=most + 1e-3))


def test_unbiased_under_a_strict_promise_names_a_budget_that_works():
    """An unbiased channel leaves the extremes as they are, so the budget cannot be small."""
    with pytest.raises(MechanismError, match="unbiased=True under this guarantee: one is known from epsilon=") as error:
        solve(program(unbiased=True, epsilon=0.05))
    enough = float(str(error.value).split("epsilon=")[1].split(" ")[0])
    assert solve(program(unbiased=True, epsilon=enough * 1.01)).value >= 0


def test_outputs_that_cannot_average_to_the_inputs():
    with pytest.raises(MechanismError, match="span the inputs"):
        solve(program(unbiased=True, outputs=np.array([0.5, 1.0, 1.5])))


def test_an_input_without_outputs():
    forbidden = np.zeros((3, 3), dtype=bool)
    forbidden[1] = True
    with pytest.raises(MechanismError, match="1 input without any output"):
        solve(program(forbidden=forbidden))


def test_what_one_secret_cannot_show_the_other_may_not():
    laws = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    forbidden = np.zeros((3, 3), dtype=bool)
    forbidden[1:, 0] = True  # only the first input, which the second law lacks, may become the first output
    allowed = allowed_moves(program(laws=laws, forbidden=forbidden))
    assert not allowed[:2, 0].any()
    forbidden[0, 1:] = True  # and now it may become nothing else
    with pytest.raises(MechanismError, match="forbid fewer"):
        solve(program(laws=laws, forbidden=forbidden))


def test_unbiased_around_a_radius_is_what_to_drop():
    """The ends of an unbiased channel stay; a law near one of them may, within the radius, never show the other."""
    laws = np.array([[1.0, 1.0, 1.0], [0.01, 0.01, 0.98]])
    with pytest.raises(MechanismError, match="drop unbiased"):
        solve(program(laws=laws, unbiased=True, radius=np.full(2, 0.1)))


def test_a_marginal_without_mass_is_not_used():
    laws = np.array([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0]])
    assert not allowed_moves(program(laws=laws, mass=laws.sum(axis=0), keep="marginal"))[:2, 2].any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": 1.0}, "alpha"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.inf}, "nothing is guaranteed"),
        ({"odds": 1.0}, "odds"),
        ({"loss": np.full((3, 3), np.nan)}, "loss"),
        ({"loss": -np.ones((3, 3))}, "loss"),
        ({"laws": np.zeros((2, 3))}, "weight above 0"),
        ({"laws": np.ones((2, 4))}, "agree"),
        ({"constraints": ((0, 5),)}, "rows 0 to 1"),
        ({"radius": np.array([0.1])}, "radius"),
        ({"radius": np.array([0.1, 1.0])}, "radius"),
        ({"keep": "median"}, "preserve"),
        ({"keep": "mean", "inputs": None}, "numbers"),
        ({"diagonal": 1.5}, "diagonal"),
        ({"forbidden": np.zeros((3, 3))}, "truth values"),
        ({"outputs": np.ones(4)}, "outputs"),
        ({"loss": np.ones((3, 4)), "keep": "marginal", "outputs": None}, "outputs that are the inputs"),
    ],
)
def test_bad_programs_are_refused(given: dict[str, object], message: str):
    with pytest.raises(InputError, match=message):
        program(**given)


def test_equal_laws_are_said_once():
    laws, pairs, radius = distinct(
        np.array([[1.0, 3.0], [2.0, 6.0], [1.0, 1.0]]), ((0, 2), (1, 2), (0, 1)), np.array([0.1, 0.2, 0.0])
    )
    assert laws.shape == (2, 2)
    assert set(pairs) == {(0, 1), (0, 0)}
    assert radius is not None
    assert radius.tolist() == [0.2, 0.0]
    assert random_program(0, laws=laws, n=2, constraints=pairs, radius=radius).constraints == pairs


def test_one_value_only():
    one = program(laws=np.ones((2, 1)), mass=np.ones(1), loss=np.zeros((1, 1)), inputs=np.ones(1), outputs=np.ones(1))
    assert solve(one).value == 0.0


@settings(max_examples=some_of(60))
@given(seed=st.integers(0, 10_000), around=st.booleans())
def test_moves_that_no_promise_leaves_are_those_that_go_pair_by_pair(seed: int, around: bool):
    rng = np.random.default_rng(seed)
    n, secrets = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    laws = rng.integers(1, 4, (secrets, n)) * (rng.random((secrets, n)) < 0.6)
    laws[:, 0] += 1  # a law without any weight is none
    pairs = [(i, j) for i in range(secrets) for j in range(secrets) if i != j and rng.random() < 0.7] or [(0, 1)]
    radius = rng.choice([0.0, 0.1, 0.4], secrets) if around else None
    wished = random_program(
        seed, n=n, secrets=secrets, laws=laws, mass=laws.sum(axis=0), constraints=tuple(pairs), radius=radius
    )
    before = rng.random((n, n)) < 0.7
    assert _promised_moves(wished, before).tolist() == one_pair_at_a_time(wished, before).tolist()


def one_pair_at_a_time(program: Program, allowed: np.ndarray) -> np.ndarray:
    while True:
        before = allowed
        for i, j in program.constraints:
            for y in range(allowed.shape[1]):
                column = allowed[:, y].copy()
                if not (column & (program.laws[j] > 0)).any():
                    column &= program.laws[i] == 0
                held = math.fsum(program.shares[j][column])
                if program.radius is not None and not column.all() and held <= program.reach[j] - 1e-9:
                    column[:] = False
                allowed = np.column_stack([*allowed.T[:y], column, *allowed.T[y + 1 :]])
        if np.array_equal(allowed, before):
            return allowed
