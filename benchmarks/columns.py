"""Thousands of values through a channel of few moves: one warm program from coarse to fine, beside the ways before it.

The peers are column generation whose linear program is written down anew for SciPy's `linprog` (HiGHS too) in every
round, with four rows for each output, as version 0.2 had it, and a channel that is improved part by part, which is all
there was beyond some 9,000 rows. Both are called through the same package. Moves are priced in blocks of outputs, and
most are never looked at.

Finite orders (α, ε) are kept through tangent cuts. The peer is what there was before, and what is left for lists that
one program does not hold: bounded odds, loosened until the divergence is proved, which claim no bound. Both times are
those of the whole search, with its repair and proof.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar
from unittest.mock import patch

import numpy as np

from takifugu import Row, calibrate, datasets, fit_priors
from takifugu.mechanisms.optimal import column_generation as columns
from takifugu.mechanisms.optimal import mechanism
from takifugu.mechanisms.optimal.finite_problem import table_of
from takifugu.mechanisms.optimal.mechanism import Optimal, _column_program
from takifugu.mechanisms.optimal.restricted_master import ColumnProgram, by_levels, nearest
from takifugu.problems import Problem, asked_for

TABLES = (
    ("education-num", "marital-status", "race"),
    ("workclass", "education-num", "marital-status", "race", "sex"),
    ("age", "workclass", "education-num", "marital-status", "relationship"),
    ("age", "workclass", "education-num", "race", "hours-per-week"),
)
ORDERS = (
    ("income", ("workclass", "education-num", "marital-status"), (None, "marginal")),
    ("sex", ("workclass", "education-num", "marital-status", "relationship", "income"), (None,)),
    ("income", ("age", "education-num", "race", "sex"), (None,)),
)
GUARANTEES = ((2.0, 0.5, None), (4.0, 1.0, None), (2.0, 0.5, 3.0), (4.0, 1.0, 3.0))
LARGE = 10_000  # combinations, of which confidence is measured too
COLD_UP_TO, KEPT_UP_TO = 4_000, 2_000
NEW, CLOSE = 24, 3e-3  # of the version before
T = TypeVar("T")


def run() -> None:
    """Print distortion, proved gap and processor time of each way, odds within 3, the income of adults hidden."""
    table = datasets.load("adult")
    for names in TABLES:
        problem = Problem.of(fit_priors(table, secret="income", query=Row(*names)))
        program = _column_program(Optimal(solver="columns"), problem, math.log(3.0))
        print(f"{len(names)} columns, {program.size:,} combinations", flush=True)
        found, seconds = timed(lambda program=program: warm(program))
        print(f"  warm {seconds:.1f} s: {found}", flush=True)
        if program.size <= COLD_UP_TO:
            cost, slower = timed(lambda program=program: cold(program))
        else:
            cost, slower = timed(lambda program=program: in_parts(program))
        how = "cold" if program.size <= COLD_UP_TO else "part by part"
        print(f"  {how} {slower:.1f} s, {slower / seconds:.1f} times: {cost:.5f}, {cost / found.cost - 1:+.1%}")
        if program.size >= LARGE:
            made, seconds = timed(
                lambda problem=problem: calibrate(problem, odds=3, confidence=0.95, mechanism="optimal")
            )
            print(f"  with confidence {seconds:.1f} s in all: {made.error:.5f}", flush=True)
        if program.size <= KEPT_UP_TO:
            kept, seconds = timed(lambda program=program: warm(replace(program, keeps_marginal=True)))
            print(f"  warm, marginal preserved {seconds:.1f} s: {kept}", flush=True)
    for secret, names, keeps in ORDERS:
        problem = Problem.of(fit_priors(table, secret=secret, query=Row(*names)))
        print(f"{len(names)} columns, {len(table_of(problem).values):,} combinations, hiding {secret}", flush=True)
        for keep in keeps:
            for alpha, epsilon, odds in GUARANTEES:
                print(f"  {beside(problem, alpha, epsilon, odds, keep)}", flush=True)


def beside(problem: Problem, alpha: float, epsilon: float, odds: float | None, keep: str | None) -> str:
    """Tangent cuts and loosened odds, side by side."""
    rule, asked = Optimal(solver="columns", keep=keep), asked_for(alpha=alpha, epsilon=epsilon, odds=odds)
    found, seconds = timed(lambda: rule.find(problem, asked))
    with patch.object(mechanism, "searched_whole", lambda *_, **__: None):
        before, first = timed(lambda: rule.find(problem, asked))
    cost, loosened = (rule.cost(problem, one.channel) for one in (found, before))
    gap = "no bound" if found.lower_bound is None else f"within {1 - found.lower_bound / cost:.2%} of the best, proved"
    name = f"({alpha:g}, {epsilon:g})" + ("" if odds is None else f" and odds {odds:g}")
    return (
        f"{name}{'' if keep is None else ', marginal preserved'}: cuts {cost:.5f}, {gap}, {seconds:.1f} s; loosened "
        f"{loosened:.5f}, {first:.1f} s: cost × {cost / loosened:.3f}, time × {seconds / first:.1f}"
    )


class Found:
    """What a channel costs, and what none costs less than."""

    def __init__(self, cost: float, bound: float) -> None:
        self.cost, self.bound = cost, bound

    def __str__(self) -> str:
        return f"{self.cost:.5f}, within {1 - self.bound / self.cost:.2%} of the best, proved"


def warm(program: ColumnProgram) -> Found:
    """Ours, with the bound proved."""
    found = by_levels(program, np.random.default_rng(0), rounds=30)
    assert found is not None
    moves = columns.Moves(found.sources, found.targets, found.shares)
    prices = columns.Prices(found.prices, found.kept)
    return Found(moves.cost(program), columns.lower_bound_by_columns(program, prices))


def cold(program: ColumnProgram) -> float:
    """Every round a new program; the cost."""
    everything, width = np.arange(program.size), program.size
    start = columns.coarse(program, np.random.default_rng(0))
    offered = np.union1d(start.sources * width + start.targets, nearest(program, everything))
    for _ in range(12):
        sources, targets = offered // width, offered % width
        cost = program.mass[sources] * program.cells.along(sources, targets)
        part = columns.solved(
            program,
            laws=program.laws,
            cost=cost,
            sources=sources,
            targets=targets,
            held=np.zeros((len(program.laws), width)),
        )
        assert part is not None
        laws = program.laws[program.members]
        own = np.full(program.size, np.inf)
        priced = cost + sum(law[sources] * price[targets] for law, price in zip(laws, part.prices, strict=True))
        np.minimum.at(own, sources, priced)
        whole = program.mass[:, None] * program.cells.between(everything, everything) + laws.T @ part.prices
        total, saving = float(cost @ part.shares), float(np.maximum(own - whole.min(axis=1), 0.0).sum())
        if saving <= CLOSE * total:
            break
        best = np.argpartition(whole, NEW - 1, axis=1)[:, :NEW]
        cheaper = np.take_along_axis(whole, best, axis=1) < own[:, None] - 1e-13 * np.abs(own).max()
        offered = np.union1d(offered, (everything[:, None] * width + best)[cheaper])
    return total


def in_parts(program: ColumnProgram) -> float:
    """Part after part, from a coarse channel."""
    rng = np.random.default_rng(0)
    found = columns.coarse(program, rng)
    return columns._part_by_part(program, found, np.arange(program.size), rng, 6).cost(program)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


if __name__ == "__main__":
    run()
