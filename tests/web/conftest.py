from collections.abc import Iterator

import pytest
from explorer_process import Explorer


@pytest.fixture(scope="session")
def explorer() -> Iterator[Explorer]:
    running = Explorer.start()
    yield running
    running.stop()
