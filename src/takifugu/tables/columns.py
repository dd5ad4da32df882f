"""A column cut at edges: itself the name of a column, so that it may stand wherever a column is named."""

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from takifugu._validation import real
from takifugu.errors import InputError
from takifugu.tables.engine import as_float, kind_of

if TYPE_CHECKING:
    import narwhals as nw


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
