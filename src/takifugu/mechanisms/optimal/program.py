"""The convex program whose solution is the best channel: what is known, what is promised, what is wished for."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, real, reals
from takifugu.errors import InputError, MechanismError

Keep = Literal["marginal", "mean"]
Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

# Promises of a finite order are about e**epsilon, and about e**((alpha - 1)*epsilon) - 1: beyond these, solvers meet
# infinities and zeros.
_MOST_EPSILON, _LEAST_POWER = 700.0, 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """Minimise Σ_x m(x) Σ_y K(y|x) loss(x, y) over the channels K that keep the promise (proofs/optimal.md).

    laws: one row of weights per law, R × n; the law is the row over its sum, exactly, so that counts may be given
    constraints: directed pairs (i, j) of rows, each asking for D_α(p_i K ‖ p_j K) ≤ ε alpha, epsilon: the promise; α =
    ∞ asks for p_i(y) ≤ e^ε p_j(y), ε = ∞ for nothing odds: a second promise beside it, p_i(y) ≤ odds·p_j(y) mass:
    weights of the inputs in the loss and in what is kept; shares after division by their sum loss: n × m, zero or more
    inputs, outputs: the numbers behind the rows and columns of the loss, where they are numbers keep: "marginal" (the
    outputs are the inputs, and their shares stay), "mean", or None unbiased: E[Y | x] = x for every input forbidden: n
    × m, True where an input must never become an output diagonal: at least this share of the mass stays as it is (the
    outputs are the inputs) radius: one t ≥ 0 per law; the promise then holds for every law within total variation t of
    it chances: for bounded odds alone, one number above 0 per law, which it is multiplied by: how likely what was
        published before was under it, so that the ratio of two laws is that of everything published together
    """

    laws: Array
    constraints: tuple[tuple[int, int], ...]
    mass: Array
    loss: Array
    alpha: float = math.inf
    epsilon: float = math.inf
    odds: float | None = None
    inputs: Array | None = None
    outputs: Array | None = None
    keep: Keep | None = None
    unbiased: bool = False
    forbidden: Mask | None = None
    diagonal: float | None = None
    radius: Array | None = None
    chances: Array | None = None

    def __post_init__(self) -> None:
        """Check everything, and keep arrays of floats."""
        laws, loss, mass = (reals(name, getattr(self, name)) for name in ("laws", "loss", "mass"))
        if laws.ndim != 2 or loss.ndim != 2 or mass.ndim != 1 or loss.size == 0:
            raise InputError("laws and loss must be tables of two dimensions, and mass a list, none of them empty")
        n, m = loss.shape
        if laws.shape[1] != n or mass.size != n:
            raise InputError(
                f"laws, mass and loss must agree on the number of inputs, got {laws.shape[1]}, {mass.size} and {n}"
            )
        for name, given in (("laws", laws), ("mass", mass), ("loss", loss)):
            if not np.isfinite(given).all() or (given < 0).any():
                raise InputError(f"{name} must hold finite numbers, 0 or more")
        if not (laws.sum(axis=1) > 0).all() or not mass.sum() > 0:
            raise InputError("every law, and the mass, needs at least one weight above 0")
        if not (np.isfinite(laws.sum(axis=1)).all() and math.isfinite(mass.sum())):
            raise InputError("the weights of a law, and the mass, must have a finite sum: divide them by a constant")
        object.__setattr__(self, "laws", laws)
        object.__setattr__(self, "loss", loss)
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "constraints", _pairs(self.constraints, laws.shape[0]))
        self._check_promise()
        self._check_wishes(n, m)

    def _check_promise(self) -> None:
        if isinstance(self.alpha, bool) or not self.alpha > 1:
            raise InputError(f"alpha must be above 1 (infinity for bounded odds), got {self.alpha!r}")
        if isinstance(self.epsilon, bool) or not self.epsilon > 0:
            raise InputError(f"epsilon must be above 0, got {self.epsilon!r}")
        if math.isfinite(self.alpha) and math.isfinite(self.epsilon):
            if self.epsilon > _MOST_EPSILON:
                raise InputError(f"epsilon must be {_MOST_EPSILON:g} or less, beyond which it hides nothing")
            if (self.alpha - 1) * self.epsilon < _LEAST_POWER:
                raise InputError("alpha is too close to 1, or epsilon to 0, for numbers here: ask for more of either")
        if self.odds is not None and (isinstance(self.odds, bool) or not 1 < self.odds < math.inf):
            raise InputError(f"odds must be a finite number above 1, got {self.odds!r}")
        if self.epsilon == math.inf and self.odds is None:
            raise InputError("nothing is guaranteed: give epsilon, or odds, or both")
        if self.radius is not None:
            radius = reals("radius", self.radius)
            if radius.shape != (self.laws.shape[0],) or not ((radius >= 0) & (radius < 1)).all():
                raise InputError("radius must hold one number per law, 0 or more and below 1")
            object.__setattr__(self, "radius", radius if radius.any() else None)
        if self.chances is not None:
            chances = reals("chances", self.chances)
            if chances.shape != (self.laws.shape[0],) or not ((chances > 0) & (chances < math.inf)).all():
                raise InputError("chances must hold one finite number per law, above 0")
            if self.bounds_divergence:
                raise InputError("chances are for bounded odds: a guarantee of finite order is about whole laws")
            object.__setattr__(self, "chances", chances)

    def _check_wishes(self, n: int, m: int) -> None:
        for name, size in (("inputs", n), ("outputs", m)):
            given = getattr(self, name)
            if given is not None:
                numbers = reals(name, given)
                if numbers.shape != (size,) or not np.isfinite(numbers).all():
                    raise InputError(f"{name} must hold {size} finite numbers, one for each of the loss's")
                object.__setattr__(self, name, numbers)
        if self.keep not in (None, "marginal", "mean"):
            raise InputError(f'preserve must be "marginal", "mean" or None, got {self.keep!r}')
        if (self.keep == "mean" or self.unbiased) and (self.inputs is None or self.outputs is None):
            raise InputError('preserve="mean" and unbiased=True need inputs and outputs that are numbers')
        if (self.keep == "marginal" or self.diagonal is not None) and n != m:
            raise InputError(f"preserve and diagonal need outputs that are the inputs, got {n} inputs and {m} outputs")
        if self.diagonal is not None and not 0 <= real("diagonal", self.diagonal, "a share between 0 and 1") <= 1:
            raise InputError(f"diagonal must be a share between 0 and 1, got {self.diagonal!r}")
        if self.forbidden is not None:
            forbidden = np.asarray(self.forbidden)
            if forbidden.dtype != np.bool_ or forbidden.shape != (n, m):
                raise InputError(f"forbidden must be a table of truth values of shape {(n, m)}")
            object.__setattr__(self, "forbidden", forbidden if forbidden.any() else None)

    @cached_property
    def shares(self) -> Array:
        """The laws, rows summing to one up to rounding, or to their chances."""
        shares = self.laws / self.laws.sum(axis=1, keepdims=True)
        return np.asarray(shares if self.chances is None else shares * self.chances[:, None])

    @cached_property
    def pooled(self) -> Array:
        """The mass, summing to one up to rounding."""
        return np.asarray(self.mass / self.mass.sum())

    @cached_property
    def cost(self) -> Array:
        """What a channel costs per unit of K(y|x)."""
        return self.pooled[:, None] * self.loss

    @cached_property
    def left(self) -> Indices:
        """The first law of every constraint."""
        return np.array([i for i, _ in self.constraints], dtype=np.intp)

    @cached_property
    def right(self) -> Indices:
        """The second law of every constraint."""
        return np.array([j for _, j in self.constraints], dtype=np.intp)

    @cached_property
    def reach(self) -> Array:
        """The radius, in units of the shares; zeros where there is none."""
        if self.radius is None:
            return np.zeros(self.laws.shape[0])
        return self.radius if self.chances is None else self.radius * self.chances

    @property
    def bounds_divergence(self) -> bool:
        """Whether there is a promise of finite order."""
        return self.alpha < math.inf and self.epsilon < math.inf

    @property
    def log_budget(self) -> float:
        """ln C = (α−1)ε, for a promise of finite order."""
        return (self.alpha - 1.0) * self.epsilon

    @cached_property
    def factor(self) -> float:
        """The largest ratio p_i(y)/p_j(y) allowed; infinite where the odds are free.

        e^ε has no float. It is rounded up, in ball arithmetic: a promise that is wider by a rounding keeps a lower
        bound true. A channel is checked against ε itself elsewhere.
        """
        from flint import arb

        named = math.inf if self.odds is None else self.odds
        if self.alpha < math.inf or self.epsilon > 700:
            return named
        return min(named, math.nextafter(float(arb(self.epsilon).exp().upper()), math.inf))

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of inputs and outputs."""
        return self.loss.shape[0], self.loss.shape[1]

    def value(self, matrix: Array) -> float:
        """What a channel costs."""
        return float((self.cost * matrix).sum())


