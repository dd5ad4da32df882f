"""A law on finitely many values: numbers, labels, truth values, or rows of several columns."""

import math
import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._validation import Array, vector
from takifugu.errors import InputError
from takifugu.laws.mixture import Frozen, Mixture, Space, counts

# What a value of a finite law may be: a number, a label, a truth value, or a row of those.
#
# Two values that a reader cannot tell apart but a computer can (1 and "1", True and 1, "a" and "a ") are refused: a
# law that holds both would hide one group's value behind another's.

Scalar = bool | int | float | str
Value = Scalar | tuple[Scalar, ...]

# Whole numbers from here on share a float64 with a neighbour, so a column of floats could not name them.
TOO_LARGE = 2**53
_ACCEPTED = "a number, a text, a truth value, or a tuple of those (one entry per column)"


def plain(values: object, *, name: str = "values") -> tuple[Value, ...]:
    """The values as plain Python objects, checked one by one and against one another; repeats stay.

    Args:
        values: a list, tuple or array of numbers, texts and truth values, or of tuples of those.
        name: what the values are called in an error.

    Returns:
        A tuple of Python's own numbers, texts, truth values and tuples, in the order given.

    Raises:
        InputError: for a value of another type, NaN, an infinite number, or rows of different lengths.

    >>> plain([np.int64(3), 2.5, "low"])
    (3, 2.5, 'low')
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a list of values, got one {type(values).__name__}")
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} must not be a masked array, which holds values it hides: give x.compressed()")
    if isinstance(values, set | frozenset):
        raise InputError(f"{name} must have an order, and a set has none: give a list")
    if (dimensions := getattr(values, "ndim", 1)) != 1:
        if not isinstance(values, np.ndarray) or dimensions != 2:  # a data frame would give its columns' names
            raise InputError(f"{name} must be one list: of a data frame give list(frame.itertuples(index=False))")
        values = map(tuple, values.tolist())  # a row of an array is a row of a table
    found = tuple(_value(value, f"{name}[{place}]") for place, value in enumerate(values))
    if not found:
        raise InputError(f"{name} is empty: at least one value is needed")
    widths = {len(value) if isinstance(value, tuple) else 0 for value in found}
    if len(widths) > 1:
        kinds = ", ".join(f"tuples of {width}" if width else "single values" for width in sorted(widths))
        raise InputError(f"{name} must all have the same columns, got {kinds}: give every row one entry per column")
    for column in columns(found):
        _refuse_lookalikes(column, name)
    return found


def columns(values: Sequence[Value]) -> list[list[Scalar]]:
    """The entries of the values column by column; values that are no tuples make one column.

    Args:
        values: plain values, all of them rows of one length or none of them a row.

    Returns:
        One list for each column, each as long as `values`.

    >>> columns([(1, "a"), (2, "b")])
    [[1, 2], ['a', 'b']]
    """
    if not isinstance(values[0], tuple):
        return [list(values)]  # type: ignore[arg-type]  # plain() lets no tuple stand beside a scalar
    return [list(column) for column in zip(*values, strict=True)]


def key(value: object) -> Hashable:
    """What two values share exactly when they are the same: 1 and 1.0 are, 1 and True are not.

    Python itself says True == 1, so a dictionary of bare values would take one for the other.

    Args:
        value: a plain value.

    Returns:
        A hashable pair, or a tuple of such for a row; equal for equal values of the same kind.

    >>> key(1) == key(1.0), key(1) == key(True)
    (True, False)
    """
    if isinstance(value, tuple):
        return tuple(map(key, value))
    return (isinstance(value, bool), value)


def number(value: object) -> bool:
    """Whether a plain value is a number; truth values are none.

    >>> number(2.5), number(True), number("2.5")
    (True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def _value(value: object, name: str) -> Value:
    if isinstance(value, tuple | list):
        if not value:
            raise InputError(f"{name} is an empty row: it needs one entry per column")
        return tuple(_scalar(entry, f"{name}[{column}]") for column, entry in enumerate(value))
    return _scalar(value, name)


def _scalar(value: object, name: str) -> Scalar:
    """A plain scalar, or an error that names its place and type and never shows it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if "\0" in value:  # numpy drops it from the end of a text, and two labels would become one
            raise InputError(f"{name} is a text with a NUL character: remove it")
        return str.__str__(value)  # of a text with a class of its own, such as an Enum, the text
    if isinstance(value, int):
        if abs(value) >= TOO_LARGE:
            raise InputError(
                f"{name} is a whole number beyond 2**53, which floats cannot tell apart: give it as a text"
            )
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"{name} is not a finite number: leave it out, or give it a label such as 'unknown'")
        return float(value) + 0.0  # no negative zero, which is another text for the same number
    if value is None:
        raise InputError(f"{name} is missing (None): leave it out, or give it a label such as 'unknown'")
    raise InputError(f"{name} is of type {type(value).__name__}: each value must be {_ACCEPTED}")


def _refuse_lookalikes(column: list[Scalar], name: str) -> None:
    if all(map(number, column)):
        return  # a number looks like another one only if it is the same
    distinct: dict[Hashable, int] = {}  # and where each is first: of thousands of rows a column may have three entries
    for place, value in enumerate(column):
        distinct.setdefault(key(value), place)
    seen: dict[Hashable, int] = {}
    texts_last = sorted(distinct.values(), key=lambda place: isinstance(column[place], str))
    for place in texts_last:
        value = column[place]
        # "01" and "1" are two labels, but beside the number 1 a reader takes each of them for it: a text is
        # compared with the numbers that are there, and leaves only its own spelling behind.
        others = [seen[look] for look in (*_spellings(value), *_readings(value)) if look in seen]
        for before in others:
            if key(column[before]) != key(value):
                raise InputError(
                    f"{name} at positions {min(before, place)} and {max(before, place)} look alike but differ "
                    f"({_kind(column[before])} and {_kind(value)}): write them the same way if they are the same, "
                    f"otherwise rename one"
                )
        for look in _spellings(value):
            seen.setdefault(look, place)


def _spellings(value: Scalar) -> list[Hashable]:
    if isinstance(value, str):
        return [("text", " ".join(unicodedata.normalize("NFKC", value).split()))]
    return [("number", float(value)), ("word", str(value).casefold())]


def _readings(value: Scalar) -> list[Hashable]:
    """The number and the word that a text may be read as."""
    if not isinstance(value, str):
        return []
    word = " ".join(unicodedata.normalize("NFKC", value).split()).casefold()
    try:
        return [("word", word), ("number", float(word))]
    except ValueError:
        return [("word", word)]


def _kind(value: Scalar) -> str:
    return "a truth value" if isinstance(value, bool) else "a text" if isinstance(value, str) else "a number"


class Finite(Frozen):
    """Finitely many values and the weight of each: what an adversary believes about an answer from a list.

    Weights may be counts or probabilities and are kept as given; the law is that of the weights divided by their
    exact sum. Repeated values are merged, values keep the order in which they first appear, and a value of weight
    zero stays: it is part of the list, and harmless. Immutable, hashable and picklable; the arrays are read-only.

    >>> law = Finite(["low", "high", "low"], [3, 1, 4])
    >>> law
    Finite(['low', 'high'], [7.0, 1.0])
    >>> law.probability("high")
    0.125
    """

    __slots__ = ("_place", "total", "values", "weights")

    space: ClassVar[Space] = "values"
    values: tuple[Value, ...]
    weights: Array
    total: float
    _place: dict[Hashable, int]

    def __init__(self, values: object, weights: npt.ArrayLike) -> None:
        """Validate, merge and freeze the two lists.

        Args:
            values: numbers, texts, truth values, or tuples of those for answers of several columns.
            weights: one for each value, 0 or more: counts or probabilities.

        Raises:
            InputError: for lists of different lengths, values that are no plain ones, negative weights, and no weight
                above 0.
        """
        if isinstance(values, Mapping):
            raise InputError("values must be a list: for a mapping of values to counts use Finite.from_counts")
        given = plain(values)
        heavy = counts(vector("weights", weights), len(given))
        place: dict[Hashable, int] = {}
        where = [place.setdefault(key(value), len(place)) for value in given]
        merged = np.bincount(where, weights=heavy)
        try:
            total = math.fsum(merged.tolist())
        except OverflowError:
            total = math.inf
        if not math.isfinite(total):
            raise InputError("weights add up to more than the largest float: divide them all by the same number")
        merged.setflags(write=False)
        first = dict(zip(reversed(where), reversed(given), strict=True))  # the last writer is the first appearance
        for name, value in (
            ("values", tuple(first[i] for i in range(len(place)))),
            ("weights", merged),
            ("total", total),
            ("_place", place),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_counts(cls, counts: Mapping[object, float]) -> Self:
        """The law of a mapping from values to counts, such as a `collections.Counter`.

        Args:
            counts: how often each value was seen, or its probability.

        Returns:
            The law with the values in the mapping's order.

        >>> Finite.from_counts({3: 10, 4: 30}).probabilities.tolist()
        [0.25, 0.75]
        """
        if not isinstance(counts, Mapping):
            raise InputError(f"counts must be a mapping from values to counts, got {type(counts).__name__}")
        return cls(list(counts), list(counts.values()))

    def to_state(self) -> dict[str, object]:
        """As plain values for JSON; no float loses a bit."""
        return {"values": [form.value_to(value) for value in self.values], "weights": self.weights.tolist()}

    @classmethod
    def from_state(cls, state: object, where: str, room: form.Room) -> Self:
        """What `to_state` gave, every field checked; an `InputError` names the one that is wrong."""
        content = form.fields(state, ("values", "weights"), where)
        given = room.take(content["values"], f"{where}.values")
        values = [form.value_from(value, f"{where}.values[{k}]") for k, value in enumerate(given)]
        weights = form.exactly(content["weights"], f"{where}.weights", len(values))
        numbers = [form.number(w, f"{where}.weights[{k}]", least=0) for k, w in enumerate(weights)]
        try:
            return cls(values, numbers)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None

    def __eq__(self, other: object) -> bool:
        """Whether the same values stand in the same order with the same weights."""
        if not isinstance(other, Finite):
            return NotImplemented
        return list(self._place) == list(other._place) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((tuple(self._place), self.weights.tobytes()))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the two lists, so that what is unpickled has been validated again."""
        return type(self), (self.values, self.weights)

    def __len__(self) -> int:
        """The number of distinct values."""
        return len(self.values)

    def __repr__(self) -> str:
        """Code that makes the law again while it is short, a summary where it is long."""
        if len(self) <= 6:
            return f"Finite({list(self.values)!r}, {self.weights.tolist()!r})"
        width = len(self.values[0]) if isinstance(self.values[0], tuple) else 0
        rows = f"rows of {width} columns" if width else "numbers" if self.is_numeric else "values"
        return f"<Finite law on {len(self)} {rows}, total weight {self.total:.6g}>"

    @property
    def probabilities(self) -> Array:
        """The weights divided by their sum."""
        # Weights near the smallest float lose their digits in a quotient; the proofs use the weights themselves.
        with np.errstate(under="ignore"):
            shares: Array = self.weights / self.total
        shares.setflags(write=False)
        return shares

    def probability(self, value: object) -> float:
        """The probability of one value; 0 for a value that is not on the list.

        Args:
            value: any value, on the list or not; 1 and 1.0 are one value, 1 and True are two.

        Returns:
            Its weight divided by the sum of all.
        """
        place = self._place.get(key(plain([value], name="value")[0]))
        return 0.0 if place is None else float(self.weights[place] / self.total)

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number; truth values are labels."""
        return all(map(number, self.values))

    def on_the_line(self) -> Mixture | None:
        """The same law as points on the line, for noise; None where a value is no number.

        Returns:
            A mixture of point masses with the same weights. Numbers can then be published with noise instead of through
            a channel matrix.
        """
        if not self.is_numeric:
            return None
        kept = self.weights > 0
        means = np.array([float(value) for value in self.values])[kept]  # type: ignore[arg-type]
        return Mixture(self.probabilities[kept], means, np.zeros(len(means)))

    @property
    def mean(self) -> float:
        """The expectation, where the values are numbers."""
        values, shares = self._numbers("mean"), self.probabilities
        return math.fsum((values * shares).tolist())

    @property
    def std(self) -> float:
        """The standard deviation, where the values are numbers."""
        values, shares = self._numbers("std"), self.probabilities
        gaps = values - self.mean
        scale = float(np.abs(gaps).max()) or 1.0  # squares of far or close values leave the range of floats
        with np.errstate(under="ignore"):
            return scale * math.sqrt(math.fsum(((gaps / scale) ** 2 * shares).tolist()))

    def _numbers(self, what: str) -> Array:
        if not self.is_numeric:
            raise InputError(f"a law on labels or rows has no {what}: only a law whose values are all numbers has one")
        values = np.array(self.values, dtype=np.float64)
        if np.abs(values).max() > 1e300:  # the difference of two such numbers may be beyond the largest float
            raise InputError(f"the values are too large for a {what}: give them in a larger unit")
        return values


def is_certain(law: object) -> bool:
    """Whether a law puts all of its weight on one value of a list.

    Args:
        law: a law of any kind.

    Returns:
        True for a point mass on a list of values. Others may be on the list with weight 0.

    >>> is_certain(Finite(["no", "yes"], [0, 1])), is_certain(Finite(["no", "yes"], [1, 1]))
    (True, False)
    """
    return isinstance(law, Finite) and int(np.count_nonzero(law.probabilities)) == 1
