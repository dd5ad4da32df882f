"""The paper's mixture theorem: components coupled by optimal transport (Theorem 4.1)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws import Mixture, quantile_at_score
from takifugu.mechanisms.base import POINTS, Additive, NoiseCurve, at_least, curve_from_losses, scaled_curve
from takifugu.mechanisms.closed_form import crossing, least_variance
from takifugu.problems import ApproximateRenyi, Guarantee, Indices, Problem

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


# The general Wasserstein mechanism, GWM (Pierquin et al., 2024): the baseline of the paper.


# The coupling of two distributions on the line by their quantiles, which all Wasserstein baselines use.


class Gaps(NamedTuple):
    """Distances |x − x'| under the coupling, with the probability of each."""

    distance: Array
    mass: Array


def monotone_plan(p: Mixture, q: Mixture) -> tuple[Indices, Indices, Array]:
    """The coupling of two distributions made of points that keeps their order: places in either, and the mass."""
    up_p, up_q = (np.cumsum(m.weights) / m.weights.sum() for m in (p, q))
    levels = np.unique(np.concatenate([up_p[:-1], up_q[:-1], [1.0]]))
    mass = np.diff(levels, prepend=0.0)
    middle = levels - 0.5 * mass
    i = np.minimum(np.searchsorted(up_p, middle), len(p) - 1)
    j = np.minimum(np.searchsorted(up_q, middle), len(q) - 1)
    keep = mass > 1e-15  # the same level summed in two orders
    return i[keep], j[keep], mass[keep]


def discrete_gaps(p: Mixture, q: Mixture) -> Gaps:
    """The exact coupling of two distributions made of points."""
    p, q = p.simplified(), q.simplified()
    i, j, mass = monotone_plan(p, q)
    return Gaps(np.abs(p.means[i] - q.means[j]), mass)


