"""Grouped EM: its likelihood never falls, it agrees with direct maximisation, and rounding is no structure."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from how_many import some_of
from takifugu.errors import InputError
from takifugu.laws.fitting.counts import rounded_normal
from takifugu.laws.fitting.em import Batch
from takifugu.laws.fitting.fit import Cells, fit_grouped, log_interval
from takifugu.laws.lattice import Lattice

ENDS = st.floats(-40, 40)


@given(ENDS, st.floats(1e-9, 20))
@settings(max_examples=some_of(150))
def test_the_mass_of_an_interval_against_many_digits(start, width):
    end = start + width
    with mp.workdps(60):
        a, b = mp.mpf(start), mp.mpf(end)
        a, b = (-b, -a) if a > 0 else (a, b)
        truth = mp.log(mp.erfc(-b / mp.sqrt(2)) / 2 - mp.erfc(-a / mp.sqrt(2)) / 2) if b > a else -mp.inf
    if end == start:
        return
    # An interval a few ulps wide is only known to its rounded ends.
    digits = 1e-9 + 4 * math.ulp(max(abs(start), abs(end), 1.0)) / (end - start)
    assert abs(float(log_interval(np.array([start, end]))) - float(truth)) <= digits * max(1.0, abs(float(truth)))


def test_intervals_that_reach_to_infinity():
    ends = np.array([-math.inf, -math.inf, 3.0, 40.0]), np.array([math.inf, -38.0, math.inf, math.inf])
    masses = log_interval(np.array(ends))
    assert masses[0] == 0.0
    assert np.isfinite(masses).all()


def random_cells(rng, size):
    seen = np.sort(rng.choice(size, size=int(rng.integers(2, size + 1)), replace=False))
    middle = 0.5 * (size - 1)
    lower, upper = (seen - 0.5 - middle) / middle, (seen + 0.5 - middle) / middle
    if rng.random() < 0.5:
        lower = np.where(seen == 0, -np.inf, lower)
        upper = np.where(seen == size - 1, np.inf, upper)
    return Cells((seen - middle) / middle, rng.integers(1, 200, len(seen)).astype(float), lower, upper)


@given(st.integers(0, 10**6))
@settings(max_examples=some_of(60))
def test_no_step_loses_likelihood(seed):
    rng = np.random.default_rng(seed)
    size, k = int(rng.integers(3, 60)), int(rng.integers(1, 5))
    cells = random_cells(rng, size)
    floor = 0.1 / (0.5 * (size - 1))
    batch = Batch(
        rng.dirichlet(np.ones(k), size=3),
        rng.uniform(-1, 1, (3, k)),
        np.maximum(10 ** rng.uniform(-3, 1, (3, k)), floor * floor),
    )
    before, batch = cells.step(batch, floor)
    for _ in range(25):
        after, batch = cells.step(batch, floor)
        assert (after >= before - 1e-9 * np.abs(before)).all()
        before = after
        assert (batch.variances >= floor * floor * (1 - 1e-12)).all()
        assert np.isfinite(batch.means).all()


def negative_log_likelihood(params, counts):
    k = (len(params) + 1) // 3
    raw = np.append(params[: k - 1], 0.0)
    weights = np.exp(raw - raw.max())
    weights /= weights.sum()
    means, stds = params[k - 1 : 2 * k - 1], np.exp(params[2 * k - 1 :])
    masses = sum(w * rounded_normal(len(counts), m, s) for w, m, s in zip(weights, means, stds, strict=True))
    return -float(counts @ np.log(np.maximum(masses, 1e-300)))


@pytest.mark.parametrize("seed", range(4))
def test_one_component_against_direct_maximisation(seed):
    rng = np.random.default_rng(seed)
    lattice = Lattice(0, 20, 1)
    counts = lattice.count(rng.normal(rng.uniform(2, 18), rng.uniform(0.8, 6), 300))
    ours = fit_grouped(lattice, counts, max_components=1)
    start = [float(ours.mixture.means[0]) + 0.3, math.log(ours.mixture.stds[0]) + 0.2]
    best = minimize(
        negative_log_likelihood, start, args=(counts,), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}
    )
    assert ours.log_likelihood == pytest.approx(-best.fun, rel=1e-8)
    assert ours.mixture.means[0] == pytest.approx(best.x[0], abs=1e-4)
    assert ours.mixture.stds[0] == pytest.approx(math.exp(best.x[1]), rel=1e-4)
    assert -counts @ np.log(ours.masses) == pytest.approx(best.fun, rel=1e-8)


def test_two_components_against_direct_maximisation():
    rng = np.random.default_rng(5)
    lattice = Lattice(0, 30, 1)
    counts = lattice.count(np.concatenate([rng.normal(8, 2, 300), rng.normal(21, 3, 200)]))
    ours = fit_grouped(lattice, counts, max_components=3)
    assert len(ours.mixture) == 2
    best = minimize(
        negative_log_likelihood, [0.3, 8.5, 20.0, 0.8, 1.0], args=(counts,), method="Nelder-Mead",
        options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 5000},
    )  # fmt: skip
    assert ours.log_likelihood == pytest.approx(-best.fun, rel=1e-8)


@pytest.mark.parametrize("std", [0.5, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("rows", [100, 1_000, 20_000])
def test_a_rounded_normal_is_one_component(rows, std):
    rng = np.random.default_rng((rows, int(10 * std)))
    lattice = Lattice(0, 40, 1)
    counts = lattice.count(rng.normal(20 + rng.random(), std, rows))
    assert len(fit_grouped(lattice, counts, max_components=3, n_starts=3).mixture) == 1


def test_clipping_at_the_ends_is_part_of_the_likelihood():
    lattice = Lattice(0, 10, 1)
    counts = 10_000 * rounded_normal(11, mean=-2.0, std=4.0)  # most of it piled up at 0
    found = fit_grouped(lattice, counts, max_components=2, n_starts=3)
    assert found.mixture.means == pytest.approx([-2.0], abs=0.02)
    assert found.mixture.stds == pytest.approx([4.0], abs=0.02)
    assert found.masses == pytest.approx(counts / counts.sum(), abs=1e-4)


def test_one_value_is_a_point_and_many_cells_are_raced_in_groups():
    lattice = Lattice(0, 999, 1)
    counts = np.zeros(1000)
    counts[400] = 7
    assert fit_grouped(lattice, counts).masses.tolist() == (counts / 7).tolist()
    counts = lattice.count(np.random.default_rng(0).normal(500, 150, 50_000))
    found = fit_grouped(lattice, counts, max_components=2, n_starts=2)
    assert len(found.mixture) == 1
    assert found.mixture.stds[0] == pytest.approx(150, rel=0.02)


@pytest.mark.parametrize("counts", [[1, 2], [0, 0, 0], [1, -1, 1], [1, math.nan, 1]])
def test_counts_that_are_none(counts):
    with pytest.raises(InputError, match="counts must be 3 finite numbers"):
        fit_grouped(Lattice(0, 2, 1), counts)
