"""Confidence: channels that withstand draws from the posterior, drawn again from their seed; evidence and no proof."""

import dataclasses
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.channels.gaussian import GaussianNoise
from takifugu.errors import InputError, MechanismError
from takifugu.mechanisms.draws import draws_needed, joint_draws, posterior
from takifugu.mechanisms.evidence import Confidence
from takifugu.mechanisms.posterior_margin import _between, sampling_distances
from takifugu.queries.models import JointPrediction, Model, Prediction

TRUTH = {"a": np.array([9, 8, 6, 4, 2, 1]) / 30, "b": np.array([3, 4, 6, 7, 6, 4]) / 30}


def sample(seed, rows=(400, 150), truth=TRUTH):
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame({"s": secret, "x": rng.choice(len(law), size, p=law), "k": rng.choice(["u", "v"], size)})
        for (secret, law), size in zip(truth.items(), rows, strict=True)
    ]
    return pd.concat(parts, ignore_index=True)


def fitted(table, query, **options):
    return tk.fit_priors(table, secret="s", query=query, **options)


ROW = fitted(sample(0), tk.Row("x", domain=range(6)))
RAW = fitted(sample(0), tk.Raw("x", bounds=(0, 5), step=1))


def divergence(p, q, alpha):
    """D_α of two lists, in floats that share no code with the package."""
    if math.isinf(alpha):
        return max(math.log(x / y) if y else math.inf for x, y in zip(p, q, strict=True) if x > 0)
    return math.log(sum(x**alpha * y ** (1 - alpha) for x, y in zip(p, q, strict=True) if x > 0)) / (alpha - 1)


@pytest.mark.parametrize(
    "promise", [{"odds": 3}, {"alpha": 3, "epsilon": 0.3}, {"alpha": 2, "epsilon": 0.3, "odds": 3}]
)
def test_a_channel_withstands_draws_that_did_not_make_it(promise):
    plug_in = tk.calibrate(ROW, **promise)
    found = tk.calibrate(ROW, **promise, confidence=0.95, adversary=tk.Adversary(seed=7))
    evidence = found.evidence
    assert (evidence.level, evidence.without) == (0.95, plug_in.error)
    assert evidence.draws >= draws_needed(0.95)
    assert found.error >= plug_in.error * (1 - 1e-6)
    assert found.meets_budget()
    assert evidence.holds(found.problem, found.channel, found.guarantee)
    assert not evidence.holds(found.problem, plug_in.channel, found.guarantee)
    laws = joint_draws(posterior(found.problem), found.pairs.secrets, evidence.draws, evidence.seed)[0]
    for drawn in laws:
        p, q = (law @ found.channel.matrix for law in drawn)
        for left, right in ((p, q), (q, p)):
            assert divergence(left, right, found.alpha) <= found.epsilon
            if found.guarantee.odds_beside:
                assert divergence(left, right, math.inf) <= math.log(found.guarantee.odds_beside)
    fresh = joint_draws(posterior(found.problem), found.pairs.secrets, 400, 99)[0]
    beyond = sum(divergence(p, q, found.alpha) > found.epsilon for p, q in fresh @ found.channel.matrix)
    assert beyond <= 0.05 * 401  # at least 95 % of the posterior, seen by draws of our own
    assert f"{evidence.draws} draws (seed {evidence.seed})" in evidence.sentence
    assert "Monte Carlo evidence, not a proof" in evidence.sentence


def test_noise_on_a_lattice_withstands_its_draws():
    plug_in = tk.calibrate(RAW, alpha=2, epsilon=0.2)
    found = tk.calibrate(RAW, alpha=2, epsilon=0.2, confidence=0.95, adversary=tk.Adversary(seed=1))
    assert found.theta > plug_in.theta
    assert (found.evidence.draws, found.evidence.without) == (59, plug_in.error)
    assert found.evidence.holds(found.problem, found.channel, found.guarantee)
    assert not found.evidence.holds(found.problem, GaussianNoise(plug_in.theta * 0.9), found.guarantee)
    assert tk.certify(found).theta == found.theta
    assert tk.Calibration.from_dict(found.to_dict()).evidence == found.evidence


