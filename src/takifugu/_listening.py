"""Who listens while something takes long: told what is being tried, from however deep, without a hand at every door.

Only for people who wait. Nothing that is computed may depend on it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_EVERY = 0.5  # seconds between two details: a solver may take thousands of steps in one


class _Listener:
    """Who listens, what was told last, and when."""

    def __init__(self, to: Callable[[str], None]) -> None:
        self.to, self.told, self.when = to, "", 0.0

    def hear(self, what: str) -> None:
        self.when = time.monotonic()
        self.to(what)


_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)


def tell(what: str) -> None:
    """Say what is being tried, to whoever listens."""
    listener = _listener.get()
    if listener is not None:
        listener.told = what
        listener.hear(what)


def detail(how: str) -> None:
    """Say how far what was told last has come; now and then, however often this is called."""
    listener = _listener.get()
    if listener is not None and time.monotonic() - listener.when >= _EVERY:
        listener.hear(f"{listener.told}: {how}" if listener.told else f"{how[:1].upper()}{how[1:]}")


@contextmanager
def listening(to: Callable[[str], None]) -> Iterator[None]:
    """Hear what is told meanwhile.

    >>> heard = []
    >>> with listening(heard.append):
    ...     tell("the second margin")
    >>> tell("nobody hears this")
    >>> heard
    ['the second margin']
    """
    token = _listener.set(_Listener(to))
    try:
        yield
    finally:
        _listener.reset(token)
