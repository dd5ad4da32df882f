"""Rows that nobody should trip over, through every door: constant, telling, doubled, lonely, missing, far too many."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main
from takifugu.errors import InputError


def people(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    secret = rng.choice(["x", "y"], rows)
    return pd.DataFrame(
        {
            "s": secret,
            "a": np.clip(rng.poisson(np.where(secret == "x", 2, 3)), 0, 4),
            "b": rng.choice(list("pqr"), rows),
            "constant": "same",
            "telling": np.where(secret == "x", "u", "v"),
            "identifier": [f"person {k}" for k in range(rows)],
        }
    ).assign(again=lambda table: table.a)


@pytest.fixture(params=["program", "columns"])
def kind(request, monkeypatch):
    """Both sides of the limit: with ten combinations counted as many, and with two thousand."""
    if request.param == "columns":
        # Where it is defined comes last: who has not imported it by then would keep what is put in its place.
        for where in ("queries.row", "mechanisms.optimal.mechanism"):
            monkeypatch.setattr(f"takifugu.{where}.MOST_VALUES", 5)
    return request.param


def solver(calibration):
    return dict(calibration.options)["solver"]


def published(table, columns, **options):
    made = tk.publish(
        table, secret="s", columns=columns, odds=3, confidence=None, utility=tk.Utility(allow_no_noise=True), **options
    )
    tk.verify(made.certificate)
    return made


def test_a_constant_column_stays_as_it_is(kind):
    made = published(people(), ["a", "constant"], keep=[])
    assert set(made.table["constant"]) == {"same"}
    assert solver(made.calibration) == (kind if len(made.calibration.channel.inputs) > 5 else "program")


def test_a_column_that_tells_the_secret_is_blurred_and_not_passed_on(kind):
    made = published(people(), ["a", "b", "telling"])
    assert solver(made.calibration) == kind
    assert made.summary.worst_odds <= 3
    assert made.summary.guess_before > 0.95
    assert made.summary.guess_after <= 0.75 + 1e-9


def test_a_column_twice_costs_what_it_costs_once(kind):
    once = published(people(), ["a", "b"]).calibration
    twice = published(people(), ["a", "b", "again"]).calibration
    assert solver(once) == solver(twice) == kind
    assert twice.meets_budget()
    changed = [column.share_changed for column in published(people(), ["a", "again"]).summary.columns]
    assert changed[0] == pytest.approx(
        changed[1], abs=1e-6
    )  # published alike, or the row would tell that it was changed


def test_a_row_that_occurs_once_does_not_stand_out(kind):
    table = people()
    table.loc[0, ["a", "b"]] = [40, "lonely"]
    made = published(table, ["a", "b"], reading=tk.Reading(sentinels=["a="]))  # 40 is far from all others, and real
    assert made.summary.worst_odds <= 3
    assert len(made.table) == len(table)


def test_rows_without_a_value_are_left_out_and_told(kind):
    table = people()
    table.loc[:9, "b"] = None
    table["a"] = table["a"].astype(float)
    table.loc[5:14, "a"] = np.nan
    made = published(table, ["a", "b"])
    assert len(made.table) == len(table) - 15
    (told,) = (one for one in made.findings if one.code == "no-value")
    assert told["rows"] == 15


def test_a_note_typed_into_a_column_of_numbers_is_not_published(tmp_path):
    """One cell's text would become a value that any row can be published as."""
    rng = np.random.default_rng(0)
    points = rng.integers(1, 7, 600).astype(str).astype(object)
    points[17] = "ill (Ann Miller)"
    table = pd.DataFrame({"s": rng.choice(["a", "b"], 600), "points": points})
    numbers = table.assign(points=[int(p) if p.isdigit() else p for p in points])
    path, out = tmp_path / "people.csv", tmp_path / "published.csv"
    table.to_csv(path, index=False)
    for source in (table, numbers, path):
        with pytest.raises(InputError, match="'points' holds numbers, and in a few rows 1 other text") as refused:
            tk.publish(source, secret="s", columns=["points"], confidence=None)
        assert "Ann" not in str(refused.value)
        found = tk.inspect(source, secret="s")
        assert "numbers-in-text" in [finding.code for finding in found.findings]
    told = CliRunner().invoke(main, ["publish", str(path), str(out), "--secret", "s", "--columns", "points"])
    assert told.exit_code != 0
    assert "--na" in told.output
    assert "Ann" not in told.output
    listed = tk.Row("points", domain=["1", "2", "3", "4", "5", "6", "other"], other="other")
    assert tk.fit_priors(table, secret="s", query=listed)
    many = table.assign(points=["7+" if k % 50 == 0 else p for k, p in enumerate(points) if k != 17] + ["3"])
    assert tk.fit_priors(many, secret="s", query=tk.Row("points"))


