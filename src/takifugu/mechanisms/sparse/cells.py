"""Thousands of values as places in a few columns, so that the loss between any two is a sum of small look-ups."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws.values import Value, columns, key, number
from takifugu.mechanisms.optimal.losses import column_loss

Places = npt.NDArray[np.intp]

_MOST_ENTRIES = 2_000  # distinct entries of one column: the loss between them is a table


@dataclass(frozen=True, eq=False)
class Cells:
    """The values, coded: `codes` has a row per column, `tables` the loss between any two entries of each column."""

    codes: npt.NDArray[np.intp]
    tables: tuple[Array, ...]
    is_ordered: tuple[bool, ...]

    @classmethod
    def of(cls, values: Sequence[Value], mass: Array, *, loss: str | None, weights: Sequence[float] | None) -> "Cells":
        """The values of a law; `loss` by name, and how much each column counts."""
        entries = columns(values)
        if weights is not None and len(weights) != len(entries):
            raise InputError(f"weights must be one number for each of the {len(entries)} columns, got {len(weights)}")
        is_row = isinstance(values[0], tuple)
        codes, tables, ordered = [], [], []
        for k, column in enumerate(entries):
            distinct = {key(entry): entry for entry in column}
            inside = sorted(distinct.values(), key=lambda entry: (not number(entry), str(type(entry)), entry))
            if len(inside) > _MOST_ENTRIES:
                raise InputError(
                    f"a column takes {len(inside):,} distinct values, and {_MOST_ENTRIES:,} are the most for a list: "
                    f"give it a coarser domain"
                )
            place = {key(entry): where for where, entry in enumerate(inside)}
            code = np.array([place[key(entry)] for entry in column], dtype=np.intp)
            share = np.zeros(len(inside))
            np.add.at(share, code, mass)
            table = column_loss(loss, inside, inside, share, relative=is_row)
            codes.append(code)
            tables.append(table * (1.0 if weights is None else weights[k]))
            ordered.append(all(map(number, inside)))
        return cls(np.array(codes), tuple(tables), tuple(ordered))

    def __len__(self) -> int:
        """The number of values."""
        return int(self.codes.shape[1])

    def between(self, some: Places, others: Places) -> Array:
        """The loss of each of some values published as each of others."""
        total = np.zeros((len(some), len(others)))
        for code, table in zip(self.codes, self.tables, strict=True):
            total += table[code[some]][:, code[others]]
        return total

    def along(self, some: Places, others: Places) -> Array:
        """The loss of each of some values published as the other at the same position."""
        total = np.zeros(len(some))
        for code, table in zip(self.codes, self.tables, strict=True):
            total += table[code[some], code[others]]
        return total

    def cuts(self, part: Places, rng: np.random.Generator) -> Iterator[tuple[Places, Places]]:
        """Ways to halve a part, along the column first in which its values lie farthest apart.

        Chance blurs how far that is, and puts labels in an order, so that values which one cut separates meet under
        another.
        """
        widths = []
        for code, table in zip(self.codes, self.tables, strict=True):
            inside = np.unique(code[part])
            # A column that costs nothing may be cut too, but last; one of a single entry cannot.
            far = (float(table[np.ix_(inside, inside)].max()) + 1e-9) * rng.uniform(0.2, 1.0)
            widths.append(far if len(inside) > 1 else -1.0)
        for column in np.argsort(widths)[::-1].tolist():
            if widths[column] > 0:
                entries = len(self.tables[column])
                rank = np.arange(entries) if self.is_ordered[column] else rng.permutation(entries)
                line = rank[self.codes[column][part]]
                sequence = np.argsort(line, kind="stable")
                steps = np.flatnonzero(np.diff(line[sequence])) + 1
                cut = int(steps[np.argmin(np.abs(steps - len(part) // 2))])
                yield part[sequence[:cut]], part[sequence[cut:]]

    def parts(self, rng: np.random.Generator, *, most: int, least: Callable[[Places], bool]) -> list[Places]:
        """All values in parts that lie close together: at most so many, and none that is not at `least` enough."""
        waiting, found = [np.arange(len(self))], []
        while waiting:
            part = waiting.pop()
            if len(part) > most:
                halves = next((both for both in self.cuts(part, rng) if all(map(least, both))), None)
                if halves is not None:
                    waiting += halves
                    continue
            found.append(part)
        return found
