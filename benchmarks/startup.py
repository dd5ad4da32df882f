"""From the shell to the answer: commands on a table of 1,000 rows, and what is in that time besides the mathematics.

Each figure is the processor time of a fresh process and everything it started, the least of three. The peer is a script
that reads the same file with pandas and fits two normals: what any program pays before it can begin. The limit is that:
Python's start, and loading NumPy, SciPy's special functions and the engine that reads the file, about half a second. A
calibration then takes the search for the least noise, the proof of the pair that binds, and the comparison of priors.
A release loads pandas wherever that is installed, by way of PyArrow. Publishing for the population tries several
margins, each with a linear program of its own.

The last part inspects a million rows of 21 columns. Its peer reads them with pandas and counts every column by secret,
and takes every cell for what it looks like in the first place; ours decides by all cells of a column what it holds,
which takes two thirds of the time, and then takes the table into memory. Before it did, every one of some fifty
questions went through the text again.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PEER = (
    "import pandas, scipy.optimize, sys; t = pandas.read_csv(sys.argv[1]); print(t.groupby('group').cost.agg(['mean', "
    "'std']))"
)

COUNTS = (
    "import pandas, sys; t = pandas.read_csv(sys.argv[1])\nfor c in t.columns: print(t.groupby('s')[c].value_counts())"
)
ANEW = (
    "import sys; from takifugu.tables import textfile; textfile._MOST_KEPT = 0; from takifugu.cli import main; "
    "main(['inspect', sys.argv[1], '--secret', 's'])"
)


def run() -> None:
    """Print the time of each command."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "table.csv"), Path(folder, "out")
        out.mkdir()
        rng = np.random.default_rng(0)
        groups = rng.integers(0, 2, 1_000)
        rows = (f"{'ab'[g]},{round(c)}" for g, c in zip(groups, rng.normal(60 + 4 * groups, 15), strict=True))
        path.write_text("group,cost\n" + "\n".join(rows) + "\n")
        peer = cost([sys.executable, "-c", PEER, str(path)])
        print(f"pandas reads the table and fits two normals: {peer:.2f} s")
        options = ["--secret", "group", "--query", "raw:cost", "--epsilon", "1", "--alpha", "3"]
        told(["--help"], peer)
        told(["calibrate", str(path), *options[:-1], "0.5"], peer, "a wrong α, told before the table is read")
        told(["calibrate", str(path), *options], peer)
        told(["calibrate", str(path), *options, "--report", str(out / "report.html")], peer, "the same with its report")
        told(["inspect", str(path), "--secret", "group"], peer)
        calibration, certificate = str(out / "calibration.json"), str(out / "certificate.json")
        prepared(["calibrate", str(path), *options, "--output", calibration])
        prepared(["certify", calibration, "--output", certificate])
        told(["certify", calibration, "--output", certificate], peer)
        told(["verify", certificate], peer)
        told(["release", str(path), "released.csv", "--calibration", calibration], peer)
        many = Path(folder, "many.csv")
        wards = rng.integers(0, 4, 50_000)
        stays = rng.poisson(3 + wards)
        rows = (f"{'ab'[g]},{c},{'KLMN'[w]}" for g, c, w in zip(wards % 2, stays, wards, strict=True))
        many.write_text("group,stay,ward\n" + "\n".join(rows) + "\n")
        large = cost([sys.executable, "-c", PEER.replace("cost", "stay"), str(many)])
        print(f"pandas reads 50,000 rows and fits two normals: {large:.2f} s")
        command = ["publish", str(many), "published.csv", "--secret", "group", "--columns", "stay,ward", "--odds", "3"]
        command += ["--ledger", "many.ledger", "--new-ledger"]
        told(command, large, "takifugu publish of two columns of them, with report, proof and ledger")
        wide = Path(folder, "wide.csv")
        write_wide(wide, rng)
        peer = cost([sys.executable, "-c", COUNTS, str(wide)])
        print(f"pandas reads a million rows of 21 columns and counts each by secret: {peer:.2f} s")
        told(["inspect", str(wide), "--secret", "s"], peer)
        anew = cost([sys.executable, "-c", ANEW, str(wide)])
        print(f"the same with every question asked of the text anew: {anew:.2f} s; {anew / peer:.1f} times the peer")


def write_wide(path: Path, rng: np.random.Generator) -> None:
    """Ten columns of small numbers, ten of words, and a secret."""
    import pandas as pd

    rows = 1_000_000
    columns = {f"q{k}": rng.integers(1, 6, rows) for k in range(10)}
    columns |= {f"w{k}": rng.choice(["north", "south", "east"], rows) for k in range(10)}
    pd.DataFrame(columns | {"s": rng.choice(["a", "b"], rows)}).to_csv(path, index=False)


def prepared(arguments: list[str]) -> None:
    """Run a command whose files the next ones read."""
    subprocess.run([sys.executable, "-m", "takifugu", *arguments], check=True, capture_output=True)


def told(arguments: list[str], peer: float, what: str | None = None) -> None:
    seconds = cost([sys.executable, "-m", "takifugu", *arguments])
    name = what or f"takifugu {arguments[0]}"
    print(f"{name}: {seconds:.2f} s; {seconds / peer:.1f} times the peer")


def cost(command: list[str]) -> float:
    """The least processor time of three runs, each with a folder of its own, since nothing is published twice."""
    found = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            before = os.times()
            subprocess.run(command, check=False, capture_output=True, cwd=folder)
            after = os.times()
        found.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(found)


if __name__ == "__main__":
    run()
