from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from browser import browsing
from explorer_process import Explorer
from playwright.sync_api import Browser

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


@contextmanager
def _exploring() -> Iterator[Explorer]:
    running = Explorer.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Explorer]:
    """The explorer on people.csv in the `folder` of a module, where it also keeps the ledgers of dropped files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = Explorer.start("people.csv")
    yield found
    found.stop()
