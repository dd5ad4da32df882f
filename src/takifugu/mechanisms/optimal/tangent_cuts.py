"""Guarantees of a finite order between thousands of values: p^α q^{1−α} cut from below, by tangent planes.

What two laws publish of an output adds a term to e^{(α−1)D} that is jointly convex and homogeneous: it lies above each
of its tangent planes, and a plane that touches at one ratio touches at all p and q of that ratio. So the guarantee is
linear rows, of which those are added that the last answer was beyond; and any weight of a pair with a ratio for each
output proves a lower bound (proofs/sparse.md). Nothing rests on the cuts: what is found is repaired and proved.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.lower_bound import TINY, UNIT, tangents_at
from takifugu.mechanisms.optimal.program import Excess, Indices, Sides

if TYPE_CHECKING:
    from highspy import Highs, HighsSolution

_SPARED = 2e-3  # of the budget: between the cuts, what lies above them is at most this
_STEEPEST = 20.0  # logarithm of the largest slope of a plane, in units of the budget
_LARGEST = math.log(1e6)  # and of the largest ratio
_COVERED = 0.95  # of what the cuts are off by: the rest waits for the next round
_MOST = 0.01  # of the budget that one output counts for in this: a few that are far off would hide all others
_FIRST = 2.0  # times the contrast: a ratio at which every output is cut to begin with, as few outputs go beyond it
_LEAST_WEIGHT = 1e-12  # of the largest
_LEAST_LOGARITHM = 1e-9  # of a ratio: nearer to one, a plane is the bound of zero that is there anyway
_FLATTEST, _LARGEST_BUDGET = 1e-6, 600.0  # (α−1)ε between which floats tell the cuts apart
_MOST_TERMS = 4_000_000  # pairs times outputs that are held in memory together


@dataclass(frozen=True, eq=False)
class FiniteOrder:
    """D_α of what each directed pair of laws publishes is ε at most."""

    alpha: float
    epsilon: float
    pairs: tuple[tuple[int, int], ...]

    @cached_property
    def left(self) -> Indices:
        """The first law of every pair."""
        return np.array([i for i, _ in self.pairs], dtype=np.intp)

    @cached_property
    def right(self) -> Indices:
        """The second law of every pair."""
        return np.array([j for _, j in self.pairs], dtype=np.intp)

    @cached_property
    def laws(self) -> list[int]:
        """The laws of all pairs."""
        return sorted({law for pair in self.pairs for law in pair})

    @cached_property
    def excess(self) -> Excess:
        """G, whose sum over the outputs is one at most."""
        return Excess(self.alpha, (self.alpha - 1.0) * self.epsilon)

    @cached_property
    def steepest(self) -> float:
        """The largest ratio at which a plane touches: beyond, it allows the first law next to nothing."""
        return math.exp(max(self.contrast, min((_STEEPEST + self.excess.log_scale) / self.alpha, _LARGEST)))

    @cached_property
    def contrast(self) -> float:
        """The logarithm of the odds of a yes or no, wrong as often under both laws, that is at the budget.

        With p and q of e^c to one, Σ p^α q^{1−α} = (e^{αc} + e^{(1−α)c})/(1 + e^c).
        """
        low, high, most = 0.0, 2.0 * self.epsilon + 1.0, self.excess.log_budget
        for _ in range(60):
            c = (low + high) / 2
            used = self.alpha * c + math.log1p(math.exp((1 - 2 * self.alpha) * c)) - c - math.log1p(math.exp(-c))
            low, high = (c, high) if used < most else (low, c)
        return high

    def is_told_apart(self, values: int) -> bool:
        """Whether floats tell cuts of this budget apart, and memory holds the terms of all pairs."""
        return _FLATTEST <= self.excess.log_budget <= _LARGEST_BUDGET and len(self.pairs) * values <= _MOST_TERMS

    def ratios(self, p: Array, q: Array) -> Array:
        """How many times as often the first law of each pair publishes an output, between what planes touch at."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(q > 0, p / q, np.where(p > 0, np.inf, 1.0))
        return np.asarray(np.clip(found, math.exp(-_LARGEST), self.steepest))

    def used(self, p: Array, q: Array) -> Array:
        """G of each output, pairs by outputs: its part of the budget. Beyond the steepest plane, what that plane says.

        Args:
            p: what the first laws of the pairs publish.
            q: the second.

        Returns:
            Numbers that are 0 or more, but for rounding.
        """
        ratios = self.ratios(p, q)
        slope_p, slope_q = self.excess.slopes(np.array(self.steepest))
        steep = slope_p * p + slope_q * q
        return np.asarray(np.where(ratios >= self.steepest, steep, self.excess.value(Sides(p, q, ratios))))


