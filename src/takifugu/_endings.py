"""Ctrl-C and other requests to end: a command heeds them wherever it is, but not between two names of its files.

Python raises what Ctrl-C asks for between any two of its own steps, and code of others may swallow it there: a request
is therefore remembered, and raised again where the next step begins.
"""

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import NoReturn

INTERRUPTED = 130  # the status of a command that was asked to end
SENTENCE = "takifugu: interrupted; no file was left half-written"

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class _Requests:
    """Whether this process, which is a command, was asked to end, and whether it has nothing left to end."""

    def __init__(self) -> None:
        self.asked = self.over = False

    def hear(self, number: int, frame: object) -> None:
        if not self.over:
            self.asked = True
            raise KeyboardInterrupt


_requests = _Requests()


def heed() -> None:
    """Raise once more what was asked for, in case somebody's code swallowed it; nothing outside of a command."""
    if _requests.asked and not _requests.over:
        raise KeyboardInterrupt


@contextmanager
def undisturbed(*, beginning: bool = False) -> Iterator[None]:
    """A short block that is not broken off: a request to end waits for its end.

    The `beginning` of what belongs together goes on to the end of `together`, where there is one around it.

    >>> with undisturbed():
    ...     done = "both names, or none"
    """
    heed()
    around = _around.get() if beginning else None
    if around is None:
        with _putting_off():
            yield
    else:
        around.enter_context(_putting_off())
        yield


@contextmanager
def together() -> Iterator[None]:
    """A block of which the end belongs together: once its `beginning` is done, requests to end wait for all of it.

    >>> with together():
    ...     with undisturbed(beginning=True):
    ...         table = "has its name"
    ...     paper = "has one too"
    """
    with ExitStack() as stack:
        token = _around.set(stack)
        try:
            yield
        finally:
            _around.reset(token)


_around: ContextVar[ExitStack | None] = ContextVar("around", default=None)


@contextmanager
def _putting_off() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # which hears no signals
        yield
        return
    heard: list[int] = []
    before = {one: was for one in _SIGNALS if callable(was := signal.getsignal(one))}
    try:
        for one in before:
            signal.signal(one, lambda number, frame: heard.append(number))
        yield
    finally:
        for one, was in before.items():
            signal.signal(one, was)
    if heard:
        before[heard[0]](heard[0], None)


@contextmanager
def unheard() -> Iterator[None]:
    """A block of which the processes that start in it do not hear Ctrl-C: who started them ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS[:1])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# A command from its first step to its last.


def command(work: Callable[[], object]) -> None:
    """Run a command, which ends with one sentence and its status where it is asked to, and leaves nothing behind."""
    for one in _SIGNALS:
        if callable(signal.getsignal(one)) or signal.getsignal(one) == signal.SIG_DFL:  # heard at all
            signal.signal(one, _requests.hear)
    atexit.register(_close_ears)
    interrupted = False
    try:
        try:
            work()
        except KeyboardInterrupt:
            _requests.over = interrupted = True
            print(SENTENCE, file=sys.stderr)
        except SystemExit as ended:
            _requests.over = True
            interrupted = ended.code == INTERRUPTED
            if not interrupted:
                raise
    except KeyboardInterrupt:  # between the two, when all was done
        _requests.over = interrupted = True
    if interrupted:  # here nothing holds what was raised any more, nor the frames in which files were open
        _end()


def _close_ears() -> None:
    """The interpreter ends: all is done, and who asks now is too late."""
    for one in _SIGNALS:
        signal.signal(one, signal.SIG_IGN)


def _end() -> NoReturn:
    """End now, whatever a solver is still at in a thread of its own: it cannot be called off."""
    _close_ears()
    gc.collect()  # closes what was open
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)
