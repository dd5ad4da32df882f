"""Asking backwards: a promise from a best guess, and the strongest promise from an error."""

import math
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu._work import listening
from takifugu.calibration import targets as backwards
from takifugu.calibration.targets import HALVINGS_OF_ALL, relative_error, strongest
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.errors import CalibrationError, InputError, MechanismError, NoAnswerError
from takifugu.mechanisms.draws import draws_needed
from takifugu.problems.answer import Answer
from takifugu.queries.priors import Priors

GAUSSIANS = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(2, 1)}
counts = st.lists(st.integers(1, 60), min_size=4, max_size=4)


def pair(a, b):
    return {"a": tk.Finite(range(4), a), "b": tk.Finite(range(4), b)}


def best_guess_of(channel, laws):
    """Half the sum of the larger shares of each published value."""
    after = [np.asarray(law.probabilities) @ channel.matrix for law in laws.values()]
    return 0.5 * np.maximum(*after).sum()


@settings(max_examples=some_of(20), deadline=None)
@given(counts, counts, st.floats(0.51, 0.95), st.sampled_from([None, 2.0, 8.0]))
def test_nobody_guesses_better_than_was_asked_for(a, b, guess, alpha):
    laws = pair(a, b)
    found = tk.calibrate(laws, best_guess=guess, alpha=alpha, preserve=None)
    assert best_guess_of(found.channel, laws) <= guess * (1 + 1e-12)
    assert found.alpha == (math.inf if alpha is None else alpha)
    assert found.meets_budget()
    assert tk.best_guess(alpha=found.alpha, epsilon=found.epsilon) <= guess
    assert f"{100 * guess:.4g} %" in found.findings[-1].sentence


def test_noise_takes_the_order_advised_for_how_many_values_go_out():
    assert tk.calibrate(GAUSSIANS, best_guess=0.6).alpha == 3  # by hand: one value
    pupils = tk.datasets.load("student-por")
    query = {"secret": "schoolsup"}
    rows = tk.calibrate(tk.fit_priors(pupils, query=tk.Raw("G3"), **query), best_guess=0.6)
    assert rows.alpha == tk.recommended_alpha(len(pupils)) == 8
    means = tk.calibrate(tk.fit_priors(pupils, query=tk.Mean("G3"), **query), best_guess=0.6)
    assert means.alpha == tk.recommended_alpha(2)
    assert tk.calibrate(GAUSSIANS, best_guess=0.6, alpha=20).alpha == 20


@pytest.mark.parametrize("error", [0.3, 1.0, 2.0])
def test_the_strongest_promise_for_gaussians_has_a_formula(error):
    # Equal variances: D = αΔ/2(1 + θ²), and the spread of both together is √(1 + 1).
    budget = 3 * 4 / (2 * (1 + 2 * error**2))
    found = tk.calibrate(GAUSSIANS, error=error, alpha=3)
    assert relative_error(found) <= error
    assert budget <= found.epsilon * (1 + 1e-9)
    assert found.epsilon <= budget * 1.02


@settings(max_examples=12, deadline=None)
@given(counts, counts, st.floats(0.05, 0.9))
def test_a_promise_stronger_by_more_than_the_step_errs_more(a, b, error):
    laws = pair(a, b)
    found = tk.calibrate(laws, error=error)
    masses = np.add(a, b) / sum((*a, *b))
    x = np.arange(4.0)
    spread = math.sqrt(masses @ (x - masses @ x) ** 2)

    def off(channel):
        assert isinstance(channel, FiniteChannel)
        return math.sqrt(masses @ (channel.matrix * (x[:, None] - x[None, :]) ** 2).sum(axis=1)) / spread

    assert off(found.channel) <= error * (1 + 1e-9)
    if found.epsilon > 1e-3:
        stronger = tk.calibrate(laws, odds=math.exp(found.epsilon / 1.03))
        assert off(stronger.channel) >= error * (1 - 1e-6)


