"""The best channel for every law within bounds: a linear program, with the promise of finite order cut from outside.

Laws within bounds publish an output with at most p⁺ and at least q⁻, which are linear once a column of the channel is
written as a part that is paid for value by value and a part that is paid for by its rises and falls. The convex
p^α q^{1−α} is bounded from below by tangent planes, more of them where the last answer was. Nothing here is trusted:
what comes out is repaired and proved (proofs/bounds.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.channels import checked_counts
from takifugu.divergences import Counts, Masses
from takifugu.errors import InputError
from takifugu.laws import UNIT, Bounds, extremes, shares_of
from takifugu.mechanisms.optimal.finite_problem import Limits
from takifugu.mechanisms.optimal.linear_program import (
    Entries,
    Rows,
    add_diagonal,
    add_wishes,
    diagonal,
    highs,
    identity,
    kron,
    listed,
    picked,
)
from takifugu.mechanisms.optimal.program import Indices, Mask, Program

# A promise for every law within bounds, and so for the population's: looked at in floats, proved in whole numbers.
#
# For each output the law that publishes it most often, and the one that does least, are found exactly; no law within
# the bounds publishes more or less (proofs/bounds.md).


@dataclass(frozen=True, eq=False, kw_only=True)
class EveryLaw(Limits):
    """For each (i, j) in `pairs`: what any law within bounds i publishes is within the limits of any within bounds j.

    bounds: of each law; they say what laws it may be shares: a law within each of the bounds, for what is mixed in by a
    repair order: the inputs as the bounds have them (numbers ascend)
    """

    bounds: Sequence[Bounds]
    shares: Array
    order: Indices

    def __post_init__(self) -> None:
        """Refuse what promises nothing, or is about lists of different lengths."""
        size = len(self.bounds[0].lower) if self.bounds else 0
        if not self.pairs or {len(one.lower) for one in self.bounds} != {size}:
            raise InputError("a guarantee for every law needs a pair of bounds at least, all about the same values")
        if (
            max(map(max, self.pairs)) >= len(self.bounds)
            or not self.alpha > 1
            or not 0 < (self.epsilon or 0) < math.inf
        ):
            raise InputError("a guarantee for every law needs bounds for each of its pairs, alpha and epsilon")
        if self.shares.shape != (len(self.bounds), size) or sorted(self.order.tolist()) != list(range(size)):
            raise InputError("a guarantee for every law needs a law for each of the bounds, and each input once")

    def envelopes(self, matrix: Array) -> tuple[Array, Array]:
        """The most and the least that each output is published with, a row for each of the bounds, in floats."""
        rows = matrix[self.order]
        above, below = ((shares_of(laws) * rows.T).sum(axis=2) for laws in extremes(self.bounds, rows))
        return above, below

    def seems_kept(self, matrix: Array) -> bool:
        """Whether a channel keeps it as far as float64 can tell."""
        above, below = self.envelopes(matrix)
        first, second = np.array(self.pairs).T
        return self.seem_kept(above[first], below[second])

    def is_kept(self, counts: Counts) -> bool:
        """Whether a channel of whole numbers is proved to keep it."""
        counts = checked_counts(counts, len(self.bounds[0].lower), np.shape(counts)[-1])
        denominator, counts = int(counts[0].sum()) * UNIT, counts[self.order]
        named, weights = sorted({k for pair in self.pairs for k in pair}), counts.T.astype(object)
        above, below = (
            {
                k: Masses(tuple(int(x) for x in (law.astype(object) * weights).sum(axis=1)), denominator)
                for k, law in zip(named, laws, strict=True)
            }
            for laws in extremes([self.bounds[k] for k in named], counts)
        )
        return all(self.are_kept(above[i], below[j]) for i, j in self.pairs)


_MARGIN = 1e-9  # HiGHS may violate a row by 1e-10
_NOISE = 1e-9
_ROUNDS = 10
_CLOSE = 2e-3  # of the cost: the rounds end when mixing what is over the promise away costs no more than this
_PLANES = 15  # tangent planes to begin with, for each output and constraint
_REMEMBERED = 4  # planes for each output and constraint that are taken over from the promise before
_STEEPEST = 6.0  # logarithm of the largest ratio at which a plane touches
_UNSEEN = 1e-6  # the mass of a value that no row has, in the cost alone: it should not go just anywhere
_SIMPLEX = 500  # entries up to which the simplex method is faster than the interior point


def bounded(
    program: Program,
    promise: EveryLaw,
    allowed: Mask,
    *,
    seconds: float = 120.0,
    touching: list[Array] | None = None,
) -> Array | None:
    """A channel (inputs × outputs) that all but keeps the promise at nearly the least cost, or None.

    Who solves for one promise after another gives a list for the ratios at which planes `touching` the convex function
    were needed: they are true for all of them, and each then needs fewer rounds.
    """
    planned = _Plan(program, promise, [] if touching is None else touching)
    best: Array | None = None
    for _ in range(_ROUNDS):
        found = planned.solved(allowed, seconds)
        if found is None:
            return best
        best, share = found
        cost = program.value(best)
        same = np.repeat((program.pooled @ best)[None, :], len(best), axis=0)
        if share * (program.value(same) - cost) <= _CLOSE * cost or not program.bounds_divergence:
            break
    return best


class _Plan:
    """The rows of the program, to which planes are added round by round."""

    def __init__(self, program: Program, promise: EveryLaw, touching: list[Array]) -> None:
        """Everything but the planes that later rounds add."""
        n, m = program.size
        self.touching = touching
        self.program, self.promise, self.ordered = program, promise, _is_ordered(promise.bounds[0])
        laws, count = len(promise.bounds), len(program.constraints)
        steps = (n - 1) * m if self.ordered else 0
        self.widths = {
            "channel": n * m,
            "over": n * m,  # what of a column lies above its base, value by value,
            "under": 0 if self.ordered else n * m,  # and below it; of numbers, steps are cheaper
            "rise": steps,  # from the next value to this one, and the other way round
            "fall": steps,
            "base": 0 if self.ordered else m,
            "most": laws * m,  # p⁺ and q⁻
            "least": laws * m,
            "parts": count * m if program.bounds_divergence else 0,
        }
        self.left = (program.left[:, None] * m + np.arange(m)).ravel()
        self.right = (program.right[:, None] * m + np.arange(m)).ravel()
        self.equal, self.below = self._equalities(), self._inequalities()
        unseen = np.where(program.pooled > 0, 0.0, _UNSEEN)[:, None] * program.loss
        self.cost = (program.cost + unseen).ravel() / max(float(program.cost.max()), 1e-300)

    def solved(self, allowed: Mask, seconds: float) -> tuple[Array, float] | None:
        """The best channel for the planes so far, and the share of a constant row that would keep the promise."""
        n, m = self.program.size
        upper = np.full(sum(self.widths.values()), np.inf)
        upper[: n * m] = np.where(allowed, 1.0, 0.0).ravel()
        cost = np.zeros_like(upper)
        cost[: n * m] = self.cost
        simplex = n * m <= _SIMPLEX
        found = highs(
            cost,
            below=self.below,
            equal=self.equal,
            upper=upper,
            method="highs-ds" if simplex else "highs-ipm",
            seconds=seconds,
            is_long=not simplex,
            primal_feasibility_tolerance=1e-10,
            dual_feasibility_tolerance=1e-9,
            # What presolving takes out has to be put back, and a vertex found anew: once in a while that takes the
            # simplex method ten times as long as all of the interior point's steps.
            presolve=simplex,
        )
        if not found.is_found:
            return None
        matrix = np.clip(found.variables[: n * m].reshape(n, m), 0.0, 1.0)
        matrix[matrix < _NOISE] = 0.0
        share = self._add_planes_at(found.variables) if self.program.bounds_divergence else 0.0
        return matrix / matrix.sum(axis=1, keepdims=True), share

    def _equalities(self) -> Rows:
        program, promise, (n, m) = self.program, self.promise, self.program.size
        rows, eye, order, at = Rows(self.widths), identity(m), promise.order, np.arange(n)
        rows.add(np.ones(n), channel=kron(identity(n), listed(np.ones((1, m)))))
        add_wishes(program, rows)
        lower, upper, below, above = (
            np.array([shares_of(getattr(one, name)) for one in promise.bounds])
            for name in ("lower", "upper", "below", "above")
        )
        base: dict[str, Entries]
        if self.ordered:
            # H = K − over is the part that is paid for by its steps; where it ends is the base.
            each, moved = (kron(picked(to[:-1], n) + -picked(to[1:], n), eye) for to in (at, order))
            steps = identity((n - 1) * m)
            rows.add(np.zeros((n - 1) * m), channel=moved, over=-each, rise=-steps, fall=steps)
            base = {"channel": kron(picked(order[-1:], n), eye), "over": -kron(picked(at[-1:], n), eye)}
        else:
            each, everywhere = identity(n * m), kron(listed(np.ones((n, 1))), eye)
            rows.add(np.zeros(n * m), channel=kron(picked(order, n), eye), over=-each, under=each, base=-everywhere)
            base = {"base": eye}
        every_law = listed(np.ones((len(upper), 1)))
        for name, sides in (("most", (upper, lower, above, below)), ("least", (lower, upper, below, above))):
            parts = {key: kron(every_law, part) for key, part in base.items()}
            weights = {"over": sides[0]} | (
                {"rise": sides[2][:, :-1], "fall": -sides[3][:, :-1]} if self.ordered else {"under": -sides[1]}
            )
            for key, weight in weights.items():
                term = kron(listed(weight), eye)
                parts[key] = parts[key] + term if key in parts else term
            size = len(upper) * m
            rows.add(np.zeros(size), **parts, **{name: -identity(size)})
        return rows

    def _inequalities(self) -> Rows:
        program, (_, m) = self.program, self.program.size
        rows, count = Rows(self.widths), len(program.constraints)
        add_diagonal(program, rows)
        if program.factor < math.inf:
            factor = np.full(self.left.size, program.factor * (1.0 - _MARGIN))
            rows.add(np.zeros(self.left.size), **self._sides(np.ones_like(factor), -factor))
        if program.bounds_divergence:
            budget = math.exp(program.log_budget) * (1.0 - _MARGIN)
            rows.add(np.full(count, budget), parts=kron(identity(count), listed(np.ones((1, m)))))
            steepest = min(2 * program.epsilon + 0.5, _STEEPEST)
            for log in np.linspace(-steepest, steepest, _PLANES).tolist():
                self._add_planes(rows, np.full(self.left.size, math.exp(log)))
            for ratios in self.touching[-_REMEMBERED:]:
                self._add_planes(rows, ratios)
        return rows

    def _sides(self, first: Array, second: Array) -> dict[str, Entries]:
        """Coefficients of p⁺ of the first law and of q⁻ of the second, one row per output and constraint."""
        at = np.arange(first.size)
        return {
            name: Entries(at, places, factors, (first.size, self.widths[name]))
            for name, factors, places in (("most", first, self.left), ("least", second, self.right))
        }

    def _add_planes(self, rows: Rows, ratios: Array) -> None:
        """t ≥ αr^{α−1}p⁺ − (α−1)r^αq⁻, for every output and constraint at a ratio of its own."""
        alpha = self.program.alpha
        unit = np.maximum(ratios, 1.0) ** -alpha  # HiGHS wants rows of like size
        sides = self._sides(unit * alpha * ratios ** (alpha - 1), -unit * (alpha - 1) * ratios**alpha)
        rows.add(np.zeros(ratios.size), **sides, parts=-diagonal(unit))

    def _add_planes_at(self, answer: Array) -> float:
        """Planes at the ratios of an answer, and the share of a constant row that brings it within the promise."""
        program = self.program
        most, least = (
            answer[self.below.starts[name] :][: self.widths[name]][places]
            for name, places in (("most", self.left), ("least", self.right))
        )
        with np.errstate(all="ignore"):
            ratios = np.clip(most / least, math.exp(-_STEEPEST), math.exp(_STEEPEST))
            sums = (most * (most / least) ** (program.alpha - 1)).reshape(len(program.constraints), -1)
            worst = float(np.where(most <= 1e-12, 0.0, sums.ravel()).reshape(sums.shape).sum(axis=1).max())
        # By convexity a share s of a constant row leaves (1 − s)Σf + s of the sum; a law of one value leaves Σf = 1.
        excess = worst - math.exp(program.log_budget)
        over = excess / (worst - 1.0) if excess > 0 else min(0.0, excess)
        self.touching.append(np.where(np.isfinite(ratios), ratios, 1.0))
        self._add_planes(self.below, self.touching[-1])
        return min(1.0, max(0.0, over)) if math.isfinite(worst) else 1.0


def _is_ordered(bounds: Bounds) -> bool:
    """Whether sums are bounded too, as those of numbers are."""
    return len(bounds.below) > 1 and bool(bounds.below[:-1].any() or (bounds.above[:-1] < bounds.above[-1]).any())