def test_the_same_seed_repeats_and_another_does_not():
    first, again, other = (
        tk.calibrate(ROW, odds=3, confidence=0.9, adversary=tk.Adversary(seed=seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.evidence != other.evidence
    with pytest.raises(InputError, match="seed"):
        tk.calibrate(ROW, odds=3, confidence=0.9, adversary=tk.Adversary(seed=-1))


def test_cells_have_draws_of_their_own():
    beliefs = fitted(sample(3), tk.Row("x", domain=range(6)), known=["k"])
    found = tk.calibrate(beliefs, odds=4, confidence=0.8)
    laws = joint_draws(posterior(found.problem), found.pairs.secrets, 8, 0)
    assert laws.shape[0] == len(beliefs) == 5
    assert not any(np.allclose(laws[a], laws[b]) for a, b in combinations(range(5), 2))
    assert found.evidence.holds(found.problem, found.channel, found.guarantee)


def test_counts_by_hand_are_enough_and_shares_are_not():
    counts = {"a": tk.Finite(list("xyz"), [40, 30, 30]), "b": tk.Finite(list("xyz"), [20, 30, 50])}
    found = tk.calibrate(counts, odds=3, confidence=0.8)
    assert found.evidence.holds(found.problem, found.channel, found.guarantee)
    shares = {s: tk.Finite(law.values, law.probabilities) for s, law in counts.items()}
    with pytest.raises(InputError, match="counts of rows: give whole numbers"):
        tk.calibrate(shares, odds=3, confidence=0.8)
    with pytest.raises(InputError, match="counts of rows"):
        tk.calibrate({s: tk.Finite(["x"], [1]) for s in "ab"}, odds=3, confidence=0.8)


@pytest.mark.parametrize("confidence", [0, 1, 0.4, 95, math.nan, "0.95", True])
def test_a_level_is_a_share(confidence):
    with pytest.raises(InputError, match="confidence must be"):
        tk.calibrate(ROW, odds=3, confidence=confidence)


def test_where_there_is_nothing_to_draw_from_it_is_said():
    by_hand = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}
    with pytest.raises(MechanismError, match="confidence"):
        tk.calibrate(by_hand, alpha=2, epsilon=1, confidence=0.9)
    with pytest.raises(MechanismError, match="confidence"):
        tk.calibrate(fitted(sample(0), tk.Raw("x", prior="gaussian")), alpha=2, epsilon=1, confidence=0.9)


def test_few_rows_lie_far_from_the_truth():
    few = fitted(sample(0, rows=(400, 6)), tk.Row("x", domain=range(6)))
    near, far = sampling_distances(tk.calibrate(few, odds=9).problem)
    assert 0 < near < far < 1
    made = tk.calibrate(few, odds=9, confidence=0.8)
    assert any("rests on 6 rows and the model of one more" in str(one) for one in made.findings)
    assert not any("model of one more" in str(one) for one in tk.calibrate(ROW, odds=9, confidence=0.8).findings)
    scarce = fitted(sample(0, rows=(400, 3)), tk.Row("x", domain=range(6)))
    with pytest.raises(InputError, match=r"only 3 rows.*confidence"):
        tk.calibrate(scarce, odds=9)


def test_evidence_that_was_made_up_does_not_hold():
    found = tk.calibrate(ROW, odds=3, confidence=0.8)
    bare = FiniteChannel.identity(found.channel.inputs)
    assert not found.evidence.holds(found.problem, bare, found.guarantee)
    many = dataclasses.replace(found.evidence, draws=20_000, seed=5)
    weak = tk.calibrate(ROW, odds=3)
    assert not many.holds(weak.problem, weak.channel, weak.guarantee)
    assert isinstance(found.evidence, Confidence)


def test_the_truth_is_within_the_promise_more_often_than_the_sample_says():
    """Known laws, sampled twelve times: the plug-in channel is often beyond the promise, the confident one is not."""
    beyond = {None: 0, 0.95: 0}
    for seed in range(12):
        priors = fitted(sample(seed, rows=(250, 60)), tk.Row("x", domain=range(6)))
        for confidence in beyond:
            channel = tk.calibrate(priors, odds=2, confidence=confidence).channel
            p, q = (law @ channel.matrix for law in TRUTH.values())
            beyond[confidence] += max(divergence(p, q, math.inf), divergence(q, p, math.inf)) > math.log(2)
    assert beyond[0.95] == 0
    assert beyond[None] >= 4


def _wards(shares, domain, seed):
    rng = np.random.default_rng(seed)
    secret = rng.choice(["a", "b"], 900)
    ward = np.where(secret == "a", *(rng.choice(["north", "south", "east"], 900, p=one) for one in shares))
    return tk.fit_priors(pd.DataFrame({"s": secret, "w": ward}), secret="s", query=tk.Row("w", domain=domain))


def test_beliefs_that_list_values_in_another_order_are_drawn_in_the_channel_s():
    """Draws of "north" that were taken for "east" would be evidence about a law that nobody believes."""
    names = ["north", "south", "east"]
    shares = [0.1, 0.3, 0.6], [0.2, 0.3, 0.5]
    first = _wards(([0.6, 0.3, 0.1], [0.5, 0.3, 0.2]), names, 1)
    same, turned = (_wards(shares, domain, 2) for domain in (names, names[::-1]))
    made = tk.calibrate([first, turned], odds=1.5, confidence=0.9)
    for number, expected in ((0, first), (1, same)):
        for secret in ("a", "b"):
            found = posterior(made.problem)[number][secret]
            assert found.counts.tolist() == expected.counts[secret].tolist()
            assert found.pseudo.tolist() == pytest.approx(expected.pseudo[secret].tolist())
    assert made.meets_budget()
    again = tk.Calibration.from_dict(made.to_dict())
    assert again.evidence.holds(again.problem, again.channel, again.guarantee)


def test_beliefs_about_other_values_have_no_draws_in_common():
    shares = [0.6, 0.3, 0.1], [0.5, 0.3, 0.2]
    first = _wards(shares, ["north", "south", "east"], 1)
    wider = _wards(shares, ["north", "south", "east", "west"], 2)
    with pytest.raises(tk.InputError, match="fit all beliefs on the same lists"):
        tk.calibrate([first, wider], odds=1.5, confidence=0.9)


def test_a_search_among_large_channels_ends_near_the_least_factor():
    """A radius that the draws do not ask for costs a multiple here: this once was at 1.85, and now is at 0.14."""
    ages = tk.Row("age", domain={"age": list(range(17, 91))})
    priors = tk.fit_priors(tk.datasets.load("adult"), secret="race", query=ages, secrets=["White", "Black"])
    made = tk.calibrate(priors, alpha=3, epsilon=0.2, confidence=0.95, preserve=None)
    assert made.error < 0.3
    assert made.evidence.holds(made.problem, made.channel, made.guarantee)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ((0.0, math.inf), (0.5, 0.1), 0.125),
        ((0.1, 4.0), (0.4, 0.25), 0.2),  # a power of the factor: found at once
        ((0.1, math.inf), (0.4, 0.25), 0.2),
        ((0.1, 1.01), (0.4, 0.0), 0.2),
    ],
)
def test_where_a_search_looks_next(low, high, expected):
    assert _between(low, high, down=4.0) == pytest.approx(expected)


