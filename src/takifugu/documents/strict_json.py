"""JSON from strangers: read within limits, with one sentence for whatever is wrong.

Python's reader accepts NaN, repeated keys, numbers beyond every float and files of any size. None of them
belongs in a document that somebody will rely on.
"""

import gc
import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from takifugu.atomic import write_text
from takifugu.errors import InputError

_MOST_BYTES = 1 << 24
_MOST_DIGITS = 400  # of a number: the longest float written out in full, about
# What a file may hold: several times what the largest channel that is ever written does. Read into Python, small things
# take fifty times the room that they take in a file, and a file of a quarter of a gigabyte is read.
_MOST = {"lists and objects": (b"[{", 1 << 22), "texts": (b'"', 1 << 23), "numbers": (b",", 1 << 24)}
# Without a hundred digits in a row, and a power of ten of three, a number has less than 400 digits and is below 1e200:
# Python's own reader may make it, several times as fast. Digits that letters follow are of a digest, and no power.
_LONG, _HIGH = re.compile(rb"[0-9]{100}"), re.compile(rb"[eE]\+?[0-9]{3,}(?![0-9a-f])")


def read(path: str | os.PathLike[str], *, most_bytes: int = _MOST_BYTES) -> Any:
    """The content of a JSON file; an `InputError` with a sentence for anything else."""
    try:
        with Path(path).open("rb") as file:
            # Of a file that says how large it is nothing need be read to refuse it; a pipe says nothing.
            is_larger = os.fstat(file.fileno()).st_size > most_bytes
            data = b"" if is_larger else file.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{os.fspath(path)!r} cannot be read: {reason}") from None
    if is_larger or len(data) > most_bytes:
        raise InputError(f"{os.fspath(path)!r} is larger than {most_bytes:,} bytes, the most that is read")
    try:
        return parse(data)
    except InputError as error:
        raise InputError(f"{os.fspath(path)!r} is not usable: {error}") from None


def parse(data: bytes) -> Any:
    """The value that UTF-8 JSON text stands for, without constants, repeated keys or numbers out of range."""
    for what, (marks, most) in _MOST.items():
        if sum(data.count(mark) for mark in marks) > most:
            raise InputError(f"it holds more {what} than any file of this package")
    is_plain = not _LONG.search(data) and not _HIGH.search(data)
    numbers: dict[str, Any] = {} if is_plain else {"parse_int": _integer, "parse_float": _float}
    try:
        with _without_collecting():
            return json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant, **numbers)
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise InputError(f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InputError("its lists are nested too deeply") from None


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Let no list be looked at again while more are made: none of them can be garbage, and looking took most of it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def write(content: Any, path: str | os.PathLike[str], *, private: bool = False) -> None:
    """Write JSON for people."""
    write_text(text(content), path, private=private)


def text(content: Any) -> str:
    """JSON for people: indented, ASCII, with every float in the shortest form that loses no bit."""
    return json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def canonical(content: Any) -> bytes:
    """The one way to write the content for a digest: keys in order, no spaces, ASCII, shortest floats."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode("ascii")


def _object(items: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(items)
    if len(content) < len(items):
        raise InputError("an object has the same key twice")
    return content


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise InputError(f"a number has {len(text)} digits")
    return int(text)


def _float(text: str) -> float:
    if len(text) > _MOST_DIGITS:
        raise InputError(f"a number has {len(text)} digits")
    number = float(text)
    if not math.isfinite(number):
        raise InputError(f"the number {text[:40]} is beyond the largest float")
    return number


def _constant(text: str) -> float:
    raise InputError(f"{text} is not a number that JSON has")
