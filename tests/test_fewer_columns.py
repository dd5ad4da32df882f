"""What is said where a row of several columns keeps little of what it tells."""

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.problems.findings import LittleLeft


def people(rows=400, seed=1):
    """Two columns that go with the secret closely, and one that does not."""
    rng = np.random.default_rng(seed)
    secret = rng.choice(["x", "y"], rows)
    near = np.where(secret == "x", 0, 3)
    return pd.DataFrame(
        {
            "s": secret,
            "a": near + rng.integers(0, 2, rows),
            "b": near + rng.integers(0, 2, rows),
            "c": rng.integers(0, 4, rows),
        }
    )


def little(found):
    return [one for one in found.findings if isinstance(one, LittleLeft)]


@pytest.mark.parametrize("mechanism", ["optimal", "sparse"])
def test_what_single_columns_would_keep_is_told(mechanism):
    table = people()
    priors = tk.fit_priors(table, secret="s", query=tk.Row("a", "b", "c"))
    (told,) = little(tk.calibrate(priors, odds=1.2, mechanism=mechanism, keep=None))
    assert 0 <= told.left < 0.5
    kept = dict(told.alone)
    assert list(kept) == sorted(kept, key=lambda name: -kept[name])
    assert kept["c"] > 0.9 > kept["a"]  # what has nothing to do with the secret stays
    alone = tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Row("a")), odds=1.2, keep=None)
    spread = table["a"].var(ddof=0)
    nothing = min(((table["a"] - value) ** 2).mean() for value in table["a"].unique())
    assert spread <= nothing
    # The priors of one column by itself have another pseudo-row: about the same, not the same.
    assert kept["a"] == pytest.approx(1 - alone.error / nothing, abs=0.05)
    assert "'c'" in told.sentence
    assert "fewer" in told.sentence


def test_nothing_is_said_where_much_is_left_or_nothing_can_be():
    table = people()
    both = tk.fit_priors(table, secret="s", query=tk.Row("a", "c"))
    assert not little(tk.calibrate(both, odds=50, keep=None))
    assert not little(tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Row("a")), odds=1.1, keep=None))
    size = len(both["x"])
    weighed = tk.calibrate(both, odds=1.1, keep=None, loss=(1 - np.eye(size)).tolist())
    assert not little(weighed)


def test_with_confidence_single_columns_have_it_too():
    priors = tk.fit_priors(people(200), secret="s", query=tk.Row("a", "b"))
    (plain,) = little(tk.calibrate(priors, odds=2, keep=None))
    (sure,) = little(tk.calibrate(priors, odds=2, keep=None, confidence=0.9))
    for name, left in sure.alone:
        assert left <= dict(plain.alone)[name] + 1e-9
