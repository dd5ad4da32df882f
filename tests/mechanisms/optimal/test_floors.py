"""Floors in place of pairs: the same optimum and bound as a row for every pair, and the exact check at one look."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import takifugu as tk
from takifugu.divergences.discrete import Masses
from takifugu.mechanisms.optimal import finite_problem as exact_promise
from takifugu.mechanisms.optimal import linear_program as linear_programs
from takifugu.mechanisms.optimal.finite_problem import Promise
from takifugu.mechanisms.optimal.linear_program import Grouped, grouped, linear
from takifugu.mechanisms.optimal.lower_bound import lower_bound
from takifugu.mechanisms.optimal.program import Program, violation


def program(secrets, *, n=7, beliefs=1, seed=0, **more):
    rng = np.random.default_rng(seed)
    laws = rng.integers(1, 60, (secrets * beliefs, n)).astype(float)
    pairs = [
        (secrets * b + i, secrets * b + j) for b in range(beliefs) for i, j in itertools.permutations(range(secrets), 2)
    ]
    values = np.arange(float(n))
    loss = (values[:, None] - values) ** 2
    given = {"mass": laws.sum(axis=0), "loss": loss, "epsilon": 0.4, "inputs": values, "outputs": values}
    return Program(laws=laws, constraints=tuple(pairs), **given | more)


def radii(count):
    return np.random.default_rng(count).uniform(0.001, 0.01, count)


@pytest.mark.parametrize(
    ("asked", "groups"),
    [
        (program(5), 1),
        (program(4, beliefs=3, keep="marginal"), 3),
        (program(6, keep="mean"), 1),
        (program(6, diagonal=0.2), 1),
        (program(5, chances=np.array([0.5, 0.55, 0.6, 0.5, 0.52])), 1),
        (program(12, radius=radii(12)), 0),  # a law is not within the odds of all that are near it
        (program(3), 0),
    ],
)
def test_floors_find_what_pairs_find(asked, groups, monkeypatch):
    allowed = np.ones(asked.size, dtype=bool)
    assert len(grouped(asked).groups) == groups
    ours = linear(asked, allowed)
    monkeypatch.setattr(linear_programs, "grouped", lambda p: Grouped((), np.arange(len(p.constraints))))
    theirs = linear(asked, allowed)
    assert asked.value(ours.matrix) == pytest.approx(asked.value(theirs.matrix), rel=1e-7)
    assert violation(asked, ours.matrix) <= 0
    proved = [lower_bound(asked, one.duals) for one in (ours, theirs)]
    assert proved[0] == pytest.approx(proved[1], rel=1e-6)
    assert proved[0] <= asked.value(ours.matrix) * (1 + 1e-12)


def test_pairs_that_are_not_all_there_stay_pairs():
    whole = program(5)
    some = replace(whole, constraints=whole.constraints[1:])
    assert grouped(some).groups == ()
    assert len(grouped(some).rest) == len(some.constraints)


@pytest.mark.parametrize("radius", [0.0, 0.004])
@pytest.mark.parametrize("seed", range(6))
def test_one_look_says_what_every_pair_says(seed, radius, monkeypatch):
    """Fractions, pair by pair, are the oracle; some channels are just inside and some just outside."""
    rng = np.random.default_rng(seed)
    laws = rng.integers(1, 40, (7, 4)).astype(float)
    counts = rng.multinomial(1 << 10, rng.dirichlet(np.ones(4) * 30), size=4)
    shares = [[Fraction(int(w), int(law.sum())) for w in law] for law in laws]
    low, high = ([Fraction(int(c), 1 << 10) for c in end(counts, axis=0)] for end in (np.min, np.max))
    out = [[sum(s * int(counts[x, y]) for x, s in enumerate(law)) / (1 << 10) for y in range(4)] for law in shares]
    t = Fraction(radius)
    above, below = (
        [[side(p + sign * t * (h - l), end) for p, l, h, end in zip(law, low, high, limit, strict=True)] for law in out]
        for side, sign, limit in ((min, 1, high), (max, -1, low))
    )
    worst = max(a / b for i, j in itertools.permutations(range(7), 2) for a, b in zip(above[i], below[j], strict=True))
    for odds, kept in ((worst, True), (worst - Fraction(1, 1 << 60), False)):
        asked = Promise(
            laws=laws, pairs=list(itertools.permutations(range(7), 2)), odds=odds, radius=np.full(7, radius)
        )
        assert asked.is_kept(counts) is kept
        monkeypatch.setattr(exact_promise, "_MANY_PAIRS", math.inf)
        assert asked.is_kept(counts) is kept
        monkeypatch.undo()


def test_the_largest_and_the_least_are_exact():
    some = [Masses((1, 2), 3), Masses((3, 4), 7), Masses((2, 9), 11)]
    for found, choose in ((Masses.largest(some), max), (Masses.least(some), min)):
        for place, mass in enumerate(found.numerators):
            assert Fraction(mass, found.denominator) == choose(
                Fraction(m.numerators[place], m.denominator) for m in some
            )


def test_many_secrets_are_hidden_by_one_channel():
    rng = np.random.default_rng(1)
    laws = {k: tk.Finite(range(12), 1 + rng.multinomial(400, rng.dirichlet(np.ones(12) * 8))) for k in range(60)}
    found = tk.calibrate(laws, odds=2)
    assert found.error <= found.lower_bound * (1 + 1e-4)
    assert found.meets_budget()
    published = np.array([law.probabilities @ found.channel.matrix for law in laws.values()])
    used = published.max(axis=0) > 0
    assert (published.max(axis=0)[used] / published.min(axis=0)[used]).max() <= 2 * (1 + 1e-12)
    ends = [list(laws).index(name) for name in found.worst_pair]
    assert (published[ends[0]][used] / published[ends[1]][used]).max() == pytest.approx(2, rel=1e-4)
