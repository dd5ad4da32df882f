"""A PySpark table released where it lies, each partition with its own operating system's randomness."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from takifugu.errors import InputError
from takifugu.releases.binding import Columns, as_called, outside, protected_rows, protected_secrets
from takifugu.releases.drift import refuse_drift
from takifugu.releases.frames import leaving, protected, ready
from takifugu.releases.passed_through import MOST, KnownCells, Telling
from takifugu.releases.plan import SHUFFLE, Plan
from takifugu.tables import SAME_NAME, Coded, attempt

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

T = TypeVar("T")

_BATCH = 1 << 16  # rows that are drawn together
_SAMPLED = 100_000  # rows that show whether the table is the one of the priors


def release_spark(frame: "DataFrame", plan: Plan, columns: Columns) -> "DataFrame":
    """The released table, made once: reading it again gives the same values, not new ones.

    Spark computes a table anew whenever it is read, and noise drawn anew is a second release. So the result is
    materialised on the executors (a local checkpoint) before it is handed back.
    """
    refuse_of_spark(has_ledger=plan.ledger is not None, is_seeded=plan.insecure)
    from pyspark.sql.functions import rand
    from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructField, StructType

    if len(set(frame.columns)) < len(frame.columns):
        raise InputError(SAME_NAME)
    frame = _as_counted(made_once(frame), plan, columns)
    fields = {field.name: StructField(field.name, _plain(field.dataType)) for field in frame.schema.fields}
    kinds = ["i" if plan.drawing.is_whole else "f"] * len(columns.answer)
    if plan.drawing.takes_labels:  # a list may be of whole numbers, whatever the true ones are
        kinds = [values.cells.dtype.kind for values in plan.drawn(np.empty(0))]
    types = {"b": BooleanType(), "i": LongType(), "f": DoubleType()}
    for name, kind in zip(columns.answer, kinds, strict=True):
        fields[name] = StructField(name, types.get(kind, StringType()))
    schema = StructType([fields[name] for name in columns.published])
    _of_engine(lambda: _check(frame, plan, columns))
    carried = replace(plan, elsewhere=_nowhere)  # to the executors, where no table stands beside a ledger

    def released(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        named = (pa.RecordBatch.from_arrays(batch.columns, columns.read) for batch in batches)
        yield from release_batches(named, carried, columns)

    numbered = [_col(name).alias(f"c{place}") for place, name in enumerate(columns.read)]  # no name with a dot
    rows = frame.select(*numbered)
    rows = rows if plan.order != SHUFFLE else rows.orderBy(rand())
    return _of_engine(lambda: rows.mapInArrow(released, schema).localCheckpoint(eager=True))


def _nowhere() -> None: ...


def made_once(frame: "DataFrame") -> "DataFrame":
    """A table that Spark may compute anew as another one, computed here once: what is looked at must be what leaves.

    It says so of tables that chance, or a function of one's own, has a part in; not where it is on another machine.
    """
    java = getattr(frame, "_jdf", None)
    if java is None or java.queryExecution().analyzed().deterministic():
        return frame
    return _of_engine(lambda: frame.localCheckpoint(eager=True))


def whole_rows(frame: "DataFrame", needed: Iterable[str]) -> "DataFrame":
    """The rows that lack none of the values that they need; NaN is none."""
    from pyspark.sql.functions import isnan

    for name in needed:
        is_float = frame.schema[name].dataType.typeName() in ("float", "double")
        there = _col(name).isNotNull()
        frame = frame.filter(there & ~isnan(_col(name)) if is_float else there)
    return frame


def refuse_of_spark(*, has_ledger: bool, is_seeded: bool) -> None:
    """Refuse what no release of a Spark table can do, whatever is in it."""
    if has_ledger:
        raise InputError(
            "a ledger cannot follow a Spark table, whose rows have no order: write it to Parquet and use "
            "takifugu.release_file, or release without a ledger"
        )
    if is_seeded:
        raise InputError("every partition would draw the same noise from one seed: leave insecure_seed out")


def _of_engine(work: Callable[[], T]) -> T:
    """What Spark made; its own error is let go of, since it may quote a record."""
    made, why = attempt(lambda: (work(),))
    if made is None:
        raise InputError(f"Spark could not release the table: {why}. Nothing was released; its logs say more")
    return made[0]


def _col(name: str) -> "Column":
    """A column by its whole name: to Spark a dot, as in the edge of a cut, is one into a structure."""
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def _as_counted(frame: "DataFrame", plan: Plan, columns: Columns) -> "DataFrame":
    """The table with floats in place of decimals where these were counted so: as secrets, and as what is known."""
    from pyspark.sql.types import DecimalType

    answer = plan.calibration.answer
    counted = () if answer is None else (*answer.secret, *answer.known)
    used = [field for field in frame.schema.fields if field.name in columns.read and field.name in counted]
    decimals = [field.name for field in used if isinstance(field.dataType, DecimalType)]
    return frame.withColumns({name: _col(name).cast("double") for name in decimals}) if decimals else frame


def _plain(kind: "DataType") -> "DataType":
    """A type without what else is noted beside a column, or a field of one: indexers of labels list all of them."""
    from pyspark.sql.types import ArrayType, StructField, StructType

    if isinstance(kind, StructType):
        return StructType([StructField(one.name, _plain(one.dataType), one.nullable) for one in kind.fields])
    return ArrayType(_plain(kind.elementType), kind.containsNull) if isinstance(kind, ArrayType) else kind


def release_batches(batches: "Iterable[pa.RecordBatch]", plan: Plan, columns: Columns) -> "Iterator[pa.RecordBatch]":
    """Each Arrow batch with its column published; whether kept columns tell the secret was seen of all rows at once."""
    import narwhals as nw
    import pyarrow as pa

    known = KnownCells(plan, columns.keep)  # of all batches: what each cell is called is looked up once
    for some in _together(batches):
        table = nw.from_native(pa.Table.from_batches(some), eager_only=True)
        rows = protected(table, plan.calibration, columns.secret, columns.others)
        values = ready(rows, plan, columns)
        known.look([Coded.of(rows[name]) for name in known.names], {}, values)
        known.refuse()
        published: pa.Table = leaving(rows, plan.drawn(values), plan, columns).select(columns.published)
        yield from published.combine_chunks().to_batches()


def _together(batches: "Iterable[pa.RecordBatch]") -> "Iterator[list[pa.RecordBatch]]":
    """Batches, which Spark makes small, several at a time: what is asked once of each is then asked less often."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if waiting and not batch.schema.equals(waiting[0].schema):
            yield waiting
            waiting = []
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= _BATCH:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _check(frame: "DataFrame", plan: Plan, columns: Columns) -> None:
    """Refuse what can be refused before a task draws: the extremes of the values, and the secrets there are."""
    from pyspark.sql import functions as f

    ends = []
    for name in () if plan.drawing.takes_labels else columns.answer:
        value = _col(name).cast("double")
        missing = f.sum(f.when(value.isNull() | f.isnan(value), 1).otherwise(0)).alias("missing")
        low, high, bad = frame.select(f.min(value), f.max(value), missing).first()
        if bad:
            raise InputError(
                f"column {name!r} has {bad} missing values: fill those rows, or drop them with Reading(missing='drop')"
            )
        ends.append([low, high])
    if ends and ends[0][0] is not None:
        plan.drawing.check_columns(ends, columns.answer)
    rows = None
    if len(columns.secret) == 1 and columns.others == "error":
        counts = frame.groupBy(_col(columns.secret[0])).count().collect()
        rows = sum(many for _, many in counts)
        kept = protected_rows([who for who, _ in counts], plan.calibration, "drop")
        if kept is not None:
            strange = sum(many for (_, many), stays in zip(counts, kept, strict=True) if not stays)
            raise InputError(outside(strange, rows, protected_secrets(plan.calibration)))
    for secret in columns.secret:
        for name in columns.keep:
            _check_kept(frame, plan, columns, name, secret)
    _check_drift(frame, plan, columns, rows)


