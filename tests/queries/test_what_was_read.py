"""Findings about how a table was read: only those that concern the question, and a code such as 999 among them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from hospital import export
from takifugu.problems.diagnostics import Diagnostic, about


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return export(tmp_path_factory.mktemp("hospital") / "people.csv")


def kinds(priors):
    return [finding.code for finding in priors.findings]


def test_only_the_columns_in_question_are_told(path):
    told = tk.fit_priors(path, secret="positive", query=tk.Row("ward"))
    assert "missing-texts" in kinds(told)
    assert "percentages" not in kinds(told)
    assert "decimal-commas" not in kinds(told)
    told = tk.fit_priors(path, secret="positive", query=tk.Row("share"))
    assert "missing-texts" not in kinds(told)
    assert "percentages" in kinds(told)
    assert "read-as" in kinds(told), "how the file as a whole was read is always told"


@pytest.mark.parametrize(
    "query",
    [tk.Row("stay_days"), tk.Row("stay_days", "ward"), tk.Raw("stay_days"), tk.Mean("stay_days")],
    ids=["row", "rows", "raw", "mean"],
)
def test_a_code_is_told_whichever_way_the_column_is_published(path, query):
    found = list(tk.fit_priors(path, secret="positive", query=query).findings)
    codes = [one["sentinel"] for one in found if one.code == "suspected-sentinel"]
    assert codes == ["stay_days=999"]


def test_a_declared_code_is_a_suspect_no_more(path):
    reading = tk.Reading(sentinels=("stay_days=999",))
    told = tk.fit_priors(path, secret="positive", query=tk.Row("stay_days"), reading=reading)
    assert "suspected-sentinel" not in kinds(told)
    assert "sentinels-treated" in kinds(told)


def test_the_end_of_a_scale_is_no_code():
    rng = np.random.default_rng(0)
    hours = np.append(rng.integers(20, 99, 800), [99] * 60)  # frequent, and next to 98
    people = pd.DataFrame({"group": np.arange(860) % 2, "hours": hours})
    for query in (tk.Row("hours"), tk.Raw("hours"), tk.Mean("hours")):
        assert "suspected-sentinel" not in kinds(tk.fit_priors(people, secret="group", query=query))


names = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True)


@given(names, names, names)
def test_nothing_is_told_of_a_column_that_is_not_asked_for(commas, percents, asked):
    findings = [
        Diagnostic("decimal-commas", columns=tuple(commas)),
        Diagnostic("percentages", columns=tuple(percents)),
        Diagnostic("missing-texts", column="a", texts=("NA",), cells=1),
        Diagnostic("title-lines", lines=1),
    ]
    told = about(findings, asked)
    for one in told:
        assert set(getattr(one, "columns", ())) <= set(asked)
        assert getattr(one, "column", asked[0]) in asked
    assert Diagnostic("title-lines", lines=1) in told
    assert about(findings, "abcdef") == tuple(findings)


def test_a_warning_is_shown_where_the_call_stands_and_only_of_what_is_new(path):
    with pytest.warns(tk.DiagnosticWarning, match="999 stands far") as caught:
        priors = tk.fit_priors(path, secret="positive", query=tk.Row("stay_days"))
    assert [one.filename for one in caught] == [__file__] * len(caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tk.calibrate(priors, odds=3, preserve=None)  # what was said of the priors is not said again


def test_publishing_shows_what_it_found_once():
    people = pd.DataFrame({"positive": [*"yn"] * 60, "ward": [*"AaB"] * 40})
    with pytest.warns(tk.DiagnosticWarning) as caught:
        made = tk.publish(
            people, secret="positive", columns=["ward"], confidence=None, utility=tk.Utility(allow_no_noise=True)
        )
    said = [str(one.message) for one in caught if one.category is tk.DiagnosticWarning]
    assert said == [str(one) for one in made.findings if one.level == "warning"]
    assert len(set(said)) == len(said) > 0
    assert {one.filename for one in caught} == {__file__}


def test_from_within_the_library_nothing_is_shown_twice(path, recwarn):
    warnings.simplefilter("always")
    from click.testing import CliRunner

    from takifugu.cli import main

    told = CliRunner().invoke(
        main, ["calibrate", str(path), "--secret", "positive", "--query", "row:stay_days", "--odds", "3"]
    )
    assert told.exit_code == 0
    assert "--sentinel 'stay_days=999'" in " ".join(told.output.split())
    assert [one for one in recwarn if one.category is tk.DiagnosticWarning] == []


def test_looking_for_codes_changes_no_refusal():
    nobody = pd.DataFrame({"group": ["a", "b"], "age": [np.nan, np.nan]})
    with pytest.raises(tk.InputError, match="no value"):
        tk.fit_priors(nobody, secret="group", query=tk.Row("age"))
    endless = pd.DataFrame({"group": ["a", "b"] * 9, "age": [np.inf, *range(17)]})
    assert "suspected-sentinel" not in kinds(tk.fit_priors(endless, secret="group", query=tk.Row("age", domain=[0, 9])))


def test_columns_that_single_people_out_are_told(path):
    table = pd.read_csv(path, sep=";", encoding="latin-1")
    told = tk.fit_priors(table, secret="positive", query=tk.Row("admitted"))
    assert "looks-like-dates" in kinds(told)
    with pytest.raises(tk.InputError, match="it names people"):
        tk.fit_priors(table, secret="positive", query=tk.Row("patient"))
    few = table.assign(email=table["patient"].str[-2:])  # six rows share each: refused by no count, but by its name
    assert "looks-like-identifier" in kinds(tk.fit_priors(few, secret="positive", query=tk.Row("email")))
    listed = tk.Row("email", domain=["00", "else"], other="else")
    assert "looks-like-identifier" not in kinds(tk.fit_priors(few, secret="positive", query=listed))
    told = tk.fit_priors(table, secret="positive", query=tk.Row("ward", "diagnosis"))
    assert not {"looks-like-dates", "looks-like-identifier"} & set(kinds(told))


def test_too_many_labels_are_refused_with_advice_for_both_cases():
    many = pd.DataFrame({"group": ["a", "b"] * 600, "code": [f"c{k}" for k in range(1_200)]})
    with pytest.raises(tk.InputError, match="if it names people, leave it out"):
        tk.fit_priors(many, secret="group", query=tk.Row("code"))


def test_a_wrong_separator_is_thought_of_before_the_file_is_blamed(path, tmp_path):
    crooked = tmp_path / "crooked.csv"
    crooked.write_text("a;b,c\n1;2,3\n4;5\n")
    with pytest.raises(tk.InputError, match=r"or name another separator \(sep=\)"):
        tk.inspect(crooked, reading=tk.Reading(sep=","))