class Scores(NamedTuple):
    """Equally spaced normal scores from −end to end; the quantiles of a prior there are worth remembering."""

    end: float
    cells: int

    @property
    def values(self) -> Array:
        """The scores themselves."""
        return np.linspace(-self.end, self.end, self.cells + 1)

    def log_masses(self) -> Array:
        """ln of the probability of each cell under a standard normal, accurate in both tails."""
        from scipy.special import log_ndtr

        cumulative = log_ndtr(self.values[: self.cells // 2 + 1])
        below = cumulative[1:] + np.log(-np.expm1(cumulative[:-1] - cumulative[1:]))
        return np.concatenate([below, below[::-1]])


def gap_at_score(p: Mixture, q: Mixture, score: Array) -> Array:
    """Q_p(Φ(t)) − Q_q(Φ(t)) at normal scores t."""
    return quantile_at_score(p, score) - quantile_at_score(q, score)


def gap_bounds(p: Mixture, q: Mixture, scores: Scores) -> Array:
    """For each cell between consecutive scores, a distance that |x − x'| does not exceed there.

    Quantiles never decrease, so on a cell the gap is at most one's end minus the other's beginning.
    """
    x, y = _quantiles(p, scores), _quantiles(q, scores)
    return np.maximum(x[1:] - y[:-1], y[1:] - x[:-1])


@lru_cache(maxsize=128)
def _quantiles(mixture: Mixture, scores: Scores) -> Array:
    """Remembered, since a prior meets every other one in both directions and at every budget of a sweep."""
    return quantile_at_score(mixture, scores.values)


def widest(mixture: Mixture) -> float:
    """The largest standard deviation of a component with weight: it rules the tails."""
    return float(mixture.simplified().stds.max())


_UP = 1 + 2**-40


@dataclass(frozen=True)
class Wasserstein(Additive):
    """θ² = α W∞²/(2ε) with W∞ the largest distance between equal quantiles; proofs/wasserstein.md.

    Infinite as soon as the widest components differ in width, as for any two Gaussians of unequal variance.
    """

    name: ClassVar[str] = "wasserstein"
    label: ClassVar[str] = "Wasserstein"
    summary: ClassVar[str] = (
        "GWM, the baseline: noise for the largest distance between quantiles; infinite for Gaussians of "
        "unequal variance."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """α W∞²/(2ε), rounded up."""
        distance = wasserstein_infinity(p, q)
        return at_least(floor, alpha * distance * distance / (2 * epsilon) * _UP if distance else 0.0)

    def curve(self, problem: Problem, *, alpha: float, low: float, high: float) -> NoiseCurve:
        """θ² = αw²/2ε, with w given by the priors alone: one answer gives them all."""
        return scaled_curve(math.sqrt(self.needed(problem, alpha=alpha, epsilon=1.0).variance), low=low, high=high)


def wasserstein_infinity(p: Mixture, q: Mixture) -> float:
    """sup over u of |F_p⁻¹(u) − F_q⁻¹(u)|; `math.inf` where the tails differ in width.

    >>> wasserstein_infinity(Mixture.empirical([0, 1]), Mixture.empirical([0, 3]))
    2.0
    """
    p, q = p.simplified(), q.simplified()
    if p == q:
        return 0.0
    if p.is_discrete and q.is_discrete:
        return float(discrete_gaps(p, q).distance.max())
    width = widest(p)
    if width != widest(q):
        return math.inf
    limits = [abs(_extreme_mean(p, width, side) - _extreme_mean(q, width, side)) for side in (-1, 1)]
    if len(p) == len(q) == 1:
        return limits[0]
    return max(*limits, _sampled_supremum(p, q))


def _extreme_mean(mixture: Mixture, width: float, side: int) -> float:
    """The mean of the component that rules a tail: the outermost of the widest."""
    return side * float((side * mixture.means[mixture.stds == width]).max())


def _sampled_supremum(p: Mixture, q: Mixture) -> float:
    """The supremum on a grid of scores, then on ever finer grids around its largest values."""
    far = np.geomspace(8.0, 1e4, 60)
    score = np.concatenate([-far[::-1], np.linspace(-8.0, 8.0, 1601)[1:-1], far])
    best = 0.0
    for _ in range(4):
        gaps = np.abs(gap_at_score(p, q, score))
        best = max(best, float(gaps.max()))
        top = np.sort(gaps.argsort()[-4:])
        neighbours = [(score[max(i - 1, 0)], score[min(i + 1, len(score) - 1)]) for i in top]
        score = np.concatenate([np.linspace(a, b, 41) for a, b in neighbours])
    return best


# The approximate Wasserstein mechanism, GAWM (Pierquin et al., 2024): a weaker promise.

_SCORES = Scores(end=9.0, cells=12000)
_MEANT = 1e-12  # by which a level that is meant to be δ may be above it
_SUMMED = 1e-10  # by which masses of so many cells, each a difference, may sum to less than they are


@dataclass(frozen=True)
class WassersteinApprox(Additive):
    """θ² = α w²/(2ε) with w the least distance that the quantile coupling exceeds with probability δ at most.

    The promise is (α, ε, δ): with probability δ the budget says nothing. proofs/wasserstein-approx.md.
    """

    name: ClassVar[str] = "wasserstein-approx"
    label: ClassVar[str] = "Wasserstein, approximate"
    summary: ClassVar[str] = (
        "GAWM, a baseline with a weaker guarantee: ignores a share δ of the coupling (option delta, 1e-3)."
    )

    delta: float = 1e-3

    def __post_init__(self) -> None:
        """Check the option."""
        delta = check.real("delta", self.delta, "a number between 0 and 1")
        if not 0 < delta < 1:
            raise InputError(f"delta must be a number between 0 and 1, got {self.delta!r}")
        if delta < 1e-15:
            raise InputError(f"delta below 1e-15 cannot be told from 0 here, got {self.delta!r}: use 'wasserstein'")

    def promise(self, asked: Guarantee) -> Guarantee:
        """(α, ε, δ), which is less."""
        return ApproximateRenyi(asked.alpha, asked.epsilon, self.delta)

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """α w²/(2ε), rounded up."""
        distance = approximate_distance(p, q, delta=self.delta)
        return at_least(floor, alpha * distance * distance / (2 * epsilon) * (1 + 2**-40))

    def curve(self, problem: Problem, *, alpha: float, low: float, high: float) -> NoiseCurve:
        """θ² = αw²/2ε, with w given by the priors alone: one answer gives them all."""
        return scaled_curve(math.sqrt(self.needed(problem, alpha=alpha, epsilon=1.0).variance), low=low, high=high)


def approximate_distance(p: Mixture, q: Mixture, *, delta: float) -> float:
    """The least w with P(|x − x'| > w) <= delta under the quantile coupling.

    >>> approximate_distance(Mixture.empirical([0, 1]), Mixture.empirical([0, 3]), delta=0.5)
    0.0
    """
    p, q = p.simplified(), q.simplified()
    if p == q:
        return 0.0
    if p.is_discrete and q.is_discrete:
        return _upper_quantile(discrete_gaps(p, q), delta * (1 + _MEANT))
    if len(p) == len(q) == 1:
        return _gaussian(abs(float(p.means[0] - q.means[0])), abs(float(p.stds[0] - q.stds[0])), delta)
    return _numerical(p, q, delta)


def _upper_quantile(gaps: Gaps, delta: float) -> float:
    order = np.argsort(-gaps.distance)
    beyond = np.cumsum(gaps.mass[order])
    first = int(np.searchsorted(beyond, delta, side="right"))
    return float(gaps.distance[order][min(first, len(order) - 1)])


def _gaussian(gap: float, spread: float, delta: float) -> float:
    """The gap is normal with mean `gap` and deviation `spread`."""
    from scipy.special import ndtr, ndtri

    if spread == 0:
        return gap
    high = gap - spread * float(ndtri(delta / 2))

    def room(w: float) -> float:
        return 1 - float(ndtr((gap - w) / spread) + ndtr((-gap - w) / spread)) / delta

    return crossing(room, 0.0, high * (1 + 1e-9), xtol=1e-14 * high) * (1 + 1e-12)


def _numerical(p: Mixture, q: Mixture, delta: float) -> float:
    """Each cell of scores counts with the most its gap can be; what lies beyond counts as infinite."""
    from scipy.special import ndtr

    outside = 2 * float(ndtr(-_SCORES.end))
    if outside >= delta:
        return math.inf
    cells = Gaps(gap_bounds(p, q, _SCORES), np.exp(_SCORES.log_masses()))
    return _upper_quantile(cells, (delta - outside) * (1 - _SUMMED))


# The distribution-aware Wasserstein mechanism, DAGWM (Pierquin et al., 2024).

_END = 20.0
_SCORES_WASSERSTEIN_AWARE = Scores(end=_END, cells=8000)


@dataclass(frozen=True)
class WassersteinAware(Additive):
    """The least θ with E exp(α(α−1)|x − x'|²/2θ²) <= e^{(α−1)ε} under the quantile coupling.

    Exact for points and for Gaussians; for mixtures the expectation is bounded from above, cell by cell.
    proofs/wasserstein-aware.md has the proof.
    """

    name: ClassVar[str] = "wasserstein-aware"
    label: ClassVar[str] = "Wasserstein, distribution-aware"
    summary: ClassVar[str] = (
        "DAGWM, a baseline: averages over the distances between quantiles instead of taking the largest."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The least variance at which the averaged bound meets the budget."""
        p, q = p.simplified(), q.simplified()
        if p == q:
            return floor
        loss, scale = _loss(p, q, alpha)
        return least_variance(loss, epsilon=epsilon, floor=floor, start=scale, rtol=1e-12)


def _loss(p: Mixture, q: Mixture, alpha: float) -> tuple[Callable[[float], float], float]:
    """The bound as a function of the variance, and a variance to start from."""
    if len(p) == len(q) == 1:
        gap, spread = float(p.means[0] - q.means[0]), abs(float(p.stds[0] - q.stds[0]))
        return lambda z: gaussian_bound(gap, spread, alpha=alpha, variance=z), max(gap * gap, spread * spread)
    if p.is_discrete and q.is_discrete:
        gaps = discrete_gaps(p, q)
        squares, log_mass = _squares(gaps.distance), np.log(gaps.mass)
        return lambda z: _averaged(squares, log_mass, alpha, z), float(squares.max())
    return _bounded_loss(p, q, alpha)


def gaussian_bound(gap: float, spread: float, *, alpha: float, variance: float) -> float:
    """The bound in closed form for a normal gap: mean `gap`, deviation `spread`."""
    if gap == 0 and spread == 0:
        return 0.0
    room = variance - alpha * (alpha - 1) * spread * spread
    if room <= 0:
        return math.inf
    return -0.5 * math.log1p(-alpha * (alpha - 1) * spread * (spread / variance)) / (alpha - 1) + (
        alpha * gap * gap / (2 * room)
    )


def _squares(distance: Array) -> Array:
    with np.errstate(over="ignore"):  # beyond the largest float the bound is infinite too
        return distance * distance


def _averaged(squares: Array, log_mass: Array, alpha: float, variance: float) -> float:
    if variance == 0:
        return math.inf if squares.any() else 0.0
    with np.errstate(over="ignore"):
        terms = log_mass + 0.5 * alpha * (alpha - 1) * squares / variance
    top = float(terms.max())
    if math.isinf(top):
        return math.inf
    return max(0.0, (top + math.log(np.exp(terms - top).sum())) / (alpha - 1))


def _bounded_loss(p: Mixture, q: Mixture, alpha: float) -> tuple[Callable[[float], float], float]:
    """Upper sums over cells of scores, and beyond ±20 a Gaussian tail with |x − x'| <= slope·|t| + offset."""
    from scipy.special import log_ndtr

    bounds = gap_bounds(p, q, _SCORES_WASSERSTEIN_AWARE)
    log_mass = _SCORES_WASSERSTEIN_AWARE.log_masses()
    slope, offset = abs(widest(p) - widest(q)), _tail_offset(p, q)
    squares = _squares(bounds)

    def loss(z: float) -> float:
        if z == 0:
            return math.inf
        c = 0.5 * alpha * (alpha - 1) / z
        room = 1 - 2 * c * slope * slope
        if room <= 0:
            return math.inf
        # ∫_T^∞ φ(t) exp(c (slope·t + offset)²) dt, both tails
        shift = 2 * c * slope * offset / room
        log_tail = (
            c * offset * offset
            + 0.5 * shift * shift * room
            - 0.5 * math.log(room)
            + float(log_ndtr(-(_END - shift) * math.sqrt(room)))
            + math.log(2)
        )
        inner = _averaged(squares, log_mass, alpha, z) * (alpha - 1)
        return float(np.logaddexp(inner, log_tail)) / (alpha - 1)

    return loss, float(squares.max())


def _tail_offset(p: Mixture, q: Mixture) -> float:
    """An offset with |Q_p − Q_q| <= |Δσ|·|t| + offset for |t| >= 20; proofs/wasserstein-aware.md."""
    means = np.concatenate([p.means, q.means])
    width, lag = max(widest(p), widest(q)), 0.0
    for side in (p, q):
        weight = float(side.weights[side.stds == widest(side)].max())
        square = _END * _END - 2 * math.log(1 / weight)
        if square <= 0:
            return math.inf
        lag = max(lag, _END - math.sqrt(square))
    return float(np.ptp(means)) + width * lag
