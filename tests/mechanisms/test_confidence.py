"""Confidence: every draw is held, accurately; the same seed draws the same; means by their own posterior."""

import dataclasses
import math

import numpy as np
import pytest

from takifugu import Mixture, calibrate
from takifugu.divergences.mixtures import divergence
from takifugu.errors import InputError
from takifugu.laws.fitting.counts import cell_pseudo_counts, own_normal
from takifugu.laws.lattice import Lattice
from takifugu.mechanisms.confidence import (
    confident_noise,
    confident_noise_of_normals,
    least_noise_of_draws,
    mean_draws,
    model_draws,
)
from takifugu.mechanisms.draws import Counted, draws_needed, joint_draws, lattice_draws
from takifugu.problems.problem import Belief, Pairs

LATTICE = Lattice(0, 20, 1)


def belief(seed, rows=(300, 40), lattice=LATTICE):
    rng = np.random.default_rng(seed)
    found = {}
    for secret, size in zip("ab", rows, strict=True):
        counts = lattice.count(rng.normal(rng.uniform(8, 12), rng.uniform(2, 4), size))
        found[secret] = Counted(counts, own_normal(lattice, counts))
    return found


@pytest.mark.parametrize(("alpha", "epsilon"), [(3.0, 0.5), (3.0, 2.0), (1.5, 0.2), (8.0, 1.0)])
def test_the_centre_and_every_draw_are_within_the_budget(alpha, epsilon):
    beliefs = [belief(1), belief(2)]
    pairs = Pairs("ab")
    found = confident_noise(LATTICE.points, beliefs, pairs, alpha=alpha, epsilon=epsilon, seed=4)
    laws = joint_draws(beliefs, pairs.secrets, found.draws, 4)
    assert laws.shape == (2, 60, 2, 21)
    compared = [both for of_belief in laws for p, q in of_belief for both in ((p, q), (q, p))]
    drawn = lattice_draws(beliefs, pairs, found.draws, 4)
    compared += [(drawn.laws[i], drawn.laws[j]) for i, j in zip(drawn.first, drawn.second, strict=True) if i % 4 > 1]
    worst = 0.0
    for p, q in compared:
        p, q = Mixture.empirical(LATTICE.points, p), Mixture.empirical(LATTICE.points, q)
        worst = max(worst, divergence(p, q, alpha=alpha, theta=found.theta))
    assert worst <= epsilon
    assert worst == pytest.approx(epsilon, rel=1e-4)  # and no more noise than it takes
    assert found.theta >= found.centre_theta


def test_the_centre_alone_is_what_calibrate_finds():
    one = belief(3)
    found = confident_noise(LATTICE.points, [one], Pairs("ab"), alpha=3.0, epsilon=0.7)
    priors = {s: Mixture.empirical(LATTICE.points, counts + pseudo) for s, (counts, pseudo) in one.items()}
    assert found.centre_theta == pytest.approx(calibrate(priors, alpha=3, epsilon=0.7).theta, rel=1e-5)
    assert found.centre_theta >= calibrate(priors, alpha=3, epsilon=0.7).theta * (1 - 1e-10)


def test_the_same_seed_gives_the_same_noise_and_another_another():
    given = {"alpha": 3.0, "epsilon": 0.5}
    first, again, other = (
        confident_noise(LATTICE.points, [belief(1)], Pairs("ab"), seed=seed, **given) for seed in (7, 7, 8)
    )
    assert first == again
    assert first.theta != other.theta
    assert first.place is not None
    assert first.place.draw is not None
    assert (first.draws, first.seed) == (59, 7)


def test_more_rows_need_less_confidence_noise():
    few, many = (
        confident_noise(LATTICE.points, [belief(5, rows)], Pairs("ab"), alpha=3.0, epsilon=0.5)
        for rows in ((100, 20), (100_000, 20_000))
    )
    assert few.theta / few.centre_theta > many.theta / many.centre_theta


def test_small_cells_by_the_rule_of_the_other_cells():
    cells = {s: np.array([LATTICE.count(np.full(n, v)) for n, v in ((5, 4.0), (0, 0.0), (40, 12.0))]) for s in "ab"}
    beliefs = []
    for cell in range(3):
        beliefs.append(
            {
                s: Counted(rows[cell], cell_pseudo_counts(rows, own_normal(LATTICE, rows.sum(axis=0)))[cell])
                for s, rows in cells.items()
            }
        )
    found = confident_noise(LATTICE.points, beliefs, Pairs("ab"), alpha=2.0, epsilon=1.0)
    assert math.isfinite(found.theta)


def test_a_tiny_budget_goes_without_the_fast_rule():
    found = confident_noise(
        LATTICE.points, [belief(1, (5000, 5000))], Pairs("ab"), alpha=1.01, epsilon=1e-6, confidence=0.5
    )
    assert 0 < found.theta < math.inf


@pytest.mark.parametrize("confidence", [0.2, 1.0, 1.5, "0.95", math.nan])
def test_confidence_is_a_share(confidence):
    with pytest.raises(InputError, match="confidence must be"):
        draws_needed(confidence)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_as_many_draws_as_the_level_asks_for(confidence):
    draws = draws_needed(confidence)
    assert confidence**draws <= 1 - confidence < confidence ** (draws - 1) or draws == 1


