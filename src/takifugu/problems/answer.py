"""What is published: the one thing that a calibration is for."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.errors import InputError
from takifugu.laws import Lattice, Value, key, number, plain

# What a column of a published row may say: a finite list, and how values find their place in it.

Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Choices:
    """The values of one column. Numbers go to the nearest; other labels must be on the list, or become `other`.

    `is_read` says that the list was read from data, and so is no public knowledge: a number beyond its ends then comes
    from another table, and is refused where a public list would take it in.

    >>> Choices((20, 30, 40)).places([24, 26, 90]).tolist()
    [0, 1, 2]
    >>> Choices(("A", "B"), other="B").places(["A", "C"]).tolist()
    [0, 1]
    """

    values: tuple[Value, ...]
    other: Any = None
    is_read: bool = False

    def __post_init__(self) -> None:
        """Refuse an empty list, values that look alike, and an `other` that is not on the list."""
        if not self.values:
            raise InputError("a domain must list at least one value")
        values = plain(self.values, name="domain")
        if len(set(map(key, values))) < len(values):
            raise InputError("a domain must list each value once")
        object.__setattr__(self, "values", tuple(sorted(values)) if all(map(number, values)) else values)
        if self.other is not None and key(plain([self.other], name="other")[0]) not in self._place:
            raise InputError(f"other={self.other!r} must be one of the values of the domain")

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers, to the nearest of which others go."""
        return all(map(number, self.values))

    @cached_property
    def _place(self) -> dict[object, int]:
        return {key(value): where for where, value in enumerate(self.values)}

    def places(
        self,
        values: Sequence[object] | npt.NDArray[np.generic],
        column: str = "the column",
        tallies: Sequence[float] | None = None,
    ) -> Places:
        """Where each value stands on the list; an error, which shows none, for a value that has no place.

        `tallies` are the rows that each value stands for, by default one.

        Args:
            values: the cells of a column.
            column: its name, for errors.
            tallies: how many rows each of them stands for.

        Returns:
            For each value a place on the list, counted from 0.

        Raises:
            InputError: for labels that are on no list where nothing stands for them, for missing values, and for
                numbers that lie beyond a list which was read from data.
        """
        if self.is_numeric:
            return self._nearest(values, column, tallies)
        array = np.asarray(values, dtype=object)
        distinct, where = _distinct(array)
        found = [self._place.get(key(value)) for value in distinct]
        missing = [place is None for place in found]
        if any(missing) and self.other is None:
            rows = np.bincount(where, weights=tallies, minlength=len(found))
            raise InputError(
                f"{int(rows[missing].sum()):,} of {int(rows.sum()):,} rows have a value in {column!r} that is not in "
                f"its domain: add it to the domain of {column!r}, or say what it becomes with other=; if it should not "
                f"be there, this is another column or file"
            )
        other = self._place[key(self.other)] if self.other is not None else 0
        places: Places = np.array([other if place is None else place for place in found], dtype=np.intp)[where]
        return places

    def off_list(self, values: Sequence[object], tallies: Sequence[float]) -> int:
        """How many rows have another value than those listed, which is rounded, or put into `other`, first.

        >>> Choices((20, 30)).off_list([20, 21.5, 30.0], [5, 2, 1])
        2
        """
        return int(sum(n for value, n in zip(values, tallies, strict=True) if key(value) not in self._place))

    def spelled(self, label: Callable[[Value], Value]) -> "Choices":
        """The list as a table that was tidied calls its labels.

        >>> Choices(("Ward A", "WARD B", "ward a"), other="Ward A").spelled(tidy)
        Choices(values=('ward a', 'ward b'), other='ward a', is_read=False)
        """
        values = tuple(dict.fromkeys(map(label, self.values)))
        return Choices(values, other=None if self.other is None else label(self.other), is_read=self.is_read)

    def _nearest(self, values: object, column: str, tallies: Sequence[float] | None) -> Places:
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"column {column!r} holds something else than numbers, and its domain is numbers: if words among them "
                f"mean a missing value, name them with sentinels=; otherwise this is another column or file"
            ) from None
        if numbers.ndim != 1:
            raise InputError(f"column {column!r} must be one list of numbers, got an array of shape {numbers.shape}")
        if np.isnan(numbers).any():
            raise InputError(f"column {column!r} has missing values: drop or fill those rows before publishing")
        points = np.array(self.values, dtype=np.float64)
        if self.is_read and len(points) > 1:
            room = np.diff(points).max()
            beyond = (numbers < points[0] - room) | (numbers > points[-1] + room)
            rows = np.ones(len(numbers)) if tallies is None else np.asarray(tallies)
            if rows[beyond].any():
                raise InputError(
                    f"{int(rows[beyond].sum()):,} of {int(rows.sum()):,} values of {column!r} lie beyond what its "
                    f"domain was read from: this is another column or file, or the table has changed. Calibrate with "
                    f"this table, or give a domain that is public"
                )
        edges = points[:-1] + 0.5 * np.diff(points)
        return np.searchsorted(edges, numbers, side="right")


def _distinct(array: npt.NDArray[np.generic]) -> tuple[list[object], Places]:
    """The distinct values, told apart by type too, and where each row's is."""
    seen: dict[object, int] = {}
    first: list[object] = []
    where = np.empty(len(array), dtype=np.intp)
    for row, value in enumerate(array.tolist()):
        if not isinstance(value, str | int | float):
            value = None  # a list, a date: on no list, and not everything can be looked up
        tag = (type(value), value)
        if tag not in seen:
            seen[tag] = len(first)
            first.append(value)
        where[row] = seen[tag]
    return first, where


