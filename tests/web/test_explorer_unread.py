"""A dropped file that cannot be read as it is: what the page offers, and what a link and the shelf remember of it."""

import json
import re
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from browser import DESKTOP, LONG, PHONE, Visit, opened
from explorer_process import Explorer
from hypothesis import given
from hypothesis import strategies as st
from people import write_people
from playwright.sync_api import Browser

import takifugu as tk
from takifugu.errors import InputError
from takifugu.tables.reading import Reading
from takifugu.web.describing import FIELDS, as_asked, on_page, shown
from takifugu.web.shelf import MOST_FILES, Shelf

_LINES = [f"{'xyz'[k * k % 3]};{k % 7};{'ab'[k % 2]};{k % 5},5" for k in range(120)]


def _headless(folder: Path, name: str) -> Path:
    """A file without names, whose first line has one value twice."""
    path = folder / name
    path.write_text("\n".join(["x;4;a;4", *_LINES]) + "\n", encoding="utf-8")
    return path


def _fits(visit: Visit) -> None:
    assert visit.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_file_that_cannot_be_read_is_read_as_the_page_is_told(
    browser: Browser, running: Explorer, tmp_path: Path, size: dict[str, int]
) -> None:
    path = _headless(tmp_path, f"visits-{size['width']}.csv")
    with opened(browser, running.quick, size=size) as visit:
        page = visit.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        visit.publish_as("row")
        page.locator("#file").set_input_files(path)
        page.locator("#drop-note.bad").filter(has_text="could not be read as it is").wait_for()
        problem = page.locator("#reading-problem")
        assert "that its first line is a record" in problem.inner_text()
        assert page.evaluate("window.innerHeight") > (problem.bounding_box() or {})["y"] > 0  # without scrolling
        for gone in ("#chosen", "#answer"):
            assert not page.locator(gone).is_visible()
        _fits(visit)
        visit.picture(f"unread-{size['width']}")
        page.locator("#reading-sep").select_option("|")  # a file of one column, then: the page says which it is
        page.locator("#read-again").click()
        problem.filter(has_text="name that one under “How the file is read”").wait_for()
        page.locator("#reading-sep").select_option(";")
        page.locator("#reading-header").select_option("record")
        page.locator("#reading-na").fill("z")
        page.locator("#read-again").click()
        page.locator("#drop-note:not(.bad)").filter(has_text="is open").wait_for()
        visit.choose("Secret column", "column3")
        question = visit.tick("columns", "column2")
        assert page.locator("#reading-header").input_value() == "record"
        _fits(visit)
        for part in ("--sep ';'", "--na z", "--no-header"):
            assert part in visit.text("#command")
        assert "tk.Reading(sep=';', na=('z',), header=False)" in visit.text("#python")
        reading = tk.Reading(sep=";", na=("z",), header=False)
        query = tk.Row(*question["columns"])
        expected = tk.calibrate(
            tk.fit_priors(path, secret="column3", query=query, reading=reading),
            odds=question["odds"],
            confidence=question["confidence"],
        )
        assert tk.Calibration.load(visit.save("Calibration", tmp_path)).channel == expected.channel
        page.get_by_role("button", name="Copy a link to this choice").click()
        page.get_by_role("button", name="Copied").wait_for()
        link = page.evaluate("navigator.clipboard.readText()")
        page.reload()
        assert visit.settle() == question
        visit.complaints.clear()  # of the closed door that was met on the way
    if size is DESKTOP:
        other = "visits-of-another-day.csv"
        _restores(browser, running, link.replace(path.name, other), path.rename(path.with_name(other)), question)


