"""From a file inside a wheel to a table with one secret, one column of numbers and one of labels."""

import bz2
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from studies.unseen.settings import LEAST_ROWS, Unseen
from takifugu.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def read(unseen: Unseen, content: bytes) -> "pd.DataFrame":
    """The three columns of a table, in the order secret, number, label; rows and secrets as the settings say."""
    frame = _parsed(unseen.member, content)
    frame = _DERIVED.get(unseen.name, lambda given: given)(frame)
    columns = [unseen.secret, unseen.number, unseen.label]
    if missing := [name for name in columns if name not in frame]:
        raise InputError(f"{unseen.member} of {unseen.wheel} has no column {missing[0]!r}: is it another version?")
    frame = frame[columns].dropna()
    frame[unseen.label] = frame[unseen.label].astype(str)  # a code is no number
    counts = frame[unseen.secret].value_counts()
    return frame[frame[unseen.secret].isin(counts[counts >= LEAST_ROWS].index)].reset_index(drop=True)


def _parsed(member: str, content: bytes) -> "pd.DataFrame":
    import pandas as pd

    if member.endswith(".bz2"):
        content = bz2.decompress(content)
    if member.endswith(".arff"):
        return _arff(content.decode("utf-8"))
    # Some of the files separate by tabs and put names into quotation marks.
    separator, quote = ("\t", "'") if b"\t" in content[:200] else (",", '"')
    return pd.read_csv(io.BytesIO(content), sep=separator, quotechar=quote, low_memory=False)


def _arff(text: str) -> "pd.DataFrame":
    import pandas as pd
    from scipy.io import arff

    records, about = arff.loadarff(io.StringIO(text))
    frame = pd.DataFrame({name: records[name] for name in about.names()})
    for name, kind in zip(about.names(), about.types(), strict=True):
        if kind == "nominal":
            texts = frame[name].str.decode("utf-8")
            frame[name] = texts.where(texts != "?")
    return frame


def _levels(frame: Any, columns: dict[str, str], otherwise: str) -> Any:
    """One column of labels from several of zeros and ones; where two of them are 1, the later one counts."""
    import pandas as pd

    found = pd.Series(otherwise, index=frame.index, dtype=object)
    for column, label in columns.items():
        found[frame[column] == 1] = label
    return found


def _affairs(frame: Any) -> Any:
    return frame.assign(affair=(frame["affairs"] > 0).map({True: "yes", False: "no"}))


def _rand(frame: Any) -> Any:
    # A person has a row a year; rows of one person are not independent.
    first = frame[frame["year"] == 1]
    return first.assign(health=_levels(first, {"hlthg": "good", "hlthf": "fair", "hlthp": "poor"}, "excellent"))


def _births(frame: Any) -> Any:
    smokes = (frame["cigs"] > 0).map({True: "yes", False: "no"}).where(frame["cigs"].notna())
    return frame.assign(smokes=smokes, mother=_levels(frame, {"mwhte": "white", "mblck": "black"}, "other"))


def _old_age(frame: Any) -> Any:
    health = _levels(frame, {"vegood": "very good", "good": "good", "fair": "fair", "poor": "poor"}, "excellent")
    means = _levels(frame, {"poverty": "poverty", "lowincome": "low", "midincome": "middle"}, "high")
    return frame.assign(health=health, means=means)


_DERIVED: dict[str, Callable[[Any], Any]] = {
    "affairs": _affairs,
    "rand-health": _rand,
    "births": _births,
    "old-age": _old_age,
}
