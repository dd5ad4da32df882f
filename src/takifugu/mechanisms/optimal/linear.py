"""Bounded odds as a linear program, handed to HiGHS: a vertex instead of the interior point's centre.

With α = ∞ every promise and wish is linear. The dual values it returns prove a bound like any others.
"""

from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.duals import Duals
from takifugu.mechanisms.optimal.program import Mask, Program

_MARGIN = 1e-9  # HiGHS may violate a row by 1e-10


@dataclass(frozen=True)
class Linear:
    """A channel (inputs × outputs) and the multipliers that came with it."""

    matrix: Array
    duals: Duals
    iterations: int


def linear(program: Program, allowed: Mask, *, seconds: float = 60.0) -> Linear | None:
    """The best channel for bounded odds; None where HiGHS does not get there within the time."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, csr_array, eye_array, hstack, kron, vstack

    n, m = program.size
    laws, count = program.laws.shape[0], len(program.constraints)
    spread = program.radius is not None
    widths = (n * m, laws * m, 2 * m if spread else 0)  # K, p, then u and l

    def wide(block: csr_array, place: int) -> csr_array:
        parts = [csr_array((block.shape[0], width)) for width in widths]
        parts[place] = block
        return hstack(parts, format="csr")

    eye = eye_array(m, format="csr")
    equal = [wide(kron(eye_array(n), np.ones((1, m)), format="csr"), 0)]
    equal_to = [np.ones(n)]
    means = kron(csr_array(program.shares), eye, format="csr")  # p_s(y) = Σ_x P_s(x) K(y|x)
    equal.append(wide(means, 0) - wide(eye_array(laws * m, format="csr"), 1))
    equal_to.append(np.zeros(laws * m))
    if program.keep == "marginal":
        equal.append(wide(kron(csr_array(program.pooled[None, :]), eye, format="csr"), 0))
        equal_to.append(program.pooled)
    if program.outputs is not None and program.inputs is not None:
        out = csr_array(program.outputs[None, :])
        if program.unbiased:
            equal.append(wide(kron(eye_array(n), out, format="csr"), 0))
            equal_to.append(program.inputs)
        elif program.keep == "mean":
            equal.append(wide(kron(csr_array(program.pooled[None, :]), out, format="csr"), 0))
            equal_to.append(np.array([program.pooled @ program.inputs]))
    factor = program.factor * (1.0 - _MARGIN)
    every = np.arange(count)
    signs = np.concatenate([np.ones(count), np.full(count, -factor)])
    pick = coo_array((signs, (np.tile(every, 2), np.concatenate([program.left, program.right]))), shape=(count, laws))
    below = [wide(kron(pick, eye, format="csr"), 1)]
    below_than = [np.zeros(count * m)]
    if spread:
        reach = program.reach[program.left] + factor * program.reach[program.right]
        ends = hstack([kron(csr_array(reach[:, None]), eye), -kron(csr_array(reach[:, None]), eye)], format="csr")
        below = [below[0] + wide(ends, 2)]
        tall = kron(np.ones((n, 1)), eye, format="csr")
        empty = csr_array(tall.shape)
        cells = wide(eye_array(n * m, format="csr"), 0)
        below += [cells - wide(hstack([tall, empty], format="csr"), 2)]
        below += [wide(hstack([empty, tall], format="csr"), 2) - cells]
        below_than += [np.zeros(2 * n * m)]
    if program.diagonal is not None:
        below.append(wide(csr_array(-np.diag(program.pooled).reshape(1, -1)), 0))
        below_than.append(np.array([-program.diagonal]))
    upper = np.concatenate([np.where(allowed, 1.0, 0.0).ravel(), np.ones(sum(widths) - n * m)])
    scale = max(float(program.cost.max()), 1e-300)
    cost = np.concatenate([program.cost.ravel() / scale, np.zeros(sum(widths) - n * m)])
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": seconds}
    found = linprog(
        cost,
        A_ub=vstack(below, format="csr"),
        b_ub=np.concatenate(below_than),
        A_eq=vstack(equal, format="csr"),
        b_eq=np.concatenate(equal_to),
        bounds=np.stack([np.zeros_like(upper), upper], axis=1),
        method="highs",
        options=tight,
    )
    if found.status != 0 or found.x is None:
        return None
    matrix = np.clip(found.x[: n * m].reshape(n, m), 0.0, 1.0)
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    loose, free = -scale * found.ineqlin.marginals, -scale * found.eqlin.marginals[n + laws * m :]
    loose = np.maximum(loose, 0.0)
    odds, cells_over, cells_under = np.split(
        loose[: count * m + 2 * n * m * spread], [count * m, count * m + n * m * spread]
    )
    marginal = m if program.keep == "marginal" else 0
    duals = Duals(
        weights=np.zeros(0),
        ratios=np.zeros((m, 0)),
        odds=np.ascontiguousarray(odds.reshape(count, m).T),
        kept=free[:marginal],
        mean=free[marginal:],
        diagonal=float(loose[-1]) if program.diagonal is not None else 0.0,
        spread=(cells_over - cells_under).reshape(n, m) if spread else np.zeros((0, 0)),
    )
    return Linear(matrix, duals, int(found.nit))
