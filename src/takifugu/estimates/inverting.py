"""A finite channel turned round: scores of published values that are right on average, and bounds where there are none.

proofs/estimates.md has the statements.
"""

from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.sparse import SparseChannel
from takifugu.estimates import sparse_inverting

Table = Any  # probabilities, inputs by outputs: an array, or a sparse matrix of SciPy's

_SAME = 1e-8  # of the size of f: what K g may be off by where it is called solved; rounding of the solver


def table_of(channel: FiniteChannel | SparseChannel) -> Table:
    """The probabilities of a channel, whole or by its moves."""
    return channel.matrix if isinstance(channel, FiniteChannel) else sparse_inverting.table_of(channel)


def scores(matrix: Table, f: Array) -> Array | None:
    """g with Σ_y K(y|x) g(y) = f(x) for every x; None where there is none.

    Of several the one of least Σ_y d(y) g(y)², d the published shares if all true values were equally common:
    D^{-½} (K D^{-½})⁺ f. It depends on the channel alone, since a choice by the data would not be right on average.
    """
    if not isinstance(matrix, np.ndarray):
        return sparse_inverting.scores(matrix, f)
    used = matrix.max(axis=0) > 0
    weight = np.sqrt(matrix[:, used].mean(axis=0))
    g = np.zeros(matrix.shape[1])
    g[used] = np.linalg.lstsq(matrix[:, used] / weight, f, rcond=1e-11)[0] / weight
    size = max(float(np.abs(f).max()), 1e-300)
    return g if float(np.abs(matrix @ g - f).max()) <= _SAME * size else None


def rank(matrix: Table) -> int:
    """In how many ways the published values tell the true ones apart; of a sparse matrix, at most."""
    if not isinstance(matrix, np.ndarray):
        return sparse_inverting.rank(matrix)
    return int(np.linalg.matrix_rank(matrix, tol=1e-9))


def condition(matrix: Table) -> float | None:
    """The condition number: by how much errors of published shares grow in true ones, at worst.

    None of a sparse matrix too large for it.
    """
    if not isinstance(matrix, np.ndarray):
        return sparse_inverting.condition(matrix)
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 1e-9 * values[0] else float("inf")


def bounds(matrix: Table, f: Array, counts: Array, level: float) -> tuple[float, float]:
    """Between what the mean of f lies, with this confidence, for every law of true values that fits what was published.

    The published shares lie between Clopper–Pearson bounds, all at once. For any numbers a(y), every such law π has
    π·f ≤ max_x (f − K a)(x) + Σ_y max(a lo, a hi): the solver proposes a, and what is returned follows from it.
    """
    from scipy.special import betaincinv

    total, risk = counts.sum(), (1 - level) / (2 * len(counts))
    with np.errstate(invalid="ignore"):
        low = np.where(counts > 0, betaincinv(counts, total - counts + 1, risk), 0.0)
        high = np.where(counts < total, betaincinv(counts + 1, total - counts, 1 - risk), 1.0)
    return -_upper(matrix, -f, low, high), _upper(matrix, f, low, high)


def _upper(matrix: Table, f: Array, low: Array, high: Array) -> float:
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    join = np.concatenate if isinstance(matrix, np.ndarray) else vstack
    solved = linprog(
        -f,
        A_ub=join([matrix.T, -matrix.T]),
        b_ub=np.concatenate([high, -low]),
        A_eq=np.ones((1, len(f))),
        b_eq=[1.0],
        method="highs",
    )
    best = float(f.max())  # a = 0: what is true of every law
    if solved.status == 0:
        above, below = np.split(-np.asarray(solved.ineqlin.marginals), 2)
        a = above - below
        best = min(best, float((f - matrix @ a).max() + np.maximum(a * low, a * high).sum()))
    return best
