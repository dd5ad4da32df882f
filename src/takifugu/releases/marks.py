"""A mark beside a file: a ledger remembers what was published of it.

A ledger that was deleted, or is looked for in another folder, would start afresh and forget what was spent. So the
first release leaves a small hidden file beside the ledger, the table and the calibration, and where one lies no ledger
is started unasked. This guards against accidents, not against someone who removes the marks.
"""

import logging
from collections.abc import Iterable
from pathlib import Path

from takifugu.errors import LedgerError

_log = logging.getLogger("takifugu")
_MOST = 4096  # bytes of a mark that are read


def mark_of(path: Path) -> Path:
    """Where the mark of a file lies.

    >>> mark_of(Path("data/people.csv")).as_posix()
    'data/.people.csv.ledger-mark'
    """
    return path.with_name(f".{path.name}.ledger-mark")


def leave_marks(files: Iterable[Path], ledger: Path) -> None:
    """Say beside each file which ledger remembers its releases; a folder that cannot be written is told in the log."""
    for file in files:
        mark = mark_of(file)
        try:
            if not mark.exists():
                mark.touch(mode=0o600)
                mark.write_text(f"{ledger.absolute()}\n", encoding="utf-8", errors="replace")
        except OSError as error:
            _log.warning("no mark of the ledger could be left beside %s (%s)", file, error.strerror or error)


def refuse_marked(files: Iterable[Path], ledger: Path) -> None:
    """Raise where a ledger that is not there was there once."""
    for file in files:
        mark = mark_of(file)
        if mark.exists():
            with mark.open("rb") as content:
                where = content.read(_MOST).decode("utf-8", "replace").strip()
            raise LedgerError(
                f"there is no ledger {ledger}, and {mark} says that one existed ({where}): a new one would forget what "
                f"was spent. Nothing was released; name or restore that ledger, or ask for a new one with new=True if "
                f"these are other people's records"
            )