def test_labels_count_by_their_share_and_the_worst_column_decides():
    rng = np.random.default_rng(3)
    laws = {}
    for name, shift in (("a", 0), ("b", 1)):
        weights = rng.integers(5, 40, size=6) + 30 * shift * (np.arange(6) % 2)
        laws[name] = tk.Finite([(n, w) for n in (1, 2, 3) for w in ("x", "y")], weights)
    found = tk.calibrate(laws, error=0.15, preserve=None)
    matrix, inputs = found.channel.matrix, found.channel.inputs
    mass = np.add(*(law.weights for law in laws.values()))
    mass = mass / mass.sum()
    labels = sum(
        mass[i] * matrix[i, j]
        for i, u in enumerate(inputs)
        for j, v in enumerate(found.channel.outputs)
        if u[1] != v[1]
    )
    x = np.array([u[0] for u in inputs], dtype=float)
    square = mass @ (matrix * (x[:, None] - x[None, :]) ** 2).sum(axis=1)
    numbers = math.sqrt(square / (mass @ (x - mass @ x) ** 2))
    assert relative_error(found) == pytest.approx(max(labels, numbers))
    assert max(labels, numbers) <= 0.15


def test_choosing_among_promises_asks_for_more_draws():
    laws = pair([30, 40, 50, 60], [60, 50, 40, 30])
    found = tk.calibrate(laws, error=0.4, confidence=0.95)
    assert found.evidence.draws >= draws_needed(0.95, halvings=6)
    assert found.meets_budget()
    pupils = tk.datasets.load("student-por")
    priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Mean("G3"))
    assert tk.calibrate(priors, error=5.0, confidence=0.95).evidence.draws == draws_needed(0.95, halvings=5)


def test_each_promise_is_judged_by_draws_of_its_own(monkeypatch):
    seen = []
    asked = tk.calibrate.__globals__["calibrated"]

    def watched(priors, problem, promise, mechanism, population, options):
        seen.append(population.seed)
        return asked(priors, problem, promise, mechanism, population, options)

    monkeypatch.setitem(tk.calibrate.__globals__, "calibrated", watched)
    found = tk.calibrate(
        pair([30, 40, 50, 60], [60, 50, 40, 30]), error=0.4, confidence=0.9, adversary=tk.Adversary(seed=7)
    )
    assert len(seen) == len(set(seen)) == found.findings[-1]["tried"]
    assert np.diff(sorted(seen)).min() > 30 * 1_000_003  # as many as one calibration may use


def test_a_search_can_come_to_so_many_promises_and_no_more(monkeypatch):
    """Every way in which tries may turn out, one after another: where all share their draws, all of them count."""
    monkeypatch.setattr(backwards, "relative_error", lambda made: made.off)
    reached, ways = set(), [[]]
    while ways:
        turns_out, tries = ways.pop(), []

        def calibrated(promise, number, turns_out=turns_out, tries=tries):
            if number == len(turns_out):
                tries.append(number)
                raise KeyboardInterrupt
            return SimpleNamespace(
                off=turns_out[number], guarantee=promise, total=promise, with_finding=lambda finding: None
            )

        with suppress(KeyboardInterrupt, NoAnswerError):
            strongest(calibrated, alpha=2.0, error=0.5)
        if tries:
            ways += [[*turns_out, 0.0], [*turns_out, 1.0]]
            reached.add(tuple(turns_out))
    assert 900 < len(reached) <= 2**HALVINGS_OF_ALL


def test_promises_of_a_model_share_its_draws_and_are_judged_more_strictly():
    rng = np.random.default_rng(0)
    drawn = {name: (at + rng.normal(0, 0.1, 200), rng.uniform(0.9, 1.1, 200)) for name, at in (("a", 0), ("b", 2))}
    priors = Priors(GAUSSIANS, answer=Answer("gp", ("y",), ("s",)))
    priors.drawn = drawn
    found = tk.calibrate(priors, alpha=2, error=2.0, confidence=0.95, adversary=tk.Adversary(seed=3))
    assert (found.evidence.seed, found.evidence.draws) == (3, draws_needed(0.95, halvings=10)) == (3, 194)
    assert found.evidence.holds(found.problem, found.channel, found.guarantee)
    priors.drawn = {name: (means[:126], stds[:126]) for name, (means, stds) in drawn.items()}
    with pytest.raises(InputError, match="needs 194 draws of a model's parameters, and 126 were made"):
        tk.calibrate(priors, alpha=2, error=2.0, confidence=0.95)


def test_each_promise_tried_is_told():
    told = []
    with listening(told.append):
        tk.calibrate(GAUSSIANS, error=1.0)
    assert len(told) > 3
    assert all("1 is asked for" in line for line in told)


def test_vectors_are_measured_on_their_worst_axis():
    laws = {
        "a": tk.VectorMixture.gaussian([0, 0], [[1, 0], [0, 4]]),
        "b": tk.VectorMixture.gaussian([1, 0], [[1, 0], [0, 4]]),
    }
    found = tk.calibrate(laws, alpha=3, epsilon=0.5)
    deviations = np.sqrt(np.diagonal(found.channel.covariance))
    assert relative_error(found) == pytest.approx(max(deviations / [math.sqrt(1.25), 2.0]))


