"""Broken releases are caught, honest ones are not, and the words say what was found."""

import dataclasses
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from broken_releases import BROKEN, HONEST, audited, gaussian, honest, labelled, people, the_same_people_twice

import takifugu as tk
from how_many import some_of
from takifugu.audits.outcome import (
    Attack,
    Audit,
    Diagnostic,
    Guess,
)
from takifugu.problems.guarantee import ApproximateRenyi, Renyi

SEEDS = range(1, 1 + some_of(2))


@pytest.mark.parametrize("make", BROKEN, ids=lambda make: make.__name__)
def test_a_broken_release_is_caught(make):
    for seed in SEEDS:
        found = audited(make, BROKEN[make], seed)
        assert found.contradicted
        assert found.lower_bound > found.guarantee.epsilon
        assert str(found).startswith("The guarantee is contradicted")


@pytest.mark.parametrize("make", HONEST, ids=lambda make: make.__name__)
def test_an_honest_release_is_not(make):
    for seed in SEEDS:
        found = audited(make, 2_000, seed)
        assert not found.contradicted
        assert found.best_guess.low <= found.guess_limit
        assert "never a proof" in str(found)


def test_the_attack_that_shows_most_says_where_the_fault_is():
    found = {make.__name__: audited(make, rows, 1) for make, rows in BROKEN.items()}
    assert found["telling_order"].strongest.attacker == "order"
    assert found["surviving_digits"].strongest.attacker in ("traces", "gradient boosting", "nearest neighbours")
    assert "club" in found["kept_column"].strongest.sees
    kinds = {name: {finding.code for finding in one.findings} for name, one in found.items()}
    assert "not-covered" in kinds["kept_column"]
    assert "less-noise" in kinds["half_the_noise"] & kinds["reused_noise"]
    assert "published-as-is" in kinds["unchanged"]
    assert not kinds["telling_order"] & {"less-noise", "published-as-is", "not-covered", "not-through-channel"}


def test_a_guess_agrees_with_what_is_known():
    """Two bells 2 apart with deviation 2: the best guess is right with probability Φ(1/2) = 0.691."""
    found = audited(honest, 12_000, 3)
    ratio = next(one for one in found.attacks if one.attacker == "priors")
    assert ratio.guess == pytest.approx(0.6915, abs=0.02)
    assert ratio.guess.low < 0.6915 < ratio.guess.high
    assert dict(found.before)[ratio.pair] == pytest.approx(0.841, abs=0.03)
    assert 0.5 < found.lower_bound < 1.0


def test_few_rows_are_said_to_show_little():
    found = audited(honest, 150, 1)
    assert {one.code for one in found.findings} == {"few-rows-audited"}
    assert found.best_guess.high - found.best_guess.low > 0.2
    with pytest.raises(tk.InputError, match="too few to attack"):
        audited(honest, 30, 1)


def test_an_audit_is_the_same_again_and_travels():
    one = audited(honest, 400, 1)
    rng = np.random.default_rng(1)
    assert tk.audit(*honest(rng, 400), secret="s", seed=1) == one
    copy = pickle.loads(pickle.dumps(one))
    assert copy == one
    assert copy.best_guess.low == one.best_guess.low


def test_progress_goes_to_the_end():
    seen = []
    rng = np.random.default_rng(0)
    found = tk.audit(*honest(rng, 300), secret="s", progress=lambda done, all_: seen.append((done, all_)))
    assert seen[-1] == (len(found.attacks),) * 2
    assert [done for done, _ in seen] == list(range(len(found.attacks) + 1))


