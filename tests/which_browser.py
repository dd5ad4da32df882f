"""Which browser the tests drive."""

import os
import shutil

import pytest

# The shell is the same engine without what surrounds a window, and costs less to start and to drive.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """Where Chromium is. Without it a test says that it did not run, and under CI it fails."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        stop = pytest.fail if os.environ.get("CI") else pytest.skip
        stop("Chromium is not installed, and this test drives a page with it: run scripts/install_test_tools.sh")
    return found
