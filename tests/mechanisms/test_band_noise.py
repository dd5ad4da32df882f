"""Noise for the bands: the figures of the datasets, a proof at the noise returned, and the promise on known truths."""

import numpy as np
import pytest

import takifugu as tk
from takifugu.divergences.band import band_upper
from takifugu.divergences.mixtures import divergence
from takifugu.laws.bounds import level_a_side
from takifugu.laws.lattice import Lattice
from takifugu.mechanisms import assurance
from takifugu.mechanisms.assurance import band_noise, bands_of
from takifugu.problems.problem import Pairs


def counts_of(name, lattice):
    about, data = tk.datasets.about(name), tk.datasets.load(name)
    return about.pair, {s: lattice.count(data[data[about.secret] == s][about.answer]) for s in about.pair}


@pytest.mark.parametrize(
    ("name", "lattice", "epsilon", "theta"),
    [
        ("adult", Lattice(1, 16, 1), 0.5, 4.25),
        ("adult", Lattice(1, 16, 1), 2.0, 0.69),
        ("heart", Lattice(0, 7, 0.1), 1.0, 6.33),
    ],
)
def test_the_figures_of_the_datasets(name, lattice, epsilon, theta):
    pair, counts = counts_of(name, lattice)
    found = band_noise(lattice, [counts], Pairs(pair), alpha=3.0, epsilon=epsilon)
    assert found.theta == pytest.approx(theta, rel=5e-3)
    assert epsilon * (1 - 1e-5) <= found.bound <= epsilon
    bands, side = bands_of([counts], level=0.95, points=len(lattice))
    assert side == found.side == level_a_side(0.95, laws=2, points=len(lattice))
    for i, j in Pairs(pair).directed():
        assert band_upper(lattice, bands[0][i], bands[0][j], alpha=3.0, theta=found.theta) <= epsilon
    assert found.level == 0.95
    assert "95 %" in assurance.ProvedBand(found.level, found.theta).sentence


def test_known_truths_are_kept():
    rng = np.random.default_rng(0)
    lattice, pairs = Lattice(0, 9, 1), Pairs("ab")
    for _ in range(6):
        truth = {s: rng.dirichlet(np.full(10, 2.0)) for s in "ab"}
        counts = {s: rng.multinomial(400, law) for s, law in truth.items()}
        found = band_noise(lattice, [counts], pairs, alpha=2.0, epsilon=1.0)
        laws = {s: tk.Mixture.empirical(lattice.points, law) for s, law in truth.items()}
        assert max(divergence(laws[i], laws[j], alpha=2.0, theta=found.theta) for i, j in pairs.directed()) <= 1.0


def test_several_beliefs_share_the_level():
    lattice = Lattice(0, 4, 1)
    one = {"a": [10, 20, 30, 20, 10], "b": [5, 25, 30, 20, 10]}
    two = {"a": [3, 4, 5, 4, 3], "b": [0, 0, 0, 0, 0]}  # a cell in which one secret was never seen
    alone = band_noise(lattice, [one], Pairs("ab"), alpha=2.0, epsilon=2.0)
    both = band_noise(lattice, [one, two], Pairs("ab"), alpha=2.0, epsilon=2.0)
    assert both.side == alone.side / 2
    assert both.theta > alone.theta
    assert both.place[0] == 1
