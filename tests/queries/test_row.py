"""Rows from finite lists: which list, which counts, what is found, and what is refused."""

import collections

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import takifugu as tk
from takifugu.errors import InputError
from takifugu.problems.answer import Choices


def people(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    second = rng.random(rows) < 0.4
    return pd.DataFrame(
        {
            "s": np.where(second, "b", "a"),
            "age": rng.integers(18, 90, rows),
            "w": np.where(rng.random(rows) < np.where(second, 0.7, 0.4), "A", "B"),
            "t": rng.random(rows) < 0.5,
            "n": rng.integers(1, 5, rows) + second,
        }
    )


TABLE = people()


def fit(*columns, table=TABLE, known=None, **options):
    return tk.fit_priors(table, secret="s", query=tk.Row(*columns, **options), known=known)


def kinds(priors):
    return [finding.code for finding in priors.findings]


def found(priors, kind):
    return [finding for finding in priors.findings if finding.code == kind]


# ---- domains


def test_a_domain_is_read_and_said_to_be():
    priors = fit("n", "w", "t")
    number, label, truth = priors.answer.domain
    assert number == Choices((1, 2, 3, 4, 5), is_read=True)
    assert label == Choices(("A", "B"), is_read=True)
    assert truth == Choices((False, True), is_read=True)
    assert [finding["column"] for finding in found(priors, "domain-read")] == ["n", "w", "t"]
    assert all("read from" in str(finding) for finding in found(priors, "domain-read"))
    assert not found(fit("n", "w", domain={"n": [1, 3, 5], "w": ["A", "B"]}), "domain-read")


def test_many_numbers_are_put_into_round_bins():
    priors = fit("age")
    (told,) = found(priors, "domain-read")
    values = priors.answer.domain[0].values
    assert len(values) <= 64
    assert set(np.diff(values)) == {told["step"]} == {2.0}
    assert values[0] <= TABLE.age.min()
    assert values[-1] >= TABLE.age.max()
    ages, points = TABLE.age[TABLE.s == "a"], np.array(values)
    nearest = collections.Counter(values[np.argmin(np.abs(points - age - 1e-9))] for age in ages)
    assert {v: w for v, w in zip(priors["a"].values, priors["a"].weights, strict=True) if w} == nearest


def test_a_hundred_thousand_numbers_are_bins_and_labels_are_refused():
    size = 100_000
    labels = [f"l{k}" for k in range(size)]
    table = pl.DataFrame({"s": ["a", "b"] * (size // 2), "x": np.arange(size) * 1.5, "l": labels})
    priors = fit("x", table=table)
    assert len(priors["a"]) <= 64
    assert sum(priors["a"].weights) == size / 2
    with pytest.raises(InputError, match=r"more than 1,000 distinct labels.*domain"):
        fit("l", table=table)
    assert len(fit("l", table=table, domain=["l1", "l2", "rest"], other="rest")["a"]) == 3


def test_a_domain_that_is_given_is_taken():
    priors = fit("age", domain=[20, 40, 60, 80])
    assert priors["a"].values == (20, 40, 60, 80)
    edges = [30, 50, 70]
    for secret, rows in TABLE.groupby("s"):
        assert priors[secret].weights.tolist() == np.bincount(np.searchsorted(edges, rows.age, "right")).tolist()
    with pytest.raises(InputError, match="'w' that is not in its domain") as caught:
        fit("w", domain=["B", "C"])
    assert "'A'" not in str(caught.value)
    other = fit("w", domain=["B", "C"], other="C")
    assert other["a"].weights.sum() == (TABLE.s == "a").sum()
    per_column = fit("w", "n", domain={"w": ["B", "C"]}, other={"w": "C"})
    assert {row[0] for row in per_column["a"].values} == {"B", "C"}


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ((), {}, "names of columns"),
        ((3,), {}, "names of columns"),
        (("n", "n"), {}, "column 'n' stands twice"),
        (("n", "w"), {"domain": [1, 2]}, "which column each list is for"),
        (("n",), {"domain": {"w": [1]}}, "not among the columns"),
        (("n",), {"domain": 5}, "must be a list of values"),
        (("n",), {"domain": "AB"}, "must be a list of values"),
        (("n",), {"domain": []}, "list for 'n': .*at least one value"),
        (("n", "w"), {"domain": {"w": ["A", "A"]}}, "list for 'w': .*each value once"),
        (("n",), {"domain": [1, "1"]}, "look alike"),
        (("w",), {"domain": ["A"], "other": "Z"}, "other='Z'"),
        (("w",), {"other": "Z"}, "there is no such list"),
        (("w", "n"), {"domain": {"n": [1, 2]}, "other": "Z"}, "there is no such list"),
        (("w", "n"), {"domain": {"w": ["A"]}, "other": {"n": 1}}, "there is no such list"),
        (("w", "v"), {"domain": {"w": ["A"], "v": ["B"]}, "other": "A"}, "other='A' must be .* the domain of 'v'"),
        (("ward", "n"), {"domain": {"wrad": ["A"]}}, r"Did you mean 'ward'\? They are 'ward', 'n'"),
    ],
)
def test_what_can_be_refused_without_a_table_is(columns, options, says):
    with pytest.raises(InputError, match=says):
        tk.Row(*columns, **options)


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        (("s",), {}, "both the secret and the answer"),
        (("nothing",), {}, "no column 'nothing'"),
        (("n",), {"known": ["s"]}, "secret"),
        (("n",), {"known": ["n"]}, "n"),
        (("n",), {"known": "w"}, "known must be a list"),
        (("n",), {"loss": {"w": 1}}, "loss has a weight for 'w'"),
        (("n",), {"loss": {"n": "x"}}, "loss"),
    ],
)
def test_what_a_table_shows_to_be_wrong_is_refused(columns, options, says):
    with pytest.raises(InputError, match=says):
        fit(*columns, **options)


