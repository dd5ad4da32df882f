"""Chains fitted to people: counts, laws in floats against exact ones, and guarantees for people never seen."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import takifugu as tk
from takifugu.calibration.of_people import kept_for_people
from takifugu.dependence import chains_from_file, joint_in_floats
from takifugu.dependence.people import FittedChain, PeoplePriors, transitions
from takifugu.problems import MaxDivergence


def people(n, times, seed, spread=40.0):
    """States of people whose chains differ: P(on | off) around .2, P(on | on) around .6."""
    rng = np.random.default_rng(seed)
    rows = []
    for who in range(n):
        on = (rng.beta(0.2 * spread, 0.8 * spread), rng.beta(0.6 * spread, 0.4 * spread))
        state = 0
        for time in range(times):
            rows.append((f"p{who}", time, ("off", "on")[state]))
            state = int(rng.random() < on[state])
    return pd.DataFrame(rows, columns=["who", "hour", "state"])


NAMED = {"state": "state", "time": "hour", "by": "who"}


def test_transitions_are_counted_within_each_person():
    table = pd.DataFrame(
        {"who": ["b", "a", "b", "a", "b", "c"], "hour": [2, 5, 1, 6, 3, 9], "state": ["x", "x", "y", "y", "x", "y"]}
    )
    for given in (table, pl.from_pandas(table)):
        states, counts = transitions(given, **NAMED)
        assert states == ["x", "y"]
        assert counts.tolist() == [[[0, 1], [0, 0]], [[1, 0], [1, 0]]]  # c has one time and tells nothing


def test_a_chain_is_that_of_all_people_together():
    table = people(12, 30, 3)
    chain = tk.MarkovChain.fit(table, **NAMED)
    _, counts = transitions(table, **NAMED)
    shares = counts.sum(axis=0) / counts.sum(axis=(0, 2))[:, None]
    assert np.allclose([[float(p) for p in row] for row in chain.transition], shares, atol=3e-3)
    assert chain.states == ("off", "on")
    assert all(sum(row) == 1 for row in chain.transition)
    assert chain.people == 12


def test_laws_in_floats_are_the_exact_ones():
    chain = tk.MarkovChain([[0.75, 0.25, 0], [0.125, 0.5, 0.375], [0.5, 0, 0.5]])
    answer = tk.Total({0: 0, 1: 1, 2: 3})
    exact = chain.priors(7, answer)
    start = np.array([float(p) for p in chain.start])
    found = joint_in_floats(np.array(chain.transition, dtype=float), start, [0, 1, 3], 7)
    for belief, joint in zip(exact, found, strict=True):
        for state, row in zip(chain.states, joint, strict=True):
            law = belief[state]
            assert [row[v] / row.sum() for v in law.values] == pytest.approx(law.probabilities.tolist(), rel=1e-12)
            assert row.sum() == pytest.approx(belief.shares[state], rel=1e-12)


@pytest.mark.parametrize("mechanism", ["optimal", "laplace"])
def test_people_who_were_never_seen_are_within_the_guarantee(mechanism):
    chain = tk.MarkovChain.fit(people(25, 120, 5), **NAMED)
    made = tk.calibrate(chain.priors(8, tk.Count("on")), odds=4, mechanism=mechanism, confidence=0.8)
    assert made.epsilon == math.log(4)
    assert made.findings[-1].code == "people-drawn"
    tk.verify(tk.certify(made))
    alone = tk.calibrate(list(chain.priors(8, tk.Count("on"))), odds=4, mechanism=mechanism)
    assert alone.error < made.error  # the chain of all together is too little
    rng = np.random.default_rng(11)
    beyond, before = 0, 0
    for _ in range(40):  # people of the same population, by their true chains
        a, b = rng.beta(8, 32), rng.beta(24, 16)
        beliefs = tk.MarkovChain([[1 - Fraction(a), Fraction(a)], [1 - Fraction(b), Fraction(b)]]).priors(
            8, tk.Count(1)
        )
        for one, count in ((made, 0), (alone, 1)):
            told = max(one.channel.loss(*laws, MaxDivergence()) for laws in both_ways(beliefs, mechanism))
            beyond += not count and told > math.log(4)
            before += count and told > math.log(4)
    assert beyond <= 8  # a fifth
    assert before > beyond


def both_ways(beliefs, mechanism):
    for belief in beliefs:
        laws = list(belief.values())
        if mechanism == "laplace":
            laws = [tk.Mixture(law.weights, list(law.values), [0] * len(law)) for law in laws]
        yield laws
        yield laws[::-1]


def test_gaussian_noise_holds_for_people_too():
    chain = tk.MarkovChain.fit(people(15, 60, 2), **NAMED)
    made = tk.calibrate(chain.priors(4, tk.Count("on")), alpha=2, epsilon=0.5, mechanism="exact", confidence=0.6)
    alone = tk.calibrate(list(chain.priors(4, tk.Count("on"))), alpha=2, epsilon=0.5, mechanism="exact")
    assert made.theta > alone.theta
    assert made.loss <= 0.5


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (people(9, 5, 1), "9 people .* too few"),
        (pd.concat([people(12, 5, 1)] * 2), "stands twice"),
        (people(12, 5, 1).drop(index=2), "without gaps"),
        (people(12, 5, 1).assign(hour=list(pd.date_range("2024-01-01", periods=5, freq="MS")) * 12), "such as months"),
        (people(12, 5, 1).assign(hour=[str(k) for k in range(5)] * 12), "numbers or dates"),
        (people(12, 5, 1).assign(state="on"), "1 different values"),
        (people(12, 5, 1).assign(state=None), "cells without a value"),
        (people(12, 5, 1).drop(columns="state"), "no column 'state'"),
        (3, "a table with the columns"),
    ],
)
def test_tables_that_tell_too_little_are_refused(table, words):
    with pytest.raises(tk.InputError, match=words):
        tk.MarkovChain.fit(table, **NAMED)


def test_what_confidence_of_people_does_not_know_is_refused():
    priors = tk.MarkovChain.fit(people(12, 20, 1), **NAMED).priors(4, tk.Count("on"))
    for call, words in (
        (lambda: tk.calibrate(priors, odds=3, assurance="band"), "leave beliefs, error and assurance out"),
        (lambda: tk.calibrate(priors, epsilon=1, delta=1e-5), "Rényi guarantees and odds"),
        (lambda: tk.calibrate(priors, odds=3, confidence=0.2), "confidence"),
        (lambda: tk.sweep(priors, odds=[2, 3]), "one guarantee at a time"),
    ):
        with pytest.raises((tk.InputError, tk.MechanismError), match=words):
            call()


def test_quilts_of_a_fitted_chain_are_those_of_people_drawn_too(tmp_path):
    chain = tk.MarkovChain.fit(people(15, 40, 5), **NAMED)
    chain.save(tmp_path / "chain.json")  # with all that are drawn: the chain of all together would be too little
    assert len(chains_from_file(tmp_path / "chain.json")) == 1 + 2 * 59
    quilts = tk.MarkovQuilt(chain, 12)
    assert len(quilts.chains) == 1 + 2 * 59
    together = tk.MarkovQuilt(tk.MarkovChain(chain.transition), 12)
    assert quilts.epsilon(0.1) > together.epsilon(0.1)
    fresh = [tk.MarkovChain(one.tolist()) for one in chain.drawn(15, seed=99)]
    beyond = sum(tk.MarkovQuilt(one, 12).epsilon(0.1) > quilts.epsilon(0.1) for one in fresh)
    assert beyond <= 0.1 * len(fresh)
    assert tk.depend(chain, 12, dp_epsilon=0.1).epsilon == pytest.approx(quilts.epsilon(0.1))
    with pytest.raises(tk.InputError, match="give it alone"):
        tk.MarkovQuilt([chain, together.chain], 12)


def test_laplace_noise_goes_on_with_the_beliefs_of_a_round_before():
    """Of four people who differ much the first draws are not enough: others, drawn anew, are beyond."""
    counts = [[[310, 47], [47, 208]], [[308, 54], [54, 196]], [[679, 65], [66, 232]], [[349, 48], [48, 270]]]
    priors = PeoplePriors(FittedChain(np.array(counts, dtype=float), (0, 1)), 24, tk.Count(1))
    rounds = []

    def find(held, aim):
        rounds.append(aim.epsilon)
        return tk.calibrate(held, aim, mechanism="laplace")

    made = kept_for_people(priors, find, tk.Odds(math.e), level=0.95, seed=0)
    assert made.guarantee == tk.Odds(math.e)
    assert len(set(rounds)) > 1


def test_a_table_need_not_be_sorted_nor_people_have_as_many_times():
    table = people(12, 20, 3)
    chain = tk.MarkovChain.fit(table, **NAMED)
    days = pd.date_range("2024-03-20", periods=20, tz="UTC").tz_convert("Europe/Paris")  # clocks change on the 31st
    for same in (
        table.sample(frac=1, random_state=1),
        table.assign(hour=list(days) * 12),
        table.assign(hour=table.hour * 7),
    ):
        assert tk.MarkovChain.fit(same, **NAMED).transition == chain.transition
    shorter = table[(table.who != "p3") | (table.hour < 4)]
    assert tk.MarkovChain.fit(shorter, **NAMED).counts[5].sum() == 3  # p3, of p0, p1, p10, p11, p2, p3
    local = list(pd.date_range("2024-03-20", periods=20, tz="Europe/Paris")) * 12
    with pytest.raises(tk.InputError, match="without gaps"):  # a day of the clock is 23 hours long once a year
        tk.MarkovChain.fit(table.assign(hour=local), **NAMED)
