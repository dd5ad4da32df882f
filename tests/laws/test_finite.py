"""A law on a list of values: what it keeps, what it merges, and what it refuses without showing it."""

import math
import pickle
from collections import Counter, namedtuple
from enum import Enum
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from takifugu.errors import InputError
from takifugu.laws.finite import Finite

numbers = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False, width=32)
weights = st.floats(0, 1e12, allow_subnormal=False)


def test_it_is_a_public_name():
    assert tk.Finite is Finite


def test_weights_stay_as_given_and_probabilities_sum_to_one():
    law = Finite([1, 2, 3], [10, 0, 30])
    assert law.weights.tolist() == [10.0, 0.0, 30.0]
    assert law.probabilities.tolist() == [0.25, 0.0, 0.75]
    assert (law.total, len(law), law.values) == (40.0, 3, (1, 2, 3))
    assert law.probability(3.0) == 0.75
    assert law.probability("3") == law.probability(True) == 0.0


def test_repeated_values_are_merged_in_order_of_appearance():
    law = Finite(["b", "a", "b", "a"], [1, 2, 3, 4])
    assert law == Finite(["b", "a"], [4, 6])
    assert Finite([1, 1.0, 2], [1, 1, 1]).values == (1, 2)
    assert Finite([-0.0, 0], [1, 1]).values == (0.0,)


def test_rows_of_several_columns():
    law = Finite([(20, "A"), (30, "A"), (20, "A")], [1, 2, 3])
    assert law.values == ((20, "A"), (30, "A"))
    assert law.probability((20, "A")) == law.probability([np.int64(20), np.str_("A")]) == 4 / 6
    assert Finite(np.array([[1, 2], [3, 4]]), [1, 1]).values == ((1, 2), (3, 4))


def test_numpy_scalars_become_plain():
    law = Finite(np.array([1, 2], dtype=np.int32), [1, 1])
    assert [type(value) for value in law.values] == [int, int]
    mixed = Finite([np.float32(0.5), np.str_("x"), np.bool_(True)], [1, 1, 1])
    assert [type(value) for value in mixed.values] == [float, str, bool]


def test_values_with_classes_of_their_own_become_plain():
    class Colour(str, Enum):  # noqa: UP042  # as older code has it, whose str() is not its text
        RED = "red"

    Row = namedtuple("Row", "a b")
    assert Finite([Colour.RED], [1]).values == ("red",)
    assert type(Finite([Colour.RED], [1]).values[0]) is str
    assert type(Finite([Row(1, 2)], [1]).values[0]) is tuple
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert Finite(list(frame.itertuples(index=False)), [1, 1]).values == ((1, "x"), (2, "y"))
    assert Finite(pd.Series([1, 2]), [1, 1]).values == (1, 2)


def test_it_cannot_be_changed():
    law = Finite([1], [1])
    with pytest.raises(AttributeError, match="immutable"):
        law.values = (2,)
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del law.values
    for array in (law.weights, law.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2


@given(st.dictionaries(numbers | st.text(st.characters(exclude_categories=["Cc", "Cs"])), weights, min_size=1))
def test_equality_hash_and_pickle_agree(counts):
    try:
        law = Finite.from_counts(counts)
    except InputError:
        return
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law
    assert hash(copy) == hash(law)
    assert law != Finite(law.values, 2 * law.weights + 1)
    assert {law: 1}[copy] == 1


def test_a_truth_value_is_not_the_number_it_equals():
    assert Finite([True], [1]) != Finite([1], [1])
    assert Finite([(True, 2)], [1]) != Finite([(1, 2)], [1])
    assert Finite([1], [1]) == Finite([1.0], [1])


@given(st.dictionaries(numbers, st.integers(1, 10**6), min_size=1, max_size=30))
def test_mean_and_std_against_fractions(counts):
    law = Finite.from_counts(counts)
    total = sum(counts.values())
    mean = sum(Fraction(v) * c for v, c in counts.items()) / total
    variance = sum((Fraction(v) - mean) ** 2 * c for v, c in counts.items()) / total
    size = max(abs(float(v)) for v in counts)
    assert law.mean == pytest.approx(float(mean), rel=1e-12, abs=1e-12 * size)
    assert law.std == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-12 * size)


