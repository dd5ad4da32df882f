"""One interface to any table: a file, a dataframe or a query in an engine, read where it lives.

A path is handed to DuckDB, embedded; whatever narwhals understands (pandas, Polars, PyArrow, DuckDB
relations, ibis tables, PySpark dataframes) stays in its own engine. Nothing here brings rows home: `collect`
is called on the result of a group-by, whose size `tables.counting` and `tables.sample` keep in bounds.
"""

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from takifugu.errors import InputError, MissingExtraError, suggestion
from takifugu.problems import Diagnostic
from takifugu.tables.columns import Binned, Secret, cut_named, edges_of, listed, match_secret, plain, with_cuts
from takifugu.tables.engine import as_float, attempt, in_usual_types, kind_of
from takifugu.tables.files import stamps_of
from takifugu.tables.reading import AS_READ, Reading, how_many, lacking, present, refusal

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
    import pyarrow as pa
    from narwhals.typing import IntoLazyFrame

T = TypeVar("T")

_SHOWN = 20  # values of a column of secrets that a sentence lists: more may be names
_ACCEPTED = (
    "a path to CSV or Parquet files, a pandas, Polars or PyArrow table, a DuckDB relation, an ibis table, "
    "or a PySpark dataframe"
)


class Table:
    """A table in whatever engine holds it, with the few questions that fitting asks.

    `findings` tells what was decided about it, and `read_as` repeats those decisions on another file.

    >>> import pandas as pd
    >>> Table(pd.DataFrame({"sex": ["f", "m"], "age": [30, 40]})).numeric
    ['age']
    """

    def __init__(self, source: object, reading: Reading | None = None) -> None:
        """Open `source`; nothing is read beyond what tells the columns and their types.

        Args:
            source: a path, a pattern of paths, or a table of any library; an open `Table` is taken as it is.
            reading: what is known of its form.

        Raises:
            InputError: for what is no table, or cannot be read as one.
        """
        from takifugu.tables.open import opened

        if isinstance(source, Table):
            if reading is not None and reading != source.reading:
                raise InputError("this table is open already: give `reading` where it is opened")
            self.__dict__ |= source.__dict__
            return
        self.reading: Reading = Reading() if reading is None else reading
        self.reading.require_of_cells()
        self.name = f"the file {os.fspath(source)!r}" if isinstance(source, str | os.PathLike) else "the table"
        self.files = files_behind(source)
        found = opened(source, self.reading, shown=self.name, accepted=_ACCEPTED)
        self.space = found.space  # its private folder lasts as long as the table
        self.frame: nw.LazyFrame[IntoLazyFrame] = found.frame
        self.read_as: Reading = found.read_as
        self.findings: list[Diagnostic] = found.findings
        self._aside = found.aside
        self._stamps = found.stamps
        self.rows_read = found.rows  # of a text file; None where nobody has counted
        self.schema = plain_schema(self.frame)
        self.cuts: dict[str, Binned] = {}
        if not self.schema:
            raise InputError(f"{self.name} has no columns")
        for column, _ in self.reading.named_sentinels:
            self._require_there(column)  # and none is cut before its sentinels are gone
        if self.reading.sentinels or (self.reading.na is not None and not found.is_text):
            from takifugu.tables.reading import unseen, without_sentinels

            self.frame, told = without_sentinels(self, texts=() if found.is_text else self.reading.na or ())
            self.findings = [*self.findings, *told]
            self.findings += unseen(self.reading, self.findings)
        if self.reading.tidy or self.reading.merges:
            self.frame, told = tidied(self)
            self.findings = [*self.findings, *told]
            self.schema = plain_schema(self.frame)

    def holding(self, rows: object) -> "Table":
        """The same table with these of its rows, which are in memory: read as they were."""
        from takifugu.tables.open import opened

        made = copy.copy(self)
        made.frame = opened(rows, Reading(), shown=self.name, accepted=_ACCEPTED).frame
        made.schema, made.space, made.cuts = plain_schema(made.frame), None, {}
        made.findings = [again for one in self.findings for again in _merged_here(made, one)]
        return made

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema)

    @property
    def numeric(self) -> list[str]:
        """The columns that hold numbers."""
        return [name for name, dtype in self.schema.items() if dtype.is_numeric()]

    def row_count(self) -> int:
        """The number of rows."""
        import narwhals as nw

        return int(self.collect(self.frame.select(nw.len().alias("rows")))["rows"][0])

    @property
    def is_changed(self) -> bool:
        """Whether a file that is read anew for every question is another now than when it was opened."""
        return stamps_of(self._stamps) != self._stamps

    def require_unchanged(self) -> None:
        """Raise where what was counted is not what would leave."""
        if self.is_changed:
            raise InputError(f"{self.name} changed since it was counted. Nothing was published; begin anew")

    def require(self, column: object) -> None:
        """Raise, naming the nearest, unless there is such a column, or one to cut at the edges behind its name.

        Args:
            column: the name, such as "age" or "age:30:45".

        Raises:
            InputError: with the columns that there are.
        """
        self.cut([column])
        self._require_there(column)

    def _require_there(self, column: object) -> None:
        if column not in self.schema:
            there = [name for name in self.schema if name not in self.cuts]
            meant = _part_of(column, there) or edges_of(column, there) or suggestion(column, there)
            raise InputError(
                f"{self.name} has no column {column!r}.{meant} Its columns are {listed(there)}.{self._aside}"
            )
        engine = self.frame.implementation
        if "." in column and (engine.is_pyspark() or engine.is_pyspark_connect()) and column not in self.cuts:
            raise InputError(
                f"Spark takes the dot in {column!r} for a part of a structure: rename the column, "
                f"table.withColumnRenamed({column!r}, {column.replace('.', '_')!r})"
            )

    def cut(self, names: Iterable[object]) -> None:
        """Add the columns that names with edges behind them stand for; names that stand for nothing are left alone."""
        for name in names:
            if (cut := cut_named(name, self.schema)) is not None and cut == name:  # 20.000 may mean twenty thousand
                self.cuts = self.cuts | {str(name): cut}
                self.frame = self.frame.with_columns(cut.of(self.schema, self.frame.implementation))
                self.schema = plain_schema(self.frame)

    def number(self, column: str) -> "nw.Expr":
        """The column as float64, null where it holds no number; an error where it holds something else.

        Args:
            column: its name.

        Returns:
            An expression of narwhals. It gives the same float in every engine.

        Raises:
            InputError: for a column of labels or dates.
        """
        import narwhals as nw

        self.require(column)
        dtype = self.schema[column]
        if dtype == nw.Boolean:
            return nw.col(column).cast(nw.Int32).cast(nw.Float64)  # PostgreSQL casts truth to int4 alone
        if not dtype.is_numeric():
            raise self._no_numbers(column)
        value = as_float(column, dtype, self.frame.implementation)
        if dtype.is_integer():  # none is NaN, and pandas would go through all of it three times
            return value
        return nw.when(~value.is_null() & ~value.is_nan()).then(value)

    def secret(self, column: str) -> "nw.Expr":
        """The column of secrets, null where there is none.

        Args:
            column: its name.

        Returns:
            An expression of narwhals. Numbers, texts and truth values stay what they are; categories become texts.

        Raises:
            InputError: for a column of dates or lists.
        """
        import narwhals as nw

        self.require(column)
        if column in self.cuts:  # of the column that is cut: whoever asks may hold the table from before it was
            return self.cuts[column].of(self.schema, self.frame.implementation)
        dtype, value = self.schema[column], nw.col(column)
        if dtype.is_float() or dtype.is_decimal():
            value = as_float(column, dtype, self.frame.implementation)
            return nw.when(~value.is_null() & ~value.is_nan()).then(value)
        if is_counted_as_text(dtype):
            return as_text(column)
        if dtype in (nw.String, nw.Boolean) or dtype.is_integer():
            return value
        advice = "convert it to text"
        if dtype.is_temporal():
            advice = f"it singles people out, so take an age, a year or a length of time instead, or {advice}"
        if dtype.is_nested():
            advice = "make a column of its own of what is meant in it"
        raise InputError(
            f"column {column!r} holds {kind_of(dtype)}, and labels are text, numbers or truth values: {advice}"
        )

    def secrets_but(self, column: str, left_out: Sequence[object]) -> list[Secret]:
        """The secrets of a column without some; an error where one of these is not among them, or too few are left."""
        import narwhals as nw

        found = self.collect(
            self.frame.select(self.secret(column).alias("secret")).unique().filter(~nw.col("secret").is_null())
        )
        known = sorted((one for one in map(plain, found["secret"]) if one is not None), key=str)
        gone = []
        for one in left_out:
            match = match_secret(self.reading.label(one), known)
            if match is None:
                there = f": they are {listed(known)}" if len(known) <= _SHOWN else ""
                raise InputError(f"{one!r} cannot be left out, since it is not among the values of {column!r}{there}")
            gone.append(match)
        left = [one for one in known if one not in gone]
        if len(left) < 2:
            raise InputError(f"of the values of {column!r} {len(left)} would be left, and two are needed to hide one")
        return left

    def _no_numbers(self, column: str) -> InputError:
        """Why a column is no column of numbers: an empty one has no type of its own in a CSV file or an object."""
        import narwhals as nw

        answer = self.collect(self.frame.select(nw.len().alias("rows"), nw.col(column).count().alias("values")))
        (rows,), (values,) = answer["rows"], answer["values"]
        if not rows:
            return self.no_rows()
        if not values:
            return InputError(f"column {column!r} has no value in any of the {rows} rows")
        kind = kind_of(self.schema[column])
        return InputError(
            f"column {column!r} holds {kind}, and numbers are needed: convert it, or name one of "
            f"{listed(self.numeric) or 'those with numbers (there is none)'}"
        )

    def no_rows(self) -> InputError:
        """That there is no row, and on which sheet it was looked for."""
        return InputError(f"{self.name} has no rows{'.' * bool(self._aside)}{self._aside}")

    def collect(self, frame: "nw.LazyFrame[IntoLazyFrame]") -> dict[str, list[Any]]:
        """Run the query in the engine and bring its (small) result here, column by column.

        Args:
            frame: a query on this table. Its result must be small: counts, not rows.

        Returns:
            Lists of one length, by the names of the columns.

        Raises:
            InputError: where the engine fails. Its own error, which may quote a record, is let go of.
        """
        if frame.implementation.is_duckdb():
            relation: duckdb.DuckDBPyRelation = frame.to_native()
            rows, why = attempt(
                lambda: self._asked(relation.fetchall)
            )  # plain Python values: a whole number beside a NULL stays whole
            if rows is None:
                raise InputError(f"{self.name} cannot be read: {why}")
            return {name: [row[place] for row in rows] for place, name in enumerate(relation.columns)}
        result, why = attempt(frame.collect)
        if result is None:
            raise InputError(f"{self.name} cannot be read: {why}")
        return {name: result.get_column(name).to_list() for name in result.columns}

    def _asked(self, question: Callable[[], T]) -> T:
        if self.space is not None:
            self.space.question()
        return question()


