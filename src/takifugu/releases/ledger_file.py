"""One append-only SQLite file that is either whole or refused.

Every entry is sealed with a digest of itself and of the entry before it, and the last seal is kept apart, so
that damage which SQLite cannot see is seen here. This is a guard against accidents, not against someone who
rewrites the file.
"""

import hashlib
import json
import logging
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from takifugu._work import undisturbed
from takifugu.atomic import synchronise
from takifugu.errors import CompositionError, LedgerError
from takifugu.releases.records import Hashes

_log = logging.getLogger("takifugu")

_APPLICATION = 0x54414B49  # "TAKI", in the file's header
_VERSION = 2  # 1 knew files by their names and no records
_SALT = 32  # bytes
_PART = 1 << 17  # hashes of records that are kept, and read, together
_PATIENCE = 60.0  # seconds to wait for other processes
_ADVICE = "nothing was released. Restore the file from a copy; a new ledger would forget what was spent"
# SQLite's own messages about a damaged file can hold damaged text.
INFLUENCE = "influence"  # entries about releases of others, of which no rows are known
_TROUBLE = (sqlite3.Error, OSError, UnicodeDecodeError)


@dataclass(frozen=True)
class Contents:
    """What the file holds, verified."""

    salt: bytes
    entries: tuple[dict[str, Any], ...]
    seal: bytes


class LedgerFile:
    """Reads all, appends one, both in one transaction that no other process can come between."""

    def __init__(self, path: str | os.PathLike[str], *, new: bool | None = None, of_influence: bool = False) -> None:
        """Name the file; it is made on first use, unless `new` is False. True is for a file that is not there yet.

        A file holds releases from rows, or what others' releases say of chains, and never both: nothing is known about
        what both tell together.
        """
        self.path = Path(path)
        self._of_influence = of_influence
        if new is True and self.exists():
            raise LedgerError(f"the ledger {self.path} exists already: leave new out to go on with it")
        self._new = new
        self._salt: bytes | None = None  # that a file will be made with, once it was asked for ahead

    def exists(self) -> bool:
        """Whether there is such a file."""
        return self.path.exists()

    def require_expected(self) -> None:
        """Raise where the file is not there and may not be started."""
        if self.exists() or self._new is True:
            return
        if self._new is False or self._counted():
            raise LedgerError(
                f"there is no ledger {self.path}, and one was expected: a new one would forget what was spent. "
                f"Nothing was released; restore the file, or ask for a new one with new=True if these are other "
                f"people's records"
            )

    def read(self) -> Contents:
        """The verified contents."""
        with self.reading() as reader:
            return reader.contents

    @contextmanager
    def reading(self) -> Iterator["Reader"]:
        """The verified contents, and the records of each account."""
        with self._latest("DEFERRED") as (contents, database):
            yield Reader(self.path, contents, database)

    def salt_ahead(self) -> bytes:
        """The salt, or that which a file will have that is not there yet; none is made for a release that may fail."""
        if self.exists():
            return self.read().salt
        self.require_expected()
        self._salt = secrets.token_bytes(_SALT) if self._salt is None else self._salt
        return self._salt

    @contextmanager
    def writing(self) -> Iterator["Writer"]:
        """The verified contents, locked, to add to; on disk when the block ends without an error."""
        with self._latest("IMMEDIATE") as (contents, database):
            writer = Writer(self.path, contents, database)
            yield writer
        self._count(writer.count)

    @contextmanager
    def _latest(self, kind: str) -> Iterator[tuple[Contents, sqlite3.Connection]]:
        """The contents in a transaction, unless they are those of an older copy of the file."""
        # Counted before the contents are read: what others add in between is in them, and not yet in the count.
        counted = self._counted() if self.exists() else 0
        with self._transaction(kind) as database:
            contents = _contents(self.path, database)
            if len(contents.entries) < counted:
                raise LedgerError(
                    f"the ledger {self.path} has {len(contents.entries)} entries, and had {counted}: this is an older "
                    f"copy, which has forgotten what was published since. Nothing was released; restore the latest one"
                )
            if any((entry["kind"] == INFLUENCE) != self._of_influence for entry in contents.entries):
                raise CompositionError(
                    f"the ledger {self.path} is of another kind: one remembers releases from rows, or what releases of "
                    f"others tell of a chain (`depend`), and what both tell together is not known. Nothing was "
                    f"released; name another ledger"
                )
            ahead, self._salt = self._salt, None
            if ahead not in (None, contents.salt):
                raise LedgerError(
                    f"the ledger {self.path} was started by another process meanwhile: nothing was released; try again"
                )
            yield contents, database

    @property
    def _counter(self) -> Path:
        """A small file beside the ledger: a guard against its loss, and against an older copy in its place."""
        return self.path.with_name(f".{self.path.name}.count")

    def _counted(self) -> int:
        """How many entries the ledger is known to have had."""
        with suppress(OSError, ValueError):
            return int(self._counter.read_bytes()[:20])
        return 0

    def _count(self, entries: int) -> None:
        with suppress(OSError):  # without the count an older copy goes unnoticed
            if self._counted() < entries:
                draft = _draft(self._counter)
                with undisturbed():
                    try:
                        draft.write_bytes(b"%d" % entries)
                        os.replace(draft, self._counter)
                    finally:
                        draft.unlink(missing_ok=True)

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        if not self.exists():
            self.require_expected()
            with undisturbed():
                _create(self.path, self._salt)
            with suppress(OSError):
                self._counter.unlink(missing_ok=True)
            _log.warning("started a new ledger, %s: keep it, it remembers what was published", self.path)
        try:
            if self.path.stat().st_size == 0:
                raise LedgerError(f"the ledger {self.path} is empty, which a ledger never is: {_ADVICE}")
            database = _connect(self.path)
        except _TROUBLE as error:
            raise _refusal(self.path, error) from error
        try:
            database.execute(f"BEGIN {kind}")
            yield database
            database.execute("COMMIT")
        except _TROUBLE as error:
            raise _refusal(self.path, error) from error
        finally:
            with suppress(sqlite3.Error):
                database.close()  # what was not committed is rolled back


