"""Answers that were written down are what the oracles say."""

import random

import mpmath_oracle
import pytest

import oracles
import stored

HANDFUL = 3  # of each oracle, and no more than a tenth of what it was asked


@pytest.mark.parametrize("module", [oracles, mpmath_oracle], ids=lambda module: module.__name__)
def test_a_handful_is_answered_the_same_again(module):
    by_oracle: dict[str, list] = {}
    for oracle, args, options, answer in stored.questions(module):
        by_oracle.setdefault(oracle.__name__, []).append((oracle, args, options, answer))
    assert by_oracle
    for asked in by_oracle.values():
        for oracle, args, options, answer in random.Random(3).sample(asked, min(HANDFUL, len(asked) // 10)):
            truth = oracle(*args, **options)
            assert abs(stored.number(answer) - truth) <= 1e-14 * abs(truth)


def test_a_new_question_goes_to_the_oracle_and_comes_back_in_full():
    question = (0.5, 1.0, 1.25, 3.25, 0.1875)
    told, truth = (
        ask(*question) for ask in (oracles.least_gaussian_variance, oracles.least_gaussian_variance.__wrapped__)
    )
    assert abs(told - truth) < 1e-45 * truth
