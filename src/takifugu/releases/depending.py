"""Releases of records that depend on one another: series, and an account of private releases about a chain.

`depend` says what differentially private releases, anybody's, tell of the records of a chain. Of the releases no rows
are known here, only what they cost. They add up, and what the records tell of one another is paid once, however many
there are (proofs/dependence.md, claims 3 and 4).
"""

import datetime
import hashlib
import math
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu import _validation as check
from takifugu import strict_json
from takifugu._validation import Array
from takifugu.channels import BitSource
from takifugu.dependence import (
    Chains,
    Cost,
    Influence,
    MarkovQuilt,
    SeriesCalibration,
    chain_to,
    instants,
    require_regular,
    stretches,
)
from takifugu.errors import BudgetError, CompositionError, InputError
from takifugu.releases.frames import INSECURE, as_frame, collected, numbers, without_traces
from takifugu.releases.ledger_file import INFLUENCE, LedgerFile


def depend(
    chain: Chains | Sequence[Chains],
    length: int,
    *,
    dp_epsilon: float | None = None,
    rho: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    ledger: str | os.PathLike[str] | None = None,
) -> Influence:
    """What releases that are differentially private tell of the state at any one time, if times depend on one another.

    Nothing is published here: bring what OpenDP, Tumult or anybody else's library says that a release cost.

    Args:
        chain: how the records of a person depend on one another: a `MarkovChain`, a `ChainBox`, or several, of which
            the worst counts. It must not come from the people who are published; one that `MarkovChain.fit` made of
            others is held for people drawn like them.
        length: the number of records of a person, one for each time.
        dp_epsilon: ε of the release, for *replacing one record* of one person at one time; twice the ε of adding or
            removing one.
        rho: in place of it the ρ of zero-concentrated differential privacy, with `alpha`.
        alpha: the order of the Rényi guarantee that ρ becomes.
        epsilon: the most that all releases in the ledger may tell together; one that would tell more is refused.
        ledger: a file that remembers what the releases about these records cost. It has no other use.

    Returns:
        What all releases tell together, with `epsilon`, `guarantee`, `influence` (what the other times tell, paid
        once), and `save`, whose file `verify` proves again.

    Raises:
        BudgetError: where `epsilon` would be exceeded; nothing is written down.
        CompositionError: where the ledger is about another chain, or another measure of cost.

    >>> from takifugu import MarkovChain
    >>> chain = MarkovChain([[0.8, 0.2], [0.4, 0.6]])
    >>> once, twice = depend(chain, 96, dp_epsilon=0.25), depend(chain, 96, dp_epsilon=0.5)
    >>> round(once.epsilon, 3), round(twice.epsilon, 3)  # twice is less than 2 · 1.623
    (1.623, 2.404)
    """
    if (dp_epsilon is None) == (rho is None):
        raise InputError("give one of dp_epsilon and rho: what the release cost")
    if (rho is None) != (alpha is None):
        raise InputError("rho needs alpha, the order at which it is bounded, and dp_epsilon takes none")
    unit = "dp_epsilon" if rho is None else "rho"
    paid = check.above(unit, dp_epsilon if rho is None else rho, 0)
    order = None if alpha is None else check.order(alpha)
    most = None if epsilon is None else check.budget(epsilon)
    quilts = MarkovQuilt(chain, length)
    if ledger is None:
        return _within(Influence(quilts, _cost(unit, [paid]), order).prove(), most)
    terms = {"chains": _digest(quilts), "length": length, "alpha": order, "unit": unit, "most": most}
    file = LedgerFile(Path(ledger), of_influence=True)
    with file.writing() as writer:
        before = writer.contents.entries
        if before:
            first = before[0]
            if most is None:
                terms["most"] = most = first["most"]
            if any(first[name] != value for name, value in terms.items()):
                raise CompositionError(
                    f"the ledger {file.path} was opened with another chain, length, order, budget or measure of cost, "
                    f"and this is no release about the same records as it knows them: nothing was written down. Give "
                    f"all chains that are to be held possible at the first release"
                )
        spent = [float.fromhex(entry["paid"]) for entry in before]
        found = _within(Influence(quilts, _cost(unit, [*spent, paid]), order).prove(), most)
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        writer.append({"kind": INFLUENCE, **terms, "paid": paid.hex(), "at": at})
    return found


