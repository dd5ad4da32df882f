"""Sparse channels turned round: the scores of the whole table, exactly right on average, or refused and bounded."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.channels.finite_channel import FiniteChannel, SparseChannel
from takifugu.channels.sampling import InsecureSeededBits
from takifugu.estimates import scores as inverting
from takifugu.estimates import scores as sparse_inverting
from takifugu.estimates.scores import NotDeterminedError

_TOTAL = 1 << 20


def banded(count, *, stay=0.7, width=2, outputs=None):
    """Each row stays with `stay`, and else becomes one of its neighbours; what has no output of its own only moves."""
    outputs = count if outputs is None else outputs
    starts, targets, counts = [0], [], []
    for x in range(count):
        near = [y for y in range(max(0, x - width), min(outputs, x + width + 1)) if y != x]
        shares = dict.fromkeys(near, int((1 - stay) / len(near) * _TOTAL))
        first = x if x < outputs else near[0]
        shares[first] = shares.get(first, 0) + _TOTAL - sum(shares.values())
        for y in sorted(shares):
            targets.append(y)
            counts.append(shares[y])
        starts.append(len(targets))
    values = [(k // 7, f"w{k % 7}") for k in range(count)]
    return SparseChannel(tuple(values), tuple(values[:outputs]), starts=starts, targets=targets, counts=counts)


def whole(channel):
    """The same channel as a table."""
    table = np.zeros((len(channel.inputs), len(channel.outputs)), dtype=np.int64)
    for x in range(len(channel.inputs)):
        part = slice(channel.starts[x], channel.starts[x + 1])
        table[x, channel.targets[part]] = channel.counts[part]
    return FiniteChannel(channel.inputs, channel.outputs, table)


def frame(channel, places):
    return pd.DataFrame([channel.outputs[k] for k in places], columns=["x", "ward"])


def test_the_answers_are_those_of_the_whole_table():
    rng = np.random.default_rng(0)
    channel = banded(60)
    table = frame(channel, rng.integers(0, 60, 500))
    sparse, dense = tk.estimate(table, channel), tk.estimate(table, whole(channel))
    for ask in (lambda told: told.mean("x"), lambda told: told.histogram("ward").shares["w3"]):
        one, other = ask(sparse), ask(dense)
        for part in ("value", "error", "from_channel"):
            assert getattr(one, part) == pytest.approx(getattr(other, part), rel=1e-6)
    lines = [told.regression("x", on="ward") for told in (sparse, dense)]
    for name in lines[0].coefficients:
        assert lines[0][name].value == pytest.approx(lines[1][name].value, rel=1e-5, abs=1e-7)
    assert sparse.condition == pytest.approx(dense.condition, rel=1e-6)
    assert sparse.bounds("x") == dense.bounds("x") or sparse.bounds("x").low == pytest.approx(dense.bounds("x").low)


def test_a_mean_over_thousands_of_rows_is_unbiased_and_its_intervals_cover():
    rng = np.random.default_rng(1)
    channel = banded(3_000)
    law = rng.dirichlet(np.full(3_000, 0.3))
    x = np.array([value[0] for value in channel.inputs])
    true = rng.choice(3_000, 2_000, p=law)
    hits, values, bits = 0, [], InsecureSeededBits(3)  # of 60 intervals so many miss once in six thousand runs
    for _ in range(60):
        found = tk.estimate(frame(channel, channel.draw(true, bits)), channel).mean("x")
        hits += abs(found.value - x[true].mean()) <= 1.96 * found.from_channel
        values.append(found.value)
        assert found.from_channel < found.error
    assert hits >= 50
    assert abs(np.mean(values) - x[true].mean()) < 4 * np.std(values) / math.sqrt(60)


@st.composite
def channels(draw):
    """Any sparse channel between a few values."""
    size, outputs = draw(st.integers(2, 7)), draw(st.integers(2, 7))
    starts, targets, counts = [0], [], []
    for _ in range(size):
        near = sorted(draw(st.sets(st.integers(0, outputs - 1), min_size=1, max_size=3)))
        cuts = sorted(draw(st.sets(st.integers(1, 63), min_size=len(near) - 1, max_size=len(near) - 1)))
        targets += near
        counts += np.diff([0, *cuts, 64]).tolist()
        starts.append(len(targets))
    inputs, published = tuple(range(size)), tuple(range(outputs))
    return SparseChannel(inputs, published, starts=starts, targets=targets, counts=counts)


@settings(max_examples=some_of(150), deadline=None)
@given(channels(), st.integers(0, 10**6))
def test_scores_solve_the_equations_exactly_or_there_are_none(channel, seed):
    rng = np.random.default_rng(seed)
    size = len(channel.inputs)
    f = rng.integers(-5, 6, size).astype(float)
    if seed % 2:  # one that has a solution
        f = whole(channel).matrix @ rng.normal(size=len(channel.outputs))
    found = sparse_inverting.sparse_scores(channel.table, f)
    other = inverting.scores(whole(channel).matrix, f)
    assert (found is None) == (other is None)
    if found is None:
        return
    for x in range(size):  # in fractions: the expectation of the score is the true value
        part = slice(channel.starts[x], channel.starts[x + 1])
        mean = sum(
            Fraction(int(c), 64) * Fraction(float(found[y]))
            for y, c in zip(channel.targets[part], channel.counts[part], strict=True)
        )
        assert abs(mean - Fraction(float(f[x]))) <= Fraction(1, 10**8) * max(1, Fraction(float(np.abs(f).max())))


@settings(max_examples=some_of(60), deadline=None)
@given(channels(), st.integers(0, 10**6))
def test_bounds_hold_every_law_that_fits(channel, seed):
    rng = np.random.default_rng(seed)
    law, f = rng.dirichlet(np.ones(len(channel.inputs))), rng.normal(size=len(channel.inputs))
    counts = np.round(1e6 * channel.through(law))
    low, high = inverting.bounds(channel.table, f, counts, 0.95)
    assert low - 1e-9 <= law @ f <= high + 1e-9


def test_rows_that_are_published_no_more_are_refused_and_bounded():
    rng = np.random.default_rng(2)
    channel = banded(2_100, outputs=2_098)  # the last two are published as others
    true = rng.integers(0, 2_100, 4_000)
    told = tk.estimate(frame(channel, channel.draw(true, InsecureSeededBits(4))), channel)
    assert told.condition == math.inf
    with pytest.raises(NotDeterminedError, match=r"its 2,100 true values apart in 2,098 ways only.*fewer columns"):
        told.mean("x")
    x = np.array([value[0] for value in channel.inputs])
    bounds = told.bounds("x")
    assert bounds.low <= x[true].mean() <= bounds.high
    with pytest.raises(NotDeterminedError):
        told.histogram("ward")


def test_what_cannot_be_decided_is_said_to_be_so(monkeypatch):
    table = banded(20).table
    monkeypatch.setattr(sparse_inverting, "_STEPS", 1)
    with pytest.raises(sparse_inverting.UndecidedError):
        sparse_inverting.sparse_scores(table, np.arange(20.0) ** 2)
    channel = banded(20)
    with pytest.raises(NotDeterminedError, match="was found"):
        tk.estimate(frame(channel, range(20)), channel).mean("x")


def test_the_owner_of_a_sparse_publication_has_estimates():
    pupils = tk.datasets.load("student-por")
    priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Row("studytime", "absences"))
    made = tk.calibrate(priors, odds=3, options={"solver": "columns"})
    assert isinstance(made.channel, SparseChannel)
    rows = tk.release(pupils[["schoolsup", "studytime", "absences"]], made)
    told = tk.estimate(rows, made)
    found = told.mean("studytime")
    assert abs(found.value - pupils["studytime"].mean()) < 7 * found.from_channel
    shares = told.histogram("studytime").shares
    assert sum(one.value for one in shares.values()) == pytest.approx(1)
    with pytest.raises(NotDeterminedError, match="ways only"):  # some absences are published no more
        told.mean("absences")
    bounds = told.bounds("absences")
    assert bounds.low <= pupils["absences"].mean() <= bounds.high
