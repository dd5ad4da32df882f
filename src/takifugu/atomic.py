"""Files that appear whole or not at all: written under another name beside their own, then renamed."""

import os
import secrets as randomness
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from takifugu.errors import InputError


@contextmanager
def draft(goal: Path) -> Iterator[Path]:
    """An empty file beside the goal that only its owner can read, gone again if it was not renamed."""
    name = goal.with_name(f".{goal.name}.{os.getpid()}.{randomness.token_hex(8)}.partial")
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise InputError(f"{os.fspath(goal)!r} cannot be written: {error.strerror or error}") from error
    try:
        yield name
    finally:
        name.unlink(missing_ok=True)


def open_to_readers(finished: Path) -> None:
    """Give a finished draft the permissions that new files have here."""
    mask = os.umask(0)
    os.umask(mask)
    finished.chmod(0o666 & ~mask)


def write_text(text: str, path: str | os.PathLike[str], *, private: bool = False) -> None:
    """Write a text file in UTF-8, replacing one of that name; an `InputError` with a sentence where it cannot be.

    A private one, which describes people's data, can be read by its owner alone.
    """
    try:
        goal = Path(path)
        if goal.exists() and not goal.is_file():  # a pipe or a terminal has no name beside it
            goal.write_text(text, encoding="utf-8")
            return
        goal = goal.resolve()  # a link keeps pointing where it did
        with draft(goal) as name:
            with name.open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if not private:
                open_to_readers(name)
            os.replace(name, goal)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{os.fspath(path)!r} cannot be written: {reason}") from None
