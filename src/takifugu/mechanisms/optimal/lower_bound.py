"""Nothing can be better: a number that no channel which keeps the promise and the wishes costs less than.

Tangent planes and weak duality (proofs/optimal.md). The multipliers may come from anywhere and be wrong by any amount:
the bound is true for all of them. The tangents are computed in ball arithmetic; what follows are sums of products of
floats, whose rounding errors are bounded term by term and taken off.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from takifugu._validation import Array, reals
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.program import Excess, Indices, Mask, Program, allowed_moves

# The multipliers that prove a lower bound: a handful of arrays, which anyone may write down and check again.


@dataclass(frozen=True, eq=False)
class Duals:
    """Whatever they are, the bound they give is true (proofs/optimal.md); good ones make it tight.

    weights: one number, 0 or more, per constraint of finite order; empty where there is none ratios: outputs ×
    constraints, above 0: where the tangent planes touch odds: outputs × constraints, 0 or more: of p_i(y) ≤ ρ p_j(y);
    empty where the odds are free kept: one per output, of any sign, for keep="marginal"; otherwise empty mean: one for
    keep="mean", one per input for unbiased, otherwise empty; of any sign diagonal: 0 or more, for the promised diagonal
    spread: inputs × outputs, for a radius; otherwise empty
    """

    weights: Array
    ratios: Array
    odds: Array
    kept: Array
    mean: Array
    diagonal: float
    spread: Array

    def to_json(self) -> dict[str, object]:
        """Plain lists and numbers."""
        plain: dict[str, object] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            plain[f.name] = value.tolist() if isinstance(value, np.ndarray) else value
        return plain

    @classmethod
    def from_json(cls, plain: object) -> "Duals":
        """The multipliers that `to_json` wrote; an unknown or missing name is refused."""
        names = {f.name for f in fields(cls)}
        if not isinstance(plain, dict) or set(plain) != names:
            raise InputError(f"duals must hold exactly {', '.join(sorted(names))}")
        arrays = {name: reals(f"duals.{name}", plain[name]) for name in names - {"diagonal"}}
        diagonal = reals("duals.diagonal", plain["diagonal"])
        if diagonal.ndim:
            raise InputError("duals.diagonal must be one number")
        return cls(**arrays, diagonal=float(diagonal))

    def checked(self, program: Program) -> "Duals":
        """The same multipliers, if they fit the program and have the signs the proof needs.

        Args:
            program: that they are to prove a bound of.

        Returns:
            Themselves, with the shapes of the program.

        Raises:
            InputError: for a wrong shape, a NaN, or a sign that the proof does not allow.
        """
        for name, shape in _shapes(program).items():
            given = getattr(self, name)
            if given.size == 0 and 0 in shape:
                object.__setattr__(self, name, np.zeros(shape))
            elif given.shape != shape:
                raise InputError(f"duals.{name} must have the shape {shape} for this program, got {given.shape}")
            if not np.isfinite(given).all():
                raise InputError(f"duals.{name} must be finite")
        signed = (self.weights >= 0).all() and (self.odds >= 0).all() and (self.ratios > 0).all()
        if not signed or not 0 <= self.diagonal < np.inf or (self.diagonal > 0 and program.diagonal is None):
            raise InputError("duals of inequalities must be 0 or more, and ratios above 0")
        return self


def _shapes(program: Program) -> dict[str, tuple[int, ...]]:
    """The shape of every array of multipliers; one of them is 0 where the program asks for nothing of the kind."""
    n, m = program.size
    count = len(program.constraints)
    orders, ratios = (count if program.bounds_divergence else 0), (count if program.factor < np.inf else 0)
    return {
        "weights": (orders,),
        "ratios": (m, orders),
        "odds": (m, ratios),
        "kept": (m if program.keep == "marginal" else 0,),
        "mean": (n if program.unbiased else 1 if program.keep == "mean" else 0,),
        "spread": (n, m) if program.radius is not None else (0, 0),
    }


def no_duals(program: Program) -> Duals:
    """Multipliers that prove what the loss alone proves."""
    nothing = {name: np.zeros(shape) for name, shape in _shapes(program).items()}
    return Duals(**nothing | {"ratios": np.ones_like(nothing["ratios"])}, diagonal=0.0)


UNIT = 2.0**-53
TINY = 1e-290  # above the sum of whatever underflows to zero
UNDERFLOW = 1e-270  # of a coefficient, where the share it is multiplied by may have underflowed
_PRECISION = 128
_TOGETHER = 1 << 21  # outputs × constraints that are added up together
_ROOM = 1e-10  # of a bound, between what is proved and what is said


@dataclass(frozen=True)
class Tangents:
    """Planes that lie below the promise: λG(p, q) ≥ slope_p·p + slope_q·q, m × C each, and λα/(C−1), λ(α−1)/(C−1)."""

    slope_p: Array
    slope_q: Array
    lift_p: Array
    lift_q: Array


@dataclass(frozen=True)
class Bracket:
    """What a unit of K(y|x) costs in the Lagrangian, a bound on the rounding error of that, and the constant."""

    value: Array
    error: Array
    constant: float


def lower_bound(program: Program, duals: Duals) -> float:
    """A proved lower bound on the cost of every channel on this alphabet that keeps the promise and the wishes.

    Weak duality: for any multipliers of the right signs the least of the Lagrangian over all channels is a lower bound.
    It is computed input by input, with every rounding error taken off, so that the bound holds whoever made the
    multipliers.

    Args:
        program: the problem.
        duals: the multipliers.

    Returns:
        The bound, 0 where something overflowed: a loss is never negative.
    """
    tangents = proved_tangents(program, duals.checked(program))
    with np.errstate(all="ignore"):  # what overflows is not finite in the end, and then nothing is claimed
        at = bracket(program, duals, tangents)
        rows = least(at, allowed_moves(program))
    return total(rows, at.constant)


def estimate(program: Program, duals: Duals, allowed: Mask) -> float:
    """The same bound up to rounding errors, quickly: for the solver to see how far it has come.

    Args:
        program: the problem.
        duals: the multipliers.
        allowed: which moves a channel may make.

    Returns:
        The bound in floats, which proves nothing.
    """
    at = bracket(program, duals, float_tangents(program, duals))
    return float(least(at, allowed).sum() + at.constant)


def least(at: Bracket, allowed: Mask) -> Array:
    """Per input, the least that any possible output costs in the Lagrangian, rounding errors taken off."""
    return np.asarray(np.where(allowed, at.value - at.error, np.inf).min(axis=1))


def total(rows: Array, constant: float) -> float:
    """The sum, rounded down; zero where it is less, because a loss is never negative.

    Args:
        rows: what each input costs at least.
        constant: what is added to all of them.

    Returns:
        A float that is not above the exact sum.
    """
    if not np.isfinite(rows).all() or not math.isfinite(constant):
        return 0.0  # what every channel costs at least; an overflow proves nothing more
    found = _sum([*rows.tolist(), constant])
    return max(0.0, math.nextafter(found, -math.inf)) if math.isfinite(found) else 0.0


def to_state(proved: float, cost: float) -> float:
    """What is said of a proved bound: a hair less, so that a machine that rounds otherwise proves it again.

    And no more than what was found costs, which is itself computed in floats: a bound must not contradict it.

    Args:
        proved: the bound, as it was proved here.
        cost: what the channel that was found costs.

    Returns:
        The bound that a certificate states.
    """
    return min(proved * (1 - _ROOM), cost)


def _sum(numbers: Iterable[float]) -> float:
    """Their sum; infinite where `math.fsum` gives up, as multipliers from a stranger's file can make it."""
    try:
        return math.fsum(numbers)
    except OverflowError:
        return math.inf


