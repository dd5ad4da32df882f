"""The table named at the start: its names may be hostile, and it is the only file that is ever read."""

import html
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from browser import opened
from explorer_process import QUESTION, Explorer
from playwright.sync_api import Browser

import takifugu as tk
from takifugu.web.answers import Answers
from takifugu.web.describing import read_question
from takifugu.web.shelf import Shelf

_EVIL = "<script>alert(1)</script>"
_NAME = "file:own & only.csv"
_COLUMN = '"><img src=x onerror=alert(2)>'


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(5)
    rows = 90
    path = tmp_path_factory.mktemp("own") / "own & only.csv"
    pd.DataFrame(
        {
            "who": np.where(np.arange(rows) % 3 == 0, _EVIL, "plain"),
            _COLUMN: rng.normal(5, 1, rows).round(4) + (np.arange(rows) % 3 == 0),
            "other": rng.normal(0, 1, rows).round(4),
            "identity": [f"person {i}" for i in range(rows)],
            "code": np.arange(rows) + 1_000_000,
            "empty": [None] * rows,
        }
    ).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def own(table: Path) -> Iterator[Explorer]:
    running = Explorer.start(str(table))
    yield running
    running.stop()


def _question(**changed: Any) -> dict[str, Any]:
    return QUESTION | {"table": _NAME, "secret": "who", "pair": ["plain", _EVIL], "columns": [_COLUMN]} | changed


def test_it_comes_first_and_is_told_from_the_bundled_ones(own: Explorer) -> None:
    start = json.loads(own.request("GET", "/api/start")[2])
    assert [one["name"] for one in start["tables"]] == [_NAME, *tk.datasets.names()]
    assert start["tables"][0]["title"] == "own & only.csv"


def test_columns_with_a_value_for_everybody_are_no_secrets(own: Explorer) -> None:
    about = own.ask("/api/table", {"table": _NAME})
    assert about["secrets"] == ["who"]
    assert about["numbers"] == [_COLUMN, "other", "code"]


def test_what_looks_like_an_identifier_comes_last_and_is_called_one(own: Explorer) -> None:
    about = own.ask("/api/table", {"table": _NAME})
    assert about["identifiers"] == ["identity", "code"]
    assert about["lists"] == ["who", _COLUMN, "other", "identity", "code"]


def test_hostile_names_are_text_and_nothing_more(browser: Browser, own: Explorer, table: Path, tmp_path: Path) -> None:
    with opened(browser, own.address, waiting=False) as visit:
        visit.page.get_by_label("Secret column", exact=True).select_option("who")
        asked = visit.asks()
        assert (asked["table"], asked["query"], asked["columns"]) == (_NAME, "row", ["other"])  # which tells less
        assert asked["confidence"] == 0.95  # which takes seconds to find, and is overtaken
        assert visit.choose("The guarantee holds", "")["columns"] == ["other"]
        assert visit.tick("columns", _COLUMN)["columns"] == [_COLUMN, "other"]
        visit.publish_as("noise")
        visit.choose("of the column", _COLUMN)
        visit.choose("Guarantee", "renyi")
        visit.choose("Hide", "plain")
        question = visit.choose("Adversary’s belief", "gaussian")
        assert (question["pair"], question["columns"]) == (["plain", _EVIL], [_COLUMN])
        priors = tk.fit_priors(table, secret="who", query=tk.Raw(_COLUMN, prior="gaussian"), secrets=["plain", _EVIL])
        theta = tk.calibrate(priors, alpha=3, epsilon=question["epsilon"]).theta
        assert float(visit.text("#theta")) == float(f"{theta:.6g}")
        assert _EVIL in visit.text("#guess-words")
        assert visit.page.locator("img").count() == 0
        assert visit.page.locator("script").count() == 1
        report = visit.save("Report", tmp_path).read_text()
        assert "<script" not in report
        assert "<img" not in report
        assert html.escape(_EVIL) in report
        assert tk.verify(visit.save("Certificate for an auditor", tmp_path)).theta == theta