def test_a_note_in_a_kept_column_of_numbers_does_not_leave_word_for_word(tmp_path):
    rng = np.random.default_rng(0)
    rooms = rng.integers(1, 4, 600).astype(str).astype(object)
    ill = rng.random(600) < 0.5
    table = pd.DataFrame({"s": np.where(ill, "a", "b"), "x": rng.integers(0, 3, 600) + 2 * ill, "rooms": rooms})
    noted = table.assign(rooms=["moved (Ann Miller)" if k == 17 else room for k, room in enumerate(rooms)])
    noted.to_csv(tmp_path / "noted.csv", index=False)
    for source in (noted, tmp_path / "noted.csv"):
        with pytest.raises(InputError, match="'rooms' holds numbers, and in a few rows 1 other text") as refused:
            tk.publish(source, secret="s", columns=["x"], keep=["rooms"], confidence=None)
        assert "Ann" not in str(refused.value)
    made = tk.publish(table, secret="s", columns=["x"], keep=["rooms"], confidence=None, odds=1.5)
    assert sorted(made.table["rooms"].unique()) == ["1", "2", "3"]


def test_far_too_many_combinations_are_refused_in_a_sentence(tmp_path):
    rows = 60_000
    numbers = np.arange(rows)
    table = pd.DataFrame(
        {"s": np.where(numbers % 2, "x", "y"), "a": numbers % 64, "b": numbers // 64 % 64, "c": numbers // 4096}
    )
    with pytest.raises(InputError, match=r"60,000 combinations.*fewer columns.*'b'"):
        tk.publish(table, secret="s", columns=["a", "b", "c"])
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    out = tmp_path / "published.csv"
    told = CliRunner().invoke(main, ["publish", str(path), str(out), "--secret", "s", "--columns", "a,b,c"])
    assert told.exit_code != 0
    assert "60,000 combinations" in " ".join(told.output.split())
    assert not out.exists()


def test_the_command_line_publishes_many_columns(kind, tmp_path):
    path, out = tmp_path / "people.csv", tmp_path / "published.csv"
    people().to_csv(path, index=False)
    given = ["publish", str(path), str(out), "--secret", "s", "--columns", "a,b,telling", "--odds", "3"]
    told = CliRunner().invoke(main, [*given, "--confidence", "0"])
    assert told.exit_code == 0, told.output
    assert list(pd.read_csv(out).columns) == ["a", "b", "telling"]
    assert ("by columns" in told.output) == (kind == "columns")


def test_that_rows_are_left_out_may_tell_the_secret():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"ill": rng.choice(["yes", "no"], 2000), "ward": rng.choice(["A", "B"], 2000), "age": 1.0})
    table["age"] = rng.integers(20, 60, 2000)
    by_chance = table.assign(ward=table.ward.where(rng.random(2000) > 0.2))
    tells = table.assign(
        ward=table.ward.where((table.ill == "no") | (rng.random(2000) > 0.2)),
        age=table.age.where((table.ill == "no") | (rng.random(2000) > 0.2)),
    )

    def told(people, query):
        findings = tk.fit_priors(people, secret="ill", query=query).findings
        return [str(finding) for finding in findings if finding.code == "left-out-tells"]

    for query in (tk.Row("ward"), tk.Row("ward", "age"), tk.Raw("age", bounds=(20, 60), step=1)):
        assert told(by_chance, query) == []
        (sentence,) = told(tells, query)
        assert "'yes' lacks one in" in sentence
        assert "'no' in 0.0 %" in sentence
    named = tells.assign(ward=tells.ward.fillna("unknown"))
    assert told(named, tk.Row("ward")) == []
    assert tk.publish(named, secret="ill", columns=["ward"], odds=1.5).calibration.error > 0  # and it is hidden


WARDLESS = "secret 'cancer' has 0 rows with a value in every column"


def without_a_ward(rows=900):
    """Patients of whom those with cancer have no ward: whoever is missing from the published wards has it."""
    rng = np.random.default_rng(5)
    ill = rng.choice(["asthma", "diabetes", "cancer"], rows, p=[0.5, 0.4, 0.1])
    table = pd.DataFrame({"ill": ill, "ward": rng.choice(["A", "B"], rows), "age": rng.integers(0, 4, rows)})
    table["sex"], table["smokes"] = rng.choice(["f", "m"], rows), rng.choice(["yes", "no"], rows)
    return table.assign(ward=table.ward.where(table.ill != "cancer"))


