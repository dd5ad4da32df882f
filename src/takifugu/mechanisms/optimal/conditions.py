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

    reduced: multipliers of K ≥ 0 parts: t, outputs × constraints of finite order slack, weight: of the global
    inequalities: Σ_y t ≤ 1 for each constraint of finite order, then the diagonal cone_slack, cone_weight: of p ≤ κ t^a
    q^{1−a} and then of p ≤ ρq, outputs × (all of these) rows, kept: multipliers of the rows' sums and of the marginal
    mean: the multiplier of the mean (one number), those of E[Y|x] = x (n numbers), or none ends: u and l, m × 2; over,
    under: the multipliers of u ≥ K and of K ≥ l
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


# Where the interior point starts: the same row for every input, which loses nothing and so is strictly inside.


def start(setting: Setting) -> Point:
    """The same row for every input, half the mass and half level, and multipliers on the central path."""
    program, allowed, k = setting.program, setting.allowed, setting.orders
    m, n = allowed.shape
    level = np.full(m, 1.0 / m)
    if program.keep == "marginal":
        level = program.pooled.copy()
    elif m == n:
        level = 0.5 * level + 0.5 * program.pooled
    channel = np.where(allowed, level[:, None], 0.0)
    target = 1.0 / allowed.sum()
    ends = np.zeros((m, 2))
    over = under = np.zeros((m, n))
    if program.radius is not None:
        tall = np.maximum(level, 1e-12)
        margin = 0.01 * tall * _slimmest(setting)
        ends = np.stack([tall + margin, channel.min(axis=1) - margin], axis=1)
    p, q = setting.sides(channel, ends)
    # Where all rows are alike, t = q(1 + 1/C)/2 leaves room in the cone and in the sum of the t.
    parts = 0.5 * q[:, :k] * (1.0 + np.exp(-program.log_budget)) if k else np.zeros((m, 0))
    parts = np.where(setting.live[:, :k], parts, 0.0)
    room = setting.room(channel, parts, ends)
    cone_slack = np.where(setting.live, np.maximum(room, 1e-3 * np.minimum(p, q)), 1.0)
    slack = np.full(k + (program.diagonal is not None), 0.1)
    if k:
        slack[:k] = np.maximum(1.0 - setting.margin - parts.sum(axis=0), 1e-6)
    # Multipliers that meet the dual conditions exactly: the same for every output, because all rows are alike.
    cone_weight = np.where(setting.live, target * m / cone_slack.sum(axis=0), 0.0)
    ratio = setting.ratio(q, parts)
    pull = setting.power[:k] * (ratio * q * cone_weight)[:, :k] / np.maximum(parts, 1e-300)
    weight = np.full(slack.size, target / 0.1)
    weight[:k] = pull.max(axis=0, initial=0.0)
    slope_q = -(1.0 - setting.power) * ratio * cone_weight
    pressure = cone_weight @ program.reach[setting.left] - slope_q @ program.reach[setting.right]
    if program.radius is not None:
        over = under = np.repeat(pressure[:, None] / n, n, axis=1)
    dual = setting.cost + cone_weight @ program.shares[setting.left] + slope_q @ program.shares[setting.right]
    if program.diagonal is not None:
        dual = dual - weight[-1] * np.diag(program.pooled)
    least = np.where(allowed, dual, np.inf).min(axis=0)
    rows = least - np.maximum(np.where(allowed, dual - least, 0.0).mean(axis=0), target / channel.max())
    return Point(
        channel=channel,
        reduced=np.where(allowed, dual - rows, 0.0),
        parts=parts,
        slack=slack,
        weight=weight,
        cone_slack=cone_slack,
        cone_weight=cone_weight,
        rows=rows,
        kept=np.zeros(m if program.keep == "marginal" else 0),
        mean=np.zeros(n if program.unbiased else 1 if program.keep == "mean" else 0),
        ends=ends,
        over=over,
        under=under,
    )


def _slimmest(setting: Setting) -> float:
    """How much of q is left at the least, next to the spread of a column that has forbidden entries."""
    program = setting.program
    held = setting.allowed.astype(np.float64) @ program.shares.T - program.reach
    whole = np.asarray(setting.allowed.all(axis=1))
    left = np.where(whole[:, None], 1.0, held)[:, program.right]
    return float(np.clip(left[left > 0].min(initial=1.0), 1e-6, 1.0))
