import itertools
import pickle

import numpy as np
import pytest

from takifugu.problems.problem import Pairs


@pytest.mark.parametrize("chosen", [None, [("a", "d"), ("b", "a"), ("a", "b"), ("c", "d")]])
def test_is_a_sequence(chosen):
    pairs = Pairs("abcd", chosen)
    expected = list(itertools.combinations("abcd", 2)) if chosen is None else [("a", "d"), ("b", "a"), ("c", "d")]
    assert list(pairs) == expected == pairs
    assert [pairs[i] for i in range(len(pairs))] == expected
    assert pairs[-1] == expected[-1]
    assert pairs[1:] == expected[1:]
    assert all(pair in pairs and pair[::-1] in pairs for pair in expected)
    assert ("a", "a") not in pairs
    assert ("a", "z") not in pairs
    assert pickle.loads(pickle.dumps(pairs)) == pairs
    assert hash(Pairs("abcd", chosen)) == hash(pairs)
    with pytest.raises(IndexError):
        pairs[len(expected)]


@pytest.mark.parametrize("chosen", [None, [("a", "d"), ("b", "a"), ("c", "d")]])
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_blocks_hold_each_directed_pair_once(chosen, size):
    pairs = Pairs("abcd", chosen)
    found = []
    for block in pairs.directed_blocks(size):
        i, j = np.broadcast_arrays(*block)
        found += [(pairs.secrets[a], pairs.secrets[b]) for a, b in zip(i.ravel(), j.ravel(), strict=True) if a != b]
    assert sorted(found) == sorted(pairs.directed())


def test_every_pair_of_many_secrets_takes_no_memory():
    pairs = Pairs(range(20_000))
    assert len(pairs) == 199_990_000
    assert pairs[-1] == (19_998, 19_999)
    assert "199,990,000 pairs" in repr(pairs)
