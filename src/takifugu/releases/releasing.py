"""`release`: the one door through which values are published."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, one_of
from takifugu.atomic import draft, synchronise
from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.problems import (
    MEAN,
    OF_TABLES,
    Adversary,
    Answer,
    Utility,
)
from takifugu.releases.binding import (
    NOT_CHECKED,
    OTHERS,
    Columns,
    are_texts,
    as_called,
    as_fitted,
    bound_columns,
    has_pairs,
    protected_rows,
    protected_secrets,
    reading_as_fitted,
    refuse_fewer,
    refuse_sentinels,
    require_near,
    require_one_number,
)
from takifugu.releases.frames import (
    appear,
    as_frame,
    collected,
    named,
    publish,
    refuse_known_nearby,
    release_frame,
    release_series,
    writer,
)
from takifugu.releases.ledger import Ledger
from takifugu.releases.plan import SHUFFLE, Places, Plan, Released, bits_of, warn_of_order
from takifugu.tables import Reading, Table, complete_rows, listed, match_secret, plain

if TYPE_CHECKING:
    from takifugu.dependence import SeriesCalibration

_ROUNDED = 1e-9  # of the gap between two means: another way to compute the same one

# One number about a group, or one vector: the mean of the rows with a secret, taken as its priors took it.


def group_mean(source: object, reading: Reading | None, plan: Plan, of: object) -> Array:
    """The mean, or the vector of means, of the rows whose secret is `of`, held against that secret's own laws.

    Args:
        source: a table, or the number that was computed elsewhere.
        reading: how a file is to be read.
        plan: the release.
        of: the secret whose rows are meant.

    Returns:
        The mean, or one for each column.

    Raises:
        InputError: where no row has the secret, or the mean lies so far from its law that the table must be another
            one.
    """
    from takifugu.queries import Mean

    answer, calibration = _answer(plan), plan.calibration
    secrets: Any = sorted(protected_secrets(calibration), key=str)
    group = match_secret(of, secrets) if isinstance(of, str | int | float) else None
    if group is None:
        raise InputError(f"of must be one of the secrets that this calibration hides, {listed(secrets)}; got {of!r}")
    table = source if isinstance(source, Table) else Table(source, reading_as_fitted(reading or Reading(), calibration))
    query = Mean(answer.columns[0] if len(answer.columns) == 1 else answer.columns)
    mean: Array = np.ravel(query.priors(table, answer.secret[0], [group])[group].means)
    if plan.drift != "allow":
        require_near(mean, [belief[group] for belief in calibration.beliefs if group in belief])
    return mean


def _answer(plan: Plan) -> Answer:
    answer = plan.calibration.answer
    if answer is None or answer.query != MEAN or len(answer.secret) != 1:
        words = "an answer of priors that were made by hand" if answer is None else answer.words
        raise InputError(
            f"`of` names the group whose mean is published, and this calibration is for {words}: leave it out"
        )
    return answer


def refuse_beside_a_mean(*given: object) -> None:
    """Refuse a column, a secret or columns to keep beside the group of a mean."""
    if any(one is not None and not (isinstance(one, tuple | list) and not one) for one in given):
        raise InputError(
            "the calibration of a mean knows its column and its secret, and nothing is kept beside one number: name "
            "the group alone"
        )


def is_of_table(calibration: Calibration) -> bool:
    """Whether what is published is one number about all rows of a table."""
    return calibration.answer is not None and calibration.answer.query in OF_TABLES


def table_number(source: object, reading: Reading | None, plan: Plan) -> Array:
    """The mean or the count of all rows of a table; or the number given, as the priors write it.

    Args:
        source: a table, or the number that was computed elsewhere.
        reading: how a file is to be read.
        plan: the release.

    Returns:
        The number as one entry.
    """
    from takifugu.queries import table_answer

    calibration, frame = plan.calibration, as_frame(source)
    answer: Any = calibration.answer
    if isinstance(source, Table | str | os.PathLike) or (frame is not None and not hasattr(frame, "to_list")):
        read_as = reading_as_fitted(reading or Reading(), calibration)
        table = source if isinstance(source, Table) else Table(source, read_as)
        return np.array([table_answer(table, answer)])
    number = np.asarray(source, dtype=np.float64)
    require_one_number(answer, number.size)
    points = np.unique(np.concatenate([law.means for belief in calibration.beliefs for law in belief.values()]))
    nearest = points[np.abs(points - number.ravel()[0]).argmin()]
    near = np.abs(number - nearest) <= _ROUNDED * np.diff(points, append=points[-1] + 1.0).min()
    return np.where(near, nearest, number)


def one_number(source: object, reading: Reading | None, plan: Plan, of: object) -> Array:
    """What is published of a table, of which it is no rows: the mean of a group, or a number of all rows."""
    return table_number(source, reading, plan) if of is None else group_mean(source, reading, plan, of)


def write_one_number(source: object, reading: Reading | None, goal: Path, plan: Plan, of: object) -> None:
    """The same as a file of one row; nothing in it says of which group it is."""
    import pyarrow as pa

    ready, answer = one_number(source, reading, plan, of), plan.calibration.answer
    columns = () if answer is None else answer.columns
    with draft(goal) as unfinished:
        made = publish(ready, plan, None, []).tolist()
        with writer(unfinished, goal.suffix) as write:
            write(pa.table({named(name, plan): [one] for name, one in zip(columns, made, strict=True)}))
        synchronise(unfinished)
        appear(unfinished, goal)
    synchronise(goal.parent)


def release(
    values: object,
    calibration: "Calibration | SeriesCalibration",
    *,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    secret: object = None,
    column: str | Sequence[str] | None = None,
    keep: Sequence[str] = (),
    others: str = "error",
    theta: npt.ArrayLike | None = None,
    clip: tuple[float, float] | None = None,
    round_to: float | None = None,
    order: str = "shuffle",
    of: object = None,
    value: str | None = None,
    time: str | None = None,
    by: str | None = None,
    insecure_seed: int | None = None,
    adversary: Adversary | None = None,
    utility: Utility | None = None,
    reading: Reading | None = None,
) -> Any:
    """Publish values with the calibrated noise: each becomes a rounding of the exact x + N(0, θ²).

    Everything that can be refused is refused before a random bit is drawn; with a ledger, the release is on disk
    before a value leaves.

    Args:
        values: an array or a list of numbers; a column or a table of any dataframe library. Of vectors, a table with a
            column for each number, or an array with one vector in each row; of a vector about a group, that vector.
        calibration: from `takifugu.calibrate`.
        ledger: a `Ledger`, or the path of one. Without it nothing remembers that the answer was published: a
            second release of it then costs privacy that no one counts.
        secret: for an array or a column the secrets in the same order; for a table the column of secrets, which a
            calibration from `fit_priors` knows. A secret is checked and never published.
        column: the column of a table to publish, or a list of those of a vector. A calibration from `fit_priors` knows
            its own, and refuses others.
        keep: columns of the table to publish unchanged. By default none is: what the calibration does not
            cover may tell the secret all by itself.
        others: what to do with rows whose secret stands in none of the calibrated pairs: "error", "drop" them,
            or "release" them without a guarantee.
        theta: more noise than was calibrated: its standard deviation, such as `ledger.account().next_theta`; of vectors
            its covariance, such as `ledger.account().next_covariance`.
        clip: the lowest and the highest value of the column's domain.
        round_to: the step of the column's domain, such as 1. Like `clip` it looks only at what is published, so it
            costs no privacy.
        order: the rows of a table are shuffled ("shuffle"), since where a row stands may tell its secret. "keep" is
            your own statement that their order is random already, and has nothing to do with any column. An array or
            a column keeps its order, since you hold the rows beside it: shuffle them first if the order is not random.
        of: of a table and the calibration of a mean, the value of the secret whose rows are averaged. The mean is taken
            as the priors took it, from any table that `fit_priors` takes, and nothing published says whose it is.
        value: of a table of series, and a calibration of a `Series`, the column that is published.
        time: the column that says when: numbers or dates, one step apart, without gaps.
        by: the column that says whose; by default all rows are one series.
        insecure_seed: makes the release reproducible, for tests alone. A warning says so, and so do the name of a
            published column and the attribute `insecure` of an array.
        adversary: `drift` and `weaker` of `Adversary`, of which all else was settled when the calibration was made.
        utility: `allow_no_noise` and `granularity` of `Utility`.
        reading: of a table, `Reading(missing="drop")` drops rows that lack a value of the answer or a secret, as
            `publish` does with those that were left out of the priors. By default they are refused, since a hole tells
            who is missing. All else is read as the priors read it.

    Returns:
        What came in: an array (a `Released`, which states `theta` and `granularity`), a column, or a table. An index of
        pandas does not leave, since it was not calibrated: rows are numbered anew.

    Raises:
        InputError: values that the calibration is not for, or an argument that contradicts another.
        CalibrationError: the calibration is not seen to keep its guarantee.
        BudgetError: less noise than was calibrated, or more than the ledger has left.
        CompositionError: another answer about these records was published before.
        LedgerError: the ledger cannot be used, or knows these records.

    >>> from takifugu import Mixture, calibrate
    >>> calibration = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
    >>> published = release([1.5, -0.3, 2.2], calibration)
    >>> published.granularity, len(published)
    (0.0009765625, 3)
    """
    one_of("others", others, OTHERS)
    missing = _missing(reading)
    if isinstance(values, str | os.PathLike):
        raise InputError(
            f"{os.fspath(values)!r} is a path, and release takes values: publish a file with "
            f"takifugu.release_file(source, target, calibration, column=...)"
        )
    if hasattr(calibration, "series"):
        from takifugu.releases.depending import release_people

        if ledger is not None or secret is not None or column is not None or keep:
            raise InputError(
                "a release of series takes value, time and by, and publishes nothing beside them; no ledger keeps an "
                "account of series, so publish each of them once"
            )
        if value is None or time is None:
            raise InputError("a release of series needs the names of two columns: value and time")
        made = cast("SeriesCalibration", calibration)
        bits, insecure = bits_of(insecure_seed), insecure_seed is not None
        return release_people(values, made, bits, value=value, time=time, by=by, insecure=insecure)
    if given := [name for name in (value, time, by) if name is not None]:
        raise InputError(f"value, time and by are for the calibration of a Series, got {', '.join(given)}")
    plan = Plan.of(
        calibration,
        ledger=ledger,
        order=order,
        insecure_seed=insecure_seed,
        numbers={"theta": theta, "clip": clip, "round_to": round_to},
        by=adversary,
        to=utility,
    )
    return released(values, plan, secret=secret, column=column, keep=keep, others=others, missing=missing, of=of)[0]


def _missing(reading: Reading | None) -> str:
    """What becomes of rows that lack a value; a table in memory is read as the priors were, and not in another way."""
    if reading is None:
        return "refuse"
    reading.require_of_cells()
    if reading != Reading(missing=reading.missing):
        raise InputError("a release reads values as the priors of its calibration did: give a Reading of missing alone")
    return reading.missing


def released(
    values: object,
    plan: Plan,
    *,
    secret: object = None,
    column: str | Sequence[str] | None = None,
    keep: Sequence[str] = (),
    others: str = "error",
    missing: str = "refuse",
    of: object = None,
) -> tuple[Any, Places | None]:
    """What `release` publishes, and which of the source's rows that leave stands where; None where nobody knows."""
    import narwhals as nw

    given: Any = values
    whose: Any = secret
    calibration = plan.calibration
    frame, answer = as_frame(given), calibration.answer
    missing = "refuse" if plan.is_private else missing  # what is left out reveals whose it is
    if of is not None or is_of_table(calibration):
        refuse_beside_a_mean(column, whose, keep)
        if isinstance(frame, nw.DataFrame) and answer is not None:
            refuse_known_nearby(frame, plan, [*answer.columns, *answer.secret])
        given, frame = one_number(given, None, plan, of), None
    if frame is not None and not isinstance(frame, nw.Series):
        frame = frame if answer is None else as_fitted(frame, answer)
        names = frame.collect_schema().names()
        columns = bound_columns(calibration, names, column=column, secret=whose, keep=keep, others=others)
        if isinstance(frame, nw.LazyFrame) and frame.implementation.is_polars():
            made, places = release_frame(_whole(collected(frame), columns, missing), plan, columns)
            return made.lazy(), places
        frame = _whole(frame, columns, missing)
        if isinstance(frame, nw.DataFrame):
            return release_frame(frame, plan, columns)
        refuse_lazy(frame)
        from takifugu.releases.spark import release_spark

        return release_spark(frame.to_native(), plan, columns), None
    if column is not None or keep:
        raise InputError("column and keep are for tables: these values are one column already")
    if answer is not None:
        refuse_sentinels(given if frame is None else frame, answer)
    called = _secrets(given, whose, plan, others)
    kept = _kept(called, plan, others)
    if plan.order == SHUFFLE and of is None and (answer is None or answer.is_of_rows) and _are_several(given):
        warn_of_order()
    if frame is not None:
        return release_series(frame, plan, kept, called), None
    rows = given
    if kept is not None and plan.drawing.takes_labels:
        rows = [value for value, stays in zip(given, kept, strict=True) if stays]
    elif kept is not None:
        rows = plan.drawing.check(given)[kept]
    published = publish(rows, plan, kept, called)
    if not plan.drawing.stated:
        return published, None
    made = Released(
        published,
        **plan.drawing.stated,
        granularity=plan.drawing.granularity,
        insecure=plan.insecure,
        unchecked=NOT_CHECKED if calibration.answer is None else (),
    )
    return made, None


