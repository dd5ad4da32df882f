"""Work that takes long: who listens meanwhile, from however deep, without a hand at every door; and who ends it.

Only for people who wait. Nothing that is computed may depend on it.
"""

import atexit
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

_EVERY = 0.5  # seconds between two details: a solver may take thousands of steps in one
WORTH_COUNTING = 2  # seconds after which a wait is counted


class _Listener:
    """Who listens, to steps apart from what is tried within them or not; what was told last, and when."""

    def __init__(
        self,
        to: Callable[[str], None],
        steps: Callable[[str], None] | None,
        expecting: Callable[[float], None] | None,
    ) -> None:
        self.to, self.steps, self.expecting, self.told, self.when = to, steps, expecting, "", 0.0

    def hear(self, what: str) -> None:
        self.when = time.monotonic()
        self.to(what)


_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)


def step(what: str) -> None:
    """Say what is done next, before it is done."""
    heed()
    listener = _listener.get()
    if listener is not None and listener.steps is not None:
        listener.told = ""
        listener.steps(what)
    elif listener is not None:
        tell(what)


def tell(what: str) -> None:
    """Say what is being tried, to whoever listens."""
    heed()
    listener = _listener.get()
    if listener is not None:
        listener.told = what
        listener.hear(what)


def detail(how: str) -> None:
    """Say how far what was told last has come; now and then, however often this is called."""
    heed()
    listener = _listener.get()
    if listener is not None and time.monotonic() - listener.when >= _EVERY:
        listener.hear(f"{listener.told}: {how}" if listener.told else f"{how[:1].upper()}{how[1:]}")


def expect(seconds: float) -> None:
    """Say how long what is done next takes, about, on one core."""
    listener = _listener.get()
    if listener is not None and listener.expecting is not None:
        listener.expecting(seconds)


@contextmanager
def listening(
    to: Callable[[str], None],
    *,
    steps: Callable[[str], None] | None = None,
    expecting: Callable[[float], None] | None = None,
) -> Iterator[None]:
    """Hear what is told meanwhile, the steps by `steps` where that is given, and how long they take by `expecting`.

    >>> heard = []
    >>> with listening(heard.append):
    ...     tell("the second margin")
    >>> tell("nobody hears this")
    >>> heard
    ['the second margin']
    """
    token = _listener.set(_Listener(to, steps, expecting))
    try:
        yield
    finally:
        _listener.reset(token)


class Pace:
    """How long the rest of a count will take, at the pace that it has had.

    >>> clock = iter([0.0, 1.0, 10.0]).__next__
    >>> pace = Pace(clock)
    >>> pace.left(100, 1_000), pace.left(1_000, 5_000)
    ('', ', about 40 s left')
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """The count begins."""
        self._clock, self._since = clock, clock()

    def left(self, count: int, of: int | None) -> str:
        """The end of a sentence; nothing before it is worth the words, or where nobody knows how many there are."""
        seconds = self._clock() - self._since
        if not of or not 0 < count < of or seconds < WORTH_COUNTING:
            return ""
        rest = seconds * (of - count) / count
        return f", about {in_words(rest)} left"


def in_words(seconds: float) -> str:
    """A length of time with as many digits as a guess has.

    >>> [in_words(one) for one in (0.4, 41, 90, 4_000, 20_000)]
    ['1 s', '41 s', '2 min', '67 min', '5.6 h']
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 7_200 else f"{seconds / 3_600:.1f} h"


# Numbers on one thread, since small matrices are slower on several; and long work of others on one of its own.

T = TypeVar("T")


def one_thread() -> AbstractContextManager[object]:
    """A block in which the numerical libraries of this process use a single thread each."""
    limits: AbstractContextManager[object] = _controller(len(sys.modules)).limit(limits=1)
    return limits


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:
    """The libraries that are loaded, looked for again when modules were: that takes longer than many calibrations."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_GLANCE = 0.2  # seconds


def interruptible(work: Callable[[], T]) -> T:
    """What the work returns; Ctrl-C does not wait for it to end, where it lets other threads run.

    Python looks for Ctrl-C between its own steps alone, and a linear program may be one step of a minute. What was
    given up goes on by itself, and ends with its limit on time or with the process.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # raised where it was asked for
            failed.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)  # what is ignored here is there too
    thread.start()
    while thread.is_alive():  # a signal that comes between Python's last step and its wait would wake nobody
        thread.join(_GLANCE)
    if failed:
        raise failed[0]
    return done[0]


# Ctrl-C and other requests to end: a command heeds them wherever it is, but not between two names of its files.
#
# Python raises what Ctrl-C asks for between any two of its own steps, and code of others may swallow it there: a
# request is therefore remembered, and raised again where the next step begins.

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
