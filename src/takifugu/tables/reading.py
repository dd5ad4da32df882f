"""How a table is to be read: the decisions that a user may force, and what they default to."""

import csv
from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from takifugu._validation import no_text, one_of
from takifugu.errors import InputError
from takifugu.problems import Diagnostic, Spelling
from takifugu.problems import tidy as as_tidy
from takifugu.tables.engine import as_float

if TYPE_CHECKING:
    import narwhals as nw

    from takifugu.tables.table import Table


SEPARATORS = ("\t", "|", ";", ",")  # the rarer in running text, the earlier: it wins where two fit equally well
MISSING_TEXTS = ("", "NA", "N/A", "n/a", "NULL", "null", "None", "nan", "NaN", "<NA>", "#N/A", "-", ".")
_GROUPS = ("", ",", ".", " ", "'")
ALL_OTHERS = "others"  # all secrets that stand in no pair
AS_READ = " (as read)"  # behind a column's name: what was in it before labels were tidied or merged

Merges = tuple[tuple[str, tuple[str, ...]], ...]  # labels, each with those that become it


@dataclass(frozen=True)
class Reading:
    """What is known of a table beforehand; whatever is left out is decided from the whole of it.

    Args:
        sep: what separates the fields of a text file: one character.
        decimal: the decimal mark, "." or ",".
        thousands: what groups digits: ",", ".", a space or an apostrophe; "" where nothing does.
        encoding: the name of the text's encoding, such as "utf-8" or "cp1252".
        na: the texts that mean a missing value, in place of the usual ones.
        sentinels: numbers and texts that mean a missing value, such as 999; "age=999" is meant for one column, and
            "age=" says that every number in that column is a real value, however far from the others it lies.
        header: whether the table begins with the names of its columns. By default it does, and a first line that
            looks like a record is refused.
        skip: the number of lines above the header.
        sheet: the name of an Excel sheet, or its position, from 0, where none is called so.
        missing: "drop" rows that lack a needed value and count them, or "refuse" the table.
        tidy: labels are the same whatever their case and spaces: each is read in lower case, with one space
            between words and none around them.
        merge: labels that become one, in every column of text that has them: {"rare": ["HIV", "Sickle cell"]}, or
            texts such as "rare=HIV,Sickle cell". A ledger knows records by what was read before.
        leave_out: for `publish`, secrets too rare to be hidden, whose rows are counted and not published; or "others",
            all that stand in none of the pairs.
        other: for `publish`, what a label becomes that is on no list of its `domain`, as for `Row`.

    Raises:
        InputError: a field holds what no table could mean.

    >>> Reading(sep=";", decimal=",", sentinels=(999, "age=-1")).missing
    'drop'
    """

    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] | None = None
    sentinels: tuple[str | int | float, ...] = ()
    header: bool | None = None
    skip: int | None = None
    sheet: str | int | None = None
    missing: Literal["drop", "refuse"] = "drop"
    tidy: bool = False
    merge: Merges | Mapping[str, Sequence[str]] | Sequence[str] = ()
    leave_out: Sequence[Hashable] | str = ()
    other: object = None

    def __post_init__(self) -> None:
        """Refuse what no table could mean."""
        if self.sep is not None and (len(self.sep) != 1 or self.sep in '"\r\n' or self.sep.isalnum()):
            raise InputError(f"sep must be one character that separates fields, such as ';' or a tab; got {self.sep!r}")
        if self.decimal not in (None, ".", ","):
            raise InputError(f"decimal must be '.' or ',', got {self.decimal!r}")
        if self.thousands is not None:
            one_of("thousands", self.thousands, _GROUPS)
        if self.decimal is not None and self.decimal == self.thousands:
            raise InputError(f"decimal and thousands cannot both be {self.decimal!r}")
        one_of("missing", self.missing, ("drop", "refuse"))
        if self.skip is not None and (isinstance(self.skip, bool) or not isinstance(self.skip, int) or self.skip < 0):
            raise InputError(f"skip must be a number of lines, 0 or more, got {self.skip!r}")
        for field in ("na", "sentinels"):
            no_text(field, getattr(self, field), "values")
            if isinstance(getattr(self, field), Mapping):  # whose names alone would be taken for the values
                raise InputError(f"{field} must be a list of values; one for a single column is written 'age=999'")
        if self.na is not None:
            object.__setattr__(self, "na", tuple(self.na))
        object.__setattr__(self, "sentinels", tuple(self.sentinels))
        object.__setattr__(self, "merge", _merges(self.merge, is_tidy=self.tidy))
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.leave_out != ALL_OTHERS:
            no_text("leave_out", self.leave_out, "secrets")
            object.__setattr__(self, "leave_out", tuple(self.leave_out))

    @property
    def of_cells(self) -> "Reading":
        """The same without what is about rows and lists, which `publish` alone knows."""
        return replace(self, leave_out=(), other=None)

    def require_of_cells(self) -> None:
        """Refuse what is about rows and lists, wherever it would not be heeded."""
        if self.leave_out or self.other is not None:
            name = "leave_out" if self.leave_out else "other"
            raise InputError(
                f"{name} of a Reading is for publish, which knows the secret and the lists: leave it out here"
            )

    @property
    def spelling(self) -> Spelling | None:
        """What the cells mean, for another file; None where nothing was said or decided about it."""
        found = Spelling(self.decimal, self.thousands, self.na, self.sentinels, self.tidy, self.merges)
        return None if found == Spelling() else found

    def spelled_as(self, spelling: Spelling) -> "Reading":
        """This reading with the meaning that cells had before; an error where it gives them another.

        Args:
            spelling: that of a calibration or a belief.

        Returns:
            A reading in which a cell means what it meant then.

        Raises:
            InputError: where this reading says something else about the same cells.

        >>> Reading(sep=";").spelled_as(Spelling(decimal=",")).decimal
        ','
        """
        before: dict[str, Any] = {"decimal": spelling.decimal, "thousands": spelling.thousands, "na": spelling.na}
        before |= {name: getattr(spelling, name) or None for name in ("sentinels", "tidy", "merge")}
        changed = {}
        for name, value in before.items():
            given = getattr(self, name) or None
            if value is not None and given is not None and given != value:
                raise InputError(
                    f"the table of this calibration was read with {name}={value!r}, and this one is to be read with "
                    f"{given!r}: the same cells would mean something else. Leave {name} out, or calibrate again"
                )
            if value is not None:
                changed[name] = value
        return replace(self, **changed)

    def label(self, value: Any) -> Any:
        """A label that somebody typed, as tables that are read so call it.

        Args:
            value: the label, or anything else, which stays as it is.

        Returns:
            The label as the table has it.

        >>> Reading(tidy=True).label("Sickle  Cell"), Reading().label("Sickle Cell"), Reading(tidy=True).label(3)
        ('sickle cell', 'Sickle Cell', 3)
        """
        return Spelling(tidy=self.tidy, merge=self.merges).label(value)

    @property
    def merges(self) -> Merges:
        """The labels that become others, in their plain form."""
        return self.merge  # type: ignore[return-value]  # as __post_init__ left it

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """The texts that mean a missing value in a text file; the empty one always does."""
        return MISSING_TEXTS if self.na is None else ("", *(text.strip() for text in self.na))

    def sentinels_of(self, column: str) -> tuple[str | int | float, ...]:
        """The sentinels that are meant for this column.

        Args:
            column: its name.

        Returns:
            Those that are meant for every column, and its own.

        >>> Reading(sentinels=(999, "age=-1", "?")).sentinels_of("age")
        (999, '?', '-1')
        """
        general = [s for s in self.sentinels if not (isinstance(s, str) and "=" in s)]
        return (*general, *(value for name, value in self.named_sentinels if name == column))

    def about(self, columns: Container[str]) -> "Reading":
        """The same without sentinels that are meant for other columns alone: a table without those has no use for them.

        Args:
            columns: the columns that there are.

        Returns:
            A reading for a table that has no others.

        >>> Reading(sentinels=(999, "age=-1", "stay=0")).about(["age"]).sentinels
        (999, 'age=-1')
        """
        elsewhere = {f"{name}={value}" for name, value in self.named_sentinels if name not in columns}
        return replace(self, sentinels=tuple(one for one in self.sentinels if one not in elsewhere))

    def has_no_codes(self, column: str) -> bool:
        """Whether it was said that no number of this column stands for a missing value.

        Args:
            column: its name.

        Returns:
            True where "column=" is among the sentinels.

        >>> Reading(sentinels=("age=",)).has_no_codes("age"), Reading(sentinels=("age=999",)).has_no_codes("age")
        (True, False)
        """
        return (column, "") in self.named_sentinels

    @property
    def named_sentinels(self) -> list[tuple[str, str]]:
        """Columns and the sentinels meant for them alone."""
        parts = (s.rpartition("=") for s in self.sentinels if isinstance(s, str) and "=" in s)
        return [(name, value) for name, _, value in parts]


