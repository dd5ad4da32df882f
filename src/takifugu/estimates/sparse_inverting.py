"""A sparse channel turned round: the same scores as of a whole table, found by its moves alone.

What a solver proposes is checked against the channel: scores that do not solve the equations are not used, and where
they are said to have no solution, a combination of true rows was found that the channel publishes alike and that the
question tells apart (proofs/estimates.md, claim 1). Where neither is found, nothing is claimed.
"""

from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.channels.sparse import SparseChannel

_ROUNDS = 3  # of refinement: each solves for what the one before left over
_STEPS = 4_000  # of the solver in each
_ALIKE = 1e-7  # the norm of v K beside that of v, at which the channel publishes v's parts alike
_SOLVED = 1e-8  # of the size of f: as in `inverting`
MOST_DENSE = 2_000  # inputs and outputs up to which singular values are computed


class UndecidedError(Exception):
    """Neither scores nor a proof that there are none were found."""


def table_of(channel: SparseChannel) -> Any:
    """The probabilities, inputs by outputs, as a sparse matrix."""
    from scipy.sparse import csr_array

    return csr_array((channel.shares, channel.targets, channel.starts), (len(channel.inputs), len(channel.outputs)))


def scores(table: Any, f: Array) -> Array | None:
    """See `inverting.scores`; `UndecidedError` where neither an answer nor its absence is sure."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import lsqr

    share = np.asarray(table.sum(axis=0)).ravel() / table.shape[0]
    used = np.flatnonzero(share)
    weight = np.sqrt(share[used])
    scaled = (table[:, used] @ diags_array(1 / weight)).tocsr()
    inner, left = np.zeros(len(used)), f.astype(np.float64)
    size = max(float(np.abs(f).max()), 1e-300)
    for _ in range(_ROUNDS):
        # From zero, so that of all solutions the one of least norm is found, as by the pseudo-inverse.
        inner = inner + lsqr(scaled, left, atol=1e-15, btol=1e-15, conlim=0, iter_lim=_STEPS)[0]
        left = f - scaled @ inner
        if float(np.abs(left).max()) <= 1e-3 * _SOLVED * size:
            break
    g = np.zeros(table.shape[1])
    g[used] = inner / weight
    if float(np.abs(f - table @ g).max()) <= _SOLVED * size:
        return g
    if _is_out_of_reach(table, left, f):
        return None
    raise UndecidedError


def _is_out_of_reach(table: Any, v: Array, f: Array) -> bool:
    """Whether v K = 0 and v·f is not, to the precision of a solver: then no g has K g = f, since v K g = v·f."""
    length = float(np.linalg.norm(v))
    alike = float(np.linalg.norm(table.T @ v)) <= _ALIKE * length
    return alike and abs(float(v @ f)) >= 0.5 * length**2  # what is left over is v itself, if it is out of reach


def rank(table: Any) -> int:
    """At most so many ways, in which the published rows tell the true ones apart."""
    used = int((np.asarray(table.sum(axis=0)).ravel() > 0).sum())
    return min(int(table.shape[0]), used)


def condition(table: Any) -> float | None:
    """See `inverting.condition`; None where the table is too large for it."""
    from takifugu.estimates import inverting

    if rank(table) < table.shape[0]:
        return float("inf")
    return inverting.condition(table.toarray()) if max(table.shape) <= MOST_DENSE else None
