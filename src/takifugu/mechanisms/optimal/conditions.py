"""The conditions of optimality, in the form the interior point works on.

The promise of order α is written output by output, as p ≤ κ t^a q^{1−a} with a = 1/α, κ = C^a and Σ_y t(y) ≤ 1: power
cones. In p^α q^{1−α} a Newton step is good only where ratios change by a factor of 1 + 1/α; here the right-hand side is
concave and nearly linear for large α. Bounded odds are the case a = 0, κ = ρ, where t does not enter.
"""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.program import Indices, Mask, Program

_TINY = 1e-300


@dataclass(frozen=True)
class Point:
    """A channel, its slacks and multipliers. Arrays over pairs of output and input are outputs × inputs.

    reduced: multipliers of K ≥ 0
    parts: t, outputs × constraints of finite order
    slack, weight: of the global inequalities: Σ_y t ≤ 1 for each constraint of finite order, then the diagonal
    cone_slack, cone_weight: of p ≤ κ t^a q^{1−a} and then of p ≤ ρq, outputs × (all of these)
    rows, kept: multipliers of the rows' sums and of the marginal
    mean: the multiplier of the mean (one number), those of E[Y|x] = x (n numbers), or none
    ends: u and l, m × 2; over, under: the multipliers of u ≥ K and of K ≥ l
    """

    channel: Array
    reduced: Array
    parts: Array
    slack: Array
    weight: Array
    cone_slack: Array
    cone_weight: Array
    rows: Array
    kept: Array
    mean: Array
    ends: Array
    over: Array
    under: Array

    def moved(self, step: "Point", primal: float, dual: float) -> "Point":
        """The point after a step, its primal part and its dual part each with its own length."""
        size = {f.name: primal if f.name in _PRIMAL else dual for f in fields(self)}
        return Point(**{name: getattr(self, name) + size[name] * getattr(step, name) for name in size})

    @property
    def room(self) -> tuple[Array, Array]:
        """u − K and K − l."""
        return self.ends[:, :1] - self.channel, self.channel - self.ends[:, 1:]


_PRIMAL = ("channel", "parts", "slack", "cone_slack", "ends")


@dataclass(frozen=True)
class Setting:
    """A program in the arrangement of the solver: outputs × inputs, its losses scaled, its promises side by side."""

    program: Program
    allowed: Mask
    cost: Array
    scale: float
    margin: float = 1e-10  # a little inside the promise, so that rounding does not leave it

    @cached_property
    def orders(self) -> int:
        """How many constraints of finite order there are."""
        return len(self.program.constraints) if self.program.bounds_divergence else 0

    @cached_property
    def factor(self) -> float:
        """The largest ratio, a little inside; infinite where the odds are free."""
        return self.program.factor * (1.0 - self.margin)

    @cached_property
    def left(self) -> Indices:
        """The first law of every cone."""
        return self._cones(self.program.left)

    @cached_property
    def right(self) -> Indices:
        """The second law of every cone."""
        return self._cones(self.program.right)

    def _cones(self, laws: Indices) -> Indices:
        return np.concatenate([laws if self.orders else laws[:0], laws if self.factor < np.inf else laws[:0]])

    @cached_property
    def power(self) -> Array:
        """The exponent a of every cone: 1/α, or 0 for bounded odds."""
        power = np.zeros(self.left.size)
        power[: self.orders] = 1.0 / self.program.alpha
        return power

    @cached_property
    def kappa(self) -> Array:
        """The factor κ of every cone."""
        kappa = np.full(self.left.size, self.factor)
        if self.orders:
            kappa[: self.orders] = np.exp(self.program.log_budget / self.program.alpha)
        return kappa

    @cached_property
    def shares(self) -> tuple[Array, Array]:
        """The first and the second law of every cone, cones × inputs."""
        return self.program.shares[self.left], self.program.shares[self.right]

    @cached_property
    def reach(self) -> tuple[Array, Array]:
        """How far the first and the second law of every cone may be from what is written."""
        return self.program.reach[self.left], self.program.reach[self.right]

    @cached_property
    def live(self) -> Mask:
        """Where a cone means something, m × cones: a column that no one may use bounds nothing."""
        used = self.allowed.astype(np.float64) @ self.program.shares.T
        return np.asarray(used[:, self.right] > 0)

    def sides(self, channel: Array, ends: Array) -> tuple[Array, Array]:
        """p + tw and q − tw for every output and cone."""
        means = channel @ self.program.shares.T
        p, q = means.take(self.left, axis=1), means.take(self.right, axis=1)
        if self.program.radius is not None:
            spread = ends[:, :1] - ends[:, 1:]
            p, q = p + spread * self.reach[0], q - spread * self.reach[1]
        return p, q

    def ratio(self, q: Array, parts: Array) -> Array:
        """ρ̂ = κ(t/q)^a: the largest p/q that the cone allows at this t."""
        found = np.broadcast_to(self.kappa, q.shape).copy()
        if self.orders:
            k = self.orders
            found[:, :k] *= (np.maximum(parts, _TINY) / np.maximum(q[:, :k], _TINY)) ** (1.0 / self.program.alpha)
        return found

    def room(self, channel: Array, parts: Array, ends: Array) -> Array:
        """κ t^a q^{1−a} − p for every output and cone, negative where the promise is broken."""
        p, q = self.sides(channel, ends)
        return np.asarray(np.where(self.live, self.ratio(q, parts) * q - p, 1.0))


