"""Who listens while something takes long: told what is being tried, from however deep, without a hand at every door.

Only for people who wait. Nothing that is computed may depend on it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def tell(what: str) -> None:
    """Say what is being tried, to whoever listens."""
    listener = _listener.get()
    if listener is not None:
        listener(what)


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
    token = _listener.set(to)
    try:
        yield
    finally:
        _listener.reset(token)
