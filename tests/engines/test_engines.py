"""The same priors, to rounding, from the same data in every engine."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from agreement import agree, all_priors

import takifugu as tk

# ibis 12 asks pandas for an option that pandas 3 deprecates; the option's value does not matter to us.
pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:DeprecationWarning")


def test_what_is_expected_is_what_pandas_says(people, expected):
    for secret, group in people.groupby("group")["income"]:
        assert expected["mean"][secret].means == pytest.approx([group.mean()], rel=1e-12)
        assert expected["mean"][secret].stds == pytest.approx([group.sem()], rel=1e-12)
    for secret, group in people.groupby("level")["years-in-town"]:
        assert expected["empirical"][secret] == tk.Mixture.empirical(group.dropna().astype(float))
    found = [finding.code for finding in expected["mean"].findings]
    assert found == ["no-secret", "no-value"]


def test_csv(csv, expected):
    agree(all_priors(csv), expected)


def test_parquet(parquet, expected):
    agree(all_priors(str(parquet)), expected)


def test_files_by_a_pattern(people, expected, tmp_path):
    table = pa.Table.from_pandas(people, preserve_index=False)
    for part in range(3):
        pyarrow.parquet.write_table(table.slice(part * 1_000, 1_000), tmp_path / f"part-{part}.parquet")
    agree(all_priors(tmp_path / "part-*.parquet"), expected)


def test_pandas_in_another_order(people, expected):
    agree(all_priors(people.sample(frac=1, random_state=2)), expected)


def test_pandas_backed_by_arrow(people, expected):
    agree(all_priors(people.convert_dtypes(dtype_backend="pyarrow")), expected)


def test_polars(parquet, expected):
    agree(all_priors(pl.read_parquet(parquet)), expected)
    agree(all_priors(pl.scan_parquet(parquet)), expected)


def test_pyarrow(parquet, expected):
    agree(all_priors(pyarrow.parquet.read_table(parquet)), expected)


def test_duckdb(parquet, expected):
    with duckdb.connect() as connection:
        agree(all_priors(connection.read_parquet(str(parquet))), expected)


# ibis 12 calls DuckDB's results by a name that DuckDB 2 deprecates.
@pytest.mark.filterwarnings(r"ignore:fetch_arrow_table\(\) is deprecated:DeprecationWarning")
def test_duckdb_through_ibis(parquet, expected):
    ibis = pytest.importorskip("ibis")
    agree(all_priors(ibis.duckdb.connect().read_parquet(str(parquet))), expected)


def test_postgresql_through_ibis(postgres, expected):
    ibis = pytest.importorskip("ibis")
    connection = ibis.connect(postgres)
    try:
        agree(all_priors(connection.table("people")), expected)
        with pytest.raises(tk.InputError, match="Did you mean 'income'"):
            tk.fit_priors(connection.table("people"), secret="group", query=tk.Mean("incomes"))
    finally:
        connection.disconnect()


def test_a_table_of_postgresql_is_inspected_like_any_other(postgres, people):
    """Truth values, which it makes numbers of 32 bits of and of no others, and people with several rows."""
    import ibis
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute('CREATE TABLE visits AS SELECT *, "age" > 50 AS old, "age" / 2 AS person FROM people')
    visits = people.assign(old=people["age"] > 50, person=people["age"] // 2)
    served = ibis.connect(postgres)
    try:
        found = tk.inspect(served.table("visits"), "group")
    finally:
        served.disconnect()
    expected = tk.inspect(visits, "group")
    assert found.columns == expected.columns
    assert found.findings == expected.findings


def test_a_type_of_a_database_that_has_no_name_here_is_told(postgres):
    import ibis
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute(
            "CREATE TABLE wide AS SELECT 'a' AS s, 1::numeric(40, 0) AS number FROM generate_series(1, 4)"
        )
    served = ibis.connect(postgres)
    try:
        with pytest.raises(tk.InputError, match="has a type that cannot be read here"):
            tk.fit_priors(served.table("wide"), secret="s", query=tk.Row("number"))
    finally:
        served.disconnect()


def test_a_category_is_text(people, expected):
    table = people.assign(group=pd.Categorical(people["group"]))
    agree(all_priors(table), expected)
