"""Rows hash alike however their values are written, and the hash is the published SipHash-2-4."""

import datetime
from collections import Counter
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.releases.records import (
    Recognition,
    RowHashes,
    canonical,
    count_known,
    most_alike,
    overlap,
    reappearance,
    require_id,
    siphash,
    unknown_rows,
)

KEY = bytes(range(32))

# From the appendix of Aumasson and Bernstein (2012) and the authors' own list: key 00 01 ... 0f, message 00 01 ...
VECTORS = {0: 0x726FDB47DD0E0E31, 1: 0x93F5F5799A932462, 2: 0x3F2ACC7F57C29BDB}


@pytest.mark.parametrize("count", VECTORS)
def test_rows_are_hashed_as_its_authors_say(count):
    words = [np.full(20_000, int.from_bytes(bytes(range(8 * k, 8 * k + 8)), "little"), np.uint64) for k in range(count)]
    assert set(siphash(bytes(range(16)), words, 20_000).tolist()) == {VECTORS[count]}


def hashes(table, columns=("x",)):
    return RowHashes(KEY).of(nw.from_native(table, eager_only=True), columns).tolist()


WHOLE = [3, -7, 0, 2**40]
SAME = {
    "whole numbers": [
        pd.DataFrame({"x": WHOLE}),
        pd.DataFrame({"x": pd.array(WHOLE, dtype="Int64")}),
        pd.DataFrame({"x": [3.0, -7.0, -0.0, 2.0**40]}),
        pd.DataFrame({"x": ["3", " -7", "0.0", "1099511627776"]}),
        pd.DataFrame({"x": ["3.00", "-7", "-0", "1.099511627776e12"]}, dtype="category"),
        pl.DataFrame({"x": WHOLE}),
        pl.DataFrame({"x": [Decimal(one) for one in WHOLE]}),
        pl.DataFrame({"x": list(map(str, WHOLE))}),
        pa.table({"x": pa.array(WHOLE, pa.int64())}),
        pa.table({"x": pa.array(WHOLE, pa.decimal128(20, 2))}),
        pa.table({"x": pa.array(list(map(str, WHOLE))).dictionary_encode()}),
    ],
    "fractions": [
        pd.DataFrame({"x": [0.1, -2.75, 1e-3]}),
        pd.DataFrame({"x": np.array([0.1, -2.75, 1e-3], dtype=np.float32)}),
        pd.DataFrame({"x": ["0.1", "-2.750", "1e-3"]}),
        pl.DataFrame({"x": [Decimal("0.100"), Decimal("-2.750"), Decimal("0.001")]}),
        pa.table({"x": pa.array([0.1, -2.75, 1e-3], pa.float32())}),
    ],
    "missing": [
        pd.DataFrame({"x": [1.0, np.nan]}),
        pd.DataFrame({"x": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"x": ["1", None]}),
        pd.DataFrame({"x": ["1", "  "]}),
        pd.DataFrame({"x": pd.Series([1, pd.NA], dtype=object)}),
        pd.DataFrame({"x": pd.Series([True, pd.NaT], dtype=object)}),
        pd.DataFrame({"x": pd.Series([Decimal(1), Decimal("NaN")], dtype=object)}),
        pl.DataFrame({"x": [1.0, float("nan")]}),
        pl.DataFrame({"x": [1, None]}),
        pa.table({"x": pa.array([True, None])}),
    ],
    "dates": [
        pd.DataFrame({"x": ["2024-01-31", "2024-02-01"]}),
        pd.DataFrame({"x": pd.to_datetime(["2024-01-31", "2024-02-01"])}),
        pd.DataFrame({"x": ["2024-01-31 00:00:00", "2024-02-01T00:00:00"]}),
        pl.DataFrame({"x": [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1)]}),
        pa.table({"x": pa.array([datetime.datetime(2024, 1, 31), datetime.datetime(2024, 2, 1)])}),
    ],
    "texts": [
        pd.DataFrame({"x": ["café", "a b"]}),
        pd.DataFrame({"x": ["cafe\u0301 ", " a b"]}, dtype="category"),
        pl.DataFrame({"x": ["café", "a b"]}, schema={"x": pl.Categorical}),
        pa.table({"x": pa.array(["café", "a b"], pa.large_string())}),
        pa.table({"x": pa.array(["café".encode(), b"a b"], pa.binary())}),
        pd.DataFrame({"x": ["\ufeffcaf\u200bé", "a b\0\0"]}),
        pd.DataFrame({"x": ["CAFÉ", "A  \tb"]}),
        pd.DataFrame({"x": ["'Cafe\u0301", "' a\N{NO-BREAK SPACE}b"]}),
    ],
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_values_hash_alike_in_every_library_and_type(kind):
    first = hashes(SAME[kind][0])
    assert len(set(first)) == len(first)
    for table in SAME[kind][1:]:
        assert hashes(table) == first