MEANS = {"a": Mixture.gaussian(10.0, 0.3), "b": Mixture.gaussian(10.5, 0.6), "c": Mixture.gaussian(9.0, 0.4)}
ROWS = {"a": 100, "b": 12, "c": 30}


def test_means_hold_for_every_draw_of_every_belief():
    pairs = Pairs("abc")
    beliefs = [Belief(MEANS, rows=ROWS), Belief(MEANS, rows=dict.fromkeys("abc", 500))]
    found = confident_noise_of_normals(beliefs, pairs, alpha=3.0, epsilon=0.5, seed=2)
    worst = 0.0
    for b, belief in enumerate(beliefs):
        drawn = {s: mean_draws(MEANS[s], belief.rows[s], 59, [2, b, k]) for k, s in enumerate(pairs.secrets)}
        worst = max(
            worst,
            *(
                divergence(drawn[p][d], drawn[q][d], alpha=3.0, theta=found.theta)
                for p, q in pairs.directed()
                for d in range(59)
            ),
        )
    assert worst <= 0.5
    assert worst == pytest.approx(0.5, rel=1e-6)
    assert found.place.belief == 1
    assert found.centre_theta == pytest.approx(calibrate(MEANS, alpha=3, epsilon=0.5).theta, rel=1e-14)
    floor = confident_noise_of_normals(beliefs, pairs, alpha=3.0, epsilon=0.5, seed=2, floor=2 * found.theta)
    assert floor.theta == pytest.approx(2 * found.theta)


def test_a_model_s_own_draws_are_taken_and_none_twice():
    rng = np.random.default_rng(0)
    drawn = {s: (rng.normal(law.means[0], 0.2, 70), rng.uniform(0.3, 0.5, 70)) for s, law in MEANS.items()}
    chosen = model_draws(drawn["a"], 59, [1, 0, 0])
    assert len({law.means[0] for law in chosen}) == 59
    assert all(law.means[0] in drawn["a"][0] for law in chosen)
    found = confident_noise_of_normals([Belief(MEANS, drawn=drawn)], Pairs("abc"), alpha=2.0, epsilon=0.5, seed=1)
    assert found.theta > found.centre_theta
    with pytest.raises(InputError, match=r"459 draws.*70 were made"):
        model_draws(drawn["a"], 459, [0])


@pytest.mark.parametrize("rows", [{}, {"a": 1, "b": 9, "c": 9}])
def test_a_mean_without_rows_has_no_posterior(rows):
    with pytest.raises(InputError, match="at least 2 rows"):
        confident_noise_of_normals([Belief(MEANS, rows=rows)], Pairs("abc"), alpha=2.0, epsilon=0.5)


def test_only_what_may_hide_a_secret_less_is_given_ends():
    """Mass beyond what was seen is given to the first of two laws, never to the one it is compared with."""
    counts = np.zeros(21)
    counts[8:13] = [1, 4, 9, 4, 2]
    seen_everywhere = np.ones(21)
    one = {"a": Counted(counts, own_normal(LATTICE, counts)), "b": Counted(seen_everywhere, np.full(21, 1 / 21))}
    cell = {s: Counted(pair.counts, 5 * pair.pseudo) for s, pair in one.items()}
    drawn = lattice_draws([one, cell], Pairs("ab"), 200, 0)
    wide = drawn.first % 4 > 1
    assert wide.sum() == 200  # secret a of the first belief alone: b was seen everywhere, and a cell has its others
    assert (drawn.second % 4 < 2).all()
    assert {drawn.named(k)[2] for k in np.flatnonzero(wide)} == {("a", "b")}
    assert {drawn.named(k)[0] for k in np.flatnonzero(wide)} == {0}
    ends = drawn.laws[drawn.first[wide]]
    above = ends[:, 13:].sum(axis=1)
    assert above.mean() == pytest.approx(1 / 23, rel=0.3)  # a row's worth: Beta(1 + a little, 22)
    assert not drawn.centre.first[drawn.centre.first % 4 > 1].size
    assert len(drawn.centre.first) == 4


def test_ends_never_ask_for_less_noise():
    few = belief(3, (300, 20))
    plain = [{s: Counted(pair.counts, pair.pseudo) for s, pair in few.items()}]
    drawn = lattice_draws(plain, Pairs("ab"), 59, 0)
    kept = drawn.first % 4 < 2
    without = dataclasses.replace(drawn, first=drawn.first[kept], second=drawn.second[kept])
    given = {"alpha": 3.0, "epsilon": 0.5}
    assert (
        least_noise_of_draws(LATTICE.points, drawn, **given)[0]
        >= least_noise_of_draws(LATTICE.points, without, **given)[0]
    )


def test_draws_of_a_mean_are_student_t():
    drawn = mean_draws(Mixture.gaussian(3.0, 0.5), 6, 40_000, [0])
    means = np.array([m.means[0] for m in drawn])
    assert means.mean() == pytest.approx(3.0, abs=0.02)
    assert means.var() == pytest.approx(0.25 * 5 / 3, rel=0.1)  # the variance of a t with 5 degrees of freedom
