"""`inspect`: what is said of a hospital's messy export, and that no record is."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from hospital import DIAGNOSES, NAMES, RARE, export, records
from takifugu.errors import InputError
from takifugu.queries.inspecting import inspect
from takifugu.queries.leakage import SHARED, proposed
from takifugu.tables.column_facts import look
from takifugu.tables.open import open_table
from takifugu.tables.reading import Reading
from takifugu.tables.table import Table


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return export(tmp_path_factory.mktemp("hospital") / "people.csv")


@pytest.fixture(scope="module")
def by_secret(path):
    return {secret: inspect(path, secret) for secret in ("diagnosis", "positive")}


@pytest.fixture(scope="module")
def found(by_secret):
    return by_secret["diagnosis"]


def test_the_columns(found):
    kinds = {one.name: (one.kind, one.missing, one.advice) for one in found.columns}
    assert kinds == {
        "patient": ("labels", 0, "identifier: never publish"),
        "name": ("labels", 0, "identifier: never publish"),
        "diagnosis": ("labels", 0, "the secret"),
        "stay_days": ("whole numbers", 0, "supported"),
        "ward": ("labels", 15, "supported"),
        "bill": ("numbers", 0, "supported"),
        "share": ("whole numbers", 0, "supported"),
        "positive": ("truth", 0, "supported"),
        "admitted": ("dates", 0, "publish an age or a year instead"),
        "clinic": ("labels", 0, "the same in every row"),
    }


def test_the_findings(found):
    kinds = [finding.code for finding in found.findings]
    assert kinds == [
        "read-as",
        "decimal-commas",
        "percentages",
        "missing-texts",
        "looks-like-identifier",
        "looks-like-identifier",
        "suspected-sentinel",
        "heavy-tail",
        "looks-like-dates",
        "rare-secrets",
    ]
    (rare,) = (finding for finding in found.findings if finding.code == "rare-secrets")
    assert rare["groups"] == ((RARE, 3),)
    assert rare["merge"][0] == RARE
    assert len(rare["merge"]) == 2
    assert rare["together"] == 3 + min(group.rows for group in found.groups if group.secret != RARE)


def test_the_groups(found):
    assert {group.secret for group in found.groups} == set(DIAGNOSES)
    assert sum(group.rows for group in found.groups) == found.rows == 600


def test_no_record_is_shown(found):
    table = records()
    said = json.dumps(found.to_dict(), ensure_ascii=False) + found._repr_html_() + str(found) + str(found.findings)
    assert all(name not in said for name in (*NAMES, *table["patient"], *table["admitted"]))
    assert all(f"{bill:.2f}" not in said for bill in table["bill"])


def test_what_is_called_by_its_name_is_shared(found):
    table = pd.DataFrame(records())
    for one in found.columns:
        if one.domain is None or one.domain.step is not None:
            continue
        tallies = table[one.name].value_counts()
        assert all(tallies[value] >= SHARED for value in one.domain.choices.values)


@pytest.mark.parametrize("secret", ["diagnosis", "positive"])
def test_what_is_betrayed_is_that_of_rows_law(path, by_secret, secret):
    """The same counts come out of `fit_priors`, another way through the table."""
    table = open_table(path, reading=Reading(sentinels=("stay_days=999",)))
    for one in by_secret[secret].columns:
        if one.betrayal is None:
            continue
        query = tk.Row(one.name, domain=list(one.domain.choices.values), other=one.domain.choices.other)
        priors = tk.fit_priors(table, secret=secret, query=query)
        laws = {name: law.probabilities for name, law in priors.items() if priors.rows[name] >= 5}
        guesses = [0.5 + 0.25 * np.abs(p - q).sum() for p in laws.values() for q in laws.values()]
        assert one.betrayal.best_guess == pytest.approx(max(guesses), abs=1e-12)
        assert set(one.betrayal.guessed) <= set(laws)
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = max(float(np.nanmax(p / q)) for p in laws.values() for q in laws.values())
        assert one.betrayal.odds == pytest.approx(odds, rel=1e-12)


def test_every_door_tells_the_same(found, tmp_path):
    table = pd.DataFrame(records())
    table.to_parquet(tmp_path / "people.parquet")
    doors = (table, pl.from_pandas(table).lazy(), tmp_path / "people.parquet")
    for other in (inspect(door, "diagnosis") for door in doors):
        assert other.columns == found.columns
        assert other.groups == found.groups


def test_a_declared_sentinel_is_no_suspect(path):
    reading = Reading(sentinels=("stay_days=999",))
    found = inspect(path, "diagnosis", reading=reading)
    assert found.sentinels == ()
    assert "suspected-sentinel" not in [finding.code for finding in found.findings]
    assert next(one for one in found.columns if one.name == "stay_days").missing == 12


def test_a_heavy_tail():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": np.append(rng.normal(50, 5, 500), [3_000, 4_000.5]), "s": ["a", "b"] * 251})
    (told,) = (finding for finding in inspect(table, "s").findings if finding.code == "heavy-tail")
    assert told.code == "heavy-tail"
    assert "to add noise to it, calibrate(...) takes Raw('x') with `bounds` up to about 6" in told.sentence


def with_totals(table):
    """The same with a last row of sums, as spreadsheets have it: no secret, and numbers far from anybody's."""
    return pd.concat([table, pd.DataFrame({name: [99_999 + 0.5] for name in table if name != "s"})], ignore_index=True)


