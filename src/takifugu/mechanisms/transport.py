"""The paper's mixture theorem: components coupled by optimal transport (Theorem 4.1)."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from takifugu._validation import Array
from takifugu.errors import CalibrationError, MechanismError
from takifugu.laws import Mixture
from takifugu.mechanisms.base import POINTS, Additive, NoiseCurve, curve_from_losses
from takifugu.mechanisms.least_noise import least_variance
from takifugu.problems import Indices, Problem

_MARGINAL_ERROR = 1e-12
_ROUNDS = 60
_MOST_DRAWN = 12  # couplings that a picture is worth
_MOST_CELLS = 4_000_000  # entries of a cost matrix; the linear programme needs about a hundred bytes for each


@dataclass(frozen=True)
class GmmTransport(Additive):
    """The paper's Theorem 4.1 with its transport plan; proofs/mixture-theorem.md.

    The theorem holds for every coupling of the components; the paper's minimises the squared 2-Wasserstein
    distance between them. A coupled pair outside the domain of the bound makes the loss infinite: more noise is
    asked for until it is inside.
    """

    name: ClassVar[str] = "gmm-transport"
    label: ClassVar[str] = "The paper's mixture bound"
    summary: ClassVar[str] = (
        "The paper's bound for mixtures: components are paired by optimal transport, then bounded pair by pair."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The least variance at which the coupled bound meets the budget."""
        p, q = p.simplified(), q.simplified()
        if p == q:
            return floor
        k, l, mass = optimal_coupling(p, q)
        gaps, std_p, std_q = p.means[k] - q.means[l], p.stds[k], q.stds[l]
        size = float(max(np.abs(gaps).max(), p.stds.max(), q.stds.max()))

        def loss(z: float) -> float:
            return coupled_bound(mass, gaps, std_p, std_q, alpha=alpha, variance=z)

        return least_variance(loss, epsilon=epsilon, floor=floor, start=size * size, rtol=1e-12)

    def curve(self, problem: Problem, *, alpha: float, low: float, high: float) -> NoiseCurve | None:
        """Each coupling solved once, then evaluated at a range of noise."""
        return _coupled_curve(problem, alpha, low, high)


@lru_cache(maxsize=64)
def _coupled_curve(problem: Problem, alpha: float, low: float, high: float) -> NoiseCurve | None:
    couplings = []
    for place in problem.places() if problem.size <= _MOST_DRAWN else ():
        p, q = (law.simplified() for law in problem.ends(place))
        k, l, mass = optimal_coupling(p, q)
        couplings.append((mass, p.means[k] - q.means[l], p.stds[k], q.stds[l]))
    if not couplings:
        return None

    def loss(theta: float) -> float:
        return max(coupled_bound(*coupling, alpha=alpha, variance=theta * theta) for coupling in couplings)

    top = max(float(np.abs(part).max()) for _, *parts in couplings for part in parts) or 1.0
    while loss(top) > low and top < 1e150:
        top *= 2.0
    thetas = top * np.geomspace(1e-3, 1.0, 4 * POINTS)
    return curve_from_losses(np.array([loss(float(theta)) for theta in thetas]), thetas, low=low, high=high)


def coupled_bound(mass: Array, gaps: Array, std_p: Array, std_q: Array, *, alpha: float, variance: float) -> float:
    """ln Σ π_kl exp(ψ_kl) / (α − 1), ψ the closed-form bound of each coupled pair of components."""
    with np.errstate(all="ignore"):
        delta = (std_q - std_p) * (std_q + std_p)
        v = std_p**2 + variance
        S = v + alpha * delta
        numerator = alpha * gaps**2 + (alpha * delta) ** 2 / ((alpha - 1) * v)
        psi = (alpha - 1) * numerator / (2 * S)
        same = (gaps == 0) & (delta == 0)  # equal components, points included, diverge by nothing
        psi = np.where(same, 0.0, np.where(S > 0, psi, np.inf))
        terms = np.log(mass) + psi
        top = terms.max()
        if not math.isfinite(top):
            return math.inf
        return float((top + np.log(np.exp(terms - top).sum())) / (alpha - 1))


