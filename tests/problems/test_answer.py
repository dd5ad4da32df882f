"""What a calibration is for, in words."""

import dataclasses

import pytest

from takifugu.problems.answer import OF_GROUPS, OF_ROWS, Answer


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("raw", "a published value of a, b"),
        ("row", "a published row of a, b"),
        ("mean", "the published mean of a, b"),
        ("gp", "a Gaussian process's prediction of a, b"),
        ("bnn", "a Bayesian neural network's prediction of a, b"),
        ("median", "the answer 'median' about a, b"),
    ],
)
def test_every_query_has_words(query, words):
    answer = Answer(query, ("a", "b"), ("s",))
    assert answer.words == words
    assert str(answer) == f"{query}:a,b"
    assert answer.is_of_rows == (query in OF_ROWS)
    assert not answer.is_of_rows or query not in OF_GROUPS


def test_an_answer_is_a_value():
    one = Answer("raw", ("a",), ("s",))
    assert one == Answer("raw", ("a",), ("s",))
    assert len({one, dataclasses.replace(one), dataclasses.replace(one, step=1.0)}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.query = "row"