def distinct(
    laws: Array, constraints: tuple[tuple[int, int], ...], radius: Array | None = None
) -> tuple[Array, tuple[tuple[int, int], ...], Array | None]:
    """Equal laws merged (of their radii the largest), and constraints that say the same thing said once.

    Args:
        laws: a row of weights for each.
        constraints: pairs of rows, each the first within a factor or divergence of the second.
        radius: of each law, if any.

    Returns:
        The rows that differ, the pairs of those, and their radii. A solver's time grows with both.

    >>> rows, pairs, _ = distinct(np.array([[1.0, 1.0], [2.0, 2.0], [1.0, 3.0]]), ((0, 2), (1, 2), (0, 1)))
    >>> len(rows), pairs
    (2, ((0, 1),))
    """
    place: dict[bytes, int] = {}
    where = [place.setdefault((row / row.sum()).tobytes(), len(place)) for row in laws]
    first = [where.index(k) for k in range(len(place))]
    merged = None if radius is None else np.zeros(len(place))
    if merged is not None and radius is not None:
        np.maximum.at(merged, where, radius)
    # A law against itself loses nothing; with a radius around it, it may.
    said = {(where[i], where[j]): None for i, j in constraints if where[i] != where[j] or merged is not None}
    return laws[first], tuple(said), merged