def test_a_network_trains_when_asked_and_is_remembered(table: Path) -> None:
    answers = Answers(Shelf(table), network_steps=200)
    question = _question(query="bnn", epsilon=0.001)
    with pytest.raises(tk.InputError, match="not trained yet"):
        answers.answer(read_question(question))
    trained = answers.answer(read_question(question | {"train": True}))
    assert trained["theta"] > 0
    assert answers.answer(read_question(question))["theta"] == trained["theta"]
    assert answers.answer(read_question(question | {"epsilon": 0.01}))["theta"] < trained["theta"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"table": "nosuch"}, "there is no table"),
        ({"table": "/etc/passwd"}, "there is no table"),
        ({"table": "../own & only.csv"}, "there is no table"),
        ({"secret": "nosuch"}, "not among those that can be secrets"),
        ({"secret": "empty"}, "not among those that can be secrets"),
        ({"columns": ["nosuch"]}, "not among those that can be published"),
        ({"columns": ["identity"]}, "not among those that can be published"),
        ({"columns": ["who"]}, "not among those that can be published"),
        ({"pair": ["plain", "nobody"]}, "no row has who"),
        ({"mechanism": "closed-form", "prior": "empirical"}, "closed-form"),
    ],
)
def test_what_was_not_offered_is_refused_in_a_sentence(own: Explorer, changed: dict[str, Any], sentence: str) -> None:
    refusal = own.ask("/api/answer", _question(**changed))["refusal"]
    assert sentence in refusal
    assert "Traceback" not in refusal


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"table": "heart"}',
        b"[" * 4000,
        b'{"alpha": NaN}',
        b'{"alpha": 1' + b"0" * 3000 + b"}",
        b"\xff\xfe",
        json.dumps(QUESTION | {"alpha": 1}).encode(),
        json.dumps(QUESTION | {"alpha": 1e6}).encode(),
        json.dumps(QUESTION | {"epsilon": 0}).encode(),
        json.dumps(QUESTION | {"epsilon": "1"}).encode(),
        json.dumps(QUESTION | {"epsilon": True}).encode(),
        json.dumps(QUESTION | {"pair": ["1", "1"]}).encode(),
        json.dumps(QUESTION | {"pair": ["1", "2", "3"]}).encode(),
        json.dumps(QUESTION | {"secret": "x" * 201}).encode(),
        json.dumps(QUESTION | {"mechanism": "none"}).encode(),
        json.dumps(QUESTION | {"prior": ["mixture"]}).encode(),
        json.dumps(QUESTION | {"path": "/etc/passwd"}).encode(),
    ],
)
def test_a_question_that_is_none_is_refused(own: Explorer, body: bytes) -> None:
    for path in ("/api/answer", "/api/download/report", "/api/download/certificate"):
        status, _, content = own.request("POST", path, body=body)
        assert status == 400, content
        assert json.loads(content).keys() == {"error"}
        assert b"Traceback" not in content


def test_a_question_of_another_kind_is_refused(own: Explorer) -> None:
    """A form on somebody else's page can send text, but not JSON."""
    body = json.dumps(QUESTION).encode()
    assert own.request("POST", "/api/answer", body=body, headers={"Content-Type": "text/plain"})[0] == 400


def test_what_cannot_be_certified_has_no_download(own: Explorer) -> None:
    question = _question(mechanism="wasserstein-approx")
    assert own.request("POST", "/api/download/certificate", body=question)[0] == 409
    assert own.request("POST", "/api/download/report", body=question)[0] == 200
    assert own.request("POST", "/api/download/nothing", body=question)[0] == 404


def test_ctrl_c_does_not_wait_for_a_model_in_training() -> None:
    running = Explorer.start()
    body = json.dumps(QUESTION | {"query": "bnn", "train": True}).encode()
    head = (
        f"POST /api/answer HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nOrigin: http://127.0.0.1:{running.port}\r\n"
        f"X-Takifugu-Token: {running.token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", running.port)) as line:
        line.sendall(head.encode() + body)
        while "training the network" not in str(running.ask("/api/progress", {"page": "page"})):
            assert running.process.poll() is None
        assert running.stop() == (0, "\nThe explorer has ended.\n", "")
