import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from takifugu.audits.attacks import _in_bins, boosting


def rows(seed, count):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, count)
    return rng.normal(size=(count, 2)) + y[:, None] * [0.0, 1.0], y


def test_columns_of_few_values_stay_as_they_are_and_are_learnt_as_scikit_learn_does():
    x, y = rows(1, 900)
    x = np.round(x, 1)
    x, asked = x[:600], x[600:]
    assert np.array_equal(_in_bins(x, asked)[0], x)
    peer = HistGradientBoostingClassifier(
        max_iter=80,
        max_leaf_nodes=12,
        learning_rate=0.08,
        l2_regularization=1.0,
        early_stopping=False,
        class_weight="balanced",
        random_state=5,
    )
    theirs = peer.fit(x, y[:600]).decision_function(asked)
    assert boosting(x, y[:600], asked, 5) == pytest.approx(theirs, rel=1e-12)


def test_bins_hold_equally_many_and_keep_the_order():
    (x, _), (asked, _) = rows(2, 5_100), rows(3, 200)
    binned, placed = _in_bins(x, asked)
    for k in range(2):
        counts = np.bincount(binned[:, k].astype(int))
        assert len(counts) == 255
        assert np.abs(counts - 20).max() <= 1
        order = np.argsort(x[:, k])
        assert (np.diff(binned[order, k]) >= 0).all()
        at = np.searchsorted(x[order, k], asked[:, k]).clip(0, 5_099)  # the row taught that comes next
        assert np.abs(placed[:, k] - binned[order, k][at]).max() <= 1


def test_a_scale_that_bends_changes_no_guess():
    x, y = rows(4, 1_200)
    plain, bent = (boosting(z[:900], y[:900], z[900:], 0) for z in (x, np.sinh(2 * x)))
    assert np.mean(np.abs(plain - bent) < 1e-9) > 0.97  # a value between two bins may fall into the other
    assert np.mean((plain > 0) == y[900:]) > 0.6