def test_a_channel_in_a_file_was_judged_by_as_many_draws_as_its_level_asks_for():
    """It was fitted to draws too: those that judge noise, whose one number they set, are too few for it."""
    made = tk.calibrate(tk.fit_priors(sample(3), secret="s", query=tk.Row("x")), odds=3, confidence=0.95)
    assert made.evidence.draws >= draws_needed(0.95, halvings=1) == 72
    assert tk.Calibration.from_dict(made.to_dict()) == made
    fewer = dataclasses.replace(made, evidence=dataclasses.replace(made.evidence, draws=71))
    with pytest.raises(InputError, match=r"evidence\.draws must be 72 or more"):
        tk.Calibration.from_dict(fewer.to_dict())


@pytest.mark.parametrize("columns", ["x", ["x", "y"]])
def test_rows_that_are_all_alike_say_nothing_of_the_population_s_mean(columns):
    """Nobody of 40 has what one in twenty has: draws of that sample are all alike too, and would withstand anything."""
    people = pd.DataFrame({"s": ["a"] * 200 + ["b"] * 40, "x": [0.0, 0.0, 100.0, 0.0] * 50 + [0.0] * 40})
    people["y"] = np.random.default_rng(0).normal(size=240)
    priors = fitted(people, tk.Mean(columns))
    tk.calibrate(priors, alpha=3, epsilon=1)  # for these rows alone
    with pytest.raises(MechanismError, match="rows with secret 'b' are all alike"):
        tk.calibrate(priors, alpha=3, epsilon=1, confidence=0.95)