@pytest.mark.parametrize("columns", [["ward"], ["age", "ward"]])
@pytest.mark.parametrize("options", [{}, {"adversary": tk.Adversary(known=["sex"])}, {"keep": ["sex"]}])
def test_a_secret_whose_rows_all_lack_a_value_does_not_vanish(tmp_path, columns, options):
    table = without_a_ward()
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    for source in (table, path):
        with pytest.raises(InputError, match=WARDLESS) as refused:
            tk.publish(source, secret="ill", columns=columns, confidence=None, **options)
        sentence = str(refused.value)
        lacking = (table.ill == "cancer").sum()
        assert f"('ward' is empty in {lacking} of its {lacking} rows)" in sentence
        assert "such as 'unknown'" in sentence
        assert "`secrets`" in sentence


def test_nor_does_it_where_it_is_one_row_or_one_of_several_secrets():
    table = without_a_ward()
    table.loc[len(table)] = ["Total", None, 1400, None, None]
    with pytest.raises(InputError, match=r"secret 'Total' has 0 rows.*not a person's, such as one of totals"):
        tk.publish(table[table.ill != "cancer"], secret="ill", columns=["ward"])
    with pytest.raises(InputError, match=WARDLESS):
        tk.publish(without_a_ward(), secret=["smokes", "ill"], columns=["ward"])
    # A row without one of the secrets is left out too, whatever is published of it.
    swapped = without_a_ward().rename(columns={"ward": "smokes", "smokes": "ward"})
    with pytest.raises(InputError, match="ill = 'cancer' has no row with a value in every column of secrets: none of"):
        tk.publish(swapped, secret=["smokes", "ill"], columns=["ward"])
    seldom = swapped.assign(smokes=swapped.smokes.where(swapped.index % 40 != 0, "A"))
    findings = tk.fit_priors(seldom, secret=["smokes", "ill"], query=tk.Row("ward")).findings
    assert [one["often"] for one in findings if one.code == "left-out-tells"] == ["cancer"]


def test_a_secret_that_was_left_out_on_purpose_may_lack_what_it_likes():
    table = without_a_ward()
    rest = ["asthma", "diabetes"]
    made = tk.publish(
        table,
        secret="ill",
        columns=["ward"],
        utility=tk.Utility(allow_no_noise=True),
        reading=tk.Reading(leave_out=["cancer"]),
        confidence=None,
    )
    assert len(made.table) == (table.ill != "cancer").sum()
    assert list(tk.fit_priors(table, secret="ill", query=tk.Row("ward", "age"), secrets=rest)) == rest
    with pytest.raises(InputError, match=WARDLESS):
        tk.fit_priors(table, secret="ill", query=tk.Row("ward"), secrets=["asthma", "cancer"])
    labelled = table.assign(ward=table.ward.fillna("unknown"))
    assert set(tk.fit_priors(labelled, secret="ill", query=tk.Row("ward"))) == {*rest, "cancer"}


def test_the_command_line_refuses_it_before_there_is_a_channel(tmp_path):
    path = tmp_path / "people.csv"
    without_a_ward().to_csv(path, index=False)
    before = set(tmp_path.iterdir())
    calibration = tmp_path / "calibration.json"
    for command in (
        ["publish", str(path), str(tmp_path / "out.csv"), "--columns", "ward"],
        ["publish", str(path), str(tmp_path / "out.csv"), "--columns", "ward,age", "--dry-run"],
        ["calibrate", str(path), "--query", "row:ward", "--output", str(calibration)],
    ):
        told = CliRunner().invoke(main, [*command, "--secret", "ill", "--odds", "3"])
        assert told.exit_code == 2
        assert WARDLESS in told.stderr
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("share", [1, 0.93])
def test_inspect_tells_where_gaps_go_with_the_secret(tmp_path, share):
    table = without_a_ward()
    rng = np.random.default_rng(1)
    table["ward"] = table.ward.where(table.ward.notna() | (rng.random(len(table)) < share), "A")
    table["floor"] = np.where(table.ward.isna(), np.nan, table.age)
    table["room"] = table.age.where(rng.random(len(table)) < 0.8)
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    for source in (table, path):
        found = tk.inspect(source, secret="ill")
        (told,) = (one for one in found.findings if one.code == "left-out-tells")
        assert told["often"] == "cancer"
        assert told["columns"] == ("ward", "floor")
        assert told["share"] == pytest.approx(share, abs=0.07)
    told = CliRunner().invoke(main, ["inspect", str(path), "--secret", "ill"])
    assert "missing values in 'ward', 'floor' reveal the secret: 'cancer' lacks" in " ".join(told.output.split())
