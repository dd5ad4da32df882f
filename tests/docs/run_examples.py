"""Run the examples of the documentation. As a program, write their outputs down anew."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(ROOT.glob("docs/examples/*.py"))


def run(example: Path, folder: Path) -> str:
    """What the example prints, run on its own in an empty folder; an error is raised with what it said."""
    # PySpark itself warns about the pandas it finds.
    strict = [] if example.stem == "spark" else ["-W", "error"]
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONIOENCODING": "utf-8",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # Two hundred empty partitions would take most of the time.
        "PYSPARK_SUBMIT_ARGS": "--conf spark.sql.shuffle.partitions=2 pyspark-shell",
    }
    command = [sys.executable, *strict, str(example)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"{example.name} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    wanted = set(sys.argv[1:])
    for path in EXAMPLES:
        if not wanted or path.stem in wanted:
            with tempfile.TemporaryDirectory() as empty:
                path.with_suffix(".txt").write_text(run(path, Path(empty)), encoding="utf-8")
            print(path.stem)
