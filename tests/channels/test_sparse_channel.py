"""A sparse channel against the whole table with the same entries, and its draws against their counts."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.channels.finite_channel import FiniteChannel, SparseChannel
from takifugu.channels.sampling import InsecureSeededBits
from takifugu.errors import InputError
from takifugu.laws.finite import Finite


def sparse_of(table):
    """The entries above zero of a whole table."""
    counts = np.array(table)
    sources, targets = np.nonzero(counts)
    starts = np.searchsorted(sources, np.arange(len(counts) + 1))
    return SparseChannel(range(len(counts)), range(counts.shape[1]), starts, targets, counts[sources, targets])


@st.composite
def random_tables(draw):
    n, m, bits = draw(st.integers(1, 6)), draw(st.integers(1, 6)), draw(st.sampled_from([1, 3, 32, 62]))
    rows = []
    for _ in range(n):
        cuts = sorted(draw(st.lists(st.sampled_from([0, 1, 2**bits // 3, 2**bits]), min_size=m - 1, max_size=m - 1)))
        rows.append([b - a for a, b in zip([0, *cuts], [*cuts, 2**bits], strict=True)])
    return rows


@settings(max_examples=some_of(100))
@given(random_tables(), st.lists(st.floats(0, 1e6), min_size=12, max_size=12), st.sampled_from([1.5, 3.0, math.inf]))
def test_it_is_the_whole_table(table, weights, alpha):
    sparse, whole = sparse_of(table), FiniteChannel(range(len(table)), range(len(table[0])), table)
    n = len(table)
    p, q = Finite(range(n), [w + 0.1 for w in weights[:n]]), Finite(range(n), [w + 0.1 for w in weights[6 : 6 + n]])
    assert sparse.denominator == whole.denominator
    assert sparse.published(p) == whole.published(p)
    assert sparse.extremes == whole.extremes
    assert sparse.kept.tolist() == whole.kept.tolist()
    assert sparse.enclosure(p, q, alpha=alpha, radius_p=0.1) == whole.enclosure(p, q, alpha=alpha, radius_p=0.1)
    assert sparse.worst_odds(p, q) == whole.worst_odds(p, q)
    assert np.allclose(sparse.apply(p).weights, whole.apply(p).weights, rtol=1e-12)
    assert pickle.loads(pickle.dumps(sparse)) == sparse
    assert sparse != whole


def test_a_law_is_published_exactly():
    channel = sparse_of([[3, 1], [0, 4]])
    exact = [Fraction(0.1), Fraction(0.7)]
    masses = channel.published(Finite([0, 1], [0.1, 0.7]))
    truth = [exact[0] * 3 / 4 / sum(exact), (exact[0] + 4 * exact[1]) / 4 / sum(exact)]
    assert [Fraction(a, masses.denominator) for a in masses.numerators] == truth


class AllWords:
    """Every word of three bits once, whatever is asked for: what is drawn then is the counts themselves."""

    def read(self, count):
        return np.tile(np.arange(8, dtype="<u8"), -(-count // 64))[: count // 8].tobytes()


@given(random_tables())
def test_every_word_of_bits_falls_to_the_entry_it_belongs_to(table):
    table = [[count * 8 // sum(row) for count in row] for row in table]
    for row in table:
        row[0] += 8 - sum(row)
    channel = sparse_of(table)
    for place, row in enumerate(table):
        drawn = channel.draw(np.full(8, place), AllWords())
        assert np.bincount(drawn, minlength=len(row)).tolist() == row


def test_rows_of_any_size_are_drawn_in_their_shares():
    channel = sparse_of([[2**61, 2**61, 0], [1, 2**62 - 2, 1]])
    drawn = channel.draw(np.repeat([0, 1], 4000), InsecureSeededBits(1))
    assert abs((drawn[:4000] == 0).mean() - 0.5) < 0.05
    assert set(drawn[4000:].tolist()) == {1}


def test_what_is_no_channel_is_refused():
    good = {"starts": [0, 2, 3], "targets": [0, 1, 1], "counts": [3, 1, 4]}
    for wrong in (
        {"starts": [0, 3]},
        {"starts": [0, 0, 3]},
        {"starts": [1, 2, 3]},
        {"targets": [0, 2, 1]},
        {"targets": [1, 0, 1]},
        {"targets": [0, 0, 1]},
        {"targets": [0, -1, 1]},
        {"counts": [3, 0, 4]},
        {"counts": [3, 2, 4]},
        {"counts": [2, 1, 3]},
        {"counts": [3.0, 1.0, 4.0]},
        {"counts": [2**62, 2**62, 2**62]},
        {"counts": [3, 1]},
        {"targets": []},
    ):
        with pytest.raises(InputError):
            SparseChannel(("a", "b"), ("a", "b"), **(good | wrong))
    with pytest.raises(InputError, match="distinct"):
        SparseChannel(("a", "a"), ("a", "b"), **good)
    assert SparseChannel.constant(["a", "b"], "c").worst_odds() == 1.0
