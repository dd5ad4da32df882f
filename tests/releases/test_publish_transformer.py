"""Several columns through a channel, as a step of scikit-learn."""

import logging

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import takifugu as tk
from takifugu.releases import PublishTransformer
from takifugu.releases.plan import warn_of_order

ROWS = 600


@pytest.fixture(scope="module")
def people():
    """A ward that goes with the illness, and a shift that does not."""
    chance = np.random.default_rng(3)
    ill = chance.random(ROWS) < 0.5
    ward = np.where(chance.random(ROWS) < np.where(ill, 0.9, 0.2), "A", "B")
    frame = pd.DataFrame({"ward": ward, "shift": chance.choice(["day", "night"], ROWS)})
    return frame, np.where(ill, "ill", "well")


@pytest.fixture(scope="module")
def fitted(people):
    return PublishTransformer(guarantee=tk.Odds(2), confidence=None).fit(people[0], secret=people[1])


def test_rows_are_published_through_the_best_channel(people, fitted):
    frame, _ = people
    assert fitted.calibration_.mechanism == "optimal"
    published = fitted.transform(frame)
    assert list(published.columns) == ["ward", "shift"]
    assert len(published) == ROWS
    assert 0 < (published["ward"] != frame["ward"]).mean() < 0.6
    assert tk.verify(tk.certify(fitted.calibration_)) is not None


def test_records_keep_their_places_which_is_said_and_arrays_stay_arrays(people, caplog):
    frame, secrets = people
    warn_of_order.cache_clear()
    made = PublishTransformer(guarantee=tk.Odds(9), confidence=None).fit(frame.to_numpy(), secret=secrets)
    with caplog.at_level(logging.WARNING, logger="takifugu"):
        published = made.transform(frame.to_numpy())
        made.transform(frame.to_numpy())
    assert [one.message for one in caplog.records if "in the order in which they were given" in one.message]
    assert len(caplog.records) == 1
    assert isinstance(published, np.ndarray)
    assert (published == frame.to_numpy()).mean() > 0.8
    assert list(made.get_feature_names_out()) == ["x0", "x1"]


def test_it_is_a_step_of_a_pipeline(people):
    frame, secrets = people
    target = (frame["shift"] == "day").to_numpy()
    with sklearn.config_context(enable_metadata_routing=True):
        hide = PublishTransformer(guarantee=tk.Odds(2), confidence=None).set_fit_request(secret=True)
        steps = make_pipeline(hide, OneHotEncoder(), LogisticRegression())
        steps.fit(frame, target, secret=secrets)
        assert steps.score(frame, target) > 0.9
    assert clone(hide).get_params()["guarantee"] == tk.Odds(2)


def test_a_ledger_lets_each_record_out_once(people, tmp_path):
    frame, secrets = people
    made = PublishTransformer(guarantee=tk.Odds(2), confidence=None, ledger=tmp_path / "rows.ledger")
    made.fit(frame, secret=secrets)
    made.transform(frame)
    with pytest.raises(tk.PublishedOnceError):
        made.transform(frame)


@pytest.mark.parametrize(
    ("secret", "words"),
    [(None, "does not know what to hide"), (["a"] * ROWS, "the same in every record"), (["a"], "one entry per record")],
)
def test_what_is_no_secret_is_refused(people, secret, words):
    with pytest.raises(tk.InputError, match=words):
        PublishTransformer().fit(people[0], secret=secret)


def test_other_columns_are_refused(people, fitted):
    frame, _ = people
    with pytest.raises(tk.InputError, match="the columns that were fitted"):
        fitted.transform(frame[["shift", "ward"]])
    with pytest.raises(tk.InputError):
        fitted.transform(frame.assign(ward="C"))
    fitted_for_pandas = clone(fitted).set_output(transform="pandas").fit(frame, secret=people[1])
    with pytest.raises(tk.InputError, match="the index of the records"):
        fitted_for_pandas.transform(frame.set_axis(np.arange(ROWS) + 7))


def test_secrets_in_no_pair_are_refused(people):
    frame, secrets = people
    three = np.where(np.arange(ROWS) % 5 == 0, "other", secrets)
    with pytest.raises(tk.InputError, match="stand in none of the pairs"):
        PublishTransformer(confidence=None, pairs=[("ill", "well")]).fit(frame, secret=three)
