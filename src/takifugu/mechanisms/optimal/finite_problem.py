"""A problem of finite laws in arrays: what a channel between its values has to keep, and what it costs."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from operator import and_
from typing import NamedTuple, SupportsFloat

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, budget, integer, reals
from takifugu.channels import ListChannel, checked_counts
from takifugu.divergences import (
    Counts,
    Extremes,
    Masses,
    decide_excess,
    exact_odds,
    excess,
    finite_divergence,
    holds,
    lowered,
    order_or_odds,
    raised,
    within_odds,
)
from takifugu.errors import InputError, MechanismError
from takifugu.laws import Scalar, Value, columns, key, number, plain
from takifugu.mechanisms.optimal.program import Indices, components
from takifugu.problems import Guarantee, HockeyStick, MaxDivergence, Problem, RenyiDivergence


class Table(NamedTuple):
    """A problem of finite laws in arrays: a row of weights for each law, and the directed pairs of rows."""

    values: tuple[Value, ...]
    laws: Array
    pairs: tuple[tuple[int, int], ...]
    mass: Array


@lru_cache(maxsize=32)
def table_of(problem: Problem) -> Table:
    """The arrays of a problem, or an error where its laws are not finite."""
    laws = [law for belief in range(len(problem.beliefs)) for law in problem.laws(belief)]
    for law in laws:
        if law.space != "values":
            raise MechanismError(
                f"'optimal' is for laws on finite lists of values, and one here is a {type(law).__name__}: publish "
                f"with Row, or describe the answer by Finite laws"
            )
    place: dict[Hashable, int] = {}
    values: list[Value] = []
    for law in laws:
        for value in law.values:
            if key(value) not in place:
                place[key(value)] = len(values)
                values.append(value)
    plain(values)  # values of two laws may look alike though neither law has both
    weights = np.zeros((len(laws), len(values)))
    for row, law in zip(weights, laws, strict=True):
        row[[place[key(value)] for value in law.values]] = law.weights
    secrets = len(problem.pairs.secrets)
    pairs = tuple(
        (place.belief * secrets + place.first, place.belief * secrets + place.second) for place in problem.places()
    )
    # Counts pool the rows; a value of any law has some.
    shared = _shares(problem)[:, None] * weights if any(b.shares for b in problem.beliefs) else weights
    mass = np.sort(shared, axis=0).sum(axis=0)  # in whatever order the secrets are, to the last digit
    weights.setflags(write=False)
    mass.setflags(write=False)
    return Table(tuple(values), weights, pairs, mass)


def _shares(problem: Problem) -> Array:
    """What the weights of each law are multiplied by where they are pooled: how likely its secret is."""
    return np.array(
        [
            belief.shares[secret] / belief[secret].total if belief.shares else 1.0
            for belief in problem.beliefs
            for secret in problem.pairs.secrets
        ]
    )


# What a finite channel has to keep: every directed pair of laws within the order and budget, the odds, or both.
#
# It is asked in two ways: in floats, to steer a search, and exactly, which alone is believed.

_MANY_PAIRS = 24  # from which one look at all of them is cheaper
_AT_ONCE = 4_000_000  # entries of pairs times outputs that are held in memory together


@dataclass(frozen=True, eq=False, kw_only=True)
class Limits:
    """How far apart what is published under the laws of a pair may be, for each (i, j) in `pairs`.

    pairs: i against j, by the places of laws alpha, epsilon: D_α is `epsilon` at most, and for α = ∞ the logarithm of
    every ratio; None is no such limit odds: every ratio is this at most, as the exact number given; None is no such
    limit excesses: for each (ε, δ), Σ (p − e^ε q)₊ is δ at most
    """

    pairs: Sequence[tuple[int, int]]
    alpha: float = math.inf
    epsilon: float | None = None
    odds: float | Fraction | None = None
    excesses: tuple[tuple[float, float], ...] = ()

    def seem_kept(self, p: Array, q: Array) -> bool:
        """Whether rows p are within the limits of the same rows of q, as far as float64 can tell."""
        if self.epsilon is not None and not (finite_divergence(p, q, alpha=self.alpha) <= self.epsilon).all():
            return False
        if not all((excess(p, q, epsilon=epsilon) <= delta).all() for epsilon, delta in self.excesses):
            return False
        return self.odds is None or bool((p <= float(self.odds) * q).all())

    def are_kept(self, p: Masses, q: Masses) -> bool:
        """Whether p is proved to be within the limits of q."""
        if self.odds is not None and not within_odds(p, q, odds=self.odds):
            return False
        if not all(decide_excess(p, q, epsilon=epsilon, delta=delta).holds for epsilon, delta in self.excesses):
            return False
        return self.epsilon is None or holds(p, q, alpha=self.alpha, epsilon=self.epsilon)


@dataclass(frozen=True, eq=False, kw_only=True)
class Promise(Limits):
    """For each (i, j) in `pairs`: what law i publishes is within the limits of what law j publishes.

    One of `epsilon` and `odds` is needed; an infinite epsilon is none.

    laws: a row of weights over the inputs per law (one for each secret of each belief), taken as exact and divided by
        its exact sum
    radius: an entry per law, which extends the promise to every prior within that total variation of it
    local_price: the logarithm of the largest ratio that any two rows of the channel may have; None is no such limit
    """

    laws: Array
    radius: Array | None = None
    local_price: float | None = None

    def __post_init__(self) -> None:
        """Refuse what promises nothing."""
        laws = _laws(self.laws)
        pairs = tuple((integer("pairs", i, least=0), integer("pairs", j, least=0)) for i, j in self.pairs)
        if not pairs or max(map(max, pairs)) >= len(laws):
            raise InputError(f"pairs must name at least one pair of laws, each between 0 and {len(laws) - 1}")
        order_or_odds(self.alpha)
        epsilon = None if self.epsilon is None or self.epsilon == math.inf else budget(self.epsilon)
        odds = None if self.odds is None else exact_odds(self.odds)
        if epsilon is None and odds is None and not self.excesses:
            raise InputError("a guarantee needs epsilon, odds, or both")
        radius = np.zeros(len(laws)) if self.radius is None else reals("radius", self.radius).copy()
        if radius.shape != (len(laws),) or not ((radius >= 0) & np.isfinite(radius)).all():
            raise InputError(f"radius must have one finite number, 0 or more, for each of the {len(laws)} laws")
        checked = {"laws": laws, "pairs": pairs, "epsilon": epsilon, "odds": odds, "radius": radius}
        for name, value in checked.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @cached_property
    def _most_apart(self) -> Fraction | None:
        """The largest ratio that a local price allows, rounded down."""
        if self.local_price is None:
            return None
        from flint import arb

        return Fraction(math.nextafter(float(arb(self.local_price).exp().lower()), 0.0))

    @cached_property
    def shares(self) -> Array:
        """The laws as rows of probabilities, in float64."""
        rows = self.laws / self.laws.max(axis=1, keepdims=True)  # weights near the largest float have no sum
        shares: Array = rows / rows.sum(axis=1, keepdims=True)
        return shares

    def seems_kept(self, matrix: Array) -> bool:
        """Whether a channel keeps it as far as float64 can tell."""
        published, low, high = self.shares @ matrix, matrix.min(axis=0), matrix.max(axis=0)
        if self._most_apart is not None and not (high <= float(self._most_apart) * low).all():
            return False
        reach = np.asarray(self.radius)[:, None]
        above, below = raised(published, reach, low, high), lowered(published, reach, low, high)
        pairs, step = np.array(self.pairs), max(1, _AT_ONCE // matrix.shape[1])
        for start in range(0, len(pairs), step):
            first, second = pairs[start : start + step].T
            if not self.seem_kept(above[first], below[second]):
                return False
        return True

    def is_kept(self, counts: Counts) -> bool:
        """Whether a channel of whole numbers is proved to keep it (proofs/finite-channels.md).

        The rows must sum to one power of two: what is no channel is refused, because the proof speaks of channels.
        """
        counts = checked_counts(counts, self.laws.shape[1], np.shape(counts)[-1])
        denominator = int(counts[0].sum())
        if self._most_apart is not None:
            rows = np.asarray(counts, dtype=object)
            if not all(max(one) <= self._most_apart * min(one) for one in rows.T):
                return False
        return self._is_kept(lambda law: law.through(counts, denominator), Extremes.of(counts, denominator))

    def is_kept_by(self, channel: ListChannel) -> bool:
        """The same for a channel, whose inputs are in the order of the laws' weights."""
        if len(channel.inputs) != self.laws.shape[1]:
            raise InputError(f"the channel must have {self.laws.shape[1]} inputs, one for each weight of the laws")
        return self._is_kept(channel.exactly, channel.extremes)

    def _is_kept(self, through: Callable[[Masses], Masses], extremes: Extremes) -> bool:
        published = {i: through(self._law(i)) for i in {i for pair in self.pairs for i in pair}}
        reach = np.asarray(self.radius).tolist()
        above = {i: law.raised(reach[i], extremes) for i, law in published.items()}
        below = {i: law.lowered(reach[i], extremes) for i, law in published.items()}
        return all(self.are_kept(above[i], below[j]) for i, j in self._not_clear_at_once(above, below))

    def _not_clear_at_once(self, above: dict[int, Masses], below: dict[int, Masses]) -> Sequence[tuple[int, int]]:
        """The pairs to look at: of bounded ratios none where the largest of all is within the limits of the least."""
        if len(self.pairs) <= _MANY_PAIRS or self.excesses or not (self.alpha == math.inf or self.epsilon is None):
            return self.pairs
        left, right = np.array(self.pairs, dtype=np.intp).T
        component = components(left, right, len(self.laws))[left]
        open_: list[tuple[int, int]] = []
        for name in np.unique(component):
            pairs = [self.pairs[k] for k in np.flatnonzero(component == name).tolist()]
            firsts, seconds = (sorted({pair[side] for pair in pairs}) for side in (0, 1))
            largest, least = Masses.largest([above[i] for i in firsts]), Masses.least([below[j] for j in seconds])
            if not self.are_kept(largest, least):
                # One that fails ends it, and of a million pairs it is most likely one of these.
                suspects = _extreme({i: above[i] for i in firsts}, {j: below[j] for j in seconds})
                open_ += sorted(pairs, key=lambda pair: pair not in suspects)
        return open_

    def _law(self, row: int) -> Masses:
        return Masses.of(self.laws[row])


