"""The tables that the explorer may read: the bundled ones, the one named at the start, those dropped on the page."""

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

from takifugu import datasets
from takifugu.errors import InputError, TakifuguError
from takifugu.publishing import require_merged, to_publish
from takifugu.releases import Ledger, ledger_beside
from takifugu.tables import ENDINGS, ColumnFacts, Reading, Secret, Table, files_of, plain, private_folder
from takifugu.web.describing import MOST_SECRETS, Fit, as_asked, described, first_column, looked_at, shown

if TYPE_CHECKING:
    from takifugu.queries import Query
    from takifugu.tables import Secret

# Files that are dropped on the page: in a folder that only its owner can read, gone when the explorer ends.

MOST_FILES = 4  # dropped files that are kept; the oldest makes room for the next
_LONGEST = 120  # characters of a file's name


class Uploads:
    """A private folder for what was dropped."""

    def __init__(self) -> None:
        """Make the folder."""
        folder, self._end = private_folder(self, "takifugu-dropped-")
        self.folder, self._count = Path(folder), 0

    def new(self, title: str) -> Path:
        """An empty file for one that is called `title` where it comes from; its ending alone is kept."""
        ending = next((one for one in sorted(ENDINGS, key=len, reverse=True) if title.lower().endswith(one)), None)
        if ending is None:
            raise InputError(f"this is no table that can be read here: its name must end in {', '.join(ENDINGS)}")
        self._count += 1
        path = self.folder / f"{self._count}{ending}"
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return path

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        self._end()


