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


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Balls of so many bits, for this thread alone."""
    from flint import ctx

    with _LOCK, ctx.workprec(bits):
        yield


def _renew() -> None:
    """A process forked while another thread worked in balls would wait for ever: that thread is not in it."""
    global _LOCK  # noqa: PLW0603
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
