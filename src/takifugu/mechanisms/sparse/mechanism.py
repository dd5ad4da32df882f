"""A good channel between thousands of values, as a mechanism."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from takifugu._validation import Array, integer, real
from takifugu.channels.sparse import SparseChannel
from takifugu.divergences.finite import divergence
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.optimal.losses import NAMES
from takifugu.mechanisms.optimal.lower_bound import to_state
from takifugu.mechanisms.optimal.table import promise_of, table_of
from takifugu.mechanisms.sparse.cells import Cells
from takifugu.mechanisms.sparse.lower_bound import Prices, lower_bound
from takifugu.mechanisms.sparse.program import Program, groups_of
from takifugu.mechanisms.sparse.repair import proved
from takifugu.mechanisms.sparse.search import Moves, one_output, searched
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

MOST_CELLS = 50_000
_MARGIN = 1e-5  # of the odds, left for rounding to whole numbers
_LEANING = 0.8  # of the most that a published probability may be kept in hand
_LARGEST_ODDS = 1e6  # beyond, a promise of finite order is not loosened further
_LARGEST_LOGARITHM = 700.0  # of odds that are a float
_LOOSENINGS = 8
_CLOSE = 0.97  # of the budget: a channel this close to it is not loosened further


@dataclass(frozen=True)
class Sparse(Mechanism):
    """A channel for rows of many columns, found part by part, repaired and proved; proofs/sparse.md.

    loss: "square", "absolute" or "change"; by default the square for numbers and the share of changed entries for
        labels. For rows the columns are added up, numbers relative to their variance.
    weights: how much each column counts, one number each; all the same by default.
    rounds: how often all parts are gone through; more rounds find channels that change less.
    caution: standard deviations of what is not known, by the number of rows behind each law, that every published
        probability keeps in hand. Nothing is proved by it: it is what `confidence` chooses.
    keep: None; the shares of single values cannot be kept for this many.
    """

    name: ClassVar[str] = "sparse"
    label: ClassVar[str] = "Sparse channel"
    summary: ClassVar[str] = (
        "A channel between thousands of values, such as rows of five columns: a sparse table that linear programs "
        "improve part by part, proved whole."
    )

    loss: Any = None
    weights: Any = None
    rounds: int = 6
    caution: float = 0.0
    keep: None = None

    def __post_init__(self) -> None:
        """Refuse what is no option."""
        if self.loss is not None and self.loss not in NAMES:
            raise InputError(
                f"for this many values the loss must be one of {', '.join(map(repr, NAMES))}; a matrix is too large"
            )
        if self.weights is not None:
            if isinstance(self.weights, str) or not isinstance(self.weights, Sequence | np.ndarray):
                raise InputError("weights must be a list of numbers, one for each column")
            object.__setattr__(self, "weights", tuple(_weight(one) for one in self.weights))
        object.__setattr__(self, "rounds", integer("rounds", self.rounds, least=1))
        caution = real("caution", self.caution, "a finite number, 0 or more")
        if caution < 0:
            raise InputError(f"caution must be a finite number, 0 or more, got {self.caution!r}")
        object.__setattr__(self, "caution", caution)
        if self.keep is not None:
            raise InputError(
                "the shares or the mean of published values cannot be kept for this many combinations of values: "
                "publish fewer columns or give coarser domains, or do not ask for it"
            )

    def find(self, problem: Problem, asked: Renyi) -> Found:
        """Search, repair and prove."""
        # Odds within e^ε are a divergence within ε at every order; of finite order they may be larger, within reason.
        strict = min(asked.epsilon, math.inf if asked.odds is None else math.log(asked.odds))
        moves, prices = searched(self._program(problem, strict), rounds=self.rounds)
        channel = self._proved(problem, asked, moves, strict)
        if channel is None:
            moves = one_output(self._program(problem, strict))
            channel = self._proved(problem, asked, moves, strict)
        if channel is None:
            raise CalibrationError("a channel that tells nothing could not be proved to: please report this case")
        if math.isfinite(asked.alpha):
            return Found(self._loosened(problem, asked, moves, strict, channel))
        if prices is None or self.caution > 0:
            return Found(channel)
        proof = Prices(prices)
        bound = self.proved_bound(problem, asked, proof)
        return Found(channel, None, to_state(bound, self.cost(problem, channel)), proof)

    def proved_bound(self, problem: Problem, asked: Renyi, prices: Prices) -> float:
        """What no channel between these values that keeps these odds costs less than, by these prices."""
        if math.isfinite(asked.alpha) or asked.odds is not None:
            raise InputError("the bound of a sparse channel is proved for bounded odds alone")
        if asked.epsilon > _LARGEST_LOGARITHM:
            return 0.0
        plain = self._program(problem, asked.epsilon)
        # e^ε as a float may be below it by a rounding or two; larger odds only lower the bound.
        return lower_bound(replace(plain, odds=math.exp(asked.epsilon) * (1 + 1e-15)), prices)

    def cost(self, problem: Problem, channel: SparseChannel) -> float:
        """The expected loss of a published value."""
        table = table_of(problem)
        cells = _cells(self, problem)
        # What is published is among the values of the laws, so a look-up by place prices every move.
        outputs = channel.positions(list(channel.outputs))
        lost = cells.along(channel.sources, outputs[channel.targets]) * channel.shares
        return float((table.mass / table.mass.sum())[channel.sources] @ lost)

    def _loosened(
        self, problem: Problem, asked: Renyi, moves: Moves, strict: float, channel: SparseChannel
    ) -> SparseChannel:
        """The cheapest of several channels with larger and larger odds that are proved to keep (α, ε) and the odds.

        The divergence grows about as the square of the logarithm of the odds does, which says how far to go.
        """
        most = math.log(_LARGEST_ODDS if asked.odds is None else asked.odds)
        best, low, high, here = channel, strict, math.inf, strict
        for _ in range(_LOOSENINGS):
            used = self._used(problem, asked, best) if here == low else 1.0
            if used >= _CLOSE or low >= most:
                break
            here = low * math.sqrt(1 / max(used, 1e-4)) if math.isinf(high) else math.sqrt(low * high)
            here = min(here, most, 4 * low)
            if high < 1.05 * low or here <= low:
                break
            looser = searched(self._program(problem, here), rounds=max(1, self.rounds // 2), start=moves).moves
            found = self._proved(problem, asked, looser, here)
            if found is None:
                high = here
                continue
            moves, low = looser, here
            if self.cost(problem, found) < self.cost(problem, best):
                best = found
        return best

    def _used(self, problem: Problem, asked: Renyi, channel: SparseChannel) -> float:
        """The share of the budget that the worst pair uses."""
        table = table_of(problem)
        published = channel.through(table.laws / table.laws.sum(axis=1, keepdims=True))
        first, second = np.array(table.pairs).T
        return float(divergence(published[first], published[second], alpha=asked.alpha).max()) / asked.epsilon

    def _proved(self, problem: Problem, asked: Renyi, moves: Moves, log_odds: float) -> SparseChannel | None:
        odds = Fraction(max(1.0, math.exp(min(log_odds, math.log(_LARGEST_ODDS))) * (1 - 1e-12)))
        return proved(moves, table_of(problem).values, promise_of(problem, asked), odds=odds)

    def _program(self, problem: Problem, log_odds: float) -> Program:
        table = table_of(problem)
        if len(table.values) > MOST_CELLS:
            raise MechanismError(
                f"the laws are on {len(table.values):,} distinct values, and a channel is found for {MOST_CELLS:,} at "
                f"most: publish fewer columns together, or give them a coarser domain"
            )
        odds = math.exp(min(log_odds, math.log(_LARGEST_ODDS))) * (1 - _MARGIN)
        if not odds > 1:
            odds = 1.0  # a budget below the margin: only what tells nothing is left
        lean, floor = 0.0, np.zeros(len(table.laws))
        if self.caution > 0 and odds > 1:
            # √(p/n) ≤ (p/√r + √r/n)/2 for every r: of what p may be off by, a part that is linear in p.
            lean = _LEANING * (odds - 1) / (2 * (odds + 1))
            floor = (self.caution / (2 * lean)) ** 2 / _rows(problem)
        return Program(
            laws=table.laws / table.laws.sum(axis=1, keepdims=True),
            groups=groups_of(table.pairs),
            mass=table.mass / table.mass.sum(),
            cells=_cells(self, problem),
            odds=odds,
            lean=lean,
            floor=floor,
        )


@lru_cache(maxsize=8)
def _cells(rule: Sparse, problem: Problem) -> Cells:
    table = table_of(problem)
    return Cells.of(table.values, table.mass, loss=rule.loss, weights=rule.weights)


def _rows(problem: Problem) -> Array:
    """How many rows, pseudo-rows among them, each law rests on; of a law by hand, what its weights sum to."""
    found = []
    for number, belief in enumerate(problem.beliefs):
        for secret, law in zip(problem.pairs.secrets, problem.laws(number), strict=True):
            counted = belief.counted.get(secret)
            found.append(law.total if counted is None else float(sum(map(np.sum, counted))))
    return np.array(found)


def _weight(given: Any) -> float:
    number = real("weights", given, "numbers, 0 or more")
    if number < 0:
        raise InputError(f"weights must be numbers, 0 or more, got {given!r}")
    return number