def _are_several(values: object) -> bool:
    return getattr(values, "shape", True) != () and hasattr(values, "__len__") and len(values) > 1


def _whole(frame: Any, columns: Columns, missing: str) -> Any:
    """The rows that lack nothing they need, where the others are to be dropped."""
    import narwhals as nw

    if missing == "refuse":
        return frame
    needed = [*columns.answer, *columns.secret]
    if isinstance(frame, nw.DataFrame):
        return nw.from_native(complete_rows(frame.to_native(), needed=needed, columns=needed), eager_only=True)
    refuse_lazy(frame)
    from takifugu.releases.spark import whole_rows

    return nw.from_native(whole_rows(frame.to_native(), needed))


def refuse_lazy(frame: Any) -> None:
    """Refuse a lazy table that is drawn anew whenever it is read; those of Polars are collected, Spark's made once.

    Args:
        frame: a table of any library.

    Raises:
        InputError: for a table whose rows are computed when it is read: what was checked could differ from what is
            published, and noise drawn twice is a second release.
    """
    import narwhals as nw

    of = frame.implementation
    if isinstance(frame, nw.LazyFrame) and not (of.is_polars() or of.is_pyspark() or of.is_pyspark_connect()):
        raise InputError(
            f"a lazy table of {of.name.lower()} would be drawn anew, and so published again, whenever it is read: "
            f"collect it first, into Polars, pandas or PyArrow"
        )


