"""Asking the judges: anonymeter needs a NumPy from before 2 and sdmetrics a pandas from before 3, so they live apart.

The environment is a folder of its own, made by `python -m studies.judges --make` (about a gigabyte, most of it
compilers). Anonymeter has no wheels that work together on Python 3.13 or newer.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from takifugu.errors import InputError

NEEDED = ("anonymeter==1.1.0", "sdmetrics==0.32.0")
NAME = "TAKIFUGU_JUDGES"
_PATIENCE = 3_600  # seconds


def folder() -> Path:
    """The environment's folder: TAKIFUGU_JUDGES, or .judges where one works."""
    return Path(os.environ.get(NAME, ".judges"))


def interpreter() -> Path | None:
    """The judges' Python; None where there is none."""
    found = folder() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return found.absolute() if found.exists() else None


def make() -> None:
    """Make the environment."""
    if sys.version_info >= (3, 13):
        raise InputError("anonymeter 1.1 needs NumPy 1.26, which has no wheels for Python 3.13: use 3.11 or 3.12")
    where = folder()
    for command in (
        [sys.executable, "-m", "venv", str(where)],
        [
            str(where.absolute() / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--only-binary",
            ":all:",
            *NEEDED,
        ],
    ):
        if subprocess.run(command, timeout=_PATIENCE, check=False).returncode:
            raise InputError(f"{where} could not be made: see above, delete it and try again")


def verdicts(paths: Sequence[Path]) -> list[dict[str, float]]:
    """What the judges say of each file, in this order."""
    python = interpreter()
    if python is None:
        raise InputError(
            f"there are no judges in {folder()}: make them with python -m studies.judges --make, or say where "
            f"they are with {NAME}"
        )
    script = Path(__file__).with_name("verdict.py")
    # The judges' libraries are their own: nothing of this environment is to be found first.
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [str(python), str(script), *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
        env=clean,
    )
    lines = done.stdout.split("\n")[:-1]
    if done.returncode or len(lines) != len(paths):
        told = done.stderr.strip().splitlines()
        raise InputError(f"the judges failed: {told[-1] if told else 'they say nothing'}")
    return [json.loads(line) for line in lines]
