"""The Markov Quilt Mechanism, and what a release made for independent records says of a chain (proofs/dependence.md).

The state at one time is screened off by two others, one on each side: given those (the quilt), what lies beyond them is
independent of it. So a release tells of it what the quilt tells, e, and what it tells of the b records in between. At
the ends of a chain one side needs no quilt, and the trivial quilt is empty: e = 0 and b is every record.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.dependence.boxes import Bounds, ChainBox
from takifugu.dependence.chains import MarkovChain
from takifugu.dependence.people import FittedChain
from takifugu.errors import InputError

_MOST_TIMES = 2_000
_ROUNDING = 2.0**-53
_FAINTEST = 1e-290


class Quilt(NamedTuple):
    """A quilt of the state at a time: how far off it is on either side (None where it has no record there)."""

    time: int
    before: int | None
    after: int | None
    nearby: int
    """How many records lie within it, the one that it is about included."""
    told: float
    """What the quilt itself tells of the state: the largest log-ratio, rounded up."""


Chains: TypeAlias = MarkovChain | ChainBox


@dataclass(frozen=True)
class MarkovQuilt:
    """The quilts of every time of a chain of so many times, or of each of several chains, or of all of a box.

    Of a chain that was fitted to people it is about 118 of them who are drawn too, anew and from those of the table:
    what suits all of them together is too little for many. That is evidence with confidence 0.95, and no proof.

    Args:
        chain: a `MarkovChain`, a `ChainBox`, or several of either, of which the worst counts.
        length: the number of times.
        parents: in place of `length`, for a tree: None for the root, and for each record after it the place of the
            record before it on which it depends, from 0; `time` k is then the k-th record. With several branches a
            household, an outbreak or a chain of command. Rényi orders are bounded by the log-ratio; no certificates.

    Raises:
        InputError: for both or none of `length` and `parents`, a chain that is none, and more times than can be looked
            at.

    >>> quilts = MarkovQuilt(MarkovChain([[0.8, 0.2], [0.4, 0.6]]), 24)
    >>> round(quilts.scale(math.log(3)), 9)
    6.892365183
    >>> quilts.epsilon(0.05) < 24 * 0.05  # less than all records together would tell
    True
    """

    chain: Chains | Sequence[Chains]
    length: int = 0
    parents: Sequence[int | None] | None = None

    def __post_init__(self) -> None:
        """Refuse what is no number of times, and no chain."""
        if self.parents is not None:
            if self.length not in (0, len(self.parents)):
                raise InputError("give one of length and parents: a tree has as many records as parents")
            require_tree(self.parents)
            object.__setattr__(self, "length", len(self.parents))
        times = check.integer("length", self.length, least=1)
        if times > _MOST_TIMES:
            raise InputError(f"length is at most {_MOST_TIMES:,}, got {self.length!r}: take a coarser step of time")
        given = self.chain if isinstance(self.chain, Sequence) else (self.chain,)
        if not given or not all(isinstance(one, MarkovChain | ChainBox) for one in given):
            raise InputError(f"a quilt needs a MarkovChain, a ChainBox, or a list of them, got {self.chain!r}")
        if len(given) > 1 and any(isinstance(one, FittedChain) for one in given):
            raise InputError("a chain that was fitted to people stands for them all: give it alone")
        if self.parents is not None and any(isinstance(one, ChainBox) for one in given):
            raise InputError("the quilts of a tree are of chains, and not of boxes of them")

    @cached_property
    def chains(self) -> tuple[Chains, ...]:
        """Every chain, or box, that it is about."""
        given = tuple(self.chain) if isinstance(self.chain, Sequence) else (self.chain,)
        if isinstance(given[0], FittedChain):
            return (*given, *given[0].others())
        return given

    @cached_property
    def each(self) -> "list[Quilts | TreeQuilts]":
        """The quilts of each of them."""
        if self.parents is not None:
            return [TreeQuilts(one, self.parents) for one in self.chains if isinstance(one, MarkovChain)]
        return [Quilts(bounds_of(one, self.length)) for one in self.chains]

    def scale(self, epsilon: float) -> float:
        """The scale of Laplace noise on a number that one record changes by 1 at most: the Markov Quilt Mechanism.

        Args:
            epsilon: the logarithm of the factor within which posterior odds of the state at any one time stay.

        Returns:
            max over times of the least b/(ε − e) over quilts, rounded up.
        """
        budget = check.budget(epsilon)
        return self._most(lambda one, time: one.scores(time, budget))

    def quilt(self, time: int, epsilon: float) -> Quilt:
        """The quilt that asks for the least noise at a time, of the chain that asks for most.

        Args:
            time: 1 for the first.
            epsilon: the budget.

        Returns:
            How far off the quilt stands on either side; None on a side where it has no record.
        """
        when, budget = check.integer("time", time, least=1), check.budget(epsilon)
        if when > self.length:
            raise InputError(f"time is at most {self.length}, got {time!r}")
        worst = max(self.each, key=lambda one: float(one.scores(when, budget).min()))
        scores = worst.scores(when, budget)
        place = np.unravel_index(int(scores.argmin()), scores.shape)
        before, after = (None, None) if self.parents is not None else (int(k) or None for k in place)
        return Quilt(when, before, after, int(worst.nearby(when)[place]), float(worst.told(when)[place]))

    def epsilon(self, dp_epsilon: float) -> float:
        """The ε that all that is published together keeps for the state at any time, if it is differentially private.

        Further releases from the same records pay their own share of `dp_epsilon`, and what a quilt tells once.

        Args:
            dp_epsilon: of all releases together, under replacing one record by another. (Under adding or removing a
                record, give twice that.)
        """
        private = check.budget(dp_epsilon)
        return self._most(lambda one, time: one.told(time) + one.nearby(time) * private)

    def renyi(self, alpha: float, rho: float) -> float:
        """The D_α that everything published together keeps, if it is ρ-zero-concentrated differentially private.

        The records within a quilt are a group, whose ρ grows with the square of its size; what the quilt itself tells
        adds its own divergence.

        Args:
            alpha: the order, above 1.
            rho: of zero-concentrated differential privacy, what one record loses.

        Returns:
            The largest over all records of the least over their quilts.
        """
        order, private = check.order(alpha), check.budget(rho)
        return self._most(lambda one, time: one.divergence(time, order) + order * private * one.nearby(time) ** 2.0)

    def _most(self, of: "Callable[[Quilts | TreeQuilts, int], Array]") -> float:
        """The largest over chains and times of the least over quilts, rounded up."""
        times = range(1, self.length + 1)
        return max(float(of(one, time).min()) for one in self.each for time in times) * (1 + 2.0**-40)


class Quilts:
    """Every quilt of every time of one chain, or of all chains within bounds."""

    def __init__(self, bounds: Bounds) -> None:
        """Of so many times as the marginals are given for."""
        self.bounds = bounds
        (self._low, self._high), (self._rare, self._often) = bounds
        self._divergences: dict[float, Array] = {}
        self.length, self.states = self._rare.shape
        # A bound on the error of a log-ratio of both sides: sums of positive numbers keep their relative precision, and
        # the logarithms of floats above 1e-290 are below 668.
        self._rounding = (32 * (self.length + 4) * (self.states + 2) + 8_000) * _ROUNDING

    def scores(self, time: int, epsilon: float) -> Array:
        """The scale that each quilt asks for.

        Song, Wang and Chaudhuri, "Pufferfish Privacy Mechanisms for Correlated Data" (2017): the number
        of records within, divided by what the quilt leaves of the budget.

        Args:
            time: 1 for the first.
            epsilon: the budget.

        Returns:
            A matrix of scales, infinite where the quilt itself tells as much as is allowed.
        """
        rest = epsilon - self.told(time)
        with np.errstate(divide="ignore"):
            found: Array = np.where(rest > 0, self.nearby(time) / np.where(rest > 0, rest, 1.0), math.inf)
        return found

    def nearby(self, time: int) -> Array:
        """The records within each quilt: rows by the distance before, columns by that after; 0 stands for none.

        Args:
            time: 1 for the first.

        Returns:
            A matrix of whole numbers.
        """
        before = np.arange(time, dtype=float)
        after = np.arange(self.length - time + 1, dtype=float)
        before[0], after[0] = time, self.length - time + 1
        return before[:, None] + after - 1

    def told(self, time: int) -> Array:
        """The largest log-ratio of each quilt given two states, rounded up.

        Args:
            time: 1 for the first.

        Returns:
            A matrix of max-influences: infinite where a state at the quilt is possible given one state now and not
            another.
        """
        after = self._after[: self.length - time + 1].copy()
        found: Array = _largest(self._possible(time, self._before(time), after)) + self._rounding
        return found

    def divergence(self, time: int, alpha: float) -> Array:
        """The largest D_α of each quilt given two states, rounded up.

        Args:
            time: 1 for the first.
            alpha: the order, above 1.

        Returns:
            A matrix of divergences, never above the max-influences but for rounding.
        """
        before = np.zeros((time, self.states, self.states))
        then = slice(time - 2, None, -1) if time > 1 else slice(0, 0)
        with np.errstate(divide="ignore", invalid="ignore"):  # P(earlier | now) by Bayes' rule
            low = self._rare[then, :, None] * self._low[1:time] / self._often[time - 1]
            high = self._often[then, :, None] * self._high[1:time] / self._rare[time - 1]
        before[1:] = _renyi(low.transpose(0, 2, 1), np.minimum(high, 1.0).transpose(0, 2, 1), alpha)
        after = self._after_at(alpha)[: self.length - time + 1].copy()
        found: Array = _largest(self._possible(time, before, after)) + self._rounding * (1 + 1 / (alpha - 1))
        return found

    def _after_at(self, alpha: float) -> Array:
        """For each distance and two states D_α of what comes so much later."""
        if alpha not in self._divergences:
            found = _renyi(self._low, self._high, alpha)
            found[0] = 0.0
            self._divergences[alpha] = found
        return self._divergences[alpha]

    @cached_property
    def _after(self) -> Array:
        """For each distance and two states the largest ln P(q|x)/P(q|x') of what comes so much later."""
        found = _known(_log_ratios(self._low, self._high))
        found[0] = 0.0
        return found

    @cached_property
    def _backwards(self) -> Array:
        """For each distance and two states the largest ln P(x|q)/P(x'|q) of what came so much earlier."""
        found: Array = _log_ratios(self._low.transpose(0, 2, 1), self._high.transpose(0, 2, 1))
        return found

    def _before(self, time: int) -> Array:
        """The largest ln P(q|x)/P(q|x') of what came so much earlier, by Bayes' rule: P(q) cancels."""
        found = np.zeros((time, self.states, self.states))
        if (self._rare > 0).all():
            found[1:] = self._backwards[1:time]
        else:  # of a record that may be impossible only what is possible counts
            for distance in range(1, time):
                seen = ~(self._often[time - 1 - distance] == 0)
                found[distance] = _log_ratios(self._low[distance][seen].T, self._high[distance][seen].T)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[1:] += np.log(self._often[time - 1])[None, :] - np.log(self._rare[time - 1])[:, None]
        return _known(found)

    def _possible(self, time: int, before: Array, after: Array) -> tuple[Array, Array]:
        """Nobody can believe in a state that does not occur at a time."""
        impossible = self._often[time - 1] == 0
        for side in (before, after):
            side[:, impossible, :] = 0.0
            side[:, :, impossible] = 0.0
        return before, after


def bounds_of(chain: Chains, length: int) -> Bounds:
    """What a chain does in so many times, in floats, or each chain of a box."""
    if isinstance(chain, ChainBox):
        return chain.bounds(length)
    rows = np.array([[float(p) for p in row] for row in chain.transition])
    steps = _followed(np.eye(len(rows)), rows, length)
    marginals = _followed(np.array([[float(p) for p in chain.start]]), rows, length)[:, 0, :]
    return Bounds((steps, steps), (marginals, marginals))


def _followed(first: Array, steps: Array, times: int) -> Array:
    """A distribution carried on so many times; what is possible, and too unlikely for a float, is marked by a NaN."""
    found, reached = np.empty((times, *first.shape)), first > 0
    found[0] = first
    for time in range(1, times):
        found[time] = np.nan_to_num(found[time - 1]) @ steps
        reached = (reached.astype(float) @ (steps > 0)) > 0
        found[time][reached & (found[time] < _FAINTEST)] = math.nan
    return found


def _log_ratios(low: Array, high: Array) -> Array:
    """For each two states the largest ln P(q|x)/P(q|x'); infinite where only the first makes q possible.

    The last two axes are states and q, from below and from above.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.log(high)[..., :, None, :] - np.log(low)[..., None, :, :]
        found: Array = np.where(high[..., :, None, :] == 0, -math.inf, gaps).max(axis=-1)
    return found


def _renyi(low: Array, high: Array, alpha: float) -> Array:
    """For each two states D_α(P(q|x) ‖ P(q|x'))."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = alpha * np.log(high)[..., :, None, :] + (1.0 - alpha) * np.log(low)[..., None, :, :]
        terms = np.where(high[..., :, None, :] == 0, -math.inf, terms)
        top = terms.max(axis=-1, keepdims=True)
        found = (top[..., 0] + np.log(np.exp(terms - top).sum(axis=-1))) / (alpha - 1.0)
        found = np.where(np.isposinf(top[..., 0]), math.inf, found)
    return _known(found)


def _known(found: Array) -> Array:
    """What no float tells is infinite; a state against itself tells nothing, and nothing is below that."""
    found = np.maximum(np.where(np.isnan(found), math.inf, found), 0.0)
    same = np.arange(found.shape[-1])
    found[..., same, same] = 0.0
    return found


def _largest(sides: tuple[Array, Array]) -> Array:
    """The largest sum over pairs of states, for every distance before and every distance after."""
    before, after = sides
    states = before.shape[1]
    most = np.zeros((len(before), len(after)))
    for x in range(states):
        for other in range(states):
            np.maximum(most, before[:, x, other][:, None] + after[:, x, other], out=most)
    return most


# Quilts of trees: each record depends on one before it, and several may depend on one, as in a contagion.
#
# A quilt cuts a part of the tree off that is connected and holds the record in question. What it tells is a product
# over the branches that leave that record, and within a branch the largest ratio of two states is attained at extreme
# rays of the cone of likelihoods, of which two states have two: so all quilts are weighed, branch by branch, and
# those that are no better than others in any way are left out (proofs/dependence.md, claim 16).


_MOST_RAYS, _MOST_WAYS = 512, 200  # beyond these quilts are left out, and the others still hold
_MOST_NODES = 500
Way = TypeVar("Way")


class Cut(NamedTuple):
    """One way to cut a branch off: how many records stay within, and what the quilt in it makes likely.

    Rows of `rays` are P(quilt | state of the record before the branch) for each of its states, times any number.
    """

    nearby: int
    rays: Array


class TreeQuilts:
    """Every quilt of every record of a tree; of more than two states those that are not left out."""

    def __init__(self, chain: MarkovChain, parents: Sequence[int | None]) -> None:
        """Follow the chain from the root to every record."""
        self.length, self.states = len(parents), len(chain.states)
        rows = np.array([[float(p) for p in row] for row in chain.transition])
        self._near: list[list[int]] = [[] for _ in parents]
        self._marginals = np.empty((self.length, self.states))
        self._marginals[0] = [float(p) for p in chain.start]
        self._down = rows
        self._parents = list(parents)
        for node, parent in enumerate(parents):
            if parent is not None:
                self._near[parent].append(node)
                self._near[node].append(parent)
                self._marginals[node] = self._marginals[parent] @ rows
                reached = (self._marginals[parent] > 0).astype(float) @ (rows > 0) > 0
                if (reached & (self._marginals[node] < _FAINTEST)).any():
                    raise InputError("a state of a tree is possible and too unlikely for a float: leave it out")
        self._rounding = (32 * (self.length + 4) * (self.states + 2) + 8_000) * _ROUNDING
        self._cuts = cache(self._found_cuts)
        self._at = cache(self._weighed)

    def nearby(self, time: int) -> Array:
        """The records within each quilt of a record, the first being 1."""
        return self._at(time)[0]

    def told(self, time: int) -> Array:
        """The largest log-ratio of each quilt given two states, rounded up."""
        return self._at(time)[1]

    def divergence(self, time: int, alpha: float) -> Array:
        """What bounds D_α of each quilt, of every order: the largest log-ratio."""
        return self.told(time)

    def scores(self, time: int, epsilon: float) -> Array:
        """The scale that each quilt asks for."""
        rest = epsilon - self.told(time)
        with np.errstate(divide="ignore"):
            found: Array = np.where(rest > 0, self.nearby(time) / np.where(rest > 0, rest, 1.0), math.inf)
        return found

    def _weighed(self, time: int) -> tuple[Array, Array]:
        """How many records each quilt of a record holds, and what it tells."""
        node = time - 1
        possible = self._marginals[node] > 0
        branches = [
            [(one.nearby, _log_ratios_of_rays(one.rays[:, possible])) for one in self._cuts(child, node)]
            for child in self._near[node]
        ]
        none = [(1, np.zeros((possible.sum(), possible.sum())))]
        found = reduce(lambda some, more: _pareto([(a + b, p + q) for a, p in some for b, q in more]), branches, none)
        nearby = np.array([float(count) for count, _ in found])
        return nearby, np.array([max(0.0, float(told.max())) for _, told in found]) + self._rounding

    def _found_cuts(self, node: int, before: int) -> list[Cut]:
        """Every way to cut the branch off that begins with a record, seen from the one before it."""
        step = self._step(before, node)
        seen = self._marginals[node] > 0
        cuts = [Cut(0, step.T[seen])]
        within = [Cut(1, np.ones((1, self.states)))]
        for child in self._near[node]:
            if child != before:
                ways = self._cuts(child, node)
                within = _kept([Cut(a.nearby + b.nearby, _products(a.rays, b.rays)) for a in within for b in ways])
        return _kept([*cuts, *(Cut(one.nearby, _carried(one.rays, step)) for one in within)])

    def _step(self, before: int, node: int) -> Array:
        """P(record | the one before it), which may be against the way in which the chain goes."""
        if self._parents[node] == before:
            return self._down
        with np.errstate(divide="ignore", invalid="ignore"):
            turned = self._marginals[node][:, None] * self._down / self._marginals[before]
        found: Array = np.where(self._marginals[before] > 0, turned, 0.0).T
        return found


def require_tree(parents: Sequence[int | None]) -> None:
    """Refuse what is no list of parents, each before its children."""
    if not parents or parents[0] is not None:
        raise InputError("parents must begin with None, for the root")
    if len(parents) > _MOST_NODES:
        raise InputError(f"a tree has at most {_MOST_NODES} records, got {len(parents)}")
    for node, parent in enumerate(parents[1:], start=1):
        if isinstance(parent, bool) or not isinstance(parent, int) or not 0 <= parent < node:
            raise InputError(
                f"parents[{node}] must be the place of a record before it, from 0 to {node - 1}, got {parent!r}"
            )


def _products(first: Array, second: Array) -> Array:
    """What is likely where both branches are cut, which are independent given the record between them."""
    found = first[:, None, :] * second[None, :, :]
    found[(found < _FAINTEST) & (first[:, None, :] > 0) & (second[None, :, :] > 0)] = math.nan
    return _reduced(found.reshape(-1, first.shape[1]))


def _carried(rays: Array, step: Array) -> Array:
    """What is likely given the record before the one that rays are about."""
    found = rays @ step.T
    found[(found < _FAINTEST) & ((rays > 0).astype(float) @ (step.T > 0) > 0)] = math.nan
    return _reduced(found)


def _reduced(rays: Array) -> Array:
    """The same cone by fewer rays, the largest entry of each 1; of two states by its two extreme rays."""
    if np.isnan(rays).any():  # too unlikely for a float: such a cut is left out
        return rays
    most = rays.max(axis=1)
    rays = rays[most > 0] / most[most > 0, None]
    if rays.shape[1] != 2:
        return np.unique(rays, axis=0)
    share = rays[:, 0] / rays.sum(axis=1)
    found: Array = rays[[int(share.argmin()), int(share.argmax())]]
    return found


def _kept(cuts: list[Cut]) -> list[Cut]:
    """Those cuts that may be part of the best quilt, as far as there is room for them."""
    cuts = [one for one in cuts if len(one.rays) <= _MOST_RAYS and not np.isnan(one.rays).any()]
    if cuts and cuts[0].rays.shape[1] != 2:
        return _first(sorted(cuts, key=lambda one: one.nearby))
    found = _pareto([(one.nearby, _log_ratios_of_rays(one.rays)) for one in cuts], [one.rays for one in cuts])
    return [Cut(count, rays) for count, rays in found]


def _pareto(ways: list[tuple[int, Array]], carried: list[Array] | None = None) -> list[tuple[int, Array]]:
    """Without those that hold no fewer records and tell no less than another; what is carried stands in their place."""
    order = sorted(range(len(ways)), key=lambda k: (ways[k][0], float(ways[k][1].sum())))
    front: list[int] = []
    told = np.empty((0, *ways[0][1].shape))
    for k in order:
        if not (told <= ways[k][1]).all(axis=(1, 2)).any():
            front.append(k)
            told = np.concatenate([told, ways[k][1][None]])
    return [(ways[k][0], ways[k][1] if carried is None else carried[k]) for k in _first(front)]


def _first(ways: list[Way]) -> list[Way]:
    """As many as there is room for; the last cuts nothing off, and is always there."""
    return ways if len(ways) <= _MOST_WAYS else [*ways[: _MOST_WAYS - 1], ways[-1]]


def _log_ratios_of_rays(rays: Array) -> Array:
    """For each two states the largest log-ratio of any ray; infinite where one shows a state for certain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.where(rays < _FAINTEST, 0.0, rays))
        gaps = np.where(rays[:, :, None] == 0, -math.inf, logs[:, :, None] - logs[:, None, :])
        found: Array = np.where(np.isnan(gaps), math.inf, gaps).max(axis=0)
    np.fill_diagonal(found, 0.0)
    return found
