"""Where values stand on a list: numbers by bisection, labels by hashing, rows column by column.

A value that is not on the list is refused without being shown: it is somebody's.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.errors import InputError
from takifugu.laws.values import Scalar, Value, columns, key, number

Integers = npt.NDArray[np.int64]
_ABSENT = -1
_CHUNK = 16_384  # values at a time, so that the working arrays stay in the processor's cache


class Positions:
    """A list of distinct plain values that finds the places of many values at once."""

    def __init__(self, values: Sequence[Value]) -> None:
        """Prepare the look-up; `values` come from `takifugu.laws.values.plain`."""
        self.width = len(values[0]) if isinstance(values[0], tuple) else 0
        self._columns = [_Column(column) for column in columns(values)]
        self._known: list[Integers] = []  # for each column, the codes that its entry and those before it may have
        code = self._columns[0].own
        for column in self._columns[1:]:
            known, code = np.unique(code * len(column) + column.own, return_inverse=True)
            self._known.append(known)
        self._order = np.argsort(code)  # every row has a code of its own, and the codes are 0 to n-1
        for array in (self._order, *self._known, *(part for column in self._columns for part in column.arrays)):
            array.setflags(write=False)  # a look-up that could be changed would publish through another row

    def of(self, values: Any) -> Integers:
        """The place of each value, or an error; rows come as tuples or as an array with a column for each entry."""
        if self.width == 0:
            return self.of_columns([values])
        two = getattr(values, "ndim", 1) == 2  # an array or a data frame
        rows = np.asarray(values, dtype=getattr(values, "dtype", object)) if two else _rows(values, self.width)
        if rows.shape[1] != self.width:
            raise InputError(f"the rows must have {self.width} columns, got {rows.shape[1]}")
        return self.of_columns([rows[:, column] for column in range(self.width)])

    def of_columns(self, given: Sequence[Any]) -> Integers:
        """The place of each row whose entries are given column by column; one column for values that are no rows."""
        if len(given) != len(self._columns):
            raise InputError(f"{len(self._columns)} columns are needed, got {len(given)}")
        lists = [_one_list(values) for values in given]
        if len({len(values) for values in lists}) > 1:
            raise InputError(f"the columns must be equally long, got {', '.join(str(len(values)) for values in lists)}")
        found = np.empty(len(lists[0]), dtype=np.int64)
        for start in range(0, len(found), _CHUNK):
            part = slice(start, start + _CHUNK)
            found[part] = self._places([values[part] for values in lists])
        absent = np.flatnonzero(found == _ABSENT)
        if absent.size:
            raise InputError(
                f"{absent.size} of {len(found)} values are not among the channel's inputs (the first at position "
                f"{int(absent[0])}): publish only what the channel was made for, of the same type, or bring other "
                f"values to the nearest input first"
            )
        return found

    def _places(self, lists: Sequence[npt.NDArray[Any]]) -> Integers:
        """The place of each row, or -1."""
        code = self._columns[0].of(lists[0])
        absent = code == _ABSENT
        # Column by column, so that the codes stay small however many combinations of entries there could be.
        for column, known, values in zip(self._columns[1:], self._known, lists[1:], strict=True):
            places = column.of(values)
            wanted = code * len(column) + places
            code = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            absent |= (places == _ABSENT) | (known[code] != wanted)
        return np.where(absent, _ABSENT, self._order[code])


class _Column:
    """The distinct scalars of one column; `own` is where each entry of the list stands among them."""

    def __init__(self, entries: Sequence[Scalar]) -> None:
        places: dict[Any, int] = {}
        self.own = np.array([places.setdefault(key(entry), len(places)) for entry in entries], dtype=np.int64)
        self._places = places
        # Python takes True for 1, so each type has a dictionary of its own.
        self._texts = {entry: place for (_, entry), place in places.items() if isinstance(entry, str)}
        numbers = sorted(
            (float(entry), place) for (truth, entry), place in places.items() if not truth and number(entry)
        )
        self._numbers = np.array([entry for entry, _ in numbers], dtype=np.float64)
        self._number_places = np.array([place for _, place in numbers], dtype=np.int64)
        self._truth = np.array([places.get((True, truth), _ABSENT) for truth in (False, True)], dtype=np.int64)

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """All that the look-up rests on."""
        return self.own, self._numbers, self._number_places, self._truth

    def __len__(self) -> int:
        return len(self._places)

    def of(self, values: npt.NDArray[Any]) -> Integers:
        """The place of each value, or -1."""
        by_kind: dict[str, Callable[[npt.NDArray[Any]], Integers]] = {
            "b": lambda given: self._truth[given.astype(np.int64)],
            "i": self._of_numbers,
            "u": self._of_numbers,
            "f": self._of_numbers,
            "U": lambda given: self._of_texts(given.tolist()),
            "T": lambda given: self._of_texts(given.tolist()),
            "O": self._of_objects,
        }
        if values.dtype.kind not in by_kind:
            raise InputError(f"values of type {values.dtype} cannot be published: give numbers, texts or truth values")
        return by_kind[values.dtype.kind](values)

    def _of_numbers(self, given: npt.NDArray[Any]) -> Integers:
        if not len(self._numbers):
            return np.full(len(given), _ABSENT, dtype=np.int64)
        # Whole numbers beyond 2⁵³ are rounded here, but no number on a list is so large: they stay absent.
        wanted = given.astype(np.float64)
        place = np.minimum(np.searchsorted(self._numbers, wanted), len(self._numbers) - 1)
        return np.where(self._numbers[place] == wanted, self._number_places[place], _ABSENT)

    def _of_texts(self, given: list[str]) -> Integers:
        find = self._texts.get
        return np.fromiter((find(text, _ABSENT) for text in given), dtype=np.int64, count=len(given))

    def _of_objects(self, values: npt.NDArray[Any]) -> Integers:
        given = values.tolist()
        kinds = set(map(type, given))
        if kinds <= {str}:
            return self._of_texts(given)
        if kinds <= {int, float}:
            with suppress(OverflowError):  # a whole number beyond the largest float, which the slow way refuses
                return self._of_numbers(np.array(given, dtype=np.float64))
        return np.fromiter(map(self._of_one, given), dtype=np.int64, count=len(given))

    def _of_one(self, value: Any) -> int:
        if isinstance(value, np.generic):
            value = value.item()
        if type(value) not in (bool, int, float, str):
            return _ABSENT
        return self._places.get(key(value), _ABSENT)


def _one_list(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        raise InputError("a masked array holds values it hides: give x.compressed(), or x.filled(value)")
    if isinstance(values, str | bytes):
        raise InputError("the values must be a list, got one text")
    if isinstance(values, list | tuple) and len(set(map(type, values))) > 1:
        array = np.empty(len(values), dtype=object)  # numpy would turn the numbers of a mixed list into texts
        array[:] = values
    else:
        array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"the values must be one list, got an array of shape {array.shape}")
    return array


def _rows(values: Any, width: int) -> npt.NDArray[Any]:
    """A list of tuples as an array of objects with one column for each entry."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InputError(f"the values must be rows of {width} entries, got one {type(values).__name__}")
    given = list(values)
    if not all(isinstance(row, tuple | list) and len(row) == width for row in given):
        raise InputError(f"each value must be a row (a tuple) of {width} entries, one per column of the channel")
    array = np.empty((len(given), width), dtype=object)
    for column in range(width):
        array[:, column] = [row[column] for row in given]
    return array
