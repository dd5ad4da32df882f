"""Priors at random, for tests that go through many of them."""

import numpy as np

from takifugu import Mixture


def gaussian_pair(rng):
    """Two Gaussians whose spreads may nearly agree or differ by orders of magnitude."""
    std = 10 ** rng.uniform(-2, 2)
    other = std * (
        10 ** rng.uniform(-1.5, 1.5) if rng.random() < 0.5 else 1 + rng.uniform(-1, 1) * 10 ** rng.uniform(-9, 0)
    )
    gap = rng.choice([0.0, 1.0]) * std * 10 ** rng.uniform(-3, 1.5)
    return Mixture.gaussian(gap, std), Mixture.gaussian(0.0, abs(other))


def mixture(rng, most=4, spread=5.0, decades=0.7):
    """A mixture of one to `most` components."""
    count = int(rng.integers(1, most + 1))
    return Mixture(
        rng.dirichlet(np.ones(count)), rng.normal(0, spread, count), 10 ** rng.uniform(-decades, decades, count)
    )


def budget(rng):
    """An order from 1.05 to 64 and a budget from 0.001 to 8, evenly on a logarithmic scale."""
    return float(1 + 10 ** rng.uniform(np.log10(0.05), np.log10(63))), float(10 ** rng.uniform(-3, np.log10(8)))
