"""Whole rows by every way there is, judged from outside: `python -m benchmarks.rows_campaign 0 5000` (seeds from, to).

Rows of two or three columns and two to five secrets, at the orders 1.5, 2, 4, 16 and ∞, some with odds beside it:
through the best joint channel and the sparse one, one belief or two, all pairs or some; several columns of secrets of
one table; adversaries who know a column, and known columns that are published too, cell by cell. Now and then with
confidence, a radius, or kept shares.

What comes back is read from the form it has in a file and judged by `benchmarks.rows_judge`.
"""

import itertools
import json
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

import takifugu as tk
from benchmarks.rows_judge import excess, published, shares
from takifugu.errors import DiagnosticWarning

ORDERS = (1.5, 2.0, 4.0, 16.0, math.inf)
Random = np.random.Generator
Pair = tuple[Any, Any]


class Case:
    """One problem: how far over the promise what comes back is, and what it costs."""

    def __init__(self, seed: int) -> None:
        """Draw the promise."""
        self.rng = np.random.default_rng(seed)
        self.over = -math.inf
        self.gap: float | None = None
        order = float(self.rng.choice(ORDERS))
        self.asked: dict[str, Any] = {
            "alpha": order,
            "epsilon": float(np.exp(self.rng.uniform(math.log(0.02), math.log(3)))),
        }
        if math.isfinite(order) and self.rng.random() < 0.25:
            self.asked["odds"] = float(1 + np.exp(self.rng.uniform(math.log(0.05), math.log(5))))

    def judge(self, told: Iterable[tuple[dict[Any, Any], Iterable[Pair]]]) -> None:
        """Look at every pair both ways of each belief: what each secret publishes, and the pairs to hide."""
        for outcomes, pairs in told:
            for a, b in pairs:
                for p, q in ((a, b), (b, a)):
                    self.over = max(self.over, excess(outcomes[p], outcomes[q], **self.asked))


def together(case: Case, solver: str) -> None:
    """Laws made by hand, through one channel for whole rows."""
    rng = case.rng
    sizes = [int(k) for k in rng.integers(2, 6, rng.integers(2, 4))]
    rows = list(itertools.product(*([*range(k)] if rng.random() < 0.5 else [f"l{e}" for e in range(k)] for k in sizes)))
    names = range(int(rng.integers(2, 6)))
    beliefs = [{s: tk.Finite(rows, weights(rng, len(rows))) for s in names} for _ in range(1 + (rng.random() < 0.2))]
    every = list(itertools.combinations(names, 2))
    some = [pair for pair in every if rng.random() < 0.5] or every[:1]
    pairs = every if rng.random() < 0.6 else some
    options: dict[str, Any] = {"rounds": 2}
    if solver == "program":
        options = {"keep": [None, "marginal"][rng.integers(2)]}
        if rng.random() < 0.1:
            options["radius"] = float(rng.uniform(0, 0.05))
    made = tk.calibrate(beliefs, options={"solver": solver}, pairs=pairs, **case.asked, **options)
    case.judge((_outcomes(made, belief), pairs) for belief in beliefs)
    if made.lower_bound is not None and made.error > 1e-6:
        case.gap = 1 - made.lower_bound / made.error
        best = made
        if solver == "columns" and rng.random() < 0.2:
            best = tk.calibrate(beliefs, pairs=pairs, preserve=None, **case.asked)
        if made.lower_bound > min(made.error, best.error):
            raise AssertionError("the bound is above a channel that keeps the promise")


def several(case: Case) -> None:
    """Two or three columns of secrets of one table, each hidden under its own laws."""
    table, columns = people(case.rng)
    secrets = ["s", "t", "u"][: int(case.rng.integers(2, 4))]
    priors = tk.fit_priors(table, secret=secrets, query=tk.Row(*columns), few="allow")
    pairs = [
        (f"{name} = {a}", f"{name} = {b}")
        for name in secrets
        for a, b in itertools.combinations(sorted(table[name].unique()), 2)
    ]
    made = tk.calibrate(priors, **case.asked, **_way(case.rng))
    case.judge([(_outcomes(made, priors), pairs)])


