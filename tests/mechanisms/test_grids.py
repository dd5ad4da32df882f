"""The coarse grid: never less noise, never a broken promise, and said to be hygiene."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from takifugu.errors import InputError
from takifugu.mechanisms.grids import grid_step, on_grid

LAWS = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(2, 1.5)}


@given(st.floats(1e-12, 1e12), st.floats(0.001, 1))
def test_noise_is_rounded_up_by_one_step_at_most(theta, grid):
    found = on_grid(theta, grid)
    assert theta <= found <= theta * (1 + grid) * (1 + 1e-9)
    exponent = math.log(found) / math.log1p(grid)
    assert abs(exponent - round(exponent)) < 1e-6


def test_neighbours_share_their_noise():
    made = [tk.calibrate({**LAWS, "b": tk.Mixture.gaussian(m, 1.5)}, alpha=3, epsilon=1, grid=0.05) for m in (2, 2.001)]
    assert made[0].theta == made[1].theta > tk.calibrate(LAWS, alpha=3, epsilon=1).theta
    assert made[0].meets_budget()
    assert tk.certify(made[0]).theta == made[0].theta
    assert "hygiene, not a proof" in made[0].findings[-1].sentence
    assert tk.calibrate({"a": LAWS["a"], "b": LAWS["a"]}, alpha=3, epsilon=1, grid=0.05).theta == 0


@pytest.mark.parametrize("promise", [{"odds": 3}, {"alpha": 2, "epsilon": 0.2}])
def test_a_channel_on_a_grid_keeps_its_promise(promise):
    laws = {"a": tk.Finite([1, 2, 3, 4], [40, 30, 20, 10]), "b": tk.Finite([1, 2, 3, 4], [10, 20, 30, 41])}
    fine, coarse = (tk.calibrate(laws, **promise, keep=None, grid=grid) for grid in (None, 0.05))
    assert coarse.channel.denominator == 256
    assert coarse.meets_budget()
    assert tk.verify(tk.certify(coarse)).lower_bound == coarse.lower_bound
    assert fine.error <= coarse.error * (1 + 1e-9)
    assert coarse.error <= 1.2 * fine.error


@pytest.mark.parametrize("grid", [-0.1, 1.5, 1e-9, math.nan, "0.05", True])
def test_a_grid_is_a_share(grid):
    with pytest.raises(InputError, match="grid must be"):
        grid_step(grid)


def test_vectors_have_no_grid():
    laws = {s: tk.VectorMixture.gaussian([m, 0], [[1, 0], [0, 1]]) for s, m in (("a", 0), ("b", 1))}
    with pytest.raises(InputError, match="leave it out for vectors"):
        tk.calibrate(laws, alpha=2, epsilon=0.5, grid=0.05)
