"""Work is estimated from the sizes of the lists, told before it begins, and refused where nobody would wait for it."""

from time import process_time

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.errors import InputError
from takifugu.mechanisms import Size
from takifugu.queries.row import MOST_COLUMNS, require_feasible

RNG = np.random.default_rng(0)


def people(rows, columns, values, secrets):
    table = {f"c{k}": RNG.integers(0, values, rows) for k in range(columns)}
    return pd.DataFrame(table | {"s": RNG.integers(0, secrets, rows)})


def test_thousands_of_columns_are_refused_before_any_is_looked_at():
    table = people(500, 3_000, 5, 2)
    begun = process_time()
    with pytest.raises(InputError, match=f"3,000 columns are too many to publish together, and {MOST_COLUMNS} at most"):
        tk.publish(table, secret="s", columns=[f"c{k}" for k in range(3_000)])
    assert process_time() - begun < 20


@pytest.mark.parametrize(
    ("rows", "columns", "values", "secrets", "says"),
    [
        (
            20_000,
            5,
            6,
            60,
            r"7,[12]\d\d combinations of 5 columns for 60 secrets are too many: a channel is found for 100,000 prob",
        ),
        (
            20_000,
            2,
            16,
            900,
            r"256 combinations of 2 columns for 900 secrets are too many: to find the channel would take about",
        ),
    ],
)
def test_many_secrets_of_many_combinations_are_refused_before_the_search(
    monkeypatch, rows, columns, values, secrets, says
):
    monkeypatch.setattr("takifugu.publishing.best_channel.calibrate", lambda *_, **__: pytest.fail("the search began"))
    with pytest.raises(InputError, match=says) as refused:
        tk.publish(people(rows, columns, values, secrets), secret="s", columns=[f"c{k}" for k in range(columns)])
    widest = f"('c{columns - 1}' takes the most values, {values})"
    assert f"Publish fewer columns together, give coarser domains {widest}" in str(refused.value)


def size(values, secrets, **how):
    return Size(values, secrets, has_confidence=True, **how)


def test_what_was_measured_is_estimated_within_a_factor_of_two():
    measured = {(104, 2): 1.7, (209, 2): 5.6, (393, 2): 10.1, (486, 2): 21.5, (36, 60): 15, (100, 30): 30}
    measured |= {(12_890, 2): 81}
    measured |= {(381, 10): 17.4, (816, 5): 21.6, (906, 7): 31.6, (1_152, 3): 26.6, (2_212, 7): 49.7}
    for (values, secrets), took in measured.items():
        assert took / 2 <= size(values, secrets).seconds <= 2 * took, (values, secrets)


def test_what_takes_longer_is_said_to():
    for of_odds in (True, False):
        few = Size(200, 2, of_odds=of_odds)
        for more in (few._replace(values=300), few._replace(secrets=5), few._replace(beliefs=8)):
            assert more.seconds > few.seconds
            assert more._replace(has_confidence=True).seconds > more.seconds


def test_more_values_and_more_secrets_take_longer_and_what_is_allowed_is_told():
    for values, secrets in ((10, 2), (250, 2), (200, 20), (400, 20), (12_894, 3), (50_000, 2)):
        require_feasible(values, secrets, ["x"], [values])
        assert size(values, secrets + 7).seconds > size(values, secrets).seconds
        assert (size(values, secrets).words is None) is (size(values, secrets).seconds < 20)
    for values, secrets in ((50_001, 2), (2_000, 60), (200, 1_000)):
        with pytest.raises(InputError, match="too many"):
            require_feasible(values, secrets, ["x"], [values])