def _extreme(above: dict[int, Masses], below: dict[int, Masses]) -> set[tuple[int, int]]:
    """For each output, which of some laws shows it the most and which of others the least, as floats see it."""
    high, low = (
        np.array([[x / law.denominator for x in law.numerators] for law in laws.values()]) for laws in (above, below)
    )
    firsts, seconds = (np.array(list(laws)) for laws in (above, below))
    most, fewest = firsts[high.argmax(axis=0)], seconds[low.argmin(axis=0)]
    return set(zip(most.tolist(), fewest.tolist(), strict=True))


def _laws(given: object) -> Array:
    laws: npt.NDArray[np.float64] = reals("laws", given).copy()  # what was proved must not change under the proof
    if laws.ndim != 2 or laws.size == 0:
        raise InputError(f"laws must be a table with a row of weights per law, got shape {laws.shape}")
    if not (np.isfinite(laws).all() and (laws >= 0).all() and (laws > 0).any(axis=1).all()):
        raise InputError("the weights of every law must be finite, 0 or more and not all 0")
    return laws


def promise_of(
    problem: Problem, asked: Guarantee, *, radius: Array | None = None, local_price: float | None = None
) -> Promise:
    """What a channel between the values of a problem has to keep, in arrays."""
    table = table_of(problem)
    rest, excesses = apart(asked)
    beside = None if rest is None else rest.odds_beside
    return Promise(
        laws=table.laws,
        pairs=table.pairs,
        alpha=math.inf if rest is None else rest.alpha,
        epsilon=None if rest is None else rest.epsilon,
        odds=None if beside is None else Fraction(beside),
        excesses=excesses,
        radius=radius,
        local_price=local_price,
    )