# ---- counts


def test_joint_counts_are_those_of_the_rows():
    priors = fit("n", "w")
    for secret, rows in TABLE.groupby("s"):
        expected = collections.Counter(zip(rows.n.tolist(), rows.w.tolist(), strict=True))
        law = priors[secret]
        assert {v: w for v, w in zip(law.values, law.weights.tolist(), strict=True) if w} == expected
        assert law.total == priors.rows[secret] == len(rows)
    assert priors["a"].values == priors["b"].values
    assert priors.answer.columns == ("n", "w")
    assert priors.counted["a"].counts.tolist() == priors["a"].weights.tolist()


def test_one_pseudo_row_from_the_secrets_own_rows():
    priors = fit("n", "w")
    for secret in priors:
        pseudo = priors.pseudo[secret]
        assert pseudo.sum() == pytest.approx(1)
        assert (pseudo > 0).all()
    changed = TABLE.copy()
    changed.loc[changed.s == "b", "n"] = 1
    same = fit("n", "w", table=changed, domain={"n": [1, 2, 3, 4, 5], "w": ["A", "B"]})
    before = dict(zip(priors["a"].values, priors.pseudo["a"], strict=True))
    after = dict(zip(same["a"].values, same.pseudo["a"], strict=True))
    shared = [row for row in before if row in after]
    ratio = {round(before[row] / after[row], 9) for row in shared}
    assert len(ratio) == 1  # nothing of another secret's rows, but for the list itself


def test_rows_that_lack_something_are_counted():
    holes = TABLE.astype({"n": "Int64"}).copy()
    holes.loc[[0, 1], "n"] = None
    holes.loc[[1, 2, 3], "w"] = None
    holes.loc[[5], "s"] = None
    for table in (holes, pl.from_pandas(holes), pa.Table.from_pandas(holes)):
        priors = fit("n", "w", table=table)
        assert sum(priors.rows.values()) == len(TABLE) - 5
        assert [finding["rows"] for finding in found(priors, "no-secret")] == [1]
        assert [finding["rows"] for finding in found(priors, "no-value")] == [4]
    with pytest.raises(InputError, match="no value in any row"):
        fit("n", table=holes.assign(n=pd.array([None] * len(holes), dtype="Int64")))


