from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import browsing
from explorer_process import Explorer
from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium; every visit has a profile of its own in it.

    No longer than for this folder, where nothing else runs an event loop: while it is driven, no other test of the same
    process may have one of its own.
    """
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="package")
def explorer() -> Iterator[Explorer]:
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
