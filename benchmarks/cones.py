"""Confidence for lists by cones, beside the margins that were there before, in one run.

Bounded odds of 3 at 95 % on the census. *Within* is how many of 2,000 draws of the population's laws, which had no part
in anything, are within the odds. For lists the margin before was a radius around every law, which is run where it takes
a minute or two, and by columns one that is linear in what is published (`caution`). For one case other seeds are shown.
Below, one program of the search beside Clarabel through cvxpy, for laws made up, with three deviations in hand. The
limit of ours is the equations of a step: as many as inputs, or through few outputs as many as these and the directions.
"""

import math
import time
import warnings
from collections.abc import Callable
from typing import TypeVar
from unittest.mock import patch

import cvxpy as cp
import numpy as np

import takifugu as tk
from takifugu.mechanisms import evidence
from takifugu.mechanisms.draws import drawn_laws
from takifugu.mechanisms.optimal.program import Program
from takifugu.mechanisms.optimal.second_order import Margined, with_margin

T = TypeVar("T")
CASES = (
    ("sex", ("marital-status", "education-num"), ("marginal", None)),
    ("sex", ("occupation", "education-num"), ()),
    ("income", ("education-num", "marital-status", "race"), ()),
    ("income", ("workclass", "education-num", "marital-status"), (None,)),
)
WORK = ("workclass", "education-num", "marital-status")
BY_COLUMNS = (("income", (*WORK, "race")), ("sex", (*WORK, "relationship", "income")))
SEEDS = (1, 2, 3)
ODDS = 3.0
SIZES = (20, 40, 80)


def run() -> None:
    """Print cost, time and draws within the odds for each case, both ways; then our solver beside Clarabel."""
    table = tk.datasets.load("adult")
    for secret, columns, beside in CASES:
        priors = _fitted(table, secret, columns)
        for keep in ("marginal", None):
            _case(priors, secret, columns, keep, with_radius=keep in beside)
    for secret, columns in BY_COLUMNS:
        _by_columns(_fitted(table, secret, columns), secret, columns)
    for seed in SEEDS:
        made, ours = _timed(lambda seed=seed: _confident(_fitted(table, "income", WORK), preserve=None, seed=seed))
        print(f"{' × '.join(WORK)}, seed {seed}: {made.error:.4f}, {ours:.2f} s, {_within(made)} within", flush=True)
    for values in SIZES:
        _beside_clarabel(values)


def _fitted(table: object, secret: str, columns: tuple[str, ...]) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tk.fit_priors(table, secret=secret, query=tk.Row(*columns))


def _confident(priors: object, *, seed: int = 0, **wishes: object) -> tk.Calibration:
    return tk.calibrate(priors, odds=ODDS, confidence=0.95, adversary=tk.Adversary(seed=seed), **wishes)


def _by_columns(priors: object, secret: str, columns: tuple[str, ...]) -> None:
    columns_too = {"options": {"solver": "columns"}}
    sample, alone = _timed(lambda: tk.calibrate(priors, odds=ODDS, **columns_too))
    made, ours = _timed(lambda: _confident(priors, **columns_too))
    with patch.object(evidence, "has_cones", lambda *_: False):
        before, theirs = _timed(lambda: _confident(priors, **columns_too))
    print(
        f"{' × '.join(columns)} hiding {secret}, by columns, {len(made.channel.inputs):,} values: sample alone "
        f"{sample.error:.4f}, {alone:.2f} s; cones {made.error:.4f}, {ours:.2f} s, {_within(made)} within; linear "
        f"{before.error:.4f}, {theirs:.2f} s, {_within(before)} within: cost × {made.error / before.error:.3f}",
        flush=True,
    )


def _case(priors: object, secret: str, columns: tuple[str, ...], keep: str | None, *, with_radius: bool) -> None:
    sample, alone = _timed(lambda: tk.calibrate(priors, odds=ODDS, preserve=keep))
    made, ours = _timed(lambda: tk.calibrate(priors, odds=ODDS, preserve=keep, confidence=0.95))
    line = (
        f"{' × '.join(columns)} hiding {secret}, preserve={keep!r}, {len(made.channel.inputs)} values: sample alone "
        f"{sample.error:.4f}, {alone:.2f} s; cones {made.error:.4f}, {ours:.2f} s ({ours / alone:.0f} times), "
        f"{_within(made)} within"
    )
    if with_radius:
        with patch.object(evidence, "has_cones", lambda *_: False):
            before, theirs = _timed(lambda: tk.calibrate(priors, odds=ODDS, preserve=keep, confidence=0.95))
        line += (
            f"; radius {before.error:.4f}, {theirs:.2f} s, {_within(before)} within: cost × "
            f"{made.error / before.error:.3f}, time / {theirs / ours:.1f}"
        )
    print(line, flush=True)


def _within(made: tk.Calibration) -> int:
    laws = drawn_laws(made.problem, 2_000, 4242)[:, 1:]
    published, held = made.channel.as_list().through(laws), np.ones(2_000, dtype=bool)
    for a, b in zip(*made.problem.pairs.directed_places(), strict=True):
        held &= (published[:, :, a] <= ODDS * published[:, :, b]).all(axis=(0, 2))
    return int(held.sum())


def _beside_clarabel(values: int) -> None:
    rng = np.random.default_rng(values)
    usual = rng.dirichlet(np.full(values, 0.7))
    laws = 0.6 * usual + 0.4 * rng.dirichlet(np.full(values, 0.7), size=2)
    program = Program(
        laws=laws,
        constraints=((0, 1), (1, 0)),
        alpha=math.inf,
        epsilon=math.log(ODDS),
        mass=laws.sum(axis=0),
        loss=(np.arange(values)[:, None] - np.arange(values)) ** 2 / values**2,
    )
    margined = Margined(program, program.shares / np.array([[5_001], [1_001]]))
    found, ours = _timed(lambda: with_margin(margined, 3.0))
    peer, theirs = _timed(lambda: _clarabel(margined, 3.0))
    value = math.nan if found is None else found.value
    print(
        f"{values} values: ours {ours:.3f} s, Clarabel through cvxpy {theirs:.2f} s ({theirs / ours:.0f} times), "
        f"costs differ by {abs(value / peer - 1):.0e}",
        flush=True,
    )


def _clarabel(margined: Margined, factor: float) -> float:
    program = margined.program
    n, m = program.size
    k = cp.Variable((n, m), nonneg=True)
    wishes = [cp.sum(k, axis=1) == 1]
    for i, j in program.constraints:
        covariance = sum(
            weight * (np.diag(d) - np.outer(d, d) / d.sum())
            for d, weight in ((margined.spread[i], 1.0), (margined.spread[j], program.factor**2))
        )
        values, vectors = np.linalg.eigh(covariance)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        wishes.append(cp.SOC((program.factor * program.shares[j] - program.shares[i]) @ k, factor * root @ k, axis=0))
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(program.cost, k))), wishes)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    begin = time.process_time()
    found = work()
    return found, time.process_time() - begin


if __name__ == "__main__":
    run()
