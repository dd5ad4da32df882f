import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from takifugu.errors import BudgetError, InputError
from takifugu.releases.doors.transformer import ReleaseTransformer
from takifugu.releases.ledger import Ledger

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
    assert made.fit(X, SECRETS) is made
    assert made.calibration_.theta > 0
    assert (made.calibration_.alpha, made.calibration_.epsilon) == (3, 0.5)
    first, second = made.transform(X), made.transform(X)
    assert first.shape == X.shape
    assert not np.array_equal(first, second)
    assert np.std(first - X) == pytest.approx(made.calibration_.theta, rel=0.3)


def test_clones_and_pickles():
    made = ReleaseTransformer(prior="gaussian", epsilon=2.0).fit(X, SECRETS)
    assert clone(made).get_params() == made.get_params()
    again = pickle.loads(pickle.dumps(made))
    assert again.calibration_ == made.calibration_


def test_works_in_a_pipeline_and_keeps_names():
    frame = pd.DataFrame({"age": X[:, 0], "id": np.arange(200)})
    chosen = ColumnTransformer([("noise", ReleaseTransformer(prior="gaussian"), ["age"])])
    chosen.set_output(transform="pandas")
    released = chosen.fit_transform(frame, SECRETS)
    assert released.columns.tolist() == ["noise__age"]
    model = make_pipeline(ReleaseTransformer(prior="gaussian", column=1), LinearRegression())
    model.fit(frame, np.repeat([0, 1], 100))
    assert model[0].get_feature_names_out().tolist() == ["id"]


def test_each_transform_is_charged(tmp_path):
    made = ReleaseTransformer(prior="gaussian", epsilon=0.1, ledger=str(tmp_path / "l.db")).fit(X, SECRETS)
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
        ({}, X, None, "secret of each record"),
        ({}, X, SECRETS[:3], "one secret per record"),
        ({}, X, ["a"] * 200, "one class only"),
    ],
)
def test_what_cannot_be_fitted_is_refused(options, x, y, says):
    with pytest.raises(InputError, match=says):
        ReleaseTransformer(**options).fit(x, y)
