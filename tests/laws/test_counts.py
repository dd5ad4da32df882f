"""The prior "counts": its pseudo-row, its draws, and its cells."""

import math
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.errors import InputError
from takifugu.laws.fitting.counts import (
    cell_pseudo_counts,
    counted,
    own_normal,
    posterior_draws,
    rounded_normal,
    unseen_ends,
    with_unseen,
)
from takifugu.laws.lattice import Lattice


@given(st.integers(2, 40), st.floats(-60, 60), st.floats(0.3, 30))
@settings(max_examples=some_of(60))
def test_a_rounded_normal_against_many_digits(size, mean, std):
    masses = rounded_normal(size, mean, std)
    with mp.workdps(400):
        cdf = [mp.ncdf((mp.mpf(k) + mp.mpf("0.5") - mp.mpf(mean)) / mp.mpf(std)) for k in range(size - 1)]
        truth = [b - a for a, b in zip([mp.mpf(0), *cdf], [*cdf, mp.mpf(1)], strict=True)]
    assert math.fsum(masses) == pytest.approx(1.0, abs=1e-14)
    for mine, exact in zip(masses, truth, strict=True):
        assert abs(mine - float(exact)) <= 1e-9 * float(exact) + 1e-300


def test_the_pseudo_row_is_the_secrets_own_normal():
    lattice = Lattice(100, 120, 0.5)
    counts = np.zeros(len(lattice))
    counts[[10, 12, 20]] = [3, 5, 2]
    mean, std = np.average([10, 12, 20], weights=[3, 5, 2]), 3.6
    std = math.sqrt(np.average((np.array([10, 12, 20]) - mean) ** 2, weights=[3, 5, 2]))
    assert own_normal(lattice, counts) == pytest.approx(rounded_normal(len(lattice), mean, std))
    counts[:] = 0
    counts[7] = 4
    assert own_normal(lattice, counts) == pytest.approx(rounded_normal(len(lattice), 7.0, 0.3))
    centre = counted(counts, own_normal(lattice, counts))
    assert centre[7] == pytest.approx((4 + own_normal(lattice, counts)[7]) / 5)
    assert math.fsum(centre) == pytest.approx(1)


@pytest.mark.parametrize("counts", [[1, 2], [0, 0, 0], [1, -1, 1], [1, math.nan, 1], [1, math.inf, 1]])
def test_counts_that_are_none(counts):
    with pytest.raises(InputError, match="counts must be 3 finite numbers"):
        own_normal(Lattice(0, 2, 1), counts)


def test_draws_repeat_and_have_the_dirichlet_s_moments():
    counts, pseudo = np.array([30.0, 5.0, 0.0, 0.0]), np.array([0.5, 0.3, 0.2, 0.0])
    draws = posterior_draws(counts, pseudo, 20_000, seed=[3, 1, 4])
    assert (draws == posterior_draws(counts, pseudo, 20_000, seed=[3, 1, 4])).all()
    assert not (draws == posterior_draws(counts, pseudo, 20_000, seed=[3, 1, 5])).all()
    a = counts + pseudo
    mean = a / a.sum()
    var = mean * (1 - mean) / (a.sum() + 1)
    assert np.abs(draws.mean(axis=0) - mean).max() < 5 * math.sqrt(var.max() / 20_000)
    assert draws.var(axis=0) == pytest.approx(var, rel=0.08)
    assert (draws[:, 3] == 0).all()


def test_tiny_pseudo_counts_alone_still_give_laws():
    draws = posterior_draws([0, 0, 0], [1e-300, 1e-305, 0], 5, seed=0)
    assert draws.sum(axis=1) == pytest.approx(1)
    assert np.isfinite(draws).all()


@pytest.mark.parametrize("counts", [[-1, 2], [math.nan, 2], [0, 0], [[1, 2]]])
def test_draws_refuse_what_is_no_count(counts):
    with pytest.raises(InputError, match="pseudo-counts"):
        posterior_draws(counts, [0, 0], 3, seed=0)


