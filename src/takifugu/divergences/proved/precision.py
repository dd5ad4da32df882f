"""Flint's precision is one number for the whole process: only one thread at a time may set and use it.

A ball computed at another thread's precision would still hold its number, but the verdict would depend on what else
runs, and a precision restored in the wrong order would stay for everyone. So whoever works in balls holds this lock.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LOCK = threading.RLock()  # of a thread that already holds it nothing more is asked


@contextmanager
def alone() -> Iterator[None]:
    """No other thread works in balls meanwhile."""
    with _LOCK:
        yield


class working_precision:  # noqa: N801
    """Balls of so many bits, for this thread alone.

    A class, since a hundred thousand small proofs take this step each, and a generator takes twice as long.
    """

    __slots__ = ("_before", "_bits", "_context", "_lock")

    def __init__(self, bits: int) -> None:
        """Nothing is set before the block is entered."""
        self._bits = bits

    def __enter__(self) -> None:
        """Wait for the others, then set the precision."""
        from flint import ctx

        self._lock, self._context = _LOCK, ctx
        self._lock.acquire()
        try:
            self._before, ctx.prec = ctx.prec, self._bits
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        """Restore the precision, then let the others in."""
        self._context.prec = self._before
        self._lock.release()


def _renew() -> None:
    """A process forked while another thread worked in balls would wait for ever: that thread is not in it."""
    global _LOCK  # noqa: PLW0603
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
