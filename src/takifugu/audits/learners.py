"""Learners that turn some rows whose secret they know into scores of others: guesses at ln(p/q).

Each works on one thread: on a machine that is busy, threads that wait for one another cost minutes, and on an idle one
these few rows gain little from several.
"""

import warnings

import numpy as np

from takifugu._threads import one_thread
from takifugu._validation import Array
from takifugu.audits.features import Places

_MOST_NEIGHBOURS = 6_000  # rows that a nearest-neighbour search goes through
_BINS = 255  # as many as the boosting tells apart
_SHARPEST = 12.0  # no score says more than e^12 : 1


def logistic(x: Array, y: Places, asked: Array, seed: int) -> Array:
    """Logistic regression, both secrets weighing the same."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    x, asked = _standard(x, asked)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a poor fit is a poor attack, and there are others
        model = LogisticRegression(max_iter=2_000, class_weight="balanced", C=1.0).fit(x, y)
    return np.asarray(model.decision_function(asked), dtype=np.float64)


def boosting(x: Array, y: Places, asked: Array, seed: int) -> Array:
    """Gradient boosting of small trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=80, max_leaf_nodes=12, learning_rate=0.08, l2_regularization=1.0, early_stopping=False,
        class_weight="balanced", random_state=seed,
    )  # fmt: skip
    x, asked = _in_bins(x, asked)
    with one_thread():
        return np.asarray(model.fit(x, y).decision_function(asked), dtype=np.float64)


def neighbours(x: Array, y: Places, asked: Array, seed: int) -> Array:
    """The shares of the secrets among the nearest rows."""
    from sklearn.neighbors import KNeighborsClassifier

    chosen = np.sort(np.random.default_rng(seed).permutation(len(x))[:_MOST_NEIGHBOURS])
    y = y[chosen]
    x, asked = _standard(x[chosen], asked)
    near = int(min(max(5.0, 2 * np.sqrt(len(x))), len(x)))
    with one_thread():
        share = KNeighborsClassifier(n_neighbors=near).fit(x, y).predict_proba(asked)
    if share.shape[1] < 2:
        return np.zeros(len(asked))
    # The shares among neighbours, against those among all: odds as if both secrets were equally common.
    hits, base = share[:, 1] * near + 0.5, (y.sum() + 0.5) / (len(y) + 1.0)
    return np.asarray(np.log(hits / (near + 1.0 - hits)) - np.log(base / (1 - base)), dtype=np.float64)


def _standard(x: Array, asked: Array) -> tuple[Array, Array]:
    """Numbers of mean 0 and spread 1 among the rows taught, none of them beyond ten spreads."""
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return np.clip((x - centre) / spread, -10, 10), np.clip((asked - centre) / spread, -10, 10)


def _in_bins(x: Array, asked: Array) -> tuple[Array, Array]:
    """Columns of many values as the numbers of 255 bins that hold equally many of the rows taught.

    The boosting would do it too, but where rows have weights some versions of it look for each end of a bin in a pass
    of its own, which took most of the time of an audit.
    """
    x, asked = x.copy(), asked.copy()
    for k in range(x.shape[1]):
        if len(np.unique(x[:, k])) > _BINS:
            shares = np.linspace(0, 100, _BINS + 1)[1:-1]
            ends = np.unique(np.percentile(x[:, k], shares, method="averaged_inverted_cdf"))
            x[:, k], asked[:, k] = np.searchsorted(ends, x[:, k]), np.searchsorted(ends, asked[:, k])
    return x, asked


def sharp(scores: Array) -> Array:
    """Scores in steps of a hundredth, within reason; what is no number says nothing."""
    return np.asarray(np.round(np.clip(np.nan_to_num(scores), -_SHARPEST, _SHARPEST), 2), dtype=np.float64)