@dataclass(frozen=True)
class Conditions:
    """What is wrong with a point: the residuals of the conditions of optimality; and where it stands."""

    p: Array
    q: Array
    ratio: Array
    dual: Array
    dual_parts: Array
    dual_ends: Array
    rows: Array
    kept: Array
    mean: Array
    totals: Array
    cones: Array


def conditions(setting: Setting, at: Point) -> Conditions:
    """The residuals at a point."""
    program, channel, k = setting.program, at.channel, setting.orders
    p, q = setting.sides(channel, at.ends)
    ratio = setting.ratio(q, at.parts)
    slope_q = -(1.0 - setting.power) * ratio * at.cone_weight
    dual = setting.cost - at.rows - at.reduced + at.cone_weight @ setting.shares[0] + slope_q @ setting.shares[1]
    cones = np.where(setting.live, p - ratio * q + at.cone_slack, 0.0)
    pull = setting.power[:k] * (ratio * q * at.cone_weight)[:, :k] / np.maximum(at.parts, _TINY)
    dual_parts = np.where(setting.live[:, :k], at.weight[:k] - pull, 0.0)
    totals = at.parts.sum(axis=0) + at.slack[:k] - (1.0 - setting.margin)
    kept = mean = np.zeros(0)
    if program.keep == "marginal":
        dual = dual + at.kept[:, None] * program.pooled
        kept = channel @ program.pooled - program.pooled
    if program.outputs is not None and program.inputs is not None:
        if program.unbiased:
            dual = dual + program.outputs[:, None] * at.mean
            mean = program.outputs @ channel - program.inputs
        elif program.keep == "mean":
            dual = dual + at.mean * program.outputs[:, None] * program.pooled
            mean = np.array([program.outputs @ channel @ program.pooled - program.pooled @ program.inputs])
    if program.diagonal is not None:
        dual = dual - at.weight[-1] * np.diag(program.pooled)
        totals = np.append(totals, program.diagonal - program.pooled @ np.diag(channel) + at.slack[-1])
    dual_ends = np.zeros((len(channel), 2))
    if program.radius is not None:
        dual = dual + at.over - at.under
        pressure = at.cone_weight @ setting.reach[0] - slope_q @ setting.reach[1]
        dual_ends = np.stack([pressure - at.over.sum(1), at.under.sum(1) - pressure], axis=1)
    dual = np.where(setting.allowed, dual, 0.0)
    rows = channel.sum(axis=0) - 1.0
    return Conditions(p, q, ratio, dual, dual_parts, dual_ends, rows, kept, mean, totals, cones)
