"""A number that may mean a missing value stops a publication before any search, unless somebody says what it means."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import takifugu as tk
from takifugu.errors import InputError
from takifugu.publishing import Asked, calibrated

ROWS = 400
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "s": np.where(RNG.random(ROWS) < 0.5, "a", "b"),
        "age": np.append(np.full(20, 999), RNG.integers(18, 90, ROWS - 20)),
        "stay": np.append(RNG.integers(1, 9, ROWS - 5), np.full(5, -9)),
        "ward": RNG.choice([*"xy"], ROWS),
        "slope": np.append(RNG.integers(1, 4, ROWS - 40), np.full(40, 99)),
    }
)
HOW = {"order": "shuffle", "confidence": None, "utility": tk.Utility(allow_no_noise=True)}


def said(name, code, rows):
    return (
        f"{code} stands far from the rest in '{name}' ({rows} rows) and may mean a missing value: if it does, give "
        f"reading=Reading(sentinels=['{name}={code}']); if it is a real value, give reading=Reading(sentinels="
        f"['{name}='])"
    )


@pytest.fixture
def search(monkeypatch):
    """Fails where anything is searched for."""

    def never(*args, **kwargs):
        raise AssertionError("the search has begun")

    monkeypatch.setattr("takifugu.publishing.best_channel.calibrate", never)
    monkeypatch.setattr("takifugu.publishing.best_channel.priors_asked_for", never)


@pytest.mark.parametrize(
    "asked",
    [
        {"columns": ["age"]},
        {"columns": ["ward", "age"]},
        {"columns": ["ward"], "keep": ["age"]},
        {"columns": ["ward"], "adversary": tk.Adversary(known=["age"])},
        {"columns": ["ward"], "adversary": tk.Adversary(known=[tk.binned("age", [40, 60])])},
        {"columns": [tk.binned("age", [40, 60])]},
        {"columns": ["age"], "domain": [20, 40, 60, 80]},
        {"columns": ["age:40:60"]},
        {"columns": ["ward"], "adversary": tk.Adversary(known=["age:40:60"])},
        {"columns": ["ward"], "keep": ["age:40:60"]},
        {"columns": ["ward"], "secret": "age:40:60"},
    ],
    ids=lambda asked: "-".join(f"{name} {value}" for name, value in asked.items()),
)
@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"]
)
def test_a_code_in_what_is_published_or_known_stops_it(asked, make, search):
    with pytest.raises(InputError) as refused:
        tk.publish(make(PEOPLE), **({"secret": "s"} | asked), **HOW)
    assert str(refused.value) == f"{said('age', 999, 20)}. Nothing was published"


def test_a_code_among_the_secrets_stops_it_and_all_are_named_at_once(search):
    with pytest.raises(InputError) as refused:
        tk.publish(PEOPLE, secret="slope", columns=["stay", "age"], **HOW)
    assert str(refused.value) == ". ".join(
        [said("slope", 99, 40), said("stay", -9, 5), said("age", 999, 20), "Nothing was published"]
    )


@pytest.mark.parametrize("sentinel", [999, "age=999", "age="])
def test_whoever_says_what_it_means_goes_on(sentinel):
    made = tk.publish(PEOPLE, secret="s", columns=["age"], reading=tk.Reading(sentinels=[sentinel]), **HOW)
    top = max(made.calibration.answer.domain[0].values)
    assert (top >= 999) is (sentinel == "age=")
    assert len(made.table) == (ROWS if sentinel == "age=" else ROWS - 20)
    assert not any(one.code == "suspected-sentinel" for one in made.findings)
    fitted = tk.fit_priors(PEOPLE, secret="s", query=tk.Raw("age"), reading=tk.Reading(sentinels=[sentinel]))
    assert not any(one.code == "suspected-sentinel" for one in fitted.findings)


def test_a_number_on_the_list_that_was_given_is_a_value():
    made = tk.publish(PEOPLE, secret="s", columns=["age"], domain=[20, 40, 60, 80, 999], **HOW)
    assert 999 in made.calibration.channel.inputs


def test_whoever_has_no_secret_is_not_published_and_has_no_say():
    people = PEOPLE.assign(s=PEOPLE["s"].where(PEOPLE["age"] < 999))
    assert len(tk.publish(people, secret="s", columns=["age"], **HOW).table) == ROWS - 20


def test_inspect_suspects_the_same_and_with_its_codes_declared_it_goes_through():
    found = tk.inspect(PEOPLE, secret="s")
    told = [one for one in found.findings if one.code == "suspected-sentinel" and one["apart"]]
    assert [one["sentinel"] for one in told] == ["age=999", "stay=-9", "slope=99"]
    assert list(found.sentinels) == [one["sentinel"] for one in told]
    for one in told:
        with pytest.raises(InputError, match="Nothing was published") as refused:
            calibrated(PEOPLE, Asked("s", [one["column"]], confidence=None))
        assert one.sentence in str(refused.value)
    for secret in ("s", "slope"):
        codes = tk.inspect(PEOPLE, secret=secret).sentinels
        reading = tk.Reading(sentinels=[code for code in codes if code.partition("=")[0] in (secret, "age")])
        assert len(tk.publish(PEOPLE, secret=secret, columns=["age"], reading=reading, **HOW).table)


def test_nothing_is_suspected_where_inspect_was_told_that_values_are_real():
    found = tk.inspect(PEOPLE, secret="s", reading=tk.Reading(sentinels=["age=", "stay=", "slope="]))
    assert not any(one.code == "suspected-sentinel" for one in found.findings)
    assert found.sentinels == ()
    assert not [one for one in found.findings if one.code == "sentinels-unseen"]


@pytest.mark.parametrize("name", ["adult", "heart", "student-mat", "student-por"])
def test_no_bundled_column_is_stopped_without_a_reason(name):
    """Measured false alarms: of 14 + 14 + 33 + 33 columns one, the capital gains of adult, topped at 99,999."""
    found = tk.inspect(tk.datasets.load(name))
    stopped = {one["column"] for one in found.findings if one.code == "suspected-sentinel" and one["apart"]}
    assert stopped <= {"capital-gain"}


FAR = PEOPLE[["s", "ward"]].assign(age=np.append([5000], np.arange(ROWS - 1) % 70 + 20))


def test_a_single_far_value_that_is_no_usual_code_stops_a_publication_and_is_not_shown(search):
    with pytest.raises(InputError, match="'age' has a single value, in 1 row, that lies far from all others") as caught:
        tk.publish(FAR, secret="s", columns=["age"], odds=3, **HOW)
    assert "5000" not in str(caught.value)
    assert "sentinels=['age=VALUE']" in str(caught.value)
    assert "sentinels=['age=']" in str(caught.value)


def test_a_far_value_is_told_before_numbers_are_fitted_and_by_inspect_and_never_dropped():
    with pytest.warns(tk.DiagnosticWarning, match="lies far from all others"):
        priors = tk.fit_priors(FAR, secret="s", query=tk.Raw("age"))
    assert max(law.means.max() for law in priors.values()) > 1_000  # as it is: whoever knows the table decides
    told = tk.inspect(FAR, secret="s")
    assert "far-value" in [one.code for one in told.findings]
    assert not told.sentinels
    declared = tk.Reading(sentinels=["age=5000"])
    assert "far-value" not in [one.code for one in tk.inspect(FAR, secret="s", reading=declared).findings]
    assert "far-value" not in [
        one.code for one in tk.inspect(FAR, secret="s", reading=tk.Reading(sentinels=["age="])).findings
    ]


def test_a_far_value_that_was_declared_real_is_published(search):
    with pytest.raises(AssertionError, match="the search has begun"):
        tk.publish(FAR, secret="s", columns=["age"], odds=3, reading=tk.Reading(sentinels=["age="]), **HOW)
