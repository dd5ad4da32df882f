"""Codes for missing values: found where they stand out, and no odd person's value is ever named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.tables.column_facts import USUAL, suspects, words_among_numbers


def found(values, counts=None):
    """The suspects of a column given as values with their counts, in any order."""
    values = np.array(values, dtype=float)
    counts = np.full(len(values), 10.0) if counts is None else np.array(counts, dtype=float)
    order = np.argsort(values)
    return [(one.value, one.usual, one.apart) for one in suspects(values[order], counts[order])]


AGES = list(range(18, 90))


@pytest.mark.parametrize("code", [999, 9999, -1, -99, 999.9])
def test_a_code_that_stands_apart(code):
    assert found([*AGES, code]) == [(code, True, True)]


def test_several_codes():
    assert found([*AGES, 997, 998, 999]) == [(code, True, True) for code in (997, 998, 999)]
    assert found([*AGES, -9, -1, 999]) == [(code, True, True) for code in (-9, -1, 999)]


def test_a_code_among_the_values_is_told_by_its_rows_alone():
    assert found([*range(18, 99), 99]) == []
    assert found([*range(18, 99), 99], [10] * 81 + [60]) == [(99, True, False)]


def test_scales_and_zeros_are_no_codes():
    assert found([-1, 0, 1]) == []
    assert found([0, 1]) == found([0, 99]) == found([0, 1, 2, 3]) == []
    assert found([-2, -1, 0, 1, 2]) == found([0, 50, 99]) == found([0, 1, 2, 9]) == []
    assert found(range(-5, 6)) == found(range(0, 100, 5)) == []


def test_a_code_far_from_a_short_scale():
    assert found([0, 1, 99]) == found([1, 2, 3, 4, 99]) == [(99, True, True)]
    assert found([30, 40, 50, 999]) == [(999, True, True)]
    assert found([0, 1, -9]) == [(-9, True, True)]
    assert found([1, 2, 3, 77, 88, 99]) == [(code, True, True) for code in (77, 88, 99)]
    assert found([1, 2, 3, 500]) == []


def test_an_odd_value_is_named_only_if_rows_share_it():
    (odd,) = suspects(np.array([*AGES, 5_000.0]), np.array([10.0] * 72 + [4]))
    assert not odd.may_be_named
    assert found([*AGES, 5_000], [10] * 72 + [5]) == [(5_000, False, True)]


columns = st.lists(st.integers(-2_000, 2_000), min_size=1, max_size=30, unique=True)


@given(values=columns, data=st.data())
def test_whoever_is_named_is_usual_or_many(values, data):
    counts = data.draw(st.lists(st.integers(1, 20), min_size=len(values), max_size=len(values)))
    rows = dict(zip(values, counts, strict=True))
    for one in suspects(
        np.sort(np.array(values, dtype=float)), np.array([rows[v] for v in sorted(values)], dtype=float)
    ):
        assert one.rows == rows[int(one.value)]
        assert one.usual == (one.value in USUAL)
        assert one.usual or one.rows >= 5
        assert len(values) > (2 if one.usual else 5)


@given(values=st.lists(st.integers(0, 50), min_size=5, max_size=40, unique=True), factor=st.sampled_from([1, 0.25]))
def test_the_unit_does_not_matter(values, factor):
    """999 among numbers up to 50 is found whatever else is there."""
    assert found([*(factor * v for v in values), 999])[-1] == (999, True, True)


LABELS = st.dictionaries(st.one_of(st.integers(-9, 99).map(str), st.text(max_size=5)), st.integers(1, 30), max_size=12)


@given(LABELS)
def test_no_word_of_few_people_is_named(labels):
    named = words_among_numbers(labels)
    assert all(labels[word] >= 5 and not any(letter.isdigit() for letter in word) for word in named)
    if named:
        assert len(labels) - len(named) >= 5
        rest = [label.replace(",", ".").replace("%", "") for label in labels if label not in named]
        assert np.isfinite([float(label) for label in rest]).all()
