"""Reading the bundled copies."""

from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.datasets.catalogue import about

if TYPE_CHECKING:
    import pandas as pd


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
