"""What survives in a published table: figures as pandas and numpy find them, and warnings where they are others."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.errors import InputError
from takifugu.estimates.comparing import Compared, Rows, compared, compared_laws, compared_tables
from takifugu.estimates.estimating import Estimates
from takifugu.estimates.scores import Description
from takifugu.releases import INSECURE


def rows(seed, count=400):
    rng = np.random.default_rng(seed)
    ward = rng.choice(["A", "B", "C"], count, p=[0.5, 0.3, 0.2])
    age = rng.integers(20, 60, count)
    stay = np.round(0.1 * age + (ward == "B") + rng.normal(0, 1, count))
    sex = np.where(rng.random(count) < 0.3 + 0.3 * (ward == "A"), "f", "m")
    return pd.DataFrame({"ward": ward, "age": age, "stay": stay, "sex": sex})


def of(table):
    return {name: table[name].tolist() for name in table.columns}


def figures(comparison):
    return {(one.kind, one.name): one for one in comparison.figures}


def test_figures_are_those_of_pandas_and_numpy():
    true, published = rows(1), rows(2)
    found = figures(compared(Rows.of(of(true)), Rows.of(of(published))))
    for side, table in (("before", true), ("after", published)):

        def figure(kind, name, side=side):
            return getattr(found[kind, name], side)

        assert figure("mean", "age") == pytest.approx(table["age"].mean())
        assert figure("spread", "stay") == pytest.approx(table["stay"].std(ddof=0))
        assert figure("share", "ward = B") == pytest.approx((table["ward"] == "B").mean())
        assert figure("correlation", "age and stay") == pytest.approx(table["age"].corr(table["stay"]))
        means = table.groupby("ward")["stay"].mean()
        assert figure("group mean", "stay where ward = C") == pytest.approx(means["C"])
        cells = pd.crosstab(table["ward"], table["sex"]) / len(table)
        expected = np.outer(cells.sum(axis=1), cells.sum(axis=0))
        chi = ((cells.to_numpy() - expected) ** 2 / expected).sum()
        assert figure("association", "ward and sex") == pytest.approx(np.sqrt(chi))
        commonest = {name: true[name].value_counts().index[0] for name in ("ward", "sex")}
        design, told = [np.ones(len(table)), table["age"]], [None, "age"]
        for name, common in commonest.items():
            for label in sorted(set(true[name]) - {common}):
                design.append((table[name] == label).astype(float))
                told.append(f"{name} = {label}")
        solved, *_ = np.linalg.lstsq(np.stack(design, axis=1), table["stay"].to_numpy(), rcond=None)
        for name, coefficient in zip(told[1:], solved[1:], strict=True):
            others = [one for one in ("ward", "age", "sex") if not name.startswith(one)]
            of_stay = figure("slope", f"stay on {name}, beside {' and '.join(others)}")
            assert of_stay == pytest.approx(coefficient, abs=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(30, 120))
def test_what_is_published_as_it_is_survives(seed, count):
    table = of(rows(seed, count))
    found = compared(Rows.of(table), Rows.of(table))
    assert found.figures
    assert not found.changed
    assert all(shift == 0 for shift in found.shifts.values())


def test_a_reversed_sign_and_a_smaller_size_are_told():
    true = rows(3)
    published = true.assign(stay=true["stay"].max() - true["stay"])
    found = compared(Rows.of(of(true)), Rows.of(of(published)))
    correlation = figures(found)["correlation", "age and stay"]
    assert correlation.is_reversed
    assert correlation.is_changed
    assert "reversed" in found.sentence
    assert "reversed" in str(found)
    faded = true.assign(stay=np.random.default_rng(4).permutation(true["stay"]))
    correlation = figures(compared(Rows.of(of(true)), Rows.of(of(faded))))["correlation", "age and stay"]
    assert correlation.is_changed
    assert not figures(found)["mean", "age"].is_changed


def test_a_group_that_is_gone_is_changed_and_not_a_number():
    true = rows(5)
    published = true.assign(ward="A")
    found = compared(Rows.of(of(true)), Rows.of(of(published)))
    gone = figures(found)["group mean", "stay where ward = C"]
    assert np.isnan(gone.after)
    assert gone.is_changed
    assert gone.to_dict()["after"] is None
    assert "none" in str(found)


def test_negligible_changes_are_no_warning():
    assert not Compared("correlation", "a and b", 0.01, -0.01).is_changed
    assert not Compared("correlation", "a and b", 0.8, 0.7).is_changed
    assert Compared("correlation", "a and b", 0.8, 0.5).is_changed
    assert Compared("mean", "a", 10.0, 10.6, unit=2.0).is_changed
    assert not Compared("mean", "a", 10.0, 10.05, unit=2.0).is_changed


def test_corrected_figures_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(6)
    values = [(x, y) for x in (0, 1, 2) for y in (0, 1, 3)]
    counts = np.full((9, 9), 2**20 // 30)
    np.fill_diagonal(counts, 2**20 - 8 * (2**20 // 30))
    channel = FiniteChannel(tuple(values), tuple(values), counts)
    weights = np.array([6, 2, 1, 2, 3, 2, 1, 2, 5], dtype=float)
    true = [values[k] for k in rng.choice(9, 600, p=weights / weights.sum())]
    table = {"x": [x for x, _ in true], "y": [y for _, y in true]}
    steps, place = channel.matrix.cumsum(axis=1), {value: k for k, value in enumerate(values)}
    inside: dict[tuple[str, str], list[bool]] = {}
    for _ in range(60):
        drawn = (steps[[place[row] for row in true]] < rng.random(len(true))[:, None]).sum(axis=1)
        published = pd.DataFrame([values[k] for k in drawn], columns=["x", "y"])
        description = Description.of(channel, ("x", "y"))
        found = figures(compared_tables(table, Estimates(published, description, None, None)))
        for name, one in found.items():
            assert one.corrected is not None
            low, high = one.corrected.interval(0.95)
            inside.setdefault(name, []).append(low <= one.before <= high)
    assert {kind for kind, _ in inside} == {"mean", "spread", "correlation", "slope"}
    assert all(sum(hits) >= 50 for hits in inside.values())  # 57 are expected, and errors are of the population


@pytest.fixture(scope="module")
def pupils():
    return tk.datasets.load("student-por")


@pytest.fixture(scope="module")
def made(pupils):
    asked = {"secret": "schoolsup", "columns": ["G3", "failures"], "odds": 5, "confidence": None, "keep": ["sex"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tk.publish(pupils, **asked, insecure_seed=1)


def test_a_publication_is_compared_with_the_rows_it_was_made_from(made, pupils):
    found = figures(made.compare())
    assert found["mean", "G3"].before == pytest.approx(pupils["G3"].mean())
    assert found["mean", "G3"].after == pytest.approx(made.table[f"G3{INSECURE}"].mean())
    assert ("group mean", "G3 where sex = F") in found
    assert made.compare().rows == len(pupils)


def test_the_laws_say_what_a_publication_does_on_average(made):
    found = compared_laws(made.calibration)
    channel = made.calibration.channel
    mean = figures(found)["mean", "G3"]
    before = made.calibration.answer
    assert before is not None
    assert found.rows is None
    counts = pd.Series(made._true["G3"].to_list()).mean()
    # Every row of a cell of what is known weighs as the row itself: the pooled mean is that of the rows.
    assert mean.before == pytest.approx(counts, abs=0.05)
    places = {value: k for k, value in enumerate(channel.inputs)}
    true = list(zip(*(made._true[name].to_list() for name in ("failures", "G3")), strict=True))
    order = made.calibration.answer.columns
    if order != ("failures", "G3"):
        true = [(b, a) for a, b in true]
    expected = np.mean(
        [channel.matrix[places[row]] @ [out[order.index("G3")] for out in channel.outputs] for row in true]
    )
    assert mean.after == pytest.approx(expected, abs=0.05)


def test_rows_that_did_not_leave_have_no_say(pupils):
    table = pupils.assign(why=pupils["reason"])
    chosen = ["course", "home"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = tk.publish(
            table,
            secret="why",
            columns=["sex"],
            pairs=[tuple(chosen)],
            reading=tk.Reading(leave_out="others"),
            confidence=None,
            insecure_seed=1,
        )
    left = table[table["why"].isin(chosen)]
    found = figures(made.compare())
    assert found["share", "sex = F"].before == pytest.approx((left["sex"] == "F").mean())


def test_what_was_stored_no_longer_has_the_true_rows(made):
    again = pickle.loads(pickle.dumps(made))
    assert again._true is None
    with pytest.raises(InputError, match="true rows are not at hand"):
        again.compare()


def test_it_is_shown_and_drawn_and_stands_in_the_report(made, tmp_path):
    found = made.compare()
    assert "<table" in found._repr_html_()
    assert "keep it private" in found._repr_html_()
    found.plot().save(tmp_path / "survives.svg")
    assert "mean: G3" in (tmp_path / "survives.svg").read_text()
    page = tk.report(made.calibration)
    assert "What survives" in page
    assert "correlation: " in page


def test_labels_of_data_cannot_act_on_the_page():
    table = {"a<script>": ["<b>", "x", "<b>"], "n": [1, 2, 3]}
    found = compared(Rows.of(table), Rows.of(table))
    assert "<script>" not in found._repr_html_()
    assert "<b>" not in str(found.plot())


def test_noise_is_not_compared_by_laws():
    gaussian = tk.calibrate({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}, alpha=2, epsilon=1)
    with pytest.raises(InputError, match="values from a list"):
        compared_laws(gaussian)
