"""Several columns at once: priors against numpy, and what there is to say about them."""

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.mechanisms.shaped import shaped_noise
from takifugu.problems.answer import Answer
from takifugu.problems.diagnostics import Diagnostic
from takifugu.queries.mean import check_rows
from takifugu.tables import counting as joint

HEART = tk.datasets.load("heart")
COLUMNS = ["oldpeak", "age", "thalach"]


def test_means_have_the_covariance_of_the_rows_over_their_number():
    priors = tk.fit_priors(HEART, secret="slope", query=tk.Mean(COLUMNS))
    for secret, group in HEART.groupby("slope")[COLUMNS]:
        np.testing.assert_allclose(priors[secret].mean, group.mean(), rtol=1e-12)
        np.testing.assert_allclose(priors[secret].covariance, group.cov() / len(group), rtol=1e-9)
        assert priors.rows[secret] == len(group)
    assert any(finding.code == "few-rows" for finding in priors.findings)


def test_a_gaussian_of_rows_and_the_rows_themselves():
    gaussian = tk.fit_priors(HEART, secret="slope", query=tk.Raw(COLUMNS, prior="gaussian"))
    empirical = tk.fit_priors(HEART, secret="slope", query=tk.Raw(COLUMNS, prior="empirical"))
    for secret, group in HEART.groupby("slope")[COLUMNS]:
        np.testing.assert_allclose(gaussian[secret].covariance, group.cov(ddof=0), rtol=1e-9)
        assert empirical[secret] == tk.VectorMixture.empirical(group.to_numpy())
        assert gaussian.empirical[secret] == empirical[secret]
    assert any(f.code == "vector-of-rows" and "Row('oldpeak', 'age', 'thalach')" in str(f) for f in gaussian.findings)


def test_a_mixture_of_rows_keeps_their_mean():
    priors = tk.fit_priors(HEART, secret="slope", query=tk.Raw(["oldpeak", "age"]))
    for secret, group in HEART.groupby("slope")[["oldpeak", "age"]]:
        np.testing.assert_allclose(priors[secret].mean, group.mean(), rtol=1e-2)


def test_rows_that_a_gaussian_does_not_describe_are_found_out():
    priors = tk.fit_priors(HEART, secret="slope", query=tk.Raw(["oldpeak", "age"], prior="gaussian"), secrets=[1, 3])
    noise = shaped_noise([list(priors.values())], alpha=3.0, epsilon=1.0, prove=False)
    found = check_rows(priors, alpha=3.0, epsilon=1.0, covariance=noise.covariance)
    assert any(finding.code == "unsafe-prior" and finding["loss"] > 10 for finding in found)
    assert "do not describe these rows" in str(found[0])
    assert not check_rows(priors, alpha=3.0, epsilon=1.0, covariance=1e4 * noise.covariance)


def test_calibrate_says_so_of_itself():
    priors = tk.fit_priors(HEART, secret="slope", query=tk.Raw(["oldpeak", "age"], prior="gaussian"), secrets=[1, 3])
    found = [f for f in tk.calibrate(priors, alpha=3, epsilon=1).findings if f.code == "unsafe-prior"]
    assert len(found) == 1
    assert found[0]["loss"] > 10
    described = tk.fit_priors(
        HEART, secret="slope", query=tk.Raw(["oldpeak", "age"], prior="empirical"), secrets=[1, 3]
    )
    few = {name: tk.VectorMixture.empirical(law.means[:6]) for name, law in described.items()}
    described.update(few)
    described.empirical = few
    told = tk.calibrate(described, alpha=2, epsilon=2, options={"shape": "equal"}).findings
    assert not any(f.code == "unsafe-prior" for f in told)


def test_what_is_published_is_named():
    assert tk.fit_priors(HEART, secret="slope", query=tk.Mean(COLUMNS)).answer == Answer(
        "mean", tuple(COLUMNS), ("slope",)
    )
    rows = tk.fit_priors(HEART, secret="slope", query=tk.Raw(COLUMNS, prior="gaussian"))
    assert rows.answer == Answer("raw", tuple(COLUMNS), ("slope",))
    assert rows.answer.is_of_rows


@pytest.mark.parametrize("options", [{"bounds": (0, 9)}, {"step": 1}, {"transform": "log"}, {"prior": "counts"}])
def test_what_is_for_one_column_is_not_silently_left_out(options):
    with pytest.raises(tk.InputError, match="for one column"):
        tk.Raw(["oldpeak", "age"], **options)
    with pytest.raises(tk.InputError, match="one column is published"):
        tk.fit_priors(HEART, secret="slope", query=tk.Raw(["oldpeak", "age"]), known=["sex"])


def test_any_engine_gives_the_same(tmp_path):
    import polars as pl

    path = tmp_path / "heart.csv"
    HEART.to_csv(path, index=False)
    priors = [
        tk.fit_priors(table, secret="slope", query=tk.Mean(COLUMNS)) for table in (HEART, pl.from_pandas(HEART), path)
    ]
    for other in priors[1:]:
        for secret in priors[0]:
            np.testing.assert_allclose(other[secret].covariance, priors[0][secret].covariance, rtol=1e-9)


def table(**columns):
    return pd.DataFrame({"group": list("aaabbb"), "x": [1.0, 2, 4, 3, 5, 9], "y": [1.0, 1, 2, 8, 5, 2]} | columns)


