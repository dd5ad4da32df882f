"""Bounded odds with a margin for what rows leave open: a second-order cone program, in the structure of the channel.

For every output y and pair (i, j) it asks for p_i(y) + z·√(Var p_i(y) + ρ² Var p_j(y)) ≤ ρ p_j(y), with the variances
of the published probabilities in the posterior of the laws. A primal-dual interior point with Nesterov's and Todd's
scaling solves it. Nothing here is trusted: fresh draws judge the channel that comes out (proofs/population.md).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu._work import detail
from takifugu.mechanisms.optimal.program import Mask, Program

_STEPS = 60
GAP = 2e-3  # over the cost, below which a margin that is fitted to a few percent needs no more digits
_LEAST_SHRINK = 1e-6
_REACH = 0.98  # of the way to the boundary
_IDLE, _PATIENCE = 1e-3, 4  # steps that are next to none, and how many of them end it
_SMALLEST = 1e-300
_REFINED = 3
_SPANNED = 1e-9


@dataclass(frozen=True, eq=False)
class Margined:
    """A program of bounded odds, and how far what is published under each law may be off.

    spread: laws × inputs; the variance of Σ k(x) p(x) in the posterior of a law p is Σ d k² − (Σ d k)²/Σ d for its d
    """

    program: Program
    spread: Array

    def narrowed(self, outputs: Mask) -> "Margined":
        """The same with these outputs alone."""
        program = self.program
        if outputs.all():
            return self
        numbers = None if program.outputs is None else program.outputs[outputs]
        return Margined(replace(program, loss=program.loss[:, outputs], outputs=numbers), self.spread)

    @cached_property
    def lean(self) -> Array:
        """ρ p_j − p_i for every constraint, over the inputs."""
        shares = self.program.shares
        found: Array = self.program.factor * shares[self.program.right] - shares[self.program.left]
        return found

    @cached_property
    def weights(self) -> Array:
        """The variances' diagonal for every constraint: d_i + ρ² d_j."""
        found: Array = self.spread[self.program.left] + self.program.factor**2 * self.spread[self.program.right]
        return found

    @cached_property
    def basis(self) -> Array:
        """Orthonormal rows that span the laws and their spreads: what is not diagonal in the variances lies there."""
        rows = np.concatenate([self.program.shares, self.spread])
        rows = rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))
        _, sizes, found = np.linalg.svd(rows, full_matrices=False)
        return np.asarray(found[sizes > _SPANNED * sizes[0]])

    @cached_property
    def curvature(self) -> tuple[Array, Array]:
        """lean leanᵀ, and d_i d_iᵀ/Σd_i + ρ² d_j d_jᵀ/Σd_j, in the basis, for every constraint."""
        lean, spread = self.lean @ self.basis.T, self.spread @ self.basis.T
        spread = spread / np.sqrt(self.spread.sum(axis=1, keepdims=True))
        one, other = spread[self.program.left], self.program.factor * spread[self.program.right]
        squares = [side[:, :, None] * side[:, None, :] for side in (lean, one, other)]
        return squares[0], squares[1] + squares[2]


class Cones(NamedTuple):
    """A vector of second-order cones, constraints × outputs: the first entries, and the rest over the inputs."""

    head: Array
    rest: Array

    def plus(self, size: float, other: "Cones") -> "Cones":
        """So far along another."""
        return Cones(self.head + size * other.head, self.rest + size * other.rest)

    def inner(self, other: "Cones") -> Array:
        """The inner product, cone by cone."""
        return np.asarray(self.head * other.head + _dot(self.rest, other.rest))

    def determinant(self) -> Array:
        """t² − ‖v‖², without cancelling more than it must."""
        size = np.sqrt(_dot(self.rest, self.rest))
        return np.asarray((self.head - size) * (self.head + size))

    def longest(self, step: "Cones", *, most: float = 1.0) -> float:
        """How far one may go before a cone is left, `most` at the most."""
        size = np.sqrt(_dot(self.rest, self.rest))
        inside = (self.head - size) * (self.head + size)
        a = step.head**2 - _dot(step.rest, step.rest)
        b = self.head * step.head - _dot(self.rest, step.rest)
        under = b * b - a * inside
        below = np.where(under >= 0, -b + np.sqrt(np.maximum(under, 0.0)), 0.0)
        reach = np.where(below > 0, inside / np.maximum(below, _SMALLEST), math.inf)
        return float(reach.min(initial=most))


