"""Rows in an order that tells nothing: a uniform permutation of which nothing is kept."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu.channels.bits import BitSource, read_exactly
from takifugu.errors import InputError
from takifugu.problems.findings import Finding

ORDERS = ("warn", "keep", "shuffle", "auto")
MOST_SHUFFLED = 5_000_000  # rows of a file that are held in memory to be shuffled

Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class RowsShuffled(Finding):
    """Rows that lost their order, because it told the secret or because that was asked for."""

    says = "the {rows:,} rows were shuffled, so that their order tells nothing"
    rows: int


def require_few_enough(rows: int) -> None:
    """Refuse to shuffle a file that is too long to be held in memory."""
    if rows > MOST_SHUFFLED:
        raise InputError(
            f"{rows:,} rows are too many to be shuffled here, where {MOST_SHUFFLED:,} are: shuffle the file first, and "
            f"give order='keep'. Nothing was released"
        )


def shuffled(rows: int, source: BitSource) -> Places:
    """A uniform permutation: the order of random words of 64 bits, no two of which are the same."""
    while True:
        words = np.frombuffer(read_exactly(source, 8 * rows), dtype="<u8")
        order: Places = np.argsort(words, kind="stable")
        if not np.any(np.diff(words[order]) == 0):  # of five million words two agree once in a million times
            return order
