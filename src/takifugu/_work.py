"""Who listens while something takes long: told what is being tried, from however deep, without a hand at every door.

Only for people who wait. Nothing that is computed may depend on it.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache
from typing import Any, TypeVar

from takifugu._endings import heed

_EVERY = 0.5  # seconds between two details: a solver may take thousands of steps in one


class _Listener:
    """Who listens, to steps apart from what is tried within them or not; what was told last, and when."""

    def __init__(self, to: Callable[[str], None], steps: Callable[[str], None] | None) -> None:
        self.to, self.steps, self.told, self.when = to, steps, "", 0.0

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


@contextmanager
def listening(to: Callable[[str], None], *, steps: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hear what is told meanwhile, the steps by `steps` where that is given.

    >>> heard = []
    >>> with listening(heard.append):
    ...     tell("the second margin")
    >>> tell("nobody hears this")
    >>> heard
    ['the second margin']
    """
    token = _listener.set(_Listener(to, steps))
    try:
        yield
    finally:
        _listener.reset(token)


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
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