def test_labels_have_no_mean():
    for law in (Finite(["a"], [1]), Finite([True], [1]), Finite([(1, 2)], [1]), Finite([1, "x"], [1, 1])):
        with pytest.raises(InputError, match="no mean"):
            _ = law.mean


def test_repr_is_code_while_it_is_short():
    law = Finite([1, "x"], [1, 2])
    assert eval(repr(law)) == law
    assert "7 numbers" in repr(Finite(range(7), np.ones(7)))
    assert "rows of 2 columns" in repr(Finite([(i, "a") for i in range(9)], np.ones(9)))


def test_counts_of_a_counter():
    assert Finite.from_counts(Counter("abracadabra")).probability("a") == 5 / 11
    with pytest.raises(InputError, match="mapping"):
        Finite.from_counts([1, 2])
    with pytest.raises(InputError, match="from_counts"):
        Finite({1: 2}, [2])


@pytest.mark.parametrize(
    ("values", "heavy", "sentence"),
    [
        ([], [], "empty"),
        ([1, 2], [1], "one entry per value"),
        ([1, 2], [1, -1], "0 or more"),
        ([1, 2], [1, math.nan], "finite"),
        ([1, 2], [0, 0], "all 0"),
        ([1, 2], [1.7e308, 1.7e308], "largest float"),
        ([1, math.nan], [1, 1], "not a finite number"),
        ([1, math.inf], [1, 1], "not a finite number"),
        ([1, None], [1, 1], "missing"),
        ([1, 2**53], [1, 1], "beyond"),
        ([1, {}], [1, 1], "type dict"),
        ([1, b"x"], [1, 1], "type bytes"),
        (["a\0", "a"], [1, 1], "NUL"),
        ([(1, 2), (1,)], [1, 1], "same columns"),
        ([(1, 2), 1], [1, 1], "same columns"),
        ([(), ()], [1, 1], "empty row"),
        ([(1, (2, 3))], [1], "type tuple"),
        ("abc", [1, 1, 1], "one str"),
        (7, [1], "one int"),
        ({1, 2}, [1, 1], "order"),
        (np.array(1), [1], "one list"),
        (pd.DataFrame({"a": [1, 2]}), [1], "itertuples"),
        (np.ma.masked_array([1, 2], [True, False]), [1, 1], "masked"),
    ],
)
def test_what_cannot_be_a_law_is_refused(values, heavy, sentence):
    with pytest.raises(InputError, match=sentence):
        Finite(values, heavy)


@pytest.mark.parametrize(
    "pair",
    [
        (1, "1"),
        (1, "1.0"),
        (" 2", 2),
        (True, 1),
        (False, 0.0),
        (True, "True"),
        ("false", False),
        ("a", "a "),
        ("a b", "a\u00a0b"),
        ("\u00e9", "e\u0301"),
        ("1e3", 1000),
    ],
)
def test_values_that_look_alike_are_refused_in_every_column(pair):
    for values in (pair, pair[::-1], [(pair[0], 7), (pair[1], 8)], [(7, pair[1]), (8, pair[0])]):
        with pytest.raises(InputError, match="positions 0 and 1 look alike"):
            Finite(values, [1, 1])


def test_values_that_only_resemble_one_another_are_welcome():
    assert len(Finite(["01", "1", "a", "A", "", "nan"], np.ones(6))) == 6
    assert len(Finite([(1, "1"), (2, "2")], [1, 1])) == 2  # another column may hold the same looks


@pytest.mark.parametrize("bad", ["Jane Doe", "Jane Doe "])
def test_no_error_shows_a_value(bad):
    with pytest.raises(InputError) as error:
        Finite(["Jane Doe", "Jane Doe " if bad == "Jane Doe" else "Jane\u00a0Doe"], [1, 1])
    assert "Jane" not in str(error.value)
