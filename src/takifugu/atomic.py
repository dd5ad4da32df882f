"""Files that appear whole or not at all: written under another name beside their own, then renamed."""

import contextlib
import os
import re
import secrets as randomness
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from takifugu._work import undisturbed
from takifugu.errors import InputError

_OURS = re.compile(r'\{\s*"format":\s*"(takifugu-[\w-]+)"|(<!DOCTYPE html>)')  # how the files begin that commands write


@contextmanager
def draft(goal: Path) -> Iterator[Path]:
    """An empty file beside the goal that only its owner can read, gone again if it was not renamed."""
    name = goal.with_name(f".{goal.name}.{os.getpid()}.{randomness.token_hex(8)}.partial")
    refused = False
    try:  # from here on, since Ctrl-C may come the moment after the file was made
        try:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            refused = True
            raise InputError(f"{os.fspath(goal)!r} cannot be written: {error.strerror or error}") from error
        yield name
    finally:
        try:
            if not refused:
                name.unlink(missing_ok=True)
        except KeyboardInterrupt:
            name.unlink(missing_ok=True)
            raise


def open_to_readers(finished: Path) -> None:
    """Give a finished draft the permissions that new files have here.

    The mask of new files can only be read by changing it, for the whole process and all its threads. So a new file is
    made and asked.
    """
    sample = finished.with_name(f"{finished.name}.mode")
    with undisturbed():
        descriptor = os.open(sample, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        try:
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        finally:
            os.close(descriptor)
            sample.unlink()
    finished.chmod(mode)


class Files:
    """Several files that appear together or not at all.

    Each is written as a draft; only when all are complete do they get their names. Names that cannot be written are
    refused when they are given, before the work that fills them.
    """

    def __init__(self, *paths: str | os.PathLike[str] | None) -> None:
        """Check the names."""
        self._waiting: list[tuple[Path, str, bool]] = []
        given = [Path(path) for path in paths if path is not None]
        resolved = [path.resolve() for path in given]
        for path, goal in zip(given, resolved, strict=True):
            if resolved.count(goal) > 1:
                raise InputError(f"{os.fspath(path)!r} is named for two files: each needs a name of its own")
            if not goal.parent.is_dir():
                raise InputError(
                    f"{os.fspath(path)!r} cannot be written: there is no folder {os.fspath(goal.parent)!r}"
                )
            if goal.is_dir():
                raise InputError(f"{os.fspath(path)!r} cannot be written: it is a folder")
            if (before := _beginning(goal)) and not _OURS.match(before):
                raise _not_written_over(path)
            if goal.is_file() or not goal.exists():
                with draft(goal):
                    pass  # whoever may not write here learns it before the work, and before a ledger is charged

    def add(self, path: str | os.PathLike[str], text: str, *, private: bool = False) -> None:
        """One more file, to be written by `write`."""
        self._waiting.append((Path(path), text, private))

    def write(self) -> None:
        """Write all of them."""
        special = [one for one in self._waiting if one[0].exists() and not one[0].is_file()]
        for path, text, _ in self._waiting:
            is_held = path.suffix == ".csv" or _OURS.match(text)
            if is_held and (before := _beginning(path)) and _kind(before) != _kind(text):
                raise _not_written_over(path)
        with contextlib.ExitStack() as drafts:
            ready = []
            for path, text, private in self._waiting:
                if (path, text, private) not in special:
                    goal = path.resolve()  # a link keeps pointing where it did
                    name = drafts.enter_context(draft(goal))
                    with _told(path):
                        _fill(name, text, private=private)
                    ready.append((path, name, goal))
            with undisturbed():
                for path, name, goal in ready:
                    with _told(path):
                        os.replace(name, goal)
        for path, text, _ in special:  # a pipe or a terminal has no name beside it
            with _told(path):
                path.write_text(text, encoding="utf-8")


def write_text(text: str, path: str | os.PathLike[str], *, private: bool = False) -> None:
    """Write a text file in UTF-8, replacing one of that name; an `InputError` with a sentence where it cannot be.

    A private one, which describes people's data, can be read by its owner alone.
    """
    with _told(path):
        files = Files()
        files.add(path, text, private=private)
        files.write()


def _beginning(path: Path) -> str:
    """The first characters of a file that is there; none of an empty one, or of a pipe."""
    if not path.is_file():
        return ""
    with _told(path), path.open("rb") as file:
        return file.read(400).decode("utf-8", errors="replace")


def _kind(text: str) -> str:
    """What tells one kind of file from another: the format of a document or page, the header of a table."""
    ours = _OURS.match(text)
    return (ours[1] or ours[2]) if ours else text.partition("\n")[0].rstrip("\r")


def _not_written_over(path: str | os.PathLike[str]) -> InputError:
    return InputError(
        f"{os.fspath(path)!r} holds something else, such as a table or a ledger, and is not written over: choose "
        f"another name, or remove it first"
    )


def _fill(name: Path, text: str, *, private: bool) -> None:
    with name.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if not private:
        open_to_readers(name)


@contextmanager
def _told(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the operating system refuses, as a sentence."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{os.fspath(path)!r} cannot be written: {reason}") from None


def synchronise(path: Path) -> None:
    """Make sure that a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