def bracket(program: Program, duals: Duals, tangents: Tangents) -> Bracket:
    """The Lagrangian's coefficients, with a bound on their rounding errors."""
    pooled = program.pooled
    # No entry passes through more roundings than this: dividing by a sum of n weights, summing over the constraints of
    # a law, then over the laws that have any, then a handful of products and sums. Bounds on |terms| instead of on the
    # result make cancellation harmless.
    steps = (program.size[0] + 4 * len(program.constraints) + 24) * UNIT * 1.1
    law_part, size = _promised(program, duals, tangents, steps)
    constant, constant_size = -_sum(duals.weights), 0.0
    if program.keep == "marginal":
        law_part = law_part + pooled[:, None] * duals.kept
        size = size + pooled[:, None] * np.abs(duals.kept)
        constant -= float(duals.kept @ pooled)
        constant_size += float(np.abs(duals.kept) @ pooled)
    value, size = program.cost + law_part, size + program.cost + UNDERFLOW * program.loss
    if program.inputs is not None and program.outputs is not None and (program.unbiased or program.keep == "mean"):
        tilt = duals.mean[:, None] if program.unbiased else duals.mean * pooled[:, None]
        value, size = value + tilt * program.outputs, size + np.abs(tilt * program.outputs)
        constant -= float(tilt[:, 0] @ program.inputs)
        constant_size += float(np.abs(tilt[:, 0]) @ np.abs(program.inputs))
    if program.diagonal is not None:
        value = value - np.diag(duals.diagonal * pooled)
        size = size + np.diag(duals.diagonal * pooled)
        constant += duals.diagonal * program.diagonal
        constant_size += duals.diagonal
    constant -= steps * (constant_size + abs(constant) + _sum(duals.weights)) + TINY
    return Bracket(value, steps * size + TINY, constant)


