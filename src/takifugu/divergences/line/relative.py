"""One component's log-density relative to another's, to the digits that their parameters allow."""

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.envelope import Indices, Parabolas
from takifugu.divergences.line.split import Split


class Quadratic(NamedTuple):
    """constant + linear·u + square·u², u the distance from a given middle."""

    constant: Array
    linear: Array
    square: Array

    def at(self, u: Array) -> Array:
        """The value at a distance from the middle."""
        return self.constant + u * (self.linear + self.square * u)


def relative(f: Parabolas, i: Indices, g: Parabolas, j: Indices, middle: Split) -> Quadratic:
    """f_i − g_j around `middle`; the indices and the middle broadcast.

    Each coefficient is computed in two ways, from the distances to both means and from the differences of means and
    variances, and taken from the one with the smaller terms. The first is right close to a mean, the second far out,
    where two parabolas of almost the same width differ by much less than either is.
    """
    v, w = f.stds[i] ** 2, g.stds[j] ** 2
    square = 0.5 * (f.bare[i] - g.bare[j]) * (f.bare[i] + g.bare[j]) / (v * w)
    own, other = middle.minus(f.means[i], f.lows[i]), middle.minus(g.means[j], g.lows[j])
    gap = (f.means[i] - g.means[j]) + (f.lows[i] - g.lows[j])
    scaled = gap / v
    linear = _shorter((other / w, -own / v), (2 * other * square, scaled))
    constant = (f.heights[i] - g.heights[j]) + _shorter(
        (0.5 * other * (other / w), -0.5 * own * (own / v)),
        (other * other * square, other * scaled, -0.5 * gap * scaled),
    )
    return Quadratic(constant, linear, square)


def _shorter(one: tuple[Array, ...], two: tuple[Array, ...]) -> Array:
    """The sum of either list, whichever has the smaller terms and so the smaller rounding."""
    return np.where(_total(map(np.abs, one)) <= _total(map(np.abs, two)), _total(one), _total(two))


def _total(terms: Iterable[Array]) -> Array:
    """Their sum from left to right."""
    return reduce(np.add, terms)
