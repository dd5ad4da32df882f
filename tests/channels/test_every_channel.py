"""What all channels must satisfy, ours and those of other packages: a new one is tested by being registered."""

import json
import math
import runpy
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import takifugu as tk
from how_many import some_of
from takifugu.channels import (
    Channel,
    DiscreteLaplaceNoise,
    FiniteChannel,
    GaussianNoise,
    GaussianVector,
    LaplaceNoise,
    SparseChannel,
    channel_class,
    channel_from_state,
    channel_kinds,
    known_channel,
    protocol,
)
from takifugu.channels.sampling import InsecureSeededBits
from takifugu.errors import CompositionError, InputError, TakifuguError
from takifugu.laws import Finite, Mixture, VectorMixture
from takifugu.problems import MaxDivergence, RenyiDivergence


@dataclass(frozen=True)
class Foreign(LaplaceNoise):
    """Noise as another package would bring it: of a law that is known, under a name of its own."""

    kind: ClassVar[str] = "foreign"
    parameter: ClassVar[str] = "reach"


SHOWN = runpy.run_path(str(Path(__file__).parents[2] / "docs/examples/new_noise.py"))  # the noise of CONTRIBUTING.md
protocol._OFFERED.clear()  # here alone, and not wherever else this process looks


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """Another package, which names its noise in the entry-point group."""
    entry = SimpleNamespace(name="foreign", load=lambda: Foreign)
    monkeypatch.setattr(protocol, "_installed", lambda: [entry])
    monkeypatch.setattr(protocol, "_OFFERED", {"logistic": SHOWN["LogisticNoise"]})


LISTED = (("a", 1), ("b", 2), ("c", 3))
CHANNELS: dict[str, Channel] = {
    "gaussian": GaussianNoise(0.7),
    "laplace": LaplaceNoise(0.7),
    "discrete-laplace": DiscreteLaplaceNoise(0.7, 0.5),
    "finite": FiniteChannel(LISTED, LISTED, [[6, 1, 1], [1, 6, 1], [2, 2, 4]]),
    "sparse": SparseChannel(LISTED, LISTED, [0, 2, 3, 6], [0, 1, 1, 0, 1, 2], [3, 1, 4, 1, 1, 2]),
    "vector": GaussianVector([[1.0, 0.3], [0.3, 0.5]]),
    "logistic": SHOWN["LogisticNoise"](0.7),
    "foreign": Foreign(1.4),
}
_EYE = [[1.0, 0.0], [0.0, 1.0]]
PAIRS = {
    "number": (Mixture([0.5, 0.5], [0, 1], [0, 0]), Mixture([0.1, 0.9], [0, 1], [0, 0])),
    "values": (Finite(LISTED, [1, 2, 3]), Finite(LISTED, [3, 2, 1])),
    "vector": (VectorMixture([1.0], [[0, 0]], [_EYE]), VectorMixture([1.0], [[1, 0.5]], [_EYE])),
}
VALUES = {"number": 0.3, "values": LISTED[2], "vector": [0.3, -0.2]}


@pytest.fixture(params=[*CHANNELS])
def channel(request):
    return CHANNELS[request.param]


def divergence_of(channel):
    """A divergence that is finite and known after it."""
    return MaxDivergence() if channel.publishes == "number" and channel.knows(MaxDivergence) else RenyiDivergence(2.0)


def test_every_kind_is_tested_here():
    assert channel_kinds() == [*CHANNELS]


def test_it_is_what_its_kind_says_and_nothing_else_passes_for_it(channel):
    assert channel_class(channel.kind) is type(channel)
    assert known_channel(channel) is channel
    other = type("Other", (type(channel),), {})
    with pytest.raises(InputError, match="a Other is no channel known here"):
        known_channel(object.__new__(other))


def test_it_is_written_and_read_without_losing_a_bit(channel):
    state = json.loads(json.dumps(channel.to_state(), allow_nan=False))
    assert channel_from_state(state) == channel
    for damaged in ({**state, "more": 1}, {key: state[key] for key in state if key == "kind"}, {"kind": "none"}):
        with pytest.raises(InputError):
            channel_from_state(damaged)
    public = channel.public_state(withhold=True)
    assert json.loads(json.dumps(public)) == public
    assert public["kind"] == channel.kind


def test_it_speaks_of_itself(channel):
    for exact in (False, True):
        assert channel.describe(exact=exact).strip()
        assert "object at" not in channel.describe(exact=exact)
    assert channel.weaker


def test_laws_of_other_kinds_are_refused(channel):
    for publishes, (law, _) in PAIRS.items():
        if publishes == channel.publishes:
            channel.require_law(law)
            continue
        with pytest.raises(InputError, match=type(law).__name__):
            channel.apply(law)
    ways = {"number": channel.as_noise, "values": channel.as_list, "vector": channel.as_vector}
    for publishes, way in ways.items():
        if publishes == channel.publishes:
            assert way() is channel
        else:
            with pytest.raises(InputError, match=r"\w"):
                way()


def bare_loss(p, q, of):
    """The divergence of the laws themselves."""
    if isinstance(p, Finite):
        return FiniteChannel.identity(LISTED).loss(p, q, of)
    return tk.max_divergence(p, q) if of == MaxDivergence() else tk.renyi_divergence(p, q, alpha=of.alpha)


