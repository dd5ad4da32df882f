"""Two channels as one, and back: against products of fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.channels.finite_channel import FiniteChannel, product, same_draws, split
from takifugu.errors import InputError
from takifugu.laws.finite import Finite


@st.composite
def channels(draw, values):
    size, width = 1 << draw(st.integers(1, 8)), draw(st.integers(1, 4))
    rows = []
    for _ in values:
        cuts = sorted(draw(st.lists(st.integers(0, size), min_size=width - 1, max_size=width - 1)))
        rows.append(np.diff([0, *cuts, size]).tolist())
    return FiniteChannel(values, tuple(range(10, 10 + width)), rows)


ROWS = [(1, "a"), (1, "b"), (2, "b"), (3, "a")]


@given(first=channels((1, 2, 3)), second=channels(("a", "b")))
@settings(max_examples=some_of(60))
def test_the_product_is_that_of_the_probabilities(first, second):
    both = product(first, second, ROWS, width=1)
    for line, (x, z) in enumerate(ROWS):
        for place, (y, w) in enumerate(both.outputs):
            p = Fraction(int(first.counts[first.inputs.index(x), first.outputs.index(y)]), first.denominator)
            q = Fraction(int(second.counts[second.inputs.index(z), second.outputs.index(w)]), second.denominator)
            assert Fraction(int(both.counts[line, place]), both.denominator) == p * q
    one, other = split(both, width=1)
    assert same_draws(one, first)
    assert same_draws(other, second)
    assert one.denominator <= first.denominator


@given(first=channels((1, 2, 3)), change=st.integers(0, 11))
@settings(max_examples=some_of(60))
def test_channels_are_alike_only_where_every_probability_is(first, change):
    assert same_draws(first, FiniteChannel(first.inputs, first.outputs, first.counts << 3))
    turned = FiniteChannel(first.inputs[::-1], first.outputs[::-1], first.counts[::-1, ::-1])
    assert same_draws(first, turned)
    fine = first.counts << 1
    row, column = change % 3, change % fine.shape[1]
    other = (column + 1) % fine.shape[1]
    if fine[row, column] and column != other:
        fine[row, column] -= 1
        fine[row, other] += 1
        assert not same_draws(first, FiniteChannel(first.inputs, first.outputs, fine))
    assert not same_draws(first, FiniteChannel((1, 2), first.outputs, first.counts[:2]))


def test_several_columns_on_either_side():
    left = FiniteChannel(((1, 2), (1, 3)), ((1, 2), (1, 3)), [[3, 1], [1, 3]])
    right = FiniteChannel(((True, "x"), (False, "x")), ((True, "x"), (False, "x")), [[1, 1], [0, 2]])
    rows = [(1, 2, True, "x"), (1, 3, False, "x"), (1, 3, True, "x")]
    both = product(left, right, rows, width=2)
    assert both.outputs[0] == (1, 2, True, "x")
    assert same_draws(split(both, width=2).first, left)
    assert same_draws(split(both, width=2).second, right)


def test_what_is_no_product_is_refused():
    # The second entry copies the first: it looks at what was drawn.
    copied = FiniteChannel(((1, 1), (1, 2)), ((1, 1), (2, 2)), [[1, 1], [1, 1]])
    # The second entry's chances depend on the first column of the row.
    mixed = FiniteChannel(((1, 1), (2, 1)), ((1, 1), (1, 2)), [[2, 0], [1, 1]])
    for channel in (copied, mixed):
        with pytest.raises(InputError, match="independently"):
            split(channel, width=1)


def test_too_many_bits_rows_and_values_are_refused():
    wide = FiniteChannel.identity((1, 2), bits=32)
    with pytest.raises(InputError, match="62 bits"):
        product(wide, wide, [(1, 1)], width=1)
    with pytest.raises(InputError, match="does not know"):
        product(FiniteChannel.identity((1, 2), bits=4), wide, [(3, 1)], width=1)
    many = FiniteChannel.constant(range(2100), Finite(range(2100), np.ones(2100)), bits=20)
    with pytest.raises(InputError, match="coarser domains"):
        product(many, FiniteChannel.identity((1,), bits=1), [(k, 1) for k in range(2100)], width=1)