def test_opening_a_table_clears_what_was_said_and_shown_of_the_one_before(
    browser: Browser, running: Explorer, tmp_path: Path
) -> None:
    broken, good = _headless(tmp_path, "unread-first.csv"), write_people(tmp_path / "read-next.csv", rows=120)
    with opened(browser, running.quick) as visit:
        page = visit.page
        visit.publish_as("noise")
        page.locator("#file").set_input_files(broken)
        page.locator("#problem").filter(has_text="This file is not read yet").wait_for()
        for nothing in ("#ask-strength", "#ask-secret", "#theta"):  # of what is not read nothing can be asked
            assert not page.locator(nothing).is_visible()
        page.locator("#file").set_input_files(good)
        page.locator("#drop-note:not(.bad)").filter(has_text="read-next.csv is open").wait_for()
        assert not page.locator("#problem").is_visible()
        visit.choose("Secret column", "ward")
        page.locator("#odds").fill("0.5")  # a dropped file is published as a table: its slider is there
        page.locator("#odds-problem").filter(has_text="must be a number from").wait_for()
        assert not page.locator("#epsilon").is_visible()
        page.locator("#result[aria-busy=false]").wait_for()
        assert visit.text("#theta") == "–"
        assert not page.locator("#problem").is_visible()
        # What is still there answers another question: it says so, and nothing of it can be taken.
        assert page.locator("#outdated").is_visible()
        assert page.locator("#answer").evaluate("one => one.inert && getComputedStyle(one).opacity < 1")
        visit.picture("odds-to-mend")
        visit.type_number("odds, the factor, as a number", "3")
        assert page.locator("#answer").evaluate("one => !one.inert && getComputedStyle(one).opacity === '1'")
        assert not page.locator("#outdated").is_visible()


def _restores(browser: Browser, running: Explorer, link: str, path: Path, question: dict[str, Any]) -> None:
    """Where the file is not open yet, it is read as the link says once it is dropped."""
    with opened(browser, f"{running.address}#{link.partition('#')[2]}", waiting=False) as visit:
        visit.page.locator("#drop-note").filter(has_text="is not open here").wait_for()
        restored = visit.drop(path, None)
        assert restored | {"table": ""} == question | {"table": ""}
        assert "--no-header" in visit.text("#command")


