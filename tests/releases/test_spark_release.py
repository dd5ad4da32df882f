"""The partition function on plain Arrow batches, and the whole on a local cluster where PySpark is installed."""

import os
import shutil
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from calibrations import hand_made

import takifugu as tk
from takifugu._work import listening
from takifugu.errors import InputError
from takifugu.publishing.publication import made_once as _made_once
from takifugu.releases.binding import bound_columns
from takifugu.releases.plan import InsecureReleaseWarning, Plan
from takifugu.releases.spark import made_once, release_batches

ROWS = 1000
NAMES = {"secret": "secret", "column": "value", "keep": ["id"]}


def batch(rows=ROWS, secrets=("a", "b")):
    return pa.record_batch(
        {
            "secret": [secrets[i % len(secrets)] for i in range(rows)],
            "value": np.arange(rows, dtype=float),
            "id": np.arange(rows),
        }
    )


def test_each_batch_is_released():
    columns = bound_columns(hand_made(1.0), ["secret", "value", "id"], **NAMES, others="error")
    plan = Plan.of(hand_made(1.0))
    out = pa.Table.from_batches(release_batches([batch(), batch(), batch(0)], plan, columns))
    assert out.column_names == ["value", "id"]
    noise = out["value"].to_numpy() - out["id"].to_numpy()
    assert len(noise) == 2 * ROWS
    assert np.std(noise) == pytest.approx(1.0, rel=0.1)
    assert not np.array_equal(noise[:ROWS], noise[ROWS:])
    with pytest.raises(InputError, match="outside the calibrated pairs"):
        list(release_batches([batch(secrets=("a", "c"))], plan, columns))


def test_a_batch_in_which_kept_values_tell_by_chance_is_released():
    columns = bound_columns(hand_made(1.0), ["secret", "value", "id"], **NAMES, others="error")
    pair = pa.record_batch({"secret": ["a", "a", "b", "b"], "value": [1.0, 2.0, 3.0, 4.0], "id": [1, 1, 2, 2]})
    assert pa.Table.from_batches(release_batches([pair], Plan.of(hand_made(1.0)), columns)).num_rows == 4


def session_of(*, remote: bool):
    sql = pytest.importorskip("pyspark.sql", reason="the extra 'spark' is not installed")
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java, and there is none")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if remote:
        # A server on this machine, to which the session speaks as to one on another, through a port that is free.
        os.environ["SPARK_TESTING"] = "1"
        builder = sql.SparkSession.builder.remote("local[2]")
    else:
        builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    assert ("connect" in type(session).__module__) is remote
    return session


