"""Rows of another table are not published through a channel that was made for milder ones."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom

import takifugu as tk
from how_many import some_of
from takifugu.releases.drift import upper

ROWS = 3_000
PAIR = {"alpha": 2, "epsilon": 1}


def table(seed, apart, *, rows=ROWS):
    """Two groups whose stays differ by so many days."""
    rng = np.random.default_rng(seed)
    who = rng.choice(["A", "B"], rows)
    days = np.clip(np.rint(rng.normal(8 + apart * (who == "B"), 3)), 3, 16).astype(int)
    return pd.DataFrame({"who": who, "days": days, "more": 5 * (days // 5) + rng.choice([0, 5], rows)})


MILD, OTHER, STRONG = table(1, 0.5), table(2, 0.5), table(3, 6)
LISTS = {"domain": {"days": list(range(3, 17)), "more": [0, 5, 10, 15, 20]}}
QUERIES = {
    "list": (tk.Row("days", domain=list(range(3, 17))), {"odds": 3}),
    "rows": (tk.Row("days", "more", **LISTS), {"odds": 3, "confidence": 0.95}),
    "order": (tk.Row("days", domain=list(range(3, 17))), PAIR),
    "noise": (tk.Raw("days", bounds=(3, 16), step=1), PAIR),
    "mixture": (tk.Raw("days", prior="gaussian", bounds=(3, 16)), PAIR),
}
CALIBRATED = {}
pytestmark = [
    pytest.mark.filterwarnings("ignore::takifugu.releases.plan.NoNoiseWarning"),
    pytest.mark.filterwarnings("ignore::takifugu.DiagnosticWarning"),
]


def calibrated(kind):
    if kind not in CALIBRATED:
        query, promise = QUERIES[kind]
        CALIBRATED[kind] = tk.calibrate(tk.fit_priors(MILD, secret="who", query=query), **promise)
    return CALIBRATED[kind]


@pytest.mark.parametrize("kind", QUERIES)
def test_a_table_that_tells_more_is_refused_and_others_are_not(kind, tmp_path):
    calibration = calibrated(kind)
    for fine in (MILD, OTHER, MILD.head(50), table(5, 0, rows=500)):
        assert len(tk.release(fine, calibration, utility=tk.Utility(allow_no_noise=True))) == len(fine)
    with pytest.raises(tk.InputError, match="are related to the secret more closely than the priors") as caught:
        tk.release(STRONG, calibration, ledger=tmp_path / "l.db", utility=tk.Utility(allow_no_noise=True))
    assert tk.Ledger(tmp_path / "l.db").account() is None  # and nothing was charged
    assert "drift='allow'" in str(caught.value)
    assert (
        len(
            tk.release(
                STRONG, calibration, adversary=tk.Adversary(drift="allow"), utility=tk.Utility(allow_no_noise=True)
            )
        )
        == ROWS
    )


@pytest.mark.parametrize("promise", [{"odds": 3, "confidence": 0.95}, {"alpha": 2, "epsilon": 1.0}])
def test_a_small_table_that_is_surely_another_may_not_seem_to_tell_more(promise):
    """Of so few rows chance would allow the odds that were promised; but not that they are draws of the same laws."""
    rng = np.random.default_rng(0)

    def visits(rows, shift):
        who = rng.choice(["A", "B", "C"], rows, p=[0.2, 0.7, 0.1])
        ward = (rng.integers(0, 6, rows) + np.where(who == "B", shift, 0)) % 6
        return pd.DataFrame({"who": who, "ward": ward})

    mine = visits(250, 0)
    made = tk.calibrate(tk.fit_priors(mine, secret="who", query=tk.Row("ward", domain=range(6))), **promise)
    # So few that chance allows it: of all 250 the odds are surely beyond what was guaranteed, which is said instead.
    told = mine.assign(ward=mine["who"].map({"A": 0, "B": 3, "C": 5})).head(100)
    with pytest.raises(tk.InputError, match="other rows than those that were counted, and as far as they tell"):
        tk.release(told, made, utility=tk.Utility(allow_no_noise=True))
    harmless = mine.assign(ward=3)  # others, and they tell nothing at all
    for fine in (mine, visits(250, 0), visits(4_000, 1), mine.head(30), harmless):
        assert len(tk.release(fine, made, utility=tk.Utility(allow_no_noise=True))) == len(fine)
    assert len(
        tk.release(told, made, adversary=tk.Adversary(drift="allow"), utility=tk.Utility(allow_no_noise=True))
    ) == len(told)


def test_each_axis_of_a_vector_is_looked_at():
    rng = np.random.default_rng(7)
    people = pd.DataFrame({"who": ["A", "B"] * 500, "x": rng.normal(size=1_000), "y": rng.normal(size=1_000)})
    calibration = tk.calibrate(tk.fit_priors(people, secret="who", query=tk.Raw(["x", "y"], prior="gaussian")), **PAIR)
    assert len(tk.release(people.sample(500, random_state=1), calibration)) == 500
    for column in ("x", "y"):
        changed = people.assign(**{column: np.where(people["who"] == "A", -2.0, 2.0) + people[column] / 10})
        with pytest.raises(tk.InputError, match="more closely"):
            tk.release(changed, calibration)


def test_every_door_looks(tmp_path):
    calibration = calibrated("noise")
    STRONG.to_csv(tmp_path / "in.csv", index=False)
    with pytest.raises(tk.InputError, match="more closely"):
        tk.release_file(tmp_path / "in.csv", tmp_path / "out.csv", calibration)
    assert not (tmp_path / "out.csv").exists()
    for values in (STRONG["days"].to_numpy(), STRONG["days"]):
        with pytest.raises(tk.InputError, match="more closely"):
            tk.release(values, calibration, secret=STRONG["who"].tolist())
    listed = calibrated("list")
    with pytest.raises(tk.InputError, match="more closely"):
        tk.release(STRONG["days"].tolist(), listed, secret=STRONG["who"].tolist())
    dropped = STRONG.assign(who=["A"] * (ROWS - 1) + ["C"])
    with pytest.raises(tk.InputError, match="outside the calibrated pairs"):
        tk.release(dropped, listed)
    assert len(tk.release(dropped, listed, others="drop")) == ROWS - 1  # one group alone tells no two apart


def test_more_noise_hides_more():
    calibration = calibrated("noise")
    assert len(tk.release(STRONG, calibration, theta=100.0)) == ROWS


def test_beliefs_of_others_are_held_against_the_rows():
    asked = {"secret": "who", "columns": ["days"], "domain": {"days": list(range(3, 17))}, "confidence": None}
    with pytest.raises(tk.InputError, match="more closely"):
        tk.publish(STRONG, **asked, adversary=tk.Adversary(beliefs={"last year": MILD}, own=False))
    made = tk.publish(STRONG, **asked, adversary=tk.Adversary(beliefs={"last year": MILD}, own=False, drift="allow"))
    assert len(made.table) == ROWS
    with pytest.raises(tk.InputError, match="drift must be one of 'refuse', 'allow'"):
        tk.release(MILD, calibrated("list"), adversary=tk.Adversary(drift="maybe"))


def test_several_secrets_are_looked_at_one_by_one():
    both = MILD.assign(also=np.random.default_rng(9).choice(["x", "y"], ROWS))
    query = tk.Row("days", domain=list(range(3, 17)))
    calibration = tk.calibrate(tk.fit_priors(both, secret=["who", "also"], query=query), odds=3)
    assert len(tk.release(both, calibration)) == ROWS
    for changed in (STRONG.assign(also=both["also"]), both.assign(also=np.where(both["days"] > 10, "x", "y"))):
        with pytest.raises(tk.InputError, match="more closely"):
            tk.release(changed, calibration)


@settings(max_examples=some_of(25), deadline=None)
@given(seed=st.integers(0, 10**6), apart=st.floats(0, 1.5), rows=st.integers(20, 2_000))
def test_rows_of_the_same_people_are_never_refused(seed, apart, rows):
    """What a plug-in channel was made for keeps its promise to the last row, so nothing can be beyond it."""
    people = table(seed, apart, rows=rows)
    priors = tk.fit_priors(people, secret="who", query=tk.Row("days", domain=list(range(3, 17))), few="allow")
    assert len(tk.release(people, tk.calibrate(priors, odds=1.5))) == rows


@pytest.mark.parametrize("rows", [5, 80])
def test_the_bound_is_that_of_chernoff(rows):
    """Against the binomial law: beyond the bound lies less than the chance that was asked for."""
    chance = 1e-3
    for seen in range(rows):
        (bound,) = upper(np.array([seen / rows]), math.log(1 / chance) / rows)
        assert binom.cdf(seen, rows, bound) <= chance * (1 + 1e-9)
        if seen:
            share = seen / rows

            def apart(q, share=share):
                cross = share * math.log(share / q) + (1 - share) * math.log((1 - share) / (1 - q))
                return rows * cross - math.log(1 / chance)

            assert bound == pytest.approx(brentq(apart, share, 1 - 1e-15), rel=1e-9)


def test_chance_alone_refuses_nobody():
    """Two halves of one population, the true odds just within the promise: no sample is plainly beyond it."""
    rng = np.random.default_rng(4)
    laws = {"A": np.array([0.6, 0.4]), "B": np.array([0.3, 0.7])}
    priors = tk.fit_priors(
        pd.DataFrame({"s": ["A"] * 10 + ["B"] * 10, "x": [0] * 6 + [1] * 4 + [0] * 3 + [1] * 7}),
        secret="s",
        query=tk.Row("x", domain=[0, 1]),
    )
    calibration = tk.calibrate(priors, odds=2.001)
    for _ in range(40):
        who = rng.choice(["A", "B"], 1_000)
        drawn = (rng.random(1_000) >= np.where(who == "A", laws["A"][0], laws["B"][0])).astype(int)
        assert (
            len(tk.release(pd.DataFrame({"s": who, "x": drawn}), calibration, utility=tk.Utility(allow_no_noise=True)))
            == 1_000
        )


def wards(rows=2_000):
    """An answer and a ward of which neither tells anything about who it is, alone or together."""
    rng = np.random.default_rng(4)
    names = {"who": ["A", "B"], "days": [0, 1], "ward": ["f", "g"], "floor": [1, 2]}
    return pd.DataFrame({name: rng.choice(values, rows) for name, values in names.items()})


def of_wards(people, **how):
    query = tk.Row("days", domain=[0, 1])
    return tk.calibrate(tk.fit_priors(people, secret="who", query=query, known=["ward", "floor"]), odds=1.5, **how)


SIGNS = (wards().who == "A") == (wards().days == 0)


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "file"])
@pytest.mark.parametrize(
    ("ward", "said"),
    [
        (np.where(SIGNS, "F", "f"), "what no row had when the priors were fitted"),  # one cell to some databases
        (np.where(SIGNS, "f", "g"), "among those with the same 'ward'"),
    ],
)
def test_a_kept_column_that_was_known_holds_what_was_counted(engine, ward, said, tmp_path):
    people = wards()
    calibration = of_wards(people)
    changed = people.assign(ward=ward)
    assert len(tk.release(changed, calibration)) == len(changed)  # which tells nothing of the ward

    def release(table, out="out.csv"):
        if engine == "file":
            table.to_csv(tmp_path / "in.csv", index=False)
            tk.release_file(tmp_path / "in.csv", tmp_path / out, calibration, keep=["ward"])
            return len(pd.read_csv(tmp_path / out))
        native = {"pandas": lambda: table, "polars": lambda: pl.from_pandas(table), "pyarrow": lambda: pa.table(table)}
        return len(tk.release(native[engine](), calibration, keep=["ward"]))

    assert release(people) == len(people)
    with pytest.raises(tk.InputError, match=said):
        release(changed, "other.csv")
    assert not (tmp_path / "other.csv").exists()


def test_cells_are_those_of_all_kept_columns_together():
    people = wards()
    some = people[(people.ward == "f") | (people.floor == 1)]  # nobody of ward g is on the second floor
    calibration = of_wards(some)
    assert len(tk.release(some, calibration, keep=["floor", "ward"])) == len(some)
    assert len(tk.release(people, calibration, keep=["floor"])) == len(people)
    with pytest.raises(tk.InputError, match=r"'ward' and 'floor'.*what no row had"):
        tk.release(people, calibration, keep=["floor", "ward"])
    # Another reader has the floors as floats, and a hole as a cell of its own.
    assert len(tk.release(some.assign(floor=some.floor.astype(float)), calibration, keep=["floor"])) == len(some)
    with pytest.raises(tk.InputError, match="what no row had"):
        tk.release(some.assign(floor=some.floor.astype(float).replace(2.0, np.nan)), calibration, keep=["floor"])


def test_whole_numbers_that_share_a_float_are_not_the_cell_that_the_float_was():
    people, large = wards(), 2**53
    counted = people.assign(floor=np.where(people.floor == 1, 1.0, float(large)))
    calibration = of_wards(counted)
    whole = people.assign(floor=np.where(people.floor == 1, 1, large))
    for native in (lambda table: table, pl.from_pandas, pa.table):
        assert len(tk.release(native(whole), calibration, keep=["floor"])) == len(people)
        last = whole.assign(floor=whole.floor + ((whole.floor == large) & (people.who == "A")))  # its digit says who
        with pytest.raises(tk.InputError, match="what no row had"):
            tk.release(native(last), calibration, keep=["floor"])


def test_a_text_that_reads_as_the_cell_of_two_columns_was_not_counted():
    people = wards()
    changed = people.assign(ward=np.where(SIGNS, "f, floor = 1", "f"))
    with pytest.raises(tk.InputError, match="what no row had"):
        tk.release(changed, of_wards(people), keep=["ward"])
    with pytest.raises(tk.InputError, match="column 'ward' reads as if it named another known column"):
        of_wards(changed)
    commas = people.assign(ward=people.ward + ", first floor")
    assert len(tk.release(commas, of_wards(commas), keep=["ward"])) == len(commas)


@pytest.mark.parametrize("query", [tk.Row("days", domain=[0, 1]), tk.Raw("days", bounds=(0, 1), step=1)])
def test_decimals_that_pandas_keeps_as_objects_are_the_cells_that_were_counted(query):
    people = wards()
    people["floor"] = np.array([None, Decimal("1.10"), Decimal("2.00")], dtype=object)[people.floor]
    promise = {"odds": 1.5} if isinstance(query, tk.Row) else PAIR
    calibration = tk.calibrate(tk.fit_priors(people, secret="who", query=query, known=["floor"]), **promise)
    for table in (people, pa.Table.from_pandas(people)):
        assert len(tk.release(table, calibration, keep=["floor"], utility=tk.Utility(allow_no_noise=True))) == len(
            people
        )
    other = people.assign(floor=people.floor + Decimal("0.01"))
    with pytest.raises(tk.InputError, match="what no row had"):
        tk.release(other, calibration, keep=["floor"], utility=tk.Utility(allow_no_noise=True))


def test_cells_of_those_about_whom_nothing_is_promised_are_not_looked_at():
    people = wards()
    strangers = people.assign(who=np.where(people.index < 100, "C", people.who))
    strangers.loc[strangers.who == "C", "ward"] = "h"
    calibration = of_wards(people)
    assert len(tk.release(strangers, calibration, keep=["ward"], others="drop")) == len(people) - 100
    assert len(tk.release(strangers, calibration, keep=["ward"], others="release")) == len(people)
    with pytest.raises(tk.InputError, match="what no row had"):  # nobody can tell whose they are
        tk.release(strangers.drop(columns="who"), calibration, keep=["ward"], others="release")


def test_who_believes_the_priors_of_the_cells_may_have_them():
    people = wards()
    changed = people.assign(ward=np.where(SIGNS, "f", "g"))
    assert len(tk.release(changed, of_wards(people), keep=["ward"], adversary=tk.Adversary(drift="allow"))) == len(
        changed
    )
