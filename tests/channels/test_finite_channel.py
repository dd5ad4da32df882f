"""A finite channel: what becomes of laws, what it loses and costs, and how it is told, against fractions and mpmath."""

import math
import pickle
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.channels.finite_channel import FiniteChannel
from takifugu.channels.listed import hundred, named
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.problems import Renyi, RenyiDivergence

CHANNEL = FiniteChannel((1, 2, 3), ("a", "b"), [[3, 1], [2, 2], [0, 4]])


@st.composite
def random_channels(draw):
    n, m, bits = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.sampled_from([3, 8, 32, 62]))
    rows = []
    for _ in range(n):
        cuts = sorted(draw(st.lists(st.integers(0, 2**bits), min_size=m - 1, max_size=m - 1)))
        rows.append([b - a for a, b in zip([0, *cuts], [*cuts, 2**bits], strict=True)])
    return FiniteChannel(range(n), range(m), rows)


@given(random_channels(), st.lists(st.floats(0, 1e6), min_size=5, max_size=5))
def test_a_law_is_published_exactly(channel, weights):
    weights = [w + 0.1 for w in weights[: len(channel.inputs)]]
    exact = [Fraction(w) for w in weights]
    masses = channel.published(Finite(channel.inputs, weights))
    for y in range(len(channel.outputs)):
        truth = sum(w * int(row[y]) for w, row in zip(exact, channel.counts, strict=True))
        truth /= sum(exact) * channel.denominator
        assert Fraction(masses.numerators[y], masses.denominator) == truth
        assert channel.apply(Finite(channel.inputs, weights)).probabilities[y] == pytest.approx(float(truth), abs=1e-15)


@given(random_channels(), st.sampled_from([1.5, 3.0, math.inf]), st.integers(0, 4), st.integers(0, 4))
def test_the_loss_lies_in_its_enclosure(channel, alpha, i, j):
    n = len(channel.inputs)
    p, q = (Finite([x % n, (x + 1) % n], [3, 1]) for x in (i, j))
    found, estimate = channel.enclosure(p, q, alpha=alpha), channel.loss(p, q, Renyi(alpha, 1).divergence)
    if math.isinf(found.upper):
        assert estimate == found.lower == math.inf
    else:
        assert found.lower - 1e-9 <= estimate <= found.upper + 1e-9


def test_a_loss_against_mpmath():
    p, q = Finite([1, 2], [1, 3]), Finite([3, 2], [1, 1])
    with mp.workdps(40):
        a = [mp.mpf(9) / 16, mp.mpf(7) / 16]  # (3/4 + 3·2/4)/4
        b = [mp.mpf(1) / 4, mp.mpf(3) / 4]
        truth = mp.log(sum(x**3 * y**-2 for x, y in zip(a, b, strict=True))) / 2
        found = CHANNEL.enclosure(p, q, alpha=3.0)
        assert mp.mpf(found.lower) <= truth <= mp.mpf(found.upper)
    assert CHANNEL.loss(p, q, RenyiDivergence(3.0)) == pytest.approx(float(truth), rel=1e-14)


def test_a_radius_only_adds():
    p, q = Finite([1, 2], [1, 1]), Finite([1, 2], [1, 2])
    bare = CHANNEL.enclosure(p, q, alpha=2)
    first = CHANNEL.enclosure(p, q, alpha=2, radius_p=0.1)
    both = CHANNEL.enclosure(p, q, alpha=2, radius_p=0.1, radius_q=0.1)
    assert bare.upper < first.lower <= first.upper < both.lower
    assert CHANNEL.enclosure(p, q, alpha=2, radius_q=1.0).upper == math.inf  # the prior may be all on 3


def test_worst_odds_are_exact_and_rounded_up():
    p, q = Finite([1], [1]), Finite([2], [1])
    assert CHANNEL.worst_odds(p, q) == 2.0
    assert CHANNEL.worst_odds() == math.inf
    third = FiniteChannel((0, 1), (0, 1), [[3, 5], [1, 7]])
    assert third.worst_odds() == 3.0
    uneven = FiniteChannel((0, 1), (0, 1), [[3, 5], [5, 3]]).worst_odds()
    assert Fraction(uneven) >= Fraction(5, 3)
    assert Fraction(math.nextafter(uneven, 0)) < Fraction(5, 3)
    with pytest.raises(InputError, match="two laws"):
        CHANNEL.worst_odds(p)


def test_costs():
    channel = FiniteChannel((0, 10), (0, 10, 20), [[3, 1, 0], [0, 2, 2]])
    square = (np.array([[0.0], [10.0]]) - np.array([0.0, 10.0, 20.0])) ** 2
    assert channel.expected_loss([1, 3], square) == pytest.approx(0.25 * 25 + 0.75 * 50)
    assert channel.share_changed(Finite([10, 0], [3, 1])) == pytest.approx(0.25 * 0.25 + 0.75 * 0.5)
    assert CHANNEL.share_changed([1, 1, 1]) == 1.0
    assert channel.share_changed([1.7e308, 1.7e308]) == pytest.approx(0.375)
    for loss in (square[:1], np.full((2, 3), math.nan)):
        with pytest.raises(InputError, match="loss must be"):
            channel.expected_loss([1, 1], loss)
    for mass in ([1], [0, 0], [1, -1]):
        with pytest.raises(InputError, match="mass must be"):
            channel.share_changed(mass)