def apart(asked: Guarantee) -> tuple[Guarantee | None, tuple[tuple[float, float], ...]]:
    """What of a guarantee is about one order or odds, if anything is; and the (ε, δ) of its other parts."""
    excesses: list[tuple[float, float]] = []
    rest: Guarantee | None = None
    for part in asked.parts:
        if type(of := part.divergence) is HockeyStick:
            excesses.append((of.epsilon, part.budget))
        else:
            rest = part if rest is None else rest & part
    return rest, tuple(excesses)


_IN_ARRAYS = (RenyiDivergence, MaxDivergence, HockeyStick)  # what a `Promise` is about


def is_kept(problem: Problem, asked: Guarantee, channel: ListChannel, *, radius: Array | None = None) -> bool:
    """Whether a channel is proved to keep the promise for every pair, belief and prior within the radius.

    A divergence that another package registered is decided pair by pair, for the priors as they are.
    """
    if not has_inputs(channel, problem):
        return False
    others = [part for part in asked.parts if type(part.divergence) not in _IN_ARRAYS]
    if others and radius is not None and np.any(radius):
        return False  # what it is for the priors near by nobody registered
    if any(
        channel.decide(*problem.ends(place), part.divergence, part.budget).holds is not True
        for part in others
        for place in problem.places()
    ):
        return False
    ours = [part for part in asked.parts if type(part.divergence) in _IN_ARRAYS]
    return not ours or promise_of(problem, reduce(and_, ours), radius=radius).is_kept_by(channel)