def _cost(unit: str, spent: Sequence[float]) -> Cost:
    return Cost(epsilons=tuple(spent)) if unit == "dp_epsilon" else Cost(rhos=tuple(spent))


def _within(found: Influence, most: float | None) -> Influence:
    if most is not None and not found.epsilon <= most:
        raise BudgetError(
            f"all releases together would tell epsilon = {found.epsilon:g} of the state at a time, above {most:g}: "
            f"nothing was written down, and the release should not be made"
        )
    return found


def _digest(quilts: MarkovQuilt) -> str:
    return hashlib.sha256(strict_json.canonical([chain_to(one) for one in quilts.chains])).hexdigest()


# Releases of series: one number at each of several times in a row, for each person of a table.


_LARGEST = 1e6  # a total over `within`: its rounding is below what the noise has to spare (SPARE of a series)


def release_people(
    table: object,
    calibration: SeriesCalibration,
    source: BitSource,
    *,
    value: str,
    time: str,
    by: str | None,
    insecure: bool,
) -> Any:
    """The table of person, time and published value, sorted by both; of means and totals one row a person.

    Every series has its times in a row, one step apart, the same step for all: a gap is no stretch of the series that
    the noise was made for, and two values of one time are two releases of it. Who is in the table, and when, is
    published as it is.
    """
    import narwhals as nw

    calibration.require_kept()
    frame = as_frame(table)
    if isinstance(frame, nw.LazyFrame):
        frame = collected(frame)
    if not isinstance(frame, nw.DataFrame):
        raise InputError("a release of series needs a table with the columns that value and time name")
    names = [name for name in (by, time, value) if name is not None]
    if missing := [name for name in names if name not in frame.columns]:
        raise InputError(f"the table has no column {', '.join(map(repr, missing))}")
    if len(set(names)) < len(names):
        raise InputError("value, time and by must name different columns")
    frame = frame.select(names)
    if not len(frame) or any(frame[name].is_null().any() for name in names):
        raise InputError("the table has no rows, or cells without a value: a series with a gap is not published")
    frame = frame.sort([name for name in names if name != value])
    values, times = numbers(frame[value]), instants(frame[time])
    ends = stretches(frame[by].to_list() if by is not None else [None] * len(frame))
    require_regular(times, ends)
    _require_lengths(np.diff(ends), calibration)
    drawn, rows = _drawn(values, ends, calibration, source)
    kept = frame.select([name for name in names if name != value])[rows]
    if calibration.series.answer != "values":
        kept = kept.drop(time)
    name = f"{value}{INSECURE}" if insecure else value
    column = nw.new_series(name, drawn.tolist(), nw.Float64, backend=frame.implementation)
    made = kept.with_columns(column) if kept.columns else column.to_frame()
    return without_traces(made.to_native())


def _require_lengths(lengths: npt.NDArray[np.generic], calibration: SeriesCalibration) -> None:
    longest = calibration.series.length
    if lengths.max() > longest:
        raise InputError(f"a series has {lengths.max()} times, and the noise was made for {longest} at most")
    if calibration.series.answer == "mean" and lengths.min() < longest:
        raise InputError(
            f"a series has {lengths.min()} times, and the mean was calibrated for {longest}: of fewer times each "
            f"counts for more"
        )


def _drawn(
    values: Array, ends: npt.NDArray[np.intp], calibration: SeriesCalibration, source: BitSource
) -> tuple[Array, list[int]]:
    """What is published, and the row of each."""
    starts, lengths = ends[:-1], np.diff(ends)
    if calibration.series.answer != "values":
        sums = np.array([math.fsum(values[a:b].tolist()) for a, b in pairwise(ends.tolist())])
        if not np.abs(sums).max() <= _LARGEST * calibration.series.within:
            raise InputError(
                "a total is so large beside `within` that its last digits would be lost: subtract a constant"
            )
        if calibration.series.answer == "mean":
            sums = sums / calibration.series.length
        return np.asarray(calibration.channel.publish(sums, source=source)), starts.tolist()
    drawn = np.empty(len(values))
    for n in sorted({int(one) for one in lengths}):
        places = starts[lengths == n][:, None] + np.arange(n)
        drawn[places] = calibration.channel.draw(values[places], source=source)
    return drawn, list(range(len(values)))