def test_identity_and_constant():
    same = FiniteChannel.identity(["x", "y"])
    assert same.matrix.tolist() == [[1, 0], [0, 1]]
    assert (same.denominator, same.share_changed([1, 1])) == (2**32, 0.0)
    law = Finite(["x", "y", "z"], [1, 1, 1])
    blind = FiniteChannel.constant(["x", "y"], law)
    assert blind.counts.sum(axis=1).tolist() == [2**32] * 2
    assert np.abs(blind.counts - 2**32 / 3).max() < 1
    assert blind.worst_odds() == 1.0


def test_it_is_frozen_and_pickles():
    copy = pickle.loads(pickle.dumps(CHANNEL))
    assert copy == CHANNEL
    assert hash(copy) == hash(CHANNEL)
    assert repr(CHANNEL) == "<FiniteChannel from 3 to 2 values, rows of 2**2>"
    assert FiniteChannel((True,), (0,), [[1]]) != FiniteChannel((1,), (0,), [[1]])
    with pytest.raises(AttributeError):
        CHANNEL.counts = 1
    with pytest.raises(ValueError, match="read-only"):
        CHANNEL.counts[0, 0] = 0


@pytest.mark.parametrize(
    ("inputs", "outputs", "counts", "sentence"),
    [
        ((1, 1), (1,), [[4], [4]], "distinct"),
        ((1, "1"), (1,), [[4], [4]], "look alike"),
        ((1,), (1, 2), [[4]], "row per input"),
        ((1,), (1, 2), [4, 0], "row per input"),
        ((1,), (1, 2), [[0.5, 0.5]], "whole numbers"),
        ((1,), (1, 2), [[True, False]], "whole numbers"),
        ((1,), (1, 2), [[-1, 5]], "between 0"),
        ((1,), (1, 2), [[1, 2]], "power of two"),
        ((1,), (1, 2), [[0, 0]], "power of two"),
        ((1, 2), (1,), [[4], [8]], "power of two"),
        ((1,), (1, 2, 3, 4), [[2**62] * 4], "power of two"),
        ((1,), (1, 2, 3, 4, 5), [[2**62] * 4 + [2]], "power of two"),
        ((1,), (1,), [[2**63]], "between 0"),
        ((1,), (1,), [[2**70]], "between 0"),
    ],
)
def test_what_is_no_channel_is_refused(inputs, outputs, counts, sentence):
    with pytest.raises(InputError, match=sentence):
        FiniteChannel(inputs, outputs, counts)


def test_a_law_on_other_values_is_refused_and_not_shown():
    with pytest.raises(InputError, match="not among") as error:
        CHANNEL.apply(Finite([1, "Jane"], [1, 1]))
    assert "Jane" not in str(error.value)
    assert CHANNEL.apply(Finite([1, "Jane"], [1, 0])).probability("a") == 0.75  # no weight, no harm


# ---- in words


def test_sentences():
    channel = FiniteChannel((3, 4.0), (3, 4), [[64, 0], [12, 52]])
    assert channel.sentences() == ["of 100 people with 3, all stay", "of 100 people with 4, 81 stay, 19 become 3"]
    assert channel.sentences(most=1) == ["of 100 people with 4, 81 stay, 19 become 3"]
    assert channel.sentences(most=0) == []
    rows = FiniteChannel([(1, "A")], [(1, "A"), (2, "B"), (3, "C")], [[2**20 - 2**14 - 1, 2**14, 1]])
    assert rows.sentences() == [
        "of 100 people with (1, A), 98 stay, 2 become (2, B), 1 other outcome happens to fewer than 1 in 100"
    ]
    assert FiniteChannel(["a"], ["b"], [[1]]).sentences() == ["of 100 people with a, all become b"]
    assert FiniteChannel([1], [1, 2], [[2**12 - 1, 1]]).sentences() == [
        "of 100 people with 1, nearly all stay, 1 other outcome happens to fewer than 1 in 100"
    ]
    assert "1 becomes 2" in FiniteChannel([1], [1, 2], [[127, 1]]).sentences()[0]


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=40).filter(any))
def test_a_hundred_people_are_a_hundred(counts):
    shares = np.array(counts) / sum(counts)
    people = hundred(shares)
    assert sum(people) == 100
    assert all(abs(a - 100 * b) < 1 + 1e-6 for a, b in zip(people, shares, strict=True))


def test_ties_go_to_the_first():
    assert hundred(np.array([1, 1, 1]) / 3) == [34, 33, 33]
    assert hundred(np.array([0.29, 0.71])) == [29, 71]


def test_values_as_they_stand_in_a_sentence():
    assert [named(v) for v in (4.0, 4.5, "x y", True, (1.0, "A"))] == ["4", "4.5", "x y", "True", "(1, A)"]
