"""Many pairs on one grid: every ball holds what mpmath finds, also where the grid is far too coarse."""

import mpmath
import numpy as np
import pytest
from flint import ctx
from mpmath_oracle import divergence, parts

from random_priors import mixture
from takifugu import Mixture
from takifugu.divergences.certified import Family, enclose, settle
from takifugu.divergences.numerics import ball_grids as shared_grid
from takifugu.divergences.numerics.ball_grids import SharedGrid
from takifugu.divergences.numerics.balls import Effort, Enclosure, UndecidableError, outward


def bells(rng, count=4, size=4):
    return [
        Mixture(rng.dirichlet(np.full(size, 2.0)), rng.normal(0, 1, size), rng.uniform(0.3, 1.2, size))
        for _ in range(count)
    ]


def floats(ball):
    with ctx.workprec(128):
        return outward(ball)


@pytest.mark.parametrize("seed", range(4))
def test_sharp_and_right(seed):
    rng = np.random.default_rng(seed)
    laws, theta = bells(rng), float(rng.uniform(0.5, 4))
    alpha = float(rng.uniform(1.1, 6))
    grid = SharedGrid(laws, alpha=alpha, theta=theta)
    seen = 0
    for i, j in ((0, 1), (1, 0), (2, 3)):
        ball = grid.ball(i, j, Effort(10**9))
        if ball is None:
            continue
        seen += 1
        found, truth = floats(ball), divergence(parts(laws[i]), parts(laws[j]), alpha, theta)
        assert found.lower <= truth <= found.upper or abs(truth - found.lower) < 1e-13 * truth
        assert found.width <= 1e-12 * found.upper + 1e-15
    assert seen