@lru_cache(maxsize=64)  # a comparison and its curve ask for the same few
def optimal_coupling(p: Mixture, q: Mixture) -> tuple[Indices, Indices, Array]:
    """The coupled components (k, l) and their mass, of least cost Σ π_kl [(μ_k − m_l)² + (σ_k − s_l)²].

    A linear-programming solver takes masses below its tolerance for zero, while the bound may hang on a component of
    any weight. So what is left over is scaled up and solved again, until every component is coupled to twelve digits.
    """
    if len(p) * len(q) > _MOST_CELLS:
        raise MechanismError(
            f"'gmm-transport' would have to couple {len(p):,} components with {len(q):,}, which needs about "
            f"{len(p) * len(q) * 100 / 2**30:,.0f} GB of memory: use 'exact', or priors with fewer components"
        )
    a, b = p.weights / p.weights.sum(), q.weights / q.weights.sum()
    if len(a) == 1 or len(b) == 1:  # one component takes all there is on the other side
        k, l = np.indices((len(a), len(b))).reshape(2, -1)
        return k, l, a[k] * b[l]
    cost = (p.means[:, None] - q.means) ** 2 + (p.stds[:, None] - q.stds) ** 2
    plan = np.zeros_like(cost)
    # Where all are equally wide, as points are, the cost is a squared distance on the line: the order decides.
    one_width = (p.stds == p.stds[0]).all() and (q.stds == p.stds[0]).all()
    solve = _in_order if one_width and (np.diff(p.means) > 0).all() and (np.diff(q.means) > 0).all() else _transport
    for _ in range(_ROUNDS):
        rows, columns = _left(a, plan.sum(axis=1)), _left(b, plan.sum(axis=0))
        if not rows.any() or not columns.any():
            break
        plan += _within(solve(rows / rows.sum(), columns / columns.sum(), cost), rows, columns)
    else:
        raise CalibrationError("the transport between the components could not be solved: use 'exact' instead")
    # Rounding may leave a component of tiny weight without a partner: it goes to the nearest.
    plan[np.arange(len(a)), cost.argmin(axis=1)] += rows
    plan[cost.argmin(axis=0), np.arange(len(b))] += columns
    k, l = np.nonzero(plan)
    return k, l, plan[k, l]


def _left(mass: Array, coupled: Array) -> Array:
    """The mass of each component not coupled yet, where it is more than rounding."""
    rest = mass - coupled
    return np.where(rest > _MARGINAL_ERROR * mass, rest, 0.0)


def _within(plan: Array, rows: Array, columns: Array) -> Array:
    """A plan scaled so that it couples no more of any component than is left."""
    plan = plan * min(rows.sum(), columns.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        plan = plan * np.nan_to_num(np.minimum(1.0, rows / plan.sum(axis=1)))[:, None]
        plan *= np.nan_to_num(np.minimum(1.0, columns / plan.sum(axis=0)))
    return plan


def _in_order(a: Array, b: Array, cost: Array) -> Array:
    """The only plan of least cost where it is convex in the distance: what comes first goes to what comes first."""
    plan = np.zeros(cost.shape)
    left, right = a.tolist(), b.tolist()
    k = l = 0
    while k < len(left) and l < len(right):
        moved = min(left[k], right[l])
        plan[k, l] += moved
        left[k] -= moved
        right[l] -= moved
        if left[k] <= right[l]:
            k += 1
        else:
            l += 1
    return plan


def _from_two(a: Array, b: Array, cost: Array) -> Array:
    """The plan of least cost where two components are coupled with any number: no linear programme is needed.

    What the first does not couple the second must, so the first takes those that it serves cheapest by comparison,
    one after the other until it is full.
    """
    order = np.argsort(cost[0] - cost[1], kind="stable")
    earlier = np.concatenate([[0.0], np.cumsum(b[order])[:-1]])
    first = np.zeros_like(b)
    first[order] = np.clip(a[0] - earlier, 0.0, b[order])  # of a mass of any size all its digits
    return np.stack([first, b - first])


def _transport(a: Array, b: Array, cost: Array) -> Array:
    """A plan of least cost between the masses a and b, up to the tolerance of the solver."""
    if len(a) == 2:
        return _from_two(a, b, cost)
    if len(b) == 2:
        return _from_two(b, a, cost.T).T
    from scipy.optimize import linprog
    from scipy.sparse import csc_matrix

    # What leaves k for l counts twice: in the k-th row, and in the l-th of those below.
    k, l = np.indices(cost.shape).reshape(2, -1)
    touched = np.column_stack([k, len(a) + l]).ravel()
    sums = csc_matrix((np.ones(2 * cost.size), touched, np.arange(0, 2 * cost.size + 1, 2)))
    solution = linprog(
        cost.ravel() / max(cost.max(), 1e-300),
        A_eq=sums,
        b_eq=np.concatenate([a, b]),
        method="highs-ds",
    )
    if solution.x is None:
        raise CalibrationError(f"the transport between the components could not be solved: {solution.message}")
    plan: Array = np.where(solution.x > 0, solution.x, 0.0).reshape(cost.shape)
    return plan
