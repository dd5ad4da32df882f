"""How often a score guesses right, with an exact interval, and the curve of what it finds against what it mistakes."""

import numpy as np

from takifugu._validation import Array
from takifugu.audits.bounds import share_interval
from takifugu.audits.result import Guess

_CURVE = 60  # points of a curve


def guess(tuned: tuple[Array, Array], tested: tuple[Array, Array], level: float) -> Guess:
    """The share of right guesses at the threshold that did best on the rows for choosing."""
    cuts = np.unique(np.concatenate(tuned))
    hits = [_above(tuned[0], cuts), _above(tuned[1], cuts)]
    cut = float(cuts[int(np.argmax(hits[0] - hits[1]))])
    right = int((tested[0] >= cut).sum()), int((tested[1] < cut).sum())
    shares = [hit / len(scores) for hit, scores in zip(right, tested, strict=True)]
    # Both intervals hold but for `level`, so half their sum holds half the sum of what they hold.
    ends = [share_interval(hit, len(part), risk=level / 2) for hit, part in zip(right, tested, strict=True)]
    return Guess(sum(shares) / 2, low=(ends[0][0] + ends[1][0]) / 2, high=(ends[0][1] + ends[1][1]) / 2)


def _above(scores: Array, cuts: Array) -> Array:
    return 1.0 - np.searchsorted(np.sort(scores), cuts, side="left") / len(scores)


def curve(first: Array, second: Array) -> tuple[tuple[float, float], ...]:
    """The shares of the second secret's rows and of the first's at or above each of some thresholds."""
    cuts = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0, 1, _CURVE)))[::-1]
    points = zip(_above(second, cuts).tolist(), _above(first, cuts).tolist(), strict=True)
    return ((0.0, 0.0), *points, (1.0, 1.0))
