"""One column of a table that is audited."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.tables.table import plain

Objects = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Column:
    """One column: numbers with NaN where there is none, or labels with None."""

    numbers: Array | None
    labels: Objects

    @classmethod
    def of(cls, values: Sequence[Any]) -> "Column":
        """Of plain values: numbers where every value there is a number."""
        labels = np.empty(len(values), dtype=object)
        labels[:] = [plain(value) for value in values]
        there = [value for value in labels.tolist() if value is not None]
        if there and all(isinstance(value, int | float) and not isinstance(value, bool) for value in there):
            return cls(np.array([np.nan if value is None else value for value in labels.tolist()], np.float64), labels)
        return cls(None, labels)

    def at(self, rows: Any) -> "Column":
        """The column at some rows."""
        return Column(None if self.numbers is None else self.numbers[rows], self.labels[rows])

    def agrees(self, other: "Column") -> npt.NDArray[np.bool_]:
        """Where two columns of the same length say the same; a number and its text are the same."""
        if self.numbers is not None and other.numbers is not None:
            same: npt.NDArray[np.bool_] = self.numbers == other.numbers
            return same | (np.isnan(self.numbers) & np.isnan(other.numbers))
        pairs = zip(self.labels.tolist(), other.labels.tolist(), strict=True)
        return np.array([a == b or str(a) == str(b) for a, b in pairs], dtype=np.bool_)