def _dot(left: Array, right: Array) -> Array:
    return np.asarray(np.einsum("cyx,cyx->cy", left, right))


@dataclass(frozen=True, eq=False)
class _Roots:
    """The map from a channel to its cones and back: k ↦ (lean·k, z·Q^½ k), Q the variances of each constraint."""

    margined: Margined
    factor: Array

    @cached_property
    def scales(self) -> Array:
        """√ of the diagonal, constraints × inputs."""
        return np.sqrt(self.margined.weights)

    @cached_property
    def dents(self) -> list[tuple[Array, Array]]:
        """Q = D½ (1 − EEᵀ) D½ for D the diagonal: orthonormal columns of E, and 1 − √(1 − σ²) of each."""
        found, totals = [], self.margined.spread.sum(axis=1)
        program = self.margined.program
        for c, (i, j) in enumerate(program.constraints):
            sides = np.stack(
                [
                    self.margined.spread[i] / math.sqrt(totals[i]),
                    program.factor * self.margined.spread[j] / math.sqrt(totals[j]),
                ],
                axis=1,
            )
            scale = self.scales[c][:, None]
            inside = np.divide(sides, scale, out=np.zeros_like(sides), where=scale > 0)
            left, sizes, _ = np.linalg.svd(inside, full_matrices=False)
            found.append((left, 1.0 - np.sqrt(np.maximum(1.0 - sizes**2, 0.0))))
        return found

    def bent(self, rest: Array) -> Array:
        """(1 − EEᵀ)^½ times every row."""
        out = np.empty_like(rest)
        for c, (left, sizes) in enumerate(self.dents):
            out[c] = rest[c] - ((rest[c] @ left) * sizes) @ left.T
        return out

    def of(self, channel: Array) -> Cones:
        """Of a channel as outputs × inputs."""
        rest = self.factor[:, :, None] * self.bent(channel[None] * self.scales[:, None, :])
        return Cones((channel @ self.margined.lean.T).T, rest)

    def back(self, cones: Cones) -> Array:
        """The transpose: summed over constraints, outputs × inputs."""
        bent = self.factor[:, :, None] * self.bent(cones.rest)
        return np.asarray(cones.head.T @ self.margined.lean + np.einsum("cyx,cx->yx", bent, self.scales))


@dataclass(frozen=True, eq=False)
class _Scaling:
    """Nesterov's and Todd's: W with W z = W⁻¹ s = λ, W = η(2ww' − J)^½ in each cone."""

    point: Cones
    size: Array
    scaled: Cones

    @classmethod
    def of(cls, s: Cones, z: Cones) -> "_Scaling":
        """From a primal and a dual point inside of the cones."""
        inside, other = np.sqrt(s.determinant()), np.sqrt(z.determinant())
        a, b = 1 / inside, 1 / other
        gamma = np.sqrt(np.maximum((1 + s.inner(z) * a * b) / 2, 1.0))
        head = (s.head * a + z.head * b) / (2 * gamma)
        rest = (s.rest * (a / (2 * gamma))[:, :, None]) - z.rest * (b / (2 * gamma))[:, :, None]
        # w has a determinant of one; rounding must not take it from the head.
        head = np.maximum(head, np.sqrt(1 + _dot(rest, rest)))
        size = np.sqrt(inside / other)
        made = cls(Cones(head, rest), size, s)
        return cls(made.point, size, made.times(z))

    def times(self, cones: Cones) -> Cones:
        """W times."""
        along = _dot(self.point.rest, cones.rest)
        head = self.point.head * cones.head + along
        share = cones.head + along / (1 + self.point.head)
        return Cones(self.size * head, self.size[:, :, None] * (cones.rest + share[:, :, None] * self.point.rest))

    def over(self, cones: Cones) -> Cones:
        """W⁻¹ times."""
        along = _dot(self.point.rest, cones.rest)
        head = self.point.head * cones.head - along
        share = along / (1 + self.point.head) - cones.head
        size = 1 / self.size
        return Cones(size * head, size[:, :, None] * (cones.rest + share[:, :, None] * self.point.rest))

    def twice_over(self, cones: Cones) -> Cones:
        """W⁻² times."""
        along = 2 * (self.point.head * cones.head - _dot(self.point.rest, cones.rest))
        size = 1 / self.size**2
        head = size * (along * self.point.head - cones.head)
        return Cones(head, size[:, :, None] * (cones.rest - along[:, :, None] * self.point.rest))


