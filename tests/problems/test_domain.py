"""Finite lists and how values find their place in them."""

import datetime
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.errors import InputError
from takifugu.problems.answer import Choices

POINTS = st.lists(st.integers(-1000, 1000), min_size=1, max_size=12, unique=True)


@given(POINTS, st.lists(st.floats(-2000, 2000), max_size=20))
def test_numbers_go_to_the_nearest(points, values):
    choices = Choices(tuple(points))
    assert list(choices.values) == sorted(points)
    for value, place in zip(values, choices.places(values), strict=True):
        distance = abs(value - choices.values[place])
        assert distance <= min(abs(value - p) for p in points) + 1e-9
    assert choices.places(points).tolist() == [sorted(points).index(p) for p in points]


@given(POINTS, st.floats(0, 1e6))
def test_a_list_that_was_read_takes_in_no_stranger(points, far):
    choices = Choices(tuple(points), is_read=True)
    assert choices.places(points) is not None
    if len(points) > 1:
        room = max(np.diff(sorted(points)))
        for stranger in (max(points) + room + 1 + far, min(points) - room - 1 - far, math.inf):
            with pytest.raises(InputError, match="1 of 1 values of 'x' lie beyond"):
                choices.places([stranger], "x")


LABELS = st.lists(st.text("abcdefg", min_size=1, max_size=4), min_size=1, max_size=8, unique=True)


@given(LABELS, st.lists(st.text("abcdefgh", min_size=1, max_size=4), max_size=20), st.booleans())
def test_labels_are_on_the_list_or_become_the_other(labels, values, has_other):
    choices = Choices(tuple(labels), other=labels[0] if has_other else None)
    strangers = [value for value in values if value not in labels]
    if strangers and not has_other:
        with pytest.raises(InputError, match=f"{len(strangers):,} of {len(values):,} rows") as caught:
            choices.places(values, "w")
        assert str(caught.value).startswith(f"{len(strangers)} of {len(values)} rows have a value in 'w' that is not")
    else:
        expected = [labels.index(value) if value in labels else 0 for value in values]
        assert choices.places(values).tolist() == expected


def test_truth_values_numbers_and_texts_stay_apart():
    assert Choices((False, True)).places(np.array([True, False])).tolist() == [1, 0]
    assert not Choices((False, True)).is_numeric
    mixed = Choices(("A", 1))
    assert mixed.places([1, "A", 1.0]).tolist() == [1, 0, 1]
    for stranger in (True, "1", None):
        with pytest.raises(InputError, match="1 of 2 rows"):
            mixed.places([1, stranger])


@pytest.mark.parametrize(
    ("values", "other", "says"),
    [
        ((), None, "at least one value"),
        ((1, 1.0), None, "each value once"),
        ((1, "1"), None, "look alike"),
        ((True, 1), None, "look alike"),
        (("a", "a "), None, "look alike"),
        ((math.nan,), None, "not a finite number"),
        ((None,), None, "domain"),
        (("A", "B"), "C", "other='C' must be one of"),
        (("A", "B"), ["A"], "other"),
        (("A", "B"), object(), "other"),
    ],
)
def test_what_is_no_list_is_refused(values, other, says):
    with pytest.raises(InputError, match=says):
        Choices(values, other=other)


def test_what_is_no_number_is_refused_without_being_shown():
    numbers = Choices((1, 2, 3))
    for values in (["Zorngiebel"], [object()], [[1, 2]]):
        with pytest.raises(InputError) as caught:
            numbers.places(values, "age")
        assert "Zorngiebel" not in str(caught.value)
    with pytest.raises(InputError, match="missing values"):
        numbers.places([1.0, math.nan])
    with pytest.raises(InputError, match="missing values"):
        numbers.places([1, None])
    assert numbers.places([]).tolist() == []


@pytest.mark.parametrize("odd", [["u"], {"u": 1}, ("u", [1]), b"u", None, datetime.date(2020, 1, 1)])
def test_what_is_no_label_is_on_no_list(odd):
    """Some of these cannot even be looked up."""
    values = np.empty(2, dtype=object)
    values[:] = ["u", odd]
    with pytest.raises(InputError, match="1 of 2 rows have a value in 'ward' that is not in its domain"):
        Choices(("u", "v")).places(values, "ward")
    assert Choices(("u", "v"), other="v").places(values).tolist() == [0, 1]
