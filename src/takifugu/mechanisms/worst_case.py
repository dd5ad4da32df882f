"""Many pairs at once: cheap bounds first, the exact search for the few that are left."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.channels import Channel, GaussianNoise
from takifugu.divergences import Components, RoughLosses, divergence, finite_divergence, rough_losses, upper_losses
from takifugu.laws import Finite, Mixture
from takifugu.mechanisms.base import Additive, Binding
from takifugu.problems import Divergence, Guarantee, Indices, MaxDivergence, Pair, Pairs, Part, Place, Problem

# One pass over many pairs: a cheap bound dismisses most of them, the exact search serves the few that are left.
#
# At the noise found so far a block of pairs is bounded from above. What the bound clears is done with, since more
# noise never hurts; of what it does not clear the worst is searched, which raises the noise for all that follows.
# Every pair ends cleared, or seen to be within the budget, or searched (proofs/exact.md). What was only seen, by a
# quadrature, is told: whoever has the last word proves it.

Block = tuple[Indices, Indices]


class Screen(ABC):
    """Upper bounds on the losses of many pairs of one kind of law."""

    few: int  # pairs for which looking at each is cheaper than a bound on all
    by_quadrature: bool  # whether the loss of a pair is an integral taken in floats, or a formula
    clear: float  # the loss up to which a bound clears a pair

    @abstractmethod
    def bounds(self, i: Indices, j: Indices, variance: float) -> Array:
        """A bound on the loss of i against j with noise of this variance, infinite or NaN where in doubt.

        The indices broadcast, and the variances never fall from one call to the next.
        """

    @abstractmethod
    def blocks(self, pairs: Pairs) -> Iterator[Block]:
        """All directed pairs, as indices that broadcast, first those that will ask for much noise."""


def least_variance_with(
    screen: Screen,
    exact: Additive,
    priors: Sequence[Mixture],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    accept: float,
    floor: float,
) -> Binding:
    """The least variance for all pairs; `accept` is the loss up to which a pair needs no search."""
    found = Binding(floor, None)
    settled: set[tuple[int, int]] = set()  # blocks overlap, and what was enough for a pair stays enough

    def require(i: int, j: int) -> None:
        nonlocal found
        if (i, j) in settled:
            return
        settled.add((i, j))
        p, q = priors[i], priors[j]
        if math.isinf(found.variance):  # no number is enough for another pair
            return
        # The search begins with this look itself; before any noise was found that is all there is to save.
        if found.variance > 0 and divergence(p, q, alpha=alpha, theta=math.sqrt(found.variance)) <= accept:
            return
        variance = exact.least_variance(p, q, alpha=alpha, epsilon=epsilon, floor=found.variance)
        if variance > found.variance:
            found = Binding(variance, (i, j))

    for i, j in screen.blocks(pairs):
        left = np.broadcast(i, j).size
        while left > screen.few:
            i, j = _not_cleared(i, j, screen.bounds(i, j, found.variance), screen.clear)
            if not len(i):
                break
            before = found
            require(int(i[0]), int(j[0]))
            i, j = i[1:], j[1:]
            left = len(i)
            if found == before:
                break  # the same noise would clear the same pairs
        i, j = np.broadcast_arrays(i, j)
        for pair in zip(i.ravel().tolist(), j.ravel().tolist(), strict=True):
            require(*pair)
    return found._replace(close=_close(screen, settled, found))


def _close(screen: Screen, looked_at: set[tuple[int, int]], found: Binding) -> tuple[tuple[int, int], ...]:
    """Of the pairs that a quadrature looked at, those that the bound does not clear at the noise found in the end."""
    if not looked_at or not screen.by_quadrature or not math.isfinite(found.variance):
        return ()
    i, j = (np.array(side, dtype=np.intp) for side in zip(*sorted(looked_at), strict=True))
    left = ~(screen.bounds(i, j, found.variance) <= screen.clear) & (i != j)
    return tuple(zip(i[left].tolist(), j[left].tolist(), strict=True))


def _not_cleared(i: Indices, j: Indices, bounds: Array, clear: float) -> Block:
    """The pairs that a bound does not clear, those certain to raise the noise most first."""
    if bounds.max() <= clear:  # False for NaN
        nothing = np.empty(0, dtype=np.intp)
        return nothing, nothing
    stopped = np.nonzero(~(bounds <= clear))
    i, j = (np.broadcast_to(x, bounds.shape)[stopped] for x in (i, j))
    # A finite bound is known to be near the truth; the infinite ones, in doubt, come after it.
    known = np.where(np.isfinite(bounds[stopped]), bounds[stopped], -1.0)
    order = np.argsort(-known, kind="stable")
    order = order[(i != j)[order]]
    return i[order], j[order]


# The few laws among many that can bind: the others lie between them (proofs/extreme-laws.md).
#
# For Gaussians the worst pair is one of vertices of the convex hull of the points (mean, variance), whatever the
# order, the budget and the noise: a few dozen of a million. A point is left out only where a test with a proved
# error, or one in exact fractions, shows that it is no vertex.

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


# Pairs among very many Gaussians of which none lies inside the others: runs of neighbours are bounded together.
#
# All laws of a run lie in a quadrilateral of (mean, variance), and what a pair of two runs can lose is at most what a
# corner of the one loses against a corner of the other (proofs/extreme-laws.md). Two runs that this clears need no
# look at their members; the others are halved. On a circle of a million laws a few thousand pairs are left.

MANY = 4_096  # laws from which it pays: fewer have all their pairs bounded in a moment
_FIRST = 64  # runs that the search begins with, about
_LEAST = 4  # laws in the shortest runs
_BLOCK_RUNS = 1 << 12  # pairs of runs at a time, sixteen corners each
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
        for k in range(0, len(left), _BLOCK_RUNS):
            i, j = (side[k : k + _BLOCK_RUNS, None] * length + np.arange(length) for side in (left, right))
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
        for k in range(0, len(left), _BLOCK_RUNS):
            a, b = left[k : k + _BLOCK_RUNS], right[k : k + _BLOCK_RUNS]
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


# Bounds on the losses of many pairs of Gaussians: one logarithm a pair, and more digits where that is not enough.

_BLOCK = 1 << 15  # pairs at a time: the buffers stay in the cache
_MANY = 8  # secrets from which it pays to begin with the extremes


class GaussianScreen(Screen):
    """Two readings of the closed formula, neither ever below the truth (proofs/gaussian.md)."""

    few = 2
    by_quadrature = False

    def __init__(self, priors: Sequence[Mixture], *, alpha: float, accept: float) -> None:
        """Gather means and standard deviations; what a bound clears needs no margin beyond `accept`."""
        self._means, self._stds = (np.concatenate([getattr(p, name) for p in priors]) for name in ("means", "stds"))
        self._alpha, self.clear = alpha, accept
        self._rough: tuple[float, RoughLosses] | None = None

    def bounds(self, i: Indices, j: Indices, variance: float) -> Array:
        """See `Screen.bounds`."""
        means, stds = self._means, self._stds
        if self._rough is None or self._rough[0] != variance:
            self._rough = variance, RoughLosses(means, stds, alpha=self._alpha, variance=variance)
        losses = self._rough[1](i, j)
        if losses.max() <= self.clear:  # False for NaN
            return losses
        doubtful = np.nonzero(~(losses <= self.clear))
        i, j = (np.broadcast_to(x, losses.shape)[doubtful] for x in (i, j))
        gap, theta = means[i] - means[j], math.sqrt(variance)
        losses[doubtful] = upper_losses(gap, stds[i], stds[j], alpha=self._alpha, theta=theta)
        return losses

    def blocks(self, pairs: Pairs) -> Iterator[Block]:
        """See `Screen.blocks`; the extremes first, so that the noise is close to final for all the rest."""
        if pairs.is_every and len(self._means) > _MANY:
            extremes = np.unique([f(x) for f in (np.argmin, np.argmax) for x in (self._means, self._stds)])
            everyone = np.arange(len(self._means))
            yield extremes[:, None], everyone[None, :]
            yield everyone[:, None], extremes[None, :]
        if pairs.is_every and len(self._means) > MANY:
            runs = Runs(self._means, self._stds)
            yield from runs.pairs_left(self._at_noise_so_far, lambda losses: losses <= self.clear)
            return
        yield from pairs.directed_blocks(_BLOCK)

    def _at_noise_so_far(self, gap: Array, std_p: Array, std_q: Array) -> Array:
        """Losses at the noise of the latest call: less than there will be, so it may clear too few, never too many."""
        variance = 0.0 if self._rough is None else self._rough[0]
        return upper_losses(gap, std_p, std_q, alpha=self._alpha, theta=math.sqrt(variance))


# Bounds on the losses of many pairs of mixtures: all at once, by one matrix product on a shared grid.

_CLEAR = 1e-3  # the share of the budget by which a cleared pair stays below it
_SIDE = 512  # secrets on either side of one matrix


class MixtureScreen(Screen):
    """A sum on a grid with all that it may have missed added to it (proofs/exact.md)."""

    few = 16
    by_quadrature = True

    def __init__(self, priors: Sequence[Mixture], *, alpha: float, epsilon: float) -> None:
        """Gather the components of all priors."""
        self._components = Components.of(priors)
        self._means = [prior.mean for prior in priors]
        self._alpha, self.clear = alpha, epsilon * (1 - _CLEAR)
        self._tolerance = 0.1 * _CLEAR * epsilon * (alpha - 1.0)

    def bounds(self, i: Indices, j: Indices, variance: float) -> Array:
        """See `Screen.bounds`."""
        rows, i_place = np.unique(i, return_inverse=True)
        columns, j_place = np.unique(j, return_inverse=True)
        lead = self._components.of_rows(rows)
        losses = rough_losses(
            lead,
            lead if np.array_equal(rows, columns) else self._components.of_rows(columns),
            alpha=self._alpha,
            theta=math.sqrt(variance),
            tolerance=self._tolerance,
            around=self.clear,
        )
        return losses[i_place.reshape(i.shape), j_place.reshape(j.shape)]

    def blocks(self, pairs: Pairs) -> Iterator[Block]:
        """See `Screen.blocks`; a pair far apart first, so that the grid starts near its final width."""
        if not pairs.is_every:
            yield from pairs.directed_blocks(_SIDE)
            return
        ends = np.array([int(np.argmin(self._means)), int(np.argmax(self._means))])
        yield ends, ends[::-1]
        everyone = np.arange(len(self._means))
        for start in range(0, len(everyone), _SIDE):
            for other in range(0, len(everyone), _SIDE):
                yield everyone[start : start + _SIDE, None], everyone[None, other : other + _SIDE]


# The place closest to the limit: the one with the largest loss through a given channel.


if TYPE_CHECKING:
    from takifugu.channels import ListChannel

_CLOSE = 0.99  # rough losses this close to the largest are worth an exact look
_FEW_PLACES = 6  # places that are simply all evaluated


class Worst(NamedTuple):
    """A place and its loss."""

    place: Place
    loss: float


class Closest(NamedTuple):
    """The place and the part of a guarantee that are closest to the limit, and the loss there."""

    place: Place
    part: Part
    loss: float


def closest(problem: Problem, channel: Channel, asked: Guarantee) -> Closest:
    """Where the loss is the largest share of its budget, of all beliefs, pairs and parts of a guarantee.

    Args:
        problem: the priors and pairs.
        channel: the channel.
        asked: the guarantee.

    Returns:
        The place, the part and the loss, in floats: a figure for people, and no proof.
    """
    worsts = [(part, worst(problem, channel, part.divergence)) for part in asked.parts]
    found = [Closest(here.place, part, here.loss) for part, here in worsts]
    return max(found, key=lambda one: one.loss / one.part.budget)


def worst(problem: Problem, channel: Channel, of: Divergence) -> Worst:
    """The place with the largest loss of all beliefs and pairs, and that loss.

    Args:
        problem: the priors and pairs.
        channel: the channel.
        of: the divergence.

    Returns:
        The place and its loss, which may be infinite.
    """
    best = Worst(next(problem.places()), -1.0)
    for place in _candidates(problem, channel, of):
        loss = channel.loss(*problem.ends(place), of)
        if math.isinf(loss):
            return Worst(place, loss)
        if loss > best.loss:
            best = Worst(place, loss)
    return best


def _candidates(problem: Problem, channel: Channel, of: Divergence) -> Iterator[Place]:
    """The places that may have the largest loss: all where they are few, else those a cheap bound leaves."""
    alpha = math.inf if type(of) is MaxDivergence else getattr(of, "alpha", None)
    if problem.size > _FEW_PLACES and alpha is not None:
        if channel.publishes == "values":
            for belief in range(len(problem.beliefs)):
                yield _largest_on_list(problem, channel.as_list(), alpha, belief)
            return
        if channel.kind == GaussianNoise.kind:
            for belief in range(len(problem.beliefs)):
                laws = [law.simplified() for law in problem.laws(belief)]
                for i, j in _largest_of(laws, problem.pairs, alpha, channel.as_noise().size):
                    yield Place(belief, i, j)
            return
    if problem.size > _FEW_PLACES:
        for belief in range(len(problem.beliefs)):
            yield from _by_bounds(problem, channel, of, belief)
        return
    yield from problem.places()


def _by_bounds(problem: Problem, channel: Channel, of: Divergence, belief: int) -> Iterator[Place]:
    """The places of a belief whose bound is not below what another place attains; all where no bounds are known."""
    i, j = problem.pairs.directed_places()
    found = channel.screened(problem.laws(belief), of, 1.0)
    kept = list(range(len(i)))
    if found is not None:
        attained, bound = found
        kept = np.flatnonzero(~(bound[i, j] < attained[i, j].max())).tolist() or kept
    yield from (Place(belief, int(i[k]), int(j[k])) for k in kept)


def _largest_on_list(problem: Problem, channel: "ListChannel", alpha: float, belief: int) -> Place:
    """The place with the largest loss through a channel between lists: each law goes through it once."""
    laws: list[Finite] = problem.laws(belief)
    published = np.array([channel.apply(law).probabilities for law in laws])
    best = (-1.0, 0, 0)
    for i, j in problem.pairs.directed_blocks(max(1, _BLOCK // len(channel.outputs))):
        losses = np.where(i == j, -1.0, finite_divergence(published[i], published[j], alpha=alpha))
        k, l = (np.broadcast_to(side, losses.shape).ravel() for side in (i, j))
        most = int(losses.argmax())
        best = max(best, (float(losses.ravel()[most]), int(k[most]), int(l[most])), key=lambda one: one[0])
    return Place(belief, best[1], best[2])


def _largest_of(laws: list[Mixture], pairs: Pairs, alpha: float, theta: float) -> Iterable[tuple[int, int]]:
    """From each block of pairs the few that may have the largest loss, by a cheap upper bound."""
    if pairs.is_every and len(laws) > _MANY:
        places = extreme_laws(laws)
        if 1 < len(places) < len(laws):
            inside = _largest_of([laws[k] for k in places], Pairs(range(len(places))), alpha, theta)
            yield from ((int(places[i]), int(places[j])) for i, j in inside)
            return
    if all(len(law) == 1 for law in laws):
        means, stds = (np.array([float(getattr(law, name)[0]) for law in laws]) for name in ("means", "stds"))
        if pairs.is_every and len(laws) > MANY:
            yield from _largest_of_very_many(means, stds, alpha, theta)
            return
        for i, j in pairs.directed_blocks(_BLOCK):
            i, j = np.broadcast_arrays(i, j)
            # To twelve digits: a rougher bound does not tell small losses apart.
            losses = upper_losses(means[i] - means[j], stds[i], stds[j], alpha=alpha, theta=theta)
            yield from _largest(i, j, losses, most=1)
        return
    for i, j in pairs.directed_blocks(_BLOCK):
        i, j = np.broadcast_arrays(i, j)
        rows, columns = np.unique(i), np.unique(j)
        losses = rough_losses(
            Components.of([laws[r] for r in rows]),
            Components.of([laws[c] for c in columns]),
            alpha=alpha,
            theta=theta,
        )[np.searchsorted(rows, i), np.searchsorted(columns, j)]
        yield from _largest(i, j, losses, most=i.size)


def _largest_of_very_many(means: Array, stds: Array, alpha: float, theta: float) -> Iterable[tuple[int, int]]:
    """The same among so many Gaussians that runs of neighbours are looked at together."""
    largest = np.zeros(1)  # so far, the loss to beat

    def bound(gap: Array, std_p: Array, std_q: Array) -> Array:
        return upper_losses(gap, std_p, std_q, alpha=alpha, theta=theta)

    for i, j in Runs(means, stds).pairs_left(bound, lambda losses: losses <= largest[0]):
        losses = bound(means[i] - means[j], stds[i], stds[j])
        yield from _largest(i, j, losses, most=1)
        largest[0] = losses[np.isfinite(losses) & (i != j)].max(initial=largest[0])


def _largest(i: Indices, j: Indices, losses: Array, most: int) -> Iterable[tuple[int, int]]:
    apart = i != j
    i, j, losses = i[apart], j[apart], losses[apart]
    known = np.where(np.isfinite(losses), losses, -1.0)
    close = ~np.isfinite(losses) | (known >= _CLOSE * known.max(initial=-1.0))
    # All in doubt come first: one of them may be infinite, which ends the search. Of the others a few are enough.
    order = np.flatnonzero(close)[np.argsort(np.where(known[close] < 0, -np.inf, -known[close]), kind="stable")]
    order = order[: int((known < 0).sum()) + most]
    return zip(i[order].tolist(), j[order].tolist(), strict=True)


# The privacy loss of each pair of secrets, computed when asked for.


class Losses(Mapping[Pair, float]):
    """The privacy loss of each directed pair through a channel: its largest divergence over the beliefs.

    Computed when asked for: twenty thousand secrets have four hundred million of them.
    """

    __slots__ = ("_channel", "_of", "_problem")

    def __init__(self, problem: Problem, channel: Channel, of: Divergence) -> None:
        """Remember what the losses follow from."""
        self._problem, self._channel, self._of = problem, channel, of

    def __getitem__(self, pair: Pair) -> float:
        """The loss of the first secret of the pair against the second."""
        if pair not in self._problem.pairs:
            raise KeyError(pair)
        a, b = pair
        return max(self._channel.loss(m[a], m[b], self._of) for m in self._problem.beliefs)

    def __iter__(self) -> Iterator[Pair]:
        """Each pair in both orders."""
        return self._problem.pairs.directed()

    def __len__(self) -> int:
        """Two for every pair."""
        return 2 * len(self._problem.pairs)

    def __repr__(self) -> str:
        """The losses while they are few."""
        return repr(dict(self)) if len(self) <= 12 else f"<losses of {len(self):,} directed pairs>"
