"""Releases ten million rows in a process of its own, and prints its largest resident size."""

import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from calibrations import hand_made

from takifugu.releases.file_release import release_file


def largest() -> int:
    """Kilobytes. A child inherits its parent's `ru_maxrss`; Linux tells a process's own, from its start on."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1])


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    secrets = np.array(["a", "b"])[rng.integers(2, size=10**6)]
    part = pa.table({"secret": secrets, "value": rng.normal(size=10**6)})
    with pq.ParquetWriter("in.parquet", part.schema) as writer:
        for _ in range(10):
            writer.write_table(part)
    done = release_file("in.parquet", "out.parquet", hand_made(), column="value", secret="secret")
    print(done.rows, largest())
