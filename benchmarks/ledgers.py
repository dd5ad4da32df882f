"""Ten million records that a ledger recognises: by an id, by a text id, and by the values of three columns.

Each line is a fresh process that makes rows in batches of 65,536, as files are read, has them recognised and stored in
a new ledger, and then holds the same rows, with a million new ones, against it. The making of the rows is not counted.
There is no peer: no library that we know recognises records so. Limits: numbers are hashed in NumPy, some 150 ns a row;
a text costs 2 µs the first time it is seen, since each is spelled canonically and hashed by itself. Of the peak of
memory 75 MB are Python, NumPy and PyArrow; what grows with the records is 8 bytes for each, and 4 more while a ledger
is held against them.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_ROWS, _MORE, _BATCH = 10_000_000, 1_000_000, 1 << 16
_KINDS = ("number", "text", "three columns")


def run() -> None:
    """Print time and memory for each kind of identity."""
    for kind in _KINDS:
        done = subprocess.run([sys.executable, __file__, kind], check=True, capture_output=True, text=True)
        print(done.stdout.strip())


def _main(kind: str) -> None:
    import narwhals as nw
    import numpy as np
    import pyarrow as pa

    from takifugu.releases.ledger import Ledger
    from takifugu.releases.ledger_file import digest_of
    from takifugu.releases.records import Identity, Recognition, overlap

    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    spent = {"recognise": 0.0, "store": 0.0, "compare": 0.0}

    def batches(first: int, last: int):
        for low in range(first, last, _BATCH):
            number = np.arange(low, min(low + _BATCH, last))
            if kind == "number":
                yield pa.table({"id": number})
            elif kind == "text":
                yield pa.table({"id": pa.array([f"P{one:08d}" for one in number.tolist()])})
            else:
                ward = pa.array((number % 7).astype(str))
                yield pa.table({"id": number // 21, "ward": ward, "stay": (number % 3).astype(float)})

    def recognised(key: bytes, last: int) -> Recognition:
        columns = ("id",) if kind != "three columns" else ("id", "stay", "ward")
        rows = Recognition(key, Identity(columns, is_id=len(columns) == 1), (), ())
        for table in batches(0, last):
            start = time.process_time()
            rows.look(nw.from_native(table, eager_only=True))
            spent["recognise"] += time.process_time() - start
        return rows

    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "l.ledger")
        rows = recognised(ledger._file.salt_ahead(), _ROWS)
        recognise = spent["recognise"]
        start = time.process_time()
        with ledger._file.writing() as writer:
            ordered = rows.in_order(rows.own)
            digest = writer.add_records(1, ordered)
        del ordered, rows
        spent["store"] = time.process_time() - start
        size = ledger.path.stat().st_size / 2**20
        again = recognised(ledger._file.read().salt, _ROWS + _MORE)
        start = time.process_time()
        with ledger._file.reading() as reader:
            ordered = again.in_order(again.own)
            found = overlap(ordered, reader.records(1, digest), by_id=again.own.is_id)
        spent["compare"] = time.process_time() - start
        assert (found.rows, found.is_whole) == (_ROWS, True)
        assert digest_of(ordered) != digest
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{kind}: 10,000,000 recognised in {recognise:.1f} s, put in order and stored in {spent['store']:.1f} s "
        f"({size:.0f} MB), 11,000,000 held against them in {spent['compare']:.1f} s; {peak:.0f} MB at most, of which "
        f"{base:.0f} MB for Python and its libraries"
    )


if __name__ == "__main__":
    _main(sys.argv[1])
