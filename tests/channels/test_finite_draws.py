"""Draws from a finite channel: exact by counting every word, independent of order, refused where they must be."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from takifugu.channels.finite_channel import FiniteChannel, whole_rows
from takifugu.channels.listed import Positions
from takifugu.channels.sampling import AliasTables, InsecureSeededBits
from takifugu.errors import InputError, TakifuguError


class EveryWord:
    """All words of one size, each once: what a draw does with them is its distribution."""

    def __init__(self, size: int) -> None:
        self.words = np.arange(2 ** (8 * size), dtype=np.uint64).astype(f"<u{size}")
        self.read_so_far = 0

    def read(self, count: int) -> bytes:
        start, self.read_so_far = self.read_so_far, self.read_so_far + count
        return self.words.tobytes()[start : start + count]


@st.composite
def counts_of(draw, bits, largest=9):
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, largest))
    rows = []
    for _ in range(n):
        cuts = sorted(draw(st.lists(st.integers(0, 2**bits), min_size=m - 1, max_size=m - 1)))
        rows.append([b - a for a, b in zip([0, *cuts], [*cuts, 2**bits], strict=True)])
    return np.array(rows, dtype=np.int64)


@pytest.mark.parametrize(("bits", "size"), [(0, 1), (1, 1), (3, 1), (8, 1), (9, 2), (13, 2), (16, 2)])
def test_every_word_counted_gives_the_counts_exactly(bits, size):
    @given(counts_of(bits))
    def check(counts):
        tables = AliasTables(counts, bits)
        words = 2 ** (8 * size)
        for x in range(len(counts)):
            drawn = tables.draw(np.full(words, x), EveryWord(size))
            found = np.bincount(drawn, minlength=counts.shape[1])
            assert found.tolist() == (counts[x] * (words >> bits)).tolist()

    check()


@given(st.sampled_from([20, 32, 33, 53, 62]).flatmap(lambda bits: st.tuples(st.just(bits), counts_of(bits, 40))))
def test_tables_of_any_size_hold_their_counts(given_):
    bits, counts = given_
    tables = AliasTables(counts, bits)  # checks itself; here the same sum is made in Python's integers
    slots, capacity = 1 << tables.slot_bits, 1 << (bits - tables.slot_bits)
    ids, threshold = tables._ids.reshape(len(counts), slots, 2), tables._threshold.reshape(len(counts), slots)
    for x, row in enumerate(counts.tolist()):
        found = [0] * len(row)
        for slot in range(slots):
            units = int(threshold[x, slot])
            found[ids[x, slot, 0]] += units
            found[ids[x, slot, 1]] += capacity - units
        assert found == row


def test_a_table_that_lost_a_unit_does_not_draw(monkeypatch):
    from takifugu.channels import sampling as alias

    honest = alias._fill

    def lossy(masses, capacity):
        own, threshold, other = honest(masses, capacity)
        threshold[0, 0] -= 1
        return own, threshold, other

    monkeypatch.setattr(alias, "_fill", lossy)
    with pytest.raises(TakifuguError, match="does not hold"):
        AliasTables(np.array([[5, 3]]), 3)


def test_many_draws_have_the_right_distribution():
    rng = np.random.default_rng(3)
    channel = FiniteChannel(range(6), range(11), whole_rows(rng.dirichlet(np.full(11, 0.4), 6)))
    rows = rng.integers(0, 6, 600_000)
    drawn = channel.draw(rows, InsecureSeededBits(5))
    table = np.zeros((6, 11))
    np.add.at(table, (rows, drawn), 1)
    expected = channel.matrix * np.bincount(rows, minlength=6)[:, None]
    usable = expected > 5
    statistic = ((table - expected)[usable] ** 2 / expected[usable]).sum()
    assert chi2.sf(statistic, usable.sum() - 6) > 1e-5
    assert table[channel.counts == 0].sum() == 0


def test_each_value_takes_one_word_whatever_its_neighbours_are():
    channel = FiniteChannel(range(2), range(3), [[2, 1, 1], [1, 1, 2]])
    source = InsecureSeededBits(1)
    together = channel.draw(np.arange(50_000) % 2, source)
    source = InsecureSeededBits(1)
    apart = [channel.draw(np.arange(16_384 * i, min(16_384 * (i + 1), 50_000)) % 2, source) for i in range(4)]
    assert np.array_equal(together, np.concatenate(apart))


def test_bits_that_are_missing_are_not_made_up():
    class Short:
        def read(self, count):
            return b"\0" * (count - 1)

    with pytest.raises(TakifuguError, match="asked for"):
        FiniteChannel((0, 1), (0, 1), [[1, 1], [1, 1]]).draw([0, 1], Short())


def test_two_publications_differ():
    channel = FiniteChannel((0,), (0, 1), [[1, 1]])
    assert not np.array_equal(channel.publish(np.zeros(200)), channel.publish(np.zeros(200)))


@pytest.mark.parametrize("positions", [[-1], [2], [0.0], [[0]], ["0"], [True]])
def test_positions_must_be_places_of_inputs(positions):
    with pytest.raises(InputError, match="positions"):
        FiniteChannel.identity([5, 6]).draw(positions)


# ---- finding values


@pytest.mark.parametrize(
    "given_",
    [
        [3, 1, 2, 3],
        (3.0, 1.0, 2.0, 3.0),
        np.array([3, 1, 2, 3], dtype=np.uint8),
        np.array([3, 1, 2, 3], dtype=np.float32),
        np.array([3, 1, 2.0, 3], dtype=object),
        pd.Series([3, 1, 2, 3]),
        pd.array([3, 1, 2, 3], dtype="Int64"),
    ],
)
def test_numbers_of_every_kind_are_found(given_):
    published = FiniteChannel.identity([1, 2, 3]).publish(given_)
    assert published.tolist() == [3, 1, 2, 3]
    assert published.dtype == np.int64


@pytest.mark.parametrize(
    "given_",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        *([np.array(["b", "a", "b"], dtype=np.dtypes.StringDType())] if hasattr(np.dtypes, "StringDType") else []),
    ],
)
def test_texts_of_every_kind_are_found(given_):
    assert FiniteChannel.identity(["a", "b"]).publish(given_).tolist() == ["b", "a", "b"]


def test_truth_values_and_mixed_lists_are_found():
    assert FiniteChannel.identity([False, True]).publish(np.array([True, False])).tolist() == [True, False]
    mixed = FiniteChannel.identity([1, "x", 2.5])
    assert mixed.publish(["x", 1, 2.5]).tolist() == ["x", 1, 2.5]


def test_rows_are_found_as_tuples_arrays_and_columns():
    channel = FiniteChannel.identity([(1, "A"), (2, "B"), (2, "A")])
    rows = [(2, "A"), (1, "A"), (2, "B")]
    assert channel.publish(rows).tolist() == rows
    assert Positions(channel.inputs).of_columns([np.array([2, 1, 2]), np.array(["A", "A", "B"])]).tolist() == [2, 0, 1]
    frame = pd.DataFrame({"age": [2, 1, 2], "ward": ["A", "A", "B"]})
    assert channel.positions(frame).tolist() == [2, 0, 1]
    numbers = FiniteChannel.identity([(1, 2), (3, 4)])
    assert numbers.positions(pd.DataFrame({"a": [3, 1], "b": [4, 2]})).tolist() == [1, 0]
    assert numbers.positions(np.array([[3, 4], [1, 2]])).tolist() == [1, 0]
    for absent in ([(1, "B")], [(7, "A")]):  # entries that are known, in a row that is not
        with pytest.raises(InputError, match="not among"):
            channel.positions(absent)
    for wrong, sentence in (([(1,)], "each value"), ([1, 2], "each value"), ("ab", "rows"), (7, "rows")):
        with pytest.raises(InputError, match=sentence):
            channel.positions(wrong)
    with pytest.raises(InputError, match="2 columns"):
        channel.positions(np.ones((3, 3)))
    with pytest.raises(InputError, match="equally long"):
        Positions(channel.inputs).of_columns([[1, 2], ["A"]])
    with pytest.raises(InputError, match="2 columns are needed"):
        Positions(channel.inputs).of_columns([[1, 2]])


@pytest.mark.parametrize(
    ("inputs", "values"),
    [
        ([1, 2], [1, 3]),
        ([1, 2], [1.0, np.nan]),
        ([1, 2], ["1", "2"]),
        ([1, 2], [True, True]),
        ([0, 1], np.array([True])),
        ([1, 2], [1, True]),
        ([True, False], [1, 0]),
        (["1"], [1]),
        (["a"], ["a "]),
        (["a"], [None]),
        (["a"], ["a", None]),
        ([1, 2], [1, None]),
        ([1, 2], [1, 2j]),
        ([1, 2], [1, (1, 2)]),
        ([2**53 - 1], [2**53]),
        ([1, 2], np.array([1, 10**400], dtype=object)),
        ([2**53 - 1], np.array([2**53 + 1, 0.5], dtype=object)),
        ([2**53 - 1], np.array([2**60], dtype=np.uint64)),
    ],
)
def test_a_value_that_is_no_input_is_refused(inputs, values):
    with pytest.raises(InputError, match="not among"):
        FiniteChannel.identity(inputs).publish(values)


def test_the_refusal_shows_no_value():
    with pytest.raises(InputError, match=r"1 of 3 values .* position 1") as error:
        FiniteChannel.identity(["a", "b"]).publish(["a", "Jane Doe", "b"])
    assert "Jane" not in str(error.value)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ("a", "one text"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "cannot be published"),
        (np.ma.masked_array([1.0], [True]), "masked"),
        (np.ones((2, 2)), "one list"),
    ],
)
def test_what_is_no_list_of_values_is_refused(values, sentence):
    with pytest.raises(InputError, match=sentence):
        FiniteChannel.identity(["a"]).positions(values)


def test_nothing_is_drawn_for_an_empty_list():
    assert FiniteChannel.identity([1]).publish(np.array([])).tolist() == []
    assert FiniteChannel.identity([(1, 2)]).publish([]).tolist() == []


def test_rows_of_many_columns_need_no_room_for_all_combinations():
    rng = np.random.default_rng(0)
    values = list(dict.fromkeys(map(tuple, rng.integers(0, 90, (400, 30)).tolist())))
    given_ = rng.integers(0, len(values), 1000)
    assert Positions(values).of([values[i] for i in given_]).tolist() == given_.tolist()


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.booleans()), min_size=1, unique=True), st.data()
)
def test_rows_stand_where_the_list_has_them(values, data):
    rows = data.draw(st.lists(st.sampled_from(values)))
    assert Positions(values).of(rows).tolist() == [values.index(row) for row in rows]
    stranger = data.draw(st.tuples(st.integers(0, 4), st.sampled_from("abcd"), st.booleans()))
    if stranger not in values:
        with pytest.raises(InputError, match="not among"):
            Positions(values).of([*rows, stranger])


# ---- rounding to whole numbers


@given(st.integers(0, 2**32), st.integers(1, 30), st.sampled_from([10, 32, 53, 62]))
def test_rows_become_whole_numbers_that_sum_to_the_power(seed, m, bits):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(m, 0.3), 4) * (rng.random((4, m)) < 0.7)
    matrix[:, 0] += 1e-9
    counts = whole_rows(matrix, bits)
    assert counts.sum(axis=1).tolist() == [2**bits] * 4
    assert (counts >= 0).all()
    assert (counts[matrix == 0] == 0).all()
    ideal = np.ldexp(matrix / matrix.sum(axis=1, keepdims=True), bits)
    assert (np.abs(counts - ideal) <= 1 + np.ldexp(m, max(0, bits - 52))).all()