# What stands for one value a row, and what stands for one number about a group of rows.
OF_ROWS = ("raw", "row")
MEAN = "mean"
MODELS = ("gp", "bnn")  # a new observation, drawn from what a model predicts,
MEAN_OF = {"gp": "gp-mean", "bnn": "bnn-mean"}  # and the mean of the same prediction
OF_GROUPS = (MEAN, *MODELS, *MEAN_OF.values())

TABLE_MEAN, TABLE_COUNT = "table-mean", "table-count"  # of all rows, whose secret is of the whole table
OF_TABLES = (TABLE_MEAN, TABLE_COUNT)

MEAN_BY = "mean-by"  # several means, each over rows of its own: no draws of a common covariance stand for them

_WORDS = {
    "raw": "a published value of {}",
    "row": "a published row of {}",
    MEAN: "the published mean of {}",
    TABLE_MEAN: "the published mean of {} over all rows",
    TABLE_COUNT: "the published count of a value of {} among all rows",
    MEAN_BY: "the published means: {}",
    "gp": "a Gaussian process's prediction of {}",
    "bnn": "a Bayesian neural network's prediction of {}",
    "gp-mean": "the mean of a Gaussian process's prediction of {}",
    "bnn-mean": "the mean of a Bayesian neural network's prediction of {}",
}


@dataclass(frozen=True)
class Spelling:
    """What the cells of a text file meant when its priors were fitted: a second file must mean the same by them."""

    decimal: str | None = None
    thousands: str | None = None
    na: tuple[str, ...] | None = None
    sentinels: tuple[str | int | float, ...] = ()
    tidy: bool = False
    merge: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def label(self, value: Any) -> Any:
        """What a label that somebody typed is called in the table: tidy and merged as the cells are.

        >>> Spelling(tidy=True, merge=(("rare", ("hiv",)),)).label(" HIV "), Spelling().label(" HIV ")
        ('rare', ' HIV ')
        """
        if not isinstance(value, str):
            return value
        plain = tidy(value) if self.tidy else value
        return next((into for into, of in self.merge if plain in of), plain)


def tidy(label: str) -> str:
    """A label in small letters, with one blank between words and none around them.

    >>> tidy("Sickle  Cell ")
    'sickle cell'
    """
    return " ".join(label.split()).lower()


@dataclass(frozen=True)
class Answer:
    """Which query about which columns, which column is the secret, and what the adversary knows beside it.

    `domain` is what values may be published: a `Lattice`, to which numbers are clipped and rounded first, or the
    `Choices` of each column of a row; None where values are published as they are. `step` is the distance between
    values as they are stored, 0 where they are not rounded. `is_read` says that the ends of a lattice were read from
    data: a value beyond them then comes from another table, where public bounds would take it in. `spelling` is how the
    cells of a file were read. `private` is the ε_f of the discrete Laplace noise that is in the counts behind the laws,
    P(z) ∝ e^(−|z|ε_f/2); 0 where they are the rows' own. No `secret` is named where every value is hidden from every
    other, by a channel that needs no data.
    """

    query: str
    columns: tuple[str, ...]
    secret: tuple[str, ...]
    known: tuple[str, ...] = ()
    domain: Lattice | tuple[Choices, ...] | None = None
    step: float = 0.0
    is_read: bool = False
    spelling: Spelling | None = field(default=None, compare=False)
    private: float = 0.0

    @property
    def lattice(self) -> Lattice | None:
        """The points that numbers are brought to; None where there are none, or each column has a list."""
        return None if isinstance(self.domain, tuple) else self.domain

    @property
    def lists(self) -> tuple[Choices, ...]:
        """The list that each column of a row is published from; empty where there is none."""
        return self.domain if isinstance(self.domain, tuple) else ()

    def domain_of(self, column: str) -> Choices | None:
        """The list that a column of a row is published from; None where there is none.

        Args:
            column: the name of a column.

        Returns:
            Its list, or None for a column that is none of the answer's, or is published from no list.
        """
        return dict(zip(self.columns, self.lists, strict=bool(self.lists))).get(column)

    @property
    def is_of_rows(self) -> bool:
        """Whether each person's own value is published, not one number about a group."""
        return self.query in OF_ROWS

    @property
    def whose(self) -> str:
        """Whom one number that is no person's is about."""
        return "the whole table" if self.query in OF_TABLES else "a group"

    @property
    def is_public(self) -> bool:
        """Whether the list of what may be published is the user's own, and so tells nothing about the data.

        The rows of several columns that a channel lists are those that occur, but for private counts.
        """
        if self.private or not self.secret:
            return True
        return len(self.lists) == 1 and not self.lists[0].is_read

    def merged(self, secrets: Iterable[object]) -> tuple[str, ...]:
        """The secrets that several labels became: such labels are not hidden from one another.

        It follows from how the table was to be read, and not from which labels it had: spellings that differ in case
        and blanks are one label.

        Args:
            secrets: those that are hidden.

        Returns:
            The labels that others were merged into.
        """
        spelling, known = self.spelling or Spelling(), set(map(str, secrets))
        joined = (into for into, of in spelling.merge if len({tidy(one) for one in (into, *of)}) > 1)
        return tuple(into for into in joined if known & {into, *(f"{name} = {into}" for name in self.secret)})

    @property
    def words(self) -> str:
        """What is published, for a sentence."""
        return _WORDS.get(self.query, f"the answer {self.query!r} about {{}}").format(", ".join(self.columns))

    def __str__(self) -> str:
        """The query and its columns, as the command line writes them."""
        return f"{self.query}:{','.join(self.columns)}"