class Told(Model):
    """A model that says the same of everybody, with draws of its parameters."""

    name, kind = "model", "gp"

    def predict(self, sample, label):
        return Prediction(0.0, 1.0, 0.5, None, (np.linspace(-0.2, 0.2, self.draws), np.ones(self.draws)))

    def predict_jointly(self, sample, label):
        means = np.linspace([-0.2, -0.1], [0.2, 0.1], self.draws)
        return JointPrediction(np.zeros(2), np.eye(2), np.full(2, 0.5), None, (means, np.ones(self.draws)))


@pytest.mark.parametrize("at", [None, [{"y": 0.0}, {"y": 1.0}]])
def test_nor_of_what_a_model_says_of_it(at):
    """No model is trained on rows that are all alike, and what stands for its draws is the sample again."""
    people = pd.DataFrame({"s": ["a"] * 20 + ["b"] * 20, "x": [0.0, 1.0] * 10 + [0.5] * 20, "y": [0.0, 1.0] * 20})
    priors = fitted(people, Told("x", features=["y"], at=at, draws=59))
    tk.calibrate(priors, alpha=3, epsilon=1)
    with pytest.raises(MechanismError, match="rows with secret 'b' are all alike"):
        tk.calibrate(priors, alpha=3, epsilon=1, confidence=0.95)
    people["x"] = [0.0, 1.0] * 20
    priors = fitted(people, Told("x", features=["y"], at=at, draws=59))
    assert tk.calibrate(priors, alpha=3, epsilon=1, confidence=0.95).evidence.draws == 59


def test_a_seed_that_was_chosen_is_told():
    """By trying one after another, who calibrates could find draws that let pass what others would not."""
    for draws, seed in ((59, 0), (72, 1_000_003), (126, 64 * 1_000_003)):
        assert Confidence(0.95, draws, seed, 1.0).sentence.endswith("not a proof")
    for seed in (1, 7 + 1_000_003, 10**6 * 1_000_003):
        assert "this seed was chosen" in Confidence(0.95, 400, seed, 1.0).sentence
    # Those of later tries and of turns without the draws that these have.
    for draws, seed in ((58, 0), (71, 1_000_003), (72, 2 * 1_000_003), (125, 64 * 1_000_003), (72, 999 * 1_000_003)):
        assert "this seed was chosen" in Confidence(0.95, draws, seed, 1.0).sentence
    assert "this seed was chosen" not in tk.calibrate(RAW, alpha=3, epsilon=1, confidence=0.9).evidence.sentence
