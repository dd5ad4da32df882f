"""Random problems for the repair, and a judge that shares no code with it: fractions and mpmath.

`python tests/mechanisms/repair_campaign.py 10000` runs a campaign and prints what it found.
"""

import itertools
import math
import sys
from dataclasses import dataclass, field
from fractions import Fraction

import mpmath as mp
import numpy as np

from takifugu.errors import CalibrationError
from takifugu.mechanisms.optimal.finite_problem import Promise
from takifugu.mechanisms.optimal.repair import repaired

ORDERS = (1.01, 1.5, 2.0, 3.0, 8.0, 64.0, math.inf)


@dataclass
class Problem:
    matrix: np.ndarray
    promise: dict
    allowed: np.ndarray | None
    bits: int
    moves: list = field(default_factory=list)  # for each law, which mass an adversary may have moved


def problem(rng: np.random.Generator) -> Problem:
    """A tiny problem with any laws, any wishes, and a matrix that mostly is no solution of it."""
    n, m, laws = int(rng.integers(1, 6)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    pairs = [pair for pair in itertools.permutations(range(laws), 2) if rng.random() < 0.8] or [(0, 1)]
    promise = {
        "laws": _weights(rng, laws, n),
        "pairs": pairs,
        "alpha": float(rng.choice(ORDERS)),
        "epsilon": float(np.exp(rng.uniform(math.log(0.001), math.log(5)))) if rng.random() < 0.8 else None,
        "radius": rng.uniform(0, 0.5, laws) * (rng.random(laws) < 0.7) if rng.random() < 0.3 else None,
    }
    if promise["epsilon"] is None or rng.random() < 0.2:
        promise["odds"] = float(rng.choice([1.001, 1.5, 3, 10]))
    allowed = rng.random((n, m)) < 0.8 if rng.random() < 0.2 else None
    return Problem(_matrix(rng, n, m), promise, allowed, int(rng.choice([6, 16, 32])))


def _weights(rng, laws, n):
    kind = rng.integers(4)
    if kind == 0:
        weights = rng.integers(0, 50, (laws, n)).astype(float)
    elif kind == 1:
        weights = rng.dirichlet(np.full(n, 0.5), laws)
    elif kind == 2:
        weights = np.exp(rng.uniform(-700, 700, (laws, n)))
    else:
        weights = np.eye(n)[rng.integers(0, n, laws)]
    weights[:, 0] += ~weights.any(axis=1)
    return weights


def _matrix(rng, n, m):
    kind = rng.integers(6)
    rows = rng.dirichlet(np.full(m, 0.3), n)
    if kind == 0:  # nearly constant, with dust
        rows = rows[:1] + 10.0 ** rng.uniform(-12, -1) * rng.random((n, m)) * (rng.random((n, m)) < 0.5)
    elif kind == 1:
        rows = np.eye(n, m)
    elif kind == 2:  # a solver that lies
        rows[rng.random((n, m)) < 0.3] = rng.choice([math.nan, math.inf, -math.inf, -1.0, 1e300, 5e-324])
    elif kind == 3:
        rows *= 10.0 ** rng.uniform(-12, 12, (n, m))
    elif kind == 4:
        rows = np.zeros((n, m))
    return rows


def over_budget(given: Problem, counts: np.ndarray, rng: np.random.Generator) -> str:
    """What the counts break, or nothing: the promise for the laws themselves and for some priors around them."""
    table = [[Fraction(int(count)) / 2**given.bits for count in row] for row in counts]
    if any(sum(row) != 1 or min(row) < 0 for row in table):
        return "a row is no distribution"
    if given.allowed is not None and any(
        share and not may
        for row, open_to in zip(table, given.allowed, strict=True)
        for share, may in zip(row, open_to, strict=True)
    ):
        return "a forbidden move"
    radius = given.promise["radius"]
    for i, j in given.promise["pairs"]:
        for attempt in range(1 if radius is None else 8):
            p, q = (_published(given, table, law, rng if attempt else None) for law in (i, j))
            if not _kept(p, q, given.promise):
                return f"pair {i}, {j} in attempt {attempt}"
    return ""


def _published(given, table, law, rng):
    exact = [Fraction(weight) for weight in given.promise["laws"][law].tolist()]
    prior = [weight / sum(exact) for weight in exact]
    if rng is not None:  # move mass t from the inputs to one of them, as an adversary may
        left, target = Fraction(float(given.promise["radius"][law])), int(rng.integers(len(prior)))
        for x in rng.permutation(len(prior)).tolist():
            moved = min(left, prior[x]) if x != target else Fraction(0)
            prior[x], prior[target], left = prior[x] - moved, prior[target] + moved, left - moved
    return [sum(share * row[y] for share, row in zip(prior, table, strict=True)) for y in range(len(table[0]))]


def _kept(p, q, promise):
    if promise.get("odds") is not None and any(a > Fraction(promise["odds"]) * b for a, b in zip(p, q, strict=True)):
        return False
    if promise["epsilon"] is None:
        return True
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        return False
    with mp.workdps(60):
        epsilon, alpha = mp.mpf(promise["epsilon"]), promise["alpha"]
        logs = [
            (mp.log(a.numerator) - mp.log(a.denominator), mp.log(b.numerator) - mp.log(b.denominator))
            for a, b in zip(p, q, strict=True)
            if a > 0
        ]
        if alpha == math.inf:
            return bool(max(a - b for a, b in logs) <= epsilon)
        order = mp.mpf(alpha)
        return bool(
            mp.log(mp.fsum(mp.exp(order * a + (1 - order) * b) for a, b in logs))
            <= (order - 1) * epsilon + mp.mpf(10) ** -50
        )


def campaign(count: int, seed: int) -> dict[str, int]:
    """How many problems were repaired, refused, and over budget."""
    rng = np.random.default_rng(seed)
    found = {"proved": 0, "refused": 0, "over budget": 0}
    for _ in range(count):
        given = problem(rng)
        try:
            counts = repaired(given.matrix, Promise(**given.promise), allowed=given.allowed, bits=given.bits)
        except CalibrationError:
            # Only forbidden moves can make a promise impossible: a constant row keeps every other.
            assert given.allowed is not None
            assert not given.allowed.all(axis=0).any()
            found["refused"] += 1
            continue
        found["over budget" if over_budget(given, counts, rng) else "proved"] += 1
    return found


if __name__ == "__main__":
    print(campaign(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0))
