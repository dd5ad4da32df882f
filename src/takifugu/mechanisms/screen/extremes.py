"""The few laws among many that can bind: the others lie between them (proofs/extreme-laws.md).

For Gaussians the worst pair is one of vertices of the convex hull of the points (mean, variance), whatever the order,
the budget and the noise: a few dozen of a million. A point is left out only where a test with a proved error, or one in
exact fractions, shows that it is no vertex.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.laws.mixture import Mixture
from takifugu.problems.pairs import Indices

Truths = npt.NDArray[np.bool_]

_ROUNDING = 16 * 2.0**-53  # of the two products compared: three times what their roundings can amount to
_SMALLEST, _LARGEST = 1e-280, 1e280  # a product outside may have lost digits: fractions decide
_FEW = 64  # points for which no pass over all of them pays
_WORTHWHILE = 0.1  # the share that a pass must remove to be followed by another


def extreme_laws(priors: Sequence[Mixture]) -> Indices:
    """Positions of laws among which the worst of all pairs is found; `priors` without repeated components."""
    if all(len(prior) == 1 for prior in priors):
        return extreme_gaussians(*(np.concatenate([getattr(x, name) for x in priors]) for name in ("means", "stds")))
    first: dict[Mixture, int] = {}
    for place, prior in enumerate(priors):
        first.setdefault(prior, place)
    return np.fromiter(first.values(), dtype=np.intp)


def extreme_gaussians(means: Array, stds: Array) -> Indices:
    """Positions of Gaussians with every other inside the convex hull of theirs, in (mean, variance)."""
    order = np.lexsort((stds, means))
    changes = np.flatnonzero(np.diff(means[order])) + 1
    # of several with one mean only the widest can be on the upper side of the hull, only the narrowest on the lower
    lowest, highest = order[np.r_[0, changes]], order[np.r_[changes - 1, len(order) - 1]]
    above = highest[_chain(means[highest], stds[highest], side=1.0)]
    below = lowest[_chain(means[lowest], stds[lowest], side=-1.0)]
    return np.unique(np.concatenate([above, below]))


def _chain(means: Array, stds: Array, *, side: float) -> Indices:
    """The points on one side of the hull; means increase. `side` is 1 for the upper, -1 for the lower."""
    kept = np.arange(len(means))
    while len(kept) > _FEW:
        m, s = means[kept], stds[kept]
        between = _surely_between(m[:-2], s[:-2], m[1:-1], s[1:-1], m[2:], s[2:], side)
        # all at once: a point between two others is no vertex, whichever of those others go too
        kept = kept[np.concatenate([[True], ~between, [True]])]
        if between.mean() < _WORTHWHILE:
            break
    return kept[_scan(means[kept].tolist(), stds[kept].tolist(), side)]


def _surely_between(ma: Array, sa: Array, mb: Array, sb: Array, mc: Array, sc: Array, side: float) -> Truths:
    """Whether b lies on the chord from a to c or inside of it, where floats can tell; ma < mb < mc.

    Differences of variances are products, so that equal ones differ by exactly 0 and close ones by few roundings.
    """
    with np.errstate(all="ignore"):
        rise, next_rise = (sb - sa) * (sb + sa), (sc - sb) * (sc + sb)
        before, after = rise * (mc - mb), next_rise * (mb - ma)
        reliable = _in_range(rise, before, sa == sb) & _in_range(next_rise, after, sb == sc)
        sure: Truths = reliable & (side * (after - before) >= _ROUNDING * (np.abs(before) + np.abs(after)))
        return sure


def _in_range(rise: Array, product: Array, zero: Truths) -> Truths:
    """Whether neither product has lost digits: one of 1e-320 has, and times 1e100 nobody sees that any more."""
    size = np.abs(product)
    return zero | ((np.abs(rise) > _SMALLEST) & (size > _SMALLEST) & (size < _LARGEST))


def _scan(m: list[float], s: list[float], side: float) -> list[int]:
    """Andrew's monotone chain: exact where floats cannot tell."""
    chain: list[int] = []
    for c in range(len(m)):
        while len(chain) > 1 and _between(m, s, chain[-2], chain[-1], c, side):
            chain.pop()
        chain.append(c)
    return chain


def _between(m: list[float], s: list[float], a: int, b: int, c: int, side: float) -> bool:
    rise, next_rise = (s[b] - s[a]) * (s[b] + s[a]), (s[c] - s[b]) * (s[c] + s[b])
    before, after = rise * (m[c] - m[b]), next_rise * (m[b] - m[a])
    difference, size = side * (after - before), abs(before) + abs(after)
    sizes = abs(rise), abs(next_rise), abs(before), abs(after)
    if min(sizes) > _SMALLEST and max(sizes[2:]) < _LARGEST:
        if difference > _ROUNDING * size:
            return True
        if difference < -_ROUNDING * size:
            return False
    (ma, va), (mb, vb), (mc, vc) = ((Fraction(m[k]), Fraction(s[k]) ** 2) for k in (a, b, c))
    exact = (vc - vb) * (mb - ma) - (vb - va) * (mc - mb)
    return exact >= 0 if side > 0 else exact <= 0