def title_of(name: str) -> str:
    """The name of a file without folders, fit to be shown and to name a ledger after.

    >>> title_of("C:\\\\data\\\\people.csv"), title_of("../../etc/people.csv")
    ('people.csv', 'people.csv')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    if not last.strip(".") or len(last) > _LONGEST or any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in last):
        raise InputError(f"a file's name must be one line of at most {_LONGEST} characters: rename it")
    return last


@dataclass(frozen=True)
class Entry:
    """A table on the shelf, what it is called on a command line, its ledger, and the question that the page opens with.

    `file` is where it lies; a table that was dropped on the page, or is bundled, lies nowhere. `format` is that of a
    file.
    A name is never given twice, so that what is remembered about a table is about no other.
    """

    name: str
    title: str
    source: str
    ledger: Path
    kind: str = "file"
    secret: str | None = None
    pair: tuple[str, str] | None = None
    answer: str | None = None
    file: Path | None = None
    format: str | None = None
    reading: Reading = field(default_factory=Reading)


class Shelf:
    """Opens tables by the names on offer, and knows which of their columns can be secrets or answers.

    One thread at a time: an engine's connection is not made for two.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | None = None,
        reading: Reading | None = None,
        *,
        ledger: str | os.PathLike[str] | None = None,
    ) -> None:
        """Open the table named at the start, so that a wrong name is told at once and not on the page."""
        self.lock = RLock()  # held by whoever reads a table
        self.uploads = Uploads()
        self._ledger = None if ledger is None else Path(ledger)
        self._opened: dict[str, Table] = {}
        self._unread: dict[str, str] = {}  # why a file that was dropped could not be read yet
        self._dropped: list[tuple[str, Path]] = []
        self._lies: dict[str, str] = {}  # where each file is read from
        self._names: set[str] = set()
        self._named: str | None = None  # the table named at the start, which every visit opens with
        self.entries: dict[str, Entry] = {}
        if source is not None and str(source) in datasets.names() and not os.path.exists(source):
            self._add_bundled(str(source))
            self._named = str(source)
        elif source is not None:
            title = Path(source).name
            given, beside = os.fspath(source), ledger_beside(source)
            name = self._add(title, source=given, ledger=beside, file=Path(source), lies=given)
            self._named = self._keep(name, Table(source, reading)).name
        for name in datasets.names():
            self._add_bundled(name)
        self._facts = lru_cache(maxsize=16)(self._look)
        self.describe = lru_cache(maxsize=16)(self._describe)
        self.secrets = lru_cache(maxsize=256)(self._secrets)
        self.first = lru_cache(maxsize=256)(self._first)

    def _add_bundled(self, name: str) -> None:
        about = datasets.about(name)
        first, second = about.pair
        ledger = self._ledger or Path(f"{name}.ledger")
        entry = Entry(name, about.title, name, ledger, "bundled", about.secret, (str(first), str(second)), about.answer)
        self.entries.setdefault(name, entry)

    def _add(self, title: str, *, lies: str, **about: Any) -> str:
        """Put a file on the shelf, under a name that no other ever had: first, but for the one named at the start."""
        name = f"file:{title}"
        count = 1
        while name in self._names:
            count += 1
            name = f"file:{title} ({count})"
        about |= {"ledger": self._ledger or about["ledger"], "format": files_of(lies).kind}
        self._names.add(name)
        self._lies[name] = lies
        first = {one: self.entries[one] for one in self.entries if one == self._named}
        self.entries = {**first, name: Entry(name, title, **about), **self.entries}
        return name

    def _keep(self, name: str, table: Table) -> Entry:
        """The table of a file on the shelf."""
        self._opened[name] = table
        self.entries[name] = replace(self.entries[name], reading=table.reading)
        return self.entries[name]

    def _remove(self, name: str) -> None:
        for kept in (self.entries, self._opened, self._unread, self._lies):
            kept.pop(name, None)

    def add_dropped(self, path: Path, given: str) -> Entry:
        """Read a file that was dropped on the page, under the name it has where it comes from.

        One whose content is of another kind than its name is refused. One that cannot be read as it is stays on the
        shelf with the reason, for `read_again` to be told how.
        """
        title, lies = title_of(given), os.fspath(path)
        with self.lock:
            try:
                name = self._add(title, source=title, ledger=ledger_beside(title), lies=lies)
            except InputError as error:
                path.unlink(missing_ok=True)
                raise _about(error, lies, title) from None
            self._dropped.append((name, path))
            while len(self._dropped) > MOST_FILES:
                oldest, where = self._dropped.pop(0)
                self._remove(oldest)
                where.unlink(missing_ok=True)
            try:
                return self._keep(name, _read(lies, Reading(), title))
            except TakifuguError as error:
                self._unread[name] = str(error)
                return self.entries[name]

    def refuse_known(self, name: str, read: Sequence[str], answer: Sequence[str]) -> None:
        """Refuse rows that the ledger knows, or one beside the table, beside that named at the start, or here."""
        entry, named = self.entry(name), self.entries.get(self._named or "")
        files = [entry.file or entry.title, *([named.file] if named is not None and named.file is not None else [])]
        to_publish(self.open(name), Ledger(entry.ledger), read=read, answer=answer, files=files)

    def read_again(self, name: str, asked: Mapping[str, str]) -> Entry:
        """Read a file in another way, in place of how it was read before; its ledger stays what it is."""
        before = self.entry(name)
        if name not in self._lies:
            raise InputError("a bundled table is read as it is: open a file of your own")
        with self.lock:
            lies = self._lies[name]
            table = _read(lies, as_asked(before.reading, asked), before.title)
            require_merged(table, [], table.columns)
            self._remove(name)
            again = self._add(before.title, source=before.source, ledger=before.ledger, file=before.file, lies=lies)
            self._named = again if name == self._named else self._named
            self._dropped = [(again if one == name else one, where) for one, where in self._dropped]
            return self._keep(again, table)

    def form(self, name: str) -> dict[str, str] | None:
        """What was said of how a file is read, field by field; None for a table that is no file."""
        entry = self.entry(name)
        return None if entry.format is None else shown(entry.reading, entry.format)

    def entry(self, name: str) -> Entry:
        """What is known of a table on offer."""
        if name not in self.entries:
            shown = name.removeprefix("file:")[:60]
            raise InputError(f"there is no table {shown!r} here: drop the file on the page, or choose another table")
        return self.entries[name]

    def open(self, name: str) -> Table:
        """The table on offer under a name."""
        self.entry(name)
        with self.lock:
            if name in self._unread:
                raise InputError(self._unread[name])
            if name not in self._opened:
                self._opened[name] = Table(datasets.load(name))
            return self._opened[name]

    def _look(self, name: str) -> tuple[ColumnFacts, ...]:
        table = self.open(name)
        with self.lock:
            return looked_at(table)

    def _describe(self, name: str) -> dict[str, Any]:
        table, facts = self.open(name), self._facts(name)
        with self.lock:
            return described(table, facts, own=self.entries[name].format is not None)

    def _first(self, name: str, secret: str) -> str | None:
        """The column to publish beside a secret that the page opens with."""
        if (answer := self.entry(name).answer) is not None and answer != secret:
            return answer
        table, facts, offered = self.open(name), self._facts(name), self.describe(name)["lists"]
        with self.lock:
            return first_column(table, secret, facts, offered)

    def _secrets(self, name: str, column: str) -> dict[str, tuple[Secret, int]]:
        """The values of a secret column by their spelling, with their rows; the most frequent first."""
        import narwhals as nw

        if column not in self.describe(name)["secrets"]:
            raise InputError(f"column {column[:60]!r} is not among those that can be secrets")
        table = self.open(name)
        with self.lock:
            rows = table.frame.select(table.secret(column).alias("secret"))
            answer = table.collect(rows.group_by("secret").agg(nw.len().alias("rows")).head(MOST_SECRETS + 2))
        found = [(plain(secret), int(count)) for secret, count in zip(answer["secret"], answer["rows"], strict=True)]
        named = [(secret, count) for secret, count in found if secret is not None]
        named.sort(key=lambda one: (-one[1], str(one[0])))
        return {str(secret): (secret, count) for secret, count in named}