@pytest.mark.parametrize("door", [pd.DataFrame, pl.from_pandas, lambda table: pl.from_pandas(table).lazy()])
def test_a_row_without_a_secret_has_no_say(door):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"s": ["a", "b"] * 100, "x": rng.normal(50, 5, 200), "y": rng.integers(1, 7, 200) + 0.0})
    table.loc[table.s == "a", "x"] += 20
    plain, totals = inspect(door(table), "s"), inspect(door(with_totals(table)), "s")
    assert (totals.rows, totals.without_secret) == (201, 1)
    assert [finding.code for finding in totals.findings] == ["no-secret"]
    assert plain.findings == ()
    assert totals.columns[1:] == plain.columns[1:]
    assert (totals.columns[0].missing, plain.columns[0].missing) == (1, 0)


@pytest.mark.parametrize("door", [pd.DataFrame, pl.from_pandas, lambda table: pl.from_pandas(table).lazy()])
def test_a_row_of_sums_looks_like_a_total(door):
    table = pd.DataFrame({"s": [*"abbabaab"] * 5, "x": [1.5, 2, 3, 4] * 10, "y": [1, 2] * 20, "z": [7, 8] * 20})
    last = pd.DataFrame({"s": [None], "x": [table.x.sum()], "y": [table.y.sum()], "z": [np.nan]})
    told = inspect(door(pd.concat([table, last], ignore_index=True)), "s")
    assert [finding.code for finding in told.findings] == ["no-secret", "looks-like-totals"]
    assert told.findings[1]["columns"] == ("x", "y")
    assert told.findings[1].sentence.startswith("a row without a secret holds the sum of 'x', 'y': it looks like")
    other = pd.concat([table, last.assign(x=3, y=2)], ignore_index=True)
    assert [finding.code for finding in inspect(door(other), "s").findings] == ["no-secret"]


@pytest.mark.parametrize(("spelled", "kind"), [("€ {:,}", "."), ("{:,} EUR", ","), ("${:,}.00", ",")])
@pytest.mark.parametrize("most", [1_000, 3])
def test_a_row_of_sums_with_a_currency_is_one_too(spelled, kind, most, monkeypatch):
    monkeypatch.setattr("takifugu.tables.column_facts.MOST_LABELS", most)
    pay = [1_000, 2_500, 950, 12_300, 4_100] * 8
    texts = [spelled.format(one).replace(",", kind) for one in [*pay, sum(pay)]]
    table = pd.DataFrame({"s": [*("abbabaabab" * 4), None], "pay": texts})
    told = inspect(table, "s").findings
    assert [finding.code for finding in told] == ["numbers-in-text", "no-secret", "looks-like-totals"]
    assert told[-1]["columns"] == ("pay",)
    assert [finding.code for finding in inspect(table).findings] == ["row-of-totals", "numbers-in-text"]
    table.loc[40, "pay"] = texts[0]
    assert not any("totals" in finding.code for finding in (*inspect(table, "s").findings, *inspect(table).findings))