# What files of a kind do not have. How numbers are spelled may stand beside any: a calibration remembers that.
_IDLE = {
    "text": ("sheet",),
    "excel": ("sep", "encoding"),
    "parquet": ("sep", "encoding", "sheet", "header", "skip"),
}


def idle_words(kind: str, reading: Reading) -> list[str]:
    """What is said of a file that one of its kind does not have.

    >>> idle_words("excel", Reading(sep=";")), idle_words("text", Reading(sep=";"))
    (['sep'], [])
    """
    return [name for name in _IDLE[kind] if getattr(reading, name) is not None]


def _merges(given: Any, *, is_tidy: bool) -> Merges:
    """The merges in their plain form; with tidy labels they are tidy too, so that doing it twice changes nothing.

    >>> _merges(["Rare=HIV,Sickle cell"], is_tidy=False)
    (('Rare', ('HIV', 'Sickle cell')),)
    >>> _merges({"Rare": ["HIV", " sickle  Cell"]}, is_tidy=True)
    (('rare', ('hiv', 'sickle cell')),)
    """
    no_text("merge", given, "merges, such as ['rare=HIV,Sickle cell']")
    said = given.items() if isinstance(given, Mapping) else map(_merge_in, given)
    found: dict[str, tuple[str, ...]] = {}
    for into, labels in said:
        if isinstance(labels, str) or not all(isinstance(one, str) for one in (into, *labels)):
            raise InputError(
                f"merge takes labels that are texts, each with a list of those that become it; got {into!r}"
            )
        of = [as_tidy(one) if is_tidy else one for one in labels]
        name = as_tidy(into) if is_tidy else into
        if not name or not of or not all(of):
            raise InputError("merge needs a label and those that become it, such as 'rare=HIV,Sickle cell'")
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *of)))
    every = [one for of in found.values() for one in of]
    twice = next((one for one in every if every.count(one) > 1), None)
    if twice is not None:
        raise InputError(f"merge turns {twice!r} into two labels: name it once")
    if chained := next(
        (into for into, of in found.items() for one, rest in found.items() if into in rest and one != into), None
    ):
        raise InputError(f"merge turns {chained!r} into another label, and others into it: name the last label alone")
    return tuple(found.items())