def _read(lies: str, reading: Reading, title: str) -> Table:
    """The table in a file; where it lies here is nobody's concern, and its own name is in every sentence."""
    try:
        table = Table(lies, reading)
    except InputError as error:
        raise _about(error, lies, title) from None
    table.name = f"the file {title!r}"
    return table


def _about(error: InputError, lies: str, title: str) -> InputError:
    return InputError(str(error).replace(lies, title))


# From what is chosen on the page to priors: every name is looked up among those on offer first.


# What was computed lately, so that a slider's next step is quick.


class Remembered:
    """The latest results of a function by key; at most `size` of them."""

    def __init__(self, size: int) -> None:
        """Nothing yet."""
        self._size, self._lock = size, Lock()
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        """Whether the result is there."""
        with self._lock:
            return key in self._kept

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result, made where it is not there. An error is not remembered."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return made


# Which question of the page an error is about, told with it.

_ABOUT = "page: "


@contextmanager
def concerning(question: str) -> Iterator[None]:
    """Note on what is refused in here which question it is about, where nobody has yet."""
    try:
        yield
    except TakifuguError as error:
        if about(error) is None:
            error.add_note(f"{_ABOUT}{question}")
        raise


def about(error: TakifuguError) -> str | None:
    """The question that an error is about; None where that is not known.

    >>> about(InputError("no"))
    """
    notes = [note for note in getattr(error, "__notes__", ()) if note.startswith(_ABOUT)]
    return notes[0].removeprefix(_ABOUT) if notes else None


GP_ROWS = 200  # a page should not make people wait: training takes time cubic in the rows
_FITS = 64


class Fits:
    """The priors of the choices made lately."""

    def __init__(self, shelf: Shelf, *, network_steps: int) -> None:
        """Start with nothing remembered."""
        self._shelf, self._network_steps = shelf, network_steps
        self._kept = Remembered(_FITS)

    def priors(self, fit: Fit, *, train: bool) -> Any:
        """The priors of a choice; a network is trained only where that was asked for."""
        from takifugu.queries import fit_priors

        if fit.query == "bnn" and not train and fit not in self._kept:
            raise InputError("the network is not trained yet for this choice: press “Train the network”")
        self._check_columns(fit)
        with concerning("secret"):
            secrets = self.hidden(fit)
        with concerning("lists"):
            query = self._query(fit)
        table = self._shelf.open(fit.table)

        def make() -> Any:
            with self._shelf.lock:  # whoever asked for the same meanwhile finds it when their turn comes
                return self._kept.get(
                    fit,
                    lambda: fit_priors(
                        table, secret=fit.secret, query=query, secrets=secrets, known=list(fit.known) or None
                    ),
                )

        return self._kept.get(fit, make)

    def pairs(self, fit: Fit) -> "list[tuple[Secret, Secret]] | None":
        """The pair to hide, as the table holds its secrets; None for every pair."""
        if fit.pair is None:
            return None
        known = self._shelf.secrets(fit.table, fit.secret)
        for spelled in fit.pair:
            if spelled not in known:
                raise InputError(f"no row has {fit.secret} = {spelled[:60]!r}")
        first, second = fit.pair
        return [(known[first][0], known[second][0])]

    def hidden(self, fit: Fit) -> "list[Secret] | None":
        """The secrets that are hidden from one another; None for all there are."""
        if (pairs := self.pairs(fit)) is not None:
            return list(pairs[0])
        if not fit.leave_out:
            return None
        with self._shelf.lock:
            return self._shelf.open(fit.table).secrets_but(fit.secret, fit.leave_out)

    def _check_columns(self, fit: Fit) -> None:
        about = self._shelf.describe(fit.table)
        offered = about["lists"] if fit.query == "row" else about["numbers"]
        with concerning("columns"):
            for name in fit.columns:
                if name not in offered or name == fit.secret:
                    raise InputError(f"column {name[:60]!r} is not among those that can be published")
        with concerning("known"):
            for name in fit.known:
                if name not in about["lists"] or name in (fit.secret, *fit.columns):
                    raise InputError(f"column {name[:60]!r} is not among those that the adversary may know")

    def _query(self, fit: Fit) -> "Query":
        from takifugu.queries import BNN, GP, Mean, Raw, Row

        makers: dict[str, Callable[[], Query]] = {
            "row": lambda: Row(*fit.columns, domain=fit.domain, other=fit.other),
            "raw": lambda: Raw(list(fit.columns) if fit.is_vector else fit.column, prior=fit.prior),
            "mean": lambda: Mean(list(fit.columns) if fit.is_vector else fit.column),
            "gp": lambda: GP(fit.column, max_rows=GP_ROWS, restarts=0),
            "bnn": lambda: BNN(fit.column, steps=self._network_steps, progress=False),
        }
        return makers[fit.query]()
