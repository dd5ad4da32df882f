"""What private counts cost, and whether confidence from them covers the population.

`python -m benchmarks.private_counts coverage [samples]` draws tables from populations that are known, makes private
counts of each, calibrates with confidence 0.95, and says how often the population's own odds stay within what the
channel was made for; beside it, how often for who takes the noisy counts for counts. `... price` is the error over the
spread of Adult's years of education for three races, without private counts and with them, and of the channel that
needs no data. What they said is in docs/studies/private-fit.md, and `scripts/draw_private_fit.py` draws it.
"""

import os
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

import takifugu as tk
from takifugu.channels import InsecureSeededBits
from takifugu.queries import Cells, PrivateCounts

ODDS, EPSILON = 3.0, 0.2
RACES = ("White", "Black", "Asian-Pac-Islander")


@dataclass(frozen=True)
class Population:
    """The law of each secret, and how many rows of each a table has."""

    lists: dict[str, list]
    columns: tuple[str, ...]
    laws: np.ndarray
    rows: tuple[int, ...]

    @property
    def cells(self) -> Cells:
        """The public side of its private counts."""
        return Cells.of("s", self.columns, self.lists, None, EPSILON)


def _of_table(table, secret: str, lists: dict[str, list], columns: tuple[str, ...], rows: int) -> Population:
    cells = Cells.of(secret, columns, lists, None, EPSILON)
    counts = np.array(cells.count(_opened(table[table[secret].isin(lists[secret])])), dtype=float)
    sizes = tuple(np.maximum(2, np.rint(rows * counts.sum(axis=1) / counts.sum())).astype(int).tolist())
    names = {"s": list(range(len(counts)))} | {name: lists[name] for name in columns}
    return Population(names, columns, counts / counts.sum(axis=1, keepdims=True), sizes)


def _opened(table):
    from takifugu.tables import Table

    return Table(table, None)


@cache
def population(name: str) -> Population:
    """Those that coverage is measured on."""
    adult, grades = tk.datasets.load("adult"), tk.datasets.load("student-por")
    years, hours = list(range(1, 17)), [10, 25, 35, 40, 45, 55, 70]
    if name == "16 values, 5,000 rows":
        return _of_table(adult, "race", {"race": RACES, "education-num": years}, ("education-num",), 5_000)
    if name == "21 values, 650 rows":
        return _of_table(grades, "schoolsup", {"schoolsup": ["yes", "no"], "G3": list(range(21))}, ("G3",), 650)
    if name == "16 values, 48,000 rows":
        return _of_table(adult, "race", {"race": RACES, "education-num": years}, ("education-num",), 48_000)
    lists = {"race": ["White", "Black"], "education-num": years, "hours-per-week": hours}
    rows = 5_000 if "5,000" in name else 20_000
    return _of_table(adult, "race", lists, ("education-num", "hours-per-week"), rows)


POPULATIONS = (
    "16 values, 5,000 rows",
    "16 values, 48,000 rows",
    "21 values, 650 rows",
    "112 cells, 5,000 rows",
    "112 cells, 20,000 rows",
)


def odds(channel, laws: np.ndarray) -> float:
    """By how much the odds between any two of these laws move at most."""
    out = channel.through(laws)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nanmax([p / q for p in out for q in out]))


def one(task: tuple[str, int, float]) -> dict[str, float]:
    """One table: what the channels of both ways come to, for the population and for the table."""
    name, seed, odds_asked = task
    here, rng = population(name), np.random.default_rng([seed, 5])
    counts = [rng.multinomial(n, law).tolist() for n, law in zip(here.rows, here.laws, strict=True)]
    private = PrivateCounts.with_noise(here.cells, counts, InsecureSeededBits(seed))
    sample = np.array(counts) / np.sum(counts, axis=1, keepdims=True)
    values = next(iter(private.values())).values
    as_counts = {s: tk.Finite(values, np.maximum(row, 0)) for s, row in private.counts.items()}
    found: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = tk.calibrate(private, odds=odds_asked, confidence=0.95)
        limit = made.guarantee.factor
        ways: dict[str, Callable] = {"undone": lambda: made}
        if not os.environ.get("UNDONE_ALONE"):
            ways["taken as counts"] = lambda: tk.calibrate(as_counts, odds=limit, confidence=0.95)
        for way, calibrated in ways.items():
            channel = calibrated().channel
            found[way] = odds(channel, here.laws) / limit
            found[f"{way}, sample"] = odds(channel, sample) / limit
    return found