def _merge_in(text: Any) -> tuple[Any, Any]:
    """The label, and those that become it, of "rare=HIV,Sickle cell"; one that holds a comma stands in quotes."""
    if not isinstance(text, str):
        return tuple(text)
    into, equals, labels = text.partition("=")
    if not equals:
        raise InputError(
            f"merge must be a label and those that become it, such as 'rare=HIV,Sickle cell'; got {text!r}"
        )
    (of,) = csv.reader([labels], skipinitialspace=True)
    return into.strip(), [one.strip() for one in of if one.strip()]


def _check_encoding(name: str) -> None:
    import codecs

    try:
        known = codecs.lookup(name)
    except (LookupError, TypeError, ValueError):
        known = None
    if known is None or not getattr(known, "_is_text_encoding", True):
        raise InputError(f"encoding must be the name of a text encoding, such as 'utf-8' or 'cp1252'; got {name!r}")


# Rows that lack a needed value: one rule for every door, whether they are dropped and counted or refused.


def lacking(table: "Table", needed: Sequence[str]) -> Diagnostic | None:
    """How many rows lack a needed value, as a finding; None where no row does.

    Args:
        table: the rows.
        needed: the columns that no row may lack.

    Returns:
        A remark with the number of rows, or None.
    """
    import narwhals as nw

    if not needed:
        return None
    there = how_many(present(table, needed))
    answer = table.collect(table.frame.select(nw.len().alias("rows"), there.alias("complete")))
    (rows,), (good,) = answer["rows"], answer["complete"]
    missing = int(rows) - int(good or 0)
    return Diagnostic("no-value", columns=tuple(needed), rows=missing) if missing else None


