"""The columns that are compared: five of the bundled tables, and the numbers and labels of the unseen ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from studies.peers.methods import Column
from studies.unseen.reading import read
from studies.unseen.tables import TABLES
from studies.unseen.wheels import content
from takifugu.datasets import load
from takifugu.laws.lattice import Lattice

BUNDLED = (
    ("adult", "race", "occupation", None),
    ("adult", "race", "marital-status", None),
    ("adult", "race", "education-num", ["White", "Other"]),
    ("heart", "slope", "oldpeak", [1, 3]),
    ("student-mat", "schoolsup", "G3", None),
)


def bundled() -> Iterator[tuple[str, Column]]:
    """The columns of bundled tables, by name."""
    for table, secret, name, secrets in BUNDLED:
        frame = load(table).dropna(subset=[secret, name])
        if secrets is not None:
            frame = frame[frame[secret].isin(secrets)]
        yield f"{table}: {name} by {secret}", counted(frame, secret, name)


def unseen(folder: Path) -> Iterator[tuple[str, Column]]:
    """The number and the label of every unseen table, numbers on their lattice."""
    for table in TABLES:
        frame = read(table, content(table, folder))
        lattice = Lattice(table.low, table.high, table.step)
        frame[table.number] = lattice.snap(frame[table.number].to_numpy(np.float64))
        for name in (table.number, table.label):
            yield f"{table.name}: {name} by {table.secret}", counted(frame, table.secret, name)


def counted(frame: Any, secret: str, name: str) -> Column:
    """How many rows of each secret have each value.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"s": ["a", "a", "b"], "x": [1, 2, 2]})
    >>> counted(frame, "s", "x").counts.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    values, places = np.unique(frame[name].to_numpy(), return_inverse=True)
    names, whose = np.unique(frame[secret].to_numpy(), return_inverse=True)
    counts = np.zeros((len(names), len(values)))
    np.add.at(counts, (whose, places), 1.0)
    return Column(tuple(values.tolist()), counts, is_number=values.dtype.kind in "if")
