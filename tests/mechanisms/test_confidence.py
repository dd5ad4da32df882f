"""Confidence: every draw is held, accurately; the same seed draws the same; means by their own posterior."""

import math

import numpy as np
import pytest

from takifugu import Mixture, calibrate
from takifugu.divergences.line.general import divergence
from takifugu.errors import InputError
from takifugu.laws.fitting.counts import cell_pseudo_counts, own_normal
from takifugu.laws.lattice import Lattice
from takifugu.mechanisms.confidence import Counted, confident_noise, draws_needed, joint_draws
from takifugu.mechanisms.confidence_means import confident_noise_of_means, mean_draws
from takifugu.problems.pairs import Pairs

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
    worst = 0.0
    for of_belief in laws:
        for p, q in of_belief:
            p, q = Mixture.empirical(LATTICE.points, p), Mixture.empirical(LATTICE.points, q)
            for left, right in ((p, q), (q, p)):
                worst = max(worst, divergence(left, right, alpha=alpha, theta=found.theta))
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
    assert "59 draws (seed 7)" in first.sentence
    assert "not a proof" in first.sentence


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


def test_means_hold_for_every_draw():
    priors = {"a": Mixture.gaussian(10.0, 0.3), "b": Mixture.gaussian(10.5, 0.6), "c": Mixture.gaussian(9.0, 0.4)}
    rows = {"a": 100, "b": 12, "c": 30}
    pairs = Pairs("abc")
    found = confident_noise_of_means(priors, rows, pairs, alpha=3.0, epsilon=0.5, seed=2)
    drawn = {s: mean_draws(priors[s], rows[s], 59, [2, 0, k]) for k, s in enumerate(pairs.secrets)}
    worst = max(
        divergence(drawn[a][d], drawn[b][d], alpha=3.0, theta=found.theta)
        for a, b in pairs.directed()
        for d in range(59)
    )
    assert worst <= 0.5
    assert worst == pytest.approx(0.5, rel=1e-6)
    assert found.centre_theta == pytest.approx(calibrate(priors, alpha=3, epsilon=0.5).theta, rel=1e-14)


def test_draws_of_a_mean_are_student_t():
    drawn = mean_draws(Mixture.gaussian(3.0, 0.5), 6, 40_000, [0])
    means = np.array([m.means[0] for m in drawn])
    assert means.mean() == pytest.approx(3.0, abs=0.02)
    assert means.var() == pytest.approx(0.25 * 5 / 3, rel=0.1)  # the variance of a t with 5 degrees of freedom


def test_a_mean_on_one_row_has_no_posterior():
    priors = {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(1, 1)}
    with pytest.raises(InputError, match="at least 2 rows"):
        confident_noise_of_means(priors, {"a": 1, "b": 5}, Pairs("ab"), alpha=2.0, epsilon=1.0)
