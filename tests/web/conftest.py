import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from browser import browsing
from explorer_process import TEMPORARY, Explorer
from playwright.sync_api import Browser

from takifugu.web.desk import Desk

HERE = Path(__file__).parent
_open = ExitStack()  # what all tests of this folder share, until one of another folder is next
_shared: dict[str, Any] = {}


def _kept(name: str, begin: Callable[[], AbstractContextManager[Any]]) -> Any:
    if name not in _shared:
        _shared[name] = _open.enter_context(begin())
    return _shared[name]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Let go of the browser before another folder's tests: while it is driven, nobody else may have an event loop."""
    yield
    if nextitem is None or not nextitem.path.is_relative_to(HERE):
        _shared.clear()
        _open.close()


@pytest.fixture(scope="module")
def browser() -> Browser:
    """One Chromium for all; every visit has a profile of its own in it."""
    return cast(Browser, _kept("browser", browsing))


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    """One explorer for all that leave nothing behind in it."""
    return cast(Explorer, _kept("explorer", _exploring))


@pytest.fixture(scope="module")
def staffed() -> Callable[[Desk], AbstractContextManager[None]]:
    """Lends workers to a desk: each takes half a second to start, and what one test leaves well is good for another."""
    return _staffed


@contextmanager
def _staffed(desk: Desk) -> Iterator[None]:
    idle: list[Any] = _kept("workers", _workers)
    desk._idle += idle
    idle.clear()
    try:
        yield
    finally:
        idle += desk._idle
        desk._idle.clear()


@contextmanager
def _workers() -> Iterator[list[Any]]:
    idle: list[Any] = []
    yield idle
    for worker in idle:
        worker.close()


@contextmanager
def _exploring() -> Iterator[Explorer]:
    running = Explorer.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def running() -> Explorer:
    """One explorer for all that drop files: it is full of what others dropped, and nothing else can be relied on."""
    return cast(Explorer, _kept("running", _dropped_on))


@contextmanager
def _dropped_on() -> Iterator[Explorer]:
    with tempfile.TemporaryDirectory() as home:
        (temporary := Path(home, TEMPORARY)).mkdir()
        running = Explorer.start(folder=Path(home), temporary=temporary)
        yield running
        status, said, complained = running.stop()
        assert (status, said) == (0, "\nThe explorer has ended.\n")
        # No name and no content was ever written down, but for the ledgers that were begun.
        assert sorted(complained.splitlines()) == [
            f"started a new ledger, {one.name}: keep it, it remembers what was published"
            for one in sorted(Path(home).glob("*.ledger"))
        ]
        assert not list(temporary.glob("takifugu-*"))
