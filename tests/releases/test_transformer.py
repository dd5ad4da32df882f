import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import takifugu as tk
from takifugu.errors import BudgetError, InputError
from takifugu.releases.ledger import Ledger
from takifugu.releases.transformer import ReleaseTransformer

X = np.random.default_rng(0).normal(size=(200, 1)) + np.repeat([[0.0], [1.0]], 100, axis=0)
SECRETS = np.repeat(["a", "b"], 100)


@pytest.mark.filterwarnings("ignore::takifugu.releases.plan.InsecureReleaseWarning")
@pytest.mark.parametrize("prior", ["gaussian", "empirical"])
def test_scikit_learns_own_checks_pass(prior):
    """With a seed, since scikit-learn compares two transforms; with a column, since it brings many."""
    results = check_estimator(ReleaseTransformer(prior=prior, column=0, insecure_seed=1), on_skip=None)
    passed = {r["check_name"] for r in results if r["status"] == "passed"}
    assert {"check_estimators_pickle", "check_dict_unchanged", "check_fit2d_1sample"} <= passed
    skipped = {str(r["exception"]) for r in results if r["status"] == "skipped"}
    assert skipped <= {
        "ReleaseTransformer is non deterministic",
        "SCIPY_ARRAY_API is not set: not checking array_api input",
    }


@pytest.mark.parametrize("prior", ["mixture", "gaussian", "empirical"])
def test_it_learns_and_publishes(prior):
    made = ReleaseTransformer(prior=prior, alpha=3, epsilon=0.5)
    assert made.fit(X, secret=SECRETS) is made
    assert made.calibration_.theta > 0
    assert (made.calibration_.alpha, made.calibration_.epsilon) == (3, 0.5)
    first, second = made.transform(X), made.transform(X)
    assert first.shape == X.shape
    assert not np.array_equal(first, second)
    assert np.std(first - X) == pytest.approx(made.calibration_.theta, rel=0.3)


def test_clones_and_pickles():
    made = ReleaseTransformer(prior="gaussian", epsilon=2.0).fit(X, secret=SECRETS)
    assert clone(made).get_params() == made.get_params()
    again = pickle.loads(pickle.dumps(made))
    assert again.calibration_ == made.calibration_


def test_works_in_a_pipeline_and_keeps_names():
    frame = pd.DataFrame({"age": X[:, 0], "id": np.arange(200)})
    with sklearn.config_context(enable_metadata_routing=True):
        noise = ReleaseTransformer(prior="gaussian", epsilon=0.1).set_fit_request(secret=True)
        chosen = ColumnTransformer([("noise", noise, ["age"])])
        chosen.set_output(transform="pandas")
        released = chosen.fit(frame, secret=SECRETS).transform(frame)
        assert released.columns.tolist() == ["noise__age"]
        made = ReleaseTransformer(prior="gaussian", column=1).set_fit_request(secret=True)
        model = make_pipeline(made, LinearRegression())
        model.fit(frame, np.arange(200.0), secret=SECRETS)
        assert model[0].get_feature_names_out().tolist() == ["id"]
        assert set(model[0].calibration_.pairs.secrets) == {"a", "b"}


@pytest.mark.parametrize("none", [None, np.nan, pd.NA, pd.NaT], ids=str)
def test_records_without_a_secret_are_hidden_by_nothing(none):
    secrets = SECRETS.astype(object)
    secrets[[3, 150]] = none
    with pytest.raises(InputError, match="2 records have no secret"):
        ReleaseTransformer(prior="gaussian").fit(X, secret=secrets)


def test_a_target_is_never_taken_for_the_secret(caplog):
    made = ReleaseTransformer(prior="gaussian").fit(X, np.repeat([0, 1], 100))
    assert made.calibration_ is None
    assert "without secret=" in caplog.text
    assert len(np.unique(made.transform(X))) == 1  # what nothing is known about does not leave


@pytest.mark.parametrize("prior", ["mixture", "gaussian", "empirical"])
def test_it_asks_for_the_noise_that_raw_asks_for(prior):
    rng = np.random.default_rng(3)
    for _ in range(2 if prior == "mixture" else 4):  # a search for mixtures takes a hundred times as long
        values, secrets = rng.integers(0, 12, 120) + 3.0 * rng.integers(0, 2, 120), np.repeat(["a", "b", "c"], 40)
        made = ReleaseTransformer(prior=prior, alpha=2, epsilon=1).fit(values[:, None], secret=secrets)
        table = pd.DataFrame({"s": secrets, "v": values})
        priors = tk.fit_priors(table, secret="s", query=tk.Raw("v", prior=prior))
        assert made.calibration_.theta == tk.calibrate(priors, alpha=2, epsilon=1).theta


def test_each_transform_is_charged(tmp_path):
    made = ReleaseTransformer(prior="gaussian", epsilon=0.1, ledger=str(tmp_path / "l.db")).fit(X, secret=SECRETS)
    made.transform(X)
    assert Ledger(tmp_path / "l.db").account().releases == 1
    with pytest.raises(BudgetError):
        made.transform(X)


@pytest.mark.parametrize(
    ("options", "x", "y", "says"),
    [
        ({}, np.zeros((4, 2)), list("aabb"), "joint prior"),
        ({"column": 2}, np.zeros((4, 2)), list("aabb"), "position from 0 to 1"),
        ({"column": "v"}, np.zeros((4, 2)), list("aabb"), "position from 0 to 1"),
        ({"prior": "laplace"}, X, SECRETS, "prior must be one of"),
        ({}, X, SECRETS[:3], "one entry per record"),
        ({}, X, ["a"] * 200, "the same in every record"),
    ],
)
def test_what_cannot_be_fitted_is_refused(options, x, y, says):
    with pytest.raises(InputError, match=says):
        ReleaseTransformer(**options).fit(x, secret=y)


def test_secrets_of_several_types_are_counted_as_texts():
    secret = np.array(["a", 1] * 100, dtype=object)  # which NumPy does not sort
    transformer = ReleaseTransformer(prior="gaussian").fit(np.arange(200.0).reshape(-1, 1), secret=secret)
    assert set(transformer.calibration_.pairs.secrets) == {"a", "1"}


def test_a_pandas_table_does_not_leave_with_an_index_of_the_records():
    X, secret = pd.DataFrame({"v": np.arange(200.0)}), np.repeat(["a", "b"], 100)
    transformer = ReleaseTransformer(prior="gaussian").set_output(transform="pandas").fit(X, secret=secret)
    assert transformer.transform(X).index.equals(pd.RangeIndex(200))
    for told in (X.set_axis(secret), X.sample(frac=1, random_state=1), X[100:]):
        with pytest.raises(tk.InputError, match="reset_index"):
            transformer.transform(told)
        assert transformer.transform(told.reset_index(drop=True)).index.equals(pd.RangeIndex(len(told)))
    plain = ReleaseTransformer(prior="gaussian").fit(X, secret=secret)
    assert plain.transform(X.set_axis(secret)).shape == (200, 1)  # an array has no index
