"""Run the examples of the documentation. As a program, write their outputs down anew."""

import contextlib
import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from forked import processes  # noqa: E402  (found there)

EXAMPLES = sorted([*ROOT.glob("docs/examples/*.py"), *ROOT.glob("docs/examples/*.sh")])

ALONE = ("readme", "spark")  # started as a reader starts them
LOADED = (
    *("takifugu", "flint", "narwhals", "pandas", "pyarrow.compute", "scipy.optimize", "scipy.special"),
    "made_before",  # beside this file
)
# Every warning is an error but one: what is to be known of a table is shown to whoever fits priors to it.
STRICT = """
import runpy, sys, warnings
warnings.simplefilter("error")
from takifugu import DiagnosticWarning
warnings.simplefilter("default", DiagnosticWarning)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@contextlib.contextmanager
def running() -> Iterator[Callable[[Path, Path], str]]:
    """A function of an example and an empty folder: what the example prints there, in a process of its own.

    Where the example fails, an error is raised with what it said.
    """
    with tempfile.TemporaryDirectory() as nobodys, processes(*LOADED, environment=_environment(Path(nobodys))) as fork:

        def run(example: Path, folder: Path) -> str:
            if example.suffix == ".sh" or example.stem in ALONE:
                command = _shell(example, folder) if example.suffix == ".sh" else _python(example)
                started = subprocess.run(
                    command,
                    cwd=folder,
                    env=_environment(folder),
                    stdin=subprocess.DEVNULL,  # Java may wait for what nobody types
                    capture_output=True,
                    encoding="utf-8",
                    check=False,
                )
                status, said, complained = started.returncode, started.stdout, started.stderr
            else:
                status, said, complained, _ = fork([example], folder)
            if status:
                raise RuntimeError(f"{example.name} failed:\n{said}\n{complained}")
            return said

        yield run


def output(example: Path) -> Path:
    """The file with what an example prints."""
    return example.with_suffix(".txt")


def _python(example: Path) -> list[str]:
    # PySpark itself warns about the pandas it finds.
    return [sys.executable, str(example)] if example.stem == "spark" else [sys.executable, "-c", STRICT, str(example)]


def _shell(example: Path, folder: Path) -> list[str]:
    """Commands find `takifugu` on the path, and a table of marks in the folder they start from."""
    takifugu = folder / ".bin" / "takifugu"
    takifugu.parent.mkdir()
    takifugu.write_text(f'#!/bin/sh\nexec "{sys.executable}" -W error -m takifugu "$@"\n')
    takifugu.chmod(0o755)
    marks = ROOT / "src/takifugu/datasets/student-por.csv.gz"
    (folder / "marks.csv").write_bytes(gzip.decompress(marks.read_bytes()))
    return ["bash", "-euo", "pipefail", str(example)]


def _environment(folder: Path) -> dict[str, str]:
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PATH": f"{folder / '.bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONIOENCODING": "utf-8",
        "NO_COLOR": "1",
        "COLUMNS": "88",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # Two hundred empty partitions would take most of the time.
        "PYSPARK_SUBMIT_ARGS": "--conf spark.sql.shuffle.partitions=2 pyspark-shell",
    }


if __name__ == "__main__":
    wanted = set(sys.argv[1:])
    with running() as run_one:
        for path in EXAMPLES:
            if not wanted or path.stem in wanted:
                with tempfile.TemporaryDirectory() as empty:
                    output(path).write_text(run_one(path, Path(empty)), encoding="utf-8")
                print(path.stem)
    subprocess.run([sys.executable, ROOT / "scripts/expand_examples.py"], check=True)
