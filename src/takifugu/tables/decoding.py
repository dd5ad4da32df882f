"""From bytes to text: which encoding a file is in, and whether it is text at all, decided by every byte of it."""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from takifugu.errors import InputError, MissingExtraError
from takifugu.tables.formats import compression

_CHUNK = 1 << 20
HEAD = 1 << 19  # characters that are looked at to find the separator and the header
_NEVER = b"\x00\x1f"  # no text has them but in UTF-16; the second stands for a separator in `layout`
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a"))  # beside bytes that are no UTF-8, these mean it is no text
_MARKS = (  # the longer first: a UTF-32 mark begins like one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


@dataclass(frozen=True)
class Survey:
    """What all the bytes of a text file say: its encoding, and whether its lines end in one way only."""

    encoding: str
    marked: bool  # it begins with a byte-order mark
    uniform: bool  # all line ends are \\n, or all are \\r\\n


def survey(path: str, forced: str | None) -> Survey:
    """Read the whole file once; an error where it is not text or breaks off."""
    with _bytes(path) as file:
        start = file.read(4)
    mark = next((name for bom, name in _MARKS if start.startswith(bom)), None)
    guess = _named(forced, mark) if forced is not None else mark or "utf-8"
    wide = guess.lower().replace("_", "-").startswith(("utf-16", "utf-32"))
    ends = _LineEnds()
    valid = True
    decoder = codecs.getincrementaldecoder(guess)()
    holes = controls = False  # a byte that cp1252 leaves undefined; one that steers a terminal
    with _bytes(path) as file:
        for chunk in iter(lambda: file.read(_CHUNK), b""):
            if not wide and any(byte in chunk for byte in _NEVER):
                raise InputError(_no_text(path))
            ends.see(chunk)
            controls = controls or len(chunk.translate(None, _CONTROL)) != len(chunk)
            holes = holes or any(byte in chunk for byte in b"\x81\x8d\x8f\x90\x9d")
            valid = valid and _decodes(decoder, chunk)
    valid = valid and _decodes(decoder, b"", final=True)
    if valid:
        return Survey(guess, mark is not None, ends.uniform and not wide)
    if forced is not None or mark is not None:
        raise InputError(
            f"the file {path!r} cannot be read: it is not a text in {guess}, name another encoding (encoding=)"
        )
    if controls:
        raise InputError(_no_text(path))
    return Survey("latin-1" if holes else "cp1252", False, False)


def head(path: str, encoding: str) -> tuple[str, bool]:
    """The first characters of a file, and whether they are all of it; line ends become \\n."""
    with as_text(path, encoding) as file:
        found = file.read(HEAD)
        return found, not file.read(1)


@contextmanager
def as_text(path: str, encoding: str) -> Iterator[IO[str]]:
    """The file as text, unpacked and decoded, with \\n at the end of each line."""
    with _bytes(path) as file, io.TextIOWrapper(io.BufferedReader(_Raw(file)), encoding=encoding) as wrapped:
        yield wrapped


class _Raw(io.RawIOBase):
    """Any readable thing as a raw stream, so that the text layer can lie on gzip, zstd and plain files alike."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _LineEnds:
    """Counts line ends over chunks, one of which may begin with the second half of a \\r\\n."""

    def __init__(self) -> None:
        self._returns = self._feeds = self._both = 0
        self._last = b""

    def see(self, chunk: bytes) -> None:
        self._returns += chunk.count(b"\r")
        self._feeds += chunk.count(b"\n")
        self._both += chunk.count(b"\r\n") + (self._last == b"\r" and chunk[:1] == b"\n")
        self._last = chunk[-1:]

    @property
    def uniform(self) -> bool:
        return self._returns == self._both and self._feeds in ((self._both,) if self._both else (self._feeds,))


def _no_text(path: str) -> str:
    return (
        f"the file {path!r} cannot be read: it holds bytes that no text has. Save it as CSV in UTF-8, or name its "
        f"encoding if it is a text in UTF-16"
    )


def _named(forced: str, mark: str | None) -> str:
    """A forced UTF-8 tolerates its mark; every other name is taken as it is."""
    return "utf-8-sig" if mark == "utf-8-sig" and codecs.lookup(forced).name == "utf-8" else codecs.lookup(forced).name


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeError:
        return False
    return True


@contextmanager
def _bytes(path: str) -> Iterator[Any]:
    """The file's bytes, unpacked; what is packed badly becomes a sentence."""
    import gzip
    import zlib

    packed = compression(path)
    failure: str | None = None
    try:
        if packed == "gzip":
            with gzip.open(path, "rb") as unpacked:
                yield unpacked
        elif packed == "zstd":
            with _zstd(path) as unpacked:
                yield unpacked
        else:
            with open(path, "rb") as plain:
                yield plain
    except (EOFError, zlib.error, gzip.BadGzipFile):
        failure = "it is packed with gzip and breaks off or is damaged; fetch or pack it again"
    except OSError as error:
        if packed != "zstd" and error.strerror is not None:
            failure = error.strerror
        else:
            failure = f"it is packed with {packed} and breaks off or is damaged; fetch or pack it again"
    if failure is not None:
        raise InputError(f"the file {path!r} cannot be read: {failure}")


def _zstd(path: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("files packed with zstd are read with PyArrow: pip install 'takifugu[files]'") from None
    return pa.CompressedInputStream(pa.OSFile(path), "zstd")
