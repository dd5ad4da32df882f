"""From rows to published rows: drawing beside the random bits, CSV beside DuckDB's group-by, a release beside its rows.

The rows are those of the census of Adult drawn again and again, with noise on age and hours, in fifteen columns; two
columns of text are published so that a third is hidden. The limit of drawing is `os.urandom` of eight bytes a row:
every draw of a channel takes one word of fresh bits. The limit of a CSV file is DuckDB's own group-by of the three
columns, with the types that it guesses; ours looks at every cell of the file before it counts. OpenDP draws randomised
response over as many values, one call a value, as its Python interface has it.

`python -m benchmarks.rows spark` sets a fit beside a groupBy, and a release beside a sort by rand() with a checkpoint,
on Spark on this machine (clock, not processor time, since the work is done elsewhere).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROWS = 1_000_000
MOST_ROWS = 10_000_000
SECRET, COLUMNS = "sex", ("education", "marital-status")
PEER_DRAWS = 20_000


def run(rows: int = ROWS, most: int = MOST_ROWS) -> None:
    """Print processor time and ratios, all of one run."""
    with tempfile.TemporaryDirectory(prefix="takifugu-bench-") as folder:
        parquet, text = make(Path(folder), rows)
        drawing(parquet, rows)
        reading(text, rows)
        parquet.unlink()
        text.unlink()
        for kind in (0, 1) if most else ():
            path = make(Path(folder), most)[kind]
            found = measured(path)
            print(
                f"{most:,} rows as {path.suffix[1:].upper()}: fit {found['fit']:.1f} s, release with a ledger "
                f"{found['release']:.1f} s, peak memory {found['memory']:.0f} MB"
            )
            for one in Path(folder).iterdir():
                one.unlink()


def make(folder: Path, rows: int) -> tuple[Path, Path]:
    """Parquet and CSV of so many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv

    from takifugu import datasets

    census = pa.Table.from_pandas(datasets.load("adult"), preserve_index=False)
    rng = np.random.default_rng(0)
    paths = folder / f"{rows}.parquet", folder / f"{rows}.csv"
    with pq.ParquetWriter(str(paths[0]), census.schema) as one, csv.CSVWriter(str(paths[1]), census.schema) as other:
        for start in range(0, rows, ROWS):
            size = min(ROWS, rows - start)
            some = census.take(pa.array(rng.integers(0, census.num_rows, size)))
            for name in ("age", "hours-per-week"):
                noisy = np.clip(some[name].to_numpy() + rng.integers(-1, 2, size), 1, 99)
                place = some.column_names.index(name)
                some = some.set_column(
                    place, census.schema.field(name), pa.array(noisy, census.schema.field(name).type)
                )
            one.write_table(some)
            other.write_table(some)
    return paths


def best(job: Callable[[], object], clock: Callable[[], float] = time.process_time, repeats: int = 3) -> float:
    """The least of a few runs."""
    found = float("inf")
    for _ in range(repeats):
        start = clock()
        job()
        found = min(found, clock() - start)
    return found


def drawing(path: Path, rows: int) -> None:
    """In memory: checked and drawn by codes, and the whole release, beside the random bits."""
    import pyarrow.parquet as pq

    import takifugu as tk
    from takifugu.releases.binding import bound_columns
    from takifugu.releases.frames import as_frame, leaving, ready
    from takifugu.releases.plan import Plan

    table = pq.read_table(path, columns=[SECRET, *COLUMNS])
    made = tk.calibrate(tk.fit_priors(table, secret=SECRET, query=tk.Row(*COLUMNS)), odds=3)
    plan, frame = Plan.of(made), as_frame(table)
    columns = bound_columns(made, table.column_names, column=None, secret=None, keep=(), others="error")
    floor = best(lambda: os.urandom(8 * rows))
    drawn = best(lambda: leaving(frame, plan.drawn(ready(frame, plan, columns)), plan, columns))
    whole = best(lambda: tk.release(table, made))
    print(f"os.urandom of 8 bytes a row: {floor / rows * 1e9:.0f} ns a row")
    for name, seconds in (("columns to drawn columns", drawn), ("a whole release in memory, shuffled", whole)):
        print(f"{name}: {seconds / rows * 1e9:.0f} ns a row; {seconds / floor:.1f} times the random bits")
    theirs = best(opendp, repeats=1) / PEER_DRAWS
    ratio = theirs * rows / drawn
    print(f"OpenDP's randomised response over as many values: {theirs * 1e9:,.0f} ns; {ratio:,.0f} times ours")


