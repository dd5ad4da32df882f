"""Answers of every chain in a box: bounds against chains drawn in it, and calibrations that hold for all of them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from takifugu.calibration.of_people import largest_share

CHAIN = tk.MarkovChain([[0.8, 0.2], [0.4, 0.6]])
ANY = tk.ChainBox([[0, 0], [0, 0]], [[1, 1], [1, 1]], start=([0.5, 0.5], [0.5, 0.5]))
THREE = tk.MarkovChain([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.25, 0.25, 0.5]])


def drawn(box, length, rng, *, changing):
    """Transitions in the box for every step, and a start that goes with the first of them."""

    def row(low, high):
        low, high = (np.array([float(p) for p in side]) for side in (low, high))
        found, left = low.copy(), 1 - low.sum()
        for k in rng.permutation(len(low)):
            found[k] += (taken := min(left, (high - low)[k] * rng.choice([0, 1, rng.random()])))
            left -= taken
        for k in range(len(low)):
            found[k] += (taken := min(left, high[k] - found[k]))
            left -= taken
        return found

    steps = [np.array([row(*one) for one in box.rows]) for _ in range(length - 1 if changing else 1)]
    steps = steps if changing else steps * max(1, length - 1)
    values, vectors = np.linalg.eig(steps[0].T)
    start = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    return steps, start / start.sum()


def paths(steps, start, length):
    """Every path with its probability."""
    for path in itertools.product(range(len(start)), repeat=length):
        turns = zip(steps, itertools.pairwise(path), strict=False)
        yield path, start[path[0]] * math.prod(step[turn] for step, turn in turns)


def published(steps, start, length, through):
    """P(output | state at each time), path by path; `through` takes a path."""
    joint, reached = 0, np.zeros((length, len(start), 1))
    times = np.arange(length)
    for path, p in paths(steps, start, length):
        out = through(path)
        joint = np.zeros((length, len(start), len(out))) if isinstance(joint, int) else joint
        joint[times, path] += p * out
        reached[times, path] += p
    return joint / reached


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from([(CHAIN, [0, 1], 6), (CHAIN, [0, 3], 4), (THREE, [0, 1, 2], 4), (THREE, [0, 1, 0], 5)]),
    st.sampled_from([0, 0.01, 0.08]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_every_chain_of_a_box_is_within_its_bounds(setting, width, changing, seed):
    (chain, numbers, length), rng = setting, np.random.default_rng(seed)
    box = tk.ChainBox.around(chain, width)
    priors = box.priors(length, tk.Total(dict(enumerate(numbers))))
    through = rng.dirichlet(np.full(4, 0.5), size=len(priors.values))
    steps, start = drawn(box, length, rng, changing=changing)
    truth = published(steps, start, length, lambda path: through[priors.values.index(sum(numbers[s] for s in path))])
    for time, (low, high) in enumerate(priors.of_box(through)):
        assert (low - 1e-12 <= truth[time]).all()
        assert (truth[time] <= high + 1e-12).all()
        if width == 0:
            assert low == pytest.approx(high, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("asked", [{"odds": 3}, {"alpha": 3, "epsilon": 0.7}, {"odds": 3, "mechanism": "laplace"}])
@pytest.mark.parametrize("width", [0.0, 0.03])
def test_a_calibration_for_a_box_holds_for_chains_that_change(asked, width):
    box, length = tk.ChainBox.around(CHAIN, width), 7
    made = tk.calibrate(box.priors(length, tk.Count(1)), **asked)
    assert made.findings[-1].code == "box-held"
    alone = tk.calibrate(CHAIN.priors(length, tk.Count(1)), **asked)
    if "mechanism" in asked:
        assert alone.channel.scale <= made.channel.scale <= (1.02 if not width else 1.5) * alone.channel.scale
        at = np.arange(length + 1.0)
        through = np.exp(-np.abs(at[:, None] - at) / made.channel.scale)
    else:
        assert alone.error * (1 - 1e-6) <= made.error
        through = made.channel.as_list().through(np.eye(length + 1))
    rng = np.random.default_rng(4)
    for _ in range(60):
        steps, start = drawn(box, length, rng, changing=True)
        laws = published(steps, start, length, lambda path: through[sum(path)])
        order = asked.get("alpha", math.inf)
        for p, q in ((laws[:, 0], laws[:, 1]), (laws[:, 1], laws[:, 0])):
            if math.isinf(order):
                assert np.log(p / q).max() <= math.log(3) + 1e-9
            else:
                assert (np.log((p**order * q ** (1 - order)).sum(axis=1)) / (order - 1)).max() <= 0.7 + 1e-9
    tk.verify(tk.certify(made))


def test_corners_alone_are_not_enough():
    box = tk.ChainBox.around(CHAIN, 0.03)
    priors = box.priors(8, tk.Count(1))
    made = tk.calibrate(list(priors), odds=3)
    assert largest_share(priors, made, tk.Odds(3)) > 1


def test_all_counts_of_a_box_are_held_together():
    box = tk.ChainBox.around(CHAIN, 0.02)
    together = tk.calibrate(box.priors(5, tk.Histogram()), odds=3)
    assert sorted(sum(value) for value in together.channel.as_list().inputs) == [5] * 6
    assert largest_share(box.priors(5, tk.Histogram()), together, tk.Odds(3)) <= 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda priors: tk.calibrate(priors, odds=3, confidence=0.95), "leave confidence out"),
        (lambda priors: tk.calibrate(priors, odds=3, assurance="band"), "assurance out"),
        (lambda priors: tk.calibrate(priors, epsilon=1, delta=1e-5), "boxes of chains"),
        (lambda priors: tk.calibrate(ANY.priors(4, tk.Count(1)), odds=3), "narrower"),
        (lambda priors: tk.calibrate(priors, alpha=3, epsilon=1, mechanism="exact"), "ask for odds"),
        (lambda priors: tk.calibrate(tk.ChainBox.around(CHAIN, 0.01).priors(400, tk.Count(1)), odds=3), "too long"),
    ],
)
def test_what_is_not_held_for_a_box_is_refused(call, words):
    with pytest.raises(tk.TakifuguError, match=words):
        call(tk.ChainBox.around(CHAIN, 0.01).priors(5, tk.Count(1)))