def _product(left: Cones, right: Cones) -> Cones:
    """Jordan's product."""
    rest = left.head[:, :, None] * right.rest + right.head[:, :, None] * left.rest
    return Cones(left.inner(right), rest)


def _quotient(of: Cones, by: Cones) -> Cones:
    """What times `by` is `of`."""
    head = (by.head * of.head - _dot(by.rest, of.rest)) / by.determinant()
    return Cones(head, (of.rest - head[:, :, None] * by.rest) / by.head[:, :, None])


@dataclass(frozen=True, eq=False)
class _Wishes:
    """The equalities of a channel: rows that sum to one, and what is kept of the shares or the mean."""

    program: Program

    @property
    def keeps_shares(self) -> bool:
        """Whether every output's share is kept."""
        return self.program.keep == "marginal"

    @property
    def keeps_mean(self) -> bool:
        """Whether the mean is."""
        return self.program.keep == "mean" and self.program.outputs is not None

    def missed(self, channel: Array) -> "_Prices":
        """By how much a channel, outputs × inputs, misses them."""
        program, pooled = self.program, self.program.pooled
        shares = channel @ pooled
        mean = 0.0
        if self.keeps_mean and program.outputs is not None and program.inputs is not None:
            mean = float(pooled @ program.inputs - shares @ program.outputs)
        return _Prices(1.0 - channel.sum(axis=0), pooled - shares if self.keeps_shares else np.zeros(len(shares)), mean)

    def back(self, prices: "_Prices") -> Array:
        """The transpose: what prices of the equalities make every entry cost."""
        found = np.broadcast_to(prices.rows, self.program.size[::-1])
        if self.keeps_shares:
            found = found + prices.shares[:, None] * self.program.pooled
        if self.keeps_mean and self.program.outputs is not None:
            found = found + (prices.mean * self.program.outputs)[:, None] * self.program.pooled
        return np.asarray(found)


class _Prices(NamedTuple):
    """A number for each row of a channel, for each output's share, and for the mean."""

    rows: Array
    shares: Array
    mean: float

    def plus(self, size: float, other: "_Prices") -> "_Prices":
        """So far along others."""
        return _Prices(self.rows + size * other.rows, self.shares + size * other.shares, self.mean + size * other.mean)


class _Point(NamedTuple):
    """A channel, the multipliers of its entries, its cones, theirs, and the prices of the wishes; or a step of all."""

    channel: Array
    linear: Array
    s: Cones
    z: Cones
    prices: _Prices

    @property
    def degree(self) -> int:
        """How many products are to become equal."""
        return self.channel.size + self.s.head.size

    @property
    def complementary(self) -> float:
        """What they sum to: the gap, where nothing is missed."""
        return float((self.linear * self.channel).sum() + self.s.inner(self.z).sum())

    def moved(self, primal: float, dual: float, step: "_Point") -> "_Point":
        """So far along a step, the channel and its multipliers each by a size of their own."""
        return _Point(
            self.channel + primal * step.channel,
            self.linear + dual * step.linear,
            self.s.plus(primal, step.s),
            self.z.plus(dual, step.z),
            self.prices.plus(dual, step.prices),
        )

    def longest(self, step: "_Point", *, most: float) -> tuple[float, float]:
        """How far the channel, and how far the multipliers, may go along a step."""
        primal = 1 / max(float((-step.channel / self.channel).max()), 1 / most)
        dual = 1 / max(float((-step.linear / self.linear).max()), 1 / most)
        return self.s.longest(step.s, most=primal), self.z.longest(step.z, most=dual)