def plain_schema(frame: Any) -> dict[str, Any]:
    """The columns and their types, without those that hold what was read before labels were tidied or merged."""
    found = dict(frame.collect_schema())
    return {
        name: kind
        for name, kind in found.items()
        if not (name.endswith(AS_READ) and name.removesuffix(AS_READ) in found)
    }


def is_counted_as_text(dtype: object) -> bool:
    """Whether a column's labels are counted as texts: categories, and objects of any type."""
    import narwhals as nw

    return dtype in (nw.Categorical, nw.Enum, nw.Object)


def as_text(column: str) -> "nw.Expr":
    """The labels of such a column; a cast of its own would spell the missing ones "None" or "nan"."""
    import narwhals as nw

    return nw.when(~nw.col(column).is_null()).then(nw.col(column).cast(nw.String))


def _part_of(piece: object, names: Iterable[str]) -> str:
    """What to say to whoever typed a name with a comma among others, where commas stand between names.

    >>> _part_of("stay", ["age", "stay, days"])
    " Did you mean 'stay, days'? Where commas stand between names, one that holds a comma goes in double quotes."
    """
    holding = [name for name in map(str, names) if "," in name]
    meant = next((name for name in holding if piece in [part.strip() for part in name.split(",")]), None)
    told = "Where commas stand between names, one that holds a comma goes in double quotes."
    return "" if meant is None else f" Did you mean {meant!r}? {told}"


