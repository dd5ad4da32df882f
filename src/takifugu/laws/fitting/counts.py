"""The prior "counts": what was counted on a lattice, plus one row's worth of the secret's own rounded normal.

Counts are unbiased, and the loss is convex in the two laws, so a loss computed from them is too large on average, never
too small (proofs/population.md). Nothing is ever borrowed from other secrets: that would smooth away the very
difference that is to be hidden.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer
from takifugu.errors import InputError
from takifugu.laws.lattice import Lattice

# Pseudo-rows of the other cells that a cell of what the adversary knows starts from. With thirty the true loss was
# above the budget in up to a third of the runs where a cell moves each secret its own way; with five in none
# (proofs/population.md).
CELL_ROWS = 5.0
_LEAST_STD = 0.3  # of a step: below it a normal is a point on the lattice, and rounding alone is wider


def own_normal(lattice: Lattice, counts: npt.ArrayLike) -> Array:
    """The masses of a rounded, clipped normal with the mean and standard deviation of the counts: one pseudo-row."""
    c = lattice_counts(lattice, counts)
    places = np.arange(len(lattice), dtype=np.float64)  # in steps: no unit is too large or small
    weights = c / c.sum()
    mean = float(weights @ places)
    std = math.sqrt(float(weights @ (places - mean) ** 2))
    return rounded_normal(len(lattice), mean, max(std, _LEAST_STD))


def rounded_normal(size: int, mean: float, std: float) -> Array:
    """P(round(clip(X)) = k) for k = 0 … size − 1 and X normal, each end taking the tail beyond it."""
    from scipy.special import ndtr

    edges = (np.arange(size - 1) + 0.5 - mean) / std
    # Differences of Φ on the side where it is small: near 1 they would lose all their digits.
    below, above = ndtr(edges), ndtr(-edges)
    left = np.diff(below, prepend=0.0)
    right = -np.diff(above, append=0.0)
    masses = np.empty(size)
    masses[0], masses[-1] = below[0], above[-1]
    if size > 2:
        masses[1:-1] = np.where(edges[:-1] > 0, right[:-1], left[1:])
    return np.maximum(masses, 0.0) / math.fsum(masses)


def counted(counts: npt.ArrayLike, pseudo: npt.ArrayLike) -> Array:
    """The centre of the posterior: (c + g)/(n + 1) where g is one pseudo-row."""
    total = np.asarray(counts, dtype=np.float64) + np.asarray(pseudo, dtype=np.float64)
    return total / math.fsum(total)


def posterior_draws(counts: npt.ArrayLike, pseudo: npt.ArrayLike, draws: int, seed: int | Sequence[int]) -> Array:
    """Laws drawn from Dirichlet(counts + pseudo), one a row; the same for the same seed.

    A point whose count and pseudo-count are 0 has no mass in any draw. `pseudo` may have a line for each draw. `seed`
    may be several numbers, for draws that belong together but must differ: the user's seed, the cell, the secret.

    >>> posterior_draws([3, 0, 5], [0.5, 0.2, 0.3], 2, seed=7).sum(axis=1).round(12).tolist()
    [1.0, 1.0]
    """
    seen = np.asarray(counts, dtype=np.float64)
    shape = seen + np.asarray(pseudo, dtype=np.float64)
    is_table = seen.ndim == 1 and shape.ndim in (1, 2)
    if not is_table or not np.isfinite(shape).all() or shape.min(initial=0.0) < 0 or not shape.any(axis=-1).all():
        raise InputError("counts and pseudo-counts must be finite numbers, 0 or more, and not all 0")
    rng = np.random.default_rng(seed)
    gammas = rng.standard_gamma(shape, size=(integer("draws", draws, least=1), shape.shape[-1]))
    totals = gammas.sum(axis=1, keepdims=True)
    # With less than a row in all, every gamma variable may underflow at once; the centre is then as good a draw.
    empty = totals[:, 0] == 0
    gammas[empty], totals[empty] = np.broadcast_to(shape / shape.sum(axis=-1, keepdims=True), gammas.shape)[empty], 1.0
    laws: Array = gammas / totals
    return laws


def unseen_ends(counts: npt.ArrayLike) -> Array:
    """One pseudo-row spread evenly over the points above the largest value seen, and one over those below the least.

    Of n independent rows of any law, the mass beyond the largest exceeds t with probability (1 − t)ⁿ at most, so a
    row's worth of it, Beta(1, n), is what may have been missed; the normal of the seen rows says far less
    (proofs/population.md).

    >>> unseen_ends([0, 3, 1, 0, 0]).tolist()
    [1.0, 0.0, 0.0, 0.5, 0.5]
    """
    c = np.asarray(counts, dtype=np.float64)
    ends: Array = np.zeros_like(c)
    seen = np.flatnonzero(c)
    if len(seen):
        for part in (ends[: seen[0]], ends[seen[-1] + 1 :]):
            part += 1 / max(1, len(part))
    return ends


def with_unseen(counts: npt.ArrayLike, pseudo: npt.ArrayLike) -> Array:
    """The pseudo-counts, of which values that nobody has get so many that rows like these are expected to miss them.

    Of n rows f₁ are alone with their values, and of a share f₁/n of the population n rows are expected to have seen
    nothing (Good 1953); one pseudo-row of the secret's own law says far less of a list with many values. It is spread
    as the pseudo-row is, which may be wrong: so there is one row more, spread evenly. Never less than there was.

    Args:
        counts: how many rows have each value.
        pseudo: the pseudo-counts.

    Returns:
        Pseudo-counts for the same values; the same ones where every value was seen.

    >>> with_unseen([6, 1, 1, 0, 0], [0.5, 0.2, 0.1, 0.15, 0.05]).round(3).tolist()
    [0.5, 0.2, 0.1, 2.5, 1.167]
    """
    c, added = np.asarray(counts, dtype=np.float64), np.array(pseudo, dtype=np.float64)
    unseen = c == 0  # those too that are so far from all rows that nothing of a normal is left there
    had, rows, alone = float(added[unseen].sum()), float(c.sum()), float((c == 1).sum())
    if had > 0:
        missed = alone * rows / max(rows - alone, 1.0)  # so that its share of all is f₁/n
        added[unseen] = np.maximum(added[unseen], missed * (added[unseen] / had))
    added[unseen] += 1.0 / max(int(unseen.sum()), 1)
    return added


def cell_pseudo_counts(counts: npt.ArrayLike, pseudo: npt.ArrayLike, *, rows: float = CELL_ROWS) -> Array:
    """Pseudo-counts for each cell of what the adversary knows, from the same secret's rows in the *other* cells.

    Args:
        counts: one line per cell, all of one secret.
        pseudo: the pseudo-row of that secret's rows in all cells together (`own_normal`).
        rows: how many pseudo-rows each cell starts from.

    A cell's own rows stay out of its pseudo-counts, or they would count twice. An empty cell is then the law of the
    others; where there are no others, of the pseudo-row. A cell that differs from the others is drawn towards them, so
    what follows from this holds for one belief of two (`takifugu.queries.side_information`).
    """
    c = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    others = np.maximum(c.sum(axis=0) - c, 0.0) + np.asarray(pseudo, dtype=np.float64)
    pseudo_counts: Array = rows * others / others.sum(axis=1, keepdims=True)
    return pseudo_counts


def lattice_counts(lattice: Lattice, counts: npt.ArrayLike) -> Array:
    """Counts with one entry for each point of a lattice."""
    c = np.asarray(counts, dtype=np.float64)
    if c.shape != (len(lattice),) or not np.isfinite(c).all() or c.min() < 0 or not c.any():
        raise InputError(f"counts must be {len(lattice)} finite numbers, 0 or more, one per point, and not all 0")
    return c


# Joint laws from few rows: what is assumed about combinations that nobody, or hardly anybody, of a secret has.
#
# To a secret's own rows are added rows of a law that its own columns make: taken as independent of one another, or as
# a tree in which each column depends on one other (Chow and Liu, 1968). Which of the two, and how many, is decided by
# the likelihood of each row given all others of the same secret; never by the noise it saves, and nothing of another
# secret goes in, since that would smooth away the difference that is to be hidden (proofs/population.md).
#
# The rows that are added say no more than those they were made of: whoever draws from the posterior of a law draws
# them anew each time (`redrawn`), as other rows of the same people might have made them.

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


# Counts to which discrete Laplace noise was added, P(z) ∝ e^(−|z|·rate), before anything else saw them.
#
# Noise spreads a law, and a channel that is fitted to a law that is spread hides too little: whatever is said of the
# population has to undo it. Clipping what falls below zero would add as much to every secret, and make sparse tables
# alike; so counts are projected to the noisy total instead (proofs/private-counts.md).


def without_noise(noisy: npt.ArrayLike, total: float | None = None) -> Array:
    """The nearest counts that are 0 or more and sum to the noisy total, or to 1 where that is less; rows by themselves.

    >>> without_noise([5, -2, 3]).tolist(), without_noise([[1, 1], [-4, 2]]).tolist()
    ([4.0, 0.0, 2.0], [[1.0, 1.0], [0.0, 1.0]])
    """
    given = np.asarray(noisy, dtype=np.float64)
    rows = np.atleast_2d(given)
    sums = np.maximum(rows.sum(axis=1), 1.0) if total is None else np.full(len(rows), max(float(total), 1.0))
    falling = -np.sort(-rows, axis=1)
    excess = (np.cumsum(falling, axis=1) - sums[:, None]) / np.arange(1, rows.shape[1] + 1)
    last = (falling > excess).sum(axis=1) - 1  # those that stay above zero come first
    found: Array = np.maximum(rows - excess[np.arange(len(rows)), last][:, None], 0.0)
    return found.reshape(given.shape)


def noisy_draws(
    noisy: npt.ArrayLike, pseudo: npt.ArrayLike, rate: float, draws: int, seed: Sequence[int]
) -> tuple[Array, Array]:
    """Laws of the population, and laws of the sample itself, drawn from what noisy counts leave open; one a row.

    Fresh noise is taken off, what is left is projected to the noisy total, and the population is drawn from the
    Dirichlet law of that.
    """
    seen = np.asarray(noisy, dtype=np.float64)
    rng = np.random.default_rng([*seed, 1])
    stop = -math.expm1(-rate)
    noise = rng.geometric(stop, (2, draws, len(seen)))
    sample = without_noise(seen - (noise[0] - noise[1]), seen.sum())
    laws = posterior_draws(np.zeros_like(seen), sample + np.asarray(pseudo, dtype=np.float64), draws, [*seed, 0])
    return laws, sample / sample.sum(axis=1, keepdims=True)
