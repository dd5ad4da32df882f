"""Bounded odds as a linear program, handed to HiGHS: a vertex instead of the interior point's centre.

With α = ∞ every promise and wish is linear. The dual values it returns prove a bound like any others.
"""

from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.duals import Duals
from takifugu.mechanisms.optimal.program import Mask, Program
from takifugu.mechanisms.optimal.rows import Rows, add_diagonal, add_wishes

_MARGIN = 1e-9  # HiGHS may violate a row by 1e-10
_NOISE = 1e-10


@dataclass(frozen=True)
class Linear:
    """A channel (inputs × outputs) and the multipliers that came with it."""

    matrix: Array
    duals: Duals
    iterations: int


_SIMPLEX = 5_000  # entries up to which the simplex method is as fast where a radius ties every entry to two ends


def linear(program: Program, allowed: Mask, *, seconds: float = 60.0) -> Linear | None:
    """The best channel for bounded odds; None where HiGHS does not get there within the time."""
    from scipy.optimize import linprog

    n, m = program.size
    widths = {
        "channel": n * m,
        "means": program.laws.shape[0] * m,
        "ends": 2 * m if program.radius is not None else 0,
    }
    equal, equal_to = _equalities(program, widths).joined()
    below, below_than = _inequalities(program, widths).joined()
    rest = widths["means"] + widths["ends"]
    scale = max(float(program.cost.max()), 1e-300)
    upper = np.concatenate([np.where(allowed, 1.0, 0.0).ravel(), np.ones(rest)])
    found = linprog(
        np.concatenate([program.cost.ravel() / scale, np.zeros(rest)]),
        A_ub=below,
        b_ub=below_than,
        A_eq=equal,
        b_eq=equal_to,
        bounds=np.stack([np.zeros_like(upper), upper], axis=1),
        method="highs-ipm" if program.radius is not None and n * m > _SIMPLEX else "highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": seconds},
    )
    if found.status != 0 or found.x is None:
        return None
    matrix = np.clip(found.x[: n * m].reshape(n, m), 0.0, 1.0)
    matrix[matrix < _NOISE] = 0.0  # what is left of a column that is not used breaks every ratio
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    return Linear(
        matrix, _duals(program, -scale * found.ineqlin.marginals, -scale * found.eqlin.marginals), int(found.nit)
    )


def _equalities(program: Program, widths: dict[str, int]) -> Rows:
    from scipy.sparse import csr_array, eye_array, kron

    n, m = program.size
    rows = Rows(widths)
    rows.add(np.ones(n), channel=kron(eye_array(n), np.ones((1, m)), format="csr"))
    # p_s(y) = Σ_x P_s(x) K(y|x) as variables of their own: the promises then have two entries a row, not 2n.
    means = kron(csr_array(program.shares), eye_array(m, format="csr"), format="csr")
    rows.add(np.zeros(widths["means"]), channel=means, means=-eye_array(widths["means"], format="csr"))
    add_wishes(program, rows)
    return rows


def _inequalities(program: Program, widths: dict[str, int]) -> Rows:
    from scipy.sparse import coo_array, csr_array, eye_array, hstack, kron

    n, m = program.size
    rows, eye, count = Rows(widths), eye_array(m, format="csr"), len(program.constraints)
    factor = program.factor * (1.0 - _MARGIN)
    places = (np.tile(np.arange(count), 2), np.concatenate([program.left, program.right]))
    signs = np.concatenate([np.ones(count), np.full(count, -factor)])
    pick = coo_array((signs, places), shape=(count, program.laws.shape[0]))
    promise = {"means": kron(pick, eye, format="csr")}
    if program.radius is None:
        rows.add(np.zeros(count * m), **promise)
    else:
        reach = csr_array((program.reach[program.left] + factor * program.reach[program.right])[:, None])
        rows.add(np.zeros(count * m), **promise, ends=kron(reach, hstack([eye, -eye]), format="csr"))
        tall, cells = kron(np.ones((n, 1)), eye, format="csr"), eye_array(n * m, format="csr")
        empty = csr_array(tall.shape)
        rows.add(np.zeros(n * m), channel=cells, ends=hstack([-tall, empty], format="csr"))
        rows.add(np.zeros(n * m), channel=-cells, ends=hstack([empty, tall], format="csr"))
    add_diagonal(program, rows)
    return rows


def _duals(program: Program, below: Array, equal: Array) -> Duals:
    """HiGHS' marginals, with the sign turned, as the multipliers of the lower bound."""
    n, m = program.size
    promises, cells = len(program.constraints) * m, n * m if program.radius is not None else 0
    odds, over, under, diagonal = np.split(np.maximum(below, 0.0), np.cumsum([promises, cells, cells]))
    kept, mean = np.split(equal[n + program.laws.shape[0] * m :], [m if program.keep == "marginal" else 0])
    return Duals(
        weights=np.zeros(0),
        ratios=np.zeros((m, 0)),
        odds=np.ascontiguousarray(odds.reshape(-1, m).T),
        kept=kept,
        mean=mean,
        diagonal=float(diagonal.sum()),
        spread=(over - under).reshape(n, m) if cells else np.zeros((0, 0)),
    )