def test_rows_without_a_secret_have_no_say_in_the_lists():
    rows = pd.DataFrame({"s": ["a", "b"] * 60, "x": np.arange(120) / 7, "w": ["A", "B", "C"] * 40})
    last = pd.DataFrame({"s": [None], "x": [99_999.0], "w": ["Total"]})
    totals = pd.concat([rows, last], ignore_index=True)
    for table in (totals, pl.from_pandas(totals), pa.Table.from_pandas(totals)):
        plain, told = (fit("x", "w", table=one) for one in (rows, table))
        assert told.answer.domain == plain.answer.domain
        assert told == plain
        assert [finding["rows"] for finding in found(told, "no-secret")] == [1]
        # A label that is on no list is refused only where somebody's row has it.
        assert fit("w", table=table, domain=["A", "B", "C"]) == fit("w", table=rows, domain=["A", "B", "C"])
    with pytest.raises(InputError, match="column 's' is empty in every one of the 121 rows"):
        fit("x", table=totals.assign(s=pd.array([None] * 121, dtype="Int64")))


def test_of_several_secrets_rows_that_lack_one_have_no_say():
    rows = pd.DataFrame({"s": ["a", "b"] * 60, "t": ["c", "c", "d"] * 40, "w": ["A", "B"] * 60, "n": [1, 2, 3, 4] * 30})
    rows.loc[0, ["s", "w"]] = [None, "only t"]
    rows.loc[1, ["t", "w"]] = [None, "only s"]
    last = pd.DataFrame({"s": [None], "t": [None], "w": ["Total"], "n": [300]})
    table = pd.concat([rows, last], ignore_index=True)
    for columns in (["w"], ["w", "n"]):
        told = tk.fit_priors(table, secret=["s", "t"], query=tk.Row(*columns))
        assert told.answer.domain[0].values == ("A", "B")
        assert len({law.values for law in told.values()}) == 1
        assert [(finding["columns"], finding["rows"]) for finding in found(told, "no-value")] == [(("s", "t"), 3)]


def test_a_table_without_rows():
    with pytest.raises(InputError, match="the table has no rows"):
        fit("n", table=TABLE[:0])


def test_a_secret_with_one_row_is_refused_and_few_are_told():
    table = pd.concat([TABLE, TABLE[:1].assign(s="c")])
    with pytest.raises(InputError, match="secret 'c' has 1 row with a value"):
        fit("n", table=table)
    chosen = tk.fit_priors(table, secret="s", query=tk.Row("n"), secrets=["a", "b"])
    assert list(chosen) == ["a", "b"]
    few = fit("n", table=pd.concat([TABLE, TABLE[:20].assign(s="c")]))
    assert [finding["secret"] for finding in found(few, "few-rows")] == ["c"]


def test_known_columns_make_cells():
    beliefs = fit("n", known=["w", tk.binned("age", [40, 65])], domain=[1, 2, 3, 4, 5])
    assert beliefs[0].label == ""
    assert len(beliefs) == 1 + 2 * (2 + 3 + 6)
    assert beliefs.answer.known[0] == "w"
    cell = next(b for b in beliefs if b.label in ("w = A", "w = 'A'"))
    rows = TABLE[(TABLE.w == "A") & (TABLE.s == "a")]
    assert cell["a"].values == (1, 2, 3, 4, 5)
    assert cell.counted["a"].counts.tolist() == [int((rows.n == k).sum()) for k in range(1, 6)]
    assert tk.calibrate(beliefs, odds=3).meets_budget()


# ---- losses


def test_the_loss_of_a_row_reaches_the_channel():
    for known in (None, ["w"]):
        priors = fit("n", loss="absolute", known=known)
        assert dict(tk.calibrate(priors, odds=1.5).options)["loss"] == "absolute"
    assert (
        dict(tk.calibrate(fit("n", loss="absolute"), odds=1.5, utility=tk.Utility(loss="change")).options)["loss"]
        == "change"
    )