@pytest.fixture(scope="module")
def spark():
    session = session_of(remote=False)
    yield session
    session.stop()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_kept_column_is_held_against_the_secret_in_all_rows(spark):
    rows = [("ab"[i % 2], "xy"[i % 2], "uv"[i // 2 % 2], str(i), float(i)) for i in range(40)]
    fields = "secret string, telling string, harmless string, id string, value double"
    frame = spark.createDataFrame(rows, fields).repartition(20)  # a batch of two rows tells nothing
    how = {"secret": "secret", "column": "value"}
    with pytest.raises(InputError, match="'telling', which was to be kept, says in every row"):
        tk.release(frame, hand_made(1.0), **how, keep=["telling"])
    assert tk.release(frame, hand_made(1.0), **how, keep=["harmless", "id"]).count() == 40


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_cluster_releases_its_own_table(spark):
    rows = [("ab"[i % 2], i, float(i)) for i in range(ROWS)]
    frame = spark.createDataFrame(rows, "secret string, id long, value double").repartition(3)
    out = tk.release(frame, hand_made(1.0), **NAMES)
    assert out.columns == ["value", "id"]
    first, second = (sorted((r["id"], r["value"]) for r in out.collect()) for _ in range(2))
    assert first == second  # read twice, published once
    noise = np.array([value - i for i, value in first])
    assert len(noise) == ROWS
    assert np.std(noise) == pytest.approx(1.0, rel=0.15)
    for options, says in (
        ({"ledger": "l.db"}, "cannot follow a Spark table"),
        ({"secret": None}, "secret is missing"),
    ):
        with pytest.raises(InputError, match=says):
            tk.release(frame, hand_made(1.0), **{**NAMES, **options})
    with pytest.warns(InsecureReleaseWarning), pytest.raises(InputError, match="same noise"):
        tk.release(frame, hand_made(1.0), **NAMES, insecure_seed=1)
    strange = spark.createDataFrame([("c", 1, 1.0)], "secret string, id long, value double")
    with pytest.raises(InputError, match="outside the calibrated pairs"):
        tk.release(strange, hand_made(1.0), **NAMES)
    missing = spark.createDataFrame([("a", 1, None)], "secret string, id long, value double")
    with pytest.raises(InputError, match="1 missing"):
        tk.release(missing, hand_made(1.0), **NAMES)


def test_a_table_that_spark_computes_anew_as_another_is_made_once(spark):
    rows = spark.range(400)
    some = rows.filter("java_method('java.util.UUID', 'randomUUID') < '8'")
    assert len({some.count() for _ in range(4)}) > 1  # each time another half
    made, _ = _made_once(some)  # as `publish` begins
    assert len({made.count() for _ in range(2)}) == 1
    assert made_once(rows) is rows


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_rows_without_a_value_are_dropped_as_the_refusal_says(spark):
    lacks = {1: ("a", None, 1.5), 2: (None, "x", 1.5), 3: ("b", "y", float("nan"))}
    rows = [lacks.get(i, ("ab"[i % 2], "xyz"[i % 3], float(i % 4))) for i in range(200)]
    frame = spark.createDataFrame(rows, "s string, ward string, `dose` double")
    made = tk.calibrate(tk.fit_priors(frame, secret="s", query=tk.Row("ward", "dose")), odds=2)
    with pytest.raises(
        InputError, match=r"missing values: fill those rows, or drop them with Reading\(missing='drop'\)"
    ):
        tk.release(frame, made, others="drop", utility=tk.Utility(allow_no_noise=True))
    assert (
        tk.release(frame, made, utility=tk.Utility(allow_no_noise=True), reading=tk.Reading(missing="drop")).count()
        == 197
    )
    published = tk.publish(
        frame, secret="s", columns=["ward"], confidence=None, utility=tk.Utility(allow_no_noise=True)
    )
    assert published.table.count() == 198


def test_what_no_spark_table_can_have_is_refused_before_the_work(spark, tmp_path):
    frame = spark.createDataFrame([("a", 1)], "s string, v long")
    with listening(fail), pytest.raises(InputError, match="cannot follow a Spark table"):
        tk.publish(frame, secret="s", columns=["v"], ledger=tmp_path / "l")


def fail(what):
    raise AssertionError(f"it began with {what!r}")


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_cluster_s_table_is_calibrated_where_it_lies(spark):
    rows = [("ab"[i % 2], i % 7, "xyz"[i % 3]) for i in range(300)]
    frame = spark.createDataFrame(rows, "secret string, value long, ward string")
    here = pd.DataFrame(rows, columns=["secret", "value", "ward"])
    query = tk.Row("value", "ward")
    assert tk.fit_priors(frame, secret="secret", query=query) == tk.fit_priors(here, secret="secret", query=query)
    made = tk.calibrate(tk.fit_priors(frame, secret="secret", query=query), odds=2)
    out = tk.release(frame, made, utility=tk.Utility(allow_no_noise=True))
    assert (sorted(out.columns), out.count()) == (["value", "ward"], 300)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_cluster_cuts_a_column_where_one_is_named(spark):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.integers(18, 90, 600).astype(float), "visits": rng.integers(0, 4, 600)})
    people["visits"] += people.age >= 60
    lying = spark.createDataFrame(people.values.tolist(), "age double, visits double")
    asked = {"secret": tk.binned("age", [30, 60]), "query": tk.Row("visits")}
    priors, here = tk.fit_priors(lying, **asked), tk.fit_priors(people, **asked)
    assert dict(priors) == dict(here)
    made = tk.calibrate(priors, odds=1.5, preserve=None)
    assert tk.release(lying, made).columns == ["visits"]
    with pytest.raises(InputError, match="cut from it"):
        tk.release(lying, made, keep=["age"])


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_kept_column_that_was_known_holds_what_was_counted_on_a_cluster(spark):
    rng = np.random.default_rng(4)
    people = pd.DataFrame(
        {name: rng.choice(of, 2_000) for name, of in {"s": ["a", "b"], "y": [0, 1], "k": ["f", "g"]}.items()}
    )
    priors = tk.fit_priors(people, secret="s", query=tk.Row("y", domain=[0, 1]), known=["k"])
    calibration = tk.calibrate(priors, odds=1.5)
    assert (
        tk.release(
            spark.createDataFrame(people), calibration, keep=["k"], utility=tk.Utility(allow_no_noise=True)
        ).count()
        == 2_000
    )
    signs = (people.s == "a") == (people.y == 0)
    for ward, said in ((np.where(signs, "F", "f"), "what no row had"), (np.where(signs, "f", "g"), "the same 'k'")):
        with pytest.raises(InputError, match=said):
            tk.release(
                spark.createDataFrame(people.assign(k=ward)),
                calibration,
                keep=["k"],
                utility=tk.Utility(allow_no_noise=True),
            )


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_neither_an_order_nor_notes_beside_a_column_tell_the_secret(spark):
    rows = [("a" if i < 500 else "b", i % 7, "xy"[i % 2]) for i in range(1000)]
    frame = spark.createDataFrame(rows, "secret string, value long, ward string")
    made = tk.calibrate(tk.fit_priors(frame, secret="secret", query=tk.Row("value")), odds=2)
    kept = tk.release(frame, made, keep=["ward"], order="keep", utility=tk.Utility(allow_no_noise=True))
    assert [row["ward"] for row in kept.collect()] == [ward for _, _, ward in rows]
    noted = frame.withMetadata("ward", {"labels": ["of one person"]})
    out = tk.release(noted, made, keep=["ward"], utility=tk.Utility(allow_no_noise=True))
    assert out.schema["ward"].metadata == {}
    assert out.count() == 1000
    wards = [row["ward"] for row in out.collect()]
    assert wards != [ward for _, _, ward in rows]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_copy_of_one_of_several_secrets_does_not_go_along_where_others_are_dropped(spark):
    rng = np.random.default_rng(0)
    here = pd.DataFrame(
        {"s": rng.choice(["a", "b"], 400), "u": rng.choice(["c", "d"], 400), "x": rng.integers(0, 4, 400)}
    )
    here["copy"] = here.s.str.upper()
    frame = spark.createDataFrame(here.values.tolist(), "s string, u string, x long, copy string")
    made = tk.calibrate(tk.fit_priors(frame, secret=["s", "u"], query=tk.Row("x")), odds=3)
    for table in (here.sample(frac=1, random_state=1, ignore_index=True), frame):
        for others in ("drop", "error"):
            with pytest.raises(InputError, match="'copy', which was to be kept, says in every row"):
                tk.release(table, made, keep=["copy"], others=others, utility=tk.Utility(allow_no_noise=True))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_decimals_and_cuts_with_a_point_are_released_as_they_were_counted(spark):
    rng = np.random.default_rng(0)
    rows = [(Decimal(int(s)) / 10, int(x), Decimal(int(k)), float(y)) for s, x, k, y in rng.integers(1, 3, (400, 4))]
    frame = spark.createDataFrame(rows, "s decimal(5, 2), x long, k decimal(5, 2), y double")
    how = {"odds": 3, "confidence": None, "utility": tk.Utility(allow_no_noise=True)}
    out = tk.publish(frame, secret="s", columns=["x"], keep=["k"], **how).table
    assert (dict(out.dtypes), out.count()) == ({"x": "bigint", "k": "double"}, 400)
    out = tk.publish(frame, secret="s", columns=[tk.binned("y", [1.5])], **how).table
    assert (out.columns, out.count()) == (["y:1.5"], 400)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_what_a_cluster_cannot_do_is_said_in_a_sentence(spark):
    rows = [("ab"[i % 2], i % 3, "xy"[i // 2 % 2]) for i in range(300)]
    frame = spark.createDataFrame(rows, "secret string, value long, ward string")
    made = tk.calibrate(tk.fit_priors(frame, secret="secret", query=tk.Row("value")), odds=2)
    with pytest.raises(InputError, match="two columns of the table have the same name"):
        tk.release(frame.withColumnRenamed("ward", "value"), made, utility=tk.Utility(allow_no_noise=True))
    with pytest.raises(InputError, match="Spark could not release the table: its engine reports"):
        tk.release(
            frame.withColumnRenamed("ward", "VALUE"), made, utility=tk.Utility(allow_no_noise=True)
        )  # one name to Spark
    with pytest.raises(InputError, match=r"Spark takes the dot in 'a\.b' for a part of a structure"):
        tk.fit_priors(frame.withColumnRenamed("value", "a.b"), secret="secret", query=tk.Row("a.b"))
    strange = frame.replace("a", None, subset=["secret"])
    with pytest.raises(InputError, match="150 of 300 rows have a secret outside"):
        tk.release(strange, made, utility=tk.Utility(allow_no_noise=True))
