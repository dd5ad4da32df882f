"""A column as its distinct cells and a code for each row, so that Python looks at each cell once and never at a row.

A library that knows the distinct cells of a column finds them in its own memory (a dictionary of PyArrow's, a
factorisation of pandas'). What a cell means is then asked of the few distinct ones, and rows are taken by their codes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu.tables.engine import attempt

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from narwhals.typing import IntoSeries

Codes = npt.NDArray[np.integer[Any]]

_NARROW = 1 << 16  # how far whole numbers may lie apart to be told apart by counting
_EXACT = 1 << 53
_PLAIN = (str, int, bool, type(None))  # equal ones of one of these types are the same in every way


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
            tag = (kind, value) if kind in _PLAIN else (kind, value, repr(value))
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