def test_weights_of_columns():
    """A column that counts for more is changed less."""
    changed = []
    for weights in ({"n": 50}, {"w": 50}):
        priors = fit("n", "w", loss=weights)
        calibration = tk.calibrate(priors, odds=1.3)
        mass = sum(law.weights for law in priors.values())
        rows = calibration.channel.outputs
        shares = mass / mass.sum()
        lost = [
            lambda x, y: (x[0] - y[0]) ** 2,
            lambda x, y: x[1] != y[1],
        ]
        moved = [
            sum(
                shares[i] * p * loss(rows[i], rows[j])
                for i, row in enumerate(calibration.channel.matrix)
                for j, p in enumerate(row)
            )
            for loss in lost
        ]
        changed.append(moved)
    (n_heavy, w_light), (n_light, w_heavy) = changed
    assert n_heavy < n_light
    assert w_heavy < w_light


# ---- look-alikes and kinds of columns


def test_labels_that_look_alike_are_refused():
    table = pd.DataFrame({"s": ["a", "b"] * 20, "w": ["x", "x ", "y", "y"] * 10})
    with pytest.raises(InputError, match="look alike"):
        fit("w", table=table)
    texts = pd.DataFrame({"s": ["a", "b"] * 20, "w": ["1", "2", "2", "1"] * 10})
    assert fit("w", table=texts)["a"].values == ("1", "2")
    assert fit("w", table=texts, domain=[1, 2])["a"].values == (1, 2)


@pytest.mark.parametrize("values", [[10**17, 10**17 + 1], [1e300, 2.0], [k * 10**16 for k in range(80)]])
def test_numbers_too_large_for_a_list_are_called_so(values):
    table = pd.DataFrame({"s": ["a", "b"] * 80, "n": np.resize(values, 160)})
    with pytest.raises(
        InputError, match=r"the values of 'n' reach .* floats no longer tell neighbours apart: .* take a larger unit"
    ):
        fit("n", table=table)


def test_a_constant_column_is_one_value():
    priors = fit("c", table=TABLE.assign(c="same"))
    found = tk.calibrate(priors, odds=1.5)
    assert (found.channel.counts.shape, found.error) == ((1, 1), 0)


def test_columns_that_are_neither_numbers_nor_labels_are_refused():
    days = TABLE.assign(d=pd.Timestamp("2024-01-01"))
    with pytest.raises(InputError):
        fit("d", table=days)


@pytest.mark.parametrize(
    "engine",
    [
        pl.from_pandas,
        lambda table: pl.from_pandas(table).lazy(),
        pa.Table.from_pandas,
        duckdb.from_df,
        lambda table: table.astype({"w": "category"}),
    ],
    ids=["polars", "lazy", "pyarrow", "duckdb", "categories"],
)
def test_every_engine_counts_the_same(engine):
    expected = fit("n", "w", "t")
    priors = fit("n", "w", "t", table=engine(TABLE))
    assert dict(priors) == dict(expected)
    assert priors.answer == expected.answer
    cells = fit("n", known=["w"], table=engine(TABLE))
    assert [dict(b) for b in cells] == [dict(b) for b in fit("n", known=["w"])]


def test_files_count_the_same(tmp_path):
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    TABLE.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        priors = fit("n", "w", "t", table=tmp_path / name)
        assert dict(priors) == dict(fit("n", "w", "t"))


def test_a_row_says_its_columns():
    assert repr(tk.Row("n", "w")) == "Row('n', 'w')"
    assert kinds(fit("n", domain=[1, 2, 3, 4, 5])) == []