@pytest.mark.parametrize(
    "name", ["person", "Patient", "pupil_id", "Staff no", "Schüler-Nr", "clientName", "name", "E-Mail"]
)
def test_columns_called_after_people_name_them_however_many_rows_each_has(name):
    table = pd.DataFrame(
        {name: [f"K{one % 60:03}" for one in range(1_800)], "s": ["a", "b", "a", "b", "b", "a", "b"] * 257 + ["a"]}
    )
    found = inspect(table, "s")
    assert found.columns[0].advice == "identifier: never publish"
    assert "K0" not in str(found)
    spared = inspect(table.rename(columns={name: "ward name"}), "s")
    assert spared.columns[0].advice == "supported"


@pytest.mark.parametrize(
    ("texts", "form", "words"),
    [
        ([f"({k}.{k:03},50)" if k % 3 else f"{k}.{k:03},50" for k in range(1, 41)], "losses", "with a minus sign"),
        (["<0.5", *(f"{k / 10} mg/L" for k in range(6, 45))], "measurements", "take these away and convert them"),
        ([f"{k} IU/L" for k in range(40)], "measurements", "measurements with units"),
        ([f"{1000 + k} Wien" for k in range(40)], None, ""),
        ([f"{k:04}" if k else "none" for k in range(40)], None, ""),
        ([f"{k} mg" for k in range(20)], None, ""),
    ],
)
@pytest.mark.parametrize("most", [1_000, 10])
def test_numbers_that_no_reader_takes_for_such_are_told_by_how_they_are_written(texts, form, words, most, monkeypatch):
    monkeypatch.setattr("takifugu.tables.column_facts.MOST_LABELS", most)
    table = pd.DataFrame({"x": texts * 4, "s": (["a", "b", "b", "a", "b"] * len(texts))[: 4 * len(texts)]})
    told = {one["form"]: one.sentence for one in inspect(table, "s").findings if one.code == "numbers-in-text"}
    assert set(told) == ({form} if form else set())
    if form:
        assert words in told[form]
        fitted = tk.fit_priors(table, secret="s", query=tk.Row("x"))
        assert [one["form"] for one in fitted.findings if one.code == "numbers-in-text"] == [form]


def test_a_secret_that_nobody_has():
    with pytest.raises(tk.InputError, match="column 's' is empty in every one of the 3 rows: no secret is known"):
        inspect(pd.DataFrame({"s": pd.array([None] * 3, dtype="Int64"), "x": [1, 2, 3]}), "s")


@pytest.mark.parametrize(("other", "kind"), [("né ", "labels-alike"), ("ne\u0301", "unclear-labels")])
def test_labels_that_look_alike(other, kind):
    table = pd.DataFrame({"x": ["né", other] * 30, "s": ["a", "b", "b", "a"] * 15, "y": [1, 2] * 30})
    found = inspect(table, "s")
    assert [finding.code for finding in found.findings] == [kind]
    assert found.columns[0].advice == "cannot be published as it is"


@pytest.mark.parametrize(
    ("secret", "sentence"),
    [("diagnose", "no column 'diagnose'.*'diagnosis'"), ("patient", "names people, not groups"), ("clinic", None)],
)
def test_odd_secrets(path, secret, sentence):
    if sentence is not None:
        with pytest.raises(tk.InputError, match=sentence):
            inspect(path, secret)
        return
    found = inspect(path, secret)
    assert found.betrayals == ()


