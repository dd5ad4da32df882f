"""Rows through joint channels, judged from outside: `python -m benchmarks.sparse_campaign 0 5000` (seeds from, to).

Rows of two or three columns, 2 to 5 secrets, one belief or two, all pairs or some, α from 1.2 to 32 and ∞, with and
without odds beside it; laws of three shapes, some with rows that one secret alone has. Each problem goes through
'sparse', every tenth also through 'optimal'. The judge reads the channel from the form it has in a file, adds up in
fractions, and takes powers with mpmath: it shares no code with what it judges.
"""

import itertools
import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np

from takifugu.calibration import calibrate
from takifugu.errors import TakifuguError
from takifugu.laws.finite import Finite

Laws = dict[int, Finite]


def problem(seed: int) -> tuple[list[Laws], dict[str, Any]]:
    """Beliefs and the arguments of `calibrate`."""
    rng = np.random.default_rng(seed)
    sizes = [int(k) for k in rng.integers(2, 6, rng.integers(2, 4))]
    entries = [list(range(k)) if rng.random() < 0.5 else [f"l{e}" for e in range(k)] for k in sizes]
    rows = list(itertools.product(*entries))
    secrets = int(rng.integers(2, 6))
    beliefs = [
        {s: Finite(rows, _weights(rng, len(rows))) for s in range(secrets)} for _ in range(1 + (rng.random() < 0.2))
    ]
    every = list(itertools.combinations(range(secrets), 2))
    some = [pair for pair in every if rng.random() < 0.5] or every[:1]
    epsilon = float(np.exp(rng.uniform(math.log(0.02), math.log(3))))
    asked: dict[str, Any] = {"alpha": math.inf, "epsilon": epsilon}
    if rng.random() < 0.5:
        asked["alpha"] = float(np.exp(rng.uniform(math.log(1.2), math.log(32))))
        if rng.random() < 0.3:
            asked["odds"] = float(1 + np.exp(rng.uniform(math.log(0.05), math.log(5))))
    return beliefs, asked | {"pairs": None if rng.random() < 0.6 else some}


def _weights(rng: np.random.Generator, n: int) -> Any:
    shape = rng.integers(3)
    if shape == 0:
        return rng.dirichlet(np.full(n, rng.choice([0.05, 0.5, 5.0]))) + 1e-9
    counts = rng.multinomial(int(rng.integers(5, 2000)), rng.dirichlet(np.ones(n))).astype(np.float64)
    return counts if shape == 1 else counts + float(rng.uniform(0.01, 3))


def published(channel: dict[str, Any], law: Finite) -> list[Fraction]:
    """What a law publishes, from the lists of a file."""
    total = sum(Fraction(w) for w in law.weights.tolist())
    shares = {tuple(v): Fraction(w) / total for v, w in zip(law.values, law.weights.tolist(), strict=True)}
    found = [Fraction(0)] * len(channel["outputs"])
    for x, value in enumerate(channel["inputs"]):
        share = shares.get(tuple(value), Fraction(0))
        moves = list(_moves(channel, x))
        whole = sum(count for _, count in moves)
        for y, count in moves:
            found[y] += share * Fraction(count, whole)
    if sum(found) != 1:
        raise AssertionError("what is published is no law")
    return found


def _moves(channel: dict[str, Any], x: int) -> Iterator[tuple[int, int]]:
    if channel["kind"] == "finite":
        yield from ((y, count) for y, count in enumerate(channel["counts"][x]) if count)
        return
    for k in range(channel["starts"][x], channel["starts"][x + 1]):
        yield channel["targets"][k], channel["counts"][k]


def excess(p: list[Fraction], q: list[Fraction], asked: dict[str, Any]) -> Any:
    """By how much p against q is over the budget, in 40 digits; 0 or less where it is within."""
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return mp.inf
    with mp.workdps(40):
        top = max(a / b for a, b in zip(p, q, strict=True) if a)
        largest = mp.mpf(top.numerator) / top.denominator
        if math.isinf(asked["alpha"]):
            return mp.log(largest) - mp.mpf(asked["epsilon"])
        alpha = mp.mpf(asked["alpha"])
        total = mp.fsum(
            (mp.mpf(a.numerator) / a.denominator) ** alpha * (mp.mpf(b.numerator) / b.denominator) ** (1 - alpha)
            for a, b in zip(p, q, strict=True)
            if a
        )
        over = mp.log(total) / (alpha - 1) - mp.mpf(asked["epsilon"])
        return over if "odds" not in asked else max(over, largest - mp.mpf(asked["odds"]))


def run(first: int = 0, last: int = 100) -> int:
    """Judge the problems of seeds first to last; the number over budget."""
    over = refused = judged = 0
    costs: list[float] = []
    for seed in range(first, last):
        beliefs, asked = problem(seed)
        errors = {}
        for mechanism in ("sparse", "optimal") if seed % 10 == 0 else ("sparse",):
            options: dict[str, Any] = {"rounds": 2} if mechanism == "sparse" else {"keep": None}
            try:
                found = calibrate(beliefs, mechanism=mechanism, **asked, **options)
            except TakifuguError as error:
                refused += 1
                print(f"seed {seed}, {mechanism}: {error}", flush=True)
                continue
            judged += 1
            errors[mechanism] = found.error
            channel = found.to_dict()["channel"]
            for belief in beliefs:
                laws = {secret: published(channel, law) for secret, law in belief.items()}
                for a, b in found.pairs.directed():
                    if excess(laws[a], laws[b], asked) > 0:
                        over += 1
                        print(f"seed {seed}, {mechanism}: {a} against {b} is OVER BUDGET", flush=True)
        if len(errors) == 2 and errors["optimal"] > 1e-6 and math.isinf(asked["alpha"]):
            costs.append(errors["sparse"] / errors["optimal"])
        if seed % 500 == 499:
            print(f"... {seed + 1}: {over} over budget", flush=True)
    beside = f"; at bounded odds it costs {np.median(costs):.4f} of the best, {max(costs):.4f} at most" if costs else ""
    print(f"{judged} channels judged, {over} over budget, {refused} refused{beside}")
    return over


if __name__ == "__main__":
    sys.exit(run(*map(int, sys.argv[1:3])) > 0)
