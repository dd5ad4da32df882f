"""The command and the Python that the page shows find what the page shows, to the last bit."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from explorer_process import QUESTION
from people import DIAGNOSES, write_people

from takifugu.cli import main
from takifugu.web.answers import Answers
from takifugu.web.choices import read_question
from takifugu.web.shelf import Shelf

_TABLE = {"query": "row", "promise": "odds", "odds": 3, "confidence": 0.95}
_PEOPLE = {"table": "file:people.csv", "secret": "diagnosis", "pair": None}

_VECTORS = "a person's vector", "a vector of means"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_people(tmp_path_factory.mktemp("people") / "people.csv").parent


@pytest.fixture(scope="module")
def answers(folder: Path) -> Iterator[Answers]:
    found = Answers(Shelf(), network_steps=50)
    dropped = found.shelf.uploads.new("people.csv")
    dropped.write_bytes((folder / "people.csv").read_bytes())
    assert found.shelf.add_dropped(dropped, "people.csv").name == "file:people.csv"
    yield found
    found.close()


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"mechanism": "closed-form", "alpha": 2.5, "epsilon": 0.77},
        {"query": "mean", "pair": None, "confidence": 0.9},
        {"prior": "counts", "confidence": 0.9},
        {"columns": ["oldpeak", "thalach"]},
        {"query": "mean", "columns": ["oldpeak", "thalach", "age"], "pair": None, "confidence": 0.9},
        _TABLE | {"columns": ["cp"]},
        _TABLE | {"columns": ["cp", "exang"], "pair": None, "known": ["sex"], "odds": 2.5, "confidence": None},
        _TABLE | {"columns": ["cp"], "promise": "renyi", "alpha": 4, "epsilon": 0.4, "confidence": None},
        _TABLE | _PEOPLE | {"columns": ["ward", "stay_days"], "confidence": None},
        _TABLE | _PEOPLE | {"columns": ["ward"], "pair": list(DIAGNOSES[::11]), "odds": 1.2, "confidence": 0.9},
        _TABLE | _PEOPLE | {"columns": ["ward"], "pair": list(DIAGNOSES[:2])},
    ],
    ids=[
        "noise",
        "closed form",
        "mean",
        "counts",
        *_VECTORS,
        "table",
        "known",
        "order",
        "dropped",
        "dropped pair",
        "bare",
    ],
)
def test_both_find_the_same(
    answers: Answers, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    asked = read_question(QUESTION | changed)
    shown = answers.answer(asked)
    calibration = json.loads(answers.calibration(asked))
    for name in ("command", "python"):
        place = tmp_path / name
        place.mkdir()
        (place / "people.csv").write_bytes((folder / "people.csv").read_bytes())
        monkeypatch.chdir(place)
        found = _by_command(shown["command"]) if name == "command" else _by_python(shown["python"])
        assert found["channel"] == calibration["channel"]
        assert found["guarantee"] == calibration["guarantee"]
        assert found["problem"]["beliefs"] == calibration["problem"]["beliefs"]
        assert found["evidence"] == calibration["evidence"]


def _by_command(command: str) -> Any:
    words = shlex.split(command)
    assert words[0] == "takifugu"
    more = ["-o", "published-calibration.json"] if words[1] == "calibrate" else []
    result = CliRunner().invoke(main, [*words[1:], *more])
    assert result.exit_code == 0, result.output
    return json.loads(Path("published-calibration.json").read_text())


def _by_python(code: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(compile(code, "shown", "exec"), namespace)
    return namespace["calibration"].to_dict()


def test_what_no_command_can_say_is_shown_in_python_alone(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = read_question(QUESTION | {"query": "gp"})
    shown = answers.answer(asked)
    assert shown["command"] is None
    assert _by_python(shown["python"])["theta"] == pytest.approx(shown["theta"], rel=1e-9)  # training rounds


def test_names_that_a_shell_would_read_are_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "it's; mine.csv"
    path.write_text("a secret,$(touch x)\n" + "".join(f"{'pq'[k % 2]},{k % 5 + k % 2}\n" for k in range(60)))
    found = Answers(Shelf(path))
    changed = {"table": f"file:{path.name}", "secret": "a secret", "pair": ["p", "q"], "columns": ["$(touch x)"]}
    shown = found.answer(read_question(QUESTION | changed))
    monkeypatch.chdir(tmp_path)
    assert _by_command(shown["command"])["theta"] == shown["theta"]
    assert _by_python(shown["python"])["theta"] == shown["theta"]
    assert not (tmp_path / "x").exists()
    found.close()


def test_a_comma_in_a_name_has_no_command(tmp_path: Path) -> None:
    path = tmp_path / "commas.csv"
    path.write_text('secret,"a,b"\n' + "".join(f"{'pq'[k % 2]},{'xyz'[k % 3]}\n" for k in range(60)))
    found = Answers(Shelf(path))
    changed = _TABLE | {"table": "file:commas.csv", "secret": "secret", "pair": None, "columns": ["a,b"]}
    shown = found.answer(read_question(QUESTION | changed))
    assert shown["command"] is None
    assert "columns=['a,b']" in shown["python"]
    found.close()


def test_a_vector_with_a_comma_in_a_name_has_no_command(tmp_path: Path) -> None:
    path = tmp_path / "commas.csv"
    rows = "".join(f"{'pq'[k % 2]},{k * k % 7},{k * 5 % 11}\n" for k in range(60))
    path.write_text(f'secret,"a,b",c\n{rows}')
    found = Answers(Shelf(path))
    changed = {"table": "file:commas.csv", "secret": "secret", "pair": None, "columns": ["a,b", "c"]}
    shown = found.answer(read_question(QUESTION | changed))
    assert shown["command"] is None
    assert "tk.Raw(['a,b', 'c'], prior='gaussian')" in shown["python"]
    found.close()
