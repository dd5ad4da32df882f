"""Where to look at a mixture: points that miss none of its components, and its curve on them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from takifugu._validation import Array
from takifugu.laws.mixture import Mixture

_POINTS = 201
_NEAR = np.linspace(-3.0, 3.0, 13)  # standard deviations around a component, so that no spike falls between points
_MOST_COMPONENTS = 60  # a mixture with more is smooth enough for the even grid alone
_EDGE = 2e-4  # the share of each side's mass that a picture may leave out


@dataclass(frozen=True)
class Curve:
    """A distribution as a picture needs it: a density on a grid, or masses at points."""

    label: str
    x: Array
    y: Array
    is_mass: bool = False


def curve(label: str, mixture: Mixture, x: Array) -> Curve:
    """The density of a mixture at `x`; its masses where it is made of points."""
    mixture = mixture.simplified()
    if mixture.is_discrete:
        return Curve(label, mixture.means, mixture.weights, is_mass=True)
    if not mixture.stds.all():  # points among bells: drawn as bells two points of the grid wide
        mixture = mixture.with_noise(float(np.ptp(x)) / _POINTS)
    return Curve(label, x, np.asarray(mixture.pdf(x)))


def grid(mixtures: Iterable[Mixture]) -> Array:
    """Points over the range that holds nearly all the mass of each mixture."""
    given = list(mixtures)
    marks = np.array([_marks(m) for m in given])
    low, high = float(marks[:, 0].min()), float(marks[:, 2].max())
    pad = 0.04 * (high - low) or max(1.0, abs(low)) * 0.5
    low, high = low - pad, high + pad
    points = [np.linspace(low, high, _POINTS)]
    middle = float(np.median(np.abs(marks[:, 1])))
    if 0 < middle < 0.1 * high:  # skewed: a bent scale looks closely at what lies near zero
        ends = np.arcsinh(np.array([low, high]) / middle)
        points.append(middle * np.sinh(np.linspace(ends[0], ends[1], _POINTS)))
    for mixture in given:
        narrow = (mixture.stds > 0) & (mixture.weights > 0)
        if 0 < narrow.sum() <= _MOST_COMPONENTS:
            points.append((mixture.means[narrow, None] + mixture.stds[narrow, None] * _NEAR).ravel())
    together = np.unique(np.concatenate(points))
    return together[(together >= low) & (together <= high)]


@lru_cache(maxsize=64)  # one law stands in several pictures
def _marks(mixture: Mixture) -> tuple[float, float, float]:
    """The ends of what a picture shows of a law, and its middle between them."""
    low, middle, high = np.asarray(mixture.quantile([_EDGE, 0.5, 1 - _EDGE])).tolist()
    return low, middle, high
