"""The example that `inspect` ends with: short lists, something to hide, and no texts that few people share."""

import math

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.queries.inspecting import inspect
from takifugu.releases.plan import NoNoiseWarning


def table(**columns):
    """Four hundred rows of two groups."""
    return pd.DataFrame({"s": ["a", "b"] * 200, **columns})


def test_an_example_stays_within_what_is_soon_done_with():
    rng = np.random.default_rng(3)
    wide = {f"q{k}": rng.integers(0, 3 + 2 * k, 400) for k in range(9)}
    found = inspect(table(**wide), "s")
    sizes = {one.name: len(one.domain.choices.values) for one in found.columns if one.domain is not None}
    assert 1 < len(found.proposed) <= 3
    assert math.prod(sizes[name] for name in found.proposed) <= 64


def test_a_long_list_stands_alone_and_a_short_one_goes_before_it():
    long, short = np.arange(400) % 53, [1, 1, 2, 2] * 100
    assert inspect(table(long=long), "s").proposed == ("long",)
    assert inspect(table(long=long, short=short), "s").proposed == ("short",)


def test_texts_that_few_people_share_are_no_example():
    many = [f"town {k % 37}" for k in range(400)]
    rare = [f"note {k}" if k < 30 else "none" for k in range(400)]
    found = inspect(table(many=many, rare=rare, y=[1, 1, 2, 2] * 100), "s")
    assert found.proposed == ("y",)
    assert inspect(table(many=many), "s").proposed == ("many",)  # where there is nothing else, it can still be run


def test_an_example_has_something_to_hide():
    """Columns that tell nothing are refused: nothing had to be hidden."""
    flat = np.repeat([1, 1, 2, 2], 5_000)
    tells = np.where(np.arange(20_000) % 10 < 5, np.arange(20_000) % 2, np.arange(20_000) % 3 == 0)
    tells[::100] = 2
    people = pd.DataFrame({"s": ["a", "b"] * 10_000, "flat": flat, "tells": tells})
    found = inspect(people, "s")
    assert found.proposed == ("flat", "tells")
    tk.publish(people, secret="s", columns=list(found.proposed), odds=3)  # a warning would be an error
    with pytest.warns(NoNoiseWarning, match="nothing had to be hidden"):
        tk.publish(people, secret="s", columns=["flat"], odds=3)