class Reader:
    """The contents of a ledger in one transaction."""

    def __init__(self, path: Path, contents: Contents, database: sqlite3.Connection) -> None:
        """Nothing is read yet but the entries."""
        self.contents = contents
        self._path, self._database = path, database

    def records(self, account: int, digest: str) -> Iterator[Hashes]:
        """The hashes of an account's records part by part, each in order; an error after the last if any is damaged."""
        found = hashlib.blake2b(digest_size=32)
        rows = self._database.execute("SELECT hashes FROM record WHERE account = ? ORDER BY part", (account,))
        for (part,) in rows:
            found.update(part)
            yield np.frombuffer(part, dtype="<u8")
        if found.hexdigest() != digest:
            raise LedgerError(f"the ledger {self._path} is damaged (records are missing or changed): {_ADVICE}")


class Writer(Reader):
    """The contents of a locked ledger, and the way to add to them."""

    def __init__(self, path: Path, contents: Contents, database: sqlite3.Connection) -> None:
        """Start at the last seal."""
        super().__init__(path, contents, database)
        self._seal, self.count = contents.seal, len(contents.entries)

    def add_records(self, account: int, ordered: Hashes) -> str:
        """Add the hashes of an account's records, in this transaction; their digest, which an entry is to seal."""
        digest = digest_of(ordered)
        for part, low in enumerate(range(0, len(ordered), _PART)):
            blob = ordered[low : low + _PART].astype("<u8").tobytes()
            self._database.execute("INSERT INTO record VALUES (?, ?, ?)", (account, part, blob))
        return digest

    def append(self, entry: dict[str, object]) -> None:
        """Add an entry, in this transaction."""
        body = json.dumps(entry, ensure_ascii=False, sort_keys=True)
        self._seal = _sealed(self._seal, body)
        self.count += 1
        self._database.execute("INSERT INTO entry VALUES (?, ?, ?)", (self.count, body, self._seal))
        self._database.execute("UPDATE head SET count = ?, seal = ?", (self.count, self._seal))


def digest_of(ordered: Hashes) -> str:
    """The digest by which the hashes of an account's records are known."""
    found = hashlib.blake2b(digest_size=32)
    for low in range(0, len(ordered), _PART):
        found.update(ordered[low : low + _PART].astype("<u8").tobytes())
    return found.hexdigest()


def _connect(path: Path) -> sqlite3.Connection:
    # An absolute name, and never a new file: a ledger that vanished must not come back empty.
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_PATIENCE, isolation_level=None)
    try:
        # A rollback journal keeps all in one file; EXTRA also synchronises the folder when the journal goes.
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA synchronous = EXTRA")
        database.execute("PRAGMA fullfsync = ON")
    except BaseException:
        database.close()
        raise
    return database


