"""Rows that lose their order: uniformly, together with their values, and only where they should."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from calibrations import hand_made

import takifugu as tk
from takifugu.channels.bits import OsBits
from takifugu.releases.shuffling import RowsShuffled, shuffled

ROWS = 2_000
HOW = {"column": "v", "secret": "s", "keep": ["id"]}


def table(*, sorted_rows=True):
    secrets = ["a", "b"] * (ROWS // 2)
    secrets = sorted(secrets) if sorted_rows else np.random.default_rng(4).permutation(secrets).tolist()
    return pd.DataFrame({"s": secrets, "v": 100.0 * np.arange(ROWS), "id": np.arange(ROWS)})


def places(out):
    """Which row each published one was, by its name and by its value, which must agree."""
    ids = [int(one) for one in np.asarray(out["id"])]
    assert np.rint(np.asarray(out["v"], dtype=float) / 100).astype(int).tolist() == ids
    assert sorted(ids) == list(range(ROWS))
    return ids


def test_a_permutation_is_uniform():
    counts = {}
    for _ in range(6_000):
        order = tuple(shuffled(3, OsBits()).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert max(abs(n - 1_000) for n in counts.values()) < 6 * math.sqrt(1_000)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_rows_of_a_table_are_shuffled_with_their_values(library):
    told, untold = (library(table(sorted_rows=one).to_dict("list")) for one in (True, False))
    assert places(tk.release(told, hand_made(1.0), **HOW, order="auto")) != list(range(ROWS))
    assert places(tk.release(told, hand_made(1.0), **HOW, order="shuffle")) != list(range(ROWS))
    assert places(tk.release(untold, hand_made(1.0), **HOW, order="auto")) == list(range(ROWS))
    with pytest.raises(tk.InputError, match=r"order of the rows tells the secret.*order='shuffle'"):
        tk.release(told, hand_made(1.0), **HOW, order="keep")


def test_a_pandas_index_does_not_tell_where_a_row_stood():
    frame = table().set_index(pd.Index([f"p{k}" for k in range(ROWS)]))
    assert list(tk.release(frame, hand_made(1.0), **HOW, order="shuffle").index) == list(range(ROWS))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_is_shuffled_while_it_is_not_too_long(suffix, tmp_path, monkeypatch):
    source = tmp_path / "in.csv"
    table().to_csv(source, index=False)
    read = pd.read_csv if suffix == ".csv" else pd.read_parquet
    done = tk.release_file(source, tmp_path / f"out{suffix}", hand_made(1.0), **HOW, order="auto")
    assert done.findings[-1] == RowsShuffled(ROWS)
    assert places(read(tmp_path / f"out{suffix}")) != list(range(ROWS))
    monkeypatch.setattr("takifugu.releases.shuffling.MOST_SHUFFLED", 100)
    for order in ("auto", "shuffle"):
        with pytest.raises(tk.InputError, match="2,000 rows are too many to be shuffled"):
            tk.release_file(source, tmp_path / f"long{suffix}", hand_made(1.0), **HOW, order=order)
    assert not (tmp_path / f"long{suffix}").exists()


def test_the_ledger_knows_the_first_order(tmp_path):
    for _ in range(2):
        tk.release(table(), hand_made(1.0), **HOW, order="shuffle", theta=2.0, ledger=tmp_path / "l.db")
    assert tk.Ledger(tmp_path / "l.db").account().releases == 2


def test_publish_gives_up_an_order_that_tells():
    people = table().assign(v=[1, 2] * 500 + [2] * 1_000)
    made = tk.publish(people, secret="s", columns=["v"], confidence=None)
    assert made.findings[-1] == RowsShuffled(ROWS)
    with pytest.raises(tk.InputError, match="order of the rows tells the secret"):
        tk.publish(people, secret="s", columns=["v"], confidence=None, order="keep")


def test_few_rows_lose_their_order_where_nothing_could_be_seen():
    people = pd.DataFrame({"s": ["a"] * 30 + ["b"] * 30, "v": list(range(30)) * 2})
    made = tk.publish(people, secret="s", columns=["v"], confidence=None, allow_no_noise=True)
    assert made.findings[-1] == RowsShuffled(60)
    assert sorted(made.table["v"]) == sorted(people["v"])
    assert list(made.table["v"]) != list(people["v"])
    kept = tk.publish(people, secret="s", columns=["v"], confidence=None, allow_no_noise=True, order="keep")
    assert list(kept.table["v"]) == list(people["v"])


@pytest.mark.parametrize("order", ["random", None, 1])
def test_other_words_are_refused(order):
    with pytest.raises(tk.InputError, match="order must be one of 'warn', 'keep', 'shuffle', 'auto'"):
        tk.release(table(), hand_made(1.0), **HOW, order=order)


def test_an_array_has_no_rows_to_move():
    with pytest.raises(tk.InputError, match="order are for tables"):
        tk.release([1.0], hand_made(1.0), order="shuffle")


def test_an_audit_sees_that_rows_were_moved():
    from takifugu.audits.checking import look
    from takifugu.audits.rows import read_rows

    rng = np.random.default_rng(1)
    people = pd.DataFrame({"s": ["a", "b"] * 300, "v": rng.integers(0, 6, 600) + [0, 2] * 300})
    made = tk.calibrate(tk.fit_priors(people, secret="s", query=tk.Row("v")), odds=3, radius=0.02)
    for order, moved in (("keep", False), ("shuffle", True)):
        rows = read_rows(tk.release(people, made, order=order), people, made, secret=None, keys=None)
        found = {one.kind for one in look(rows, made, [("a", "b")], ())}
        assert bool(found & {"moved-rows", "not-through-channel"}) is moved