def has_inputs(channel: ListChannel, problem: Problem) -> bool:
    """Whether the channel takes the values of the laws, in their order."""
    return tuple(map(key, channel.inputs)) == tuple(map(key, table_of(problem).values))


# What it costs to publish one value for another: the square, the distance, or one for any change.

NAMES = ("square", "absolute", "change")
Matrix = tuple[tuple[float, ...], ...]
Loss = str | Matrix | None


def loss_matrix(
    loss: Loss,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    mass: Array,
    *,
    weights: Sequence[float] | None = None,
) -> Array:
    """The loss of every input published as every output.

    For rows of several columns the columns are added up, each as often as its weight says: numbers as their square over
    their own variance (so that a column of large numbers does not count for more), labels as one for a change.
    """
    if loss is not None and not isinstance(loss, str):
        matrix = np.array(loss, dtype=np.float64)
        if matrix.shape != (len(inputs), len(outputs)):
            raise InputError(
                f"loss must have a row for each of the {len(inputs)} values and a column for each of the "
                f"{len(outputs)} that may be published, got {matrix.shape}"
            )
        return matrix
    true, published = columns(inputs), columns(outputs)
    relative, total = isinstance(inputs[0], tuple), np.zeros((len(inputs), len(outputs)))
    for weight, a, b in zip(_each(weights, len(true)), true, published, strict=True):
        total += weight * column_loss(loss, a, b, mass, relative=relative)
    return total


def _each(weights: Sequence[float] | None, count: int) -> Sequence[float]:
    """A weight for each column, all the same by default."""
    if weights is not None and len(weights) != count:
        raise InputError(f"weights must be one number for each of the {count} columns, got {len(weights)}")
    return [1.0] * count if weights is None else weights


def column_loss(
    loss: str | None, inputs: Sequence[Scalar], outputs: Sequence[Scalar], mass: Array, *, relative: bool
) -> Array:
    """The loss of one column; relative to its own variance where columns are added up."""
    numeric = all(map(number, (*inputs, *outputs)))
    if loss is None:
        loss = "square" if numeric else "change"
    if loss == "change" or (relative and not numeric):
        places: dict[Hashable, int] = {}
        a, b = (np.array([places.setdefault(key(v), len(places)) for v in side]) for side in (inputs, outputs))
        changed: Array = (a[:, None] != b[None, :]).astype(np.float64)
        return changed
    if not numeric:
        raise InputError(f'loss={loss!r} is for numbers, and these values are labels: use loss="change" or a matrix')
    x, y = np.array(inputs, dtype=np.float64), np.array(outputs, dtype=np.float64)
    gaps = np.abs(x[:, None] - y[None, :])
    with np.errstate(over="ignore"):
        matrix: Array = gaps if loss == "absolute" else gaps * gaps
    if not np.isfinite(matrix).all():
        raise InputError("the values lie too far apart for their loss to be a number: use a larger unit")
    if relative:
        shares = mass / mass.sum()
        variance = float(shares @ (x - shares @ x) ** 2)
        if variance > 0:
            matrix = matrix / (np.sqrt(variance) if loss == "absolute" else variance)
    return matrix


def frozen_matrix(loss: Iterable[Iterable[SupportsFloat]]) -> Matrix:
    """A matrix of losses that cannot change, checked."""
    try:
        rows = tuple(tuple(float(x) for x in row) for row in loss)
    except (TypeError, ValueError):
        raise InputError(
            'loss must be "square", "absolute", "change", or a matrix of numbers, inputs by outputs'
        ) from None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise InputError("loss must be a matrix: every row as long as the first")
    if any(not math.isfinite(x) or x < 0 for row in rows for x in row):
        raise InputError("loss must hold finite numbers, 0 or more")
    return rows


# Thousands of values as places in a few columns, so that the loss between any two is a sum of small look-ups.

_MOST_ENTRIES = 2_000  # distinct entries of one column: the loss between them is a table


