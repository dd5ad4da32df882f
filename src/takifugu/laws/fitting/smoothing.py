"""Joint laws from few rows: what is assumed about combinations that nobody, or hardly anybody, of a secret has.

To a secret's own rows are added rows of a law that its own columns make: taken as independent of one another, or as a
tree in which each column depends on one other (Chow and Liu, 1968). Which of the two, and how many, is decided by the
likelihood of each row given all others of the same secret; never by the noise it saves, and nothing of another secret
goes in, since that would smooth away the difference that is to be hidden (proofs/population.md).

The rows that are added say no more than those they were made of: whoever draws from the posterior of a law draws them
anew each time (`redrawn`), as other rows of the same people might have made them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array

Places = npt.NDArray[np.intp]

INDEPENDENT, TREE = "independent", "tree"
_HALF = 0.5  # of a row: what every entry of a column is seen more often than it was
_TIE = 5.0  # rows of a column's own shares that are added to its shares given another column's entry
_AMOUNTS = np.logspace(-3, 2, 51)  # of the secret's own rows: how many may be added


@dataclass(frozen=True)
class Smoothing:
    """The rows added to a secret's: how many in all (`rows`), spread over the support by `law`, and of which shape."""

    rows: float
    shape: str
    law: Array

    @property
    def pseudo(self) -> Array:
        """The rows added to each combination of the support."""
        added: Array = self.rows * self.law
        return added


def smoothing(counts: Array, support: Places, sizes: Sequence[int], rows: float | None = None) -> Smoothing:
    """What is added to the rows of one secret.

    counts: of each row of the support; support: places of its columns' entries, rows by columns
    sizes: of the columns' domains; rows: how many to add, of independent columns; by default what predicts best
    """
    whole = _Columns(counts, support, sizes)
    if rows is not None:
        return Smoothing(rows, INDEPENDENT, whole.independent(left_out=0))
    best: tuple[float, Smoothing] | None = None
    for shape, law in ((INDEPENDENT, whole.independent), (TREE, whole.tree)):
        if shape == TREE and support.shape[1] < 3:
            continue  # of two columns a tree is the counts themselves
        added = np.maximum(float(counts.sum()) * _AMOUNTS, 1.0)  # with less, what was not seen would be impossible
        scores = left_out_likelihood(counts, law(left_out=1), added)
        most = int(np.argmax(scores))
        if best is None or scores[most] > best[0]:
            best = float(scores[most]), Smoothing(float(added[most]), shape, law(left_out=0))
    assert best is not None
    return best[1]


def left_out_likelihood(counts: Array, law: Array, added: Array) -> Array:
    """The mean logarithm of each row's probability by all other rows and so many more of `law`, for each amount."""
    seen = np.flatnonzero(counts)
    c, g, total = counts[seen], law[seen], float(counts.sum())
    shares = (c - 1 + added[:, None] * g) / (total - 1 + added[:, None])
    with np.errstate(divide="ignore"):
        return np.asarray((np.log(shares) @ c) / total)


def redrawn(counts: Array, pseudo: Array, support: Places, draws: int, seed: Sequence[int]) -> Array:
    """The rows added to a secret's own, as other rows of its people might have made them: one line a draw.

    Each share of which the law of the added rows is the product, of an entry alone or beside another column's, is drawn
    from its own posterior; what was added is multiplied by what that changes. Rows that vary more than those of the law
    would tell less about it: of n rows with κ added, as much as n(1 + κ)/(n + κ) of its own (proofs/population.md).
    """
    sizes = (support.max(axis=0) + 1).tolist()
    columns = _Columns(counts, support, sizes)
    total, added = float(counts.sum()), float(pseudo.sum())
    worth = (1 + added) / (total + added)
    rng = np.random.default_rng(seed)
    links = _shape_of(pseudo, columns)
    lines = np.empty((draws, len(counts)))
    for line in lines:
        with np.errstate(divide="ignore", invalid="ignore"):
            changed = np.log(pseudo) + sum(columns.change(k, other, worth, rng) for k, other in links)
            changed = np.exp(changed - changed.max())
        # Where nothing is left, shares of next to no rows have all vanished at once: the centre is as good a draw.
        line[:] = added * changed / changed.sum() if np.isfinite(changed).all() and changed.any() else pseudo
    return lines


