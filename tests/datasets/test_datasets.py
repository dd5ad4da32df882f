"""The bundled tables are the published ones: rows, columns and the counts of the secrets."""

import gzip
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import takifugu as tk

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_datasets.py"

# The uncompressed files, so that the check does not hang on the version of a compression library.
CONTENTS = {
    "adult": "ce5feb731adaef81b15c3dc42dbe982fec8f47700711d60760bc752b4079bf9e",
    "heart": "c62392cce6a715ef063ff42c1557df0675df2d8612e272abed377932e8e475c7",
    "student-mat": "659f3984643c2def53ba5e49f551c6ce3657039f9c25306cacb8f43b818a5190",
    "student-por": "3fb408fe4b66d4cdb90ad4ec5e3fb6de94ba662d0471a3d46c03da483069f76b",
}


def counts(name: str, column: str) -> dict[object, int]:
    return tk.datasets.load(name)[column].value_counts().to_dict()


@pytest.mark.parametrize("name", list(CONTENTS))
def test_the_files_are_those_the_script_made(name):
    content = gzip.decompress(tk.datasets.path(name).read_bytes())
    assert hashlib.sha256(content).hexdigest() == CONTENTS[name]


@pytest.mark.parametrize("name", list(CONTENTS))
def test_the_catalogue_tells_the_truth(name):
    about, table = tk.datasets.about(name), tk.datasets.load(name)
    assert table.shape == (about.rows, about.columns)
    assert set(about.pair) <= set(table[about.secret])
    assert pd.api.types.is_numeric_dtype(table[about.answer])
    assert "CC BY 4.0" in about.licence
    attribution = tk.datasets.path(name).with_name("ATTRIBUTION.md").read_text(encoding="utf-8")
    assert about.citation.rsplit("doi:", 1)[1] in attribution


def test_adult():
    race = counts("adult", "race")
    assert (race["White"], race["Other"], sum(race.values())) == (41_762, 406, 48_842)
    assert set(counts("adult", "income")) == {"<=50K", ">50K"}
    assert tk.datasets.load("adult")["workclass"].isna().sum() == 2_799


def test_heart():
    assert counts("heart", "slope") == {1: 142, 2: 140, 3: 21}
    assert tk.datasets.load("heart").isna().sum().sum() == 6


def test_student():
    assert counts("student-mat", "schoolsup") == {"no": 344, "yes": 51}
    assert counts("student-por", "schoolsup") == {"no": 581, "yes": 68}
    assert all(dtype.kind == "i" for dtype in tk.datasets.load("student-por")[["G1", "G2", "G3"]].dtypes)


def test_the_box_is_light():
    assert sum(tk.datasets.path(name).stat().st_size for name in tk.datasets.names()) < 1_000_000


@pytest.mark.parametrize(("given", "meant"), [("adults", "adult"), ("Heart", "heart"), ("student_mat", "student-mat")])
def test_an_unknown_name_is_told_the_nearest(given, meant):
    with pytest.raises(tk.InputError, match=f"bundled are adult, heart.*Did you mean '{meant}'"):
        tk.datasets.load(given)


def test_a_name_must_be_text():
    with pytest.raises(tk.InputError, match="no dataset 3"):
        tk.datasets.load(3)


def build(raw: Path, output: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(raw), "--output", str(output)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_script_refuses_other_inputs_and_writes_nothing(tmp_path):
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult.data").write_text("39, State-gov\n")
    output = tmp_path / "output"
    output.mkdir()
    done = build(tmp_path, output)
    assert done.returncode == 1
    assert "its SHA-256 differs" in done.stderr
    assert "cannot read" in build(tmp_path / "absent", output).stderr
    assert not list(output.iterdir())


@pytest.mark.skipif("TAKIFUGU_RAW_DATA" not in os.environ, reason="TAKIFUGU_RAW_DATA names the raw UCI folder")
def test_the_script_rebuilds_the_box(tmp_path):
    done = build(Path(os.environ["TAKIFUGU_RAW_DATA"]), tmp_path)
    assert done.returncode == 0, done.stderr
    for name in tk.datasets.names():
        rebuilt = (tmp_path / f"{name}.csv.gz").read_bytes()
        assert rebuilt == tk.datasets.path(name).read_bytes()