class _Newton:
    """The reduced equations H dk + Aᵀ dy = r, A dk = m; H is a diagonal and a few directions for each output."""

    def __init__(self, margined: Margined, wishes: _Wishes, roots: _Roots, at: _Point) -> None:
        """Factored at a point."""
        self.wishes, self.roots, self.program = wishes, roots, margined.program
        self.scaling = scaling = _Scaling.of(at.s, at.z)
        inverse = 1 / scaling.size**2
        point = scaling.point
        # Fᵀ J w: the one direction of each cone that changes with the point.
        lead = point.head[:, :, None] * margined.lean[:, None, :]
        lead -= roots.factor[:, :, None] * roots.bent(point.rest) * roots.scales[:, None, :]
        count, outputs, inputs = lead.shape
        varied = inverse * roots.factor**2
        self.diagonal = at.linear / at.channel + varied.T @ margined.weights
        # H = diagonal + Uᵀ T U, U the leads of an output and the basis.
        fixed = margined.basis
        rank = count + len(fixed)
        self.sides = np.empty((outputs, rank, inputs))
        self.sides[:, :count] = (lead * np.sqrt(2 * inverse)[:, :, None]).transpose(1, 0, 2)
        self.sides[:, count:] = fixed
        middle = np.zeros((outputs, rank, rank))
        middle[:, np.arange(count), np.arange(count)] = 1.0
        middle[:, count:, count:] = -np.tensordot(inverse.T, margined.curvature[0], 1)
        middle[:, count:, count:] -= np.tensordot(varied.T, margined.curvature[1], 1)
        self.middle = middle
        self.thin = self.sides / self.diagonal[:, None, :]
        gram = self.thin @ self.sides.transpose(0, 2, 1)
        core = np.linalg.solve(np.eye(rank) + gram @ middle, np.eye(rank))
        core = middle @ core
        self.core = 0.5 * (core + core.transpose(0, 2, 1))
        self._couple()

    def _over(self, right: Array) -> Array:
        """H⁻¹ times what is given for every output."""
        along = np.einsum("yrx,yx->yr", self.thin, right)
        return np.asarray(
            right / self.diagonal - np.einsum("yrx,yr->yx", self.thin, np.einsum("yab,yb->ya", self.core, along))
        )

    def _times(self, step: Array) -> Array:
        along = np.einsum("yrx,yx->yr", self.sides, step)
        return np.asarray(
            self.diagonal * step + np.einsum("yrx,yr->yx", self.sides, np.einsum("yab,yb->ya", self.middle, along))
        )

    def _couple(self) -> None:
        """What the rows that sum to one make of all outputs: equations as many as there are inputs."""
        outputs, rank, inputs = self.thin.shape
        if not self.wishes.keeps_shares and outputs * rank < inputs:
            self.rows_of = _few_outputs(self.thin, self.core, (1 / self.diagonal).sum(axis=0))
        else:
            self.rows_of = self._many_outputs()
        pooled = self.program.pooled
        if self.wishes.keeps_mean and self.program.outputs is not None:
            self.mean = self._inside(self.program.outputs[:, None] * pooled, _nothing(self.program))[0]
            self.of_mean = float(self.program.outputs @ (self.mean @ pooled))

    def _many_outputs(self) -> Callable[[Array], Array]:
        """The equations' inverse, by a matrix of inputs × inputs."""
        from scipy.linalg import cho_factor, cho_solve

        outputs, rank, inputs = self.thin.shape
        bent = (self.core @ self.thin).reshape(outputs * rank, inputs)
        whole = -(self.thin.reshape(outputs * rank, inputs).T @ bent)
        whole[np.diag_indices(inputs)] += (1 / self.diagonal).sum(axis=0)
        pooled = self.program.pooled
        if self.wishes.keeps_shares:
            self.kept = self._over(np.broadcast_to(pooled, (outputs, inputs)))
            self.worth = self.kept @ pooled
            whole -= (self.kept / self.worth[:, None]).T @ self.kept
            # One of the equations follows from the others.
            whole += np.outer(pooled, pooled) * (np.trace(whole) / max(float(pooled @ pooled), _SMALLEST))
        factored = cho_factor(0.5 * (whole + whole.T), lower=True, check_finite=True)
        return lambda right: np.asarray(cho_solve(factored, right, check_finite=False))

    def _inside(self, right: Array, missed: _Prices) -> tuple[Array, _Prices]:
        """A step and its prices without a thought of the mean."""
        step = self._over(right)
        shares = np.zeros(len(step))
        if self.wishes.keeps_shares:
            shares = (step @ self.program.pooled - missed.shares) / self.worth
            step = step - shares[:, None] * self.kept
        rows = self.rows_of(step.sum(axis=0) - missed.rows)
        back = self._over(np.broadcast_to(rows, step.shape))
        if self.wishes.keeps_shares:
            more = -(back @ self.program.pooled) / self.worth
            back = back + more[:, None] * self.kept
            shares = shares + more
        return step - back, _Prices(rows, shares, 0.0)

    def _once(self, right: Array, missed: _Prices) -> tuple[Array, _Prices]:
        step, prices = self._inside(right, missed)
        if self.wishes.keeps_mean and self.program.outputs is not None:
            mean = (float(self.program.outputs @ (step @ self.program.pooled)) - missed.mean) / self.of_mean
            step, prices = self._inside(right - (mean * self.program.outputs)[:, None] * self.program.pooled, missed)
            prices = prices._replace(mean=mean)
        return step, prices

    def solve(self, right: Array, missed: _Prices) -> tuple[Array, _Prices]:
        """dk and dy, once refined."""
        step, prices = self._once(right, missed)
        size = math.inf
        for _ in range(_REFINED):
            rest = right - self._times(step) - self.wishes.back(prices)
            off = float(np.abs(rest).sum())
            if not off < 0.5 * size:
                break
            size = off
            more, extra = self._once(rest, _less(missed, self._of(step)))
            step, prices = step + more, prices.plus(1.0, extra)
        return step, prices

    def _of(self, step: Array) -> _Prices:
        """A dk: what a step does to the equalities."""
        none = self.wishes.missed(np.zeros_like(step))
        return _less(none, self.wishes.missed(step))


