"""Quilts of trees: against every connected part cut off one by one, against chains, and against releases."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from takifugu.dependence import MarkovQuilt

CHAIN = tk.MarkovChain([[0.8, 0.2], [0.4, 0.6]])
THREE = tk.MarkovChain([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.25, 0.25, 0.5]], start=[0.5, 0.3, 0.2])
TREES = {
    "star": [None, 0, 0, 0, 0],
    "path": [None, 0, 1, 2, 3, 4],
    "fork": [None, 0, 1, 1, 0, 4],
    "binary": [None, 0, 0, 1, 1, 2, 2],
    "alone": [None],
}


def joint(chain, parents):
    """Every outcome with its probability."""
    for states in itertools.product(range(len(chain.states)), repeat=len(parents)):
        p = float(chain.start[states[0]])
        for node, parent in enumerate(parents[1:], start=1):
            p *= float(chain.transition[states[parent]][states[node]])
        yield states, p


def quilts_one_by_one(chain, parents, node):
    """The nearby records and the largest log-ratio of every connected part that holds a record."""
    edges = [(k, parent) for k, parent in enumerate(parents) if parent is not None]
    outcomes = list(joint(chain, parents))
    others = [k for k in range(len(parents)) if k != node]
    for size in range(len(parents)):
        for more in itertools.combinations(others, size):
            part, reached = {node, *more}, {node}
            for _ in parents:
                reached |= {a for a, b in edges if b in reached and a in part} | {
                    b for a, b in edges if a in reached and b in part
                }
            if reached != part:
                continue
            quilt = sorted(
                {a for a, b in edges if b in part and a not in part}
                | {b for a, b in edges if a in part and b not in part}
            )
            laws = {}
            for states, p in outcomes:
                at = tuple(states[k] for k in quilt)
                law = laws.setdefault(states[node], {})
                law[at] = law.get(at, 0) + p
            told = 0.0
            for x, z in itertools.permutations(laws, 2):
                a, b = sum(laws[x].values()), sum(laws[z].values())
                if a and b:
                    told = max(
                        [
                            told,
                            *(
                                math.log(p / a * b / laws[z][q]) if laws[z][q] else math.inf
                                for q, p in laws[x].items()
                                if p
                            ),
                        ]
                    )
            yield len(part), told


@pytest.mark.parametrize(
    "chain", [CHAIN, THREE, tk.MarkovChain([[0.9, 0.1], [1, 0]], start=[0.3, 0.7])], ids=["two", "three", "zeros"]
)
@pytest.mark.parametrize("parents", TREES.values(), ids=TREES)
def test_every_quilt_of_a_tree_is_weighed(chain, parents):
    quilts = MarkovQuilt(chain, parents=parents)
    for node in range(len(parents)):
        known = list(quilts_one_by_one(chain, parents, node))
        for spent in (0.01, 0.1, 1.0):
            least = min(told + spent * nearby for nearby, told in known)
            tree = quilts.each[0]
            found = (tree.told(node + 1) + spent * tree.nearby(node + 1)).min()
            assert least <= found <= least + 1e-9


def test_a_path_is_a_chain():
    path = [None, *range(23)]
    for chain in (CHAIN, THREE):
        tree, line = MarkovQuilt(chain, parents=path), MarkovQuilt(chain, 24)
        assert tree.scale(math.log(3)) == pytest.approx(line.scale(math.log(3)), rel=1e-9)
        assert tree.epsilon(0.1) == pytest.approx(line.epsilon(0.1), rel=1e-9)
        assert tree.renyi(3, 0.01) >= line.renyi(3, 0.01)
    assert MarkovQuilt(CHAIN, parents=path).quilt(12, 1.0).nearby == MarkovQuilt(CHAIN, 24).quilt(12, 1.0).nearby


rows = st.lists(st.integers(1, 9), min_size=2, max_size=2).map(lambda w: [Fraction(x, sum(w)) for x in w])


@settings(max_examples=25, deadline=None)
@given(st.lists(rows, min_size=2, max_size=2), rows, st.sampled_from(list(TREES)), st.floats(0.05, 1.5))
def test_no_release_of_a_tree_tells_more(transition, start, name, epsilon):
    """Each record flipped by a coin, and their number with geometric noise."""
    chain, parents = tk.MarkovChain(transition, start=start), TREES[name]
    outcomes = list(joint(chain, parents))
    states = np.array([one for one, _ in outcomes])
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    flips = np.where(states[:, None, :] == states[None, :, :], keep, 1 - keep).prod(axis=2)
    counts = np.exp(-epsilon * np.abs(np.arange(-3, len(parents) + 4) - states.sum(axis=1)[:, None]))
    stated = MarkovQuilt(chain, parents=parents).epsilon(epsilon)
    for release in (flips, counts):
        for node in range(len(parents)):
            laws = [np.array([p if one[node] == s else 0.0 for one, p in outcomes]) for s in (0, 1)]
            p, q = (law / law.sum() @ release for law in laws)
            assert max(np.log(p / q).max(), np.log(q / p).max()) <= stated + 1e-12


def test_large_trees_take_a_moment():
    parents = [None, *((k - 1) // 2 for k in range(1, 63))]
    assert 1 < MarkovQuilt(CHAIN, parents=parents).scale(4.0) < 10  # all records together: 15.75


def test_faint_states_are_left_out_or_refused():
    tiny = Fraction(1, 10**200)
    chain = tk.MarkovChain([[1 - tiny, tiny], ["1/2", "1/2"]], start=["1/2", "1/2"])
    assert MarkovQuilt(chain, parents=[None, 0, 0, 0]).scale(1.0) <= 4 * (1 + 1e-9)
    with pytest.raises(tk.InputError, match="too unlikely"):
        MarkovQuilt(
            tk.MarkovChain([[1 - tiny, tiny, 0], [0, 1 - tiny, tiny], [0, 0, 1]], start=[1, 0, 0]), parents=[None, 0, 1]
        ).scale(1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MarkovQuilt(CHAIN, parents=[]), "begin with None"),
        (lambda: MarkovQuilt(CHAIN, parents=[0, 1]), "begin with None"),
        (lambda: MarkovQuilt(CHAIN, parents=[None, 1]), "a record before it"),
        (lambda: MarkovQuilt(CHAIN, parents=[None, None]), "a record before it"),
        (lambda: MarkovQuilt(CHAIN, 5, parents=[None, 0]), "one of length and parents"),
        (lambda: MarkovQuilt(tk.ChainBox.around(CHAIN, 0.1), parents=[None, 0]), "not of boxes"),
    ],
)
def test_what_is_no_tree_is_refused(call, words):
    with pytest.raises(tk.InputError, match=words):
        call()
