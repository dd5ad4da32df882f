"""How many random cases a test goes through: every day a sixth, with `python -m benchmarks.many_cases` all of them."""

import os

ALL = os.environ.get("TAKIFUGU_ALL_CASES") == "1"


def some_of(cases: int) -> int:
    """A sixth of the cases, rounded up; all where they are asked for."""
    return cases if ALL else -(-cases // 6)
