"""Noise on several columns of numbers as one vector, on the page: in Chromium, and against the library."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import DESKTOP, PHONE, opened
from explorer_process import QUESTION, Explorer
from hypothesis import given
from hypothesis import strategies as st
from people import DIAGNOSES, other_people, write_people
from playwright.sync_api import Browser

import takifugu as tk
from takifugu.errors import InputError
from takifugu.web.answers import Answers, Publication
from takifugu.web.describing import MOST_TOGETHER, SEVERAL, read_question
from takifugu.web.shelf import Shelf

_VECTOR = QUESTION | {"columns": ["oldpeak", "thalach"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_people(tmp_path_factory.mktemp("vectors") / "people.csv", rows=360).parent


@pytest.fixture(scope="module")
def answers(staffed: Any) -> Iterator[Answers]:
    found = Answers(Shelf())
    with staffed(found.desk):
        yield found
    found.close()


def test_what_is_shown_is_what_the_library_finds(answers: Answers) -> None:
    asked = read_question(_VECTOR)
    shown = answers.answer(asked)
    heart = tk.datasets.load("heart")
    priors = tk.fit_priors(
        heart, secret="slope", query=tk.Raw(["oldpeak", "thalach"], prior="gaussian"), secrets=["1", "3"]
    )
    noise = np.sqrt(np.diagonal(tk.calibrate(priors, alpha=3, epsilon=1).channel.covariance))
    spread = [max(np.sqrt(law.covariance[k, k]) for law in priors.values()) for k in range(2)]
    assert float(shown["figure"]["value"]) == pytest.approx(max(noise / spread), rel=0.005)
    assert shown["size"] == pytest.approx(max(noise), rel=1e-12)
    assert [one["id"] for one in shown["charts"]] == ["axis-1", "axis-2", "correlation"]
    assert shown["certifiable"]
    assert shown["publishable"]
    told = " ".join(one["sentence"] for one in shown["findings"])
    assert "“A table”, one joint channel, costs far less" in told
    assert "Row(" not in told
    assert "start from α =" in shown["use_words"]  # the advice that one column has too
    assert "confidence=" not in shown["use_words"]


def test_rows_that_their_priors_do_not_describe_are_told_before_they_go_out(
    answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = read_question(_VECTOR | {"columns": ["oldpeak", "chol", "thalach"], "prior": "mixture", "epsilon": 0.3})
    shown = answers.answer(asked)
    (finding,) = [one["sentence"] for one in shown["findings"] if "do not describe these rows" in one["sentence"]]
    told = Publication(answers).prepare(asked)["warnings"]
    assert f"Mind: {finding}." in told


def test_means_of_several_columns_are_for_the_population(answers: Answers) -> None:
    shown = answers.answer(read_question(_VECTOR | {"query": "mean", "confidence": 0.9}))
    assert "for the population" in shown["use_words"]
    assert not shown["publishable"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"prior": "counts"}, "for one column"),
        ({"known": ["sex"]}, "one column is published"),
        ({"columns": ["oldpeak", "oldpeak"]}, "twice"),
        ({"columns": ["oldpeak", "slope"]}, "not among those"),
        ({"query": "gp"}, "1 to 1 columns"),
    ],
)
def test_what_noise_on_vectors_cannot_do_is_told(answers: Answers, changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        answers.answer(read_question(_VECTOR | changed))


@given(
    st.sampled_from(["row", "raw", "mean", "gp", "bnn"]),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True),
    st.sampled_from(["exact", "closed-form", "shaped", "optimal"]),
)
def test_a_vector_has_one_mechanism_and_only_where_there_can_be_one(
    query: str, columns: list[str], mechanism: str
) -> None:
    asked = QUESTION | {"query": query, "columns": columns, "mechanism": mechanism}
    if len(columns) > (MOST_TOGETHER if query in SEVERAL else 1):
        with pytest.raises(InputError, match="columns"):
            read_question(asked)
        return
    choice = read_question(asked).choice
    assert choice.fit.columns == tuple(columns)
    if choice.fit.is_vector:
        assert choice.mechanism == "shaped"
        assert query in ("raw", "mean")
    elif query != "row":
        assert choice.mechanism == mechanism


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_columns_are_published_together_with_noise(
    browser: Browser, running: Explorer, folder: Path, tmp_path: Path, size: dict[str, int]
) -> None:
    people = other_people(folder / "people.csv", tmp_path / f"vector-{size['width']}.csv", str(size["width"]))
    with opened(browser, running.quick, size=size) as visit:
        page = visit.page
        visit.drop(people, "sex")
        visit.publish_as("noise")
        visit.choose("Secret column", "diagnosis")
        visit.choose("Hide", DIAGNOSES[11])
        pair = visit.choose("from", DIAGNOSES[0])["pair"]
        visit.choose("of the column", "cost")
        visit.choose("of the column", "stay_days")
        visit.choose("Adversary’s belief", "counts")
        assert "no other column" in visit.text("#more-count")
        page.locator("#more-field summary").click()
        assert not page.locator("#more").get_by_label("stay_days", exact=True).is_visible()
        page.locator("#more").get_by_label("cost", exact=True).check()
        question = visit.settle()
        assert (question["columns"], question["prior"]) == (["stay_days", "cost"], "mixture")
        assert question["promise"] == "renyi"  # Gaussian noise on vectors bounds no odds
        for hidden in ("#mechanism-field", "#known-field", "#confidence-field"):
            assert not page.locator(hidden).is_visible()
        visit.choose("Adversary’s belief", "gaussian")
        seen = visit.text("#theta")
        question = visit.slide("ε, the budget", 800)
        assert visit.text("#theta") != seen
        assert "times the spread" in visit.text("#figure-after")
        for chart in ("axis-1", "axis-2", "correlation"):
            assert page.locator(f"#chart-{chart} svg").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
        visit.picture(f"explorer-vector-{size['width']}")
        assert "--query raw:stay_days,cost" in visit.text("#command")
        saved = tk.Calibration.load(visit.save("Calibration", tmp_path))
        query = tk.Raw(["stay_days", "cost"], prior="gaussian")
        priors = tk.fit_priors(people, secret="diagnosis", query=query, secrets=pair)
        assert saved.channel == tk.calibrate(priors, alpha=3, epsilon=question["epsilon"]).channel
        assert tk.verify(visit.save("Certificate for an auditor", tmp_path))
        page.reload()
        assert visit.settle() == question
        visit.complaints.clear()  # of the closed door that was met on the way
        page.get_by_role("button", name="Publish the table…").click()
        dialog = page.get_by_role("dialog", name="Publish this table?")
        dialog.get_by_label(re.compile("I have read this")).check()
        with page.expect_download() as waiting:
            dialog.get_by_role("button", name="Publish and save").click()
        waiting.value.save_as(tmp_path / "published.csv")
        lines = (tmp_path / "published.csv").read_text().splitlines()
        assert (lines[0], len(lines)) == ('"stay_days","cost"', 61)
        question = visit.choose("Publish", "mean")
        assert question["columns"] == ["stay_days", "cost"]
        assert page.locator("#confidence-field").is_visible()
        assert page.locator("#publish").is_disabled()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"columns": ["oldpeak"]}, "with the belief “counts with a pseudo-row” it can be guaranteed"),
        ({"columns": ["oldpeak"], "prior": "counts"}, "“The guarantee holds” can include the population"),
        ({}, "“A table” can be guaranteed for the population"),
        ({"query": "mean"}, "“The guarantee holds” can include the population"),
    ],
    ids=["a belief without draws", "counts", "a vector", "means"],
)
def test_what_would_make_it_for_the_population_is_on_the_page(
    answers: Answers, changed: dict[str, Any], sentence: str
) -> None:
    assert sentence in answers.answer(read_question(_VECTOR | changed))["use_words"]
