"""JSON from strangers: read within limits, with one sentence for whatever is wrong.

Python's reader accepts NaN, repeated keys, numbers beyond every float and files of any size. None of them
belongs in a document that somebody will rely on.
"""

import gc
import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

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


def write(content: object, path: str | os.PathLike[str], *, private: bool = False) -> None:
    """Write JSON for people."""
    write_text(text(content), path, private=private)


def text(content: object) -> str:
    """JSON for people: indented, ASCII, with every float in the shortest form that loses no bit."""
    return json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def canonical(content: object) -> bytes:
    """The one way to write the content for a digest: keys in order, no spaces, ASCII, shortest floats."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode("ascii")


def _object(items: list[tuple[str, object]]) -> dict[str, object]:
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


# The content of a file, checked field by field.
#
# Every complaint is an `InputError` that names the field, what was found and what is accepted; a value is never shown
# beyond its first characters.

Scalar = str | int | float | bool

MOST_BELIEFS = 10_000
MOST_LOSSES = 200_000
_MOST_SECRETS = 20_000
_HEX = re.compile(r"[0-9a-f]{64}")
_LONGEST = 1000  # characters of a text
_MOST_COUNT = 1 << 62  # the largest that any channel has
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")  # of a mechanism: it stands in files and on the command line


class Room:
    """What is left for all the laws of a file together, in numbers."""

    def __init__(self, numbers: int = 2_000_000) -> None:
        """Start with a limit that no honest file meets."""
        self.numbers = numbers

    def take(self, value: object, where: str) -> list[object]:
        """A list that still fits, and less room for those that follow."""
        found = items(value, where, least=1, most=self.numbers)
        self.numbers -= len(found)
        return found


_CERTIFICATE, _REDACTED, _CALIBRATION = "takifugu-certificate", "takifugu-certificate-redacted", "takifugu-calibration"
# Files that lie side by side under names that are alike, and what to do with the one that was named.
_MIXED_UP = {
    (_REDACTED, _CERTIFICATE): "it is a redacted certificate, which holds no priors: only the full one can be verified",
    (
        _CALIBRATION,
        _CERTIFICATE,
    ): "it is a calibration, which proves nothing by itself: `certify` makes its certificate",
    (_CERTIFICATE, _REDACTED): "it is the full certificate, with the priors: name the redacted one, which is public",
    (_CERTIFICATE, _CALIBRATION): "it is a certificate: name the calibration that it was made from",
    (_REDACTED, _CALIBRATION): "it is a redacted certificate: name the calibration that it was made from",
}


def header(data: object, kind: str, versions: tuple[int, ...], what: str) -> int:
    """The version of a file of this format, one of those known here."""
    if not isinstance(data, dict) or "format" not in data:
        raise InputError(f"it is not {what}: there is no field 'format'")
    if data["format"] != kind:
        meant = _MIXED_UP.get((data["format"], kind)) if isinstance(data["format"], str) else None
        raise InputError(meant or f"it is not {what}: 'format' must be {kind!r}")
    version = data.get("version")
    if type(version) is not int or version not in versions:
        known = " or ".join(map(str, versions))
        raise InputError(f"'version' must be {known} here; got {str(version)[:40]}: upgrade Takifugu")
    return version


def fields(value: object, keys: tuple[str, ...], where: str) -> dict[str, Any]:
    """An object with exactly these keys."""
    if not isinstance(value, dict):
        raise _wrong(where, "an object", value)
    for key in keys:
        if key not in value:
            raise InputError(f"{where} lacks {key!r}")
    for key in value:
        if key not in keys:
            raise InputError(f"{where} has a field {key[:60]!r} that does not belong there")
    return value


def items(value: object, where: str, *, least: int = 0, most: int) -> list[Any]:
    """A list of a sensible length."""
    if not isinstance(value, list):
        raise _wrong(where, "a list", value)
    if not least <= len(value) <= most:
        raise InputError(f"{where} must have {least:,} to {most:,} entries, it has {len(value):,}")
    return value


def exactly(value: object, where: str, size: int) -> list[Any]:
    """A list of this length."""
    return items(value, where, least=size, most=size)


def kind_of(value: object) -> Any:
    """What an object says that it is; None for anything else."""
    return value.get("kind") if isinstance(value, dict) else None


def number(value: object, where: str, *, least: float = -math.inf, above: float = -math.inf) -> float:
    """A finite number in range, as a float; whole numbers count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(where, "a number", value)
    try:
        given = float(value)
    except OverflowError:
        given = math.inf
    if not math.isfinite(given) or given < least or given <= above or given != value:
        bound = f" above {above:g}" if above > -math.inf else f" of {least:g} or more" if least > -math.inf else ""
        raise InputError(f"{where} must be a float{bound}, got {str(value)[:40]}")
    return given + 0.0