def files_behind(source: object) -> tuple[str, ...]:
    """The path or pattern that a table is read from; none where it is held in memory or on another machine."""
    if isinstance(source, Table):
        return source.files
    given = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    return (given,) if given and "://" not in given else ()


# How often combinations of values occur: one pass in the engine, with a limit on what is brought home.

_MOST = 1_000_000  # lines of counts that are brought home


def combinations(
    table: Table, parts: Mapping[str, "nw.Expr"], *, complete: Iterable[str] = ()
) -> "nw.LazyFrame[IntoLazyFrame]":
    """The rows' values of `parts`, those alone that have all of `complete`, under names that cannot clash."""
    import narwhals as nw

    rows = table.frame.select(*(part.alias(name) for name, part in parts.items()))
    needed = [~nw.col(name).is_null() for name in complete]
    return rows.filter(*needed) if needed else rows


def tally(
    table: Table, parts: Mapping[str, "nw.Expr"], *, whose: str, advice: str, complete: Iterable[str] = ()
) -> dict[str, list[Any]]:
    """A column for each of the parts, with every combination that occurs, and how many rows have it in `count`.

    `whose` and `advice` are the two ends of what is said where there are too many.

    Args:
        table: the rows.
        parts: expressions by name.
        whose: what has too many combinations, for the error.
        advice: what to do about it.
        complete: the parts that no row may lack.

    Returns:
        Lists of one length.

    Raises:
        InputError: where there are more combinations than can be counted.
    """
    import narwhals as nw

    rows = combinations(table, parts, complete=complete)
    answer = table.collect(rows.group_by(*parts).agg(nw.len().alias("count")).head(_MOST + 1))
    if len(answer["count"]) > _MOST:
        raise InputError(f"{whose} take more than {_MOST:,} combinations of values: {advice}")
    return answer


