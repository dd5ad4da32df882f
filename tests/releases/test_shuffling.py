"""Every row loses its place: uniformly, together with its values, at every door and at any size."""

import itertools
import logging
import math
import os
import pickle
import stat
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from calibrations import hand_made

import takifugu as tk
from takifugu.channels.sampling import OsBits
from takifugu.estimates.estimating import described
from takifugu.problems.diagnostics import Diagnostic
from takifugu.releases import plan as shuffling
from takifugu.releases.plan import Shuffle, shuffled

ROWS = 2_000
HOW = {"column": "v", "secret": "s", "keep": ["id"]}


def table(rows=ROWS):
    return pd.DataFrame({"s": sorted(["a", "b"] * (rows // 2)), "v": 100.0 * np.arange(rows), "id": np.arange(rows)})


def places(out, rows=ROWS):
    """Which row each published one was, by its name and by its value, which must agree."""
    ids = [int(one) for one in np.asarray(out["id"])]
    assert np.rint(np.asarray(out["v"], dtype=float) / 100).astype(int).tolist() == ids
    assert sorted(ids) == list(range(rows))
    return ids


def far_from_sorted(found):
    """Of a uniform permutation, the correlation with the place is 0 with deviation 1/√(n − 1)."""
    return abs(np.corrcoef(found, np.arange(len(found)))[0, 1]) < 6 / math.sqrt(len(found) - 1)


class Told:
    """A source of bits that gives what it was told, and says when there is no more."""

    def __init__(self, *parts):
        self.parts = list(parts)

    def read(self, count):
        part = self.parts.pop(0)
        assert len(part) == count
        return part


def words(values):
    return np.array(values, dtype="<u8").tobytes()


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_every_order_is_reached_and_all_are_equally_likely(rows):
    """All words from a few, each as likely: of those without a tie every permutation has as many."""
    alphabet = [0, 1, 2**63, 2**64 - 1, 77][: rows + 1]
    counts = Counter()
    for drawn in itertools.product(alphabet, repeat=rows):
        if len(set(drawn)) == rows:
            counts[tuple(shuffled(rows, Told(words(drawn))).tolist())] += 1
        else:  # two words agree: everything is drawn again
            again = Told(words(drawn), words(range(rows)))
            assert shuffled(rows, again).tolist() == list(range(rows))
            assert not again.parts
    assert len(counts) == math.factorial(rows)
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize(("rows", "cut"), [(2, 1), (3, 2), (4, 2)])
def test_every_order_is_equally_likely_by_way_of_the_disk(rows, cut, tmp_path, monkeypatch):
    """Two buckets, whatever the batches: every choice of buckets, and in each bucket every order of its words."""
    monkeypatch.setattr(shuffling, "AT_ONCE", (rows + 1) // 2)
    source = pa.table({"row": list(range(rows))})
    chances = Counter()
    for bits in itertools.product((0, 1), repeat=rows):
        sizes = [bits.count(0), bits.count(1)]
        ways = [list(itertools.permutations(range(size))) for size in sizes]
        for one, other in itertools.product(*ways):
            told = Told(bytes(bits[:cut]), bytes(bits[cut:]), words(one), words(other))
            with Shuffle(rows, 1, tmp_path, told) as shuffle:
                assert shuffle.buckets == 2
                shuffle.add(source.slice(0, cut))
                shuffle.add(source.slice(cut))
                made = pa.concat_tables(shuffle.tables())["row"].to_pylist()
            chances[tuple(made)] += Fraction(1, 2**rows * len(ways[0]) * len(ways[1]))
    assert sum(chances.values()) == 1
    assert set(chances.values()) == {Fraction(1, math.factorial(rows))}
    assert not list(tmp_path.iterdir())  # the buckets never had a name


def test_a_permutation_of_the_system_is_uniform():
    counts = Counter(tuple(shuffled(3, OsBits()).tolist()) for _ in range(6_000))
    assert len(counts) == 6
    assert max(abs(n - 1_000) for n in counts.values()) < 6 * math.sqrt(1_000)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("rows", [60, ROWS])
def test_rows_of_a_table_are_shuffled_with_their_values(library, rows):
    frame = library(table(rows).to_dict("list"))
    assert far_from_sorted(places(tk.release(frame, hand_made(1.0), **HOW), rows))
    mixed = table(rows).sample(frac=1, random_state=0)
    kept = tk.release(library(mixed.to_dict("list")), hand_made(1.0), **HOW, order="keep")
    assert places(kept, rows) == mixed["id"].tolist()


def test_a_pandas_index_does_not_tell_where_a_row_stood():
    frame = table().set_index(pd.Index([f"p{k}" for k in range(ROWS)]))
    assert list(tk.release(frame, hand_made(1.0), **HOW).index) == list(range(ROWS))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("at_once", [shuffling.AT_ONCE, 500])
def test_a_file_is_shuffled_however_long_it_is(suffix, at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(shuffling, "AT_ONCE", at_once)
    source, target, key = tmp_path / "in.csv", tmp_path / f"out{suffix}", tmp_path / "key.csv"
    table().to_csv(source, index=False)
    tk.release_file(source, target, hand_made(1.0), **HOW, positions=key)
    found = places((pd.read_csv if suffix == ".csv" else pd.read_parquet)(target))
    assert far_from_sorted(found)
    assert pd.read_csv(key)["position"].tolist() == found
    assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
    assert {one.name for one in tmp_path.iterdir()} == {"in.csv", target.name, "key.csv"}


def test_a_file_in_its_own_order_is_somebody_s_statement(tmp_path):
    mixed = table().sample(frac=1, random_state=0)
    mixed.to_csv(tmp_path / "in.csv", index=False)
    done = tk.release_file(tmp_path / "in.csv", tmp_path / "out.csv", hand_made(1.0), **HOW, order="keep")
    assert places(pd.read_csv(tmp_path / "out.csv")) == mixed["id"].tolist()
    assert Diagnostic("order-kept") in done.findings


def test_the_ledger_knows_the_first_order(tmp_path):
    for _ in range(2):
        tk.release(table(), hand_made(1.0), **HOW, theta=2.0, ledger=tmp_path / "l.db")
    assert tk.Ledger(tmp_path / "l.db").account().releases == 2


@pytest.fixture(scope="module")
def sorted_people():
    """The file of the report: sorted by the value, its last 15 rows are all of the rare secret."""
    a, b = [143, 143, 143, 143, 143, 143, 142, 0], [20, 19, 19, 19, 19, 19, 20, 15]
    rows = [(s, x) for x in range(8) for s, counts in (("a", a), ("b", b)) for _ in range(counts[x])]
    return pd.DataFrame(rows, columns=["s", "x"])


def test_a_default_publication_of_a_sorted_table_has_no_order(sorted_people, tmp_path):
    made = tk.publish(sorted_people, secret="s", columns=["x"], odds=3)
    assert far_from_sorted(made.table["x"].to_numpy())
    key = tmp_path / "key.parquet"
    made.save_positions(key)
    first = pd.read_parquet(key)["position"].to_numpy()
    assert sorted(first) == list(range(len(sorted_people)))
    assert far_from_sorted(first)
    assert np.corrcoef(sorted_people["x"].to_numpy()[first], made.table["x"])[0, 1] > 0.8
    assert not made.audit(sorted_people, level=1e-6).contradicted
    assert tk.audit(made.table, sorted_people, made.calibration, positions=key, level=1e-6) == made.audit(
        sorted_people, level=1e-6
    )


def test_nothing_but_the_object_knows_the_positions(sorted_people):
    made = tk.publish(sorted_people, secret="s", columns=["x"], odds=3)
    copy = pickle.loads(pickle.dumps(made))
    assert copy.table.equals(made.table)
    with pytest.raises(tk.InputError, match="which row stands where is known"):
        copy.save_positions("key.csv")
    assert copy._positions is None
    assert "_positions" not in repr(made)


def test_an_order_that_is_kept_is_stated_wherever_somebody_reads(sorted_people, tmp_path):
    mixed = sorted_people.sample(frac=1, random_state=1, ignore_index=True)
    made = tk.publish(mixed, secret="s", columns=["x"], odds=3, order="keep")
    assert any("states that their order is random" in one.sentence for one in made.findings)
    assert "rows keep their order, which the publisher states is random" in str(made)
    made.report(tmp_path / "report.html")
    assert "states that their order is random" in (tmp_path / "report.html").read_text()
    made.certificate.save(tmp_path / "certificate.json")
    assert "states that their order is random" in (tmp_path / "certificate.json").read_text()
    assert tk.verify(tmp_path / "certificate.json")
    public = made.certificate.redacted()
    public.save(tmp_path / "public.json")
    assert public.to_dict()["order"] == "kept: stated to be random"
    assert described(tmp_path / "public.json").order == described(made.calibration).order == public.to_dict()["order"]
    made.certificate.require_match(public)
    assert "order" not in tk.publish(mixed, secret="s", columns=["x"], odds=3).certificate.redacted().to_dict()
    with pytest.raises(tk.InputError, match="'order' must be"):
        type(public).from_dict(public.to_dict() | {"order": "random"})


@pytest.mark.parametrize("order", ["random", "auto", "warn", None, 1])
def test_other_words_are_refused(order):
    with pytest.raises(tk.InputError, match="order must be one of 'shuffle', 'keep'"):
        tk.release(table(), hand_made(1.0), **HOW, order=order)


def test_an_array_keeps_its_order_and_that_is_said_once(caplog):
    shuffling.warn_of_order.cache_clear()
    with caplog.at_level(logging.WARNING, logger="takifugu"):
        tk.release([1.0, 2.0], hand_made(1.0), order="keep")
        tk.release([1.0], hand_made(1.0))
        assert not caplog.records
        for _ in range(2):
            assert np.argmax(tk.release([0.0, 1e6], hand_made(1.0))) == 1
            assert np.argmax(tk.release(pd.Series([0.0, 1e6]), hand_made(1.0))) == 1
    assert [record.message for record in caplog.records if "in the order in which they were given" in record.message]
    assert len(caplog.records) == 1


def test_positions_go_to_a_file_of_their_own(tmp_path):
    table().to_csv(tmp_path / "in.csv", index=False)
    with pytest.raises(tk.InputError, match="need a file of their own"):
        tk.release_file(tmp_path / "in.csv", tmp_path / "o.csv", hand_made(1.0), **HOW, positions=tmp_path / "o.csv")
    with pytest.raises(tk.InputError, match="exists already"):
        tk.release_file(tmp_path / "in.csv", tmp_path / "o.csv", hand_made(1.0), **HOW, positions=tmp_path / "in.csv")
    key = tmp_path / "key.csv"
    tk.release_file(tmp_path / "in.csv", tmp_path / "o.csv", hand_made(1.0), **HOW, positions=key)
    assert pd.read_csv(key)["position"].tolist() == places(pd.read_csv(tmp_path / "o.csv"))
