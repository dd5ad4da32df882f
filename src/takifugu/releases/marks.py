"""A mark beside a file: a ledger remembers what was published of it.

A ledger that was deleted, or is looked for in another folder, would start afresh and forget what was spent. So the
first release leaves a small hidden file beside the ledger, the table and the calibration, and where one lies no ledger
is started unasked, and none is left out. That beside the ledger also counts its entries, so that an older copy of it,
brought back from somewhere, does not pass for the latest. This guards against accidents, not against someone who
removes the marks.
"""

import glob
import logging
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from takifugu.errors import LedgerError

_log = logging.getLogger("takifugu")
_MOST = 1 << 16  # bytes of a mark that are read


def mark_of(path: Path) -> Path:
    """Where the mark of a file lies.

    >>> mark_of(Path("data/people.csv")).as_posix()
    'data/.people.csv.ledger-mark'
    """
    return path.parent / f".{path.name}.ledger-mark"


def ledger_beside(path: str | os.PathLike[str]) -> Path:
    """Where the ledger of a table lies unless another is named: beside it, under its name.

    >>> ledger_beside("data/people.csv").as_posix()
    'data/people.ledger'
    """
    where = Path(path)
    stem = where.name
    for suffix in reversed(where.suffixes):
        if suffix.lower() in (".csv", ".tsv", ".txt", ".gz", ".zst", ".parquet", ".pq", ".xlsx"):
            stem = stem.removesuffix(suffix)
    return where.parent / f"{stem or where.name}.ledger"


def names_of(file: str | os.PathLike[str]) -> tuple[Path, ...]:
    """The files that a path or a pattern means, each under its own name and that of the file it leads to."""
    given = os.fspath(file)
    matched = [] if os.path.exists(given) else sorted(glob.glob(given, recursive=True))
    return tuple(dict.fromkeys(name for path in map(Path, matched or [given]) for name in (path, path.resolve())))


def leave_marks(files: Iterable[Path], ledger: Path, *, entries: int) -> None:
    """Say beside each file which ledger remembers its releases; a folder that cannot be written is told in the log."""
    for file in files:
        mark = mark_of(file)
        try:
            known = _ledgers(mark)
            if not known or (file != ledger and not _is_among(ledger, known)):
                _write(mark, *known, ledger)
        except OSError as error:
            _log.warning("no mark of the ledger could be left beside %s (%s)", file, error.strerror or error)
    own = mark_of(ledger)
    with suppress(OSError):  # without the count an older copy goes unnoticed, as it did without a mark
        if own.exists() and counted(ledger) < entries:
            _write(own, ledger, entries=entries)


def refuse_marked(files: Iterable[Path], ledger: Path) -> None:
    """Raise where a ledger that is not there was there once."""
    for file in files:
        mark = mark_of(file)
        if mark.exists():
            where = (_lines(mark) or [""])[0]
            raise LedgerError(
                f"there is no ledger {ledger}, and {mark} says that one existed ({where}): a new one would forget what "
                f"was spent. Nothing was released; name or restore that ledger, or ask for a new one with new=True if "
                f"these are other people's records"
            )


def refuse_another(file: str | os.PathLike[str], ledger: Path) -> None:
    """Raise where a ledger that is still there remembers what was published of a file, and another one is named."""
    for name in names_of(file):
        remembering = _ledgers(mark_of(name))
        if remembering and not _is_among(ledger, remembering) and (there := list(filter(_may_exist, remembering))):
            raise LedgerError(
                f"a ledger ({there[0]}) remembers what was published of {os.fspath(file)}, and {ledger}, which is "
                f"another one, would not count that. Nothing was released; name the first as `ledger`, or, if these "
                f"are other people's records, one that is not there yet, with new=True"
            )


def _ledgers(mark: Path) -> list[Path]:
    """The ledgers that a mark beside a file names; none where there is no mark."""
    return [Path(line) for line in _lines(mark) if line and not line.isdigit()] if mark.exists() else []


def _is_among(ledger: Path, others: Iterable[Path]) -> bool:
    same = {ledger.absolute(), ledger.resolve()}
    for one in others:
        with suppress(OSError, ValueError):  # no name of a file, and so not of this one
            if one in same or one.resolve() in same:
                return True
    return False


def _may_exist(ledger: Path) -> bool:
    """Whether a ledger is there; of what is no name of a file nobody can tell."""
    try:
        return ledger.exists()
    except (OSError, ValueError):
        return True


def refuse_forgetting(file: str | os.PathLike[str]) -> None:
    """Raise where a ledger remembers what was published of a file that is to be released without one."""
    for name in names_of(file):
        mark, beside = mark_of(name), ledger_beside(name)
        if mark.exists() or beside.exists():
            where = (_lines(mark) or [""])[0] if mark.exists() else beside
            raise LedgerError(
                f"a ledger ({where}) remembers what was published of {os.fspath(file)}, and a release without it would "
                f"not be counted. Nothing was released; name it as `ledger`, or, if these are other people's records, "
                f"name another one, with new=True"
            )


def counted(ledger: Path) -> int:
    """How many entries the ledger is known to have had; 0 where no mark tells."""
    mark = mark_of(ledger)
    with suppress(OSError, ValueError, IndexError):
        return int(_lines(mark)[1])
    return 0


def start_anew(ledger: Path) -> None:
    """Forget how many entries a ledger of this name had: another was asked for in its place."""
    with suppress(OSError):
        if counted(ledger):
            _write(mark_of(ledger), ledger)


def refuse_older(ledger: Path, *, entries: int, counted: int) -> None:
    """Raise where a ledger lacks entries that it had: it is an older copy, which would let out again what went out."""
    if entries < counted:
        raise LedgerError(
            f"the ledger {ledger} has {entries} entries, and {mark_of(ledger)} says that it had {counted}: this is an "
            f"older copy, which has forgotten what was spent since. Nothing was released; restore the latest one"
        )


def _lines(mark: Path) -> list[str]:
    with mark.open("rb") as content:
        return content.read(_MOST).decode("utf-8", "replace").splitlines()


def _write(mark: Path, *ledgers: Path, entries: int | None = None) -> None:
    """At once, whoever else writes it."""
    told = "".join(f"{ledger.absolute()}\n" for ledger in ledgers) + ("" if entries is None else f"{entries}\n")
    draft = mark.with_name(f"{mark.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        draft.touch(mode=0o600)
        draft.write_text(told, encoding="utf-8", errors="replace")
        os.replace(draft, mark)
    finally:
        draft.unlink(missing_ok=True)