def _shape_of(pseudo: Array, columns: "_Columns") -> "list[tuple[int, int | None]]":
    """Which column follows which in the law of the added rows: files keep the rows, and not how they were made.

    Of rows of fewer columns than those the law was made of it is the nearest.
    """
    here = pseudo > 0
    alone: list[tuple[int, int | None]] = [(k, None) for k in range(len(columns.sizes))]
    shapes = [(columns.independent(left_out=0), alone), (columns.tree(left_out=0), columns.links())]

    def away(law: Array) -> float:
        apart = np.log(pseudo[here] / law[here])
        return float(pseudo[here] @ (apart - np.average(apart, weights=pseudo[here])) ** 2)

    return min(shapes, key=lambda one: away(one[0]))[1]


class _Columns:
    """One secret's columns: how often each entry occurs, alone and beside another column's."""

    def __init__(self, counts: Array, support: Places, sizes: Sequence[int]) -> None:
        self.counts, self.support, self.sizes = counts, support, tuple(sizes)
        self.total = float(counts.sum())
        self.alone = [_tally(support[:, k], counts, size) for k, size in enumerate(self.sizes)]

    def independent(self, *, left_out: int) -> Array:
        """The probability of each row of the support, each without `left_out` rows of its own."""
        law = np.ones(len(self.counts))
        for k in range(len(self.sizes)):
            law = law * self._share(k, left_out)
        return law

    def tree(self, *, left_out: int) -> Array:
        """The same where each column depends on the one it tells most about."""
        law = np.ones(len(self.counts))
        for k, other in self.links():
            own = self._share(k, left_out)
            if other is None:
                law = law * own
                continue
            together = self._together(k, other)[self.support[:, k], self.support[:, other]]
            beside = self.alone[other][self.support[:, other]]
            law = (
                law * (np.maximum(together - left_out, 0.0) + _TIE * own) / (np.maximum(beside - left_out, 0.0) + _TIE)
            )
        return law

    def _share(self, k: int, left_out: int) -> Array:
        """What each row's entry of a column is seen with, among all rows but it."""
        seen = np.maximum(self.alone[k][self.support[:, k]] - left_out, 0.0) + _HALF
        share: Array = seen / (max(self.total - left_out, 0.0) + _HALF * self.sizes[k])
        return share

    def change(self, k: int, other: int | None, worth: float, rng: np.random.Generator) -> Array:
        """By which factor, as a logarithm, a draw of one of the shares changes what each row of the support gets."""
        own = self.alone[k] + _HALF
        rows, at = own[:, None], np.zeros(len(self.counts), dtype=np.intp)
        if other is not None:
            rows, at = self._together(k, other) + _TIE * (own / own.sum())[:, None], self.support[:, other]
        drawn = rng.standard_gamma(worth * rows)
        factors = np.log(drawn / drawn.sum(axis=0)) - np.log(rows / rows.sum(axis=0))
        return np.asarray(factors[self.support[:, k], at])

    def _together(self, k: int, other: int) -> Array:
        table = np.zeros((self.sizes[k], self.sizes[other]))
        np.add.at(table, (self.support[:, k], self.support[:, other]), self.counts)
        return table

    def links(self) -> list[tuple[int, int | None]]:
        """Columns in an order in which each follows the one it depends on: the tree of the most information."""
        told = np.full((len(self.sizes), len(self.sizes)), -math.inf)
        for k in range(len(self.sizes)):
            for other in range(k):
                told[k, other] = told[other, k] = _information(self._together(k, other))
        links: list[tuple[int, int | None]] = [(0, None)]
        left = set(range(1, len(self.sizes)))
        while left:
            inside = [k for k, _ in links]
            k, other = max(((a, b) for a in sorted(left) for b in inside), key=lambda both: told[both])
            links.append((k, other))
            left.remove(k)
        return links


def _tally(places: Places, counts: Array, size: int) -> Array:
    found = np.zeros(size)
    np.add.at(found, places, counts)
    return found


def _information(table: Array) -> float:
    """The mutual information of two columns, from their joint counts."""
    joint = table / table.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    used = joint > 0
    return float((joint[used] * np.log(joint[used] / apart[used])).sum())
