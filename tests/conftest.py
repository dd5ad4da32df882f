import sys
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # oracles and random_priors are shared by all tests

settings.register_profile("steady", deadline=None, derandomize=True)  # machines differ, verdicts must not
settings.load_profile("steady")

# What `make quick` leaves out: folders and files that start engines, browsers or other programs, or that compare with
# slow oracles on thousands of cases. Everything else together takes less than a minute of processor time.
SLOW = (
    "docs/test_examples.py",
    "docs/test_odds.py",
    "docs/test_site.py",
    "engines",
    "studies",
    "web",
)


def pytest_collection_modifyitems(items):
    """Mark the tests that take long, by where they stand."""
    slow = [HERE / path for path in SLOW]
    for item in items:
        if any(item.path.is_relative_to(path) for path in slow):
            item.add_marker(pytest.mark.slow)