def _promised(program: Program, duals: Duals, tangents: Tangents, steps: float) -> tuple[Array, Array]:
    """What the promises add to the cost of a unit of K(y|x), n × m, and the sum of the sizes of what was added up."""
    left, right, m, laws = program.left, program.right, program.size[1], len(program.laws)
    reach = program.reach
    whole, whole_size = np.zeros((2, m, laws))  # coefficients of p_s
    pressure = pressure_size = np.zeros(m)  # the coefficient of w
    if duals.weights.size:
        plus, minus = np.abs(tangents.slope_p), np.abs(tangents.slope_q)
        whole = _of_laws(tangents.slope_p, left, laws) + _of_laws(tangents.slope_q, right, laws)
        whole_size = _of_laws(plus, left, laws) + _of_laws(minus, right, laws)
        up, down = tangents.slope_p + tangents.lift_p, tangents.slope_q - tangents.lift_q
        pressure = pressure + up @ reach[left] - down @ reach[right]
        pressure_size = (plus + np.abs(tangents.lift_p)) @ reach[left]
        pressure_size = pressure_size + (minus + np.abs(tangents.lift_q)) @ reach[right]
    if duals.odds.size:
        more, less = _of_laws(duals.odds, left, laws), program.factor * _of_laws(duals.odds, right, laws)
        whole, whole_size = whole + (more - less), whole_size + (more + less)
        grip = duals.odds @ (reach[left] + program.factor * reach[right])
        pressure, pressure_size = pressure + grip, pressure_size + grip
    value, size = program.shares.T @ whole.T, program.shares.T @ whole_size.T
    size = size + UNDERFLOW * whole_size.sum(axis=1)
    if program.radius is not None:
        apart = _balanced(duals.spread, pressure - steps * pressure_size - TINY)
        value, size = value + apart, size + np.abs(apart)
    return value, size


def _of_laws(coefficients: Array, at: Indices, laws: int) -> Array:
    """The sums, m × S, of coefficients m × C over the constraints that have a law at this side."""
    found = np.empty((len(coefficients), laws))
    together = max(1, _TOGETHER // max(1, at.size))
    for k in range(0, len(found), together):  # of a million pairs all outputs at once would be all memory
        some = coefficients[k : k + together]
        places = np.arange(len(some))[:, None] * laws + at
        sums = np.bincount(places.ravel(), weights=some.ravel(), minlength=len(some) * laws)
        found[k : k + together] = sums.reshape(len(some), laws)
    return found


def _balanced(spread: Array, pressure: Array) -> Array:
    """The nearest e with Σ_x e ≤ 0 and Σ_x max(e, 0) ≤ pressure(y), which is what the proof asks of it."""
    above, below = np.maximum(spread, 0.0), np.maximum(-spread, 0.0)
    safe = 1.0 - 4.0 * (len(spread) + 4) * UNIT
    sums = above.sum(axis=0)
    most = np.minimum(np.maximum(pressure, 0.0), below.sum(axis=0)) * safe
    share = np.minimum(1.0, most / np.maximum(sums, TINY)) * safe
    return np.asarray(above * share - below)


def float_tangents(program: Program, duals: Duals) -> Tangents:
    """The tangent planes in floats."""
    if not duals.weights.size:
        return Tangents(*np.zeros((4, 1, 1)))
    excess = Excess(program.alpha, program.log_budget)
    slope_p, slope_q = excess.slopes(duals.ratios)
    lift = duals.weights * excess.scale
    return Tangents(slope_p * duals.weights, slope_q * duals.weights, program.alpha * lift, (program.alpha - 1) * lift)


def proved_tangents(program: Program, duals: Duals) -> Tangents:
    """The tangent planes, every slope rounded down: p and q are not negative, so the plane only sinks."""
    if not duals.weights.size:
        return Tangents(*np.zeros((4, 1, 1)))
    from flint import arb, ctx

    before = ctx.prec
    ctx.prec = _PRECISION
    try:
        alpha = arb(program.alpha)
        less_one = alpha - 1
        scale = 1 / (less_one * arb(program.epsilon)).expm1()
        slope_p, slope_q = np.zeros_like(duals.ratios), np.zeros_like(duals.ratios)
        lift_p, lift_q = np.zeros_like(duals.weights), np.zeros_like(duals.weights)
        for c, weight in enumerate(duals.weights.tolist()):
            if weight == 0.0:
                continue
            over = arb(weight) * scale
            lift_p[c], lift_q[c] = _down(alpha * over), _down(less_one * over)
            for y, ratio in enumerate(duals.ratios[:, c].tolist()):
                log = arb(ratio).log()
                slope_p[y, c] = _down(alpha * over * (less_one * log).expm1())
                slope_q[y, c] = _down(-less_one * over * (alpha * log).expm1())
    finally:
        ctx.prec = before
    return Tangents(slope_p, slope_q, lift_p, lift_q)


def _down(ball: object) -> float:
    """A float that is no larger than anything in the ball."""
    lower = float(ball.lower())  # type: ignore[attr-defined]
    return -math.inf if math.isnan(lower) else math.nextafter(lower, -math.inf)