def _few_outputs(thin: Array, core: Array, diagonal: Array) -> Callable[[Array], Array]:
    """The inverse of a diagonal less Σ thinᵀ core thin, where there are fewer of these rows than inputs.

    With R the rows over the root of the diagonal and C the cores: D^-½ (1 + Rᵀ (1 − C R Rᵀ)⁻¹ C R) D^-½.
    """
    from scipy.linalg import lu_factor, lu_solve

    outputs, rank, inputs = thin.shape
    root = np.sqrt(diagonal)
    rows = (thin / root).reshape(outputs * rank, inputs)
    inner = core @ (rows @ rows.T).reshape(outputs, rank, outputs * rank)
    factored = lu_factor(np.eye(outputs * rank) - inner.reshape(outputs * rank, -1), check_finite=True)

    def over(right: Array) -> Array:
        along = (core @ (rows @ (right / root)).reshape(outputs, rank, 1)).ravel()
        return np.asarray((right / root + rows.T @ lu_solve(factored, along, check_finite=False)) / root)

    return over


def _less(one: _Prices, other: _Prices) -> _Prices:
    return one.plus(-1.0, other)


def _nothing(program: Program) -> _Prices:
    return _Prices(np.zeros(program.size[0]), np.zeros(program.size[1]), 0.0)


class Solved(NamedTuple):
    """A channel, inputs × outputs, what it costs, how far that is above the best at most, and the steps.

    worth: what a deviation more would cost at each constraint and output, in units of the largest loss
    """

    matrix: Array
    value: float
    gap: float
    steps: int
    worth: Array


