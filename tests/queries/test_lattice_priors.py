"""Raw values on a lattice: which prior, which bounds, and what a reader is told."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.laws.fitting.counts import own_normal
from takifugu.laws.lattice import Lattice
from takifugu.problems import require_rows


def kinds(priors):
    return {finding.code for finding in priors.findings}


def of_kind(priors, kind):
    (found,) = (finding for finding in priors.findings if finding.code == kind)
    return found


@pytest.fixture
def grades():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"s": ["a"] * 300 + ["b"] * 60, "x": np.clip(np.rint(rng.normal(11, 4, 360)), 0, 20)})


def test_counts_with_one_pseudo_row_are_the_default(grades):
    priors = tk.fit_priors(grades, secret="s", query=tk.Raw("x", bounds=(0, 20), step=1))
    lattice = Lattice(0, 20, 1)
    assert priors.lattice == lattice
    for secret, rows in grades.groupby("s")["x"]:
        counts = lattice.count(rows)
        assert (priors.counts[secret] == counts).all()
        expected = (counts + own_normal(lattice, counts)) / (len(rows) + 1)
        assert priors[secret].weights == pytest.approx(expected[expected > 0], rel=1e-12)
        assert priors.counted[secret].pseudo == pytest.approx(own_normal(lattice, counts))
    assert not kinds(priors) & {"lattice-read", "clipped"}
    same = tk.fit_priors(grades, secret="s", query=tk.Raw("x", prior="counts", bounds=(0, 20), step=1))
    assert dict(same) == dict(priors)


def test_bounds_that_are_read_are_told(grades):
    priors = tk.fit_priors(grades, secret="s", query=tk.Raw("x"))
    found = of_kind(priors, "lattice-read")
    assert (found["bounds_read"], found["step_read"], found["step"]) == (True, True, 1.0)
    assert "were read from the data" in found.sentence
    assert "smallest and largest" in found.sentence
    only_step = of_kind(tk.fit_priors(grades, secret="s", query=tk.Raw("x", bounds=(0, 20))), "lattice-read")
    assert str(only_step) == "the step 1 of column 'x' was read from the data: give it if it is public"


def test_values_beyond_the_bounds_are_clipped_and_counted(grades):
    priors = tk.fit_priors(grades, secret="s", query=tk.Raw("x", bounds=(5, 15), step=1))
    assert of_kind(priors, "clipped")["rows"] == int(((grades.x < 5) | (grades.x > 15)).sum())
    assert priors["a"].means.min() == 5
    assert sum(c.sum() for c in priors.counts.values()) == len(grades)


@pytest.mark.parametrize("prior", ["mixture", "gaussian", "empirical"])
def test_the_other_priors_on_a_lattice(grades, prior):
    query = tk.Raw("x", prior=prior, bounds=(0, 20), step=1, max_components=2)
    priors = tk.fit_priors(grades, secret="s", query=query)
    assert priors.lattice == Lattice(0, 20, 1)
    for secret, rows in grades.groupby("s")["x"]:
        law = priors[secret]
        assert law.is_discrete
        assert set(law.means) <= set(range(21))
        assert law.mean == pytest.approx(rows.mean(), abs=0.15)
        if prior == "empirical":
            assert law == tk.Mixture.empirical(rows)


def test_a_mixture_of_rounded_values_is_fitted_to_intervals():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"s": ["a"] * 2000 + ["b"] * 2000, "x": np.rint(rng.normal(50, 6, 4000))})
    priors = tk.fit_priors(table, secret="s", query=tk.Raw("x", prior="mixture", max_components=3))
    assert priors.lattice is not None
    assert not [f for f in priors.findings if f.level == "warning"]  # nothing that a user can do nothing about


def test_continuous_values_are_left_alone_unless_asked():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"s": ["a"] * 200 + ["b"] * 200, "x": rng.normal(0, 1, 400)})
    assert tk.fit_priors(table, secret="s", query=tk.Raw("x", max_components=2)).lattice is None
    asked = tk.fit_priors(table, secret="s", query=tk.Raw("x", prior="counts"))
    assert asked.lattice is not None
    assert len(asked.lattice) <= 1000
    assert of_kind(asked, "coarser-step")["finer"] == 0.0
    stepped = tk.fit_priors(table, secret="s", query=tk.Raw("x", step=0.25))
    assert stepped.lattice.step == 0.25


def test_a_step_of_zero_leaves_values_as_they_are(grades):
    priors = tk.fit_priors(grades, secret="s", query=tk.Raw("x", prior="mixture", step=0, max_components=2))
    assert priors.lattice is None
    assert not priors["a"].is_discrete


def test_too_many_points_get_a_coarser_step():
    table = pd.DataFrame({"s": ["a", "a", "b", "b"] * 5, "x": np.arange(20) * 977.0})
    priors = tk.fit_priors(table, secret="s", query=tk.Raw("x", bounds=(0, 20_000), step=1))
    assert priors.lattice == Lattice(0, 20_000, 50)
    assert str(of_kind(priors, "coarser-step")).startswith("a step of 1 would make too many points")


def test_a_heavy_tail_gets_advice():
    rng = np.random.default_rng(3)
    cost = np.rint(np.exp(rng.normal(5, 1.5, 1000))) + 1
    table = pd.DataFrame({"s": ["a", "b"] * 500, "cost": cost})
    found = of_kind(tk.fit_priors(table, secret="s", query=tk.Raw("cost", prior="counts")), "heavy-tail")
    assert "transform='log'" in found.sentence
    assert "clips 1 % of the rows" in found.sentence
    log = tk.fit_priors(table, secret="s", query=tk.Raw("cost", bounds=(1, 100_000), step=0.1, transform="log"))
    assert log.lattice.transform == "log"
    assert "heavy-tail" not in kinds(log)
    assert log["a"].mean == pytest.approx(np.log(cost[::2]).mean(), abs=0.05)
    free = tk.fit_priors(table, secret="s", query=tk.Raw("cost", transform="log"))
    assert "lattice-read" in kinds(free)


def test_three_rows_are_used_only_with_confidence_or_when_allowed():
    table = pd.DataFrame({"s": ["a"] * 50 + ["b"] * 3, "x": [*np.tile(np.arange(10), 5), 2, 3, 7]})
    query = tk.Raw("x", bounds=(0, 9), step=1)
    priors = tk.fit_priors(table, secret="s", query=query)
    assert priors.scarce == ("b",)
    assert "has 3 rows: by chance alone" in str(of_kind(priors, "scarce-rows"))
    with pytest.raises(tk.InputError, match="only 3 rows, fewer than 5: ask for confidence"):
        require_rows(priors, confidence=None)
    require_rows(priors, confidence=0.95)
    require_rows(tk.fit_priors(table, secret="s", query=query, few="allow"), confidence=None)
    require_rows([dict(priors)], confidence=None)
    with pytest.raises(tk.InputError, match="few must be"):
        tk.fit_priors(table, secret="s", query=query, few="yes")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bounds": (9, 1)}, "turn them round"),
        ({"bounds": (0, 1), "step": 0.3}, "does not divide"),
        ({"bounds": 7}, "two numbers"),
        ({"bounds": (0, float("nan"))}, "finite number"),
        ({"step": -1}, "above 0"),
        ({"step": "1"}, "finite number"),
        ({"step": 0, "prior": "counts"}, "leaves values as they are"),
        ({"step": 0, "bounds": (0, 1)}, "leaves values as they are"),
        ({"transform": "sqrt"}, "transform must be"),
        ({"transform": "log", "bounds": (0, 5)}, "above 0"),
        ({"prior": "count"}, "Did you mean 'counts'"),
    ],
)
def test_bad_lattices_are_refused_before_a_table_is_read(given, message):
    with pytest.raises(tk.InputError, match=message):
        tk.Raw("x", **given)


def test_lattice_priors_travel(grades):
    priors = tk.fit_priors(grades, secret="s", query=tk.Raw("x", bounds=(0, 20), step=1))
    for twin in (pickle.loads(pickle.dumps(priors)), copy.deepcopy(priors)):
        assert (dict(twin), twin.lattice, twin.label) == (dict(priors), priors.lattice, "")
        assert (twin.counts["a"] == priors.counts["a"]).all()


def test_noise_on_the_census_falls_as_the_budget_grows():
    people = tk.datasets.load("adult")
    priors = tk.fit_priors(people, secret="race", query=tk.Raw("education-num"), secrets=["White", "Other"])
    thetas = [tk.calibrate(priors, alpha=3, epsilon=e).theta for e in (0.25, 0.5, 0.75, 1.0)]
    assert thetas == sorted(thetas, reverse=True)
    assert thetas[1] == pytest.approx(1.80, abs=0.01)
    assert thetas[3] == 0.0