def test_three_rows_of_a_secret_are_used_only_with_confidence_and_their_price_is_told():
    table = pd.DataFrame({"s": ["a"] * 50 + ["b"] * 3, "x": [*np.tile(np.arange(10), 5), 2, 3, 7]})
    priors = tk.fit_priors(table, secret="s", query=tk.Row("x", domain={"x": list(range(10))}))
    assert any("'b' has 3 rows: by chance alone its prior is off by about" in str(one) for one in priors.findings)
    with pytest.raises(tk.InputError, match="only 3 rows, fewer than 5: ask for confidence"):
        tk.calibrate(priors, odds=3)
    made = tk.calibrate(priors, odds=3, confidence=0.95)
    assert any("by chance alone" in str(one) for one in made.findings)
    proved = tk.calibrate(priors, odds=3, assurance="band")
    assert proved.meets_budget()


def test_a_cell_in_which_a_secret_was_never_seen_has_no_proof():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"s": ["a", "b"] * 100, "x": rng.integers(0, 4, 200), "k": ["u", "u", "v", "u"] * 50})
    with pytest.warns(tk.DiagnosticWarning):
        priors = tk.fit_priors(table, secret="s", query=tk.Row("x", domain={"x": [0, 1, 2, 3]}), known=["k"])
    with pytest.raises(tk.MechanismError, match="name fewer known columns"):
        tk.calibrate(priors, odds=3, assurance="band")
    assert tk.calibrate(priors, odds=3, confidence=0.95).meets_budget()


def test_a_column_of_names_is_not_published_and_none_is_said():
    table = pd.DataFrame({"s": ["a", "b"] * 30, "who": [f"person {k}" for k in range(60)], "x": [0, 1, 2] * 20})
    with pytest.raises(tk.InputError, match="60 of the 60 values of column 'who' stand in one row each") as caught:
        tk.fit_priors(table, secret="s", query=tk.Row("x", "who"))
    assert "person" not in str(caught.value)
    few = {"who": ["person 1", "someone"]}
    assert len(tk.fit_priors(table, secret="s", query=tk.Row("who", domain=few, other="someone"))) == 2


def test_a_column_that_is_empty_in_most_rows_is_named_where_too_few_are_left():
    table = pd.DataFrame({"s": ["a", "b"] * 30, "n": [1, 2, 3] * 20, "group": ["x"] + [None] * 59})
    with pytest.raises(InputError, match=r"1 row with a value in every column \('group' is empty in 59 of 60"):
        tk.fit_priors(table, secret="s", query=tk.Row("n", "group"), secrets=["a"])
    with pytest.raises(InputError, match=r"no row has a value in every column \('group' is empty in 59 of 60 rows\)"):
        tk.fit_priors(
            table.assign(group=[None, "x"] + [None] * 58, n=[1, None] * 30), secret="s", query=tk.Row("n", "group")
        )


def test_amounts_that_no_reader_takes_for_numbers_are_refused_as_what_they_are():
    texts = [f"({k}.00)" if k % 3 else f"{k}.00" for k in range(200)]
    table = pd.DataFrame({"s": ["a", "b", "b", "a", "a"] * 40, "x": texts, "y": [f"n{k}" for k in range(200)]})
    with pytest.raises(InputError, match=r"some stand in parentheses, .*: write those with a minus sign, or give"):
        tk.fit_priors(table, secret="s", query=tk.Row("x"))
    with pytest.raises(InputError, match="names people"):
        tk.fit_priors(table, secret="s", query=tk.Row("y"))


def test_a_list_of_bins_has_those_that_a_hidden_row_is_in():
    """Of another nothing is known for any secret, and a channel could publish it as it is."""
    x = np.concatenate([np.arange(60.0), np.arange(600.0, 660.0), [3_000.0]])
    table = pd.DataFrame({"s": ["a", "b"] * 60 + ["c"], "x": x})
    priors = tk.fit_priors(table, secret="s", query=tk.Row("x"), secrets=["a", "b"])
    (listed,) = priors.answer.domain
    seen = {min(listed.values, key=lambda value: abs(value - one)) for one in x[:-1].tolist()}
    assert set(listed.values) == seen
    assert max(listed.values) < 700
