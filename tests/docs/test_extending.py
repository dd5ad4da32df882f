"""What CONTRIBUTING.md shows is sound: a mechanism, a law and a query of one's own."""

import importlib.util
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_examples import ROOT
from scipy.stats import poisson

import takifugu as tk
from how_many import some_of


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/examples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@settings(max_examples=some_of(25))
@given(st.floats(-0.99, 2), st.floats(-3, 3), st.floats(0.2, 3), st.floats(1.1, 10), st.floats(0.05, 4))
def test_a_foreign_mechanism_never_goes_below_the_exact_noise(margin, gap, std, alpha, epsilon):
    priors = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(gap, std)}
    rule = example("new_mechanism").WithMargin(margin=margin)
    made = tk.calibrate(priors, alpha=alpha, epsilon=epsilon, mechanism=rule)
    least = tk.calibrate(priors, alpha=alpha, epsilon=epsilon)
    assert made.theta >= least.theta * (1 - 1e-9)
    assert made.meets_budget()


@pytest.mark.parametrize("mean", [0.1, 2, 9])
def test_the_law_is_that_of_the_clipped_count(mean):
    law = example("new_law").poisson(mean, most=8)
    for k in range(8):
        assert law.probability(k) == pytest.approx(poisson.pmf(k, mean), rel=1e-12)
    assert law.probability(8) == pytest.approx(poisson.sf(7, mean), abs=1e-15)


def test_the_query_counts_what_pandas_counts():
    people = tk.datasets.load("adult")
    share = example("new_query").Share("marital-status", "Divorced")
    priors = tk.fit_priors(people, secret="race", query=share)
    for name, law in priors.items():
        rows = people[people["race"] == name]
        p = (rows["marital-status"] == "Divorced").mean()
        assert law.mean == pytest.approx(p)
        assert law.std == pytest.approx(math.sqrt(p * (1 - p) / len(rows)))
        assert priors.rows[name] == len(rows)
    assert set(tk.fit_priors(people, secret="race", query=share, secrets=["Other"])) == {"Other"}