def test_what_is_known_is_no_contradiction_but_a_failure_in_a_cell_is():
    """Sex goes with the secret, and the adversary may know it; within one sex a broken channel tells more."""
    rng = np.random.default_rng(4)
    truth = labelled(rng, 8_000)
    truth["sex"] = np.where(rng.random(8_000) < np.where(truth.s == "a", 0.9, 0.1), "f", "m")
    priors = tk.fit_priors(truth, secret="s", query=tk.Row("x"), known=["sex"])
    calibration = tk.calibrate(priors, odds=3)
    released = tk.release(truth, calibration, keep=["sex"], order="keep")
    # The draws are fresh, and at the usual level one audit in twenty may raise a false alarm.
    found = tk.audit(released, truth, calibration, level=1e-6)
    assert not found.contradicted
    f, m = " where sex = f", " where sex = m"
    assert {one.where for one in found.attacks} == {"", f, m}
    assert any("sex" in one.sees for one in found.attacks)
    leaking = released.assign(x=released.x.where(released.sex == "m", truth.x))
    broken = tk.audit(leaking, truth, calibration)
    assert broken.contradicted
    worst = {where: max(one.lower_bound for one in broken.attacks if one.where == where) for where in (f, m)}
    assert worst[m] < math.log(3) < worst[f]  # that cell alone fails, whichever attack happens to come out strongest


def test_a_second_promise_about_odds_is_audited_too():
    rng = np.random.default_rng(5)
    truth = labelled(rng, 3_000)
    laws = tk.fit_priors(truth, secret="s", query=tk.Row("x"))
    calibration = tk.calibrate(laws, alpha=2, epsilon=5, odds=3)
    found = tk.audit(tk.release(truth, calibration, order="keep"), truth, calibration, level=1e-6)
    assert not found.contradicted
    assert all(one.odds_bound is not None for one in found.attacks)
    broken = tk.audit(truth[["x"]], truth, calibration)
    assert broken.contradicted
    assert broken.lower_bound < 5
    assert "odds of more than" in broken.sentences[0]


@pytest.mark.parametrize(
    ("promise", "bound", "says"),
    [
        (Renyi(math.inf, math.log(3)), 1.7295, "by odds of more than 5.63, and odds within a factor of 3"),
        (Renyi(math.inf, math.log(3)), 0.8, "they show odds of 2.22, and others may show more"),
        (Renyi(2.0, 0.5), 1.7295, "by more than 1.72, and"),
        (Renyi(2.0, 2.0), 1.7295, "they show a loss of 1.72, and others may show more"),
    ],
)
def test_what_is_shown_is_told_in_the_words_of_the_promise_and_not_rounded_up(promise, bound, says):
    """Beside a factor of 3, "more than 1.73" would look as if all was well."""
    attack = Attack("priors", "x", ("a", "b"), "", (90, 90), Guess(0.6, low=0.5, high=0.7), bound)
    assert says in Audit(promise, (attack,), 0.95, ()).sentences[0]


def test_several_secrets_and_missing_values():
    rng = np.random.default_rng(6)
    rows = 900
    truth = pd.DataFrame({"s": rng.choice([1, 2, 3], rows), "x": rng.normal(0, 1, rows)})
    priors = {k: tk.Mixture.gaussian(0, 1) for k in (1, 2, 3)}
    calibration = tk.calibrate({**priors, 3: tk.Mixture.gaussian(0.1, 1)}, alpha=2, epsilon=0.5)
    published = pd.DataFrame({"x": truth.x + rng.normal(0, 1, rows), "y": rng.choice(["p", None], rows)})
    published.loc[::7, "x"] = np.nan
    found = tk.audit(published, truth.assign(s=truth.s.astype(str)), calibration, secret="s")
    assert {one.pair for one in found.attacks} == {(1, 2), (1, 3), (2, 3)}
    assert "no-priors-attack" in {one.code for one in found.findings}
    assert not found.contradicted


def test_the_secret_itself_is_noticed():
    rng = np.random.default_rng(7)
    truth = labelled(rng, 600)
    calibration = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Row("x")), odds=3)
    found = tk.audit(tk.release(truth, calibration, order="keep").assign(s=truth.s), truth, calibration)
    assert found.contradicted
    assert "secret-published" in {one.code for one in found.findings}


