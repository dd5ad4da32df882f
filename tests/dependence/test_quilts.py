"""Quilts against fractions, against releases enumerated path by path, and against known scales."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from takifugu.dependence import Count, MarkovChain, MarkovQuilt

CHAIN = MarkovChain([[0.8, 0.2], [0.4, 0.6]])


def two_states(a, b):
    """P(1 | 0) and P(1 | 1)."""
    return MarkovChain([[1 - Fraction(a), Fraction(a)], [1 - Fraction(b), Fraction(b)]])


def test_known_scales():
    assert MarkovQuilt(CHAIN, 24).scale(math.log(3)) == pytest.approx(6.89236518262286, rel=1e-11)
    known = {("0.4", "0.6"): 3.572, ("0.3", "0.7"): 6.724, ("0.2", "0.8"): 13.075, ("0.1", "0.9"): 31.738}
    for entries, scale in known.items():
        assert MarkovQuilt(two_states(*entries), 100).scale(1.0) == pytest.approx(scale, abs=6e-4)


def test_scores_of_every_quilt():
    quilts = MarkovQuilt(MarkovChain([[0.9, 0.1], [0.4, 0.6]], start=[0.8, 0.2]), 3)
    assert quilts.each[0].scores(2, 10.0) == pytest.approx(np.array([[0.3, 0.24366], [0.24366, 0.15585]]), abs=1e-5)
    best = quilts.quilt(2, 10.0)
    assert (best.before, best.after, best.nearby) == (1, 1, 1)


def laws_of(chain, length, time):
    """P(path | state at a time), for every path and state."""
    found = {}
    for path in itertools.product(range(len(chain.states)), repeat=length):
        p = chain.start[path[0]]
        for a, b in itertools.pairwise(path):
            p *= chain.transition[a][b]
        found.setdefault(path[time - 1], {})[path] = p
    return {
        s: {path: p / sum(paths.values()) for path, p in paths.items()}
        for s, paths in found.items()
        if any(paths.values())
    }


rows = st.lists(st.integers(1, 9), min_size=2, max_size=2).map(lambda w: [Fraction(x, sum(w)) for x in w])
chains = st.builds(MarkovChain, st.lists(rows, min_size=2, max_size=2), rows)


def flipped(paths, share):
    """The law of the records, each turned around with a probability: ε-differentially private, ε = ln((1−s)/s)."""
    found = {}
    for path, p in paths.items():
        for out in itertools.product((0, 1), repeat=len(path)):
            off = sum(a != b for a, b in zip(path, out, strict=True))
            found[out] = found.get(out, 0) + p * share**off * (1 - share) ** (len(path) - off)
    return found


@settings(max_examples=25, deadline=None)
@given(chains, st.integers(1, 5), st.sampled_from([Fraction(1, 4), Fraction(2, 5)]), st.data())
def test_no_release_tells_more_than_its_quilt(chain, length, share, data):
    """A randomised response and, from the same records, a count after geometric noise: both bounds, and their sum."""
    first, second = math.log((1 - share) / share), 0.3
    r = math.exp(-second)
    quilts, time = MarkovQuilt(chain, length), data.draw(st.integers(1, length))
    bound = quilts.epsilon(first + second)
    joint = {}
    for state, paths in laws_of(chain, length, time).items():
        law = {}
        for path, p in paths.items():
            for out, q in flipped({path: p}, share).items():
                for y in range(-3, length + 4):  # beyond both ends the ratio stays what it is there
                    law[out, y] = law.get((out, y), 0.0) + float(q) * r ** abs(y - sum(path))
        joint[state] = law
    worst = max((math.log(joint[x][k] / joint[z][k]) for x in joint for z in joint for k in joint[x]), default=0.0)
    assert worst <= bound + 1e-12


@settings(max_examples=25, deadline=None)
@given(chains, st.integers(1, 6), st.floats(0.2, 3))
def test_its_noise_hides_the_state_at_every_time(chain, length, epsilon):
    scale = MarkovQuilt(chain, length).scale(epsilon)
    for belief in chain.priors(length, Count(1)):
        laws = [tk.Mixture(law.weights, list(law.values), [0] * len(law)) for law in belief.values()]
        for p, q in itertools.permutations(laws, 2):
            assert tk.max_divergence(p, q, noise=tk.LaplaceNoise(scale)) <= epsilon + 1e-12


@settings(max_examples=15, deadline=None)
@given(chains, st.integers(1, 6), st.floats(0.02, 0.5), st.sampled_from([1.5, 3.0, 8.0]))
def test_no_concentrated_release_tells_more(chain, length, rho, alpha):
    """A count with Gaussian noise of variance 1/2ρ is ρ-zero-concentrated differentially private."""
    bound, noise = MarkovQuilt(chain, length).renyi(alpha, rho), tk.GaussianNoise(math.sqrt(1 / (2 * rho)))
    for belief in chain.priors(length, Count(1)):
        laws = [tk.Mixture(law.weights, list(law.values), [0] * len(law)) for law in belief.values()]
        for p, q in itertools.permutations(laws, 2):
            assert tk.renyi_divergence(p, q, alpha=alpha, noise=noise) <= bound + 1e-9


@settings(max_examples=30, deadline=None)
@given(chains, st.integers(2, 7), st.data())
def test_ratios_are_never_below_those_of_fractions(chain, length, data):
    quilts, time = MarkovQuilt(chain, length), data.draw(st.integers(1, length))
    laws, told = laws_of(chain, length, time), quilts.each[0].told(time)
    for before, after in itertools.product(range(time), range(length - time + 1)):
        ends = [time - 1 - before] * (before > 0) + [time - 1 + after] * (after > 0)
        seen = {s: {} for s in laws}
        for state, paths in laws.items():
            for path, p in paths.items():
                at = tuple(path[k] for k in ends)
                seen[state][at] = seen[state].get(at, 0) + p
        ratios = [math.log(p / seen[z][at]) for x in seen for z in seen for at, p in seen[x].items()]
        assert max(ratios) <= told[before, after] <= max(ratios) + 1e-9


def test_what_no_float_tells_is_infinite():
    tiny = Fraction(1, 10**200)
    chain = MarkovChain([[1 - tiny, tiny], [tiny, 1 - tiny]], start=[0.5, 0.5])
    told = MarkovQuilt(MarkovChain([[1 - tiny, tiny, 0], [0, 1 - tiny, tiny], [1, 0, 0]]), 4).each[0].told(1)
    assert math.isinf(told[0, 2])  # two steps of 1e-200
    assert MarkovQuilt(chain, 4).scale(1.0) == pytest.approx(4.0)  # only the empty quilt is left
    blocked = MarkovChain([[0, 1], [0.5, 0.5]])
    assert math.isinf(MarkovQuilt(blocked, 3).each[0].told(1)[0, 1])
    assert MarkovQuilt(blocked, 3).scale(1.0) <= 3 * (1 + 1e-11)


def test_less_is_promised_to_longer_chains_only_up_to_a_point():
    at = [MarkovQuilt(CHAIN, n).epsilon(0.05) for n in (5, 24, 96)]
    assert at[0] < at[1]
    assert at[2] == pytest.approx(at[1], rel=1e-6)


def test_what_is_no_quilt_is_refused():
    with pytest.raises(tk.InputError, match="length"):
        MarkovQuilt(CHAIN, 0)
    with pytest.raises(tk.InputError, match="coarser"):
        MarkovQuilt(CHAIN, 10**6)
    with pytest.raises(tk.InputError, match="time is at most 5"):
        MarkovQuilt(CHAIN, 5).quilt(6, 1.0)
