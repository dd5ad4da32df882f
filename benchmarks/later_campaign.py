"""Columns published one after another, over many random problems: `python -m benchmarks.later_campaign 0 1000`.

Two to four columns of two to five values, two to four secrets, one or two beliefs, rows that nobody has, odds from 1.05
to 20; a random order, columns alone or in twos, random shares of the budget. Everything published together is judged by
adding up fractions over every row and every outcome, which shares no code with the library but the channels' counts.
"""

import itertools
import math
import sys
import time
from fractions import Fraction
from typing import Any

import numpy as np

import takifugu as tk
from takifugu.problems.answer import Answer
from takifugu.problems.domain import Choices
from takifugu.problems.pairs import Pairs
from takifugu.problems.problem import Problem
from takifugu.releases.drawing import drawing_of
from takifugu.releases.joint_account import JointAccount


def problem(rng: np.random.Generator) -> Problem:
    """Random joint laws: mostly close to one another, now and then far, with rows that a secret does not have."""
    sizes = [int(k) for k in rng.integers(2, 6, int(rng.integers(2, 5)))]
    while math.prod(sizes) > 60:
        sizes.pop()
    rows = list(itertools.product(*(range(k) for k in sizes)))
    shared = rng.gamma(0.7, size=len(rows)) + 1e-3
    spread = rng.choice([0.1, 0.5, 2.0])
    names = tuple(f"c{k}" for k in range(len(sizes)))

    def law() -> tk.Finite:
        weights = np.ceil(300 * shared / shared.sum() * np.exp(spread * rng.normal(size=len(rows))))
        weights[rng.random(len(rows)) < rng.choice([0.0, 0.2])] = 0
        weights[0] += 1
        return tk.Finite(rows, weights)

    secrets = [f"s{k}" for k in range(int(rng.integers(2, 5)))]
    beliefs = [{secret: law() for secret in secrets} for _ in range(int(rng.integers(1, 3)))]
    domain = tuple(Choices(tuple(range(k))) for k in sizes)
    made = Problem.of(beliefs)
    return Problem(made.beliefs, Pairs(secrets), Answer("row", names, ("secret",), domain=domain))


def largest_odds(belief: Any, columns: tuple[str, ...], published: list[Any]) -> Fraction | None:
    """The largest ratio of two secrets' probabilities of any outcome; None where one is impossible."""
    told: dict[Any, dict[Any, Fraction]] = {}
    for secret, law in belief.items():
        total, told[secret] = sum(map(int, law.weights)), {}
        for row, weight in zip(law.values, law.weights.tolist(), strict=True):
            if not weight:
                continue
            lines = []
            for channel, names in published:
                entry = tuple(row[columns.index(name)] for name in names)
                counts = channel.counts[channel.inputs.index(entry if len(entry) > 1 else entry[0])].tolist()
                lines.append([(y, c) for y, c in enumerate(counts) if c])
            size = math.prod(channel.denominator for channel, _ in published)
            for outcome in itertools.product(*lines):
                seen = tuple(y for y, _ in outcome)
                chance = Fraction(int(weight) * math.prod(c for _, c in outcome), total * size)
                told[secret][seen] = told[secret].get(seen, Fraction(0)) + chance
    worst = Fraction(0)
    for a, b in itertools.permutations(told, 2):
        for seen, chance in told[a].items():
            if seen not in told[b]:
                return None
            worst = max(worst, chance / told[b][seen])
    return worst


def run(first: int, last: int) -> None:
    """Count what is over budget."""
    over, refused, turns, closest, start = 0, 0, 0, 0.0, time.process_time()
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        given, epsilon = problem(rng), float(np.exp(rng.uniform(math.log(math.log(1.05)), math.log(math.log(20)))))
        account, published = JointAccount("people", given, epsilon), []
        order = [str(name) for name in rng.permutation(list(account.columns))]
        try:
            while order:
                names = tuple(order[: int(rng.integers(1, 3))])
                del order[: len(names)]
                spend = float(rng.uniform(0.1, 0.9)) * (1 - account.fraction_spent) if order else None
                calibration = account.calibrate(*names, spend=spend)
                account, _ = account.charged(calibration, salt=b"")
                published.append((drawing_of(calibration, {}).channel, names))
                turns += 1
        except tk.TakifuguError as error:
            refused += 1
            print(f"seed {seed}: {error}", flush=True)
        for belief in given.beliefs if published else ():
            worst = largest_odds(belief, account.columns, published)
            loss = math.inf if worst is None else math.log(worst)
            closest = max(closest, loss / epsilon)
            if loss > epsilon * (1 + 1e-13):
                over += 1
                print(f"seed {seed}: OVER BUDGET, {loss} > {epsilon}", flush=True)
    spent = time.process_time() - start
    print(
        f"{last - first} problems, {turns} turns: {over} over budget, {refused} refused, closest {closest:.9f} of the "
        f"budget, {spent:.0f} s"
    )


if __name__ == "__main__":
    run(*map(int, sys.argv[1:3]))
