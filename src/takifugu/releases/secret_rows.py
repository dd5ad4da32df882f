"""Which rows a calibration protects."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.problems.findings import Finding
from takifugu.problems.pairs import Pair
from takifugu.queries.several import named
from takifugu.tables.floats import as_float
from takifugu.tables.table import as_text, is_counted_as_text, plain

if TYPE_CHECKING:
    import narwhals as nw

OTHERS = ("error", "drop", "release")


@dataclass(frozen=True)
class OthersLeftOut(Finding):
    """Rows of secrets that the calibration does not protect."""

    says = "{rows:rows} of other secrets stayed at home"
    rows: int


def protected_secrets(calibration: Calibration) -> frozenset[Any]:
    """The secrets that stand in at least one of the pairs."""
    pairs = calibration.pairs
    if pairs.is_every:
        return frozenset(pairs.secrets)
    return frozenset(secret for pair in pairs for secret in pair)


def protected_pairs(common: Iterable[Any], calibration: Calibration) -> Iterator[Pair]:
    """The calibrated pairs among these secrets."""
    pairs = calibration.pairs
    secrets = [secret for secret in common if secret in protected_secrets(calibration)]
    chosen = None if pairs.is_every else {frozenset(pair) for pair in pairs}
    for pair in combinations(secrets, 2):
        if chosen is None or frozenset(pair) in chosen:
            yield pair


def as_called(secrets: Any, column: str, *, of: Collection[str]) -> Any:
    """One column's secrets as the priors call them: those of several columns are told apart by their column."""
    if len(of) == 1:
        return secrets
    return [secret if secret is None else named(column, plain(secret)) for secret in secrets]


def has_pairs(calibration: Calibration, column: str) -> bool:
    """Whether any secret of this column, one of several, stands in the pairs: of another, nothing was promised."""
    return has_any(protected_secrets(calibration), column)


def has_any(known: Iterable[Any], column: str) -> bool:
    """Whether any of these secrets is of this column, one of several."""
    return any(str(secret).startswith(named(column, "")) for secret in known)


def as_counted(frame: "nw.DataFrame[Any]", calibration: Calibration) -> "nw.DataFrame[Any]":
    """The table with its secrets as they were counted: categories, and objects of any type, are texts; decimals floats.

    To Python the decimal 0.1 is not the float 0.1, by which its rows were counted.
    """
    names = () if calibration.answer is None else calibration.answer.secret
    there = [name for name in names if name in frame.columns]
    kinds = {name: frame.schema[name] for name in there if frame.schema[name].is_decimal()}
    decimals = [as_float(name, kind, frame.implementation) for name, kind in kinds.items()]
    texts = [as_text(name) for name in there if are_texts(calibration) and is_counted_as_text(frame.schema[name])]
    return frame.with_columns(*decimals, *texts)


def are_texts(calibration: Calibration) -> bool:
    """Whether every secret is a text: then others may be written in another way, and none is a number."""
    return all(isinstance(secret, str) for secret in calibration.pairs.secrets)


def protected_rows(secrets: Any, calibration: Calibration, others: str) -> npt.NDArray[np.bool_] | None:
    """The rows to keep, None for all; an error where a row is of another secret and `others` is "error".

    `secrets` is a list, or a narwhals column, whose own library then looks at the rows.
    """
    if others == "release":
        return None
    known = protected_secrets(calibration)
    column = comparable(secrets)
    distinct = None if column is None else column.unique()
    rows = secrets if isinstance(secrets, list) else secrets.to_list() if distinct is None else distinct.to_list()
    try:
        every = known.issuperset(rows)
    except TypeError:  # a list, or something with one in it, is nobody's secret
        rows = [row if isinstance(row, str | int | float) else None for row in rows]
        every = known.issuperset(rows)
    if every:
        return None
    kept = np.fromiter(map(known.__contains__, rows), dtype=np.bool_, count=len(rows))
    if column is not None and distinct is not None:
        # The library compares the column with values of its own only. Compared with the calibration's secrets it
        # might take 2⁵³ + 1 for 2.0⁵³: which values are protected is for Python to say.
        inside = column.is_in(distinct.filter(kept.tolist()))
        kept = np.asarray(inside.fill_null(False).to_numpy(), dtype=np.bool_)
    if others == "drop":
        return kept
    raise InputError(outside(int((~kept).sum()), len(kept), known))


def outside(rows: int, of_all: int, known: frozenset[Any]) -> str:
    """The sentence that meets rows of other secrets than the `known` ones."""
    return (
        f"{rows} of {of_all} rows have a secret outside the calibrated pairs: nothing bounds what their values would "
        f"tell. Calibrate with those secrets, give others='drop' to leave the rows out, or others='release' to publish "
        f"them without a guarantee. Calibrated are {_listed(known)}"
    )


def refuse_fewer(secrets: list[Any], kept: npt.NDArray[np.bool_], calibration: Calibration) -> None:
    """Of several secrets, refuse to leave out rows that were counted: the laws of the others are not those of the rest.

    Rows that lack one of the secrets were not counted, nor were those of a secret that the priors do not know.
    """
    counted = calibration.beliefs[0].keys()
    if any(one in counted for one, stays in zip(secrets, kept.tolist(), strict=True) if not stays):
        raise InputError(
            "rows with one of their secrets in none of the calibrated pairs cannot be left out: the laws of the other "
            "secrets were counted with them. Remove those rows first, and calibrate with the table that is left"
        )


def comparable(secrets: Any) -> "nw.Series[Any] | None":
    """A column whose library compares its values as Python does; None for a list, or another kind of column."""
    import narwhals as nw

    if isinstance(secrets, nw.Series) and (
        secrets.dtype in (nw.String, nw.Boolean) or secrets.dtype.is_integer()  # a NaN is equal to itself in some
    ):
        return secrets
    return None


def _listed(secrets: frozenset[Any]) -> str:
    names = sorted(map(repr, secrets))
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