def known(case: Case) -> None:
    """An adversary who may know a column, or two: every cell of every subset is a belief."""
    table, columns = people(case.rng)
    names = ["t", "u"] if case.rng.random() < 0.1 else ["t"]  # with two there are a dozen beliefs
    beliefs = tk.fit_priors(table, secret="s", query=tk.Row(*columns), known=names, few="allow")
    made = tk.calibrate(beliefs, **case.asked, **_way(case.rng))
    pairs = list(itertools.combinations(sorted(table["s"].unique()), 2))
    case.judge((_outcomes(made, belief), pairs) for belief in beliefs)


KINDS: dict[str, Callable[[Case], None]] = {
    "joint": lambda case: together(case, "program"),
    "columns": lambda case: together(case, "columns"),
    "several secrets": several,
    "known": known,
}


def weights(rng: Random, n: int) -> Any:
    """Spiky or smooth shares, counts with holes, counts with pseudo-rows."""
    shape = rng.integers(3)
    if shape == 0:
        return rng.dirichlet(np.full(n, rng.choice([0.05, 0.5, 5.0]))) + 1e-9
    counts = rng.multinomial(int(rng.integers(5, 2000)), rng.dirichlet(np.ones(n))).astype(np.float64)
    return counts if shape == 1 else counts + float(rng.uniform(0.01, 3))


def people(rng: Random) -> tuple[pd.DataFrame, list[str]]:
    """A table: three columns of secrets, and two or three columns that go with them more or less."""
    rows = int(rng.integers(40, 400))
    table = {name: rng.integers(0, k, rows) for name, k in zip("stu", rng.integers(2, 4, 3).tolist(), strict=True)}
    for name, size in table.items():
        size[: len(np.unique(size))] = np.unique(size)
        table[name] = size
    columns = ["a", "b", "c"][: int(rng.integers(2, 4))]
    for name in columns:
        size, pull = int(rng.integers(2, 5)), float(rng.choice([0.0, 0.3, 1.0]))
        lean = pull * (table["s"] + rng.choice([0, 1]) * table["t"]) + rng.uniform(0, size, rows)
        table[name] = np.minimum(lean, size - 1).astype(np.int64)
    return pd.DataFrame(table), columns


def _way(rng: Random) -> dict[str, Any]:
    confidence = {"confidence": 0.9} if rng.random() < 0.05 else {}
    if rng.random() < 0.4:
        return {"solver": "columns", "rounds": 2} | confidence
    return {"keep": [None, "marginal"][rng.integers(2)]} | confidence


def _outcomes(made: Any, belief: Any) -> dict[Any, Any]:
    channel = _filed(made.to_dict()["channel"])
    return {s: published(channel, shares(law.values, law.weights.tolist())) for s, law in belief.items()}


def _filed(channel: dict[str, Any]) -> Any:
    return json.loads(json.dumps(channel))


def run(first: int = 0, last: int = 60) -> int:
    """Judge the problems of seeds first to last; the number over budget."""
    told: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    gaps: dict[str, list[float]] = {kind: [] for kind in KINDS}
    start = time.process_time()
    warnings.simplefilter("ignore", DiagnosticWarning)  # of few rows, thousands of them
    for seed in range(first, last):
        kind = list(KINDS)[seed % len(KINDS)]
        case = Case(seed)
        try:
            KINDS[kind](case)
        except tk.TakifuguError as error:
            told[kind]["refused"] += 1
            print(f"seed {seed}, {kind}: {error}", flush=True)
            continue
        told[kind]["judged"] += 1
        if case.over > 0:
            told[kind]["over"] += 1
            print(f"seed {seed}, {kind}: OVER BUDGET by {case.over:.3g}", flush=True)
        if case.gap is not None:
            gaps[kind].append(case.gap)
        if seed % 500 == 499:
            print(f"... {seed + 1}", flush=True)
    for kind, counts in told.items():
        bounded = f", {np.median(gaps[kind]):.1%} above the proved bound in the median" if gaps[kind] else ""
        print(f"{kind}: {counts['judged']} judged, {counts['over']} over budget, {counts['refused']} refused{bounded}")
    over, judged = (sum(counts[what] for counts in told.values()) for what in ("over", "judged"))
    print(f"all: {judged} judged, {over} over budget; {time.process_time() - start:.0f} s")
    return over


if __name__ == "__main__":
    sys.exit(run(*map(int, sys.argv[1:3])) > 0)
