"""The command and the Python that the page shows find what the page shows, to the last bit."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from explorer_process import QUESTION
from hypothesis import given
from hypothesis import strategies as st
from people import DIAGNOSES, write_people

from takifugu.cli import main
from takifugu.commands.inspect import arguments_of
from takifugu.commands.options import known_of, names_in, parse_query
from takifugu.tables import Reading
from takifugu.web import wording as reproducing
from takifugu.web.answers import Answers
from takifugu.web.describing import Choice, Fit, as_list, read_question
from takifugu.web.shelf import Entry, Shelf

_TABLE = {"query": "row", "promise": "odds", "odds": 3, "confidence": 0.95}
_PEOPLE = {"table": "file:people.csv", "secret": "diagnosis", "pair": None}

_VECTORS = "a person's vector", "a vector of means"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_people(tmp_path_factory.mktemp("people") / "people.csv", rows=600).parent


@pytest.fixture(scope="module")
def answers(folder: Path, staffed: Any) -> Iterator[Answers]:
    found = Answers(Shelf(), network_steps=50)
    dropped = found.shelf.uploads.new("people.csv")
    dropped.write_bytes((folder / "people.csv").read_bytes())
    assert found.shelf.add_dropped(dropped, "people.csv").name == "file:people.csv"
    with staffed(found.desk):
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


@pytest.fixture(scope="module")
def commas(tmp_path_factory: pytest.TempPathFactory, staffed: Any) -> Iterator[Answers]:
    path = tmp_path_factory.mktemp("commas") / "commas.csv"
    rows = "".join(f"{'pq'[k % 2]},{k * k % 7},{k * 5 % 11},{'xy'[k * k % 3 % 2]}, {k % 3}\n" for k in range(120))
    path.write_text(f'secret,"a,b","say ""c""","k,l"," edge "\n{rows}')
    found = Answers(Shelf(path))
    with staffed(found.desk):
        yield found
    found.close()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (_TABLE | {"columns": ["a,b"], "known": ["k,l"], "confidence": None}, "columns=['a,b']"),
        ({"columns": ["a,b"]}, "tk.Raw('a,b', prior='gaussian')"),
        ({"columns": ["a,b", 'say "c"']}, "tk.Raw(['a,b', 'say \"c\"'], prior='gaussian')"),
    ],
    ids=["table", "noise", "vector"],
)
def test_a_name_with_a_comma_stands_in_quotes(
    commas: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], said: str
) -> None:
    asked = read_question(QUESTION | {"table": "file:commas.csv", "secret": "secret", "pair": None} | changed)
    shown = commas.answer(asked)
    channel = json.loads(commas.calibration(asked))["channel"]
    assert said in shown["python"]
    for name in ("command", "python"):
        monkeypatch.chdir(_copied(commas, tmp_path / name))
        where = str(commas.shelf.entry("file:commas.csv").file)
        code = shown[name].replace(where, "commas.csv").replace(where.removesuffix(".csv"), "commas")
        assert (_by_command(code) if name == "command" else _by_python(code))["channel"] == channel


def _copied(answers: Answers, place: Path) -> Path:
    """A folder with the table in it, where nothing was published from it yet."""
    place.mkdir()
    (place / "commas.csv").write_bytes(Path(str(answers.shelf.entry("file:commas.csv").file)).read_bytes())
    return place


@given(st.lists(st.text(max_size=6), min_size=1, max_size=3))
def test_names_come_out_of_a_command_as_they_went_in(names: list[str]) -> None:
    fit = Fit("heart", "s", None, "raw", tuple(names), known=tuple(names))
    command = reproducing.command(Choice(fit, "exact", 3.0, 1.0, None, None), Entry("heart", "", "heart", Path("l")))
    if command is None:
        assert any(name != name.strip() or len(name.splitlines()) != 1 for name in names)
        return
    words = shlex.split(command)
    assert parse_query(words[words.index("--query") + 1]) == ("raw", names)
    assert known_of([words[k + 1] for k, word in enumerate(words) if word == "--known"]) == names


_NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6).filter(
    lambda name: not name.startswith("-")
)


@given(
    st.lists(_NAMES, min_size=2, max_size=4, unique=True),
    st.lists(_NAMES, max_size=2, unique=True),
    st.lists(st.one_of(_NAMES, st.integers(-99, 99)), max_size=3, unique_by=str),
    st.floats(1.01, 1000),
    st.booleans(),
)
def test_a_plan_says_what_the_command_says(
    tmp_path_factory: pytest.TempPathFactory,
    columns: list[str],
    out: list[str],
    values: list[str | int],
    odds: float,
    tidy: bool,
) -> None:
    lists = ((columns[0], tuple(values)),) if values else ()
    fit = Fit("t", "secret", None, "row", tuple(columns[:-1]), (columns[-1],), leave_out=tuple(out), lists=lists)
    choice = Choice(fit, "optimal", None, None, odds, 0.95)
    reading = Reading(tidy=tidy, sentinels=tuple(out), merge={"rare": [*columns]} if tidy else ())
    entry = Entry("t", "", "t.csv", Path("l"), reading=reading)
    plan, command = reproducing.plan(choice, entry, bare=tidy), reproducing.command(choice, entry, bare=tidy)
    assert plan is not None
    assert command is not None
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    path.write_text(plan, encoding="utf-8")
    publish = main.get_command(None, "publish")  # type: ignore[arg-type]
    assert publish is not None
    _, _, *typed = shlex.split(command)
    said = []
    for words in (typed, [*typed[:2], *arguments_of(str(path), publish, [])]):
        with publish.make_context("publish", words) as context:
            given = {k: v for k, v in context.params.items() if k != "plan"}
            names: dict[str, object] = {name: names_in(given[name]) for name in ("columns", "known")}
            domain = None if given["domain"] is None else json.loads(given["domain"])
            said.append(given | names | {"merge": Reading(merge=given["merge"]).merges, "domain": domain})
    assert said[0] == said[1]


@given(st.lists(st.one_of(_NAMES.filter(lambda name: '"' not in name), st.integers(-(10**9), 10**9)), max_size=5))
def test_a_list_that_is_typed_is_the_list_that_is_published(values: list[str | int]) -> None:
    typed = ", ".join(f'"{one}"' if "," in str(one) else str(one) for one in values)
    found = as_list(typed)
    assert [str(one) for one in found] == [str(one) for one in values]
    assert len({isinstance(one, str) for one in found}) <= 1  # of one kind: numbers, or labels
