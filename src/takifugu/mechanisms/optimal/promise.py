"""The promise as a smooth function of a channel: its values, slopes and curvatures, output by output."""

import math
from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.program import Program

_SMALLEST = 1e-300
_TOGETHER = 1 << 19  # outputs × constraints that are looked at together: a million pairs at once would be all memory


@dataclass(frozen=True)
class Sides:
    """p_i + t_i w and p_j − t_j w for every output and constraint (m × C), and their ratio."""

    p: Array
    q: Array
    ratio: Array


def sides(program: Program, matrix: Array, spread: Array | None = None, *, some: slice = slice(None)) -> Sides:
    """The two sides of every constraint, or of some, for a channel as outputs × inputs and a spread w(y) per output."""
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
        """G, m × C."""
        bent = self._power(at.ratio, self.alpha) - self.alpha * (at.ratio - 1.0) * self.scale
        return np.asarray(np.maximum(at.q, 0.0) * np.maximum(bent, 0.0))

    def slopes(self, ratio: Array) -> tuple[Array, Array]:
        """∂G/∂p and ∂G/∂q; both depend on the ratio alone."""
        return self.alpha * self._power(ratio, self.alpha - 1), -(self.alpha - 1) * self._power(ratio, self.alpha)

    def bend(self, at: Sides) -> Array:
        """The curvature along (1, −r): the Hessian of G is this times (1, −r)(1, −r)ᵀ, of rank one."""
        logs = (self.alpha - 2) * np.log(at.ratio) - self.log_scale
        factor = self.alpha * (self.alpha - 1) * np.exp(np.minimum(logs, 650.0))
        return np.asarray(np.where(np.minimum(at.p, at.q) > _SMALLEST, factor / np.maximum(at.q, _SMALLEST), 0.0))


def excesses(program: Program, matrix: Array) -> Array:
    """By how much, relatively, a channel (inputs × outputs) breaks each constraint in floats; infinite where by all."""
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
