"""A file read in another way, from the page: in Chromium, and what the command and the Python say of it."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from browser import DESKTOP, PHONE, opened
from explorer_process import QUESTION, Explorer
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser

import takifugu as tk
from hospital import export
from takifugu.cli import main
from takifugu.commands.options import reading_from
from takifugu.errors import InputError
from takifugu.tables.reading import Reading
from takifugu.web import wording as reproducing
from takifugu.web.answers import Answers, Publication
from takifugu.web.describing import as_asked, on_page, read_question, read_reading, shown
from takifugu.web.shelf import Shelf

_ASKED = {"table": "file:people.csv", "sep": "", "decimal": "", "encoding": "", "na": "", "sentinels": ""}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("hospital") / "people.csv").parent


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_suspected_code_is_shown_and_declared_with_one_button(
    browser: Browser, running: Explorer, folder: Path, size: dict[str, int]
) -> None:
    with opened(browser, running.quick, size=size) as visit:
        page = visit.page
        visit.drop(folder / "people.csv", "diagnosis")
        assert page.locator("#reading-field").is_visible()
        page.locator("#reading-field").evaluate("field => { field.open = true; }")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0
        assert page.locator("#reading-sentinels").input_value() == "stay_days=999"
        assert "published like any other value until you read" in visit.text("#reading-suspects")
        visit.picture(f"suspects-{size['width']}")
        page.locator("#reading-sep").select_option(",")
        page.locator("#read-again").click()
        page.locator("#reading-problem:not(:empty)").wait_for()  # with commas there are no such columns
        page.locator("#reading-sep").select_option(";")
        page.locator("#read-again").click()
        page.locator("#table-note").filter(has_text="had a declared sentinel in 'stay_days'").wait_for()
        visit.settle()
        assert page.locator("#reading-suspects").inner_text() == ""
        visit.picture(f"reading-{size['width']}")
        assert "--sentinel stay_days=999" in visit.text("#command") or visit.text("#no-command")
        assert "tk.Reading(sep=';', sentinels=('stay_days=999',))" in visit.text("#python")


@pytest.fixture(scope="module")
def answers(folder: Path, staffed: Any) -> Iterator[Answers]:
    """On the file as it is read by itself."""
    with closing(Answers(Shelf(folder / "people.csv"))) as found, staffed(found.desk):
        yield found


def test_what_is_suspected_waits_in_its_field(answers: Answers) -> None:
    about = answers.table("file:people.csv")
    assert about["suspects"] == ["stay_days=999"]
    assert any("999 stands far" in one and "“How the file is read”" in one for one in about["findings"])
    assert not any("Reading(" in one for one in about["findings"])
    assert {one["name"]: one["reading"] for one in answers.tables()}["heart"] is None


def test_a_file_read_again_answers_as_the_flags_do(folder: Path, tmp_path: Path) -> None:
    answers = Answers(Shelf(folder / "people.csv"))
    told = answers.read_again(*read_reading(_ASKED | {"sentinels": "999, -1", "decimal": ","}))
    assert told["tables"][0]["name"] == told["name"] != "file:people.csv"
    assert told["tables"][0]["title"] == "people.csv"
    changed = {"table": told["name"], "secret": "positive", "pair": None, "columns": ["stay_days"]}
    asked = read_question(QUESTION | changed | {"query": "mean", "known": []})
    shown = answers.answer(asked)
    reading = tk.Reading(sentinels=("999", "-1"), decimal=",")
    priors = tk.fit_priors(folder / "people.csv", secret="positive", query=tk.Mean("stay_days"), reading=reading)
    assert shown["theta"] == tk.calibrate(priors, alpha=3, epsilon=1).theta
    assert shown["command"].endswith("--decimal , --sentinel 999 --sentinel -1")
    with pytest.raises(InputError, match="there is no table"):
        answers.table("file:people.csv")  # how it was read before is gone
    with pytest.raises(InputError, match="bundled"):
        answers.read_again("heart", {})
    answers.close()


def test_a_misspelt_label_of_a_merge_is_refused_as_by_the_command_line(folder: Path) -> None:
    answers = Answers(Shelf(folder / "people.csv"))
    merge = {"merge": "rare=Kohler, D01"}
    with pytest.raises(InputError, match="'Kohler' cannot be merged into 'rare', since no column has that label"):
        answers.read_again(*read_reading(_ASKED | merge))
    assert answers.read_again(*read_reading(_ASKED | {"merge": "rare=Köhler, D01"}))["name"]
    answers.close()
    begun = Answers(Shelf(folder / "people.csv", reading=Reading(merge={"rare": ["Kohler", "D01"]})))
    changed = {"table": "file:people.csv", "secret": "diagnosis", "pair": None, "columns": ["stay_days"]}
    with pytest.raises(InputError, match="'Kohler' cannot be merged"):
        Publication(begun).prepare(read_question(QUESTION | changed | {"query": "row", "known": []}))
    begun.close()


def test_what_the_adversary_knows_counts_for_noise_too(answers: Answers, folder: Path) -> None:
    chosen = {"table": "file:people.csv", "secret": "positive", "pair": None, "columns": ["share"], "known": ["clinic"]}
    chosen |= {"query": "raw", "prior": "gaussian"}
    asked = read_question(QUESTION | chosen | {"known": ["ward"], "prior": "counts"})
    shown = answers.answer(asked)
    query = tk.Raw("share", prior="counts")
    priors = tk.fit_priors(folder / "people.csv", secret="positive", query=query, known=["ward"])
    assert shown["theta"] == tk.calibrate(priors, alpha=3, epsilon=1).theta
    assert "--known ward" in shown["command"]
    assert "For 600 published values start from α = 8" in shown["use_words"]  # the advice of every other door
    assert "known=['ward']" in shown["python"]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"sep": 3}, {"na": "x" * 201}, {"sep": ";;"}, {"decimal": "x"}, {"encoding": "no such"}),
        *({"more": ""}, {"header": "yes"}, {"skip": "-1"}, {"skip": "9" * 9}),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        read_reading(_ASKED | wrong)


codes = st.lists(st.sampled_from(["999", "-1", "age=999", "9,9", "n/a"]), max_size=3, unique=True).map(tuple)


@given(
    st.sampled_from([None, ";", "\t"]),
    st.sampled_from([None, ","]),
    codes,
    st.sampled_from([None, True, False]),
    st.sampled_from([None, 2]),
    st.sampled_from([None, "", "'"]),
    st.sampled_from([None, "1", "Stays"]),  # the page has texts alone; a place among the sheets is one of digits
)
def test_flags_say_what_the_reading_says(sep, decimal, sentinels, header, skip, thousands, sheet):  # type: ignore[no-untyped-def]
    form = {"header": header, "skip": skip, "thousands": thousands, "sheet": sheet}
    reading = Reading(sep=sep, decimal=decimal, sentinels=sentinels, **form)
    command = main.get_command(None, "inspect")  # type: ignore[arg-type]
    assert command is not None
    with command.make_context("inspect", ["people.csv", *reproducing._flags(reading)]) as context:
        given_back = {k: v for k, v in context.params.items() if k not in ("table", "secret", "as_json")}
    assert reading_from(given_back) == reading


def test_a_refusal_is_in_the_words_of_the_page(running: Explorer, folder: Path) -> None:
    _, dropped = running.drop("people.csv", (folder / "people.csv").read_bytes())
    asked = {"table": dropped["name"], "secret": "diagnosis", "pair": None, "query": "mean", "columns": ["share"]}
    told = running.ask("/api/answer", QUESTION | asked)
    assert "hide another pair" in told["refusal"]
    assert "confidence=" not in told["refusal"]
    assert "fit_priors" not in told["refusal"]


def test_no_sentence_of_a_page_names_an_argument_of_the_reader() -> None:
    told = "999 stands far: give reading=Reading(sentinels=['a=999'])", "give reading=Reading(decimal=...) to be sure"
    assert not any("Reading(" in on_page(one) for one in told)
    told = "Mend that line, or name another separator (sep=)", "say header=False if its first line is a record"
    assert all("“How the file is read”" in on_page(one) and "=" not in on_page(one) for one in told)
    assert json.dumps(on_page("as it is")) == '"as it is"'


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6), max_size=4)
)
def test_a_field_of_several_means_what_it_says(values):  # type: ignore[no-untyped-def]
    said = shown(Reading(sentinels=values), "parquet")["sentinels"]
    assert as_asked(Reading(), {"sentinels": said}).sentinels == tuple(values)
