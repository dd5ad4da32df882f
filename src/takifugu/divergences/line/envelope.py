"""Which component dominates where: the upper envelope of weighted normal log-densities.

The logarithm of each weighted component is a parabola in y. The largest of them tells a mixture's log-density to
within the logarithm of the number of components, so the envelope shows where an integrand can have any mass
before a single point of it has been evaluated.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array

Indices = npt.NDArray[np.intp]


class Parabolas(NamedTuple):
    """f_k(y) = height_k − (y − mean_k)² / (2 std_k²), one per component; `bare` is std_k before noise.

    A mean is `means + lows`: far from the origin one float has too few digits for the distance of two means.
    """

    heights: Array
    means: Array
    stds: Array
    bare: Array
    lows: Array

    @classmethod
    def of(cls, weights: Array, means: Array, stds: Array, bare: Array, lows: Array) -> "Parabolas":
        """The log-densities of weighted normal components."""
        return cls(np.log(weights) - np.log(stds) - 0.5 * np.log(2 * np.pi), means, stds, bare, lows)

    def at(self, y: Array, which: Indices | slice = slice(None)) -> Array:
        """f_k(y), elementwise over `y` and the components chosen."""
        z = ((y - self.means[which]) - self.lows[which]) / self.stds[which]
        return self.heights[which] - 0.5 * z * z


class Envelope(NamedTuple):
    """`owners[i]` is the largest parabola from `cuts[i − 1]` to `cuts[i]`, the line's ends being implied."""

    cuts: Array
    owners: Indices


_BLOCK = 24  # all crossings at once up to here; beyond, envelopes of halves are merged


def upper_envelope(curves: Parabolas, members: Indices | None = None) -> Envelope:
    """The upper envelope of some or all of the parabolas."""
    if members is None:
        members = np.arange(len(curves.heights))
    if len(members) == 1:
        return Envelope(np.zeros(0), members)
    if len(members) > _BLOCK:
        half = len(members) // 2
        return _merge(curves, upper_envelope(curves, members[:half]), upper_envelope(curves, members[half:]))
    first, second = _pairs(len(members))
    cuts = np.unique(_crossings(curves, members[first], members[second]))
    heights = curves.at(_inside(cuts)[:, None], members)
    return _compressed(cuts, members[heights.argmax(axis=1)])


def _merge(curves: Parabolas, a: Envelope, b: Envelope) -> Envelope:
    shared = np.unique(np.concatenate([a.cuts, b.cuts]))
    points = _inside(shared)
    one, two = owners_at(a, points), owners_at(b, points)
    differ = one != two
    cuts = np.unique(np.concatenate([shared, _crossings(curves, one[differ], two[differ])]))
    points = _inside(cuts)
    one, two = owners_at(a, points), owners_at(b, points)
    return _compressed(cuts, np.where(curves.at(points, one) >= curves.at(points, two), one, two))


def owners_at(envelope: Envelope, y: Array) -> Indices:
    """The component on top at each y."""
    return envelope.owners[np.searchsorted(envelope.cuts, y)]


def _compressed(cuts: Array, owners: Indices) -> Envelope:
    changes = np.flatnonzero(owners[1:] != owners[:-1])
    return Envelope(cuts[changes], owners[np.concatenate([changes, [len(owners) - 1]])])


@cache
def _pairs(count: int) -> tuple[Indices, Indices]:
    """All pairs of so many, up to the size of a block."""
    first, second = np.triu_indices(count, 1)
    return first, second


def _inside(cuts: Array) -> Array:
    """One point in each of the cells that the cuts make of the line."""
    if len(cuts) == 0:
        return np.zeros(1)
    with np.errstate(over="ignore"):
        left, right = cuts[0] - (1 + abs(cuts[0])), cuts[-1] + (1 + abs(cuts[-1]))
    return np.concatenate([[left], cuts[:-1] + 0.5 * (cuts[1:] - cuts[:-1]), [right]])


def _crossings(curves: Parabolas, i: Indices, j: Indices) -> Array:
    """The points where f_i = f_j, around the mean of i to keep digits; those that are no numbers left out."""
    with np.errstate(all="ignore"):
        si, sj = curves.stds[i], curves.stds[j]
        gap = (curves.means[j] - curves.means[i]) + (curves.lows[j] - curves.lows[i])
        # f_i − f_j = a t² + b t + c with t = y − mean_i
        a = 0.5 * (si - sj) * (si + sj) / (si * si * sj * sj)
        b = -gap / (sj * sj)
        c = curves.heights[i] - curves.heights[j] + 0.5 * (gap / sj) ** 2
        found = roots(a, b, c) + np.concatenate([curves.means[i]] * 2)
    finite: Array = found[np.isfinite(found)]
    return finite


def roots(a: Array, b: Array, c: Array) -> Array:
    """Where a·t² + b·t + c is 0, both places after one another, neither by a difference of nearly equal numbers."""
    root = np.sqrt(b * b - 4 * a * c)
    big = -0.5 * (b + np.where(b >= 0, root, -root))
    return np.concatenate([big / a, c / big])
