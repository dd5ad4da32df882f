"""proofs/chain.md: losses of steps add where each is bounded whatever was published before, in 50 digits."""

import itertools
import math

import mpmath as mp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.divergences.discrete import finite_divergence as divergence


def loss(p, q, alpha):
    """D_α of two finite laws, by the definition."""
    if math.isinf(alpha):
        return mp.log(max(a / b for a, b in zip(p, q, strict=True)))
    total = mp.fsum(a**alpha * b ** (1 - mp.mpf(alpha)) for a, b in zip(p, q, strict=True))
    return mp.log(total) / (alpha - 1)


def _law(weights):
    exact = [mp.mpf(float(x)) for x in weights]
    return [x / mp.fsum(exact) for x in exact]


def chain(rng, alpha, rows, outputs, turns):
    """What two laws of rows publish in turn, and the largest sum of the steps' losses along any course.

    Each step has a channel of its own for every course, and looks at the whole row.
    """
    laws = [_law(law) for law in rng.dirichlet(np.ones(rows), 2)]
    courses = {(): (laws, mp.mpf(0))}
    for _ in range(turns):
        longer = {}
        for course, (joint, spent) in courses.items():  # joint: of each law, the row and the course together
            flat = rng.choice([0.1, 1.0, 10.0])
            channel = [_law(row) for row in rng.dirichlet(np.full(outputs, flat), rows) + 1e-9]
            told = [[mp.fsum(law[x] * channel[x][y] for x in range(rows)) for y in range(outputs)] for law in joint]
            given = [[one / mp.fsum(law) for one in line] for line, law in zip(told, joint, strict=True)]
            here = spent + loss(*given, alpha)
            for y in range(outputs):
                longer[*course, y] = ([[law[x] * channel[x][y] for x in range(rows)] for law in joint], here)
        courses = longer
    both = [[mp.fsum(joint[s]) for joint, _ in courses.values()] for s in (0, 1)]
    return both, max(spent for _, spent in courses.values())


@settings(max_examples=some_of(40))
@given(st.integers(0, 10_000), st.sampled_from([1.1, 2.0, 5.0, math.inf]), st.integers(1, 3))
def test_the_loss_of_all_steps_is_at_most_the_largest_sum_along_a_course(seed, alpha, turns):
    with mp.workdps(50):
        (p, q), sums = chain(np.random.default_rng(seed), alpha, 3, 3, turns)
        assert mp.almosteq(mp.fsum(p), 1)
        together = loss(p, q, alpha)
        assert together <= sums + mp.mpf(10) ** -40
        found = divergence(np.array(p, dtype=float), np.array(q, dtype=float), alpha=alpha)
        assert math.isclose(found, float(together), rel_tol=1e-9, abs_tol=1e-12)


def test_without_bayes_rule_budgets_do_not_add():
    """Z, and Z plus the secret, each tell next to nothing; together they tell all."""
    n = 100
    z = list(range(n))
    shifted = [(k + 1) % n for k in z]  # of the second secret; on a circle neither column tells anything
    first = {(k, k) for k in z}
    second = {(k, shifted[k]) for k in z}
    for column in (0, 1):
        counts = [sorted(row[column] for row in rows) for rows in (first, second)]
        assert counts[0] == counts[1]
    assert not first & second
    assert len(set(itertools.chain(first, second))) == 2 * n