def test_what_tells_nothing_gets_the_strongest_promise_there_is():
    found = tk.calibrate(pair([1, 2, 3, 4], [1, 2, 3, 4]), error=0.01)
    assert found.epsilon <= 1e-3


def test_an_error_out_of_reach_is_refused_with_advice():
    apart = {"a": tk.Finite([0, 1], [1, 0]), "b": tk.Finite([0, 1], [0, 1])}
    with pytest.raises(CalibrationError, match="Allow a larger error"):
        tk.calibrate(apart, error=1e-7)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"best_guess": 0.6, "odds": 3}, "takes the place"),
        ({"best_guess": 0.6, "epsilon": 1}, "takes the place"),
        ({"error": 0.2, "best_guess": 0.6}, "takes the place"),
        ({"error": 0.2, "epsilon": 1, "alpha": 2}, "takes the place"),
        ({"error": 0}, "above 0"),
        ({"error": float("nan")}, "above 0"),
        ({"best_guess": 0.5}, "a random guess"),
        ({}, "guarantee is missing"),
    ],
)
def test_two_promises_at_once_and_none_are_refused(asked, words):
    with pytest.raises(InputError, match=words):
        tk.calibrate(GAUSSIANS, **asked)


def test_per_cent_in_place_of_a_share_are_refused_where_nothing_would_be_left():
    with pytest.raises(InputError, match=r"at most 1 for values from a list, got 20: 20 % is written 0.2"):
        tk.calibrate(pair([1, 2, 3, 4], [4, 3, 2, 1]), error=20)
    assert tk.calibrate(GAUSSIANS, error=20, alpha=3).theta > 0  # noise may be larger than the spread


def test_a_weaker_promise_bounds_no_guess():
    with pytest.raises(MechanismError, match="bounds no guess"):
        tk.calibrate(GAUSSIANS, best_guess=0.6, mechanism="wasserstein-approx", delta=0.01)


def test_publish_asks_backwards_too():
    pupils = tk.datasets.load("student-por")
    hide = {"secret": "schoolsup", "columns": ["studytime"], "confidence": None}
    quiet = tk.Utility(allow_no_noise=True)
    by_guess = tk.publish(pupils, adversary=tk.Adversary(best_guess=0.6), utility=quiet, **hide)
    assert by_guess.calibration.guarantee.most_odds == pytest.approx(1.5)
    assert any("60 %" in one.sentence for one in by_guess.findings)
    by_error = tk.publish(pupils, utility=tk.Utility(error=0.3, allow_no_noise=True), **hide)
    assert relative_error(by_error.calibration) <= 0.3


ROWS = [(k, label) for k in range(4) for label in "xy"]


@settings(max_examples=some_of(20), deadline=None)
@given(*[st.lists(st.integers(1, 60), min_size=8, max_size=8) for _ in range(2)])
def test_the_error_of_a_sparse_channel_is_that_of_the_same_table_in_full(a, b):
    laws = {"a": tk.Finite(ROWS, a), "b": tk.Finite(ROWS, b)}
    sparse = tk.calibrate(laws, odds=1.5, options={"solver": "columns"})
    found, shares = 0.0, np.array(a, dtype=float) + np.array(b)
    shares /= shares.sum()
    channel = sparse.channel
    for column in (0, 1):
        true = [row[column] for row in channel.inputs]
        out = [row[column] for row in channel.outputs]
        lost = 0.0
        for k, (x, y) in enumerate(zip(channel.sources, channel.targets, strict=True)):
            off = (true[x] - out[y]) ** 2 if column == 0 else float(true[x] != out[y])
            lost += shares[x] * channel.shares[k] * off
        if column == 0:
            mean = shares @ np.array(true)
            lost = math.sqrt(lost / (shares @ (np.array(true) - mean) ** 2))
        found = max(found, lost)
    assert relative_error(sparse) == pytest.approx(found, rel=1e-9, abs=1e-12)


def test_an_error_can_be_asked_of_a_sparse_channel():
    rng = np.random.default_rng(2)
    laws = {"a": tk.Finite(ROWS, rng.integers(5, 60, 8)), "b": tk.Finite(ROWS, rng.integers(5, 60, 8))}
    made = tk.calibrate(laws, error=0.3, options={"solver": "columns"})
    assert relative_error(made) <= 0.3