def coverage(samples: int, names: tuple[str, ...] = POPULATIONS) -> None:
    """How often the odds stay within the channel's, for each population."""
    for name in names:
        tasks = [(name, seed, ODDS) for seed in range(samples)]
        with ProcessPoolExecutor(int(os.environ.get("WORKERS", "2"))) as pool:
            found = list(pool.map(one, tasks))
        told = [f"{way} {np.mean([one[way] <= 1 for one in found]):.1%}" for way in found[0]]
        print(f"{name}, {samples} tables: {'; '.join(told)}", flush=True)


def error(channel, weights: np.ndarray, values: np.ndarray) -> float:
    """Root mean square error over the spread."""
    law = weights / weights.sum()
    place = {value: k for k, value in enumerate(values.tolist())}
    order = [place[value] for value in channel.inputs]
    gaps = (np.array(channel.inputs)[:, None] - np.array(channel.outputs)[None, :]) ** 2
    lost = float(law[order] @ (channel.matrix * gaps).sum(axis=1))
    return float(np.sqrt(lost / (law @ (values - law @ values) ** 2)))


def priced(task: tuple[int, float | None, int]) -> float:
    """The error of a table of so many rows, with private counts of this epsilon or without."""
    rows, epsilon, seed = task
    here = population("16 values, 5,000 rows")
    sizes = np.rint(rows * np.array(here.rows) / sum(here.rows)).astype(int)
    rng = np.random.default_rng([seed, 6])
    counts = [rng.multinomial(n, law).tolist() for n, law in zip(sizes, here.laws, strict=True)]
    years = np.arange(1, 17)
    if epsilon is None:
        given = {s: tk.Finite(years.tolist(), row) for s, row in enumerate(counts)}
    else:
        cells = Cells.of("s", here.columns, here.lists, None, epsilon)
        given = PrivateCounts.with_noise(cells, counts, InsecureSeededBits(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = tk.calibrate(given, odds=ODDS, confidence=0.95, preserve=None)
    return error(made.channel, np.array(sizes) @ here.laws, years)


ROWS = (1_000, 5_000, 20_000, 48_000, 200_000, 1_000_000, 5_000_000)
EPSILONS = (None, 0.05, 0.1, 0.2, 0.4)
NAMES = ("none", *(f"ε = {one:g}" for one in EPSILONS[1:] if one), "no data", "no data, right weights")


def data_free() -> tuple[float, float]:
    """The error of the best channel that is fitted to nothing, which is the same for any number of rows.

    Once with every value as likely as any other, and once weighed by the population's shares, known from elsewhere.
    """
    here, years = population("16 values, 48,000 rows"), list(range(1, 17))
    law = np.array(here.rows) @ here.laws
    weighed = {"anybody": tk.Finite(years, law)}
    ways = (tk.Row("education-num", domain=years), weighed)
    found = [tk.calibrate(way, odds=ODDS, mechanism="data-free").channel for way in ways]
    return error(found[0], law, np.array(years)), error(found[1], law, np.array(years))


def price(samples: int) -> None:
    """The error over the spread, by rows and epsilon: a table for docs/studies/private-fit.md."""
    print("| rows | " + " | ".join(NAMES) + " |\n|--:|" + "--:|" * len(NAMES), flush=True)
    free = data_free()
    for rows in ROWS:
        means = []
        for epsilon in EPSILONS:
            tasks = [(rows, epsilon, seed) for seed in range(samples)]
            with ProcessPoolExecutor(int(os.environ.get("WORKERS", "2"))) as pool:
                means.append(float(np.mean(list(pool.map(priced, tasks)))))
        print(f"| {rows:,} | " + " | ".join(f"{one:.3f}" for one in (*means, *free)) + " |", flush=True)


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["coverage"]
    many = int(rest[0]) if rest else 20
    if what == "price":
        price(many)
    else:
        coverage(many, tuple(rest[1:]) or POPULATIONS)
