"""Several secrets at once, through every door: release, arrays, files, pairs, audit."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main
from takifugu.errors import InputError


def people(rows=500):
    rng = np.random.default_rng(0)
    ill, hiv = rng.random(rows) < 0.4, rng.random(rows) < 0.3
    return pd.DataFrame(
        {
            "diagnosis": np.where(ill, "flu", "none"),
            "hiv": hiv,
            "stay": rng.integers(1, 4, rows) + ill + hiv,
            "ward": np.where(rng.random(rows) < 0.3 + 0.3 * ill, "A", "B"),
        }
    )


TABLE = people()
SECRETS = ["diagnosis", "hiv"]


@pytest.fixture(scope="module")
def calibration():
    priors = tk.fit_priors(TABLE, secret=SECRETS, query=tk.Row("stay", "ward"))
    return tk.calibrate(priors, odds=2, preserve=None)


def test_each_column_is_hidden_under_its_own_laws(calibration):
    assert set(calibration.pairs) == {("diagnosis = flu", "diagnosis = none"), ("hiv = False", "hiv = True")}
    for column in SECRETS:
        alone = tk.fit_priors(TABLE, secret=column, query=tk.Row("stay", "ward"))
        assert calibration.channel.worst_odds(*alone.values()) <= 2 * (1 + 1e-9)
    assert any(word in str(calibration) for word in ("hiv = ", "diagnosis = "))  # the secret that binds


def test_tables_and_arrays_are_checked_in_every_column(calibration):
    assert tk.release(TABLE, calibration).shape == (500, 2)
    rows = list(zip(TABLE["stay"], TABLE["ward"], strict=True))
    secrets = list(zip(TABLE["diagnosis"], TABLE["hiv"], strict=True))
    assert len(tk.release(rows, calibration, secret=secrets)) == 500
    strange = [("plague", False), *secrets[1:]]
    with pytest.raises(InputError, match="1 of 500 rows have a secret outside"):
        tk.release(rows, calibration, secret=strange)
    assert len(tk.release(rows, calibration, secret=strange, others="drop")) == 499
    with pytest.raises(InputError, match="a tuple of 2 for each value"):
        tk.release(rows, calibration, secret=TABLE["hiv"].tolist())
    other = TABLE.assign(diagnosis=["plague", *TABLE["diagnosis"][1:]])
    with pytest.raises(InputError, match="1 of 500 rows"):
        tk.release(other, calibration)
    assert len(tk.release(other, calibration, others="drop")) == 499


def test_pairs_of_one_column_leave_the_other_alone():
    pair = ("hiv = True", "hiv = False")
    made = tk.publish(TABLE, secret=SECRETS, columns=["stay"], confidence=None, pairs=[pair])
    assert len(made.calibration.pairs) == 1
    assert len(made.table) == 500
    wrong = TABLE.assign(diagnosis="anything")
    assert len(tk.release(wrong, made.calibration)) == 500


def test_an_audit_attacks_every_column_or_the_one_named(calibration):
    published = tk.release(TABLE, calibration)
    found = tk.audit(published, TABLE, calibration)
    attacked = {name for attack in found.attacks for name in attack.pair}
    assert attacked == {"diagnosis = flu", "diagnosis = none", "hiv = True", "hiv = False"}
    assert not found.contradicted
    assert found.rows == 500
    one = tk.audit(published, TABLE, calibration, secret="hiv")
    assert {name for attack in one.attacks for name in attack.pair} == {"hiv = True", "hiv = False"}
    bare = tk.audit(TABLE[["stay", "ward"]], TABLE, calibration)
    assert bare.best_guess > found.best_guess


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "people.csv"
    TABLE.assign(cost=10.0 * TABLE["stay"] + np.arange(500) % 7, age=20 + np.arange(500) % 50).to_csv(path, index=False)

    def invoke(name, *arguments):
        made = CliRunner().invoke(main, [name, str(path), *map(str, arguments)])
        return made.exit_code, " ".join((made.stdout + made.stderr).split())

    return invoke


def test_the_command_line_takes_several_secrets_and_vectors(run, tmp_path):
    both = ("--secret", "diagnosis", "--secret", "hiv")
    code, told = run("calibrate", *both, "--query", "row:stay", "--odds", 3)
    assert code == 0, told
    assert "hides diagnosis and hiv" in told
    code, told = run("calibrate", *both, "--query", "row:stay", "--odds", 3, "--pair", "hiv = True", "hiv = False")
    assert code == 0, told
    code, told = run("sweep", *both, "--query", "mean:cost", "--alpha", 2, "--epsilon", 1)
    assert code == 0, told
    files = [tmp_path / name for name in ("report.html", "proof.json", "calibration.json")]
    options = zip(("--report", "--certificate", "--output"), files, strict=True)
    code, told = run(
        *("calibrate", "--secret", "hiv", "--query", "mean:cost,stay", "--alpha", 2, "--epsilon", 1),
        *(part for option in options for part in option),
    )
    assert code == 0, told
    assert "noise, beside a natural spread" in told
    assert "on cost" in files[0].read_text()
    tk.verify(files[1])
    made = tk.Calibration.load(files[2])
    assert made.answer.columns == ("cost", "stay")
    assert tk.release([30.0, 2.0], made).shape == (2,)


def test_the_command_line_refuses_what_makes_no_vector(run):
    hiv = ("calibrate", "--secret", "hiv", "--alpha", 2, "--epsilon", 1, "--query")
    for query, rest, says in (
        ("gp:cost,stay", (), "no column 'cost,stay'"),
        ("gp:cost", ("--at", "age=30", "--at", "age=40"), "twice: write several numbers"),
        ("gp:cost", ("--at", "age=30,40", "--at", "stay=1"), "as many numbers"),
        ("gp:cost", ("--at", "age"), "COLUMN=NUMBER"),
        ("mean:cost,cost", (), "named once"),
        ("mean:cost,nothing", (), "no column 'nothing'"),
    ):
        code, told = run(*hiv, query, *rest)
        assert code == 2, told
        assert says in told


@pytest.mark.parametrize("secret", ["s", ["s", "t"]])
def test_cells_with_the_same_name_are_not_taken_for_one(secret):
    """Cells are found again by their names, when put together or kept: of two with one, one would go unprotected."""
    rng = np.random.default_rng(6)
    table = pd.DataFrame({name: rng.choice(["u", "v"], 400) for name in ("s", "t", "x")})
    asked = {"secret": secret, "query": tk.Row("x")}
    texts = table.assign(a=rng.choice(["1", "1, b = 2"], 400), b="2")
    with pytest.raises(tk.InputError, match="two cells would be called the same"):
        tk.fit_priors(texts, known=["a", "b"], **asked)
    names = table.assign(a="1", b="2", **{"a = 1, b": "2"})
    with pytest.raises(tk.InputError, match="the same name in words"):
        tk.fit_priors(names, known=["a", "b", "a = 1, b"], **asked)