def with_margin(margined: Margined, factor: float | Array, *, goal: float = GAP) -> Solved | None:
    """The best channel with `factor` deviations in hand, constraints × outputs or the same for all; None if none is."""
    program = margined.program
    factor = np.broadcast_to(np.asarray(factor, dtype=np.float64), (len(program.constraints), program.size[1]))
    known = np.isfinite(margined.spread).all() and np.isfinite(factor).all() and (factor >= 0).all()
    if not (known and program.factor > 1 and (margined.spread.sum(axis=1) > 0).all()):
        return None
    roots, wishes = _Roots(margined, factor), _Wishes(program)
    cost = np.ascontiguousarray(program.cost.T)
    scale = max(float(cost.max()), _SMALLEST)
    cost = cost / scale
    with np.errstate(all="ignore"):
        found = _solve(margined, wishes, roots, cost, goal)
    if found is None:
        return None
    channel, gap, steps, worth = found
    matrix = np.where(channel > 0, channel, 0.0).T
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    return Solved(matrix, program.value(matrix), gap, steps, worth) if np.isfinite(matrix).all() else None


def _solve(
    margined: Margined, wishes: _Wishes, roots: _Roots, cost: Array, goal: float
) -> tuple[Array, float, int, Array] | None:
    program = margined.program
    inputs, outputs = program.size
    # A row that all inputs share gives nothing away, whatever the rows leave open: strictly inside, and as wished.
    row = program.pooled if wishes.keeps_shares else np.full(outputs, 1 / outputs)
    channel = np.repeat((row / row.sum())[:, None], inputs, axis=1)
    s = roots.of(channel)
    mu = float(cost.max()) / outputs
    inside = s.determinant()
    z = Cones(mu * s.head / inside, -mu * s.rest / inside[:, :, None])
    prices = _nothing(program)
    linear = mu / channel
    if not wishes.keeps_shares:
        slack = cost - roots.back(z)
        prices = prices._replace(rows=np.maximum(mu * outputs - slack.min(axis=0), 0.0))
        linear = slack + prices.rows
    at, best, idle = _Point(channel, linear, s, z, prices), None, 0
    for step in range(1, _STEPS + 1):
        residual = cost + wishes.back(at.prices) - at.linear - roots.back(at.z)
        gap = at.complementary + float(np.abs(residual * at.channel).sum())
        gap /= max(float((cost * at.channel).sum()), _SMALLEST)
        if not math.isfinite(gap):
            break
        if best is None or gap < best[1]:
            # The multiplier of a cone times its head is what its norm costs.
            best = at.channel, gap, step, at.z.head * at.s.head
        detail(f"step {step} of the solver, within {max(best[1], 0.0):.2g} of the best")
        if gap <= goal or idle >= _PATIENCE:
            break
        try:
            newton = _Newton(margined, wishes, roots, at)
        except (np.linalg.LinAlgError, ValueError):  # what overflowed, or is singular to a float
            break
        ahead = _step(newton, at, residual, 0.0)
        after = at.moved(*at.longest(ahead, most=1.0), ahead).complementary / at.complementary
        shrink = max(min(1.0, max(after, 0.0)) ** 3, _LEAST_SHRINK)
        full = _step(newton, at, residual, shrink * at.complementary / at.degree, ahead)
        primal, dual = (min(1.0, _REACH * far) for far in at.longest(full, most=1 / _REACH))
        if not (primal > 0 and dual > 0):
            break
        idle = idle + 1 if max(primal, dual) < _IDLE else 0
        at = at.moved(primal, dual, full)
    return best


def _step(newton: _Newton, at: _Point, residual: Array, target: float, ahead: _Point | None = None) -> _Point:
    """A step towards complementarity of `target` in every entry and cone, by the way that `ahead` bends."""
    scaling, roots = newton.scaling, newton.roots
    wanted = target - at.channel * at.linear
    scaled = scaling.scaled
    square = _product(scaled, scaled)
    head, rest = target - square.head, -square.rest
    if ahead is not None:
        wanted = wanted - ahead.channel * ahead.linear
        bend = _product(scaling.over(ahead.s), scaling.times(ahead.z))
        head, rest = head - bend.head, rest - bend.rest
    pushed = scaling.over(_quotient(Cones(head, rest), scaled))
    right = -residual + wanted / at.channel + roots.back(pushed)
    step, prices = newton.solve(right, newton.wishes.missed(at.channel))
    s = roots.of(step)
    z = pushed.plus(-1.0, scaling.twice_over(s))
    return _Point(step, (wanted - at.linear * step) / at.channel, s, z, prices)
