"""What is calibrated on the bundled datasets is proved, and a shade less noise never is."""

import dataclasses
import math
from functools import cache

import pytest

import takifugu as tk
from takifugu.channels.gaussian import GaussianNoise

QUESTIONS = {
    "adult": ("race", ("White", "Other"), "education-num"),
    "heart": ("slope", (1, 3), "oldpeak"),
    "student-mat": ("schoolsup", ("no", "yes"), "G3"),
    "student-por": ("schoolsup", ("no", "yes"), "G3"),
}


@cache
def priors(name, kind):
    secret, pair, column = QUESTIONS[name]
    fitted = tk.fit_priors(tk.datasets.load(name), secret=secret, query=tk.Raw(column, prior=kind), secrets=pair)
    return {s: fitted[s] for s in pair}


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("kind", ["mixture", "empirical", "gaussian"])
@pytest.mark.parametrize(("alpha", "epsilon"), [(1.1, 0.1), (2.5, 1.0), (3.0, 0.5), (64.0, 2.0)])
def test_raw_values(name, kind, alpha, epsilon):
    beliefs = priors(name, kind)
    result = tk.calibrate(beliefs, alpha=alpha, epsilon=epsilon)
    tk.verify(tk.certify(result))
    total = result.variance + max(prior.variance for prior in beliefs.values())
    less = result.variance - 1e-6 * total
    if less > 0:
        with pytest.raises(tk.CertificationError):
            tk.certify(dataclasses.replace(result, channel=GaussianNoise(math.sqrt(less))))
