"""Long work of others, which Ctrl-C need not wait for."""

import os
import signal
import threading

import numpy as np
import pytest

from takifugu._work import interruptible


@pytest.fixture(autouse=True)
def own_signals():
    """Spark, once it was started in a process, hears Ctrl-C in its own way."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_what_the_work_returns_or_raises_comes_back():
    assert interruptible(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)
    assert interruptible(lambda: interruptible(threading.current_thread)) is not threading.main_thread()
    with np.errstate(divide="ignore"):
        assert interruptible(lambda: np.log(np.zeros(1)))[0] == -np.inf


def test_ctrl_c_does_not_wait_for_the_work():
    ended = threading.Event()

    def work():
        os.kill(os.getpid(), signal.SIGINT)
        ended.wait()

    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert not ended.is_set()
    ended.set()