class Touching(NamedTuple):
    """Where the tangent planes of a bound touch: a weight for each pair, and a ratio for each of its outputs."""

    weights: Array
    ratios: Array

    def prices(self, order: FiniteOrder) -> Array:
        """What a unit of the probability of each of `order.laws` costs, by outputs, in floats."""
        slope_p, slope_q = order.excess.slopes(self.ratios)
        return _of_laws(order, self.weights[:, None] * slope_p, self.weights[:, None] * slope_q)

    def proved_prices(self, order: FiniteOrder) -> Array:
        """The same, rounded down: a probability is not negative, so the bound only sinks."""
        planes = tangents_at(order.alpha, order.epsilon, self.weights, self.ratios.T)
        found = _of_laws(order, planes.slope_p.T, planes.slope_q.T)
        size = _of_laws(order, np.abs(planes.slope_p.T), np.abs(planes.slope_q.T))
        return np.asarray(found - (2 * len(order.pairs) + 4) * UNIT * size - TINY)

    def checked(self, order: FiniteOrder, values: int) -> "Touching":
        """The same, if it is of the shape and has the signs that the proof asks for.

        Raises:
            InputError: otherwise.
        """
        count = len(order.pairs)
        if self.weights.shape != (count,) or not ((self.weights >= 0) & np.isfinite(self.weights)).all():
            raise InputError(f"weights must be {count} finite numbers, 0 or more, one for each directed pair")
        if self.ratios.shape != (count, values) or not ((self.ratios > 0) & np.isfinite(self.ratios)).all():
            raise InputError(f"ratios must be {count} rows of {values} finite numbers above 0")
        return self


def _of_laws(order: FiniteOrder, slope_p: Array, slope_q: Array) -> Array:
    """The sums of the slopes, pairs by outputs, of each law."""
    found = np.zeros((max(order.laws) + 1, slope_p.shape[1]))
    np.add.at(found, order.left, slope_p)
    np.add.at(found, order.right, slope_q)
    return np.asarray(found[order.laws])


class Answer(NamedTuple):
    """What a program came to: where its planes touch, the ratios of what is published, and how far beyond them that is.

    beyond: pairs by outputs, in parts of the budget
    over: by how much all that a pair publishes is over the budget, in parts of it; of the worst pair
    """

    touching: Touching
    ratios: Array
    beyond: Array
    over: float


