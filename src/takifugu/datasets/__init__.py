"""Three public datasets of people, bundled: Adult, Heart Disease (Cleveland) and Student Performance.

The copies are made by `scripts/build_datasets.py` from the raw files of the UCI Machine Learning Repository
and keep every row and column. `ATTRIBUTION.md`, beside them, gives authors and licence (CC BY 4.0).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.errors import InputError, suggestion

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["Dataset", "about", "load", "names", "path"]

LICENCE = "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)"


@dataclass(frozen=True)
class Dataset:
    """A bundled table: what it holds, whose work it is, and a secret and an answer worth a try."""

    name: str
    title: str
    rows: int
    columns: int
    secret: str
    pair: tuple[str | int, str | int]
    answer: str
    citation: str
    licence: str = LICENCE


_UCI = "UCI Machine Learning Repository"
_STUDENT = f"P. Cortez (2014), Student Performance, {_UCI}, doi:10.24432/C5TG7T"

CATALOGUE = {
    entry.name: entry
    for entry in (
        Dataset(
            name="adult",
            title="Adult (census income, 1994)",
            rows=48_842,
            columns=15,
            secret="race",
            pair=("White", "Other"),
            answer="education-num",
            citation=f"B. Becker and R. Kohavi (1996), Adult, {_UCI}, doi:10.24432/C5XW20",
        ),
        Dataset(
            name="heart",
            title="Heart Disease (Cleveland Clinic)",
            rows=303,
            columns=14,
            secret="slope",
            pair=(1, 3),
            answer="oldpeak",
            citation=(
                "A. Janosi, W. Steinbrunn, M. Pfisterer and R. Detrano (1988), Heart Disease, "
                f"{_UCI}, doi:10.24432/C52P4X"
            ),
        ),
        Dataset(
            name="student-mat",
            title="Student Performance (mathematics)",
            rows=395,
            columns=33,
            secret="schoolsup",
            pair=("no", "yes"),
            answer="G3",
            citation=_STUDENT,
        ),
        Dataset(
            name="student-por",
            title="Student Performance (Portuguese)",
            rows=649,
            columns=33,
            secret="schoolsup",
            pair=("no", "yes"),
            answer="G3",
            citation=_STUDENT,
        ),
    )
}


def names() -> list[str]:
    """The names that `load` knows.

    >>> names()
    ['adult', 'heart', 'student-mat', 'student-por']
    """
    return list(CATALOGUE)


def about(name: str) -> Dataset:
    """Size, source and licence of a dataset, and the secret and answer it is usually studied with.

    >>> about("heart").secret, about("heart").pair, about("heart").answer
    ('slope', (1, 3), 'oldpeak')
    """
    if not isinstance(name, str) or name not in CATALOGUE:
        raise InputError(
            f"there is no dataset {name!r}; those bundled are {', '.join(CATALOGUE)}.{suggestion(name, CATALOGUE)}"
        )
    return CATALOGUE[name]


# Reading the bundled copies.


def path(name: str) -> Path:
    """The compressed CSV file of a dataset, which every function that takes a table reads too."""
    return Path(__file__).with_name(f"{about(name).name}.csv.gz")


def load(name: str) -> "pd.DataFrame":
    """A bundled dataset as a pandas DataFrame: every row and column of the original, '?' as missing.

    Adult is the training file followed by the test file. Columns of whole numbers are integers; those with a
    missing value among them are floats, as pandas has it.

    >>> table = load("student-mat")
    >>> table.shape, table["schoolsup"].value_counts()["yes"].item()
    ((395, 33), 51)
    """
    import pandas as pd

    # An empty field is the one spelling of "missing": a text such as "None" is a value like any other.
    return pd.read_csv(path(name), keep_default_na=False, na_values=[""])