def _secrets(values: Any, secrets: Any, plan: Plan, others: str) -> list[list[object]]:
    """The secret of each value, as the priors name it: a list for each column of secrets, none where none is given."""
    answer = plan.calibration.answer
    if answer is not None and plan.theta is not None:
        require_one_number(answer, len(values) if getattr(values, "shape", True) and hasattr(values, "__len__") else 1)
    if secrets is None:
        if answer is not None and answer.is_of_rows and others != "release":
            raise InputError(
                "secret is missing: list the secret of each value, so that values of secrets outside the calibrated "
                "pairs are noticed; or give others='release' to publish them unchecked"
            )
        return []
    if isinstance(secrets, str | bytes) or not hasattr(secrets, "__len__"):
        raise InputError(
            f"for one column, secret must list the secret of each value, got {secrets!r}; "
            f"a table has a column of them to name"
        )
    listed = secrets.tolist() if hasattr(secrets, "tolist") else list(secrets)
    if answer is not None and len(answer.secret) == 1 and are_texts(plan.calibration):
        listed = [one if one is None else str(one) for one in map(plain, listed)]
    if len(listed) != len(values):
        raise InputError(f"secret must have one entry per value, got {len(listed)} for {len(values)} values")
    if answer is None or len(answer.secret) == 1:
        return [listed]
    width = len(answer.secret)
    if any(not isinstance(one, tuple | list) or len(one) != width for one in listed):
        raise InputError(
            f"this calibration hides {' and '.join(answer.secret)}: secret must list a tuple of {width} for each value"
        )
    # A row that lacks any of its secrets was counted for none, whichever pairs are to be hidden.
    whole = [one if all(plain(part) is not None for part in one) else (None,) * width for one in listed]
    return [
        as_called(ours, name, of=answer.secret)
        for name, ours in zip(answer.secret, zip(*whole, strict=True), strict=True)
        if has_pairs(plan.calibration, name)
    ]


def _kept(called: list[list[object]], plan: Plan, others: str) -> Any:
    """Which rows may leave, all where it is None."""
    kept = None
    for secrets in called:
        here = protected_rows(secrets, plan.calibration, others)
        if here is None:
            continue
        if len(plan.calibration.answer.secret if plan.calibration.answer is not None else ()) > 1:
            refuse_fewer(secrets, here, plan.calibration)
        kept = here if kept is None else kept & here
    return kept