def _create(path: Path, salt: bytes | None) -> None:
    """Make the whole file under another name and give it its own at once: nobody ever sees half of it."""
    draft = _draft(path)
    try:
        draft.touch(mode=0o600, exist_ok=False)
        database = _connect(draft)
        try:
            salt = secrets.token_bytes(_SALT) if salt is None else salt
            database.execute("BEGIN IMMEDIATE")
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {_VERSION}")
            database.execute("CREATE TABLE head (salt BLOB, count INTEGER, seal BLOB)")
            database.execute("CREATE TABLE entry (number INTEGER PRIMARY KEY, body TEXT, seal BLOB)")
            database.execute(
                "CREATE TABLE record (account INTEGER, part INTEGER, hashes BLOB, PRIMARY KEY (account, part))"
            )
            database.execute("INSERT INTO head VALUES (?, 0, ?)", (salt, _sealed(b"", salt.hex())))
            database.execute("COMMIT")
        finally:
            database.close()
        with suppress(FileExistsError):  # another process made it first, and theirs is as good
            os.link(draft, path)
        synchronise(path.parent)
    except _TROUBLE as error:
        raise _no_place(path, getattr(error, "strerror", None) or str(error)) from error
    finally:
        with suppress(OSError):  # where nothing can be written nothing was, and the sentence above is the one to say
            draft.unlink(missing_ok=True)


def require_place(path: Path) -> None:
    """Raise where a ledger cannot be written, before the work that it is to remember; nothing is left behind."""
    if path.is_dir():
        raise _no_place(path, "it is a folder")
    if not path.parent.exists():
        raise _no_place(path, f"there is no folder {os.fspath(path.parent)!r}")
    if path.exists() and not os.access(path, os.W_OK):
        raise _no_place(path, "it may only be read")
    # A ledger that is there needs room beside it too: SQLite keeps its journal there.
    sample = _draft(path)
    try:
        with undisturbed():
            sample.touch(mode=0o600, exist_ok=False)
            sample.unlink()
    except OSError as error:
        raise _no_place(path, error.strerror or str(error)) from error


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(8)}")


def _no_place(path: Path, why: str) -> LedgerError:
    return LedgerError(
        f"the ledger {path} cannot be written: {why}. Nothing was released; name another place with `ledger`"
    )


def _contents(path: Path, database: sqlite3.Connection) -> Contents:
    kind = database.execute("PRAGMA application_id").fetchone()[0]
    if kind != _APPLICATION:
        raise LedgerError(f"{path} is no ledger of Takifugu: name another file, or restore it from a copy")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        older = version < _VERSION
        advice = "it is of an earlier version and knows no records: name a new one" if older else "upgrade Takifugu"
        raise LedgerError(f"the ledger {path} has format {version}, not {_VERSION}: {advice}. Nothing was released")
    # SQLite takes a last page that is cut short for one that ends in zeros, which it may do by chance.
    if path.stat().st_size % database.execute("PRAGMA page_size").fetchone()[0]:
        raise LedgerError(f"the ledger {path} is damaged (it is cut short): {_ADVICE}")
    damage = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if damage != "ok":
        raise LedgerError(f"the ledger {path} is damaged ({damage}): {_ADVICE}")
    heads = database.execute("SELECT salt, count, seal FROM head").fetchall()
    rows = database.execute("SELECT number, body, seal FROM entry ORDER BY number").fetchall()
    if len(heads) != 1 or not isinstance(heads[0][0], bytes):
        raise LedgerError(f"the ledger {path} is damaged (its head is not one row): {_ADVICE}")
    salt, count, last = heads[0]
    seal = _sealed(b"", salt.hex())
    entries = []
    for expected, (number, body, stored) in enumerate(rows, start=1):
        if not isinstance(body, str) or number != expected or (seal := _sealed(seal, body)) != stored:
            raise LedgerError(f"the ledger {path} is damaged (entry {expected} breaks its seal): {_ADVICE}")
        entries.append(json.loads(body))
    if count != len(entries) or last != seal:
        raise LedgerError(f"the ledger {path} is damaged (its last entries are missing): {_ADVICE}")
    return Contents(salt, tuple(entries), seal)


def _sealed(before: bytes, body: str) -> bytes:
    return hashlib.blake2b(body.encode(), key=before, digest_size=32, person=b"takifugu-ledger").digest()


def _refusal(path: Path, error: Exception) -> LedgerError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return LedgerError(f"the ledger {path} is in use by another process: nothing was released; try again")
    if "full" in text or "disk I/O" in text or "No space" in text:
        return LedgerError(f"the ledger {path} cannot be written ({text}): nothing was released; make room")
    if "readonly" in text or "unable to open" in text or isinstance(error, OSError):
        return LedgerError(f"the ledger {path} cannot be opened for writing ({text}): nothing was released")
    return LedgerError(f"the ledger {path} is damaged or no ledger ({text}): {_ADVICE}")


def is_ledger(path: Path) -> bool:
    """Whether a file is a ledger of ours, whole or not: other programs call theirs so too."""
    try:
        with path.open("rb") as content:
            head = content.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:72] == _APPLICATION.to_bytes(4, "big")