@dataclass(frozen=True, eq=False)
class Cells:
    """The values, coded, and what it costs to publish one as another.

    codes, published: of each value, and of each that may be published, the place of its entry, a row for each column
    tables: the loss between any two entries of each column is_ordered: whether the entries of a column are numbers
    """

    codes: Indices
    published: Indices
    tables: tuple[Array, ...]
    is_ordered: tuple[bool, ...]

    @classmethod
    def of(
        cls,
        values: Sequence[Value],
        mass: Array,
        *,
        outputs: Sequence[Value] | None = None,
        loss: str | None = None,
        weights: Sequence[float] | None = None,
    ) -> "Cells":
        """The values of a law, published as one another or as `outputs`; `weights` say how much each column counts."""
        true = columns(values)
        told = [[] for _ in true] if outputs is None else columns(outputs)
        is_row = isinstance(values[0], tuple)
        codes, published, entries, tables, ordered = [], [], [], [], []
        for column, other in zip(true, told, strict=True):
            distinct = {key(entry): entry for entry in (*column, *other)}
            inside = sorted(distinct.values(), key=lambda entry: (not number(entry), str(type(entry)), entry))
            if len(inside) > _MOST_ENTRIES:
                raise InputError(
                    f"a column takes {len(inside):,} distinct values, and {_MOST_ENTRIES:,} are the most for a list: "
                    f"give it a coarser domain"
                )
            place = {key(entry): where for where, entry in enumerate(inside)}
            codes.append(np.array([place[key(entry)] for entry in column], dtype=np.intp))
            published.append(np.array([place[key(entry)] for entry in other], dtype=np.intp))
            entries.append(inside)
            ordered.append(all(map(number, inside)))
        found = np.array(codes)
        order = np.lexsort(found[::-1])  # sums in whatever order the values are come to the same, to the last digit
        for weight, code, inside in zip(_each(weights, len(true)), found, entries, strict=True):
            share = np.bincount(code[order], weights=mass[order], minlength=len(inside)).astype(np.float64)
            tables.append(weight * column_loss(loss, inside, inside, share, relative=is_row))
        return cls(found, found if outputs is None else np.array(published), tuple(tables), tuple(ordered))

    def __len__(self) -> int:
        """The number of values."""
        return int(self.codes.shape[1])

    def between(self, some: Indices, others: Indices) -> Array:
        """The loss of each of some values published as each of others."""
        total = np.zeros((len(some), len(others)))
        for code, other, table in zip(self.codes, self.published, self.tables, strict=True):
            total += np.take(table[code[some]], other[others], axis=1)  # a third of the time of two brackets
        return total

    def along(self, some: Indices, others: Indices) -> Array:
        """The loss of each of some values published as the other at the same position."""
        total = np.zeros(len(some))
        for code, other, table in zip(self.codes, self.published, self.tables, strict=True):
            total += table[code[some], other[others]]
        return total

    def cuts(self, part: Indices, rng: np.random.Generator) -> Iterator[tuple[Indices, Indices]]:
        """Ways to halve a part, along the column first in which its values lie farthest apart.

        Chance blurs how far that is, and puts labels in an order, so that values which one cut separates meet under
        another.
        """
        widths = []
        for code, table in zip(self.codes, self.tables, strict=True):
            inside = np.unique(code[part])
            # A column that costs nothing may be cut too, but last; one of a single entry cannot.
            far = (float(table[np.ix_(inside, inside)].max()) + 1e-9) * rng.uniform(0.2, 1.0)
            widths.append(far if len(inside) > 1 else -1.0)
        for column in np.argsort(widths)[::-1].tolist():
            if widths[column] > 0:
                entries = len(self.tables[column])
                rank = np.arange(entries) if self.is_ordered[column] else rng.permutation(entries)
                line = rank[self.codes[column][part]]
                sequence = np.argsort(line, kind="stable")
                steps = np.flatnonzero(np.diff(line[sequence])) + 1
                cut = int(steps[np.argmin(np.abs(steps - len(part) // 2))])
                yield part[sequence[:cut]], part[sequence[cut:]]

    def parts(self, rng: np.random.Generator, *, most: int, least: Callable[[Indices], bool]) -> list[Indices]:
        """All values in parts that lie close together: at most so many, and none that is not at `least` enough."""
        waiting, found = [np.arange(len(self))], []
        while waiting:
            part = waiting.pop()
            if len(part) > most:
                halves = next((both for both in self.cuts(part, rng) if all(map(least, both))), None)
                if halves is not None:
                    waiting += halves
                    continue
            found.append(part)
        return found