def refusal(rows: int, needed: Sequence[str]) -> str:
    """The sentence that meets missing values where they are to be refused."""
    names = ", ".join(repr(name) for name in needed)
    return (
        f"{rows} row{'s' * (rows != 1)} ha{'ve' if rows != 1 else 's'} no value in {names}, and missing values are to "
        f"be refused: fill or remove those rows, or drop them with missing='drop'"
    )


def present(table: "Table", needed: Sequence[str]) -> "nw.Expr":
    """Whether a row has all its needed values; NaN is none."""
    import narwhals as nw

    tests = []
    for name in needed:
        value = nw.col(name)
        tests.append(~value.is_null())
        if table.schema[name].is_float():
            tests.append(~value.is_nan())
    return nw.all_horizontal(*tests, ignore_nulls=True)  # what is null fails its own test before it


def how_many(truths: "nw.Expr") -> "nw.Expr":
    """How many are true: PostgreSQL makes a number of 32 bits of a truth, and no other."""
    import narwhals as nw

    return truths.cast(nw.Int32).cast(nw.Int64).sum()


def with_secrets(table: "Table", columns: Sequence[str]) -> "Table":
    """The rows that have a secret in each column: no other is ever published, so no other has a say in what is."""
    import narwhals as nw

    from takifugu.tables.table import Table

    here = nw.all_horizontal(*(~table.secret(name).is_null() for name in columns), ignore_nulls=True)
    other = Table(table)
    other.frame = table.frame.filter(here)
    return other


# Declared sentinels in a table that is open: numbers by their value, texts by their letters.


def without_sentinels(table: "Table", texts: tuple[str, ...]) -> "tuple[nw.LazyFrame[Any], list[Diagnostic]]":
    """The table with missing values in place of its sentinels and of `texts`, and how many there were."""
    import narwhals as nw

    hits: dict[str, nw.Expr] = {}
    for column, dtype in table.schema.items():
        declared = table.reading.sentinels_of(column)
        if dtype == nw.Boolean:
            continue
        if dtype.is_numeric():
            numbers = sorted({number for sentinel in declared if (number := _number(sentinel)) is not None})
            if numbers:
                hits[column] = as_float(column, dtype, table.frame.implementation).is_in(numbers)
        elif dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
            spelled = sorted({str(sentinel) for sentinel in (*declared, *texts)})
            if spelled:
                hits[column] = nw.col(column).cast(nw.String).is_in(spelled)
    if not hits:
        return table.frame, []
    tallies = table.collect(table.frame.select(*(how_many(hit).alias(name) for name, hit in hits.items())))
    told = [
        Diagnostic("sentinels-treated", column=name, cells=int(tallies[name][0])) for name in hits if tallies[name][0]
    ]
    cleared = (nw.when(~hit | hit.is_null()).then(nw.col(name)).alias(name) for name, hit in hits.items())
    return table.frame.with_columns(*cleared), told


def unseen(reading: Reading, findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    """A remark on the sentinels of a reading that no column had, told by the findings of all that had some.

    Args:
        reading: with its sentinels.
        findings: remarks on those that were seen.

    Returns:
        A remark for each that was not, since it may be written otherwise.

    >>> treated = Diagnostic("sentinels-treated", column="stay", cells=3)
    >>> [str(one) for one in unseen(Reading(sentinels=("age=99", 999)), [treated])]
    ["no cell has the declared sentinel 'age=99': see how the table writes it"]
    """
    seen = {one["column"] for one in findings if one.code == "sentinels-treated"}
    named = [f"{column}={value}" for column, value in reading.named_sentinels if value and column not in seen]
    general = [] if seen else [str(one) for one in reading.sentinels if "=" not in str(one)]
    return [Diagnostic("sentinels-unseen", sentinels=(*general, *named))] if general or named else []


def _number(sentinel: str | int | float) -> float | None:
    try:
        return float(sentinel)
    except (ValueError, OverflowError):
        return None
