"""Whether a file is still the one that was counted: what is calibrated for one table must not publish another."""

import os
from collections.abc import Iterable

Stamp = tuple[int, ...] | None


def stamps_of(paths: Iterable[str]) -> dict[str, Stamp]:
    """What tells each file from a changed one, without a look inside; of one that is not there, nothing."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    # Who writes into a file may set its time of change back, but not that of its entry.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
