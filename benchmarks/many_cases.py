"""The tests that go through many random cases, with all of them: `python -m benchmarks.many_cases`.

`make test` goes through a sixth of the cases; these are the same tests, of the files that ask tests/how_many.py or
have their cases from Hypothesis.
Names after the command choose among the files: `python -m benchmarks.many_cases promise sampler`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"


def files() -> list[Path]:
    """The tests that have more cases than they go through every day."""
    uses = re.compile(r"^from (how_many import some_of|hypothesis import .*)$", re.MULTILINE)
    return sorted(file for file in TESTS.rglob("test_*.py") if uses.search(file.read_text(encoding="utf-8")))


def run(*names: str) -> int:
    """Run them, and return what pytest does: 0 where every case holds."""
    chosen = [str(file) for file in files() if not names or any(name in file.name for name in names)]
    told = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *chosen]
    return subprocess.run(told, check=False, env={**os.environ, "TAKIFUGU_ALL_CASES": "1"}).returncode


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