def _workbook(path: Path, *, name: str = "Stays") -> Path:
    """A sheet about the file, and one with the table."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["about", "this file"], ["made", "by hand"]):
        book.active.append(row)
    sheet = book.create_sheet(name)
    for row in [["s", "x"], *([("a", "b")[k % 2], k % 4] for k in range(40))]:
        sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_field_of_a_reading_is_taken_and_repeated(
    browser: Browser, running: Explorer, tmp_path: Path, size: dict[str, int]
) -> None:
    rows = [f"{'łb'[k % 2]}|{k % 3}'000.5|{k % 4}" for k in range(60)]
    text = tmp_path / f"fields-{size['width']}.csv"
    text.write_text("\n".join(["Łódź 2024", "made|by|hand", "ward|cost|days", *rows]), encoding="cp1250")
    said = {"sep": "|", "skip": "2", "decimal": ".", "thousands": "'", "encoding": "cp1250", "header": "names"}
    with opened(browser, running.quick, size=size) as visit:
        page = visit.page
        page.locator("#file").set_input_files(text)
        page.locator("#drop-note").filter(has_text=f"{text.name} ").filter(has_text="stays on this machine").wait_for()
        page.locator("#reading-field").evaluate("field => { field.open = true; }")
        assert not page.locator("#reading-sheet").is_visible()
        for name, value in said.items():
            field = page.locator(f"#reading-{name}")
            field.fill(value) if name == "skip" else field.select_option(value)
        page.locator("#reading-sentinels").fill("days=3")
        page.locator("#read-again").click()
        page.locator("#table-note").filter(has_text="had a declared sentinel in 'days'").wait_for()
        visit.choose("Secret column", "ward")
        words = shlex.split(visit.text("#command"))
        for name, value in (said | {"sentinel": "days=3"}).items():
            assert "--header" in words if name == "header" else value == words[words.index(f"--{name}") + 1]
        assert [option.inner_text() for option in page.locator("#first option").all()][1:] == ["b", "ł"]
        _fits(visit)
        page.locator("#file").set_input_files(_workbook(tmp_path / f"stays-{size['width']}.xlsx"))
        page.locator("#drop-note.bad").filter(has_text="could not be read as it is").wait_for()
        assert not page.locator("#reading-sep").is_visible()
        page.locator("#reading-sheet").fill("Stays")
        page.locator("#read-again").click()
        page.locator("#drop-note:not(.bad)").filter(has_text="is open").wait_for()
        assert visit.choose("Secret column", "s")["columns"] == ["x"]
        assert "--sheet Stays" in visit.text("#command")
        _fits(visit)


def test_a_link_that_reads_a_file_in_an_impossible_way_is_told_above_its_fields(
    browser: Browser, running: Explorer, tmp_path: Path
) -> None:
    said = "table=file%3Alinked.csv&secret=sex&column=ward&query=row&read-sep=%7C&read-skip=1"
    with opened(browser, running.quick) as visit:
        visit.drop(write_people(tmp_path / "linked.csv", rows=120), "diagnosis")
        other = visit.page.context.new_page()
        other.goto(f"{running.address}#{said}")
        other.locator("#reading-problem:not(:empty)").wait_for(timeout=LONG)
        assert (other.locator("#reading-sep").input_value(), other.locator("#reading-skip").input_value()) == ("|", "1")
        other.locator("#reading-sep").select_option(";")
        other.locator("#reading-skip").fill("")
        other.locator("#read-again").click()
        other.wait_for_function("() => document.body.dataset.settled", timeout=LONG)
        assert json.loads(other.evaluate("document.body.dataset.settled"))["table"].startswith("file:linked.csv")


def test_what_cannot_be_read_stays_on_the_shelf_and_what_is_no_table_does_not(tmp_path: Path) -> None:
    shelf = Shelf()

    def drop(content: bytes, name: str = "visits.csv") -> str:
        path = shelf.uploads.new(name)
        path.write_bytes(content)
        return shelf.add_dropped(path, name).name

    content = _headless(tmp_path, "visits.csv").read_bytes()
    name = drop(content)
    with pytest.raises(InputError, match=r"the file 'visits\.csv' has one name") as refused:
        shelf.open(name)
    assert str(shelf.uploads.folder) not in str(refused.value)
    with pytest.raises(
        InputError, match=r"has nothing to separate by '\|', and ';' stands in each of its lines alike"
    ) as wrong:
        shelf.read_again(name, {"sep": "|", "header": "record"})
    assert on_page(str(wrong.value)).endswith("name that one under “How the file is read”, or none")
    (again,) = [one for one in shelf.entries if one.startswith("file:")]
    entry = shelf.read_again(again, {"sep": "", "header": "record"})
    assert shelf.describe(entry.name)["secrets"]
    assert shelf.form(entry.name) == dict.fromkeys(FIELDS["text"], "") | {"header": "record"}
    with pytest.raises(InputError, match="PDF"):
        drop(b"%PDF-1.7 no table")
    assert len(list(shelf.uploads.folder.iterdir())) == 1
    for _ in range(MOST_FILES):
        drop(content)
    assert entry.name not in shelf.entries
    assert len(list(shelf.uploads.folder.iterdir())) == MOST_FILES
    with pytest.raises(InputError, match="no column that could be a secret"):
        shelf.describe(drop("\n".join(["days", *map(str, range(200))]).encode(), "days.csv"))
    shelf.uploads.close()


def test_a_sheet_is_named_or_refused(tmp_path: Path) -> None:
    shelf = Shelf()
    path = _workbook(shelf.uploads.new("stays.xlsx"))
    name = shelf.add_dropped(path, "stays.xlsx").name
    assert set(shelf.form(name) or ()) == set(FIELDS["excel"])
    with pytest.raises(InputError, match="'Sheet', 'Stays'"):
        shelf.read_again(name, {"sheet": "Stay"})
    entry = shelf.read_again(name, {"sheet": "Stays"})
    assert shelf.open(entry.name).columns == ["s", "x"]
    shelf.uploads.close()


def test_a_workbook_that_opens_with_notes_tells_of_its_other_sheets(tmp_path: Path) -> None:
    import openpyxl

    shelf = Shelf()
    path = _workbook(shelf.uploads.new("stays.xlsx"))
    book = openpyxl.load_workbook(path)
    book.active.delete_cols(2)
    book.save(path)
    with pytest.raises(InputError, match="its one column does not have between 2 and 60 values") as refused:
        shelf.describe(shelf.add_dropped(path, "stays.xlsx").name)
    told = on_page(str(refused.value))
    assert told.endswith("read from the sheet 'Sheet', and not from 'Stays': “How the file is read” can change that")
    shelf.uploads.close()


def test_a_sheet_may_be_called_by_a_number(tmp_path: Path) -> None:
    shelf = Shelf()
    path = _workbook(shelf.uploads.new("stays.xlsx"), name="2024")
    name = shelf.add_dropped(path, "stays.xlsx").name
    for sheet in ("2024", "1"):  # its name, or its place
        name = shelf.read_again(name, {"sheet": sheet}).name
        assert shelf.open(name).columns == ["s", "x"]
    shelf.uploads.close()


_readings = st.builds(
    Reading,
    sep=st.sampled_from([None, ";", "\t", "^"]),
    decimal=st.sampled_from([None, ","]),
    thousands=st.sampled_from([None, "", ".", "'"]),
    encoding=st.sampled_from([None, "cp1252", "mac-roman"]),
    na=st.sampled_from([None, (), ("?",), ("a, b", "")]),
    sentinels=st.lists(st.sampled_from([999, "9,9", "age=-1", -1.5]), max_size=3, unique=True).map(tuple),
    header=st.sampled_from([None, True, False]),
    skip=st.sampled_from([None, 0, 3]),
    sheet=st.sampled_from([None, 0, "0", "Stays"]),
    missing=st.sampled_from(["drop", "refuse"]),
)


@given(_readings, st.sampled_from(sorted(FIELDS)))
def test_a_form_that_is_sent_back_untouched_changes_nothing(reading: Reading, kind: str) -> None:
    assert as_asked(reading, shown(reading, kind)) == reading


@given(_readings, _readings)
def test_one_field_changes_and_the_others_stay(reading: Reading, other: Reading) -> None:
    form = shown(reading, "text") | {"sep": other.sep or ""}
    made = as_asked(reading, form)
    assert made.sep == other.sep
    assert {**vars(made), "sep": None} == {**vars(reading), "sep": None}


@given(st.dictionaries(st.sampled_from(FIELDS["text"]), st.text(max_size=6)))
def test_any_text_in_a_field_is_a_reading_or_a_sentence(form: dict[str, str]) -> None:
    with suppress(InputError):
        assert as_asked(as_asked(Reading(), form), form) == as_asked(Reading(), form)


_NAME = "Zorngiebel"  # in records alone: no sentence may show it
_BROKEN = {  # what it holds, its name, and whether another reading could help
    "a longer line": (f"name,age\nAnn,3\n{_NAME},4,5\n", "a.csv", True),
    "an open quote": (f'name,age\nAnn,3\n"{_NAME},4\nBo,5\n', "a.csv", True),
    "a record for a header": (f"39,{_NAME},77516\n40,Bo,1\n41,Al,2\n", "a.csv", True),
    "titles of nobody knows what": (f"Report\n{_NAME},city\nAnn,X\n", "a.csv", True),
    "one name twice": (f"{_NAME},x,{_NAME}\n1,2,3\n", "a.csv", True),
    "bytes of no text": (f"name,age\n{_NAME}\0,3\n", "a.csv", True),
    "half a workbook": (f"PK\x03\x04{_NAME}", "a.xlsx", True),
    "one column": (f"{_NAME}\n" + "Ann\n" * 9, "a.csv", True),
    "a workbook in disguise": (f"PK\x03\x04{_NAME}", "a.csv", False),
    "nothing": ("", "a.csv", False),
    "no gzip": (f"name,age\n{_NAME},3\n", "a.csv.gz", False),
}


@pytest.mark.parametrize("case", _BROKEN)
def test_a_broken_file_is_a_sentence_of_the_page_that_shows_no_record(case: str) -> None:
    content, name, could_be_read = _BROKEN[case]
    shelf = Shelf()
    path = shelf.uploads.new(name)
    path.write_bytes(content.encode())
    with pytest.raises(InputError) as caught:
        shelf.describe(shelf.add_dropped(path, name).name)
    sentence = on_page(str(caught.value))
    assert not re.search(r"\b\w+=|Reading|--\w", sentence)
    assert str(shelf.uploads.folder) not in sentence
    assert _NAME not in sentence
    kept = [one for one in shelf.entries if one.startswith("file:")]
    assert (len(kept), path.exists()) == ((1, True) if could_be_read else (0, False))
    shelf.uploads.close()
