"""A proof for the population is for a list that was not chosen from its rows: where it was, that is said."""

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.laws.bounds import UNIT, Bounds


def _table(rows=400):
    rng = np.random.default_rng(8)
    secret = rng.choice(["a", "b"], rows)
    return pd.DataFrame({"s": secret, "x": rng.integers(0, 3, rows), "y": rng.integers(0, 2, rows)})


@pytest.mark.parametrize(
    ("query", "asked", "said"),
    [
        (tk.Row("x"), {"odds": 3}, "read from them"),
        (tk.Row("x", domain=[0, 1, 2]), {"odds": 3}, None),
        (tk.Row("x", "y", domain={"x": [0, 1, 2], "y": [0, 1]}), {"odds": 3}, "rows of several columns"),
        (tk.Raw("x"), {"alpha": 2, "epsilon": 1}, "read from them"),
        (tk.Raw("x", bounds=(0, 2), step=1), {"alpha": 2, "epsilon": 1}, None),
    ],
)
def test_a_list_that_was_read_is_told_of_beside_the_proof(query, asked, said):
    priors = tk.fit_priors(_table(), secret="s", query=query)
    made = tk.calibrate(priors, assurance="band", **asked)
    found = [one for one in made.findings if one.code == "list-read-for-band"]
    assert [said in one.sentence for one in found] == ([] if said is None else [True])
    assert "that was not chosen from them" in made.evidence.sentence
    alone = tk.calibrate(priors, **asked)
    assert not any(one.code == "list-read-for-band" for one in alone.findings)


def test_bounds_on_a_list_of_what_was_seen_fail():
    """Values that are on the list for having been seen are rarer than their counts say, all of them at once."""
    rng = np.random.default_rng(9)
    for _ in range(5):
        labels = np.where(rng.random(1500) < 0.01, rng.integers(1, 10**6, 1500), 0)
        seen, counts = np.unique(labels, return_counts=True)
        truth = np.where(seen == 0, 0.99, 0.01 / 10**6)
        bounds = Bounds.of_counts(counts, level=0.95, laws=1, ordered=False)
        assert (bounds.lower[1:] / UNIT > truth[1:] / truth.sum()).all()