def test_no_more_is_told_of_two_laws_than_they_tell_bare(channel):
    p, q = PAIRS[channel.publishes]
    of = divergence_of(channel)
    for first, second in ((p, q), (q, p)):
        loss = channel.loss(first, second, of)
        assert 0 < loss <= bare_loss(first, second, of) * (1 + 1e-12)
        assert channel.decide(first, second, of, loss * 1.001).holds
        assert not channel.decide(first, second, of, loss * 0.999).holds
    assert channel.loss(p, p, of) == 0


def test_draws_follow_the_law_that_is_applied(channel):
    n = some_of(60_000)
    values = np.empty(n, dtype=object) if channel.publishes == "values" else None
    if values is not None:
        values[:] = [VALUES["values"]] * n
        drawn = channel.publish(list(values), InsecureSeededBits(7)).tolist()
        told = channel.apply(Finite([VALUES["values"]], [1.0]))
        for value, share in zip(told.values, told.probabilities, strict=True):
            assert abs(drawn.count(value) - n * share) <= 5 * math.sqrt(n * share * (1 - share)) + 1e-9
        return
    value = 1.5 if channel.kind == "discrete-laplace" else VALUES[channel.publishes]
    drawn = channel.publish(np.array([value] * n), InsecureSeededBits(7))
    gaps = (drawn - np.array(value)).reshape(n, -1)
    assert gaps.shape[1] == channel.width == len(channel.axes)
    room = 5 / math.sqrt(n)
    for axis, noise in enumerate(channel.axes):
        assert abs(gaps[:, axis].mean()) <= room * noise.std
        assert gaps[:, axis].std() == pytest.approx(noise.std, rel=room * math.sqrt(0.5 + noise.excess_kurtosis / 4))
        for at in (-1.0, -0.2, 0.5):
            share = float(noise.below(np.array([at * noise.std]))[0])
            assert abs((gaps[:, axis] <= at * noise.std).mean() - share) <= room
    assert np.cov(gaps.T) == pytest.approx(
        channel.noise_covariance.squeeze(), abs=3 * room * channel.noise_covariance.max()
    )


def test_likelihoods_are_those_of_the_published_law(channel):
    p, q = PAIRS[channel.publishes]
    if channel.publishes == "values":
        columns = [np.array(column, dtype=object) for column in zip(*LISTED, strict=True)]
        expected = np.log(channel.apply(p).probabilities / channel.apply(q).probabilities)
    else:
        columns = [np.array([0.1, 0.9, 2.0])] * channel.width
        points = columns[0] if channel.width == 1 else np.stack(columns, axis=1)
        noisy = [channel.apply(law) for law in (p, q)]
        if channel.width == 1:
            expected = np.log(noisy[0].pdf(points) / noisy[1].pdf(points))
        else:
            inverse = np.linalg.inv(noisy[0].covariances[0])
            expected = [
                0.5 * ((x - b) @ inverse @ (x - b) - (x - a) @ inverse @ (x - a))
                for x in points
                for a, b in [(noisy[0].means[0], noisy[1].means[0])]
            ]
    found = channel.log_likelihood(p, columns) - channel.log_likelihood(q, columns)
    assert found == pytest.approx(np.array(expected), rel=1e-9)
    doubted = channel.log_likelihood(p, columns, weaker=True) - channel.log_likelihood(q, columns, weaker=True)
    assert np.abs(doubted).sum() > np.abs(found).sum()


def test_several_releases_are_worth_one_or_are_refused(channel):
    assert channel.repeated([]) == channel
    assert channel.at_least(channel)
    is_once = channel.publishes == "values" or (channel.publishes == "number" and channel.precision(1.0) is None)
    for other in CHANNELS.values():
        if other.kind != channel.kind or is_once:
            with pytest.raises(CompositionError):
                channel.repeated([other])
            assert other == channel or not channel.at_least(other)
    if is_once:
        return
    twice = channel.repeated([channel])
    assert channel.at_least(twice)
    assert not twice.at_least(channel)
    p, q = PAIRS[channel.publishes]
    of = divergence_of(channel)
    assert twice.loss(p, q, of) >= channel.loss(p, q, of)


def asked_of(channel):
    """A guarantee that noise of its kind, or a channel between lists, can keep."""
    return (
        {"alpha": 2, "epsilon": 1}
        if divergence_of(channel) != MaxDivergence() and channel.publishes != "values"
        else {"odds": 3}
    )


def test_a_calibration_through_it_is_published_and_told_of(channel):
    p, q = PAIRS[channel.publishes]
    made = replace(tk.calibrate({"u": p, "v": q}, **asked_of(channel)), channel=channel)
    again = tk.Calibration.from_essentials(json.loads(json.dumps(made.essentials())))
    assert again.channel == channel
    assert str(made)
    assert made.loss >= 0


def test_a_channel_of_no_known_kind_is_no_calibration(channel):
    p, q = PAIRS[channel.publishes]
    made = tk.calibrate({"u": p, "v": q}, **asked_of(channel))
    other = object.__new__(type("Other", (type(channel),), {}))
    with pytest.raises(TakifuguError, match="Other is no channel known here"):
        replace(made, channel=other)
