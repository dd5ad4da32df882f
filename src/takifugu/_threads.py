"""Numbers on one thread: small matrices are slower on several, and on a busy machine threads wait for one another."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread() -> AbstractContextManager[object]:
    """A block in which the numerical libraries of this process use a single thread each."""
    limits: AbstractContextManager[object] = _controller(len(sys.modules)).limit(limits=1)
    return limits


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:
    """The libraries that are loaded, looked for again when modules were: that takes longer than many calibrations."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
