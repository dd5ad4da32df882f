"""Quilts of trees: each record depends on one before it, and several may depend on one, as in a contagion.

A quilt cuts a part of the tree off that is connected and holds the record in question. What it tells is a product over
the branches that leave that record, and within a branch the largest ratio of two states is attained at extreme rays of
the cone of likelihoods, of which two states have two: so all quilts are weighed, branch by branch, and those that are
no better than others in any way are left out (proofs/dependence.md, claim 16).
"""

import math
from collections.abc import Sequence
from functools import cache, reduce
from typing import NamedTuple, TypeVar

import numpy as np

from takifugu._validation import Array
from takifugu.dependence.chains import MarkovChain
from takifugu.errors import InputError

_ROUNDING = 2.0**-53
_FAINTEST = 1e-290
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
            [(one.nearby, _log_ratios(one.rays[:, possible])) for one in self._cuts(child, node)]
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
    found = _pareto([(one.nearby, _log_ratios(one.rays)) for one in cuts], [one.rays for one in cuts])
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


def _log_ratios(rays: Array) -> Array:
    """For each two states the largest log-ratio of any ray; infinite where one shows a state for certain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.where(rays < _FAINTEST, 0.0, rays))
        gaps = np.where(rays[:, :, None] == 0, -math.inf, logs[:, :, None] - logs[:, None, :])
        found: Array = np.where(np.isnan(gaps), math.inf, gaps).max(axis=0)
    np.fill_diagonal(found, 0.0)
    return found
