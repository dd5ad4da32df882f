"""The best channel by another solver: Clarabel through cvxpy."""

import math

import numpy as np

from takifugu.mechanisms.optimal.program import Program


def clarabel(program: Program) -> float:
    """The same program as a user of cvxpy would write it."""
    import cvxpy as cp

    n, m = program.size
    k = cp.Variable((n, m), nonneg=True)
    p = program.shares @ k
    wishes = [cp.sum(k, axis=1) == 1]
    spread = cp.Variable(m)
    if program.radius is not None:
        high, low = cp.Variable(m), cp.Variable(m)
        wishes += [
            k <= cp.reshape(high, (1, m), order="C"),
            k >= cp.reshape(low, (1, m), order="C"),
            spread == high - low,
        ]
    for i, j in program.constraints:
        left = p[i] + program.reach[i] * spread if program.radius is not None else p[i]
        right = p[j] - program.reach[j] * spread if program.radius is not None else p[j]
        if program.bounds_divergence:
            t = cp.Variable(m)
            scaled = left * math.exp(-program.log_budget / program.alpha)
            wishes += [cp.PowCone3D(t, right, scaled, np.full(m, 1 / program.alpha)), cp.sum(t) <= 1]
        if program.factor < math.inf:
            wishes.append(left <= program.factor * right)
    if program.keep == "marginal":
        wishes.append(program.pooled @ k == program.pooled)
    if program.keep == "mean":
        wishes.append(program.pooled @ k @ program.outputs == program.pooled @ program.inputs)
    if program.unbiased:
        wishes.append(k @ program.outputs == program.inputs)
    if program.diagonal is not None:
        wishes.append(program.pooled @ cp.diag(k) >= program.diagonal)
    if program.forbidden is not None:
        wishes.append(k[program.forbidden] == 0)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(program.cost, k))), wishes)
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal"
    return float(problem.value)