# Rows of a table in order, a batch at a time, in memory that does not grow with it beyond half a gigabyte.
#
# The batches come from the same statement that counting uses, so a cell is the same value through both. PyArrow's own
# reader of CSV would be a second opinion about every cell, and it reads ahead: from 10⁶ to 1.2·10⁸ rows its memory
# grew from 260 to 960 MB.

_ROWS = 1 << 16  # a batch


def stream(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    reading: Reading | None = None,
    needed: Sequence[str] = (),
) -> "Iterator[nw.DataFrame[Any]]":
    """The rows of a file, or of a `Table` made of one, as PyArrow tables under narwhals.

    Args:
        source: a path, a pattern of paths or an open `Table`.
        columns: the columns that are wanted, by default all.
        reading: as for `takifugu.tables.open.open_table`.
        needed: columns without whose values a row is no use. Rows that lack one are dropped, or refused with their
            number before the first batch, as `reading.missing` says; `takifugu.tables.reading.lacking` counts them.
    """
    table = Table(source, reading)
    chosen = table.columns if columns is None else list(columns)
    for name in (*chosen, *needed):
        table.require(name)
    refuse = table.reading.missing == "refuse"
    if refuse and needed and (told := lacking(table, needed)):
        raise InputError(refusal(told["rows"], tuple(needed)))
    return _batches(table, chosen, needed)