def _check_drift(frame: "DataFrame", plan: Plan, columns: Columns, count: int | None) -> None:
    """Refuse rows that are not those of the priors, by a sample of them that fits in memory; `count` is of all rows."""
    import narwhals as nw

    drift, known = plan.drift_watch(), KnownCells(plan, columns.keep)
    if drift is None and not known.names:
        return
    looked_at = dict.fromkeys((*columns.secret, *columns.answer, *known.names))
    every = frame.count() if count is None else count
    seen = frame.select(*map(_col, looked_at))
    some = (seen if every <= _SAMPLED else seen.sample(fraction=_SAMPLED / every)).toArrow()
    rows = protected(nw.from_native(some, eager_only=True), plan.calibration, columns.secret, columns.others)
    values = ready(rows, plan, columns)
    called = {name: as_called(Coded.of(rows[name]), name, of=columns.secret) for name in columns.secret}
    known.look([Coded.of(rows[name]) for name in known.names], called, values)
    known.refuse()
    if drift is not None:
        for secrets in called.values():
            drift.look(secrets, values)
        refuse_drift(drift.told() or known.told())


def _check_kept(frame: "DataFrame", plan: Plan, columns: Columns, name: str, secret: str) -> None:
    """Refuse a kept column that tells the secret: of all rows together, since a batch of few tells nothing."""
    from pyspark.sql import functions as f

    tallies = frame.groupBy(_col(name).alias("kept"), _col(secret).alias("secret")).agg(f.count("*").alias("rows"))
    lines = [(row["kept"], row["secret"], row["rows"]) for row in tallies.limit(2 * MOST + 1).collect()]
    if len(lines) > 2 * MOST:  # too many for another name of the secret, unless it is the secret itself
        spelled = (f.lower(f.trim(_col(column).cast("string"))) for column in (name, secret))
        differs = frame.filter(~f.equal_null(*spelled)).limit(1).collect()
        lines = [(row[name], row[secret], 1) for row in differs] or lines[:MOST]
    telling = Telling((name,))
    secrets = as_called([who for _, who, _ in lines], secret, of=columns.secret)
    kept = protected_rows(secrets, plan.calibration, "drop") if columns.others == "drop" else None
    chosen = lines if kept is None else [line for line, stays in zip(lines, kept, strict=True) if stays]
    telling.look(Coded.of_list([who for _, who, _ in chosen]), {name: Coded.of_list([value for value, _, _ in chosen])})
    telling.stand_for(sum(rows for _, _, rows in chosen))
    telling.refuse()
