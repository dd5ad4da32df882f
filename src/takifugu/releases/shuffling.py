"""Rows in an order that tells nothing: a uniform permutation, in memory or by way of the disk (proofs/shuffling.md).

Where a row stands is published with it, and no test on the rows can show that an order tells nothing. So every table
and every file is shuffled as it leaves. `order="keep"` is the publisher's own
statement that the order is random.
"""

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from takifugu.channels import BitSource, read_exactly

_log = logging.getLogger("takifugu")

ORDERS = ("shuffle", "keep")
AT_ONCE = 1 << 23  # cells that are held in memory to be shuffled; of more there are several buckets on the disk
_MOST_BUCKETS = 256  # one byte a row chooses among them

Places = npt.NDArray[np.intp]


def shuffled(rows: int, source: BitSource) -> Places:
    """A uniform permutation: the order of random words of 64 bits, no two of which are the same."""
    while True:
        words = np.frombuffer(read_exactly(source, 8 * rows), dtype="<u8")
        order: Places = np.argsort(words)
        ordered = words[order]
        if not np.any(ordered[1:] == ordered[:-1]):  # of five million words two agree once in a million times
            return order


class Shuffle:
    """PyArrow tables of any number of rows, shuffled together: each row into a random bucket, each bucket in memory.

    Buckets are files that have no name, in `folder`: nobody else can open them, and they are gone when the process is.
    """

    def __init__(self, rows: int, columns: int, folder: Path, source: BitSource) -> None:
        """Choose how many buckets there are: as many as keep one of them small."""
        self.buckets = 1
        while self.buckets < _MOST_BUCKETS and rows * columns > self.buckets * AT_ONCE:
            self.buckets *= 2
        self._folder, self._source = folder, source
        self._waiting: list[object] = []
        self._files: list[Any] = []
        self._writers: list[Any] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Nothing is opened before the first row."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the buckets, and so delete them."""
        self._stack.close()

    def add(self, table: Any) -> None:
        """The next rows."""
        import pyarrow as pa

        if self.buckets == 1:
            self._waiting.append(table)
            return
        if not self._files:
            for _ in range(self.buckets):
                self._files.append(self._stack.enter_context(TemporaryFile(dir=self._folder)))  # noqa: SIM115
            self._writers = [pa.ipc.new_stream(file, table.schema) for file in self._files]
        # A power of two: the low bits of a random byte are as random.
        chosen = np.frombuffer(read_exactly(self._source, table.num_rows), dtype=np.uint8) & (self.buckets - 1)
        for bucket, writer in enumerate(self._writers):
            if len(mine := np.flatnonzero(chosen == bucket)):
                writer.write_table(table.take(pa.array(mine)))

    def tables(self) -> Iterator[Any]:
        """All rows in their new order, bucket by bucket."""
        import pyarrow as pa

        for file, writer in zip(self._files, self._writers, strict=True):
            writer.close()
            file.seek(0)
            yield self._mixed(pa.ipc.open_stream(file).read_all())
        if self._waiting:
            yield self._mixed(pa.concat_tables(self._waiting))

    def _mixed(self, table: Any) -> object:
        import pyarrow as pa

        return table.take(pa.array(shuffled(table.num_rows, self._source)))


@cache
def warn_of_order() -> None:
    """Say once in a process that values without rows of their own keep their places."""
    _log.warning(
        "values of an array or of one column are published in the order in which they were given, since whoever gives "
        "them holds the rows beside them: where that order goes with the secret or with the values, it tells the "
        "secret. Give a table, whose rows are shuffled, or shuffle first; where the order is random, say so with "
        "order='keep'. This is said once"
    )
