"""Side information: two beliefs per cell, counted in one pass, one of which borrows from the other cells."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import takifugu as tk
from takifugu.laws.fitting.counts import own_normal
from takifugu.laws.lattice import Lattice
from takifugu.problems.problem import OWN_ROWS
from takifugu.tables.columns import binned
from takifugu.tables.table import Table

QUERY = tk.Raw("x", bounds=(0, 10), step=1)


def people(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["f", "m"], rows), rng.integers(18, 80, rows)
    secret = rng.choice(["a", "b"], rows, p=[0.7, 0.3])
    x = np.clip(np.rint(rng.normal(5, 2, rows) + (sex == "f") + (secret == "b")), 0, 10)
    return pd.DataFrame({"s": secret, "x": x, "sex": sex, "age": age})


def cells_of(beliefs):
    """The labels of what is known, each of which but that of nothing known stands twice."""
    first, seconds = beliefs.labels[:1] + beliefs.labels[1::2], beliefs.labels[2::2]
    assert seconds == tuple(label + OWN_ROWS for label in first[1:])
    return first


def test_two_beliefs_for_every_cell_of_every_subset():
    table = people()
    known = ["sex", binned("age", [30, 60])]
    beliefs = tk.fit_priors(table, secret="s", query=QUERY, known=known)
    assert cells_of(beliefs) == (
        "",
        "sex = f", "sex = m",
        "age below 30", "age from 30 to 60", "age from 60",
        "sex = f, age below 30", "sex = f, age from 30 to 60", "sex = f, age from 60",
        "sex = m, age below 30", "sex = m, age from 30 to 60", "sex = m, age from 60",
    )  # fmt: skip
    assert [dict(b) for b in beliefs[:1]] == [dict(tk.fit_priors(table, secret="s", query=QUERY))]
    lattice = Lattice(0, 10, 1)
    bins = pd.cut(table.age, [-np.inf, 30, 60, np.inf], right=False).cat.codes
    where = beliefs.labels.index("sex = m, age from 30 to 60")
    cell, alone = beliefs[where], beliefs[where + 1]
    assert (alone.rows, alone.counts.keys()) == (cell.rows, cell.counts.keys())
    for s in "ab":
        mine = table[(table.s == s) & (table.sex == "m") & (bins == 1)]
        rest = table[(table.s == s) & ~((table.sex == "m") & (bins == 1))]
        counts, others = (
            lattice.count(mine.x),
            lattice.count(rest.x) + own_normal(lattice, lattice.count(table[table.s == s].x)),
        )
        assert (cell.counts[s] == counts).all()
        assert cell.rows[s] == len(mine)
        expected = (counts + 5 * others / others.sum()) / (len(mine) + 5)
        assert cell[s].weights == pytest.approx(expected[expected > 0], rel=1e-10)
        own = (counts + own_normal(lattice, counts)) / (len(mine) + 1)
        assert alone[s].weights == pytest.approx(own[own > 0], rel=1e-10)
        assert (alone.counts[s] == counts).all()
    calibration = tk.calibrate(beliefs, alpha=2, epsilon=1)
    assert calibration.theta >= tk.calibrate(beliefs[0], alpha=2, epsilon=1).theta


def test_cells_are_counted_in_one_pass(monkeypatch):
    calls = []
    collect = Table.collect
    monkeypatch.setattr(Table, "collect", lambda self, frame: calls.append(1) or collect(self, frame))
    tk.fit_priors(people(), secret="s", query=QUERY, known=["sex", binned("age", [30])])
    assert len(calls) == 2  # the overview of the secrets, and the counts


def test_small_and_many_cells_are_told():
    beliefs = tk.fit_priors(people(), secret="s", query=QUERY, known=["age", "sex"])
    found = {finding.code: finding for finding in beliefs.findings}
    cells = (len(beliefs) - 1) // 2
    assert found["small-cells"]["cells"] == found["many-cells"]["cells"] == cells > 50
    assert (
        str(found["small-cells"])
        == f"{found['small-cells']['small']} of {cells} cells rest on fewer than 30 rows of some secret"
    )
    assert "merge values of 'age'" in str(found["many-cells"])
    assert found["one-secret-cells"]["cells"] > 0


def test_a_cell_with_one_secret_allows_any_law_of_the_other():
    table = people()
    table = table[~((table.sex == "f") & (table.s == "b"))]
    beliefs = tk.fit_priors(table, secret="s", query=QUERY, known=["sex"])
    women, alone, men = beliefs[1:4]
    assert women.rows == {"a": women.rows["a"], "b": 0}
    lattice = Lattice(0, 10, 1)
    others = men.counts["b"] + own_normal(lattice, men.counts["b"])
    assert women["b"].weights == pytest.approx((others / others.sum())[others > 0])
    assert alone["b"].weights == pytest.approx(1 / 11)
    assert alone.pseudo["b"].sum() == pytest.approx(1)  # so that draws of it are near one value, any of them
    assert alone["a"] != women["a"]
    assert any(f.code == "one-secret-cells" for f in beliefs.findings)


def test_what_is_missing_is_a_cell_of_its_own():
    table = people()
    table.loc[:80, "sex"] = None
    for frame in (table, pl.from_pandas(table)):
        beliefs = tk.fit_priors(frame, secret="s", query=QUERY, known=["sex"])
        assert cells_of(beliefs) == ("", "sex = f", "sex = m", "sex missing")
        assert sum(sum(b.rows.values()) for b in beliefs[1::2]) == len(table)


def test_an_empty_text_is_a_cell_beside_others_and_beside_what_is_missing():
    table = people().assign(sex=np.resize(np.array(["f", "", None], dtype=object), 600))
    beliefs = tk.fit_priors(table, secret="s", query=QUERY, known=["sex"])
    assert cells_of(beliefs) == ("", "sex = ", "sex = f", "sex missing")
    calibration = tk.calibrate(beliefs, alpha=2, epsilon=1)
    assert len(tk.release(table, calibration, keep=["sex"], utility=tk.Utility(allow_no_noise=True))) == len(table)


def test_engines_agree():
    table = people()
    known = ["sex", binned("age", [40])]
    one = tk.fit_priors(table, secret="s", query=QUERY, known=known)
    other = tk.fit_priors(pl.from_pandas(table), secret="s", query=QUERY, known=known)
    assert one.labels == other.labels
    assert [dict(b) for b in one] == [dict(b) for b in other]


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (["s"], "is the secret"),
        (["x"], "is the answer.* Leave it out of `known`, or of what is published"),
        ([binned("x", [3])], "is the answer"),
        (["sex", binned("age", [30]), "sex"], "stands twice"),
        ([], "known is empty"),
        ("sex", "must be a list"),
        ([3], "must be a column or binned"),
        (["height"], "no column 'height'"),
        (["code"], "who knows 'code' knows the secret"),
        (["id"], "it names people"),
    ],
)
def test_what_cannot_be_known(known, message):
    table = people().assign(code=lambda t: t.s.map({"a": 1, "b": 2}), id=lambda t: np.arange(len(t)))
    with pytest.raises(tk.InputError, match=message):
        tk.fit_priors(table, secret="s", query=QUERY, known=known)


def test_ten_thousand_cells_are_refused():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"s": rng.choice(["a", "b"], 40_000), "x": rng.integers(0, 11, 40_000), "k": rng.integers(0, 12_000, 40_000)}
    )
    with pytest.raises(tk.InputError, match="merge values of 'k'"):
        tk.fit_priors(table, secret="s", query=QUERY, known=["k"])


def test_only_raw_counts_have_cells():
    with pytest.raises(tk.InputError, match="for Raw and Row"):
        tk.fit_priors(people(), secret="s", query=tk.Mean("x"), known=["sex"])
    with pytest.raises(tk.InputError, match="the prior is 'counts'"):
        tk.fit_priors(people(), secret="s", query=tk.Raw("x", prior="mixture"), known=["sex"])
