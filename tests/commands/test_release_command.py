"""takifugu release: exit statuses, what is written and what is not."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from takifugu import Ledger, Mean, Mixture, calibrate, fit_priors
from takifugu.cli import main

PRIORS = {"yes": Mixture.gaussian(0.0, 1.0), "no": Mixture.gaussian(1.5, 1.25)}
NAMES = ("--column", "value", "--secret", "secret")


@pytest.fixture
def files(tmp_path):
    calibration = tmp_path / "calibration.json"
    calibration.write_text(json.dumps(calibrate(PRIORS, alpha=2, epsilon=0.5).to_dict()))
    frame = pd.DataFrame({"secret": ["yes", "no"] * 50, "id": range(100), "value": np.linspace(0, 1, 100)})
    frame.to_csv(tmp_path / "in.csv", index=False)
    return tmp_path


def run(folder, *arguments, target="out.parquet"):
    given = [folder / "in.csv", folder / target, "--calibration", folder / "calibration.json", *arguments]
    return CliRunner().invoke(main, ["release", *map(str, given)])


def test_a_file_is_published_and_charged(files):
    theta = calibrate(PRIORS, alpha=2, epsilon=0.5).theta
    result = run(files, *NAMES, "--keep", "id", "--ledger", files / "l.db", "--clip", 0, 1)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Published 100 rows")
    said = float(result.stdout.partition("standard deviation ")[2].partition(",")[0])
    assert theta <= said == pytest.approx(theta, rel=1e-5)  # six digits, and never less noise than there is
    assert ", rounded to multiples of" in result.stdout
    assert result.stderr.startswith("started a new ledger")
    assert result.stderr.count("\n") == 1
    out = pq.read_table(files / "out.parquet").to_pydict()
    assert list(out) == ["value", "id"]
    assert set(out["value"]) >= {0.0, 1.0}
    assert Ledger(files / "l.db").account().releases == 1
    again = run(files, *NAMES, "--ledger", files / "l.db", target="again.csv")
    assert again.exit_code == 1
    assert "othing was released" in again.stderr
    assert not (files / "again.csv").exists()
    forgetful = run(files, *NAMES, target="again.csv")
    assert forgetful.exit_code == 1
    assert f"the ledger {files / 'l.db'} knows some of these records" in forgetful.stderr
    assert forgetful.stderr.endswith("name it as --ledger\n")  # they are the very same rows, and nobody is new
    pd.read_csv(files / "in.csv").head(10).to_csv(files / "in.csv", index=False)
    few = run(files, *NAMES, target="again.csv")
    assert "name it as --ledger, or, if these are other people, whose rows are only alike" in few.stderr
    assert "say so with --new-people" in few.stderr
    assert not (files / "again.csv").exists()


def test_without_a_ledger_it_says_so(files):
    result = run(files, *NAMES, "--quiet", "--round-to", 1, "--theta", 50, target="out.csv")
    assert result.exit_code == 0
    assert "nothing remembers this release" in result.stderr
    assert pd.read_csv(files / "out.csv")["value"].std() > 20


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("--column", "nothing", "--secret", "secret"), 2, "no column 'nothing'"),
        (("--column", "value"), 2, "secret is missing"),
        ((*NAMES, "--new-people"), 2, "give --ledger too"),
        ((*NAMES, "--granularity", 0.3), 2, "power of two"),
        ((*NAMES, "--theta", 0.001), 1, "less noise"),
        ((*NAMES, "--others", "sometimes"), 2, "is not one of"),
    ],
)
def test_refusals_are_a_sentence_and_a_status(files, arguments, status, says):
    result = run(files, *arguments)
    assert result.exit_code == status
    assert says in result.stderr
    assert not (files / "out.parquet").exists()


def test_the_command_writes_one_row_that_does_not_say_whose(tmp_path):
    table, calibration, target = (tmp_path / name for name in ("marks.csv", "c.json", "mean.csv"))
    rng = np.random.default_rng(4)
    programme = rng.choice(["none", "help"], 300, p=[0.7, 0.3])
    marks = {"programme": programme, "mark": rng.integers(0, 21, 300), "absences": rng.poisson(4.0, 300)}
    pd.DataFrame(marks).to_csv(table, index=False)
    fitted = fit_priors(table, secret="programme", query=Mean(["mark", "absences"]))
    calibrate(fitted, alpha=2, epsilon=1).save(calibration)

    def published(*more, to=target):
        given = [table, to, "--calibration", calibration, *more]
        return CliRunner().invoke(main, ["release", *map(str, given)])

    bare = published()
    assert bare.exit_code == 2
    assert "whose mean is to be published with --of, or calibrate --query row:mark,absences" in bare.stderr
    done = published("--of", "help", "--ledger", tmp_path / "l.ledger")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(f"Published one mean in {target} with noise of a shape")
    written = pd.read_csv(target)
    assert list(written.columns) == ["mark", "absences"]
    assert len(written) == 1
    assert "help" not in target.read_text()
    other = published("--of", "none", "--ledger", tmp_path / "l.ledger", to=tmp_path / "other.csv")
    assert other.exit_code == 1
    assert not (tmp_path / "other.csv").exists()
