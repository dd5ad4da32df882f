"""One Newton step of the interior point: the conditions of optimality, linearised and solved.

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


# The Newton system of the interior point, solved output by output.
#
# Each output's column of the channel enters the promise through the few numbers p_s(y) = Σ_x P_s(x) K(y|x). So the
# Hessian of a column is a diagonal plus a matrix of low rank, and what ties the columns together, rows that sum to
# one and a handful of constraints, is a Schur complement of that size. Arrays run outputs × inputs.


@dataclass(frozen=True)
class Spread:
    """The barrier's weights that tie K(y|x) to u(y) ≥ K(y|x) ≥ l(y), each m × n, and the rest of the diagonal.

    fixed: m × 2, the sums of the weights of entries that are held at zero
    """

    upper: Array
    lower: Array
    rest: Array
    fixed: Array

    def inverse(self, diagonal: Array) -> Array:
        """The inverse of the 2 × 2 blocks of u and l once K is eliminated; `diagonal` is that of K, inverted."""
        both = (self.upper * self.lower * diagonal).sum(axis=1)
        # ΣE − ΣE²/D, written as ΣE(D − E)/D, and the determinant without a difference: late in the iteration
        # D and E agree in nearly all digits.
        a = self.fixed[:, 0] + (self.upper * self.rest * diagonal).sum(axis=1)
        b = self.fixed[:, 1] + (self.lower * self.rest * diagonal).sum(axis=1)
        determinant = a * b + (a + b) * both
        blocks = np.array([[b + both, both], [both, a + both]]) / determinant
        return np.ascontiguousarray(np.moveaxis(blocks, 2, 0))


class Columns:
    """The Hessian blocks of all columns, inverted: a diagonal (with the ends u and l, if any) plus YᵀY.

    inverse: m × n, the inverse of the whole diagonal; zero where a move is forbidden factors: Y, m × k × n;
    factor_ends: its components for u and l, m × k × 2 kept: the shares m(x) where Σ_x m(x) dK(y|x) is prescribed,
    output by output; None otherwise
    """

    def __init__(
        self, inverse: Array, factors: Array, factor_ends: Array, *, spread: Spread | None, kept: Array | None
    ) -> None:
        """Factor the blocks."""
        self.inverse, self.spread, self.kept = inverse, spread, kept
        self.ends = spread.inverse(inverse) if spread is not None else None
        moved, moved_ends = self._bare(factors, factor_ends)
        small = moved @ np.swapaxes(factors, 1, 2) + moved_ends @ np.swapaxes(factor_ends, 1, 2)
        small = (small + np.swapaxes(small, 1, 2)) / 2 + np.eye(factors.shape[1])
        # Woodbury in symmetric form, (B + YᵀY)⁻¹ = B⁻¹ − QᵀQ: the product M(I + WM)⁻¹ loses all digits
        # where W and M are large in different directions, which is how this iteration ends.
        root = np.linalg.inv(np.linalg.cholesky(small))
        self.lost, self.lost_ends = root @ moved, root @ moved_ends
        if kept is not None:
            ones = np.ascontiguousarray(np.broadcast_to(kept, inverse.shape))[:, None, :]
            self.pull, self.pull_ends = self._unkept(ones, np.zeros((len(inverse), 1, 2)))
            self.stiffness = np.maximum(self.pull[:, 0] @ kept, 1e-300)

    def _bare(self, right: Array, ends: Array) -> tuple[Array, Array]:
        """The inverse of the blocks without YᵀY, applied to m × g × n (and m × g × 2) right-hand sides."""
        moved = self.inverse[:, None, :] * right
        if self.spread is None or self.ends is None:
            return moved, np.zeros_like(ends)
        up, low = self.spread.upper[:, None], self.spread.lower[:, None]
        pulled = ends + np.stack([(moved * up).sum(-1), (moved * low).sum(-1)], axis=-1)
        moved_ends = pulled @ self.ends
        moved = moved + self.inverse[:, None, :] * (up * moved_ends[..., :1] + low * moved_ends[..., 1:])
        return moved, moved_ends

    def _unkept(self, right: Array, ends: Array) -> tuple[Array, Array]:
        moved, moved_ends = self._bare(right, ends)
        share = right @ np.swapaxes(self.lost, 1, 2)
        if self.spread is None:
            return moved - share @ self.lost, moved_ends
        share = share + ends @ np.swapaxes(self.lost_ends, 1, 2)
        return moved - share @ self.lost, moved_ends - share @ self.lost_ends

    def solve(self, right: Array, ends: Array, kept: Array | None = None) -> tuple[Array, Array, Array]:
        """dK (m × g × n) and du, dl (m × g × 2), with Σ_x m(x) dK(y|x) = kept(y) (m × g, zero unless given).

        The third are the multipliers of what is kept, m × g; zero where nothing is.

        Args:
            right: the right-hand sides of the entries, m × g × n.
            ends: those of the largest and least entry of each output, m × g × 2.
            kept: those of the marginal, where it is preserved.

        Returns:
            The steps. A block is a diagonal plus a matrix of low rank, which Woodbury's identity inverts at the cost of
            the rank.
        """
        moved, moved_ends = self._unkept(right, ends)
        if self.kept is None:
            return moved, moved_ends, np.zeros(moved.shape[:2])
        pulled = (moved @ self.kept - (0.0 if kept is None else kept)) / self.stiffness[:, None]
        excess = pulled[..., None]
        return moved - excess * self.pull, moved_ends - excess * self.pull_ends, pulled

    def summed(self, weights: Array) -> Array:
        """Σ_y weights(y)·(the inverse of column y's block), n × n."""
        n = self.inverse.shape[1]
        total = -_gram(self.lost, weights)
        if self.spread is not None and self.ends is not None:
            sides = np.stack([self.spread.upper, self.spread.lower], axis=1) * self.inverse[:, None, :]
            total += _gram(np.swapaxes(np.linalg.cholesky(self.ends), 1, 2) @ sides, weights)
        if self.kept is not None:
            total -= _gram(self.pull, weights / self.stiffness)
        total[np.diag_indices(n)] += weights @ self.inverse
        return total


def _gram(rows: Array, weights: Array) -> Array:
    """Σ_y weights(y)·rows(y)ᵀrows(y); with weights of one sign, a product with its own transpose: half the work."""
    n = rows.shape[2]
    if (weights >= 0).all():
        scaled = (rows * np.sqrt(weights)[:, None, None]).reshape(-1, n)
        return np.asarray(scaled.T @ scaled)
    return np.asarray(rows.reshape(-1, n).T @ (rows * weights[:, None, None]).reshape(-1, n))


# The promise at a point, once t and the cones' slacks are eliminated: curvature and slopes in p and q.


class Cones:
    """For every output and cone p ≤ κ t^a q^{1−a}, what is left of it in the Newton system.

    With τ the slack, ζ its multiplier, ρ̂ = κ(t/q)^a and N = (1−a)τ + aρ̂q, eliminating t and τ leaves curvature of
    rank one along p − ρ̂q, a slope of t in p and in q, and what t gives to its sum (proofs/optimal.md). Written like
    this nothing cancels, and a = 0 is the case of bounded odds.
    """

    def __init__(self, setting: Setting, at: Point, wrong: Conditions) -> None:
        """Linearise at a point whose residuals are `wrong`."""
        self.setting, self.wrong = setting, wrong
        a, head = setting.power, slice(None, setting.orders)
        self.bulk = np.maximum((1.0 - a) * at.cone_slack + a * wrong.ratio * wrong.q, 1e-300)  # N
        self.size = np.where(setting.live, at.cone_weight * (1.0 - a) / self.bulk, 0.0)
        live, q = setting.live[:, head], np.maximum(wrong.q[:, head], 1e-300)
        bulk, tau, rho = self.bulk[:, head], at.cone_slack[:, head], wrong.ratio[:, head]
        self.slope_p = np.where(live, at.parts / bulk, 0.0)
        self.slope_q = np.where(live, -(1.0 - a[head]) * at.parts * (rho * q - tau) / (q * bulk), 0.0)
        stiff = at.cone_weight[:, head] * a[head] * rho * q * bulk
        self.give = np.where(live, at.parts**2 * tau / np.maximum(stiff, 1e-300), 0.0)

    def factors(self) -> tuple[Array, Array]:
        """Y with YᵀY the Hessian of the promise: a row for every cone, or fewer where the laws are fewer."""
        program, left, right = self.setting.program, self.setting.left, self.setting.right
        shares, reach, ratio = program.shares, program.reach, self.wrong.ratio
        m, count = self.size.shape
        r, n = shares.shape
        root = np.sqrt(self.size)
        few = min(r, n) + (program.radius is not None)
        if count <= few:
            rows = root[:, :, None] * (shares[left] - ratio[:, :, None] * shares[right])
            spread = root * (reach[left] + ratio * reach[right])
        else:
            across = np.zeros((m, count, r + 1))
            every = np.arange(count)
            across[:, every, left] += root
            across[:, every, right] -= root * ratio
            across[:, :, r] = root * (reach[left] + ratio * reach[right])
            if r > n:
                across = np.concatenate([across[:, :, :r] @ shares, across[:, :, r:]], axis=2)
            # An orthogonal factor in place of the sum of the cones' Hessians: square roots keep twice the digits.
            short: Array = np.linalg.qr(across, mode="r")  # type: ignore[assignment]
            rows, spread = (short[:, :, :r] @ shares if r <= n else short[:, :, :n]), short[:, :, -1]
        if program.radius is None:
            spread = np.zeros_like(spread)
        return rows, np.stack([spread, -spread], axis=2)


_REFINEMENTS = 2
_REFINED = 1e-12  # of the right-hand side: what is left to refine is rounding then
_TRACES = (1e-15, 1e-13, 1e-11, 1e-9, 1e-7)


@dataclass(frozen=True)
class Sides:
    """One right-hand side, or one solution, of the reduced system: what is left once slacks are eliminated.

    columns, ends: m × n and m × 2; as a solution dK and (du, dl) kept: m, or empty; as a solution the multipliers of
    the marginal rows, tilts: n and n (or empty); as a solution the multipliers of the rows' sums and of E[Y|x] = x
    totals: the global constraints and, at the end, the mean's
    """

    columns: Array
    ends: Array
    kept: Array
    rows: Array
    tilts: Array
    totals: Array

    def plus(self, other: "Sides", sign: float = 1.0) -> "Sides":
        """The sum, or with sign −1 the difference."""
        return Sides(*(a + sign * b for a, b in zip(self._all(), other._all(), strict=True)))

    def size(self) -> float:
        """The largest entry; not a number where one is none."""
        return max(float(np.abs(part).max(initial=0.0)) for part in self._all())

    def _all(self) -> tuple[Array, ...]:
        return self.columns, self.ends, self.kept, self.rows, self.tilts, self.totals


class _Flat:
    """An array m × g × n as a matrix, in the two arrangements that its sums need: as tensordot would at every call."""

    def __init__(self, array: Array) -> None:
        m, g, n = array.shape
        self.size = (m, n)
        self.wide = np.swapaxes(array, 0, 1).reshape(g, m * n)

    @cached_property
    def tall(self) -> Array:
        return np.ascontiguousarray(self.wide.T)

    def summed(self, other: Array) -> Array:
        """The sums over m and n of the products with an array m × n."""
        return np.asarray(self.wide @ other.ravel())

    def combined(self, weights: Array) -> Array:
        """The sum over g, weighted: m × n."""
        return np.asarray((self.tall @ weights).reshape(self.size))


class Short:
    """Σ_y (block of y)⁻¹ = D − RᵀR, inverted by the fewer equations that R has: outputs × laws, not inputs.

    With Z = R D^(−½), it is D^(½) (I − ZᵀZ) D^(½), whose inverse is in terms of (I − ZZᵀ)⁻¹ by Woodbury's identity.
    """

    def __init__(self, columns: Columns) -> None:
        """Factor I − ZZᵀ."""
        from scipy.linalg.lapack import dpotrf

        self.root = 1.0 / np.sqrt(np.maximum(columns.inverse.sum(axis=0), 1e-300))
        self.across = columns.lost.reshape(-1, len(self.root)) * self.root
        short = -(self.across @ self.across.T)
        if not np.isfinite(short).all():
            raise np.linalg.LinAlgError("the joint system is not finite")
        for trace in _TRACES:
            self.factored, failed = dpotrf(short + (1.0 + trace) * np.eye(len(short)), clean=False)
            if not failed:
                return
        raise np.linalg.LinAlgError("the joint system is not positive")

    def solved(self, demand: Array) -> Array:
        """The system solved, and once more for what rounding left.

        Args:
            demand: a number for each input.

        Returns:
            As many.
        """
        right = self.root * demand
        found = self._once(right)
        left = right - (found - self.across.T @ (self.across @ found))
        return np.asarray(self.root * (found + self._once(left)))

    def _once(self, right: Array) -> Array:
        from scipy.linalg.lapack import dpotrs

        within, _ = dpotrs(self.factored, self.across @ right)
        return np.asarray(right + self.across.T @ within)


class Newton:
    """The linearised conditions at a point, factored, for as many right-hand sides as one likes.

    The slacks, the cones' t and, output by output, the channel itself are eliminated; refinement compares with the
    system as it is defined, so that what elimination loses to rounding is won back.
    """

    def __init__(self, setting: Setting, at: Point, wrong: Conditions) -> None:
        """Factor the system at a point whose residuals are `wrong`."""
        self.setting, self.at, self.wrong = setting, at, wrong
        program, allowed = setting.program, setting.allowed
        self.cones = cones = Cones(setting, at, wrong)
        self.own = np.where(allowed, at.reduced / np.where(allowed, at.channel, 1.0), 0.0)
        self.spread = None
        self.diagonal = self.own
        if program.radius is not None:
            over, under = at.room
            above, below = at.over / over, at.under / under
            fixed = np.stack([np.where(allowed, 0.0, tight).sum(axis=1) for tight in (above, below)], axis=1)
            self.spread = Spread(np.where(allowed, above, 0.0), np.where(allowed, below, 0.0), self.own, fixed)
            self.diagonal = self.own + self.spread.upper + self.spread.lower
        inverse = np.where(allowed, 1.0 / np.where(allowed, self.diagonal, 1.0), 0.0)
        kept = program.pooled if program.keep == "marginal" else None
        self.columns = Columns(inverse, *cones.factors(), spread=self.spread, kept=kept)
        self._join()

    def _join(self) -> None:
        """The Schur complement of what ties the columns: rows, unbiasedness, and the few global constraints."""
        setting, program = self.setting, self.setting.program
        m = len(self.at.channel)
        k = setting.orders
        (of_p, of_q), (reach_p, reach_q) = setting.shares, setting.reach
        slopes = [self.cones.slope_p[:, :, None] * of_p[:k] + self.cones.slope_q[:, :, None] * of_q[:k]]
        pressure = self.cones.slope_p * reach_p[:k] - self.cones.slope_q * reach_q[:k]
        ends = [np.stack([pressure, -pressure], axis=2)]
        if program.diagonal is not None:
            slopes.append(-np.diag(program.pooled)[:, None, :])
        if program.keep == "mean" and not program.unbiased and program.outputs is not None:
            slopes.append((program.outputs[:, None] * program.pooled)[:, None, :])
        ends += [np.zeros((m, 1, 2))] * (len(slopes) - 1)
        self.slopes = np.where(setting.allowed[:, None, :], np.concatenate(slopes, axis=1), 0.0)
        self.slope_ends = np.concatenate(ends, axis=1)
        self.on_channel, self.on_ends = _Flat(self.slopes), _Flat(self.slope_ends)
        self.loose = np.zeros(self.slopes.shape[1])
        self.loose[: self.at.weight.size] = self.at.slack / self.at.weight
        self.loose[:k] += self.cones.give.sum(axis=0)
        self.short: Short | None = None
        is_plain = self.spread is None and program.keep is None and not self.loose.size and not program.unbiased
        if is_plain and self.columns.lost.shape[0] * self.columns.lost.shape[1] < len(program.mass):
            self.short, self.scale = Short(self.columns), np.ones(len(program.mass))
            return
        answer, answer_ends, _ = self.columns.solve(self.slopes, self.slope_ends)
        across = self.on_channel.wide @ _Flat(answer).wide.T + np.diag(self.loose)
        if self.spread is not None:
            across += self.on_ends.wide @ _Flat(answer_ends).wide.T
        beside = answer.sum(axis=0)
        block = [[self.columns.summed(np.ones(m)), beside.T], [beside, across]]
        if program.unbiased and program.outputs is not None:
            out = program.outputs
            tilted = np.tensordot(out, answer, axes=1)
            once, twice = self.columns.summed(out), self.columns.summed(out * out)
            block = [[block[0][0], once, beside.T], [once, twice, tilted.T], [beside, tilted, across]]
        self._factor(np.block(block))

    def _factor(self, matrix: Array) -> None:
        from scipy.linalg.lapack import dpotrf

        self.scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        self.joint = matrix * self.scale * self.scale[:, None]
        if not np.isfinite(self.joint).all():
            raise np.linalg.LinAlgError("the joint system is not finite")
        # Wishes may repeat one another (a marginal fixes the sum of the rows); a trace of regularisation decides.
        for trace in _TRACES:
            self.factored, failed = dpotrf(self.joint + trace * np.eye(len(matrix)), clean=False)
            if not failed:
                return
        raise np.linalg.LinAlgError("the joint system is not positive")

    def _joined(self, demand: Array) -> Array:
        """The Schur complement's system solved, and once more for what rounding left."""
        from scipy.linalg.lapack import dpotrs

        if self.short is not None:
            return self.short.solved(demand)
        found, _ = dpotrs(self.factored, demand)
        more, _ = dpotrs(self.factored, demand - self.joint @ found)
        return np.asarray(found + more)

    def _once(self, right: Sides) -> Sides:
        """The reduced system solved, up to the rounding errors of its elimination."""
        program = self.setting.program
        out = program.outputs
        kept = right.kept[:, None] if right.kept.size else None
        bare, bare_ends, _ = self.columns.solve(right.columns[:, None], right.ends[:, None], kept)
        totals = right.totals - self.on_channel.summed(bare)
        if self.spread is not None:
            totals = totals - self.on_ends.summed(bare_ends)
        rows = right.rows - bare[:, 0].sum(axis=0)
        tilts = right.tilts - out @ bare[:, 0] if program.unbiased and out is not None else right.tilts
        found = self._joined(np.concatenate([rows, tilts, totals]) * self.scale) * self.scale
        first, second = rows.size, rows.size + tilts.size
        d_rows, d_tilts, d_totals = found[:first], found[first:second], found[second:]
        columns = right.columns + d_rows + self.on_channel.combined(d_totals)
        if program.unbiased and out is not None:
            columns = columns + out[:, None] * d_tilts
        columns = np.where(self.setting.allowed, columns, 0.0)[:, None]
        ends = (right.ends + self.on_ends.combined(d_totals) if self.spread is not None else right.ends)[:, None]
        moved, moved_ends, pulled = self.columns.solve(columns, ends, kept)
        d_kept = pulled[:, 0] if kept is not None else right.kept
        return Sides(moved[:, 0], moved_ends[:, 0], d_kept, d_rows, -d_tilts, -d_totals)

    def _applied(self, x: Sides) -> Sides:
        """The reduced system applied to a solution, from its definition: what refinement compares with."""
        setting, program = self.setting, self.setting.program
        (of_p, of_q), reach = setting.shares, setting.reach
        d_p, d_q = setting.sides(x.columns, x.ends)
        bent = self.cones.size * (d_p - self.wrong.ratio * d_q)
        bent_q = -self.wrong.ratio * bent
        columns = self.diagonal * x.columns + bent @ of_p + bent_q @ of_q - x.rows
        columns = columns + self.on_channel.combined(x.totals)
        totals = self.on_channel.summed(x.columns) - self.loose * x.totals
        tilts, kept, ends = x.tilts, x.kept, np.zeros_like(x.ends)
        if kept.size:
            columns = columns + kept[:, None] * program.pooled
            kept = x.columns @ program.pooled
        if tilts.size and program.outputs is not None:
            columns = columns + program.outputs[:, None] * tilts
            tilts = program.outputs @ x.columns
        if self.spread is not None:
            up, low = self.spread.upper, self.spread.lower
            columns = columns - up * x.ends[:, :1] - low * x.ends[:, 1:]
            pressure = bent @ reach[0] - bent_q @ reach[1]
            above = (up * (x.ends[:, :1] - x.columns)).sum(axis=1) + self.spread.fixed[:, 0] * x.ends[:, 0]
            below = (low * (x.ends[:, 1:] - x.columns)).sum(axis=1) + self.spread.fixed[:, 1] * x.ends[:, 1]
            ends = np.stack([pressure + above, below - pressure], axis=1)
            ends = ends + self.on_ends.combined(x.totals)
            totals = totals + self.on_ends.summed(x.ends)
        columns = np.where(setting.allowed, columns, 0.0)
        return Sides(columns, ends, kept, x.columns.sum(axis=0), tilts, totals)

    def _solve(self, right: Sides) -> Sides:
        found, small = self._once(right), _REFINED * right.size()
        for _ in range(_REFINEMENTS):
            left = right.plus(self._applied(found), -1.0)
            if left.size() <= small:
                break
            found = found.plus(self._once(left))
        return found

    def step(self, target: float, earlier: Point | None = None) -> Point:
        """The step towards complementarity `target`; with an `earlier` step, its second-order terms are included."""
        setting, program, at, wrong = self.setting, self.setting.program, self.at, self.wrong
        cones, k = self.cones, setting.orders
        allowed, a, live = setting.allowed, setting.power, setting.live
        c_k = np.where(allowed, target, 0.0) - at.channel * at.reduced
        c_s = target - at.slack * at.weight
        c_c = np.where(live, target, 0.0) - at.cone_slack * at.cone_weight
        if earlier is not None:
            c_k = c_k - earlier.channel * earlier.reduced
            c_s = c_s - earlier.slack * earlier.weight
            c_c = c_c - earlier.cone_slack * earlier.cone_weight
        (of_p, of_q), reach = setting.shares, setting.reach
        pushed = np.where(live, c_c + at.cone_weight * wrong.cones, 0.0)
        on_p = -(1.0 - a) * pushed / cones.bulk
        on_q = -wrong.ratio * on_p
        on_p[:, :k] -= cones.slope_p * wrong.dual_parts
        on_q[:, :k] -= cones.slope_q * wrong.dual_parts
        safe = np.where(allowed, at.channel, 1.0)
        columns = -wrong.dual + c_k / safe + on_p @ of_p + on_q @ of_q
        ends = np.zeros_like(at.ends)
        if self.spread is not None:
            over, under = at.room
            c_a, c_b = target - over * at.over, target - under * at.under
            if earlier is not None:
                d_over, d_under = earlier.room
                c_a, c_b = c_a - d_over * earlier.over, c_b - d_under * earlier.under
            columns = columns - c_a / over + c_b / under
            pressure = on_p @ reach[0] - on_q @ reach[1]
            ends = (
                np.stack([pressure + (c_a / over).sum(1), -pressure - (c_b / under).sum(1)], axis=1) - wrong.dual_ends
            )
        weight = np.maximum(at.cone_weight[:, :k], 1e-300)
        parts = -wrong.dual_parts * cones.give + at.parts * pushed[:, :k] / (weight * cones.bulk[:, :k])
        parts = np.where(live[:, :k], parts, 0.0)  # dt, but for what p, q and λ move
        totals = -wrong.totals - c_s / at.weight
        totals[:k] -= parts.sum(axis=0)
        if self.slopes.shape[1] > totals.size:
            totals = np.append(totals, -wrong.mean)
        tilts = -wrong.mean if program.unbiased else np.zeros(0)
        rhs = Sides(np.where(allowed, columns, 0.0), ends, -wrong.kept, -wrong.rows, tilts, totals)
        x = self._solve(rhs)
        d_weight, d_k = x.totals[: at.weight.size], x.columns
        d_p, d_q = setting.sides(d_k, x.ends)
        d_parts = parts + cones.slope_p * d_p[:, :k] + cones.slope_q * d_q[:, :k] - cones.give * d_weight[:k]
        d_slack = (c_s - at.slack * d_weight) / at.weight
        # The slack's step comes from the cone's own linearisation, not from complementarity: so the residual shrinks.
        d_cone = wrong.ratio * (1.0 - a) * d_q - d_p - wrong.cones
        d_cone[:, :k] += a[:k] * (wrong.ratio * wrong.q)[:, :k] / np.maximum(at.parts, 1e-300) * d_parts
        d_cone = np.where(live, d_cone, 0.0)
        d_over = d_under = np.zeros_like(d_k)
        if self.spread is not None:
            d_over = (c_a - at.over * (x.ends[:, :1] - d_k)) / over
            d_under = (c_b - at.under * (d_k - x.ends[:, 1:])) / under
        return Point(
            channel=d_k,
            reduced=np.where(allowed, (c_k - at.reduced * d_k) / safe, 0.0),
            parts=d_parts,
            slack=d_slack,
            weight=d_weight,
            cone_slack=d_cone,
            cone_weight=(c_c - at.cone_weight * d_cone) / np.where(live, at.cone_slack, 1.0),
            rows=x.rows,
            kept=x.kept,
            mean=x.tilts if program.unbiased else x.totals[at.weight.size :],
            ends=x.ends,
            over=d_over,
            under=d_under,
        )