@pytest.mark.parametrize("negligible", [1.0, 2.0, 4.0, 8.0, 16.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_ball_is_as_wide_as_a_coarse_grid_deserves(seed, negligible, monkeypatch):
    """With a grid of a few points the error is no trifle: the bound on it must hold all the same."""
    monkeypatch.setattr(shared_grid, "_NEGLIGIBLE", negligible)
    monkeypatch.setattr(shared_grid, "_SHARP", -40)  # keep every ball
    rng = np.random.default_rng(100 + seed)
    laws, theta, alpha = bells(rng, size=2), float(rng.uniform(0.1, 2)), float(rng.uniform(1.2, 4))
    grid = SharedGrid(laws, alpha=alpha, theta=theta)
    for i, j in ((0, 1), (3, 2)):
        ball = grid.ball(i, j, Effort(10**9))
        if ball is None or not ball.is_finite():
            continue
        found, exact = floats(ball), enclose(laws[i], laws[j], alpha=alpha, theta=theta)
        assert found.lower <= exact.upper
        assert exact.lower <= found.upper


@pytest.mark.parametrize("coarser", [3, 4, 5, 6])
def test_the_error_of_the_rule_itself_is_bounded(coarser, monkeypatch):
    """The window stays as wide as it should be, so that what is left is what the midpoint rule misses."""
    fine = shared_grid._placed

    def coarse(*given):
        grid = fine(*given)
        return grid._replace(step=coarser * grid.step, boxes=-(-grid.boxes // coarser))

    monkeypatch.setattr(shared_grid, "_placed", coarse)
    monkeypatch.setattr(shared_grid, "_SHARP", -40)
    laws = bells(np.random.default_rng(102), size=2)
    grid = SharedGrid(laws, alpha=2.5, theta=1.0)
    for i, j in ((0, 1), (1, 0)):
        ball, exact = grid.ball(i, j, Effort(10**9)), enclose(laws[i], laws[j], alpha=2.5, theta=1.0)
        found = floats(ball)
        assert found.lower <= exact.lower
        assert exact.upper <= found.upper
        missed = abs(float(ball.mid()) - exact.upper)
        assert missed > 10.0 ** (2 * coarser - 16)  # up to a tenth of the loss itself: no trifle is bounded here


def test_no_density_vanishes_in_the_strip_that_is_taken():
    twin = Mixture([0.5, 0.5], [-5, 5], [1, 1])  # its zeros nearest to the line are π/10 off it
    laws = [twin, Mixture.gaussian(0, 3), Mixture([0.3, 0.7], [-1, 1], [2, 2]), Mixture([0.5, 0.5], [0, 1], [3, 2])]
    grid = SharedGrid(laws, alpha=2.0, theta=0.0)
    found, exact = floats(grid.ball(0, 1, Effort(10**9))), enclose(laws[0], laws[1], alpha=2.0, theta=0.0)
    assert float(grid._grid.height) < float(mpmath.pi) / 10
    assert max(found.lower, exact.lower) <= min(found.upper, exact.upper)


def test_where_there_is_no_grid_nothing_is_said():
    few = bells(np.random.default_rng(0), count=3)
    points = [Mixture.empirical([0, 1, k]) for k in range(2, 6)]
    far = [Mixture([0.5, 0.5], [0, 1e9 + k], [1, 2]) for k in range(4)]
    for laws, theta in ((few, 1.0), (points, 0.0), (far, 0.0)):
        assert SharedGrid(laws, alpha=2.0, theta=theta).ball(0, 1, Effort(10**9)) is None
    same = [few[0], few[0], few[1], few[2]]
    assert SharedGrid(same, alpha=2.0, theta=1.0).ball(0, 1, Effort(10**9)) is None
    wide = [Mixture([0.5, 0.5], [0, 1], [9, 8]), *few]
    assert SharedGrid(wide, alpha=3.0, theta=0.1).ball(0, 1, Effort(10**9)) is None  # infinite


def test_work_is_counted():
    laws = bells(np.random.default_rng(0))
    with pytest.raises(UndecidableError):
        SharedGrid(laws, alpha=2.0, theta=1.0).ball(0, 1, Effort(100))
    effort = Effort(10**9)
    grid = SharedGrid(laws, alpha=2.0, theta=1.0)
    grid.ball(0, 1, effort)
    first = effort.limit - effort.left
    grid.ball(0, 1, effort)
    assert effort.limit - effort.left < 2 * first


@pytest.mark.parametrize("seed", range(5))
def test_a_family_decides_as_each_pair_would_alone(seed):
    rng = np.random.default_rng(seed)
    laws = [mixture(rng, most=3) for _ in range(5)]
    alpha, theta = float(rng.uniform(1.1, 9)), float(rng.uniform(0.2, 5))
    family = Family(laws, alpha=alpha, theta=theta)
    for i, j in ((0, 1), (1, 4), (3, 2)):
        exact = enclose(laws[i], laws[j], alpha=alpha, theta=theta)
        for claim in (
            Enclosure(exact.lower * (1 - 1e-9), min(exact.upper * (1 + 1e-9), 1e300)),
            Enclosure(0.0, min(exact.lower * (1 - 1e-9), 1e300)),
            Enclosure(min(exact.upper * (1 + 1e-9), 1e299), 1e300),
        ):
            decision = family.settle(i, j, claim)
            assert decision.holds is settle(laws[i], laws[j], claim, alpha=alpha, theta=theta).holds
            if decision.holds:
                assert claim.lower <= decision.enclosure.lower <= decision.enclosure.upper <= claim.upper
                assert max(decision.enclosure.lower, exact.lower) <= min(decision.enclosure.upper, exact.upper)


def _log_size(law, theta, z):
    """ln |p(z)| off the line, in 40 digits and by the definition."""
    weights, means, stds = ([mpmath.mpf(float(x)) for x in part] for part in (law.weights, law.means, law.stds))
    total = mpmath.mpc(0)
    for w, m, s in zip(weights, means, stds, strict=True):
        v = s * s + mpmath.mpf(theta) ** 2
        total += w / mpmath.fsum(weights) * mpmath.exp(-((z - m) ** 2) / (2 * v)) / mpmath.sqrt(2 * mpmath.pi * v)
    return mpmath.log(abs(total))


@pytest.mark.parametrize("seed", range(5))
def test_densities_stay_within_their_bounds_off_the_line(seed):
    """What the error of the rule rests on: ln |p| along the upper edge of every box, and all over both ends."""
    rng = np.random.default_rng(seed)
    laws, theta = bells(rng), float(rng.uniform(0, 2))
    if seed == 2:  # a component that matters nowhere, and one that is not seen before the end
        laws[0] = Mixture([1e-300, 1, 1e-12], [0.5, 0, 1], [0.7, 0.9, 0.8])
    grid = SharedGrid(laws, alpha=2.0, theta=theta)
    grid.ball(0, 1, Effort(10**9))
    plan = grid._grid
    width, height = float(plan.group * plan.step), float(plan.height)
    with mpmath.workdps(40):
        for law, strip in zip(laws, grid._strips, strict=True):
            assert len(strip.edges) == plan.boxes
            for k in rng.integers(0, plan.boxes, 8).tolist():
                z = mpmath.mpc(float(plan.start) + (k + rng.uniform(0.001, 0.999)) * width, height)
                value, (least, most) = _log_size(law, theta, z), strip.edges[k]
                assert float(least) - 1e-12 <= value <= float(most) + 1e-12
            for k, (least, most) in zip((0, plan.boxes - 1), strip.ends, strict=True):
                for at, up in rng.uniform(0, 1, (4, 2)).tolist():
                    value = _log_size(law, theta, mpmath.mpc(float(plan.start) + (k + at) * width, up * height))
                    assert float(least) - 1e-12 <= value <= float(most) + 1e-12


@pytest.mark.parametrize("alpha", [1.0001, 2.0, 20.0])
@pytest.mark.parametrize("short", [1e-2, 1e-6, 1e-12])
def test_next_to_the_edge_of_the_domain_and_with_weights_next_to_nothing(alpha, short):
    """αS − (α−1)V is `short` of S; what is not told by the grid is told by the pair alone."""
    wide = float(np.sqrt(alpha / (alpha - 1) * (1 - short)))
    laws = [
        Mixture([0.5, 0.5], [0, 0.3], [0.9, min(wide, 3.0)]),
        Mixture([0.5, 0.5], [0.1, 0.3], [0.9, 1.0]),
        Mixture([1, 1e-300], [0, 2], [1, 0.9]),
        Mixture([1, 1e-12], [0, 3], [0.9, 1]),
    ]
    family = Family(laws, alpha=alpha, theta=0.0)
    for i, j in ((0, 1), (2, 3), (3, 2)):
        exact = enclose(laws[i], laws[j], alpha=alpha, theta=0.0)
        if not np.isfinite(exact.upper):
            continue
        assert family.settle(i, j, Enclosure(0.0, exact.lower * (1 - 1e-9))).holds is False
        assert family.settle(i, j, Enclosure(0.0, exact.upper * (1 + 1e-9))).holds is True