def test_a_channel_with_rows_in_another_order_is_noticed():
    rng = np.random.default_rng(8)
    truth = labelled(rng, 600)
    calibration = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Row("x")), odds=3)
    mixed = tk.release(truth, calibration, order="keep").sample(frac=1, random_state=1).reset_index(drop=True)
    assert "not-through-channel" in {one.code for one in tk.audit(mixed, truth, calibration).findings}


def test_noise_in_another_order_is_noticed():
    rng = np.random.default_rng(8)
    published, truth, calibration = honest(rng, 600)
    mixed = published.sample(frac=1, random_state=1).reset_index(drop=True)
    assert "more-noise" in {one.code for one in tk.audit(mixed, truth, calibration, secret="s").findings}


def test_an_array_is_a_column():
    rng = np.random.default_rng(9)
    truth = people(rng, 300)
    found = tk.audit(truth.x.to_numpy() + rng.normal(0, gaussian().theta, 300), truth, gaussian(), secret="s")
    assert "priors" in {one.attacker for one in found.attacks}


@pytest.mark.parametrize(
    ("given", "options", "says"),
    [
        ("theta = 1", {}, "needs the Calibration"),
        (None, {"level": 0.7}, "level must be"),
        (None, {"level": "high"}, "level must be"),
        (None, {"seed": -1}, "seed must be"),
    ],
)
def test_what_cannot_be_audited_is_refused(given, options, says):
    rng = np.random.default_rng(0)
    published, truth, calibration = honest(rng, 100)
    with pytest.raises(tk.InputError, match=says):
        tk.audit(published, truth, calibration if given is None else given, secret="s", **options)


def test_weaker_promises_and_answers_about_groups_are_refused():
    rng = np.random.default_rng(0)
    published, truth, _ = honest(rng, 100)
    laws = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(2, 2)}
    weaker = tk.calibrate(laws, alpha=2, epsilon=1, mechanism="wasserstein-approx", delta=0.01)
    assert isinstance(weaker.guarantee, ApproximateRenyi)
    with pytest.raises(tk.InputError, match="says nothing about a share"):
        tk.audit(published, truth, weaker, secret="s")
    mean = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Mean("x")), alpha=2, epsilon=1)
    with pytest.raises(tk.InputError, match="one number about a group") as refused:
        tk.audit(published, truth, mean)
    assert "of=" not in str(refused.value)  # an audit has no such argument
    assert str(refused.value).endswith("`certify` and `verify`")


def test_the_order_of_rows_beside_the_wrong_truth_is_that_of_the_truth():
    def attack(name, share, bound):
        return Attack(name, name, ("a", "b"), "", (50, 50), Guess(share, low=share, high=share), bound)

    attacks = (attack("order", 0.97, 2.6), attack("priors", 0.55, 0.1))
    found = Audit(Renyi(np.inf, np.log(3)), attacks, 0.95, ())
    assert found.contradicted
    shuffled = dataclasses.replace(found, findings=(Diagnostic("not-through-channel", rows=286, of=500),))
    assert not shuffled.contradicted
    assert (shuffled.best_guess, shuffled.lower_bound) == (0.55, 0.1)
    assert str(shuffled).startswith("Nothing follows from this audit: 286 of 500 rows")
    bare = dataclasses.replace(shuffled, attacks=(attacks[0], attack("priors", 0.9, 1.8)))
    assert bare.contradicted


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_people_published_twice_are_caught_where_both_tables_are_joined(seed):
    """Each of the two tables keeps its odds of 2; line by line they move odds by nearly 4."""
    first, second, truth, calibration = the_same_people_twice(seed)
    for one in (first, second):
        assert not tk.audit(one, truth, calibration, seed=7).contradicted
    found = tk.audit((first, second), truth, calibration, seed=7)
    assert found.contradicted
    assert math.log(2) < found.lower_bound < math.log(4) + 0.2
    with pytest.raises(tk.InputError, match="different lengths"):
        tk.audit((first, second[:-1]), truth, calibration)