def _batches(table: Table, columns: list[str], needed: Sequence[str]) -> "Iterator[nw.DataFrame[Any]]":
    import narwhals as nw

    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("rows are handed over with PyArrow: pip install 'takifugu[files]'") from None
    frame = table.frame.filter(present(table, needed)) if needed else table.frame
    there = table.frame.collect_schema().names()
    before = [name + AS_READ for name in columns if name + AS_READ in there]
    for batch in _arrow(table, frame.select(*columns, *before)):
        for start in range(0, batch.num_rows, _ROWS):
            rows = pa.Table.from_batches([batch.slice(start, _ROWS)])
            yield nw.from_native(rows, eager_only=True)


def _arrow(table: Table, frame: "nw.LazyFrame[IntoLazyFrame]") -> "Iterator[pa.Table]":
    """Arrow batches out of the engine, whose failures on the way become sentences."""
    if not frame.implementation.is_duckdb():
        yield from frame.collect("pyarrow").to_native().to_batches(_ROWS)
        return
    relation: duckdb.DuckDBPyRelation = frame.to_native()
    if table.space is not None:
        # On a connection of its own: a stream that is not finished must not stand in the way of a question.
        _, why = attempt(table.space.question)
        if why is not None:
            raise InputError(f"{table.name} cannot be read: {why}")
        connection = table.space.connection.cursor()  # held by its name: a relation may outlive its connection
        relation = connection.sql(relation.sql_query())
    # DuckDB renamed it; only what the class has is asked for, since a relation takes other names for its columns.
    name = "to_arrow_reader" if hasattr(type(relation), "to_arrow_reader") else "fetch_arrow_reader"
    start = getattr(relation, name)
    reader: Any = None
    reader, why = attempt(lambda: start(_ROWS))
    batch: object = None
    while why is None:
        batch, why = attempt(lambda: next(reader, None))
        if batch is None:
            break
        yield batch
    if why is not None:
        raise InputError(f"{table.name} cannot be read: {why}")


# The rows of a table that can be published: those with every value they need.


def complete_rows(
    source: object, *, needed: Sequence[str], columns: Sequence[str], reading: Reading | None = None
) -> Any:
    """The rows that lack nothing they need, in their own library; a file becomes a PyArrow table.

    What is left out was counted when the priors were fitted; with `missing="refuse"` nothing is.

    Args:
        source: a table of any library, or a path.
        needed: the columns that no row may lack.
        columns: those that are wanted.
        reading: how it is to be read.

    Returns:
        The rows, with the columns that were wanted.

    Raises:
        InputError: where rows lack a value and are to be refused for it.
    """
    wanted = list(dict.fromkeys(columns))
    if isinstance(source, str | os.PathLike | Table):
        import pyarrow as pa

        parts = [batch.to_native() for batch in stream(source, wanted, reading=reading, needed=needed)]
        if not parts:
            raise InputError("the file has no rows: there is nothing to publish")
        return pa.concat_tables(parts)
    import narwhals as nw

    frame = nw.from_native(in_usual_types(source))
    if not isinstance(frame, nw.DataFrame):
        return source  # a lazy table says itself what to do
    # A sentinel is missing before it is cut: afterwards it would stand in a bin like any number.
    frame = with_cuts(frame if reading is None else as_read(frame, reading), wanted)
    whole = None
    for name in needed:
        column = frame[name]
        here = ~column.is_null()
        if column.dtype.is_float():
            here = here & ~column.is_nan()
        whole = here if whole is None else whole & here
    if whole is None or bool(whole.all()):
        return frame.to_native()
    if reading is not None and reading.missing == "refuse":
        raise InputError(refusal(int((~whole).sum()), tuple(needed)))
    return frame.filter(whole.to_list()).to_native()


