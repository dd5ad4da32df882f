"""From a Parquet file to priors: time and memory from 1 to 100 million rows, beside pandas and scikit-learn.

The peer reads the file with pandas and fits the same mixtures to all rows with scikit-learn, at a million rows, since
more take it minutes. The limit is DuckDB's scan of the file, and for continuous columns the grid on which
they are counted. Seconds here are of the clock, on two cores.

Each measurement runs in a process of its own, on two cores, and reports its own peak memory. The files are
made here with DuckDB, in a temporary folder that is deleted at the end.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (1_000_000, 10_000_000, 100_000_000)
PEER_ROWS = 1_000_000  # scikit-learn takes minutes for more
CORES = 2
COMPONENTS = 3
COLUMNS = {"whole": "whole numbers, 150 distinct", "amount": "continuous, counted on a grid"}


def run(sizes: tuple[int, ...] = SIZES) -> None:
    """Print seconds, nanoseconds per row and peak memory for each size, and the ratio to the peers."""
    print(f"Parquet to priors of 3 secrets (DuckDB, {CORES} cores, 1 to {COMPONENTS} components)")
    print(f"  {'rows':>12} {'column':>8} {'counting':>10} {'per row':>9} {'in all':>9} {'memory':>9}")
    with tempfile.TemporaryDirectory(prefix="takifugu-bench-") as folder:
        for rows in sizes:
            path = Path(folder) / f"{rows}.parquet"
            make(path, rows)
            for column in COLUMNS:
                found = measured("ours", path, column)
                per_row = found["counting"] / rows * 1e9
                print(
                    f"  {rows:>12,} {column:>8} {found['counting']:>8.2f} s {per_row:>6.0f} ns "
                    f"{found['seconds']:>7.2f} s {found['memory']:>6.0f} MB",
                    flush=True,
                )
                if rows == PEER_ROWS:
                    compare(path, column, found)
            path.unlink()


def compare(path: Path, column: str, ours: dict[str, float]) -> None:
    """Print what pandas and scikit-learn take for the same file, and the ratio to our time."""
    theirs = measured("peers", path, column)
    print(
        f"  {'':12} {'':>8} pandas and scikit-learn: {theirs['seconds']:.1f} s, {theirs['memory']:.0f} MB, "
        f"{theirs['seconds'] / ours['seconds']:.1f} times as long",
        flush=True,
    )


def make(path: Path, rows: int) -> None:
    """Three secrets; a column of rounded numbers and a continuous one, normal in each secret."""
    import duckdb

    settings = {"threads": CORES, "temp_directory": str(path.parent)}
    with duckdb.connect(config=settings) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SELECT setseed(0.5)")
        # Box and Muller: DuckDB draws uniform numbers only.
        connection.execute(f"""
            COPY (
                SELECT secret, round(50 + 15 * z + 5 * (secret = 'b')::INT)::SMALLINT AS whole,
                       exp(10 + z / 2 + 0.1 * (secret = 'c')::INT) AS amount
                FROM (SELECT ['a', 'b', 'c'][1 + floor(3 * random())::INT] AS secret,
                             sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) AS z
                      FROM range({rows}))
            ) TO '{path}' (FORMAT parquet)""")


def measured(who: str, path: Path, column: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.tables", who, str(path), column]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def ours(path: str, column: str) -> dict[str, float]:
    from takifugu import Raw, fit_priors
    from takifugu.tables.counting import count, overview
    from takifugu.tables.table import Table

    fit_priors(path, secret="secret", query=Raw("whole", prior="gaussian"))  # imports and caches are not counted
    start = time.perf_counter()
    table = Table(path)
    count(table, "secret", column, overview(table, "secret", column))
    counting = time.perf_counter() - start
    start = time.perf_counter()
    fit_priors(path, secret="secret", query=Raw(column, max_components=COMPONENTS))
    return {"counting": counting, "seconds": time.perf_counter() - start}


def peers(path: str, column: str) -> dict[str, float]:
    import pandas as pd
    from sklearn.mixture import GaussianMixture

    GaussianMixture().fit([[0.0], [1.0]])  # as above
    start = time.perf_counter()
    table = pd.read_parquet(path, columns=["secret", column])
    for _, group in table.groupby("secret"):
        values = group[[column]].to_numpy(dtype=float)
        fits = [GaussianMixture(size, random_state=0).fit(values) for size in range(1, COMPONENTS + 1)]
        min(fits, key=lambda fit, values=values: fit.bic(values))
    return {"seconds": time.perf_counter() - start}


def main() -> None:
    who, path, column = sys.argv[1:]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    found = {"ours": ours, "peers": peers}[who](path, column)
    # VmHWM and not ru_maxrss, which a child takes over from its parent.
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    found["memory"] = int(peak.split()[1]) / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else run()
