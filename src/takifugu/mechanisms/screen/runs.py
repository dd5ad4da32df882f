"""Pairs among very many Gaussians of which none lies inside the others: runs of neighbours are bounded together.

All laws of a run lie in a quadrilateral of (mean, variance), and what a pair of two runs can lose is at most what a
corner of the one loses against a corner of the other (proofs/extreme-laws.md). Two runs that this clears need no look
at their members; the others are halved. On a circle of a million laws a few thousand pairs are left.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.problems.pairs import Indices

MANY = 4_096  # laws from which it pays: fewer have all their pairs bounded in a moment
_FIRST = 64  # runs that the search begins with, about
_LEAST = 4  # laws in the shortest runs
_BLOCK = 1 << 12  # pairs of runs at a time, sixteen corners each
_MOST = 1 << 18  # pairs of runs in one piece
_ASKED = 64  # pairs of laws that are looked at before the runs are halved, so that more can be cleared
_SLACK = 2.0**-44  # of the largest variance: thirty times what rounding can move a corner by
_LEAST_NORMAL = 2.0**-1022  # and what it can move one by where squares are below it, many times over

Bound = Callable[[Array, Array, Array], Array]  # of gaps and two standard deviations: losses, never below the truth
Cleared = Callable[[Array], npt.NDArray[np.bool_]]


class Corners(NamedTuple):
    """Four corners for each run, as means and standard deviations."""

    means: Array
    stds: Array


class Runs:
    """Gaussians in the order of the hull: its upper side by mean, then its lower side."""

    def __init__(self, means: Array, stds: Array) -> None:
        """Put the laws in order."""
        with np.errstate(all="ignore"):
            ends = int(np.argmin(means)), int(np.argmax(means))
            variances = stds * stds
            chord = np.interp(means, means[list(ends)], variances[list(ends)])
        self._order = np.lexsort((means, variances < chord))
        self._means, self._stds = means[self._order], stds[self._order]
        self._corners_of: dict[int, Corners] = {}

    def pairs_left(self, bound: Bound, is_cleared: Cleared) -> Iterator[tuple[Indices, Indices]]:
        """Pairs of laws, block by block; every pair that never comes is cleared by the bound of its runs.

        Between two blocks `bound` and `is_cleared` may become stricter for what is left: more noise, a larger loss
        to beat.
        """
        length = 1 << max(0, (len(self._means) // _FIRST - 1).bit_length())
        count = -(-len(self._means) // length)
        left, right = (side.ravel() for side in np.indices((count, count)))
        waiting = [(left, right, length)]
        while waiting:
            left, right, length = waiting.pop()
            if len(left) > _MOST:  # where hardly anything is cleared: all pairs take their time, and no more room
                waiting += [(left[_MOST:], right[_MOST:], length), (left[:_MOST], right[:_MOST], length)]
                continue
            left, right, losses = self._not_cleared(left, right, length, bound, is_cleared)
            if length <= _LEAST:
                yield from self._members(left, right, length)
            elif len(left):
                order = np.argsort(-np.where(np.isnan(losses), np.inf, losses), kind="stable")
                left, right = left[order], right[order]
                yield self._inside(left[:_ASKED], length), self._inside(right[:_ASKED], length)
                waiting.append(self._halved(left, right, length // 2))

    def _halved(self, left: Indices, right: Indices, length: int) -> tuple[Indices, Indices, int]:
        """The four pairs of halves of each pair of runs, as far as there are laws in them."""
        left = (2 * left[:, None] + np.array([0, 0, 1, 1])).ravel()
        right = (2 * right[:, None] + np.array([0, 1, 0, 1])).ravel()
        real = np.maximum(left, right) * length < len(self._means)
        return left[real], right[real], length

    def _members(self, left: Indices, right: Indices, length: int) -> Iterator[tuple[Indices, Indices]]:
        """The pairs of laws of pairs of runs."""
        for k in range(0, len(left), _BLOCK):
            i, j = (side[k : k + _BLOCK, None] * length + np.arange(length) for side in (left, right))
            i, j = (x.ravel() for x in np.broadcast_arrays(i[:, :, None], j[:, None, :]))
            real = np.maximum(i, j) < len(self._means)
            yield self._order[i[real]], self._order[j[real]]

    def _inside(self, runs: Indices, length: int) -> Indices:
        """A law from the middle of each run."""
        return self._order[np.minimum(runs * length + length // 2, len(self._order) - 1)]

    def _not_cleared(
        self, left: Indices, right: Indices, length: int, bound: Bound, is_cleared: Cleared
    ) -> tuple[Indices, Indices, Array]:
        """The pairs of runs that their corners do not clear, and what they lose at most."""
        if length not in self._corners_of:
            self._corners_of[length] = self._corners(length)
        corners, kept = self._corners_of[length], []
        for k in range(0, len(left), _BLOCK):
            a, b = left[k : k + _BLOCK], right[k : k + _BLOCK]
            gaps = corners.means[a][:, :, None] - corners.means[b][:, None, :]
            wide = np.broadcast_arrays(gaps, corners.stds[a][:, :, None], corners.stds[b][:, None, :])
            losses = bound(*wide).max(axis=(1, 2))  # NaN where any is
            open_ones = ~is_cleared(losses)
            kept.append((a[open_ones], b[open_ones], losses[open_ones]))
        a, b, losses = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        return a, b, losses

    def _corners(self, length: int) -> Corners:
        """For each run a quadrilateral around its laws: two upright sides, and two along its chord."""
        starts = np.arange(0, len(self._means), length)
        ends = np.minimum(starts + length, len(self._means)) - 1
        sizes = ends - starts + 1
        m, s = self._means, self._stds
        with np.errstate(all="ignore"):
            v = s * s
            rise = (s[ends] - s[starts]) * (s[ends] + s[starts])
            slope = np.nan_to_num(rise / (m[ends] - m[starts]), nan=0.0, posinf=0.0, neginf=0.0)
            above = v - np.repeat(slope, sizes) * (m - np.repeat(m[starts], sizes))
            low, high = np.minimum.reduceat(above, starts), np.maximum.reduceat(above, starts)
            first, last = np.minimum.reduceat(m, starts), np.maximum.reduceat(m, starts)
            least, most = np.minimum.reduceat(v, starts), np.maximum.reduceat(v, starts)
            slack = _SLACK * (most + np.abs(slope) * (last - first)) + _LEAST_NORMAL
            along = np.column_stack([slope * (first - m[starts]), slope * (last - m[starts])])
            bottom, top = along + (low - slack)[:, None], along + (high + slack)[:, None]
            # A side that would leave the half-plane of variances is laid level, below the least of them.
            flat = ~(bottom.min(axis=1) > 0)
            bottom[flat] = np.maximum(least * (1 - _SLACK) - _LEAST_NORMAL, 0.0)[flat, None]
            return Corners(np.column_stack([first, last, first, last]), np.sqrt(np.concatenate([bottom, top], axis=1)))
