"""What a command is at: numbered steps, and one line on the terminal that counts the seconds meanwhile.

Where errors go to a file or a pipe, no line can be written over: one more is written now and then.
"""

import logging
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from takifugu._work import WORTH_COUNTING, Pace, in_words
from takifugu.commands.output import in_flags, tell_findings

if TYPE_CHECKING:
    from rich.console import Console

    from takifugu.problems import Diagnostic


_WIDTH = 76
_BEAT = 0.9  # seconds between two looks at the clock
_SELDOM = 20  # seconds between two lines in a file


class _Line:
    """The line that is written over: what is being done, and for how many seconds, from a thread of its own.

    A solver may take a minute for one program, and says nothing before it is done. The thread ends with the line.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._what: str | None = None
        self._since = self._said = 0.0
        self._expected: float | None = None
        self._thread = 0  # which of those that were started is at work

    def show(self, what: str, *, anew: bool) -> None:
        """Say what is being done, over what was said before; `anew`, and the seconds begin again."""
        with self._lock:
            begins = self._what is None
            if begins or anew:
                self._since = self._said = time.monotonic()
                self._expected = None
            self._what = what
            if sys.stderr.isatty():
                self._write()
            if begins:
                self._thread += 1
                threading.Thread(target=self._count, args=(self._thread,), daemon=True).start()

    def expect(self, seconds: float) -> None:
        """Say of what is being done that it takes about so long, from now on; what takes no time is not worth that."""
        with self._lock:
            self._since = self._said = time.monotonic()
            self._expected = seconds if seconds >= WORTH_COUNTING else None

    def wipe(self) -> None:
        """Nothing is being done any more."""
        with self._lock:
            if self._what is not None and sys.stderr.isatty():
                click.echo(f"\r{'':<{_WIDTH}}\r", err=True, nl=False)
            self._what = None

    def above(self, text: str) -> None:
        """Say something that stays, in place of the line, which goes on below."""
        with self._lock:
            click.echo(f"\r{'':<{_WIDTH}}\r{text}", err=True)
            if self._what is not None:
                self._write()

    def _count(self, thread: int) -> None:
        while True:
            time.sleep(_BEAT)
            with self._lock:
                if self._what is None or thread != self._thread:
                    return
                self.beat()

    def beat(self) -> None:
        """Time has passed: count it on the line, or, where there is none, say now and then that it goes on."""
        if sys.stderr.isatty():
            self._write()
        elif (now := time.monotonic()) - self._said >= _SELDOM:
            self._said = now
            doing_what = (self._what or "").strip()
            click.echo(f"    … {self._passed(now)}{': ' * bool(doing_what)}{doing_what}", err=True)

    def _passed(self, now: float) -> str:
        """The seconds that have passed, and of how many, unless that was too few."""
        seconds = int(now - self._since)
        of = "" if self._expected is None or seconds > self._expected else f" of about {in_words(self._expected)}"
        return f"{seconds} s{of}"

    def _write(self) -> None:
        now = time.monotonic()
        clock = f" … {self._passed(now)}" if now - self._since >= WORTH_COUNTING else " …"
        # Padded: a part of a longer line would stay.
        click.echo(f"\r{f'{(self._what or str())[: _WIDTH - len(clock)]}{clock}':<{_WIDTH}}", err=True, nl=False)


_line = _Line()


class _Notices(logging.Handler):
    """What the library logs, such as that a ledger was started: it would else be written into the line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Above the line, or as any other text where there is none; in flags, like all that a command says."""
        told = in_flags(record.getMessage())
        if sys.stderr.isatty():
            _line.above(told)
        else:
            click.echo(told, err=True)


@contextmanager
def noticing() -> Iterator[None]:
    """Say what the library logs, as a command says it; whatever it was at, it is at nothing afterwards."""
    log, notices = logging.getLogger("takifugu"), _Notices(logging.WARNING)
    log.addHandler(notices)
    try:
        yield
    finally:
        log.removeHandler(notices)
        done()


def doing(what: str, *, anew: bool = True) -> None:
    """Say what is being done, over what was said before; where errors go to a file, only if it takes long."""
    _line.show(what, anew=anew)


def expecting(seconds: float) -> None:
    """Say of what is being done how long it will take, about."""
    _line.expect(seconds)


def done() -> None:
    """Wipe the line, before an answer takes its place."""
    _line.wipe()


@contextmanager
def counting(what: str, *, quiet: bool) -> Iterator[Callable[[int, int | None], None] | None]:
    """A function that tells how many are done, of how many where that is known; None where nobody wants to know."""
    if quiet:
        yield None
        return

    pace = Pace()

    def show(count: int, of: int | None) -> None:
        share = "" if not of else f" of {of:,} ({count / of:.0%})"
        doing(f"{what} {count:,}{share}{pace.left(count, of)}", anew=False)

    doing(f"{what} 0")
    try:
        yield show
    finally:
        done()


class Steps:
    """Says what is being done, before it is done, and what is tried meanwhile."""

    def __init__(self, out: "Console", *, quiet: bool) -> None:
        """Steps are counted from here on."""
        self._out, self._quiet, self._count = out, quiet, 0
        self.warned: list[Diagnostic] = []  # what stands in the output already

    def __call__(self, what: str) -> None:
        """The next step."""
        self._count += 1
        if not self._quiet:
            done()
            how: Any = {"initial_indent": f" {self._count}. ", "subsequent_indent": "    ", "break_on_hyphens": False}
            self._out.print(textwrap.fill(what, self._out.width, break_long_words=False, **how))
            doing("   ")

    def warn(self, findings: "Sequence[Diagnostic]") -> None:
        """What is known before a long step, and may be reason enough not to wait for it."""
        if not self._quiet and findings:
            done()
            tell_findings(findings, self._out)
            self.warned.extend(findings)
            doing("   ")

    def meanwhile(self, what: str) -> None:
        """What is tried within a step, on a line that the next one writes over."""
        if not self._quiet:
            doing(f"    {what}", anew=False)

    def expecting(self, seconds: float) -> None:
        """How long what is done within a step takes, about."""
        if not self._quiet:
            expecting(seconds)

    def counting(self, what: str) -> Callable[[int, int | None], None]:
        """A function that tells how many are done within a step, of how many, and how long the rest will take."""
        pace = Pace()

        def show(count: int, of: int | None) -> None:
            share = "" if not of else f" of {of:,}"
            self.meanwhile(f"{count:,}{share} {what}{pace.left(count, of)}")

        return show

    def end(self) -> None:
        """Nothing more is done: what was found takes the place of the line."""
        if not self._quiet:
            done()
