import gc
import os
import signal
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from calibrations import hand_made
from pyarrow import csv

from takifugu.errors import BudgetError, CompositionError, InputError
from takifugu.problems.diagnostics import Diagnostic
from takifugu.releases import frames
from takifugu.releases.file_release import release_file
from takifugu.releases.ledger import Ledger
from takifugu.releases.plan import InsecureReleaseWarning
from takifugu.tables import table as streaming
from takifugu.tables.reading import Reading
from takifugu.tables.table import Table

ROWS = 5000
NAMES = {"column": "value", "secret": "secret"}


def table(rows=ROWS):
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "secret": np.array(["a", "b"])[rng.integers(2, size=rows)],
            "id": np.arange(rows),
            "value": rng.normal(size=rows),
        }
    )


def write(path, content):
    (csv.write_csv if path.suffix == ".csv" else pq.write_table)(content, path)
    return path


def read(path):
    return csv.read_csv(path) if path.suffix == ".csv" else pq.read_table(path)


@pytest.fixture(params=[".parquet", ".csv"])
def source(request, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_ROWS", 700)  # several batches
    return write(tmp_path / f"in{request.param}", table())


def test_a_table_that_was_counted_and_then_changed_is_refused_before_anything_is_charged(tmp_path):
    source, target = write(tmp_path / "in.parquet", table(50)), tmp_path / "out.parquet"
    counted = Table(source)
    write(source, table(60))
    with pytest.raises(InputError, match="changed since it was counted"):
        release_file(counted, target, hand_made(1.0), **NAMES, ledger=tmp_path / "book")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.parquet"]


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_every_row_is_released_in_order(source, tmp_path, suffix):
    target, seen = tmp_path / f"out{suffix}", []
    result = release_file(
        source,
        target,
        hand_made(1e-6),
        **NAMES,
        keep=["id"],
        progress=lambda done, rows: seen.append((done, rows)),
        order="keep",
    )
    out = read(target)
    assert out.column_names == ["value", "id"]
    assert out["id"].to_pylist() == list(range(ROWS))
    gaps = out["value"].to_numpy() - table()["value"].to_numpy()
    assert 0.9e-6 < gaps.std() < 1.1e-6
    assert (result.rows, result.theta, result.insecure) == (ROWS, 1e-6, False)
    assert len(seen) > 3
    assert {of for _, of in seen} == {ROWS}
    assert seen[-1] == (ROWS, ROWS)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([source.name, target.name])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of files that were being opened
@pytest.mark.parametrize("order", ["shuffle", "keep"])
def test_ctrl_c_at_any_moment_leaves_nothing_behind(source, tmp_path, monkeypatch, order):
    """But for the ledger, once it was charged: a value that was drawn and never seen is paid for all the same."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr("takifugu.releases.plan.AT_ONCE", ROWS // 4)  # in buckets on the disk

    def interrupt(*_):
        raise KeyboardInterrupt

    target, ledger, key = tmp_path / "out.parquet", tmp_path / "l.ledger", tmp_path / "key.csv"
    before = signal.signal(signal.SIGALRM, interrupt)
    there, stopped, delay = {source.name, "temporary"}, 0, 0.004
    try:
        while True:
            signal.setitimer(signal.ITIMER_REAL, delay)
            try:
                release_file(source, target, hand_made(1.0), **NAMES, ledger=ledger, order=order, positions=key)
                break
            except KeyboardInterrupt:
                stopped += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            gc.collect()
            if target.exists():  # it was done already
                break
            left = {path.name for path in tmp_path.iterdir() if not path.name.startswith((".l.ledger", "l.ledger"))}
            assert left == there
            at_exit = {
                str(known[2][0]) for one in list(weakref.finalize._registry) if (known := one.peek()) and known[2]
            }
            assert {str(path) for path in temporary.iterdir()} <= at_exit  # gone at the latest with the process
            for path in (*tmp_path.glob(".l.ledger*"), *tmp_path.glob("l.ledger*")):
                path.unlink()
            delay *= 1.3
    finally:
        signal.signal(signal.SIGALRM, before)
    assert stopped > 5
    assert {path.name for path in tmp_path.glob("[!.l]*")} == there | {"out.parquet", "key.csv"}


def test_nothing_is_charged_where_nothing_can_be_written(source, tmp_path):
    ledger = tmp_path / "l.db"
    for target in (tmp_path / "none" / "out.csv", tmp_path / f"{'x' * 245}.csv"):
        with pytest.raises(InputError, match="cannot be written"):
            release_file(source, target, hand_made(1.0), **NAMES, ledger=ledger)
    with pytest.raises(InputError, match="is the ledger"):
        release_file(source, tmp_path / "l.csv", hand_made(1.0), **NAMES, ledger=tmp_path / "l.csv")
    assert sorted(os.listdir(tmp_path)) == [source.name]


def test_the_ledger_is_charged_once_and_knows_the_answer(source, tmp_path):
    ledger, calibration = Ledger(tmp_path / "l.db"), hand_made(1.0)
    release_file(source, tmp_path / "1.parquet", calibration, **NAMES, ledger=ledger, theta=2.0)
    release_file(source, tmp_path / "2.csv", calibration, **NAMES, ledger=ledger, theta=2.0)
    assert ledger.account().fraction_spent == 0.5
    other = write(tmp_path / "other.parquet", table(ROWS - 1))
    with pytest.raises(CompositionError):
        release_file(other, tmp_path / "3.parquet", calibration, **NAMES, ledger=ledger, theta=2.0)
    with pytest.raises(BudgetError, match="what is left"):
        release_file(source, tmp_path / "4.parquet", calibration, **NAMES, ledger=ledger)
    assert sorted(p.name for p in tmp_path.glob("*.parquet") if p.name[0].isdigit()) == ["1.parquet"]
    assert not list(tmp_path.glob(".*partial"))


def test_the_answer_is_the_same_as_in_memory(source, tmp_path):
    import takifugu as tk

    ledger = Ledger(tmp_path / "l.db")
    tk.release(table(), hand_made(1.0), **NAMES, ledger=ledger, theta=2.0)
    release_file(source, tmp_path / "out.parquet", hand_made(1.0), **NAMES, ledger=ledger, theta=2.0)
    assert ledger.account().releases == 2


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (lambda t: t.set_column(0, "secret", pa.array(["c"] * ROWS)), {}, "outside the calibrated pairs"),
        (lambda t: t.set_column(2, "value", pa.array([None] + [1.0] * (ROWS - 1))), {}, "1 missing"),
        (lambda t: t.set_column(2, "value", pa.array([1.0] * (ROWS - 1) + [float("inf")])), {}, "finite"),
        (lambda t: t, {"column": "nothing"}, "no column 'nothing'"),
        (lambda t: t, {"keep": ["secret"]}, "is the secret"),
        (lambda t: t, {"secret": None}, "secret is missing"),
        (lambda t: t, {"others": "some"}, "others must be"),
        (lambda t: t.slice(0, 0), {}, "no rows"),
    ],
)
def test_a_refusal_leaves_nothing_behind(source, tmp_path, change, options, says):
    write(source, change(table()))
    with pytest.raises(InputError, match=says):
        release_file(source, tmp_path / "out.parquet", hand_made(), **{**NAMES, **options}, ledger=tmp_path / "l.db")
    assert not list(tmp_path.glob("*out.parquet*"))
    assert Ledger(tmp_path / "l.db").account() is None


def test_rows_of_other_secrets_can_be_dropped(source, tmp_path):
    mixed = table().set_column(0, "secret", pa.array(["a", "c"] * (ROWS // 2)))
    write(source, mixed)
    result = release_file(source, tmp_path / "out.csv", hand_made(), **NAMES, keep=["id"], others="drop", order="keep")
    assert result.rows == ROWS // 2
    assert [one.sentence for one in result.findings] == [
        f"{ROWS // 2:,} rows of other secrets were left out",
        str(Diagnostic("order-kept")),
    ]
    assert read(tmp_path / "out.csv")["id"].to_pylist() == list(range(0, ROWS, 2))


def test_rows_of_other_secrets_that_are_published_have_no_guarantee_and_it_is_said(source, tmp_path):
    write(source, table().set_column(0, "secret", pa.array(["a", "c"] * (ROWS // 2))))
    result = release_file(source, tmp_path / "out.csv", hand_made(), **NAMES, others="release")
    assert result.rows == ROWS
    assert result.findings == (Diagnostic("others-published"),)


def test_groups_of_rows_tell_nothing_of_those_that_stayed_at_home(source, tmp_path, monkeypatch):
    monkeypatch.setattr(frames, "_GROUP", 600)
    secrets = np.where(np.arange(ROWS) < 1_000, "c", "a")
    secrets[1_000::3] = "b"
    write(source, table().set_column(0, "secret", pa.array(secrets)))
    release_file(source, tmp_path / "out.parquet", hand_made(), **NAMES, keep=["id"], others="drop", order="keep")
    made = pq.ParquetFile(tmp_path / "out.parquet").metadata
    assert [made.row_group(k).num_rows for k in range(made.num_row_groups)] == [600] * 6 + [400]
    assert read(tmp_path / "out.parquet")["id"].to_pylist() == list(range(1_000, ROWS))


def test_names_that_cannot_be_used_are_refused(tmp_path):
    source = write(tmp_path / "in.parquet", table())
    (tmp_path / "there.csv").write_text("mine")
    for bad_source, target, says in (
        (source, "there.csv", "exists already"),
        (source, "out.xlsx", "neither Parquet nor CSV"),
        (tmp_path / "in.ods", "out.csv", "cannot tell the format"),
        (tmp_path / "in.xlsx", "out.csv", "no file"),
        (tmp_path / "absent.csv", "out.csv", "no file"),
        (tmp_path / "absent.parquet", "out.csv", "no file"),
    ):
        with pytest.raises(InputError, match=says):
            release_file(bad_source, tmp_path / target, hand_made(), **NAMES)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(InputError, match="cannot be read"):
        release_file(tmp_path / "broken.parquet", tmp_path / "out.csv", hand_made(), **NAMES)
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_what_calibration_reads_release_reads(tmp_path):
    """Semicolons, decimal commas and an old encoding; a pattern's characters in the name; no record in an error."""
    path = tmp_path / "people[1].csv"
    (tmp_path / "people1.csv").write_text("secret,value\na,0.5\n")
    path.write_bytes("secret;value;wörd\na;1.234,5;ä\nb;-2,25;ö\na;NA;ü\n".encode("cp1252"))
    with pytest.raises(InputError, match="1 missing"):
        release_file(path, tmp_path / "out.csv", hand_made(1e-6), **NAMES, order="keep")
    done = release_file(
        path, tmp_path / "out.csv", hand_made(1e-6), **NAMES, keep=["wörd"], reading=Reading(missing="drop"),
        ledger=tmp_path / "l.db", order="keep",
    )  # fmt: skip
    assert np.allclose(read(tmp_path / "out.csv")["value"], [1234.5, -2.25], atol=1e-4)
    assert read(tmp_path / "out.csv")["wörd"].to_pylist() == ["ä", "ö"]
    kinds = [finding.code for finding in done.findings]
    assert kinds == ["read-as", "decimal-commas", "grouped-digits", "missing-texts", "no-value", "order-kept"]
    assert (done.rows, done.findings[-2]["rows"]) == (2, 1)
    path.write_text("secret,value\na,1\nZorngiebel,2,3\n")
    with pytest.raises(InputError, match="line 3") as caught:
        release_file(path, tmp_path / "again.csv", hand_made(), **NAMES, ledger=tmp_path / "l.db", order="keep")
    assert "Zorngiebel" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_seed_marks_the_file(source, tmp_path):
    with pytest.warns(InsecureReleaseWarning):
        result = release_file(source, tmp_path / "out.csv", hand_made(), **NAMES, insecure_seed=0)
    assert result.insecure
    assert read(tmp_path / "out.csv").column_names == ["value (insecure seed)"]


def test_ten_million_rows_stay_under_a_gigabyte(tmp_path):
    """In a process of its own, whose largest resident size the operating system tells."""
    script = Path(__file__).with_name("large_file.py")
    path = os.pathsep.join([str(script.parent), *filter(None, sys.path)])
    run = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    rows, kilobytes = map(int, run.stdout.split())
    assert rows == 10**7
    assert kilobytes < 10**6
    assert pq.ParquetFile(tmp_path / "out.parquet").metadata.num_rows == 10**7