def components(left: Indices, right: Indices, laws: int) -> Indices:
    """A number for each law, the same for laws that pairs lead from one to the other: those of one belief, mostly."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(left.size), (left, right)), shape=(laws, laws))
    return np.asarray(connected_components(joined, directed=False)[1], dtype=np.intp)


def _pairs(given: Iterable[tuple[int, int]], laws: int) -> tuple[tuple[int, int], ...]:
    pairs = tuple((int(i), int(j)) for i, j in given)
    for i, j in pairs:
        if not (0 <= i < laws and 0 <= j < laws):
            raise InputError(f"constraints must name rows 0 to {laws - 1} of the laws, got {(i, j)}")
    return pairs


# The promise as a smooth function of a channel: its values, slopes and curvatures, output by output.

_SMALLEST = 1e-300
_TOGETHER = 1 << 19  # outputs × constraints that are looked at together: a million pairs at once would be all memory


@dataclass(frozen=True)
class Sides:
    """p_i + t_i w and p_j − t_j w for every output and constraint (m × C), and their ratio."""

    p: Array
    q: Array
    ratio: Array


def sides(program: Program, matrix: Array, spread: Array | None = None, *, some: slice = slice(None)) -> Sides:
    """The two sides of every constraint, or of some, for a channel as outputs × inputs and a spread w(y) per output.

    Args:
        program: the problem.
        matrix: a channel, outputs × inputs.
        spread: how far the probabilities of each output lie apart, where laws have a radius.
        some: which constraints are meant.

    Returns:
        What is published under either law of each constraint, moved to the worst prior within its radius.
    """
    means, left, right = matrix @ program.shares.T, program.left[some], program.right[some]
    p, q = means[:, left], means[:, right]
    if spread is not None:
        p = p + program.reach[left] * spread[:, None]
        q = q - program.reach[right] * spread[:, None]
    possible = q > _SMALLEST
    ratio = np.where(possible, np.maximum(p, _SMALLEST) / np.where(possible, q, 1.0), 1.0)
    return Sides(p, q, np.clip(ratio, _SMALLEST, 1.0 / _SMALLEST))


@dataclass(frozen=True)
class Excess:
    """G(p, q) = (p^α q^{1−α} − αp + (α−1)q)/(C − 1), whose sum over the outputs must not exceed one.

    The sums of p and of q are one, so this is Σ p^α q^{1−α} ≤ C, without the cancellation of Σ − 1 against C − 1 where
    the budget is small: every term is positive, and zero only where p = q. With a radius the sums of p + tw and q − tw
    are not one; what they differ by is added back, `lift`·w for every output.
    """

    alpha: float
    log_budget: float

    @property
    def log_scale(self) -> float:
        """ln(C − 1)."""
        return self.log_budget + math.log(-math.expm1(-self.log_budget))

    @property
    def scale(self) -> float:
        """1/(C − 1), zero where C is beyond the floats."""
        return math.exp(-min(self.log_scale, 745.0))

    def lift(self, program: Program) -> Array:
        """(αt_i + (α−1)t_j)/(C − 1) for every constraint."""
        reach = program.reach
        return np.asarray(self.scale * (self.alpha * reach[program.left] + (self.alpha - 1) * reach[program.right]))

    def _power(self, ratio: Array, order: float) -> Array:
        """(r^order − 1)/(C − 1), in a form that neither cancels nor overflows early."""
        logs = order * np.log(ratio)
        if self.log_budget < 30:
            return np.asarray(np.expm1(np.minimum(logs, 650.0)) * self.scale)
        return np.asarray(np.exp(np.minimum(logs - self.log_scale, 650.0)) - self.scale)

    def value(self, at: Sides) -> Array:
        """G, m × C.

        Args:
            at: the two sides of each constraint.

        Returns:
            One number for each output and constraint, 0 or more: G is convex and has its least value 0 where both sides
                agree.
        """
        bent = self._power(at.ratio, self.alpha) - self.alpha * (at.ratio - 1.0) * self.scale
        return np.asarray(np.maximum(at.q, 0.0) * np.maximum(bent, 0.0))

    def slopes(self, ratio: Array) -> tuple[Array, Array]:
        """∂G/∂p and ∂G/∂q; both depend on the ratio alone.

        Args:
            ratio: of the two sides.

        Returns:
            The two derivatives, from which a plane below G is made.
        """
        return self.alpha * self._power(ratio, self.alpha - 1), -(self.alpha - 1) * self._power(ratio, self.alpha)

    def bend(self, at: Sides) -> Array:
        """The curvature along (1, −r): the Hessian of G is this times (1, −r)(1, −r)ᵀ, of rank one."""
        logs = (self.alpha - 2) * np.log(at.ratio) - self.log_scale
        factor = self.alpha * (self.alpha - 1) * np.exp(np.minimum(logs, 650.0))
        return np.asarray(np.where(np.minimum(at.p, at.q) > _SMALLEST, factor / np.maximum(at.q, _SMALLEST), 0.0))


def excesses(program: Program, matrix: Array) -> Array:
    """By how much, relatively, a channel (inputs × outputs) breaks each constraint in floats; infinite where by all.

    Args:
        program: the problem.
        matrix: a channel, inputs × outputs.

    Returns:
        One number for each constraint, at most 0 where it is kept and −1 where nothing is used of it.
    """
    spread = np.ptp(matrix, axis=0) if program.radius is not None else None
    count, together = len(program.constraints), max(1, _TOGETHER // program.size[1])
    return np.concatenate(
        [_excesses(program, matrix, spread, slice(k, k + together)) for k in range(0, count, together)]
    )


def _excesses(program: Program, matrix: Array, spread: Array | None, some: slice) -> Array:
    at = sides(program, matrix.T, spread, some=some)
    worst = np.full(at.p.shape[1], -1.0)
    if program.bounds_divergence:
        excess = Excess(program.alpha, program.log_budget)
        used = excess.value(at).sum(axis=0)
        if spread is not None:
            used = used + excess.lift(program)[some] * spread.sum()
        worst = np.maximum(worst, used - 1.0)
    if program.factor < math.inf:
        beyond = (at.p / program.factor - at.q).max(axis=0) / np.maximum(at.p.max(axis=0), _SMALLEST)
        worst = np.maximum(worst, beyond)
    # An output that one law shows and the other never does gives the secret away; a q below zero means the same.
    given_away = ((at.q <= 0) & (at.p > 0)) | (at.q < 0)
    return np.where(given_away.any(axis=0) | np.isnan(worst), math.inf, worst)


def violation(program: Program, matrix: Array) -> float:
    """The largest of the `excesses`, zero where the promise is kept."""
    return float(excesses(program, matrix).max(initial=0.0))


# What the wishes leave possible: moves that cannot be used, and how far a channel is from what was wished for.


def allowed_moves(program: Program) -> Mask:
    """Inputs × outputs, False where every channel that keeps promise and wishes is zero; an error if none is left.

    Args:
        program: the problem.

    Returns:
        A mask, with which the solver leaves out what would only converge to 0.

    Raises:
        MechanismError: where an input has no output left.
    """
    n, m = program.size
    allowed = np.ones((n, m), dtype=bool) if program.forbidden is None else ~program.forbidden
    if not allowed.any(axis=1).all():
        raise MechanismError(
            f"forbidden leaves {_count(~allowed.any(axis=1), 'input')} without any output: allow at least one for each"
        )
    if program.keep == "marginal":
        allowed = allowed & ~((program.mass > 0)[:, None] & (program.mass == 0)[None, :])
    if program.keep == "mean" or program.unbiased:
        _check_range(program)
    if program.unbiased:
        allowed = _unbiased_moves(program, allowed)
    allowed = _promised_moves(program, allowed)
    if not allowed.any(axis=1).all():
        left = _count(~allowed.any(axis=1), "input")
        why = (
            "a forbidden move takes an output from one secret, and what one secret never shows the other may not show "
            "either; forbid fewer moves"
        )
        if program.forbidden is None:
            why = "unbiased=True leaves the ends where they are, and the guarantee does not let them; drop unbiased"
        raise MechanismError(
            f"the guarantee and the utility constraints together leave {left} without any output: {why}"
        )
    return allowed


def _check_range(program: Program) -> None:
    assert program.inputs is not None
    assert program.outputs is not None
    low, high = program.outputs.min(), program.outputs.max()
    needed = program.inputs if program.unbiased else np.array([program.pooled @ program.inputs])
    slack = 1e-12 * max(abs(low), abs(high))
    if needed.min() < low - slack or needed.max() > high + slack:
        raise MechanismError(
            f"the outputs, from {low:g} to {high:g}, cannot average to every value from {needed.min():g} to "
            f"{needed.max():g}: let the outputs span the inputs, or drop the wish"
        )


def _unbiased_moves(program: Program, allowed: Mask) -> Mask:
    """At the least or the largest output an input can only stay: any other move would pull its mean inside."""
    assert program.inputs is not None
    assert program.outputs is not None
    x, out = program.inputs[:, None], program.outputs[None, :]
    low = np.where(allowed, out, np.inf).min(axis=1, keepdims=True)
    high = np.where(allowed, out, -np.inf).max(axis=1, keepdims=True)
    if ((x < low) | (x > high)).any():
        raise MechanismError(
            f"unbiased=True is impossible for {_count(((x < low) | (x > high))[:, 0], 'input')} that may only move to "
            "one side: allow outputs on both, or drop unbiased"
        )
    edge = (x == low) | (x == high)
    return np.asarray(allowed & (~edge | (out == x)))


def _promised_moves(program: Program, allowed: Mask) -> Mask:
    """Where one law cannot reach an output, a law that must look like it may not either; repeated until it is so."""
    laws = program.laws > 0  # the weights: a share may underflow to zero
    bound = np.unique(program.right)
    while True:
        before = allowed
        unreachable = (laws.astype(np.float64) @ allowed) == 0
        for j in bound[unreachable[bound].any(axis=1)]:
            like_it = laws[np.unique(program.left[program.right == j])].any(axis=0)
            allowed = allowed & ~(like_it[:, None] & unreachable[j])
        if program.radius is not None:
            # K is zero somewhere in the column, so w is its largest entry, and q − tw ≤ (P_j(allowed) − t)·w < 0.
            partial = ~allowed.all(axis=0)
            held = program.shares @ allowed * (1.0 + 1e-12)  # in doubt the column stays: a bound must be true
            allowed = allowed & ~(partial & (held <= program.reach[:, None])[bound].any(axis=0))
        if np.array_equal(allowed, before):
            return allowed


def shortfall(program: Program, matrix: Array) -> float:
    """By how much a channel misses its wishes, each in a unit of its own: shares, or parts of the outputs' range.

    Args:
        program: the problem.
        matrix: a channel, inputs × outputs.

    Returns:
        The largest of the misses.
    """
    missed = [float(np.abs(matrix.sum(axis=1) - 1.0).max())]
    pooled = program.pooled
    if program.keep == "marginal":
        missed.append(float(np.abs(pooled @ matrix - pooled).max()))
    if program.inputs is not None and program.outputs is not None and (program.keep == "mean" or program.unbiased):
        span = max(float(np.ptp(program.outputs)), 1e-300)
        means = matrix @ program.outputs
        missed.append(abs(float(pooled @ (means - program.inputs))) / span)
        if program.unbiased:
            missed.append(float(np.abs(means - program.inputs).max()) / span)
    if program.diagonal is not None:
        missed.append(program.diagonal - float(pooled @ np.diag(matrix)))
    if program.forbidden is not None:
        missed.append(float(matrix[program.forbidden].max(initial=0.0)))
    return max(missed)


def _count(which: npt.ArrayLike, noun: str) -> str:
    number = int(np.count_nonzero(which))
    return f"{number} {noun}{'' if number == 1 else 's'}"


# Where nothing needs hiding, nothing needs changing: the channel that costs least if nothing were promised.


def free_channel(program: Program, allowed: Mask) -> Array | None:
    """Every input to the output it costs least at, if that keeps promise and wishes; None if not.

    It is looked for first: where it exists the best cost is often zero, which no relative gap ever reaches.

    Args:
        program: the problem.
        allowed: which moves a channel may make.

    Returns:
        The channel, or None.
    """
    n, m = program.size
    matrix = np.zeros((n, m))
    matrix[np.arange(n), cheapest(program, allowed)] = 1.0
    if violation(program, matrix) > 0 or shortfall(program, matrix) > 1e-12:
        return None
    return matrix


def cheapest(program: Program, allowed: Mask) -> Array:
    """For every input the output it costs least at; of several, itself."""
    costs = np.where(allowed, program.loss, np.inf)
    best = costs.argmin(axis=1)
    if costs.shape[0] == costs.shape[1]:
        own = np.arange(len(costs))
        best = np.where(costs[own, own] <= costs[own, best], own, best)
    return np.asarray(best)


def negligible(program: Program) -> float:
    """A cost too small to matter: 1e-9 of what it costs to publish the same for everyone."""
    return 1e-9 * float(program.cost.sum(axis=0).min())


def hardly_changed(program: Program, allowed: Mask) -> Array:
    """A channel that changes next to nothing: what it gives away the most is hardest to hide."""
    n, m = program.size
    change = np.full((n, m), 0.01 / m)
    change[np.arange(n), cheapest(program, allowed)] += 0.99
    return change
