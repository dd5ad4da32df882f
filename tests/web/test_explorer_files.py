"""Files that are dropped on the page: read by the one reader, kept in a private folder, gone at the end, never told."""

import http.client
import json
import signal
import stat
from pathlib import Path

import pytest
from explorer_process import QUESTION, TEMPORARY, Explorer
from people import write_people

import takifugu as tk
from takifugu.web.gate import MOST_UPLOAD
from takifugu.web.shelf import MOST_FILES, Shelf, title_of

_AS_FOUND = dict.fromkeys(("sep", "encoding", "decimal", "thousands", "header", "skip", "na", "sentinels"), "") | {
    "tidy": "",
    "merge": "",
}
_ROWS = "s,x\n" + "".join(f"{'ab'[k % 2]},{k % 3}\n" for k in range(40))


@pytest.fixture(scope="module")
def place(running: Explorer) -> Path:
    return running.folder / TEMPORARY


def test_a_dropped_file_is_read_as_everywhere_and_kept_to_its_owner(
    running: Explorer, place: Path, tmp_path: Path
) -> None:
    path = write_people(tmp_path / "patients.csv", rows=240)
    before = set(place.glob("takifugu-dropped-*/*"))
    status, told = running.drop("patients.csv", path.read_bytes())
    assert status == 200
    assert told["tables"][0] == {
        **{"name": "file:patients.csv", "title": "patients.csv", "kind": "file"},
        **{"secret": None, "pair": None, "answer": None, "reading": _AS_FOUND},
    }
    about = running.ask("/api/table", {"table": "file:patients.csv"})
    assert about["identifiers"] == ["case_id"]
    assert "secret" not in about  # which column is secret, nobody but its holder knows
    assert any("semicolons" in finding for finding in about["findings"])
    question = {"table": "file:patients.csv", "secret": "sex", "pair": ["f", "m"], "columns": ["cost"]}
    answer = running.ask("/api/answer", QUESTION | question)
    priors = tk.fit_priors(path, secret="sex", query=tk.Raw("cost", prior="gaussian"), secrets=["f", "m"])
    assert answer["theta"] == tk.calibrate(priors, alpha=3, epsilon=1).theta
    (folder,) = place.glob("takifugu-dropped-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in set(folder.iterdir()) - before] == [0o600]
    assert "patients" not in "".join(file.name for file in folder.iterdir())


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("people.exe", b"x", "must end in .csv"),
        ("", b"x", "must be one line"),
        ("a\nb.csv", b"s,x\n", "must be one line"),
        ("x" * 300 + ".csv", b"s,x\n", "must be one line"),
        ("empty.csv", b"", "is empty"),
        ("other.csv", b"PK\x03\x04 and more", "zip archive"),
        ("letter.xlsx", b"Dear Sir or Madam", "not that of an Excel file"),
        ("header.csv", b"s,x\n", "has no rows"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(
    running: Explorer, place: Path, name: str, content: bytes, sentence: str
) -> None:
    before = {path for folder in place.glob("takifugu-dropped-*") for path in folder.iterdir()}
    status, told = running.drop(name, content)
    assert status == 200
    if "refusal" not in told:  # what has a header opens, and is refused when its columns are asked for
        told = running.ask("/api/table", {"table": told["name"]})
    assert sentence in told["refusal"]
    assert str(place) not in told["refusal"]
    if name != "header.csv":
        assert {path for folder in place.glob("takifugu-dropped-*") for path in folder.iterdir()} == before


def test_a_form_of_another_page_cannot_drop_anything(running: Explorer) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        assert running.drop("x.csv", _ROWS.encode(), Content_Type=kind)[0] == 400
    assert running.drop("x.csv", _ROWS.encode(), Origin="http://evil.example")[0] == 403
    assert running.drop("x.csv", _ROWS.encode(), X_Takifugu_Token="wrong")[0] == 403


def test_a_file_beyond_the_limit_is_refused_before_it_is_sent(running: Explorer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=600)
    connection.putrequest("POST", "/api/upload")
    headers = {
        "Origin": f"http://127.0.0.1:{running.port}",
        "Content-Type": "application/octet-stream",
        "X-Takifugu-Token": running.token,
        "X-Takifugu-File": "large.csv",
        "Content-Length": str(MOST_UPLOAD + 1),
    }
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 413
    assert "200 MB" in json.loads(response.read())["error"]
    connection.close()


def test_a_file_that_breaks_off_is_not_read(running: Explorer, place: Path) -> None:
    before = json.loads(running.request("GET", "/api/start")[2])["tables"]
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=600)
    connection.putrequest("POST", "/api/upload")
    for name, value in {
        "Origin": f"http://127.0.0.1:{running.port}",
        "Content-Type": "application/octet-stream",
        "X-Takifugu-Token": running.token,
        "X-Takifugu-File": "half.csv",
        "Content-Length": "1000",
    }.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(_ROWS.encode())
    connection.close()
    assert json.loads(running.request("GET", "/api/start")[2])["tables"] == before


def test_a_name_is_never_given_twice_and_the_oldest_file_makes_room() -> None:
    shelf = Shelf()
    names = []
    for _ in range(MOST_FILES + 2):
        path = shelf.uploads.new("people.csv")
        path.write_text(_ROWS)
        names.append(shelf.add_dropped(path, "people.csv").name)
    assert names[:3] == ["file:people.csv", "file:people.csv (2)", "file:people.csv (3)"]
    assert [name for name in names if name in shelf.entries] == names[2:]
    assert len(list(shelf.uploads.folder.iterdir())) == MOST_FILES
    with pytest.raises(tk.InputError, match="drop the file"):
        shelf.open(names[0])
    # One ledger for one name: dropping a file again is no way to publish it twice.
    assert {shelf.entries[name].ledger for name in names[2:]} == {Path("people.ledger")}
    shelf.uploads.close()
    assert not shelf.uploads.folder.exists()


def test_records_are_known_whatever_their_file_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    rows = "nr,s,x\n" + "".join(f"{k},{'ab'[k % 2]},{k % 3}\n" for k in range(60))
    Path("data/people.csv").write_text(rows)
    asked = {
        "secret": "s",
        "columns": ["x"],
        "id": "nr",
        "confidence": None,
        "utility": tk.Utility(allow_no_noise=True),
    }
    tk.publish("data/people.csv", ledger="data/p.ledger", **asked)
    shelf = Shelf("data/people.csv")
    path = shelf.uploads.new("copy.csv")
    path.write_text(rows)
    dropped = shelf.add_dropped(path, "copy.csv").name
    for name in ("file:people.csv", dropped):
        with pytest.raises(tk.LedgerError, match=r"p\.ledger knows some of these records"):
            shelf.refuse_known(name, ["s", "x"], ["x"])
    shelf.uploads.close()


@pytest.mark.parametrize("source", ["people.csv", "heart"])
def test_what_was_named_at_the_start_comes_first_whatever_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(_ROWS)
    shelf = Shelf(source)
    for name in ("one.csv", "two.csv"):
        path = shelf.uploads.new(name)
        path.write_text(_ROWS)
        shelf.add_dropped(path, name)
    first = next(iter(shelf.entries))
    assert list(shelf.entries)[:3] == [first, "file:two.csv", "file:one.csv"]
    assert shelf.entries[first].source == source
    if source == "people.csv":  # under another name, in the same place
        again = shelf.read_again(first, {"sep": ","}).name
        assert list(shelf.entries)[:3] == [again, "file:two.csv", "file:one.csv"]
    shelf.uploads.close()


@pytest.mark.parametrize("name", ["", ".", "..", "a/", "a\\", "a\x00.csv", "a\x85.csv"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(tk.InputError):
        title_of(name)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals here")
@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP"])
def test_it_is_removed_however_the_explorer_is_asked_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running = Explorer.start()
    assert running.drop("people.csv", _ROWS.encode())[0] == 200
    assert list(tmp_path.glob("takifugu-dropped-*"))
    running.process.send_signal(getattr(signal, how))
    _, errors = running.process.communicate(timeout=600)
    assert running.process.returncode == 0
    assert errors == ""
    assert not list(tmp_path.glob("takifugu-*"))
