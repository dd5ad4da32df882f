"""Other people's priors: by name, on the same values, each within the promise, and the one that binds is told."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main
from takifugu.errors import InputError
from takifugu.problems.problem import OWN_ROWS, Belief, belief_names, named_belief
from takifugu.publishing import Asked, calibrated
from takifugu.queries.fitting import beside
from takifugu.tables.table import Table


def people(seed, apart, rows=300, wards="AB"):
    rng = np.random.default_rng(seed)
    second = rng.random(rows) < 0.4
    return pd.DataFrame(
        {
            "diagnosis": np.where(second, "flu", "none"),
            "stay": rng.integers(1, 5, rows) + apart * second,
            "ward": rng.choice(list(wards), rows),
            "sex": rng.choice(["f", "m"], rows),
        }
    )


OURS, THEIRS = people(0, 0), people(1, 2)
RAW = tk.Raw("stay", bounds=(0, 8), step=1)


def fit(query, **more):
    return tk.fit_priors(OURS, secret="diagnosis", query=query, **more)


def test_the_promise_holds_for_each_and_the_one_that_binds_is_named():
    both = fit(RAW, beliefs={"last year": THEIRS})
    alone = tk.calibrate(fit(RAW), alpha=2, epsilon=0.5)
    made = tk.calibrate(both, alpha=2, epsilon=0.5)
    theirs = tk.calibrate(tk.fit_priors(THEIRS, secret="diagnosis", query=RAW), alpha=2, epsilon=0.5)
    assert made.theta >= max(alone.theta, theirs.theta) * (1 - 1e-12)
    assert made.theta == pytest.approx(theirs.theta, rel=1e-6)
    assert "where the belief is 'last year'" in str(made)
    assert made.answer == alone.answer
    assert belief_names(made.beliefs) == [None, "last year"]
    beside_later = tk.calibrate(
        fit(RAW),
        alpha=2,
        epsilon=0.5,
        adversary=tk.Adversary(beliefs={"last year": tk.fit_priors(THEIRS, secret="diagnosis", query=RAW)}),
    )
    assert beside_later.theta == made.theta
    again = tk.Calibration.from_dict(made.to_dict())
    assert belief_names(again.beliefs) == [None, "last year"]
    assert tk.certify(again).theta == made.theta


@pytest.mark.parametrize("query", [tk.Raw("stay"), tk.Row("stay"), tk.Row("stay", "ward")])
def test_another_table_is_counted_on_the_same_values(query):
    theirs = people(3, 0, wards="AB").assign(stay=lambda t: t["stay"].clip(2, 3))
    both = fit(query, beliefs={"survey": theirs})
    own, other = (part.answer.domain for part in both)
    assert getattr(own, "points", None) is None or (own.points == other.points).all()
    if isinstance(own, tuple):
        assert [one.values for one in own] == [one.values for one in other]
        assert both[0]["flu"].values == both[1]["flu"].values
        assert both[1].counts["flu"].sum() == (theirs["diagnosis"] == "flu").sum()
    made = tk.calibrate(both, alpha=2, epsilon=0.7, confidence=0.6)
    assert made.meets_budget()
    assert tk.Calibration.from_dict(made.to_dict()) == made


def test_every_cell_of_another_table_is_a_belief():
    both = fit(tk.Row("stay", domain=range(9)), known=["sex"], beliefs={"last year": THEIRS})
    assert tuple(label for label in both.labels if not label.endswith(OWN_ROWS)) == (
        "", "sex = f", "sex = m",
        "the belief is 'last year'", "the belief is 'last year', sex = f", "the belief is 'last year', sex = m",
    )  # fmt: skip
    assert sum(label.endswith(OWN_ROWS) for label in both.labels) == 4  # the second about each cell of either table
    made = tk.calibrate(both, odds=3)
    assert made.problem.words(made.place).count("last year") == 1


def test_what_was_made_by_hand_is_a_belief_too():
    by_hand = {"none": tk.Mixture.gaussian(2, 1), "flu": tk.Mixture.gaussian(7, 1)}
    made = tk.calibrate(fit(RAW), alpha=2, epsilon=0.5, adversary=tk.Adversary(beliefs={"a colleague": by_hand}))
    assert "the belief is 'a colleague'" in made.problem.words(made.place)


def test_findings_of_another_table_say_whose_they_are():
    both = fit(RAW, beliefs={"pilot": people(4, 1, rows=60)})
    assert any(one.sentence.startswith("in the belief 'pilot': secret") for one in both.findings)
    assert any(one.level == "warning" for one in both.findings)


@pytest.mark.parametrize(
    ("beliefs", "words"),
    [
        ([OURS], "must give a name"),
        ({}, "must give a name"),
        ({"": OURS}, "name of a belief"),
        ({"it's": OURS}, "without quotes"),
        ({3: OURS}, "name of a belief"),
        ({"x": OURS.drop(columns="stay")}, "the belief 'x' cannot be used: .*stay"),
        ({"x": OURS[OURS["diagnosis"] == "flu"]}, "the belief 'x' cannot be used: .*none"),
    ],
)
def test_what_cannot_be_a_belief_is_told_by_name(beliefs, words):
    with pytest.raises(InputError, match=words):
        fit(RAW, beliefs=beliefs)


def test_a_belief_about_something_else_is_refused():
    other = tk.fit_priors(THEIRS, secret="diagnosis", query=tk.Raw("stay", bounds=(0, 9), step=1))
    with pytest.raises(InputError, match=r"about raw:stay, and not about raw:stay on the same values"):
        beside(fit(RAW), {"x": other})
    with pytest.raises(InputError, match="must be priors"):
        tk.calibrate(fit(RAW), alpha=2, epsilon=1, adversary=tk.Adversary(beliefs={"x": 3}))
    with pytest.raises(InputError, match="same secrets"):
        tk.calibrate(
            fit(RAW), alpha=2, epsilon=1, adversary=tk.Adversary(beliefs={"x": {"a": tk.Mixture.gaussian(0, 1)}})
        )


def test_labels_keep_their_names():
    labels = ["", "sex = f", named_belief("last year"), named_belief("last year", "sex = 'f'"), named_belief("x = 1")]
    assert belief_names([Belief({}, label=label) for label in labels]) == [None, "last year", "x = 1"]


def test_publishing_by_another_table_alone_says_that_it_tells_nothing():
    asked = {"secret": "diagnosis", "columns": ["stay"], "domain": range(1, 7), "confidence": None, "odds": 1.5}
    ours = people(0, 1)
    own = tk.publish(ours, **asked)
    assert "fitted to these very rows" in " ".join(own.summary.details)
    both = tk.publish(ours, **asked, adversary=tk.Adversary(beliefs={"last year": THEIRS}))
    assert "who believes 'last year'; the closest to the limit is " in " ".join(both.summary.details)
    alone = tk.publish(ours, **asked, adversary=tk.Adversary(beliefs={"last year": THEIRS}, own=False))
    assert "tells nothing about those rows" in " ".join(alone.summary.details)
    assert belief_names(alone.calibration.beliefs) == ["last year"]
    # The channel is the other table's own: our rows have no part in it.
    other = tk.publish(people(9, 1), **asked, adversary=tk.Adversary(beliefs={"last year": THEIRS}, own=False))
    assert (other.calibration.channel.counts == alone.calibration.channel.counts).all()
    with pytest.raises(InputError, match="own=False leaves no priors"):
        tk.publish(OURS, **asked, adversary=tk.Adversary(own=False))


@pytest.mark.parametrize(("own", "other", "said"), [("csv", "xlsx", {"sep": ","}), ("xlsx", "csv", {"sheet": 0})])
def test_another_table_may_be_a_file_of_another_kind(tmp_path, own, other, said):
    frame = pd.DataFrame({"ward": ["A", "B"] * 20, "days": [1, 2] * 20})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    asked = {"secret": "ward", "query": tk.Row("days"), "reading": tk.Reading(**said)}
    fitted = tk.fit_priors(tmp_path / f"a.{own}", **asked, beliefs={"theirs": tmp_path / f"a.{other}"})
    assert [one.label for one in fitted] == ["", named_belief("theirs", "")]


# ---- one reading for all tables


def coded(seed, codes):
    """People whose stay is 9 where it is not known: in `codes` of their rows."""
    table = people(seed, 1)
    table.loc[table.index[:codes], "stay"] = 9
    return table.assign(age=50 + table["stay"])


def files(tmp_path):
    paths = {name: tmp_path / f"{name}.csv" for name in ("ours", "theirs")}
    coded(0, 30).to_csv(paths["ours"], index=False)
    coded(1, 57).drop(columns="age").to_csv(paths["theirs"], index=False)
    return paths["ours"], paths["theirs"]


@pytest.mark.parametrize("sentinel", [9, "stay=9"])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_code_of_ours_means_the_same_in_another_table(tmp_path, sentinel, own, is_open):
    ours, theirs = files(tmp_path)
    reading = tk.Reading(sentinels=(sentinel, "age=59"))  # theirs has no age
    given = (Table(ours, reading), None) if is_open else (ours, reading)
    beliefs = {"last year": theirs}
    adversary = tk.Adversary(beliefs=beliefs, own=own)
    asked = Asked("diagnosis", ["stay"], confidence=None, adversary=adversary, reading=given[1])
    made = calibrated(given[0], asked)
    for belief in made.beliefs:
        assert 9 not in [value for law in belief.values() for value in law.values]
    rows = sum(made.beliefs[-1].rows.values())
    assert rows == 300 - 57
    if own:
        both = tk.fit_priors(given[0], secret="diagnosis", query=RAW, beliefs=beliefs, reading=given[1])
        assert sum(both[1].rows.values()) == rows


def test_a_belief_that_is_open_is_read_as_it_was_opened(tmp_path):
    ours, theirs = files(tmp_path)
    opened = Table(theirs, tk.Reading(sentinels=(9,)))
    both = tk.fit_priors(ours, secret="diagnosis", query=RAW, beliefs={"last year": opened})
    assert [sum(one.rows.values()) for one in both] == [300, 243]


@pytest.mark.parametrize("only", [(), ("--only-beliefs",)])
def test_sentinel_of_the_command_line_reaches_beliefs(tmp_path, only):
    ours, theirs = files(tmp_path)
    arguments = ["--secret", "diagnosis", "--sentinel", "stay=9", "--belief", f"last year={theirs}"]
    done = CliRunner().invoke(
        main,
        ["publish", str(ours), str(tmp_path / "out.csv"), "--columns", "stay", "--quiet", *arguments, *only],
    )
    assert done.exit_code == 0, done.output
    made = tk.Calibration.load(tmp_path / "out-calibration.json")
    assert sum(made.beliefs[-1].rows.values()) == 243
    for belief in made.beliefs:
        assert 9 not in [value for law in belief.values() for value in law.values]
