"""`python -m studies.preserved`: what confidence costs a table of people, and what preserving its values costs.

Of the fifteen tables that nobody tuned for (studies.unseen), and of heart and student, a number and a label are
published together: odds of 3, for the population with 95 %. Once nothing is preserved, once the joint distribution of
the two, which is the default. *Within* is how many of 2,000 fresh draws of the population are within the odds.
"""

import argparse
import math
import sys
import time
import warnings
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import takifugu as tk
from studies.unseen.reading import read
from studies.unseen.settings import COARSE, CONFIDENCE, ODDS
from studies.unseen.tables import TABLES
from studies.unseen.wheels import content
from takifugu._work import listening
from takifugu.laws import Lattice, Law
from takifugu.mechanisms.draws import drawn_laws
from takifugu.mechanisms.optimal.finite_problem import table_of
from takifugu.paper.cache import default_folder

DRAWS, SEED = 2_000, 424_242  # of the study's own
OWN: tuple[tuple[str, str, str, tuple[str, ...], dict[str, list[float]]], ...] = (
    ("heart: slope → oldpeak, sex", "heart", "slope", ("oldpeak", "sex"), {"oldpeak": [k / 2 for k in range(13)]}),
    ("heart: sex → cp, thal", "heart", "sex", ("cp", "thal"), {}),
    ("student-mat: schoolsup → G3", "student-mat", "schoolsup", ("G3",), {}),
    ("student-por: schoolsup → failures, studytime", "student-por", "schoolsup", ("failures", "studytime"), {}),
    ("student-por: schoolsup → G3, sex", "student-por", "schoolsup", ("G3", "sex"), {}),
)


@dataclass(frozen=True)
class Case:
    """A table, its secret, and what is published of it."""

    name: str
    frame: pd.DataFrame
    secret: str
    query: tk.Row


@dataclass(frozen=True)
class Found:
    """One calibration: its cost, the draws within, the total variation it comes to, its margin, and seconds."""

    cost: float
    within: int
    away: float
    margin: str
    seconds: float


def main(arguments: list[str] | None = None) -> int:
    """Print a line a table, and one about all."""
    parser = argparse.ArgumentParser(prog="python -m studies.preserved", description=__doc__)
    parser.add_argument("--wheels", type=Path, help="the folder that wheels are kept in")
    folder = parser.parse_args(arguments).wheels or default_folder() / "wheels"
    print(
        "| table | rows (rarest of secrets) | values | nothing preserved | within | default | within | "
        "total variation | margin | times | seconds |\n"
        "| --- | --- | --: | --: | --: | --: | --: | --: | --- | --: | --: |"
    )
    ratios = {}
    for case in cases(folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            priors = tk.fit_priors(case.frame, secret=case.secret, query=case.query)
        free, kept = _found(priors, None), _found(priors, "auto")
        sizes = case.frame[case.secret].value_counts()
        ratios[case.name] = kept.cost / free.cost if free.cost else math.nan
        values = len(next(iter(priors.values())).values)
        print(
            f"| {case.name} | {len(case.frame):,} ({sizes.min():,} of {len(sizes)}) | {values} | {free.cost:.4g} | "
            f"{free.within:,} | {kept.cost:.4g} | {kept.within:,} | {kept.away:.0e} | {kept.margin} | "
            f"{ratios[case.name]:.2f} | {free.seconds:.1f} + {kept.seconds:.1f} |",
            flush=True,
        )
    known = {name: ratio for name, ratio in ratios.items() if not math.isnan(ratio)}
    worst = max(known, key=lambda name: known[name])
    middle = float(np.median(list(known.values())))
    told = f"in the median, {known[worst]:.2f} times on {worst}."
    print(f"\n{len(ratios)} tables: preserving costs {middle:.2f} times as much {told}")
    return 0


def cases(folder: Path) -> Iterator[Case]:
    """The tables, fetched where they are none of ours."""
    for name, data, secret, columns, lists in OWN:
        frame = tk.datasets.load(data)
        if data == "heart" and secret == "slope":
            frame = frame[frame[secret].isin([1, 3])]
        yield Case(name, frame.dropna(subset=[secret, *columns]), secret, tk.Row(*columns, domain=lists or None))
    for table in TABLES:
        frame = read(table, content(table, folder))
        points = Lattice(table.low, table.high, table.step).points.tolist()
        labels = sorted(set(frame[table.label]))
        lists = {table.number: points[:: -(-len(points) // COARSE)], table.label: labels}
        name = f"{table.name}: {table.secret} → {table.number}, {table.label}"
        yield Case(name, frame, table.secret, tk.Row(table.number, table.label, domain=lists))


def _found(priors: Mapping[Hashable, Law], preserve: str | None) -> Found:
    heard: list[str] = []
    start = time.process_time()
    with warnings.catch_warnings(), listening(heard.append):
        warnings.simplefilter("ignore")
        made = tk.calibrate(priors, odds=ODDS, confidence=CONFIDENCE, preserve=preserve)
    seconds = time.process_time() - start
    matrix, mass = made.channel.as_list().as_table().matrix, table_of(made.problem).mass
    judged = [one for one in heard if one.startswith("Judging")]
    margin = judged[-1].rpartition(" by ")[2] if judged else ""
    away = 0.5 * float(np.abs(mass @ matrix - mass).sum()) / float(mass.sum())
    return Found(made.error, _within(made), away, margin, seconds)


def _within(made: tk.Calibration) -> int:
    """How many draws that had no part in anything are within the odds, by sums of the study's own."""
    laws = drawn_laws(made.problem, DRAWS, SEED)[:, 1:]
    published, held = laws @ made.channel.as_list().as_table().matrix, np.ones(DRAWS, dtype=bool)
    for a, b in zip(*made.problem.pairs.directed_places(), strict=True):
        held &= (published[:, :, a] <= ODDS * published[:, :, b]).all(axis=(0, 2))
    return int(held.sum())


if __name__ == "__main__":
    sys.exit(main())
