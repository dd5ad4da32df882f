"""Random problems calibrated end to end, and judged by arithmetic that shares no code with the calibration.

`python -m benchmarks.channel_campaign 10000` draws small problems of every kind that `calibrate` takes, publishes
their laws through the channel that comes back in fractions, and compares the loss with the promise in 60 digits. It
prints how many were over budget, refused (wishes that cannot be kept), and how tight the channels are.
"""

import itertools
import math
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np

import takifugu as tk
from takifugu.errors import MechanismError

ORDERS = (1.1, 1.5, 2.0, 3.0, 8.0, 64.0)


def problem(rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    """Beliefs and what is asked of them: 2 to 5 values, 2 to 4 secrets, 1 or 2 beliefs, any promise, any wish."""
    n, secrets = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    kind = rng.integers(3)
    values: list[Any] = [float(x) for x in np.round(np.cumsum(rng.uniform(0.1, 3, n)), 3)]
    if kind == 1:
        values = [f"label {k}" for k in range(n)]
    elif kind == 2:
        values = [(k % 2, f"ward {k // 2}") for k in range(n)]
    beliefs = [
        {f"s{s}": tk.Finite(values, weights(rng, n)) for s in range(secrets)} for _ in range(int(rng.integers(1, 3)))
    ]
    asked: dict[str, Any] = {"keep": [None, "marginal", "mean" if kind == 0 else None][rng.integers(3)]}
    which = rng.random()
    if which > 0.5:
        asked |= {
            "alpha": float(rng.choice(ORDERS)),
            "epsilon": float(np.exp(rng.uniform(math.log(0.01), math.log(5)))),
        }
    if which < 0.6:
        asked["odds"] = float(rng.choice([1.01, 1.5, 3, 10, 100]))
    asked["loss"] = [None, "change", "absolute" if kind == 0 else None, rng.uniform(0, 3, (n, n)).tolist()][
        rng.integers(4)
    ]
    if rng.random() < 0.2:
        asked["radius"] = float(rng.uniform(0, 0.1))
    if rng.random() < 0.1:
        asked["forbidden"] = [(values[0], values[-1])]
    if rng.random() < 0.1:
        asked["diagonal"] = float(rng.uniform(0, 0.5))
    if rng.random() < 0.05 and kind == 0:
        asked |= {"unbiased": True, "keep": None}
    names = [f"s{s}" for s in range(secrets)]
    pairs = [pair for pair in itertools.combinations(names, 2) if rng.random() < 0.8]
    if pairs and rng.random() < 0.3:
        asked["pairs"] = pairs
    return (beliefs[0] if len(beliefs) == 1 else beliefs), {key: v for key, v in asked.items() if v is not None} | {
        "keep": asked["keep"]
    }


def weights(rng: np.random.Generator, n: int) -> list[float]:
    """Counts, shares, spiky shares, or nearly a point."""
    kind = rng.integers(4)
    if kind == 0:
        found = rng.multinomial(int(rng.integers(5, 400)), rng.dirichlet(np.ones(n))).astype(float)
    elif kind == 1:
        found = rng.dirichlet(np.full(n, 3.0))
    elif kind == 2:
        found = rng.dirichlet(np.full(n, 0.2)) + 1e-9
    else:
        found = np.full(n, 1e-6) + np.eye(n)[rng.integers(n)]
    return [float(w) for w in found] if found.sum() > 0 else [1.0] * n


def over_budget(priors: Any, asked: dict[str, Any], channel: Any, rng: np.random.Generator) -> str:
    """What a channel breaks, or nothing; looking only at its integers and at the laws as they were given."""
    rows = [[Fraction(int(c), int(channel.denominator)) for c in row] for row in channel.counts]
    if any(sum(row) != 1 or min(row) < 0 for row in rows):
        return "a row is no distribution"
    place = {value: k for k, value in enumerate(channel.inputs)}
    for true, other in asked.get("forbidden", []):
        if rows[place[true]][list(channel.outputs).index(other)]:
            return "a forbidden move"
    beliefs = priors if isinstance(priors, list) else [priors]
    radius = Fraction(asked.get("radius", 0.0))
    for belief in beliefs:
        pairs = asked.get("pairs", list(itertools.combinations(belief, 2)))
        for a, b in [*pairs, *((b, a) for a, b in pairs)]:
            for attempt in range(4 if radius else 1):
                p, q = (published(belief[s], rows, place, radius, rng if attempt else None) for s in (a, b))
                if not kept(p, q, asked):
                    return f"{a} against {b}, attempt {attempt}"
    return ""


def published(
    law: Any, rows: list[list[Fraction]], place: dict[Any, int], radius: Fraction, rng: np.random.Generator | None
) -> list[Fraction]:
    """The law of what is published, of a prior that an adversary moved by up to the radius where `rng` is given."""
    total = sum(Fraction(w) for w in law.weights.tolist())
    prior = [Fraction(0)] * len(rows)
    for value, weight in zip(law.values, law.weights.tolist(), strict=True):
        prior[place[value]] += Fraction(weight) / total
    if rng is not None:
        left, target = radius, int(rng.integers(len(prior)))
        for x in rng.permutation(len(prior)).tolist():
            moved = min(left, prior[x]) if x != target else Fraction(0)
            prior[x], prior[target], left = prior[x] - moved, prior[target] + moved, left - moved
    return [sum(share * row[y] for share, row in zip(prior, rows, strict=True)) for y in range(len(rows[0]))]


def kept(p: list[Fraction], q: list[Fraction], asked: dict[str, Any]) -> bool:
    """Odds in fractions, orders in 60 digits with room for the last ten of them."""
    if "odds" in asked and any(a > Fraction(asked["odds"]) * b for a, b in zip(p, q, strict=True)):
        return False
    if "alpha" not in asked:
        return True
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        return False
    with mp.workdps(60):
        order = mp.mpf(asked["alpha"])
        terms = [mp.exp(order * _log(a) + (1 - order) * _log(b)) for a, b in zip(p, q, strict=True) if a > 0]
        return bool(mp.log(mp.fsum(terms)) <= (order - 1) * mp.mpf(asked["epsilon"]) + mp.mpf(10) ** -50)


def _log(x: Fraction) -> mp.mpf:
    return mp.log(x.numerator) - mp.log(x.denominator)


def run(count: int = 200, seed: int = 0) -> Counter[str]:
    """Calibrate, judge and count; print the seed of whatever is over budget."""
    told: Counter[str] = Counter()
    gaps = []
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        priors, asked = problem(rng)
        try:
            found = tk.calibrate(priors, **asked)
        except MechanismError:
            told["wishes refused"] += 1
            continue
        broken = over_budget(priors, asked, found.channel, rng)
        told["over budget" if broken else "kept"] += 1
        if broken:
            print(f"seed {seed}, {k}: {broken}", flush=True)
        if found.lower_bound > found.error:
            told["bound above the channel"] += 1
        if found.error > 1e-9:
            gaps.append(1 - found.lower_bound / found.error)
        if (k + 1) % 500 == 0:
            print(f"after {k + 1:,}: {dict(told)}", flush=True)
    print(dict(told), f"{sum(g <= 1e-3 for g in gaps)} of {len(gaps)} within 0.1 % of the proved bound after repair")
    return told


if __name__ == "__main__":
    run(*(int(argument) for argument in sys.argv[1:3]))
