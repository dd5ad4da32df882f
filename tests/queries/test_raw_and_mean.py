"""Raw values and means: priors against numpy, and the remarks that come with them."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import takifugu as tk
from takifugu.problems.diagnostics import Diagnostic
from takifugu.queries.priors import Priors
from takifugu.queries.raw import kolmogorov
from takifugu.tables import counting
from takifugu.tables.counting import Subset

CASES = [tk.datasets.about(name) for name in tk.datasets.names()]


def sentences(priors: Priors) -> list[str]:
    return [str(finding) for finding in priors.findings]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_gaussian_prior_has_the_moments_of_the_subset(case):
    data = tk.datasets.load(case.name)
    priors = tk.fit_priors(data, secret=case.secret, query=tk.Raw(case.answer, prior="gaussian"))
    for secret, group in data.groupby(case.secret)[case.answer]:
        assert priors[secret].means == pytest.approx([group.mean()], rel=1e-12)
        assert priors[secret].stds == pytest.approx([group.std(ddof=0)], rel=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_empirical_prior_is_the_subset(case):
    data = tk.datasets.load(case.name)
    priors = tk.fit_priors(data, secret=case.secret, query=tk.Raw(case.answer, prior="empirical"))
    for secret, group in data.groupby(case.secret)[case.answer]:
        assert priors[secret] == tk.Mixture.empirical(group)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_mean_has_the_standard_error_of_the_subset(case):
    data = tk.datasets.load(case.name)
    priors = tk.fit_priors(data, secret=case.secret, query=tk.Mean(case.answer))
    for secret, group in data.groupby(case.secret)[case.answer]:
        assert priors[secret].means == pytest.approx([group.mean()], rel=1e-12)
        assert priors[secret].stds == pytest.approx([group.sem()], rel=1e-12)
        assert priors.rows[secret] == len(group)


def test_huge_values_do_not_overflow():
    table = pd.DataFrame({"s": ["a"] * 3, "x": [-8e307, 0.0, 8e307]})
    prior = tk.fit_priors(table, secret="s", query=tk.Raw("x", prior="gaussian"))["a"]
    assert prior.stds[0] == pytest.approx(8e307 * math.sqrt(2 / 3))


def test_far_from_zero_no_digit_is_lost():
    x = 1e12 + np.array([0.0, 1.0, 2.0, 3.0])
    prior = tk.fit_priors(pd.DataFrame({"s": ["a"] * 4, "x": x}), secret="s", query=tk.Raw("x", prior="gaussian"))
    assert prior["a"].stds[0] == pytest.approx(math.sqrt(1.25), rel=1e-14)


def test_what_was_left_out_is_told():
    table = pd.DataFrame({"s": ["a", "a", "a", "b", "b", None], "x": [1.0, 2.0, None, 3.0, 4.0, 5.0]})
    found = tk.fit_priors(table, secret="s", query=tk.Raw("x", prior="empirical"))
    assert sentences(found) == [
        "1 row had no secret in 's' and was left out",
        "1 row had no value in 'x' and was left out",
        "secret 'a' has 2 rows: its prior is uncertain",
        "secret 'b' has 2 rows: its prior is uncertain",
    ]
    assert found.findings[0].to_dict() == {
        "code": "no-secret",
        "level": "note",
        "column": "s",
        "rows": 1,
        "sentence": "1 row had no secret in 's' and was left out",
    }


@pytest.mark.parametrize("query", [tk.Raw("x", prior="gaussian"), tk.Mean("x")], ids=["raw", "mean"])
def test_a_constant_subset_is_a_point_and_is_told(query):
    table = pd.DataFrame({"s": ["a"] * 3 + ["b"] * 3, "x": [0.1, 0.1, 0.1, 1, 2, 3]})
    found = tk.fit_priors(table, secret="s", query=query)
    assert found["a"] == tk.Mixture.gaussian(0.1, 0.0)
    assert Diagnostic("constant", secret="a", column="x", value=0.1) in found.findings


def test_a_gaussian_that_misses_the_data_is_told():
    table = pd.DataFrame({"s": ["a"] * 200, "x": [0.0] * 150 + [1.0] + [10.0] * 49})
    found = tk.fit_priors(table, secret="s", query=tk.Raw("x", prior="gaussian"))
    (remark,) = found.findings
    assert remark.code == "poor-fit"
    assert remark["distance"] == pytest.approx(0.75 - found["a"].cdf(0.5))
    assert "misses the data by a Kolmogorov distance of" in remark.sentence


def test_the_kolmogorov_distance_of_a_perfect_prior_of_rounded_values_is_small():
    steps = np.arange(-40.0, 41.0)
    normal = tk.Mixture.gaussian(0.0, 5.0)
    counts = 1e6 * (normal.cdf(steps + 0.5) - normal.cdf(steps - 0.5))
    assert kolmogorov(normal, Subset(steps, counts, 0.0), step=1.0) < 1e-6


def test_a_grid_is_told(monkeypatch):
    monkeypatch.setattr(counting, "DISTINCT", 50)
    table = pd.DataFrame({"s": ["a"] * 500, "x": np.random.default_rng(0).normal(size=500)})
    monkeypatch.setattr(counting, "_CELLS", 64)
    found = tk.fit_priors(table, secret="s", query=tk.Raw("x", prior="gaussian"))
    (remark,) = (f for f in found.findings if f.code == "gridded")
    assert 0 < remark["width"] <= (table["x"].max() - table["x"].min()) / 64


def test_only_the_secrets_asked_for():
    found = tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=tk.Mean("oldpeak"), secrets=["3", 1])
    assert list(found) == [3, 1]


def test_a_secret_that_is_not_there():
    found = tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=tk.Mean("oldpeak"))
    with pytest.raises(tk.InputError, match="no prior for secret 4: those there are, are 1, 2, 3") as caught:
        found[4]
    assert isinstance(caught.value, KeyError)
    assert found.get(4) is None
    assert found[1.0] is found[1]


def test_priors_travel():
    found = tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=tk.Mean("oldpeak"))
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (twin, twin.findings, twin.rows) == (found, found.findings, found.rows)


@pytest.mark.parametrize("query", ["age", None, tk.Raw, 3])
def test_a_query_is_one_of_ours(query):
    with pytest.raises(tk.InputError, match="query must be a Raw, Row, Mean, GP or BNN"):
        tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=query)


def test_an_unknown_kind_of_prior():
    with pytest.raises(tk.InputError, match=r"prior must be one of .*; got 'gausian'. Did you mean 'gaussian'\?"):
        tk.Raw("x", prior="gausian")


@pytest.mark.parametrize("query", [tk.Raw("slope"), tk.Mean("slope")], ids=["raw", "mean"])
def test_the_secret_is_not_the_answer(query):
    with pytest.raises(tk.InputError, match="both the secret and the answer"):
        tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=query)


def test_every_remark_says_what_it_means():
    assert [str(f) for f in (
        Diagnostic("few-rows", secret="Other", rows=21),
        Diagnostic("no-value", columns=("a", "b", "c", "d", "e", "f"), rows=6),
        Diagnostic("no-secret", column="race", rows=2),
        Diagnostic("component-limit", secret="White", limit=10),
        Diagnostic("rounded", column="x", step=1.0, floor=1 / math.sqrt(12)),
        Diagnostic("subsampled", secret="White", rows=41_762, used=1_000),
        Diagnostic("not-converged", secret="yes", model="Gaussian process", detail="more rows would help"),
    )] == [
        "secret 'Other' has 21 rows: its prior is uncertain",
        "6 rows had no value in 'a', 'b', 'c', 'd' or 2 more and were left out",
        "2 rows had no secret in 'race' and were left out",
        "K hit its limit of 10 for secret 'White': allow more components",
        "values look rounded to 1: standard deviations are floored at 0.289",
        "the model of secret 'White' was trained on 1000 of its 41762 rows",
        "the Gaussian process of secret 'yes' did not converge: more rows would help",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scale", "offset"), [(1e200, 0), (1e-200, 0), (1e307, 0), (1, 1e15), (1, -(2.0**53)), (1e-12, 0.7)]
)
@pytest.mark.parametrize("engine", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_width_of_a_mean_survives_any_scale_and_any_distance_from_zero(engine, scale, offset):
    values = np.random.default_rng(0).normal(size=60) * scale + offset
    table = {"s": ["a", "b"] * 30, "y": values}
    priors = tk.fit_priors(engine(table), secret="s", query=tk.Mean("y"))
    for k, secret in enumerate("ab"):
        mine = [Fraction(float(x)) for x in values[k::2]]
        mean = sum(mine) / len(mine)
        error = sum((x - mean) ** 2 for x in mine) / (len(mine) * (len(mine) - 1))
        assert float(Fraction(float(priors[secret].stds[0])) ** 2 / error) == pytest.approx(1, rel=1e-12)
        assert float((Fraction(float(priors[secret].means[0])) - mean) / max(map(abs, mine))) == pytest.approx(
            0, abs=1e-15
        )
    assert not any(finding.code == "constant" for finding in priors.findings)


def test_a_code_beyond_all_measure_is_refused_by_a_mixture():
    values = np.append(np.random.default_rng(0).normal(size=58), [1.7e308, 1.7e308])
    table = pd.DataFrame({"s": ["a", "b"] * 30, "y": values})
    with pytest.raises(tk.InputError, match=r"values of column 'y' lie 1e\+100 times as far apart"):
        tk.fit_priors(table, secret="s", query=tk.Raw("y"))


def test_a_fill_value_that_was_not_named_does_not_make_noise_needless():
    rng, fills = np.random.default_rng(0), np.full(4, 1e20)
    groups = {"a": rng.integers(10, 50, 200), "b": rng.integers(0, 30, 200)}
    table = pd.DataFrame(
        {"s": np.repeat(["a", "b"], 204), "y": np.concatenate([*[np.append(g, fills) for g in groups.values()]])}
    )
    with pytest.warns(tk.DiagnosticWarning):
        priors = tk.fit_priors(table, secret="s", query=tk.Raw("y"))
    for secret, values in groups.items():
        assert priors[secret].stds.max() < 2 * values.std()


@pytest.mark.parametrize("first", [2**53, 2**62])  # of the first some are still told apart as floats
@pytest.mark.parametrize("query", [tk.Raw("x"), tk.Row("x")])
def test_numbers_that_floats_do_not_tell_apart_are_refused_for_what_they_are(first, query):
    """They may differ, and tell the secret: nothing may say that they need no noise, or look alike by their spaces."""
    people = pd.DataFrame({"s": ["a", "b"] * 20, "x": np.arange(40) % 2 + 4 * (np.arange(40) % 3) + first})
    with pytest.raises(tk.InputError, match="where floats no longer tell neighbours apart: subtract a constant"):
        tk.fit_priors(people, secret="s", query=query)
