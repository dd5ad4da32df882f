"""What a publication leaves of a table: averages, shares, relations and slopes, before, after and corrected."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from takifugu._display import Plotted
from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.estimates.estimating import Estimate, Estimates
from takifugu.estimates.scores import NotDeterminedError, Term
from takifugu.laws import columns as by_column
from takifugu.laws import key, number
from takifugu.mechanisms import table_of

_CHANGED = 0.05  # of a spread, or of all rows: smaller changes are not worth a warning
_PART = 0.25  # of a figure itself: likewise
_LEAST = 0.01  # of the rows: what is true of fewer is mostly chance
_MOST_GROUPS = 8  # labels of a column that are compared one by one, the commonest
_MOST_LABELS = 50  # of a column whose relations are compared: of more, each has few rows
_MOST_COLUMNS = 12  # that are compared with one another
_MOST_SLOPES = 12  # of one regression
_MOST_INPUTS = 256  # of a channel that is undone for every figure: a second or two
_MOST_ROWS = 200_000  # of a table from which every figure is estimated: some hundred megabytes

_KINDS = {"mean": "averages", "spread": "averages", "share": "shares"}

Function = Callable[[Array], float]


@dataclass(frozen=True)
class Compared:
    """One figure of a table: of the true rows, of the published ones, and as these are corrected.

    Args:
        kind: "mean", "spread", "share", "correlation", "group mean", "association" (Cramér's V) or "slope".
        name: what it is about, such as "age" or "stay where ward = A".
        before: the figure of the true rows.
        after: the same of the published rows, as they stand.
        unit: what a change is measured in: a spread, or 1.
        middle: before and after, what a figure above is large and one below small; 0 but for the mean of a group,
            which is held against the mean of all.
        corrected: what `estimate` makes of the published rows, where that is determined.
    """

    kind: str
    name: str
    before: float
    after: float
    unit: float = 1.0
    middle: tuple[float, float] = (0.0, 0.0)
    corrected: Estimate | None = None

    @property
    def is_reversed(self) -> bool:
        """Whether the sign is another, of which more than chance is to be seen."""
        before, after = self.measured
        return before * after < 0 and abs(after - before) > _CHANGED

    @property
    def is_changed(self) -> bool:
        """Whether the sign or the size is another: by more than a quarter of itself, and by more than is negligible."""
        before, after = self.measured
        if math.isnan(after):  # a group that nobody is published in
            return True
        if self.kind == "share":
            return abs(after) > max(_LEAST, _PART * self.before)
        return self.is_reversed or abs(after - before) > max(_CHANGED, _PART * abs(before))

    @property
    def measured(self) -> tuple[float, float]:
        """Before and after, in units that make figures of different columns alike."""
        unit = self.unit or 1.0
        if self.kind in ("mean", "spread", "share"):  # their size is no relation: how far they move is what counts
            return 0.0, (self.after - self.before) / unit
        return (self.before - self.middle[0]) / unit, (self.after - self.middle[1]) / unit

    def to_dict(self) -> dict[str, object]:
        """The figure as plain values; what is no number is None."""
        return {
            "kind": self.kind,
            "name": self.name,
            "before": _plain(self.before),
            "after": _plain(self.after),
            "changed": self.is_changed,
            "reversed": self.is_reversed,
            "corrected": None if self.corrected is None else _plain(self.corrected.value),
            "error": None if self.corrected is None else _plain(self.corrected.from_channel),
        }


@dataclass(frozen=True)
class Comparison(Plotted):
    """What survives of a table in what is published of it; see `Published.compare`.

    It shows figures of the true rows: keep it private.

    Args:
        figures: every figure that was compared.
        shifts: of each column, the total variation between its true and its published marginal distribution.
        rows: how many rows were published; None of a comparison of laws, before anything is drawn.
        why: why figures could not be corrected, where some could not.
    """

    figures: tuple[Compared, ...] = field(repr=False)
    shifts: Mapping[str, float]
    rows: int | None = None
    why: str | None = field(default=None, repr=False)

    @property
    def changed(self) -> tuple[Compared, ...]:
        """The figures of which sign or size is another: those that nobody may read off the published table."""
        return tuple(one for one in self.figures if one.is_changed)

    @property
    def sentence(self) -> str:
        """What survives, in a line."""
        if not (lost := self.changed):
            return f"all {len(self.figures)} {self._kinds} that were compared survive"
        worst = max(lost, key=lambda one: (one.is_reversed, _distance(one)))
        most = "reversed" if worst.is_reversed else "most changed"
        survive = len(self.figures) - len(lost)
        return (
            f"{survive} of {len(self.figures)} {self._kinds} survive; {most}: "
            f"{worst.kind} of {worst.name}, {_short(worst.before)} → {_short(worst.after)}"
        )

    @property
    def _kinds(self) -> str:
        """What was compared, in words: of one column there are no relations."""
        found = {_KINDS.get(one.kind, "relations") for one in self.figures}
        kinds: list[str] = [kind for kind in ("averages", "shares", "relations") if kind in found]
        *rest, last = kinds or ["figures"]
        return f"{', '.join(rest)} and {last}" if rest else last

    def __str__(self) -> str:
        """The line, and every figure under it."""
        width = max((len(f"{one.kind}: {one.name}") for one in self.figures), default=0)
        lines = [self.sentence, ""]
        for one in self.figures:
            told = f"{f'{one.kind}: {one.name}':<{width}}  {_short(one.before):>9} → {_short(one.after):>9}"
            if one.corrected is not None:
                told += f"  corrected {_short(one.corrected.value)} ± {one.corrected.from_channel:.2g}"
            mark = "  reversed" if one.is_reversed else "  changed" if one.is_changed else ""
            lines.append(told + mark)
        lines += [f"total variation of {name}: {shift:.3f}" for name, shift in self.shifts.items()]
        return "\n".join([*lines, *([f"not corrected: {self.why}"] if self.why else [])])

    def to_dict(self) -> dict[str, object]:
        """Everything as plain values."""
        return {
            "rows": self.rows,
            "shifts": dict(self.shifts),
            "figures": [one.to_dict() for one in self.figures],
            "not_corrected": self.why,
        }


def _distance(one: Compared) -> float:
    before, after = one.measured
    return math.inf if math.isnan(after) else abs(after - before)


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _short(value: float) -> str:
    return "none" if math.isnan(value) else "0" if abs(value) < 1e-9 else f"{value:.3g}"


# Rows by their columns, alike ones together.


@dataclass(frozen=True)
class Rows:
    """Columns of plain values, and the weight of each row; weights add up to one."""

    columns: Mapping[str, Sequence[Any]]
    weights: Array

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[object]]) -> "Rows":
        """Of rows that weigh alike: those that are the same become one."""
        names = list(columns)
        count: dict[Any, int] = {}
        first: dict[Any, tuple[Any, ...]] = {}
        for row in zip(*columns.values(), strict=True):
            known = key(row)
            count[known] = count.get(known, 0) + 1
            first.setdefault(known, row)
        weights = np.array(list(count.values()), dtype=np.float64)
        rows = list(zip(*first.values(), strict=True))
        return cls(dict(zip(names, rows, strict=True)), weights / weights.sum())

    def moments(self, terms: Iterable[tuple[Term, ...]]) -> Array:
        """The mean of each product of terms.

        Args:
            terms: the products that are asked for.

        Returns:
            One mean for each.
        """
        return np.array(
            [
                float(self.weights @ math.prod(term.of(self.columns[term.column]) for term in product))
                for product in terms
            ]
        )

    def shares(self, name: str) -> dict[Any, tuple[Any, float]]:
        """By key, each value of a column and its share."""
        found: dict[Any, tuple[Any, float]] = {}
        for value, weight in zip(self.columns[name], self.weights.tolist(), strict=True):
            known = key(value)
            found[known] = (value, found[known][1] + weight if known in found else weight)
        return found


class _Question(NamedTuple):
    """A figure as a function of means of products; `middle` is the function of what it is held against."""

    kind: str
    name: str
    terms: tuple[tuple[Term, ...], ...]
    of: Function
    unit: float = 1.0
    middle: Function | None = None


def compared(before: Rows, after: Rows, *, estimates: Estimates | None = None, why: str | None = None) -> Comparison:
    """Every figure of the true rows beside that of the published ones.

    Args:
        before: the true rows.
        after: the published ones, with the same columns.
        estimates: what undoes the channel; nothing is corrected without.
        why: why there is none.
    """
    names = list(after.columns)
    numbers = [name for name in names if all(map(number, (*before.columns[name], *after.columns[name])))]
    labels = {name: _commonest(before, name) for name in names if name not in numbers}
    figures, refused = [], None
    asked = _questions(before, names[:_MOST_COLUMNS], numbers, labels)
    for terms, group in itertools.groupby(asked, key=lambda one: one.terms):
        questions = list(group)
        first, then = before.moments(terms), after.moments(terms)
        corrected: list[Estimate | None] = [None] * len(questions)
        if estimates is not None:
            try:
                corrected = estimates.functions(terms, [one.of for one in questions])
            except NotDeterminedError as error:
                refused = error
        for one, right in zip(questions, corrected, strict=True):
            middle = (0.0, 0.0) if one.middle is None else (one.middle(first), one.middle(then))
            figures.append(Compared(one.kind, one.name, one.of(first), one.of(then), one.unit, middle, right))
    figures = [one for one in figures if not math.isnan(one.before)]
    if refused is not None:
        why = str(refused)
    rows = None if estimates is None else estimates.rows
    return Comparison(tuple(figures), {name: _shift(before, after, name) for name in names}, rows, why)


def _commonest(rows: Rows, name: str) -> list[object]:
    """The values of a column of labels, the commonest first; none where there are too many to be compared."""
    shares = sorted(rows.shares(name).values(), key=lambda one: -one[1])
    return [value for value, share in shares if share >= _LEAST] if len(shares) <= _MOST_LABELS else []


def _shift(before: Rows, after: Rows, name: str) -> float:
    left, right = before.shares(name), after.shares(name)
    there = (None, 0.0)
    apart = sum(abs(left.get(k, there)[1] - right.get(k, there)[1]) for k in {**left, **right})
    return min(1.0, 0.5 * apart)


def _questions(
    before: Rows, names: Sequence[str], numbers: Sequence[str], labels: Mapping[str, Sequence[object]]
) -> Iterable[_Question]:
    spreads = {}
    for name in (one for one in names if one in numbers):
        x = Term(name)
        spreads[name] = _spread(before.moments([(x,), (x, x)]))
        yield _Question("mean", name, ((x,),), lambda m: float(m[0]), spreads[name])
        yield _Question("spread", name, ((x,), (x, x)), _spread, spreads[name])
    for name in (one for one in names if one in labels):
        for label in labels[name][:_MOST_GROUPS]:
            yield _Question("share", _where(name, label), ((Term(name, label, True),),), lambda m: float(m[0]))
    for a, b in itertools.combinations(names, 2):
        if a in numbers and b in numbers:
            x, y = Term(a), Term(b)
            yield _Question("correlation", f"{a} and {b}", ((x,), (y,), (x, x), (y, y), (x, y)), _correlation)
        elif a in numbers or b in numbers:
            of, group = (a, b) if a in numbers else (b, a)
            for label in labels[group][:_MOST_GROUPS]:
                here, value = Term(group, label, True), Term(of)
                terms = ((here, value), (here,), (value,))
                told = f"{of} where {_where(group, label)}"
                yield _Question("group mean", told, terms, _ratio, spreads[of], lambda m: float(m[2]))
        elif labels[a] and labels[b]:
            yield _association(a, b, labels[a][:_MOST_GROUPS], labels[b][:_MOST_GROUPS])
    if len(names) > 1:
        for outcome in spreads:
            yield from _slopes(before, outcome, [name for name in names if name != outcome], spreads, labels)


def _where(name: str, label: object) -> str:
    return f"{name} = {label}"


def _spread(m: Array) -> float:
    return math.sqrt(max(float(m[1] - m[0] ** 2), 0.0))


def _ratio(m: Array) -> float:
    return float(m[0] / m[1]) if m[1] > 0 else math.nan


def _correlation(m: Array) -> float:
    of_x, of_y = m[2] - m[0] ** 2, m[3] - m[1] ** 2
    if of_x <= 1e-12 * m[2] or of_y <= 1e-12 * m[3]:
        return math.nan
    return float((m[4] - m[0] * m[1]) / math.sqrt(of_x * of_y))


def _association(a: str, b: str, first: Sequence[object], second: Sequence[object]) -> _Question:
    """Cramér's V of two columns of labels; rarer labels than the commonest are one of their own."""
    rows, columns = ([Term(name, label, True) for label in side] for name, side in ((a, first), (b, second)))
    terms = [(term,) for term in (*rows, *columns)] + [(r, c) for r in rows for c in columns]
    height, width = len(rows), len(columns)

    def strength(m: Array) -> float:
        of_a, of_b = (np.append(part, max(1.0 - part.sum(), 0.0)) for part in np.split(m[: height + width], [height]))
        cells = m[height + width :].reshape(height, width)
        cells = np.vstack([cells, of_b[:width] - cells.sum(axis=0)])
        cells = np.hstack([cells, (of_a - cells.sum(axis=1))[:, None]])
        there = np.ix_(of_a > 1e-12, of_b > 1e-12)
        expected, seen = np.outer(of_a, of_b)[there], cells[there]
        if min(seen.shape) < 2:
            return math.nan
        squares = float(((seen - expected) ** 2 / expected).sum())
        return math.sqrt(max(squares, 0.0) / (min(seen.shape) - 1))

    return _Question("association", f"{a} and {b}", tuple(terms), strength)


def _slopes(
    before: Rows, outcome: str, on: Sequence[str], spreads: Mapping[str, float], labels: Mapping[str, Sequence[object]]
) -> Iterable[_Question]:
    """The coefficients of a regression of a column on all others, each for itself."""
    terms: list[Term | None] = [None]
    units = [1.0]
    for name in on:
        if name in spreads:
            terms.append(Term(name))
            units.append(spreads[outcome] / (spreads[name] or 1.0))
        else:  # the commonest is what the others are held against
            rest = labels[name][1:_MOST_GROUPS]
            terms += [Term(name, label, True) for label in rest]
            units += [spreads[outcome]] * len(rest)
    size = len(terms)
    if not 1 < size <= _MOST_SLOPES or not spreads[outcome] or on in [[name] for name in labels]:
        return  # on the labels of one column they are the means of its groups
    target = Term(outcome)
    asked: list[tuple[Term, ...]] = []
    place: dict[tuple[int, int], int] = {}
    for i in range(size):
        for j in range(i, size + 1):
            a, b = terms[i], target if j == size else terms[j]
            product = tuple(term for term in (a, b) if term is not None)
            if product:
                place[i, j] = len(asked)
                asked.append(product)

    def coefficients(m: Array) -> Array:
        whole: Array = np.ones((size, size + 1))
        for (i, j), k in place.items():
            whole[i, j] = m[k]
            if j < size:
                whole[j, i] = m[k]
        gram = whole[:, :size]
        scale = np.abs(np.diagonal(gram)) ** 0.5
        if not scale.all():  # a label that nobody is published with
            return np.full(size, math.nan, dtype=np.float64)
        if np.linalg.eigvalsh(gram / np.outer(scale, scale))[0] <= 1e-9:
            return np.full(size, math.nan, dtype=np.float64)
        return np.asarray(np.linalg.solve(gram, whole[:, size]))

    for k, (term, unit) in enumerate(zip(terms, units, strict=True)):
        if term is not None:
            told = f"{outcome} on {term}{_beside(on, term.column)}"
            yield _Question("slope", told, tuple(asked), _entry(coefficients, k), unit)


def _entry(vector: Callable[[Array], Array], place: int) -> Function:
    return lambda m: float(vector(m)[place])


def _beside(on: Sequence[str], column: str) -> str:
    others = [name for name in on if name != column]
    return f", beside {' and '.join(others)}" if others else ""


# The two comparisons: of the laws, before anything is drawn, and of the tables, afterwards.


def compared_laws(calibration: Calibration) -> Comparison:
    """What is to survive, from the laws and the channel alone: the average over all publications.

    Columns that are passed through take no part, since the laws know nothing of them.

    Args:
        calibration: of a channel on a list.

    Returns:
        Means, shares and correlations before and after.

    Raises:
        InputError: for noise.
    """
    if calibration.channel.publishes != "values":
        raise InputError("what survives is told of values from a list: noise is right on average, see the report")
    channel, answer = calibration.channel.as_list(), calibration.answer
    mass = table_of(calibration.problem).mass
    mass = mass / mass.max()
    mass = mass / mass.sum()
    width = len(by_column(channel.inputs))
    drawn = answer.columns if answer is not None and len(answer.columns) == width else None
    names = drawn or [f"column {k + 1}" for k in range(width)]
    published = channel.through(mass[None])[0]
    sides = ((channel.inputs, mass), (channel.outputs, published))
    before, after = (Rows(dict(zip(names, by_column(values), strict=True)), weights) for values, weights in sides)
    return compared(before, after)


def compared_tables(before: Mapping[str, Sequence[object]], published: Estimates) -> Comparison:
    """What survived in a table that was published.

    Args:
        before: the true rows that were published, by column.
        published: the published table, with what undoes its channel.
    """
    channel = published.description.channel
    is_listed = published.description.keeps is None and channel is not None and channel.publishes == "values"
    values = 0 if channel is None or not is_listed else len(channel.as_list().inputs)
    why = None
    if values > _MOST_INPUTS:
        why = f"the channel is between {values:,} rows of values: ask `estimate` for what you need"
    elif published.rows > _MOST_ROWS:
        why = f"the table has {published.rows:,} rows: ask `estimate` for what you need"
    after = published.as_published
    first = {name: before[name] for name in after}
    return compared(Rows.of(first), Rows.of(after), estimates=None if why else published, why=why)
