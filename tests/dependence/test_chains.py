"""Laws of counts and totals of a chain against all its paths, one by one, in fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from takifugu.dependence import Count, Group, MarkovChain, Total

CHAIN = MarkovChain([[0.8, 0.2], [0.4, 0.6]])


def by_paths(chain, length, numbers):
    """P(answer | state at each time), path by path."""
    states = range(len(chain.states))
    found = [{s: {} for s in states} for _ in range(length)]
    for path in itertools.product(states, repeat=length):
        p = chain.start[path[0]]
        for a, b in itertools.pairwise(path):
            p *= chain.transition[a][b]
        total = sum(numbers[s] for s in path)
        for t, s in enumerate(path):
            found[t][s][total] = found[t][s].get(total, 0) + p
    return found


def test_known_fractions():
    belief = CHAIN.priors(8, Count(1))[3]
    assert belief.label == "the time is 4 of 8"
    assert belief[1].probability(3) == pytest.approx(14336 / 78125, rel=1e-15)
    assert belief[0].probability(3) == pytest.approx(2688 / 15625, rel=1e-15)
    assert belief.shares == pytest.approx({0: 2 / 3, 1: 1 / 3})


def rows(n):
    whole = st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any)
    return whole.map(lambda w: [Fraction(x, sum(w)) for x in w])


chains = st.integers(2, 3).flatmap(lambda n: st.builds(MarkovChain, st.lists(rows(n), min_size=n, max_size=n), rows(n)))


@settings(max_examples=40, deadline=None)
@given(chains, st.integers(1, 5), st.lists(st.sampled_from([-1.5, 0, 0.25, 2]), min_size=3, max_size=3))
def test_paths_counted_one_by_one_agree(chain, length, numbers):
    used = [Fraction(x) for x in numbers[: len(chain.states)]]
    truth = by_paths(chain, length, used)
    found = chain.priors(length, Total(dict(zip(chain.states, numbers, strict=False))))
    assert len(found) == length
    for belief, exact in zip(found, truth, strict=True):
        for state in chain.states:
            whole = sum(exact[state].values())
            if whole:  # an impossible state has the law of another
                want = {float(value): float(p / whole) for value, p in exact[state].items() if p}
                have = dict(zip(map(float, belief[state].values), belief[state].probabilities, strict=True))
                assert have == pytest.approx(want, rel=1e-15)


def test_a_start_that_stays_is_solved_exactly():
    assert CHAIN.start == (Fraction(2, 3), Fraction(1, 3))
    assert CHAIN.at(1) == CHAIN.at(17) == CHAIN.start
    assert MarkovChain([[0.9, 0.1], [0.4, 0.6]], start=[0.8, 0.2]).at(2) == (Fraction(4, 5), Fraction(1, 5))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MarkovChain([[1, 0], [0, 1]]), "several stationary"),
        (lambda: MarkovChain([[0.5, 0.6], [0.5, 0.5]]), "row 0 of the transition matrix must be probabilities"),
        (lambda: MarkovChain([[0.5, 0.5]]), "one row and one column"),
        (lambda: MarkovChain([[float("nan"), 1], [1, 0]]), "finite number"),
        (lambda: MarkovChain([[0.5, 0.5], [0.5, 0.5]], start=[1]), "start must have one probability"),
        (lambda: MarkovChain([[0.5, 0.5], [0.5, 0.5]], states=["a", "a"]), "name each"),
        (lambda: MarkovChain(None), "a list of rows"),
        (lambda: MarkovChain("ab"), "a list of numbers"),
        (lambda: MarkovChain(pd.DataFrame([[0.5, 0.5], [0.5, 0.5]])), "a list of numbers"),
        (lambda: MarkovChain([[True, False], [0.5, 0.5]]), "finite number"),
        (lambda: CHAIN.priors(4, "1"), "answer must be"),
        (lambda: CHAIN.priors(0, Count(1)), "length"),
        (lambda: CHAIN.priors(4, Count("x")), "no state 'x'"),
        (lambda: CHAIN.priors(4, Total({0: 1.0})), "none is given for 1"),
        (lambda: MarkovChain([[0.2, 0.3, 0.5]] * 3).priors(400, Total({0: 0, 1: 1e-5, 2: 3.1})), "round the numbers"),
        (lambda: Group([1, 0, 0]), "nobody's status"),
        (lambda: Group([1]), "two entries"),
    ],
)
def test_what_is_no_chain_is_refused(call, words):
    with pytest.raises(tk.InputError, match=words):
        call()


def test_rows_that_add_up_in_floats_alone_add_up_to_one():
    for row in ([1 / 3] * 3, [0.1] * 10, np.full(7, 1 / 7), np.full(4, 0.25, dtype=np.float32)):
        chain = MarkovChain([row] * len(row))
        assert all(sum(one) == 1 for one in (*chain.transition, chain.start))


def test_impossible_states_ask_for_nothing():
    chain = MarkovChain([[0.5, 0.5], [0.5, 0.5]], start=[1, 0])
    first = chain.priors(4, Count(1))[0]
    assert first[0] == first[1]
    assert tk.calibrate([first], odds=3).error == 0


def test_members_drawn_one_by_one_agree():
    counts = [Fraction(1, 10), Fraction(3, 20), Fraction(1, 2), Fraction(3, 20), Fraction(1, 10)]
    belief = Group(counts).priors()
    for status, name in ((1, "has it"), (0, "has not")):
        exact = {}
        for members in itertools.product((0, 1), repeat=4):
            if members[0] == status:
                k = sum(members)
                exact[k] = exact.get(k, 0) + counts[k] / math.comb(4, k)
        whole = sum(exact.values())
        have = dict(zip(belief[name].values, belief[name].probabilities, strict=True))
        assert have == pytest.approx({k: float(p / whole) for k, p in exact.items()}, rel=1e-15)


@pytest.mark.parametrize(
    ("asked", "least"),
    [({"odds": 2}, 23 / 30), ({"odds": 3}, 2 / 5), ({"odds": 5}, 9 / 40), ({"alpha": 3, "epsilon": 1}, 0.29650774)],
)
def test_the_best_channel_for_the_flu_has_a_known_error(asked, least):
    flu = Group([0.1, 0.15, 0.5, 0.15, 0.1]).priors()
    found = tk.calibrate(flu, mechanism="optimal", preserve=None, utility=tk.Utility(loss="square"), **asked)
    assert found.error == pytest.approx(least, abs=2e-8)


def test_the_best_channel_hides_the_state_at_every_time():
    beliefs = CHAIN.priors(24, Count(1))
    found = tk.calibrate(beliefs, odds=3, preserve=None, utility=tk.Utility(loss="square"))
    assert math.sqrt(found.error) < 0.85  # group differential privacy adds 30.9, the Markov Quilt Mechanism 9.75
    published = [{s: found.channel.apply(law) for s, law in belief.items()} for belief in beliefs]
    worst = max(tk.max_divergence(b[x], b[1 - x]) for b in published for x in (0, 1))
    assert worst <= math.log(3)


@pytest.mark.parametrize(("turns", "laplace", "best"), [("0.1", 8.640441, 4.838)])
def test_binary_chains_of_100_times_have_known_figures(turns, laplace, best):
    stays = 1 - Fraction(turns)
    beliefs = MarkovChain([[stays, turns], [turns, stays]]).priors(100, Count(1))
    noise = tk.calibrate(beliefs, odds=math.e, mechanism="laplace")
    assert noise.channel.scale == pytest.approx(laplace, abs=2e-6)
    found = tk.calibrate(beliefs, odds=math.e)
    assert math.sqrt(found.error) == pytest.approx(best, rel=2e-3)
    assert found.error * (1 - 1e-3) <= found.lower_bound <= found.error


def test_faint_ends_of_a_law_do_not_mislead_the_solver():
    beliefs = MarkovChain([[0.6, 0.4], [0.4, 0.6]]).priors(100, Count(1))  # probabilities down to 1e-23
    found = tk.calibrate(beliefs, odds=math.e)
    assert math.sqrt(found.error) < 0.034  # all that is published as the same would cost 8.6
    assert found.lower_bound >= 0.99 * found.error


@pytest.mark.parametrize(
    "asked", [{"odds": 3, "mechanism": "laplace"}, {"alpha": 2, "epsilon": 0.5, "mechanism": "exact"}]
)
def test_noise_takes_the_beliefs_of_a_chain_as_they_are(asked):
    beliefs = CHAIN.priors(6, Count(1))
    found = tk.calibrate(beliefs, **asked)
    by_hand = [{s: tk.Mixture(law.weights, list(law.values), [0] * len(law)) for s, law in b.items()} for b in beliefs]
    again = tk.calibrate(by_hand, **asked)
    assert found.channel == again.channel
    assert len(tk.release([3.0], found)) == 1
    tk.verify(tk.certify(found))


def test_labels_take_no_noise():
    with pytest.raises(tk.MechanismError, match="kind Finite"):
        tk.calibrate(
            {"a": tk.Finite(["x", "y"], [1, 2]), "b": tk.Finite(["x", "y"], [2, 1])}, odds=3, mechanism="laplace"
        )


def test_a_histogram_is_the_joint_law_of_all_counts():
    chain, length = MarkovChain([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.25, 0.25, 0.5]], states=["a", "b", "c"]), 4
    beliefs = chain.priors(length, tk.Histogram())
    for time, belief in enumerate(beliefs):
        exact = {state: {} for state in chain.states}
        for path in itertools.product(range(3), repeat=length):
            p = chain.start[path[0]] * math.prod(chain.transition[a][b] for a, b in itertools.pairwise(path))
            counts, law = tuple(path.count(k) for k in range(3)), exact[chain.states[path[time]]]
            law[counts] = law.get(counts, 0) + p
        for state, law in exact.items():
            have = dict(zip(belief[state].values, belief[state].probabilities.tolist(), strict=True))
            assert have == pytest.approx({k: float(p / sum(law.values())) for k, p in law.items()}, rel=1e-14)
    made = tk.calibrate(beliefs, odds=3)
    tk.verify(tk.certify(made))
    assert len(tk.release([(1, 1, 2), (4, 0, 0)], made, order="keep")) == 2
    with pytest.raises(tk.MechanismError):
        tk.calibrate(beliefs, odds=3, mechanism="laplace")
    two = CHAIN.priors(5, tk.Histogram())
    assert sorted(k for _, k in two[0][0].values) == list(CHAIN.priors(5, Count(1))[0][0].values)


def test_a_class_of_groups_is_held_for_each():
    groups = [Group([0.1, 0.15, 0.5, 0.15, 0.1]), Group([0.3, 0.2, 0.2, 0.2, 0.1]), Group([0.5, 0.2, 0.3])]
    found = tk.calibrate([one.priors() for one in groups], odds=3)
    tk.verify(tk.certify(found))
    for one in groups:
        laws = [found.channel.apply(law) for law in one.priors().values()]
        assert max(tk.max_divergence(*laws), tk.max_divergence(*reversed(laws))) <= math.log(3)