def opendp(draws: int = PEER_DRAWS) -> None:
    """As many draws as a peer can be waited for, from a channel over as many values."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    draw = dp.m.make_randomized_response([str(k) for k in range(112)], prob=0.8)
    for k in range(draws):
        draw(str(k % 112))


def reading(path: Path, rows: int) -> None:
    """A CSV file read, looked at and counted, beside DuckDB's own group-by."""
    import duckdb

    import takifugu as tk

    tk.fit_priors("adult", secret=SECRET, query=tk.Row(*COLUMNS))  # imports are not counted
    names = ", ".join(f'"{name}"' for name in (SECRET, *COLUMNS))
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        theirs = best(lambda: connection.execute(f"SELECT {names}, count(*) FROM '{path}' GROUP BY ALL").fetchall())
    ours = best(lambda: tk.fit_priors(path, secret=SECRET, query=tk.Row(*COLUMNS)))
    print(
        f"CSV of {rows:,} rows and 15 columns, read and counted: {ours:.2f} s; DuckDB's group-by {theirs:.2f} s; "
        f"{ours / theirs:.1f} times"
    )


def measured(path: Path) -> dict[str, float]:
    """A fit and a release with a ledger in a process of their own."""
    command = [sys.executable, "-m", "benchmarks.rows", "ours", str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def ours(path: str) -> dict[str, float]:
    import resource

    import takifugu as tk

    start = time.process_time()
    priors = tk.fit_priors(path, secret=SECRET, query=tk.Row(*COLUMNS))
    fitted = time.process_time()
    made = tk.calibrate(priors, odds=3)
    begun = time.process_time()
    target = Path(path).with_name("published.parquet")
    tk.release_file(path, target, made, ledger=target.with_suffix(".ledger"))
    done = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"fit": fitted - start, "release": done - begun, "memory": peak}


def spark(rows: int = ROWS) -> None:
    """A fit beside one groupBy, and a release beside a sort and a checkpoint."""
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import rand

    import takifugu as tk

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.memory", "3g").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory(prefix="takifugu-bench-") as folder:
        frame, names = session.read.parquet(str(make(Path(folder), rows)[0])), [SECRET, *COLUMNS]
        made = tk.calibrate(tk.fit_priors(frame, secret=SECRET, query=tk.Row(*COLUMNS)), odds=3)
        jobs = {
            "groupBy": lambda: frame.groupBy(*names).count().collect(),
            "fit": lambda: tk.fit_priors(frame, secret=SECRET, query=tk.Row(*COLUMNS)),
            "sort and checkpoint": lambda: frame.select(*names).orderBy(rand()).localCheckpoint(eager=True),
            "release": lambda: tk.release(frame, made),
        }
        seconds = {name: best(job, time.perf_counter) for name, job in jobs.items()}
    print(f"Spark, {rows:,} rows: " + ", ".join(f"{name} {one:.2f} s" for name, one in seconds.items()))
    print(f"  fit {seconds['fit'] / seconds['groupBy']:.2f} times a groupBy")
    print(f"  release {seconds['release'] / seconds['sort and checkpoint']:.2f} times a sort and a checkpoint")


if __name__ == "__main__":
    if sys.argv[1:2] == ["ours"]:
        print(json.dumps(ours(sys.argv[2])))
    elif sys.argv[1:2] == ["spark"]:
        spark()
    else:
        run()