def test_rows_with_a_value_missing_in_one_column_are_left_out():
    gappy = table(y=[1.0, np.nan, 2, 8, 5, 2])
    priors = tk.fit_priors(gappy, secret="group", query=tk.Mean(["x", "y"]))
    assert priors["a"].mean.tolist() == [2.5, 1.5]
    assert priors.rows["a"] == 2
    assert [f for f in priors.findings if f.code == "no-value"] == [Diagnostic("no-value", columns=("x", "y"), rows=1)]


def test_a_column_constant_for_one_secret_stays_a_point_on_its_axis():
    priors = tk.fit_priors(table(y=[0.1, 0.1, 0.1, 8, 5, 2]), secret="group", query=tk.Mean(["x", "y"]))
    assert priors["a"].covariance[1, 1] == 0
    assert Diagnostic("constant", secret="a", column="y", value=0.1) in priors.findings


def test_far_means_keep_the_digits_of_their_spread():
    far = table()
    far["x"] += 1e9
    priors = tk.fit_priors(far, secret="group", query=tk.Mean(["x", "y"]))
    expected = np.cov(table().query("group == 'a'")[["x", "y"]].T) / 3
    np.testing.assert_allclose(priors["a"].covariance, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["x", "x"], "named once"),
        (["x", "group"], "both the secret and an answer"),
        (["x", "z"], "no column 'z'"),
        (["x", "flat"], "'flat' is 7 in every row"),
        ([], "list of texts"),
        (["x", 3], "list of texts"),
        (7, "list of texts"),
    ],
)
def test_columns_that_cannot_be_used_are_refused_in_a_sentence(columns, words):
    with pytest.raises(tk.InputError, match=words):
        tk.fit_priors(table(flat=[7.0] * 6), secret="group", query=tk.Mean(columns))


def test_a_row_that_occurs_once_and_too_many_rows(monkeypatch):
    lonely = pd.concat([table(), pd.DataFrame({"group": ["c"], "x": [1.0], "y": [1.0]})])
    with pytest.raises(tk.InputError, match="at least 2"):
        tk.fit_priors(lonely, secret="group", query=tk.Mean(["x", "y"]))
    monkeypatch.setattr(joint, "DISTINCT", 3)
    with pytest.raises(tk.InputError, match="distinct rows"):
        tk.fit_priors(table(), secret="group", query=tk.Raw(["x", "y"], prior="empirical"))
    assert tk.fit_priors(table(), secret="group", query=tk.Raw(["x", "y"], prior="gaussian")).empirical == {}


def test_queries_of_several_columns_are_values():
    assert tk.Mean(["a", "b"]) == tk.Mean(("a", "b"))
    assert hash(tk.Raw(["a", "b"])) == hash(tk.Raw(("a", "b")))


POINTS = [{"age": 45.0}, {"age": 46.0}, {"age": 70.0}]


def test_a_gaussian_process_predicts_several_points_together():
    query = tk.GP("thalach", features=["age", "oldpeak"], at=POINTS, max_rows=60, restarts=0)
    priors = tk.fit_priors(HEART, secret="slope", query=query, secrets=[1, 2])
    for place, point in enumerate(POINTS):
        one = tk.GP("thalach", features=["age", "oldpeak"], at=point, max_rows=60, restarts=0)
        alone = tk.fit_priors(HEART, secret="slope", query=one, secrets=[1, 2])
        for secret in alone:
            assert priors[secret].mean[place] == pytest.approx(alone[secret].mean, rel=1e-6)
            assert priors[secret].covariance[place, place] == pytest.approx(alone[secret].variance, rel=1e-6)
    assert priors[1].covariance[0, 1] > priors[1].covariance[0, 2]  # neighbours vary together


def test_networks_predict_several_points_together(monkeypatch):
    rng = np.random.default_rng(0)
    weights = {
        "first": rng.normal(size=(500, 1, 4)),
        "offset": rng.normal(size=(500, 4)),
        "second": rng.normal(size=(500, 4)),
        "strength": rng.uniform(0.5, 1, 500),
        "level": rng.normal(size=500),
        "slopes": rng.normal(size=(500, 1)),
        "noise": rng.uniform(0.1, 0.2, 500),
    }
    # Training takes a minute and is tested with one point; what is new is how the drawn networks are put together.
    monkeypatch.setattr(tk.BNN, "_train", lambda self, sample, label: (weights, np.zeros(100)))
    together = tk.fit_priors(
        HEART, secret="slope", query=tk.BNN("thalach", features=["age"], at=[[45.0], [46.0]]), secrets=[1, 2]
    )
    alone = tk.fit_priors(HEART, secret="slope", query=tk.BNN("thalach", features=["age"], at=[45.0]), secrets=[1, 2])
    for secret, prior in alone.items():
        assert together[secret].mean[0] == pytest.approx(prior.mean, rel=1e-9)
        assert together[secret].covariance[0, 0] == pytest.approx(prior.variance, rel=1e-9)
        assert together[secret].covariance[0, 1] > 0.5 * together[secret].covariance[0, 0]


@pytest.mark.parametrize("at", [[{"age": 1.0}, {"height": 1.0}], [[1.0], [1.0, 2.0]], [{"age": "x"}], [[]]])
def test_points_that_cannot_be_used_are_refused(at):
    with pytest.raises(tk.InputError):
        tk.fit_priors(HEART, secret="slope", query=tk.GP("thalach", features=["age"], at=at), secrets=[1, 2])


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_a_column_whose_squares_are_no_floats_is_refused_and_not_taken_for_a_constant(size):
    table = HEART.assign(far=HEART["age"] * size)
    with pytest.raises(tk.InputError, match="squares of column 'far' are too large or too small"):
        tk.fit_priors(table, secret="slope", query=tk.Mean(["oldpeak", "far"]))
