"""Numbers on one thread: small matrices are slower on several, and on a busy machine threads wait for one another."""

from contextlib import AbstractContextManager


def one_thread() -> AbstractContextManager[object]:
    """A block in which the numerical libraries of this process use a single thread each."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits
