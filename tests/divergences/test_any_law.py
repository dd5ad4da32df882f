"""`renyi_divergence` of every kind of law, against sums and 50-digit determinants."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
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


@settings(max_examples=30)
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
    with pytest.raises(tk.InputError, match="noise on the line"):
        tk.renyi_divergence(p, p, alpha=2, theta=1.0)
    with pytest.raises(tk.InputError, match="both must be about the same"):
        tk.renyi_divergence(p, tk.VectorMixture.gaussian([0], [[1]]), alpha=2)
    with pytest.raises(tk.InputError, match="alpha"):
        tk.renyi_divergence(p, p, alpha=math.inf)