def test_a_cell_starts_from_the_other_cells_of_its_secret():
    cells = np.array([[8.0, 2.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]])
    g = np.array([0.2, 0.3, 0.5])
    pseudo = cell_pseudo_counts(cells, g)
    assert pseudo.sum(axis=1) == pytest.approx(5)
    assert pseudo[0] == pytest.approx(5 * (np.array([0, 0, 5]) + g) / 6)
    assert pseudo[2] == pytest.approx(5 * (np.array([8, 2, 5]) + g) / 16)  # an empty cell is the law of the others
    assert cell_pseudo_counts(cells[:1], g) == pytest.approx(5 * g[None])


@given(st.lists(st.lists(st.integers(0, 50), min_size=4, max_size=4), min_size=2, max_size=6))
def test_a_cell_s_own_rows_never_enter_its_pseudo_counts(cells):
    cells, g = np.array(cells, float), np.full(4, 0.25)
    pseudo = cell_pseudo_counts(cells, g)
    changed = cells.copy()
    changed[0] += [1, 2, 3, 4]
    assert cell_pseudo_counts(changed, g)[0] == pytest.approx(pseudo[0])


@pytest.mark.parametrize(
    ("counts", "ends"), [([0, 0, 3, 0], [0.5, 0.5, 0, 1]), ([1, 0, 2], [0, 0, 0]), ([0, 0], [0, 0]), ([0, 5], [1, 0])]
)
def test_a_row_for_each_end_where_nobody_was_seen(counts, ends):
    assert unseen_ends(counts).tolist() == ends


def test_the_mass_beyond_the_largest_of_some_rows_is_what_one_row_in_so_many_has():
    """P(mass beyond the largest > t) ≤ (1 − t)ⁿ for any law: seen on a lumpy one, in fractions of samples."""
    law = np.array([0.5, 0.1, 0.2, 0.05, 0.05, 0.04, 0.03, 0.02, 0.01])
    rng = np.random.default_rng(5)
    largest = rng.choice(len(law), (20_000, 21), p=law).max(axis=1)
    beyond = np.append(np.cumsum(law[::-1])[::-1][1:], 0.0)[largest]
    for t in (0.01, 0.05, 0.1, 0.2):
        assert (beyond > t).mean() <= (1 - t) ** 21 + 0.01


@pytest.mark.parametrize("law", [("1/2", "1/3", "1/6"), ("7/10", "1/5", "1/10"), ("1/4", "1/4", "1/4", "1/4")])
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_rows_that_are_alone_say_how_much_one_row_less_has_missed(law, rows):
    """E f₁/n = E M, over all samples that there are (proofs/population.md, claim 6)."""
    shares = [Fraction(one) for one in law]
    alone = missed = Fraction(0)
    for sample in product(range(len(shares)), repeat=rows):
        chance = math.prod(shares[k] for k in sample)
        alone += chance * sum(sample.count(k) == 1 for k in range(len(shares)))
        missed += chance * sum(share for k, share in enumerate(shares) if k not in sample[:-1])
    assert alone / rows == missed


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(0, 2**32))
@settings(max_examples=some_of(200))
def test_unseen_values_get_as_many_rows_as_stand_alone(counts, seed):
    counts = np.array(counts, float)
    pseudo = np.random.default_rng(seed).dirichlet(np.full(len(counts), 0.3))
    pseudo[pseudo < 1e-6] = 0.0
    found, unseen = with_unseen(counts, pseudo), counts == 0
    assert (found[~unseen] == pseudo[~unseen]).all()
    assert (found >= pseudo).all()
    rows, alone = counts.sum(), (counts == 1).sum()
    if unseen.any():
        assert (found[unseen] >= 1 / unseen.sum()).all()  # the row that may be anywhere
    if pseudo[unseen].any():  # else nothing of a law of its own is left there, and it has that row alone
        own = found[unseen] - 1 / unseen.sum()
        assert own / own.sum() == pytest.approx(pseudo[unseen] / pseudo[unseen].sum())
        if alone < rows:
            assert own.sum() / (rows + own.sum()) >= alone / rows * (1 - 1e-12)