class TangentCuts:
    """The rows and columns of a growing linear program that are about a finite order.

    A column for what each law publishes of each output, equal to what the moves bring there; for each pair a row of its
    budget, with a column for what each output uses of it; and cuts, of three entries each, between these columns.
    """

    def __init__(self, order: FiniteOrder, highs: "Highs", *, width: int, size: float, rows: int) -> None:
        """The columns of what is published.

        Args:
            order: what is to be kept.
            highs: the program.
            width: how many outputs there are.
            size: what all that a law publishes adds up to, in the program's units.
            rows: the first of the rows, a law after the other, that say what the moves bring to each output.
        """
        self.order, self.highs, self.width, self.size = order, highs, width, size
        place = {law: k for k, law in enumerate(order.laws)}
        self.left, self.right = (np.array([place[law] for law in side.tolist()]) for side in (order.left, order.right))
        count = len(order.laws) * width
        self.published = highs.getNumCol()
        _add_columns(highs, np.arange(rows, rows + count)[:, None], -np.ones((count, 1)))
        pairs = len(order.pairs)
        self.budgets = np.full(pairs, -1)  # of each pair that was over it: the row, and the first column of its parts
        self.parts = np.full(pairs, -1)
        none = np.zeros(0, dtype=np.int64)
        self.rows, self.pairs, self.outputs = none, none, none  # of the cuts
        self.ratios, self.scales = np.zeros(0), np.zeros(0)
        self.reach = np.full((pairs, width), _FIRST * order.contrast)

    def begin(self, touching: Touching) -> None:
        """Cuts where the planes of an earlier program touch, and one farther out."""
        first = math.exp(_FIRST * self.order.contrast)
        for pair in np.flatnonzero(touching.weights > _LEAST_WEIGHT * touching.weights.max(initial=0.0)).tolist():
            ratios = touching.ratios[pair]
            bent = np.flatnonzero(np.abs(np.log(ratios)) > _LEAST_LOGARITHM)
            self._cut(pair, bent, ratios[bent])
            self._cut(pair, np.arange(self.width), np.full(self.width, first))

    def read(self, solution: "HighsSolution", unit: float) -> Answer:
        """What the program came to.

        Args:
            solution: of the solver.
            unit: what one unit of the program's cost is.

        Returns:
            The planes that its prices add up to, and how far it is beyond the cuts.
        """
        order, width, pairs = self.order, self.width, len(self.order.pairs)
        variables, duals = np.array(solution.col_value), np.array(solution.row_dual)
        shown = variables[self.published :][: len(order.laws) * width].reshape(-1, width)
        shown = np.maximum(shown, 0.0) / self.size
        p, q = shown[self.left], shown[self.right]
        used, allowed, weights = order.used(p, q), np.zeros((pairs, width)), np.zeros(pairs)
        for pair in np.flatnonzero(self.budgets >= 0).tolist():
            allowed[pair] = variables[self.parts[pair] :][:width] / self.size
            weights[pair] = max(-unit * float(duals[self.budgets[pair]]), 0.0)
        # Planes of one output add up to one that lies on or below a tangent plane, which is as steep in p: to that.
        steep = np.zeros((pairs, width))
        worth = np.maximum(unit * duals[self.rows], 0.0) * self.scales
        np.add.at(steep, (self.pairs, self.outputs), worth * order.excess.slopes(self.ratios)[0])
        each = np.divide(steep, weights[:, None], out=np.zeros_like(steep), where=weights[:, None] > 0)
        with np.errstate(divide="ignore"):
            # α(r^{α−1} − 1)/(C − 1) is the slope at r.
            log = np.log1p(np.maximum(each / max(order.alpha * order.excess.scale, 1e-300), -1.0)) / (order.alpha - 1)
        ratios = np.exp(np.clip(log, -_LARGEST, math.log(order.steepest)))
        over = float(used.sum(axis=1).max()) - 1.0
        return Answer(Touching(weights, ratios), order.ratios(p, q), used - allowed, over)

    def cut(self, answer: Answer) -> int:
        """Add planes where an answer is beyond those that are there.

        Args:
            answer: of the program as it is.

        Returns:
            How many there are more.
        """
        before = self.rows.size
        for pair in np.flatnonzero(answer.beyond.sum(axis=1) > _SPARED / 2).tolist():
            beyond = np.clip(answer.beyond[pair], 0.0, _MOST)
            largest = np.argsort(-beyond, kind="stable")
            enough = 1 + int(np.searchsorted(np.cumsum(beyond[largest]), _COVERED * beyond.sum()))
            outputs = largest[:enough][beyond[largest[:enough]] > 0]
            ratios = answer.ratios[pair, outputs]
            self._approach(pair, outputs, np.log(ratios))
            self._cut(pair, outputs, ratios)
        return self.rows.size - before

    def _approach(self, pair: int, outputs: Indices, logs: Array) -> None:
        """Planes on the way to ratios that lie far out, since one far out allows nearly all that lies before it."""
        while outputs.size:
            reach = self.reach[pair, outputs]
            far = np.abs(logs) > reach
            outputs, logs, reach = outputs[far], logs[far], reach[far]
            self._cut(pair, outputs, np.exp(np.copysign(reach, logs)))

    def _cut(self, pair: int, outputs: Indices, ratios: Array) -> None:
        """t ≥ slope_p·p + slope_q·q for some outputs of a pair."""
        if not outputs.size:
            return
        if self.budgets[pair] < 0:
            self._begin(pair)
        slope_p, slope_q = self.order.excess.slopes(ratios)
        scale = 1.0 / np.maximum(1.0, np.maximum(np.abs(slope_p), np.abs(slope_q)))
        first = [self.parts[pair], *(self.published + law * self.width for law in (self.left[pair], self.right[pair]))]
        columns = np.stack([start + outputs for start in first], axis=1).astype(np.int32)
        entries = np.stack([scale, -scale * slope_p, -scale * slope_q], axis=1)
        count, row = outputs.size, self.highs.getNumRow()
        starts = np.arange(0, 3 * count, 3, dtype=np.int32)
        none, endless = np.zeros(count), np.full(count, np.inf)
        self.highs.addRows(count, none, endless, 3 * count, starts, columns.ravel(), entries.ravel())
        self.rows = np.concatenate([self.rows, row + np.arange(count)])
        self.pairs = np.concatenate([self.pairs, np.full(count, pair)])
        self.outputs = np.concatenate([self.outputs, outputs])
        self.ratios, self.scales = np.concatenate([self.ratios, ratios]), np.concatenate([self.scales, scale])
        self.reach[pair, outputs] = np.maximum(self.reach[pair, outputs], 2.0 * np.abs(np.log(ratios)))

    def _begin(self, pair: int) -> None:
        """The budget of a pair, and what each output uses of it."""
        self.budgets[pair], self.parts[pair] = self.highs.getNumRow(), self.highs.getNumCol()
        none = np.zeros(0, dtype=np.int32)
        most = np.array([(1.0 - _SPARED) * self.size])
        self.highs.addRows(1, np.array([-np.inf]), most, 0, none, none, np.zeros(0))
        _add_columns(self.highs, np.full((self.width, 1), self.budgets[pair]), np.ones((self.width, 1)))


def _add_columns(highs: "Highs", rows: npt.NDArray[np.integer], entries: Array) -> None:
    """Columns without a cost, each with one entry in each of some rows."""
    count, each = rows.shape
    starts = np.arange(0, count * each, each, dtype=np.int32)
    nothing, endless = np.zeros(count), np.full(count, np.inf)
    highs.addCols(
        count, nothing, nothing, endless, count * each, starts, rows.ravel().astype(np.int32), entries.ravel()
    )
