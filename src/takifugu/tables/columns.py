"""Columns of a table: named, cut at edges, and as their distinct cells with a code for each row.

A column cut at edges is itself the name of a column, so that it may stand wherever a column is named.
"""

import math
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import real
from takifugu.errors import InputError
from takifugu.tables.engine import as_float, attempt, kind_of

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from narwhals.typing import IntoSeries

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


class Binned(str):
    """The name of a column of numbers and edges: of each number only the bin matters.

    >>> Binned("age", (30.0, 45.5))
    'age:30:45.5'
    """

    __slots__ = ("column", "edges")
    column: str
    edges: tuple[float, ...]

    def __new__(cls, column: str, edges: tuple[float, ...]) -> "Binned":
        """The name, with its parts."""
        made = super().__new__(cls, ":".join([column, *map(written, edges)]))
        made.column, made.edges = column, edges
        return made

    def __getnewargs__(self) -> tuple[str, tuple[float, ...]]:  # type: ignore[override]
        """What makes it again, for copies and other processes."""
        return self.column, self.edges

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins in words, in their order.

        >>> binned("age", [30, 45]).labels
        ('below 30', 'from 30 to 45', 'from 45')
        """
        inner = (f"from {written(low)} to {written(high)}" for low, high in pairwise(self.edges))
        return f"below {written(self.edges[0])}", *inner, f"from {written(self.edges[-1])}"

    def of(self, schema: "Mapping[str, nw.dtypes.DType]", engine: "nw.Implementation") -> "nw.Expr":
        """The bin of each row; null where there is no number."""
        import narwhals as nw

        dtype = schema[self.column]
        if not dtype.is_numeric():
            raise InputError(
                f"column {self.column!r} holds {kind_of(dtype)}, and only numbers can be cut at edges: if words among "
                f"its numbers mean a missing value, name them with sentinels=; of dates make a column of years first"
            )
        value, (*lower, bin_) = as_float(self.column, dtype, engine), map(nw.lit, self.labels)
        for edge, label in zip(reversed(self.edges), reversed(lower), strict=True):
            bin_ = nw.when(value < edge).then(label).otherwise(bin_)
        return nw.when(~value.is_null() & ~value.is_nan()).then(bin_).alias(self)


def binned(column: str, edges: Sequence[float]) -> Binned:
    """A column cut at edges, to be named where a column is: a value at an edge belongs to the bin above it.

    Args:
        column: a column of numbers.
        edges: at which it is cut, in increasing order.

    Returns:
        A name, for `secret`, `columns` or `known`.

    Raises:
        InputError: for edges that are no numbers, or do not increase.

    >>> binned("age", [30, 45, 60])
    'age:30:45:60'
    """
    if not isinstance(column, str):
        raise InputError(f"column must be the name of a column, got {column!r}")
    if isinstance(edges, str) or not isinstance(edges, Sequence) or not edges:
        raise InputError(f"edges must be a list of numbers, such as [30, 45, 60]; got {edges!r}")
    cuts = [real("an edge", edge, "a finite number") for edge in edges]
    if any(low >= high for low, high in pairwise(cuts)):
        raise InputError(f"edges must grow from one to the next, got {list(edges)} for {column!r}")
    return Binned(column, tuple(cuts))


def cut_named(name: object, available: Container[str] | None = None) -> Binned | None:
    """The cut that a name stands for, of a column that is there; None where it stands for itself.

    Args:
        name: such as "age:30:45".
        available: the names of the columns that there are, one of which may have a colon in it.

    Returns:
        The cut, or None.

    Raises:
        InputError: for edges that do not increase.

    >>> cut_named("age:30:45").column, cut_named("age"), cut_named("visit:1:30", ["visit:1"]).edges
    ('age', None, (30.0,))
    """
    if not isinstance(name, str) or (available is not None and name in available):
        return None
    parts = name.split(":")
    starts = [k for k in range(1, len(parts)) if all(map(_NUMBER.fullmatch, parts[k:]))]
    # Of a table, behind the longest name that it has; without one, whatever looks like an edge is one.
    for start in starts[:1] if available is None else reversed(starts):
        column = ":".join(parts[:start])
        if column and (available is None or column in available):
            return binned(column, [float(edge) for edge in parts[start:]])
    return None


def edges_of(name: object, columns: Iterable[str]) -> str:
    """How edges are written, to whoever wrote some another way behind the name of a column; nothing to others.

    >>> print(edges_of("pay:20.000:50.000", ["age", "pay"]).strip())
    Edges are numbers with a decimal point, without thousands marks or needless zeros: 'pay:20:50' cuts at 20 and 50.
    >>> edges_of("pay", ["age", "pay"])
    ''
    """
    column = next((one for one in columns if str(name).startswith(f"{one}:")), None)
    if column is None or not any(map(str.isdigit, str(name)[len(column) :])):
        return ""
    cut = cut_named(name, [column]) or Binned(column, (30.0, 45.5))
    cuts = " and ".join(map(written, cut.edges))
    told = "Edges are numbers with a decimal point, without thousands marks or needless zeros"
    return f" {told}: {str(cut)!r} cuts at {cuts}."


def with_cuts(frame: Any, names: Iterable[object]) -> Any:
    """A narwhals table with the cuts among these names as columns of their own; other names are not looked at."""
    schema = frame.collect_schema()
    cuts = [cut for name in dict.fromkeys(names) if (cut := cut_named(name, schema)) is not None]
    return frame.with_columns(*(cut.of(schema, frame.implementation) for cut in cuts)) if cuts else frame


def cell_in_words(name: str, value: object) -> str:
    """What is known of a person whose value this is.

    >>> cell_in_words("sex", "f"), cell_in_words(binned("age", [30]), "below 30"), cell_in_words("age:30", None)
    ('sex = f', 'age below 30', 'age missing')
    """
    cut = cut_named(name)
    if value is None:
        return f"{name if cut is None else cut.column} missing"
    return f"{name} = {value}" if cut is None or value not in cut.labels else f"{cut.column} {value}"


def reads_as_more(name: str, value: object, known: Iterable[str]) -> bool:
    """Whether a text reads as if it said what another known column holds: two cells would be called the same.

    >>> reads_as_more("ward", "f, floor = 1", ["ward", "floor"]), reads_as_more("ward", "f, g", ["ward", "floor"])
    (True, False)
    """
    others = [one for other in known if other != name for one in (other, getattr(cut_named(other), "column", other))]
    return isinstance(value, str) and any(f", {one} " in f"{value} " for one in others)


def written(edge: float) -> str:
    """A number as one types it, so that reading it gives the same number."""
    return str(int(edge)) if edge.is_integer() and abs(edge) < 2**53 else repr(edge)


# Secrets as people write them: plain values, and which of those in a column a given one stands for.

Secret = str | int | float | bool

_PLAIN = frozenset({str, int, bool})  # as they are; a float may be NaN


_MISSING = ("NAType", "NaTType")  # pandas' own are told by their types, so that pandas need not be there


def plain(value: Any) -> Secret | None:
    """A secret as the plain Python value that people write, None where there is none.

    >>> import numpy as np
    >>> plain(np.int64(3)), plain("a"), plain(float("nan"))
    (3, 'a', None)
    """
    if type(value) in _PLAIN:  # nearly all of millions of cells
        return value  # type: ignore[no-any-return]
    if hasattr(value, "item"):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in _MISSING:
        return None
    return value if isinstance(value, bool | int | float) else str(value)


def match_secret(given: object, known: Iterable[Secret]) -> Secret | None:
    """The known secret that `given` stands for, None where there is none.

    1, 1.0 and the text '1' are one, and so are a truth value and its name in any capitals. Spaces count in texts: a
    file in which " yes" is not "yes" has two secrets there, and which one is meant is not for us to guess.

    Args:
        given: as somebody typed it, or as another table has it.
        known: the secrets that there are.

    Returns:
        One of them, or None.

    >>> match_secret("1", [1, 2]), match_secret(1.0, ["1", "2"]), match_secret("3", [1, 2])
    (1, '1', None)
    >>> match_secret("TRUE", [True, False]), match_secret(True, ["true", "false"]), match_secret(" yes ", ["yes"])
    (True, 'true', None)
    """
    known = list(known)
    for candidate in known:
        if candidate == given and isinstance(candidate, bool) == isinstance(given, bool):
            return candidate
    spelled = _spelling(given)
    matches = [candidate for candidate in known if _spelling(candidate) == spelled]
    if not matches and (truth := _truth(given)) is not None:
        matches = [candidate for candidate in known if _truth(candidate) is truth]
    if not matches:  # a column of truth in an engine that knows only 0 and 1
        matches = [candidate for candidate in known if candidate == given]
    return matches[0] if matches else None


def listed(items: Iterable[object], most: int = 20) -> str:
    """Items for a sentence: the first few, and how many more there are."""
    items = list(items)
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def _spelling(value: Any) -> str:
    if isinstance(value, bool):
        return str(value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value)
    return repr(number) if math.isfinite(number) else str(value)


def _truth(value: object) -> bool | None:
    return {"true": True, "false": False}.get(str(value).lower()) if isinstance(value, str | bool) else None


# A column as its distinct cells and a code for each row, so that Python looks at each cell once and never at a row.
#
# A library that knows the distinct cells of a column finds them in its own memory (a dictionary of PyArrow's, a
# factorisation of pandas'). What a cell means is then asked of the few distinct ones, and rows are taken by their
# codes.


Codes = npt.NDArray[np.integer[Any]]

_NARROW = 1 << 16  # how far whole numbers may lie apart to be told apart by counting
_EXACT = 1 << 53
_ALIKE = (str, int, bool, type(None))  # equal ones of one of these types are the same in every way


@dataclass(frozen=True, eq=False)
class Coded:
    """The cells that occur in a column, each once or more, and for each row the place of its own among them.

    >>> column = Coded.of_list(["a", "b", "a", 1, True])
    >>> column.cells.tolist(), column.codes.tolist()
    (['a', 'b', 1, True], [0, 1, 0, 2, 3])
    """

    cells: npt.NDArray[np.generic]
    codes: Codes

    @classmethod
    def of(cls, column: "nw.Series[IntoSeries]") -> "Coded":
        """A column of any library, its cells as its own `to_list` has them; every cell is some row's."""
        native: pd.Series | pl.Series | pa.ChunkedArray = column.to_native()
        if column.implementation.is_pyarrow():
            found = _of_arrow(native)
        elif column.implementation.is_polars():
            found = _of_polars(native)
        elif column.implementation.is_pandas():
            found = _of_pandas(native)
        else:
            found = None
        return cls.of_list(column.to_list()) if found is None else found

    @classmethod
    def of_list(cls, values: Iterable[object]) -> "Coded":
        """A list of anything, cell by cell; only what is alike in every way is one cell."""
        seen: dict[object, int] = {}
        first: list[object] = []
        codes: list[int] = []
        for value in values:
            kind = type(value)
            # 1, 1.0 and True are equal and not the same, nor are two zeros, or decimals with more digits or fewer.
            tag = (kind, value) if kind in _ALIKE else (kind, value, repr(value))
            try:
                code = seen.setdefault(tag, len(first))
            except TypeError:  # a list, which no dictionary holds
                code = len(first)
            if code == len(first):
                first.append(value)
            codes.append(code)
        return cls(objects(first), np.array(codes, dtype=np.int64))

    @classmethod
    def of_array(cls, values: npt.NDArray[np.generic]) -> "Coded":
        """An array: of whole numbers near one another by counting, of others by sorting them."""
        if values.dtype.kind in "OUT":
            return cls.of_list(values.tolist())
        if values.dtype.kind not in "biuf":
            return cls(values, np.arange(len(values)))
        if not is_narrow(values):
            cells, codes = np.unique(values, return_inverse=True)
            return cls(cells, codes)
        least = int(values.min())
        above = values.astype(np.int64) - least
        there = np.flatnonzero(np.bincount(above))
        place = np.empty(int(there[-1]) + 1, dtype=np.int64)
        place[there] = np.arange(len(there))
        return cls((there + least).astype(values.dtype), place[above])

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.codes)

    def map(self, work: Callable[[Any], object]) -> "Coded":
        """The column with another cell in place of each."""
        return Coded(objects([work(cell) for cell in self.cells.tolist()]), self.codes)

    def merged(self) -> "Coded":
        """The column with equal cells as one, by what a dictionary takes for equal."""
        places: dict[object, int] = {}
        codes = [places.setdefault(cell, len(places)) for cell in self.cells.tolist()]
        return Coded(objects(list(places)), np.array(codes, dtype=np.int64)[self.codes])

    def taken(self, kept: npt.NDArray[np.generic]) -> "Coded":
        """Some rows, named by a mask or by their places; cells may be no row's then."""
        return Coded(self.cells, self.codes[kept])

    def without(self, lacking: npt.NDArray[np.bool_]) -> "Coded":
        """The column with None in these rows."""
        return Coded(objects([*self.cells.tolist(), None]), np.where(lacking, len(self.cells), self.codes))

    @property
    def tallies(self) -> npt.NDArray[np.int64]:
        """How many rows have each cell."""
        return np.bincount(self.codes, minlength=len(self.cells))

    @property
    def rows(self) -> npt.NDArray[np.generic]:
        """The column cell by cell."""
        return self.cells[self.codes]


