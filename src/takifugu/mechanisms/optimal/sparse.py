"""Channels for rows of many columns: sparse tables over thousands of values, found part by part and proved whole."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer, real, reals
from takifugu.channels import SparseChannel
from takifugu.divergences import Masses, finite_divergence
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws import Value
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.optimal.finite_problem import NAMES, promise_of, table_of
from takifugu.mechanisms.optimal.lower_bound import to_state, total
from takifugu.mechanisms.optimal.repair import Promise
from takifugu.mechanisms.optimal.sparse_search import Cells, Moves, Program, brackets, groups_of, one_output, searched
from takifugu.problems import Problem, Renyi

# Nothing can be much better: what no channel between thousands of values that bounds the odds costs less than.
#
# A price for each law and output, whatever it is, proves a bound (proofs/sparse.md); those of the last linear program
# make it a tight one. Sums of products of floats, whose rounding errors are bounded term by term and taken off.

_UNIT = 2.0**-53
_TINY = 1e-290  # above the sum of whatever underflows to zero
_UNDERFLOW = 1e-270  # of a coefficient, where the share it is multiplied by may have underflowed
_SAFE = 1 - 1e-12  # more than the roundings of sums over a group


@dataclass(frozen=True, eq=False)
class Prices:
    """Of each law of each group (`Program.members`), by outputs: any numbers prove a bound."""

    values: Array

    def to_json(self) -> dict[str, Any]:
        """Plain lists."""
        return {"prices": self.values.tolist()}

    @classmethod
    def from_json(cls, plain: Any) -> "Prices":
        """What `to_json` wrote."""
        if not isinstance(plain, dict) or set(plain) != {"prices"}:
            raise InputError("what proves the bound of a sparse channel must hold exactly prices")
        values = reals("prices", plain["prices"])
        if values.ndim != 2:
            raise InputError("prices must be a table: a row for each law, a number for each output")
        return cls(values)


def lower_bound(program: Program, prices: Prices) -> float:
    """What every channel costs whose odds are within `program.odds` in every group; `lean` and `floor` play no part."""
    values = prices.values
    if values.shape != (len(program.members), program.size) or not np.isfinite(values).all():
        raise InputError(
            f"prices must be {len(program.members)} rows of {program.size} finite numbers for this problem"
        )
    with np.errstate(all="ignore"):  # what overflows is not finite in the end, and then nothing is claimed
        allowed = _allowed(program, values)
        size = np.abs(allowed)
        # No entry passes through more roundings: dividing by a sum of n weights, adding columns and laws, a few more.
        steps = (program.size + len(program.cells.codes) + len(program.members) + 24) * _UNIT * 1.1
        everything = np.arange(program.size)
        extra = _UNDERFLOW * (size.sum(axis=0) + sum(float(table.max()) for table in program.cells.tables)) + _TINY
        rows = []
        for (_, value), (_, absolute) in zip(
            brackets(program, allowed, everything), brackets(program, size, everything), strict=True
        ):
            rows.append((value - steps * absolute - extra).min(axis=1))
    return total(np.concatenate(rows), 0.0)


def _allowed(program: Program, prices: Array) -> Array:
    """The prices with those above zero lowered until, in every group and at every output, e^ε times their sum is at
    most what those below zero sum to."""
    odds = math.nextafter(program.odds, math.inf)
    found, row = prices.copy(), 0
    for group in program.groups:
        part = found[row : row + len(group)]
        above, below = np.maximum(part, 0.0).sum(axis=0), np.maximum(-part, 0.0).sum(axis=0)
        share = np.minimum(1.0, _SAFE * below / np.maximum(odds * above, _TINY)) * _SAFE
        found[row : row + len(group)] = np.where(part > 0, part * share, part)
        row += len(group)
    return found


# From moves in floats to a channel of whole numbers that is proved to keep its promise.
#
# Nothing of the search is believed. Its shares are rounded to integers, and every output is looked at in integers.
# Where the odds are too large by a rounding, every input is given the output with a trace of probability; where by
# more, the output is dissolved, its moves going to one that everyone shares. When all outputs are dissolved the
# channel publishes one value and tells nothing, so this ends, and the proof has the last word (proofs/sparse.md).

Integers = npt.NDArray[np.int64]

BITS = 60  # a share of 1e-12 is then off by a millionth of itself at most
_MENDS = 4  # attempts at mending before outputs are dissolved
_FEW_BROKEN = 20  # outputs that are mended: each then has an entry for every input
_TRACE = 1e-6  # of probability that mending may cost an input in all
_LEAST_SHARE = 1e-15  # of probability: less cannot be told in whole numbers
_CLOSEST = Fraction(1, 10**9)  # odds nearer to one are mended as if they were this far from it
_MORE = 1.01  # times what is missing


def whole_moves(moves: Moves, *, bits: int = BITS) -> tuple[Integers, Integers, Integers]:
    """Sources, targets and counts; those of each input sum to `1 << bits`, and none is 0."""
    counts = np.floor(np.ldexp(moves.shares, bits)).astype(np.int64)
    used = counts > 0
    sources, targets, counts = moves.sources[used].astype(np.int64), moves.targets[used].astype(np.int64), counts[used]
    starts = np.searchsorted(sources, np.arange(sources[-1] + 2))
    missing = (1 << bits) - np.add.reduceat(counts, starts[:-1])
    # The largest count of each input takes what rounding left over: it is at least one part in as many as there are.
    counts[_largest(sources, counts)] += missing
    return sources, targets, counts


def proved(moves: Moves, values: Sequence[Value], promise: Promise, *, odds: Fraction) -> SparseChannel | None:
    """The channel of the moves with every ratio within `odds`, if it is proved to keep the promise; None otherwise."""
    table = _Table(*whole_moves(moves), outputs=len(values))
    laws = [Masses.of(law) for law in promise.laws]
    hidden = sorted({i for pair in promise.pairs for i in pair})
    mends = dissolutions = 0
    while True:
        published = {
            i: laws[i].through_entries(*table[:3], outputs=table.outputs, denominator=1 << BITS) for i in hidden
        }
        missing = _missing(published, promise.pairs, odds)
        if not missing.any():
            break
        if mends < _MENDS and np.count_nonzero(missing) <= _FEW_BROKEN and missing.sum() < _TRACE:
            table, mends = _mended(table, missing, len(values)), mends + 1
            continue
        least = np.array(
            [min(one.numerators[y] / one.denominator for one in published.values()) for y in range(len(values))]
        )
        table, dissolutions = _dissolved(table, missing > 0, least, sound=2**dissolutions - 1), dissolutions + 1
    return _channel(values, table, promise)


class _Table(NamedTuple):
    """Counts from sources to targets, sources in order."""

    sources: Integers
    targets: Integers
    counts: Integers
    outputs: int


def _missing(published: dict[int, Masses], pairs: Sequence[tuple[int, int]], odds: Fraction) -> Array:
    """For every output the probability that, given to all laws alike, brings its ratios within the odds.

    It is 0 where they are within them, which is decided in integers.
    """
    found = np.zeros(len(next(iter(published.values())).numerators))
    for i, j in pairs:
        p, q = published[i], published[j]
        left, right = q.denominator * odds.denominator, p.denominator * odds.numerator
        for y, (a, b) in enumerate(zip(p.numerators, q.numerators, strict=True)):
            if a * left > b * right:
                over = Fraction(a * left - b * right, p.denominator * left)
                found[y] = max(found[y], float(over / max(odds - 1, _CLOSEST)), _LEAST_SHARE)
    return found


def _mended(table: _Table, missing: Array, inputs: int) -> _Table:
    """Every input becomes each of a few outputs a little more often, at the expense of its largest count."""
    few = np.flatnonzero(missing)
    extra = np.ceil(np.ldexp(missing[few] * _MORE, BITS)).astype(np.int64)
    largest = _largest(table.sources, table.counts)
    counts = table.counts.copy()
    counts[largest] -= extra.sum()
    everyone = np.arange(inputs)
    return _merged(
        np.concatenate([table.sources, np.repeat(everyone, len(few))]),
        np.concatenate([table.targets, np.tile(few, inputs)]),
        np.concatenate([counts, np.tile(extra, inputs)]),
        table.outputs,
    )


def _dissolved(table: _Table, broken: npt.NDArray[np.bool_], least: Array, *, sound: int) -> _Table:
    """Broken outputs merged into one that everyone shares, and a number of the largest sound ones with them.

    A common output that is too small to take in more is thus made larger, and in the end holds everything.
    """
    common = int(np.argmax(np.where(broken, -1.0, least))) if not broken.all() else int(np.argmax(least))
    gone = broken.copy()
    gone[np.argsort(-least, kind="stable")[:sound]] = True
    return _merged(table.sources, np.where(gone[table.targets], common, table.targets), table.counts, table.outputs)


def _largest(sources: Integers, counts: Integers) -> Integers:
    """Where the largest count of every input stands."""
    order = np.lexsort((counts, sources))
    found: Integers = order[np.append(np.flatnonzero(np.diff(sources)), len(sources) - 1)]
    return found


def _channel(values: Sequence[Value], table: _Table, promise: Promise) -> SparseChannel | None:
    used, where = np.unique(table.targets, return_inverse=True)
    channel = SparseChannel(
        tuple(values),
        tuple(values[y] for y in used.tolist()),
        np.searchsorted(table.sources, np.arange(len(values) + 1)),
        where.reshape(-1),
        table.counts,
    )
    return channel if promise.is_kept_by(channel) else None


def _merged(sources: Integers, targets: Integers, counts: Integers, outputs: int) -> _Table:
    both, where = np.unique(sources * outputs + targets, return_inverse=True)
    total = np.zeros(len(both), dtype=np.int64)
    np.add.at(total, where.reshape(-1), counts)
    return _Table(both // outputs, both % outputs, total, outputs)


# A good channel between thousands of values, as a mechanism.

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
        return float(finite_divergence(published[first], published[second], alpha=asked.alpha).max()) / asked.epsilon

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