def test_dates_and_lists_are_no_secrets():
    table = pl.DataFrame({"day": [[1], [2]], "x": [1, 2]})
    with pytest.raises(tk.InputError, match="labels are text, numbers or truth values"):
        inspect(table, "day")


def test_rare_groups_are_merged_with_one_another_first():
    table = pd.DataFrame({"s": ["a"] * 50 + ["b"] * 12 + ["c"] * 9 + ["d"] * 40, "x": range(111)})
    (rare,) = (f for f in inspect(table, "s").findings if f.code == "rare-secrets")
    assert (rare["merge"], rare["together"]) == (("c", "b"), 21)
    (two,) = (f for f in inspect(table[table.s.isin(["a", "c"])], "s").findings if f.code == "rare-secrets")
    assert two["merge"] == ()
    assert "Merging" not in two.sentence


def test_spellings_are_made_one_before_groups_are_called_rare():
    table = pd.DataFrame({"s": ["Asthma"] * 90 + [" Asthma"] * 3 + ["Flu"] * 120 + ["HIV"] * 6 + ["Pica"] * 15})
    found = inspect(table.assign(x=range(len(table))), "s")
    (rare,) = (f for f in found.findings if f.code == "rare-secrets")
    assert rare["groups"] == (("hiv", 6), ("pica", 15))
    assert (rare["merge"], rare["together"]) == (("hiv", "pica"), 21)
    assert "labels-alike" in {f.code for f in found.findings}
    assert any(group.secret == " Asthma" for group in found.groups)  # what is there is shown as it is


def test_a_rare_group_is_not_merged_with_a_large_one():
    table = pd.DataFrame({"s": ["a"] * 300 + ["b"] * 281 + ["c"] * 4, "x": range(585)})
    (rare,) = (f for f in inspect(table, "s").findings if f.code == "rare-secrets")
    assert rare["merge"] == ()


numbers = st.lists(st.integers(-300, 300).map(lambda n: n / 4), min_size=2, max_size=200)


@given(values=numbers)
def test_a_list_of_numbers_could_be_public(values):
    """Points that are not round, or ends that are somebody's, must be shared by several rows."""
    (facts,) = look(Table(pl.DataFrame({"x": values})))
    proposal = proposed(facts)
    if proposal is None:
        assert len(set(values)) == 1
        return
    points, tallies = proposal.choices.values, pd.Series(values).value_counts()
    assert 2 <= len(points) <= 64
    assert points[0] <= min(values) <= max(values) <= points[-1]
    if proposal.step is None:
        assert all(tallies[point] >= SHARED for point in points)
    else:
        assert np.allclose(np.diff(points), proposal.step)
        assert float(f"{proposal.step:.1g}") == proposal.step
    if proposal.step is not None and len(tallies) <= 64:
        for end, point in ((min(values), points[0]), (max(values), points[-1])):
            assert tallies[end] >= SHARED or point == pytest.approx(
                5 * proposal.step * round(point / 5 / proposal.step)
            )


def test_too_many_secrets():
    with pytest.raises(tk.InputError, match="more than 1000 distinct values"):
        inspect(pd.DataFrame({"s": [f"s{k}" for k in range(1_100)], "x": range(1_100)}), "s")


def test_names_that_mean_harm_stay_text():
    table = pd.DataFrame({"<b>x": ["<i>", "&"] * 30, "s": ["<script>", "b"] * 30})
    html = inspect(table, "s")._repr_html_()
    assert "best guess" in str(inspect(table, "s")).splitlines()[1]
    assert "\x1b" not in str(inspect(table.rename(columns={"<b>x": "\x1b[2J"}), "s"))
    assert "<b>x" not in html
    assert "<script>" not in html
    assert "&lt;b&gt;x" in html


@pytest.mark.parametrize("secret", [["schoolsup", "sex"], ("sex",), 3])
def test_several_secrets_are_looked_at_one_by_one(secret):
    with pytest.raises(InputError, match="once for each"):
        tk.inspect(tk.datasets.load("student-por"), secret=secret)
