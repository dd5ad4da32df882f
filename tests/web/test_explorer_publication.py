"""Publishing from the page: what was confirmed and nothing else, through a ledger, once."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from explorer_process import QUESTION

import takifugu as tk
from takifugu.tables.reading import Reading
from takifugu.web.answers import Answers, Publication
from takifugu.web.describing import Question, as_asked, on_page, read_question
from takifugu.web.shelf import Shelf

_ASKED = QUESTION | {"query": "row", "columns": ["cp"], "pair": None, "promise": "odds", "odds": 2}


@pytest.fixture(scope="module")
def answers(staffed: Any) -> Iterator[Answers]:
    found = Answers(Shelf())
    with staffed(found.desk):
        yield found
    found.close()


@pytest.fixture
def publication(answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publication:
    monkeypatch.chdir(tmp_path)  # where the ledgers of tables that lie nowhere are kept
    return Publication(answers)


def _asked(**changed: Any) -> Question:
    return read_question(_ASKED | changed)


def test_what_is_said_is_what_goes_out_and_once(publication: Publication, tmp_path: Path) -> None:
    told = publication.prepare(_asked())
    assert not (tmp_path / "heart.ledger").exists()  # nothing is charged before it is confirmed
    words = " ".join(told["sentences"])
    assert f"From {tk.datasets.about('heart').title}: cp of up to 303 rows" in words
    assert "The secret is slope, and every value of it is hidden from every other." in words
    assert "steps" not in words  # its own values are on the list
    assert told["warnings"] == []
    assert "by more than a factor of 2: proved just now" in words
    assert str(tmp_path / "heart.ledger") in words
    other = publication.prepare(_asked(odds=3))
    path = publication.publish(told["ticket"])
    lines = path.read_text().splitlines()
    assert lines[0] == '"cp"'
    assert len(lines) == 304
    assert set(lines[1:]) <= {"1", "2", "3", "4"}
    # The same ticket is the same file; another ticket, of before or after, is a second release.
    assert publication.publish(told["ticket"]) == path
    assert path.read_text().splitlines() == lines
    with pytest.raises(tk.BudgetError):
        publication.publish(other["ticket"])
    with pytest.raises(tk.BudgetError, match="published before"):
        publication.prepare(_asked())
    assert sorted(p.name for p in path.parent.glob("published-*")) == [path.name]


def test_it_is_drawn_through_the_calibration_that_is_saved(
    answers: Answers, publication: Publication, tmp_path: Path
) -> None:
    path = publication.publish(publication.prepare(_asked())["ticket"])
    (tmp_path / "calibration.json").write_text(answers.calibration(_asked()))
    made = tk.Calibration.load(tmp_path / "calibration.json")
    truth = tk.datasets.load("heart")
    found = tk.audit(path, truth, made)
    assert not found.contradicted


def test_of_one_pair_the_others_stay_at_home(publication: Publication) -> None:
    told = publication.prepare(_asked(pair=["1", "3"], odds=1.5))
    assert "The secret is slope, and 1 is hidden from 3." in " ".join(told["sentences"])
    assert "neither of the two stay out" in " ".join(told["sentences"])
    assert len(publication.publish(told["ticket"]).read_text().splitlines()) == 1 + 142 + 21


def test_noise_is_published_too(publication: Publication) -> None:
    asked = _asked(query="raw", columns=["oldpeak"], pair=["1", "3"], promise="renyi", epsilon=0.5)
    told = publication.prepare(asked)
    assert "α = 3, ε = 0.5" in " ".join(told["sentences"])
    lines = publication.publish(told["ticket"]).read_text().splitlines()
    assert lines[0] == '"oldpeak"'
    assert len({float(line) for line in lines[1:]}) > 100
    with pytest.raises(tk.BudgetError):
        publication.prepare(asked)


def test_that_nothing_changes_is_said_before_it_is_confirmed(publication: Publication) -> None:
    told = publication.prepare(_asked(odds=500))
    assert told["bare"]
    assert "published as they are" in told["warnings"][-1]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"query": "mean", "columns": ["oldpeak"]}, "has none"),
        (
            {"query": "raw", "columns": ["oldpeak"], "promise": "renyi", "mechanism": "wasserstein-approx"}
            | {"pair": ["1", "3"]},
            "weaker guarantee",
        ),
        ({"table": "file:gone.csv"}, "drop the file"),
    ],
)
def test_what_cannot_be_published_is_refused_in_a_sentence(
    publication: Publication, tmp_path: Path, changed: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(tk.InputError, match=sentence):
        publication.prepare(_asked(**changed))
    assert list(tmp_path.iterdir()) == []


def test_a_ticket_that_was_never_given_is_none(publication: Publication) -> None:
    with pytest.raises(tk.InputError, match="confirm it then"):
        publication.publish("nosuch")


def test_evidence_is_not_called_proof(publication: Publication) -> None:
    told = publication.prepare(_asked(confidence=0.9, pair=["1", "2"]))
    assert "evidence is Monte Carlo, not a proof, with 90 % confidence" in " ".join(told["sentences"])


def test_the_ledger_lies_beside_a_named_table_and_where_it_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("s,x\n" + "".join(f"{'ab'[k % 2]},{k % 3}\n" for k in range(40)))
    beside, asked = Shelf(path), Shelf(path, ledger=tmp_path / "own.ledger")
    assert beside.entry("file:people.csv").ledger == tmp_path / "people.ledger"
    assert asked.entry("file:people.csv").ledger == asked.entry("heart").ledger == tmp_path / "own.ledger"
    assert json.dumps(str(beside.entry("heart").ledger)) == '"heart.ledger"'
    beside.uploads.close()
    asked.uploads.close()


def _of_people(tmp_path: Path, lines: list[str]) -> Question:
    (tmp_path / "people.csv").write_text("s,x\n" + "\n".join(lines) + "\n")
    return _asked(table="file:people.csv", secret="s", columns=["x"], odds=2)


def test_rounding_is_said_before_anything_is_confirmed(tmp_path: Path, staffed: Any) -> None:
    ages = [999 if k % 31 == 0 else 18 + k % 71 for k in range(600)]
    asked = _of_people(tmp_path, [f"{'ab'[k % 2]},{age}" for k, age in enumerate(ages)])
    with closing(Answers(Shelf(tmp_path / "people.csv", Reading(sentinels=("x=",))))) as found, staffed(found.desk):
        told = Publication(found).prepare(asked)
        shown = found.answer(asked)
    # Nothing changes beside the rounding, which alone makes most cells another.
    assert shown["figure"]["after"] == "of the values change, besides rounding to steps of 20"
    assert shown["in_words"].startswith("x is published in steps of 20")
    assert "Nothing else needs to change" in shown["in_words"]
    assert told["sentences"][0].startswith("From people.csv: x of up to 600 rows will be published")
    assert told["sentences"][1].startswith("x is published in steps of 20: each value is rounded to the nearest")
    assert "The secret is s, and every value of it is hidden from every other." in told["sentences"][2]
    assert not any("999" in one for one in told["warnings"])  # it was said to be a value


def test_a_code_that_nobody_declared_is_not_published(tmp_path: Path, staffed: Any) -> None:
    ages = [999 if k % 31 == 0 else 18 + k % 71 for k in range(600)]
    asked = _of_people(tmp_path, [f"{'ab'[k % 2]},{age}" for k, age in enumerate(ages)])
    refusal = pytest.raises(tk.InputError, match="999 stands far from the rest in 'x'")
    with closing(Answers(Shelf(tmp_path / "people.csv"))) as found, staffed(found.desk), refusal as refused:
        Publication(found).prepare(asked)
    said = on_page(str(refused.value))
    assert "say so under “How the file is read”; if it is a real value, write x= under “How the file is read”" in said
    read = as_asked(Reading(), {"sentinels": "x="})
    assert read.sentinels == ("x=",)


def test_of_a_row_the_columns_that_are_rounded_are_named(tmp_path: Path, staffed: Any) -> None:
    (tmp_path / "people.csv").write_text("s,x,y\n" + "".join(f"{'ab'[k % 2]},{k % 211},{k % 3}\n" for k in range(600)))
    asked = _asked(table="file:people.csv", secret="s", columns=["x", "y"], odds=9)
    with closing(Answers(Shelf(tmp_path / "people.csv"))) as found, staffed(found.desk):
        assert found.answer(asked)["figure"]["after"] == "of the rows change, besides rounding x to steps of 5"
        plain = found.answer(_asked(table="file:people.csv", secret="s", columns=["y"]))
    assert plain["figure"]["after"] == "of the values change"
    assert "steps" not in plain["in_words"]


def test_rows_sorted_by_the_secret_are_shuffled(tmp_path: Path, staffed: Any) -> None:
    # Four in ten of "a" have a 1, and six in ten of "b": within the odds as they are, and no half hides which it was.
    asked = _of_people(
        tmp_path, [f"a,{k % 10 > 5:d}" for k in range(2000)] + [f"b,{k % 10 > 3:d}" for k in range(2000)]
    )
    with closing(Answers(Shelf(tmp_path / "people.csv"))) as found, staffed(found.desk):
        publication = Publication(found)
        told = publication.prepare(asked)
        assert "The rows are shuffled: where a row stands tells nothing." in told["sentences"]
        published = [int(line) for line in publication.publish(told["ticket"]).read_text().splitlines()[1:]]
    halves = sum(published[:2000]), sum(published[2000:])
    assert len(published) == 4000
    assert 0 < sum(published) < 4000  # something is left of the values
    # Two halves of a shuffled table differ by 31 on average; those of the sorted one by 400.
    assert abs(halves[0] - halves[1]) < 190


def test_a_file_that_left_through_another_ledger_is_noticed(tmp_path: Path, staffed: Any) -> None:
    asked = _of_people(tmp_path, [f"{'ab'[k % 2]},{k % 3}" for k in range(300)])
    path = tmp_path / "people.csv"
    tk.publish(
        path,
        secret="s",
        columns=["x"],
        odds=2,
        ledger=tmp_path / "elsewhere.ledger",
        utility=tk.Utility(allow_no_noise=True),
    )
    with (
        closing(Answers(Shelf(path))) as found,
        staffed(found.desk),
        pytest.raises(tk.LedgerError, match="knows some of these records"),
    ):
        Publication(found).prepare(asked)
    assert not (tmp_path / "people.ledger").exists()