def index(value: object, where: str, *, below: int) -> int:
    """A position in a list of length `below`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(where, "a whole number", value)
    if not 0 <= value < below:
        raise InputError(f"{where} must be from 0 to {below - 1}, got {str(value)[:40]}")
    return value


def indices(value: object, where: str, *, least: int = 0, most: int) -> list[int]:
    """A list of whole numbers, up to the largest count of a channel."""
    return [index(one, where, below=_MOST_COUNT + 1) for one in items(value, where, least=least, most=most)]


def texts(value: object, where: str, *, least: int = 0, most: int = 1_000) -> tuple[str, ...]:
    """A list of short texts."""
    return tuple(text_field(one, where) for one in items(value, where, least=least, most=most))


def text_field(value: object, where: str, pattern: re.Pattern[str] | None = None) -> str:
    """A short text, perhaps of a given form."""
    if not isinstance(value, str):
        raise _wrong(where, "a text", value)
    if len(value) > _LONGEST or (pattern is not None and not pattern.fullmatch(value)):
        raise InputError(f"{where} is not of the right form: {value[:60]!r}")
    return value


def hex_digest(value: object, where: str) -> str:
    """64 hexadecimal digits."""
    return text_field(value, where, _HEX)


def mechanism(value: object) -> str:
    """The name of a mechanism."""
    return text_field(value, "'mechanism'", NAME)


def secrets(value: object) -> tuple[Scalar, ...]:
    """The secrets: texts, numbers, true or false, all different."""
    found = tuple(items(value, "'secrets'", least=2, most=_MOST_SECRETS))
    for i, secret in enumerate(found):
        if not isinstance(secret, str | int | float | bool):
            raise _wrong(f"secrets[{i}]", "a text or a number", secret)
        if len(str(secret)) > _LONGEST:
            raise InputError(f"secrets[{i}] is longer than {_LONGEST} characters")
    if len(set(found)) < len(found):
        raise InputError("'secrets' names the same secret twice")
    return found


def pairs(value: object, size: int) -> tuple[tuple[int, int], ...]:
    """Pairs of positions among the secrets."""
    found = []
    for n, pair in enumerate(items(value, "'pairs'", least=1, most=MOST_LOSSES)):
        i, j = (index(k, f"pairs[{n}]", below=size) for k in items(pair, f"pairs[{n}]", least=2, most=2))
        if i == j:
            raise InputError(f"pairs[{n}] hides a secret from itself")
        found.append((i, j))
    if len({frozenset(pair) for pair in found}) < len(found):
        raise InputError("'pairs' holds the same pair twice")
    return tuple(found)


def software(value: object) -> tuple[tuple[str, str], ...]:
    """Names and versions; they are for the reader, nothing depends on them."""
    if not isinstance(value, dict):
        raise _wrong("'software'", "an object", value)
    items(list(value), "'software'", most=20)
    return tuple(
        sorted((text_field(k, "'software'"), text_field(v, f"software[{k[:60]!r}]")) for k, v in value.items())
    )


def plain(secret: object) -> object:
    """A secret without numpy's types."""
    return secret.item() if isinstance(secret, np.generic) else secret


def value_to(value: object) -> object:
    """A value of a finite law: a row of several columns is a list in JSON."""
    return [plain(part) for part in value] if isinstance(value, tuple) else plain(value)


def value_from(value: object, where: str) -> Any:
    """What `value_to` wrote."""
    if isinstance(value, list):
        return tuple(value_from(part, where) for part in items(value, where, least=1, most=100))
    if not isinstance(value, str | int | float | bool):
        raise InputError(f"{where} must be a text, a number, true or false, or a list of those")
    return value


def values_to(values: Sequence[object]) -> list[object]:
    """A list of such values."""
    return [value_to(value) for value in values]


def matrix(value: object, where: str, room: Room, *, columns: int | None = None) -> list[list[float]]:
    """A list of rows of numbers, all as long as the first or of `columns` numbers."""
    rows = [room.take(row, f"{where}[{i}]") for i, row in enumerate(room.take(value, where))]
    wanted = len(rows[0]) if columns is None else columns
    for i, row in enumerate(rows):
        if len(row) != wanted:
            raise InputError(f"{where}[{i}] must have {wanted} entries, it has {len(row)}")
    return [[number(x, f"{where}[{i}][{j}]") for j, x in enumerate(row)] for i, row in enumerate(rows)]


def _wrong(where: str, accepted: str, value: object) -> InputError:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return InputError(f"{where} must be {accepted}, got {kinds.get(type(value), 'a number')}")
