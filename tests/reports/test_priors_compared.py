"""The noise under other priors is told where it differs much."""

import math

import pytest

import takifugu as tk
from takifugu.reports import words
from takifugu.reports.facts import UnderPrior, facts_of, hangs_on_prior, priors_compared


def heart(prior):
    query = tk.Raw("oldpeak", prior=prior, bounds=(0, 8), step=0.1)
    priors = tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=query, secrets=[1, 3])
    return tk.calibrate(priors, alpha=3, epsilon=1)


def test_the_others_are_what_calibrate_gives_for_them():
    made = heart("counts")
    data = tk.datasets.load("heart")
    groups = {secret: data.loc[data["slope"] == secret, "oldpeak"] for secret in (1, 3)}
    own, normal = priors_compared(made)
    by_hand = {secret: tk.Mixture.empirical(values) for secret, values in groups.items()}
    assert own.theta == pytest.approx(tk.calibrate(by_hand, alpha=3, epsilon=1).theta, rel=1e-6)
    bells = {secret: tk.Mixture.gaussian(values.mean(), values.std(ddof=0)) for secret, values in groups.items()}
    assert normal.theta == pytest.approx(tk.calibrate(bells, alpha=3, epsilon=1).theta, rel=1e-6)
    facts = facts_of(made)
    told = words.priors(facts)
    if hangs_on_prior(facts.theta, facts.spread, facts.other_priors):
        assert "depends on the prior" in told
        assert "one normal per secret" in told
    else:
        assert told is None


def test_much_more_or_nothing_at_all_is_worth_a_word():
    def others(theta):
        return (UnderPrior("one normal per secret", theta),)

    assert hangs_on_prior(0.0, 1.0, others(246.0))
    assert hangs_on_prior(1.0, 1.0, others(2.5))
    assert hangs_on_prior(1.0, 1.0, others(math.inf))
    assert not hangs_on_prior(1.0, 1.0, others(1.5))
    assert not hangs_on_prior(0.0, 1.0, others(0.01))  # both are as good as nothing
    assert not hangs_on_prior(1.0, 1.0, ())


def test_priors_made_by_hand_rest_on_no_rows():
    made = tk.calibrate({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}, alpha=2, epsilon=1)
    assert priors_compared(made) == ()
    assert words.priors(facts_of(made)) is None
