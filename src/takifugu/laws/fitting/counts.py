"""The prior "counts": what was counted on a lattice, plus one row's worth of the secret's own rounded normal.

Counts are unbiased, and the loss is convex in the two laws, so a loss computed from them is too large on average, never
too small (proofs/population.md). Nothing is ever borrowed from other secrets: that would smooth away the very
difference that is to be hidden.
"""

import math
from collections.abc import Sequence

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


def cell_pseudo_counts(counts: npt.ArrayLike, pseudo: npt.ArrayLike, *, rows: float = CELL_ROWS) -> Array:
    """Pseudo-counts for each cell of what the adversary knows, from the same secret's rows in the *other* cells.

    Args:
        counts: one line per cell, all of one secret.
        pseudo: the pseudo-row of that secret's rows in all cells together (`own_normal`).
        rows: how many pseudo-rows each cell starts from.

    A cell's own rows stay out of its pseudo-counts, or they would count twice. An empty cell is then the law of the
    others; where there are no others, of the pseudo-row. A cell that differs from the others is drawn towards them, so
    what follows from this holds for one belief of two (`takifugu.queries.cells`).
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
