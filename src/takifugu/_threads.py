"""Numbers on one thread, since small matrices are slower on several; and long work of others on one of its own."""

import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import lru_cache
from typing import Any, TypeVar

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