def as_read(frame: Any, reading: Reading) -> Any:
    """A narwhals table with missing values in place of what stands for them in a reading, and its labels made alike."""
    import narwhals as nw

    reading.require_of_cells()
    sentinels = reading.about(frame.collect_schema()).sentinels
    if not sentinels and reading.na is None and not reading.tidy and not reading.merges:
        return frame
    about_cells = Reading(na=reading.na, sentinels=sentinels, tidy=reading.tidy, merge=reading.merges)
    found = Table(frame.to_native(), about_cells).frame
    return found.collect() if isinstance(frame, nw.DataFrame) else found


# Labels that mean the same, made the same: capitals and blanks, and values that are merged.
#
# What a cell becomes depends on that cell and on the reading alone, never on other rows. So a row is the same before
# it is counted, before it is drawn and in another file. Beside each column that is changed stands what was read, by
# which a ledger knows records: whoever merges in another way is not taken for somebody else.


_BLANKS = "[\\s\u00a0]+"  # a blank that breaks no line, as spreadsheets have it, is none to every engine


def tidied(table: "Table") -> "tuple[nw.LazyFrame[Any], list[Diagnostic]]":
    """The table with its labels as the reading has them, and what was read beside them; and what there is to say."""
    import narwhals as nw

    texts = [name for name, dtype in table.schema.items() if _holds_labels(dtype)]
    tidy, merges = table.reading.tidy, table.reading.merges
    before = {name: _text(name, table.schema[name]) for name in texts}
    values = {name: _tidied(value) if tidy else value for name, value in before.items()}
    told = [Diagnostic("labels-tidied", columns=tuple(texts))] if tidy and texts else []
    seen = {(into, name): values[name].is_in(list(of)) for into, of in merges for name in texts}
    changed = set(texts) if tidy else set()
    if seen:
        asked = [how_many(hit).alias(f"m{k}") for k, hit in enumerate(seen.values())]
        answer = table.collect(table.frame.select(*asked))
        counts = {place: int(answer[f"m{k}"][0] or 0) for k, place in enumerate(seen)}
        told += [
            Diagnostic("labels-merged", column=name, into=into, cells=n) for (into, name), n in counts.items() if n
        ]
        changed |= {name for (_, name), n in counts.items() if n}
    merged = {into for into, _ in merges if any((into, name) in seen and counts[into, name] for name in texts)}
    told += [Diagnostic("merge-unseen", texts=of, into=into) for into, of in merges if into not in merged]
    for (into, name), hit in seen.items():
        values[name] = nw.when(hit).then(nw.lit(into)).otherwise(values[name])
    chosen = [name for name in texts if name in changed]
    there = table.frame.collect_schema().names()  # of a table that was tidied already, too
    beside = [nw.col(name).alias(name + AS_READ) for name in chosen if name + AS_READ not in there]
    if not chosen:
        return table.frame, told
    return table.frame.with_columns(*beside, *(values[name].alias(name) for name in chosen)), told


def _merged_here(table: "Table", finding: Diagnostic) -> "Iterator[Diagnostic]":
    """What was said of a file, of some of its rows: of labels that were merged, how many of these rows had them."""
    import narwhals as nw

    if finding.code != "labels-merged":
        yield finding
        return
    before = nw.col(finding["column"] + AS_READ)
    of = next(of for into, of in table.reading.merges if into == finding["into"])
    hit = (_tidied(before) if table.reading.tidy else before).is_in(list(of))
    if cells := int(table.collect(table.frame.select(how_many(hit).alias("cells")))["cells"][0] or 0):
        yield finding.but(cells=cells)


def _holds_labels(dtype: object) -> bool:
    import narwhals as nw

    return dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)


def _text(name: str, dtype: object) -> "nw.Expr":
    import narwhals as nw

    value = nw.col(name)
    # A cast of its own would spell the missing ones "None" or "nan".
    return value if dtype == nw.String else nw.when(~value.is_null()).then(value.cast(nw.String))


def _tidied(value: "nw.Expr") -> "nw.Expr":
    import narwhals as nw

    plain = value.str.replace_all(_BLANKS, " ").str.strip_chars(" ").str.to_lowercase()
    return nw.when(plain != "").then(plain)
