"""`renyi_divergence` of every kind of law, against sums and 50-digit determinants."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from vector_problems import gaussian_loss, random_laws

NOTHING = np.zeros((2, 2))


def summed(p: dict, q: dict, alpha: float) -> float:
    total = mp.fsum(mp.mpf(p[x]) ** alpha * mp.mpf(q[x]) ** (1 - alpha) for x in p if p[x])
    return float(mp.log(total) / (alpha - 1))


@given(
    counts=st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20)), min_size=1, max_size=6).filter(
        lambda pairs: any(a for a, _ in pairs)
    ),
    alpha=st.sampled_from([1.5, 2.0, 7.0]),
)
def test_finite_laws_have_a_sum(counts, alpha):
    whole = [sum(side) for side in zip(*counts, strict=True)]
    values = [f"v{k}" for k in range(len(counts))]
    p, q = ({v: c[side] / whole[side] for v, c in zip(values, counts, strict=True)} for side in (0, 1))
    first, second = tk.Finite(values, [c[0] for c in counts]), tk.Finite(values[::-1], [c[1] for c in counts][::-1])
    assert tk.renyi_divergence(first, second, alpha=alpha) == pytest.approx(summed(p, q, alpha), rel=1e-9, abs=1e-12)
    largest = max(p[v] / q[v] for v in values)
    assert tk.renyi_divergence(first, second, alpha=math.inf) == pytest.approx(math.log(largest), abs=1e-12)


def test_finite_laws_on_different_values():
    assert tk.renyi_divergence(tk.Finite(["a"], [1]), tk.Finite(["b"], [1]), alpha=2) == math.inf
    assert tk.renyi_divergence(tk.Finite(["a"], [1]), tk.Finite(["a", "b"], [1, 1]), alpha=2) == pytest.approx(
        math.log(2)
    )
    assert tk.renyi_divergence(tk.Finite([1], [1]), tk.Finite([1.0], [1]), alpha=2) == 0
    assert tk.renyi_divergence(tk.Finite([1], [1]), tk.Finite(["1"], [1]), alpha=2) == math.inf


@settings(max_examples=some_of(30))
@given(seed=st.integers(0, 10**6), d=st.integers(1, 4), alpha=st.sampled_from([1.1, 2.0, 9.0]))
def test_gaussian_vectors_have_a_formula(seed, d, alpha):
    p, q = random_laws(np.random.default_rng(seed), 2, d).values()
    truth = gaussian_loss(p, q, np.zeros((d, d)), alpha=alpha)
    assert tk.renyi_divergence(p, q, alpha=alpha) == pytest.approx(float(truth), rel=1e-9)


def test_mixtures_of_vectors_in_few_dimensions():
    one = tk.VectorMixture([0.4, 0.6], [[0.0, 0.0], [1.0, 1.0]], [np.eye(2), np.eye(2)])
    # Two independent axes of which only the first differs: the divergence is that of the line.
    line = [tk.Mixture([0.4, 0.6], [0.0, 1.0], [1.0, 1.0]), tk.Mixture([0.7, 0.3], [0.0, 1.0], [1.0, 1.0])]
    flat = [tk.VectorMixture(law.weights, [[0.0, 5.0], [1.0, 5.0]], [np.eye(2)] * 2) for law in line]
    assert tk.renyi_divergence(*flat, alpha=2) == pytest.approx(tk.renyi_divergence(*line, alpha=2), rel=1e-6)
    assert tk.renyi_divergence(one, one, alpha=2) == 0.0
    same = tk.VectorMixture([0.3, 0.3, 0.4], [[0.0]] * 3, [[[1.0]]] * 3)
    assert tk.renyi_divergence(same, tk.VectorMixture.gaussian([1.0], [[1.0]]), alpha=3) == pytest.approx(1.5)
    points = [tk.VectorMixture.empirical([[0, 0], [1, 2]], w) for w in ([1, 3], [1, 1])]
    assert tk.renyi_divergence(*points, alpha=2) == pytest.approx(math.log(0.25**2 / 0.5 + 0.75**2 / 0.5))
    wide = tk.VectorMixture([0.5, 0.5], [[0.0, 0.0], [1.0, 0.0]], [9 * np.eye(2)] * 2)
    assert tk.renyi_divergence(wide, one, alpha=2) == math.inf
    assert tk.renyi_divergence(one, tk.VectorMixture.empirical([[0, 0], [1, 2]]), alpha=2) == math.inf


def test_what_is_not_known_is_said_and_not_guessed():
    d4 = [tk.VectorMixture([0.5, 0.5], [[0.0] * 4, [x] * 4], [np.eye(4)] * 2) for x in (1.0, 1.5)]
    with pytest.raises(tk.InputError, match="is not known"):
        tk.renyi_divergence(*d4, alpha=2)
    p = tk.VectorMixture.gaussian([0, 0], np.eye(2))
    for wrong in (tk.Mixture.gaussian(0, 1), tk.Finite([0], [1])):
        with pytest.raises(tk.InputError, match="describe them alike"):
            tk.renyi_divergence(p, wrong, alpha=2)
    with pytest.raises(tk.InputError, match="numbers on the line"):
        tk.renyi_divergence(p, p, alpha=2, theta=1.0)
    with pytest.raises(tk.InputError, match="both must be about the same"):
        tk.renyi_divergence(p, tk.VectorMixture.gaussian([0], [[1]]), alpha=2)
    with pytest.raises(tk.InputError, match="alpha"):
        tk.renyi_divergence(p, p, alpha=math.inf)


@pytest.mark.parametrize("alpha", [1.0000001, 2.5, 1e217, 1e306])
@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([0.2, 0.8, 2e-57], [0.4, 0.6, 9e-149]),  # ln p/q times such an order is beyond floats
        ([0.5, 0.25, 0.25], [0.5, 0.25000000001, 0.25]),  # of a divergence of 1e-24 floats know no digit
        ([1e300, 1e300, 1e-20], [1e300, 1e300, 1e-10]),  # and such shares are no floats
    ],
)
def test_laws_on_points_have_all_their_digits_at_every_order(p, q, alpha):
    with mp.workdps(700):
        one, other = ([mp.mpf(w) / mp.fsum(map(mp.mpf, law)) for w in law] for law in (p, q))
        powers = mp.fsum(
            mp.exp(alpha * mp.log(a) + (1 - mp.mpf(alpha)) * mp.log(b)) for a, b in zip(one, other, strict=True)
        )
        truth = mp.log(powers) / (mp.mpf(alpha) - 1)
    laws = [(tk.Finite(range(3), p), tk.Finite(range(3), q))]
    if max(p) < 1:
        laws.append(tuple(tk.Mixture(np.divide(w, math.fsum(w)), range(3), [0] * 3) for w in (p, q)))
        rows, flat = [[0, 0], [1, 0], [0, 1]], [NOTHING] * 3
        laws.append(tuple(tk.VectorMixture(np.divide(w, math.fsum(w)), rows, flat) for w in (p, q)))
    found = [tk.renyi_divergence(*pair, alpha=alpha) for pair in laws]
    assert found[0] >= truth
    assert found[0] == pytest.approx(float(truth), rel=1e-12, abs=0)
    for other in found[1:]:  # of weights divided by their sum in floats
        assert other == pytest.approx(float(truth), rel=1e-4, abs=1e-30)


def test_normals_of_the_least_and_the_largest_widths_are_not_taken_for_points():
    for mean, narrow, wide, alpha in [(0, 5e-319, 2e284, 1.002), (165.0, 1.5e-320, 1e307, 3.0), (0, 6e-304, 8e279, 2)]:
        with mp.workdps(900):
            order, v, w = mp.mpf(alpha), mp.mpf(narrow) ** 2, mp.mpf(wide) ** 2
            margin = order * w - (order - 1) * v
            logs = mp.log(w / v) - mp.log(margin / w) / (order - 1)
            truth = order * mp.mpf(mean) ** 2 / (2 * margin) + logs / 2
        found = tk.renyi_divergence(tk.Mixture.gaussian(mean, narrow), tk.Mixture.gaussian(0, wide), alpha=alpha)
        assert found >= truth
        assert found == pytest.approx(float(truth), rel=1e-10)


def test_mixtures_at_orders_beyond_balls_are_near_the_order_infinity():
    one, other = (tk.Mixture(w, [0, 1], [1, 1]) for w in ([0.3, 0.7], [0.7, 0.3]))
    for alpha in (1e18, 1e60, 1e300):
        assert tk.renyi_divergence(one, other, alpha=alpha) == pytest.approx(math.log(7 / 3), rel=1e-12)