@given(
    st.lists(
        st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False), st.text(max_size=5), st.none()), max_size=6
    )
)
def test_a_value_and_its_text_are_one(values):
    table, texts = ({"x": pa.array(list(map(spelled, values)), pa.string())} for spelled in (_text, _padded))
    assert hashes(pa.table(table)) == hashes(pa.table(texts))
    for value in values:
        assert canonical(value) == canonical(_text(value))
        plain = canonical(value)
        assert canonical(plain) == plain


def _text(value):
    return None if value is None else str(value)


def _padded(value):
    return None if value is None else f" {value}\t"


def test_whole_numbers_of_any_size_stay_apart():
    assert canonical(10**400) == canonical(str(10**400)) == 10**400
    near = [2**53, 2**53 + 1, 2**62 + 1, 2**63 - 1, 2**63, 2**64, 2**64 + 1, 10**30, 10**30 + 1]
    table = pd.DataFrame({"x": [str(one) for one in near]})
    assert len(set(hashes(table))) == len(near)
    assert hashes(pd.DataFrame({"x": np.array(near[:5], dtype=np.uint64)})) == hashes(table)[:5]
    assert hashes(pd.DataFrame({"x": [2.0**53, 2.0**64, 1e300]})) == hashes(
        pd.DataFrame({"x": [str(2**53), str(2**64), str(int(1e300))]})
    )


def test_ids_whose_last_digits_a_float_has_lost_are_refused():
    rows = Recognition(b"a key", require_id("nr", ["nr"]))
    rows.look(nw.from_native(pd.DataFrame({"nr": [1.0, 2.0**53 - 1]}), eager_only=True))
    for lost in ([2.0**53, 1.0], [-1e18, 1.0]):
        with pytest.raises(tk.InputError, match="more digits than a float has"):
            rows.look(nw.from_native(pl.DataFrame({"nr": lost}), eager_only=True))
    rows.look(nw.from_native(pd.DataFrame({"nr": [2**60, 2**60 + 1]}), eager_only=True))


def test_rows_keep_their_columns_apart():
    table = pd.DataFrame({"a": ["x", "xy", "", "1"], "b": ["yz", "z", "xyz", ""]})
    assert len(set(hashes(table, ("a", "b")))) == 4
    assert hashes(table, ("a", "b")) != hashes(table, ("b", "a"))
    assert RowHashes(b"another").of(nw.from_native(table, eager_only=True), ["a"]).tolist() != hashes(table, ("a",))


rows = st.lists(st.integers(0, 6), max_size=12)


@given(rows, rows, st.integers(0, 12))
def test_what_is_known_is_counted_as_often_as_it_occurs(ours, known, cut):
    """Against multisets of Python's own."""
    from collections import Counter

    stored = [np.sort(np.array(part, dtype=np.uint64)) for part in (known[:cut], known[cut:])]
    both = np.array(ours, dtype=np.uint64)
    found = overlap(np.sort(both), stored, by_id=False)
    assert found.rows == (Counter(ours) & Counter(known)).total()
    assert found.is_whole == (not Counter(known) - Counter(ours))
    assert overlap(np.sort(both), stored, by_id=True).rows == sum(one in known for one in ours)
    left = both[unknown_rows(both, stored, by_id=False)].tolist()
    assert Counter(left) == Counter(ours) - Counter(known)
    assert both[unknown_rows(both, stored, by_id=True)].tolist() == [one for one in ours if one not in known]
    assert most_alike(np.sort(both)) == max(Counter(ours).values(), default=0)
    assert count_known(np.sort(both), stored)[1] == len(known)


@given(st.lists(st.integers(0, 12), max_size=40), st.lists(st.integers(0, 12), max_size=40), st.integers(1, 41))
@settings(max_examples=some_of(300), deadline=None)
def test_what_reappears_of_a_batch_is_what_counting_finds(old, here, part):
    before, now = Counter(old), Counter(here)
    ours, stored = (np.sort(np.array(one, dtype=np.uint64)) for one in (here, old))
    found = reappearance(ours, [stored[low : low + part] for low in range(0, len(stored), part)])
    once = {one for one, times in before.items() if times == 1}
    assert found.once == len(once)
    assert found.again == sum(now[one] == 1 for one in once)
    assert (found.kinds, found.added) == (len(before), len(here) - len(old))
    assert found.rows == (before & now).total()
    assert found.is_whole == (bool(old) and before <= now)
    assert found.is_same == (bool(old) and before == now)