def is_narrow(values: npt.NDArray[np.generic]) -> bool:
    """Whether these are whole numbers near one another, and no zero among them has a sign."""
    if not len(values) or values.dtype.kind not in "iuf":
        return False
    least, most = float(values.min()), float(values.max())
    if not (most - least < _NARROW and abs(least) < _EXACT):
        return False
    return values.dtype.kind != "f" or bool(
        (values == np.floor(values)).all() and not np.signbit(values[values == 0]).any()
    )


def objects(values: list[object]) -> npt.NDArray[np.object_]:
    """A list as an array that holds the very same objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def pairs_of(first: Coded, second: Coded) -> tuple[list[object], list[object]]:
    """The combinations of two columns' cells that occur, each once."""
    both = np.unique(first.codes.astype(np.int64) * len(second.cells) + second.codes)
    return first.cells[both // len(second.cells)].tolist(), second.cells[both % len(second.cells)].tolist()


def _of_arrow(column: "pa.ChunkedArray") -> Coded | None:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        return None
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # of no rows, or of more letters than one array holds
        return None
    encoded, _ = attempt(lambda: whole.dictionary_encode(null_encoding="encode"))
    if encoded is None:
        return None
    return Coded(objects(encoded.dictionary.to_pylist()), encoded.indices.to_numpy(zero_copy_only=False))


def _of_polars(column: "pl.Series") -> Coded | None:
    import polars as pl

    dtype = column.dtype
    if not (dtype.is_integer() or dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Float32, pl.Float64)):
        return None  # PyArrow makes other objects of some dates and times
    arrow, _ = attempt(column.to_arrow)
    return None if arrow is None else _of_arrow(arrow)


def _of_pandas(column: "pd.Series") -> Coded | None:
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        # Of all categories only those that some row has; the last is for rows without any.
        codes = column.cat.codes.to_numpy()
        there, places = np.unique(codes, return_inverse=True)
        cells = [*column.cat.categories.tolist(), np.nan]
        return Coded(objects([cells[code] for code in there.tolist()]), places)
    if isinstance(kind, np.dtype) and kind.kind in "iu":
        codes, cells = pd.factorize(column.to_numpy())
        return Coded(objects(cells.tolist()), codes)
    is_text = isinstance(kind, pd.StringDtype) or (
        column.dtype.name == "object" and pd.api.types.infer_dtype(column, skipna=True) == "string"
    )
    if not is_text:
        return None
    codes, cells = pd.factorize(column, use_na_sentinel=False)
    return Coded(objects(cells.tolist()), codes)
