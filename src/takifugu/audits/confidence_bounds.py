"""Lower confidence bounds on a Rényi divergence, from any score of what was published (proofs/audit.md).

For every function h ≥ 0 of a published row, D_α(P‖Q) ≥ α/(α−1)·ln E_P[h^{α−1}] − ln E_Q[h^α], by Hölder's inequality,
with equality at h = p/q; at α = ∞ it is ln E_P[h] − ln E_Q[h]. Whoever made the score need not be trusted: a bad one
gives a small bound, never a wrong one. The two means are bounded by betting against them with stakes chosen beforehand.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array

_SIDES = 2  # a bound rests on two means, each of which may fail with half the risk
_ROOM = 1e-9  # of the logarithm of a fortune: more than rounding adds up to
_STEPS = 80
_NOTHING = 1e-100  # a mean below which products underflow: no bound is worth the trouble
_SHARES = np.array([0.15, 0.25, 0.4, 0.2])  # of the money
_TIMES = np.array([1 / 9, 1 / 3, 1.0, 3.0])  # multiples of the stake that each share is bet at
_MOST_STAKE = 0.98


@dataclass(frozen=True)
class Wager:
    """How a score becomes h: its exponential, flattened above `top`; or the event that it reaches `top`.

    `order` is the order at which the bound is taken, α or less: D never falls as the order grows. `stakes` are how
    boldly to bet on the two means.
    """

    order: float
    top: float
    is_event: bool
    stakes: tuple[float, float] = (0.5, 0.5)

    def means(self, scores: Array) -> tuple[Array, Array]:
        """h^{order−1} and h^order, between 0 and 1; at infinite order h and h."""
        with np.errstate(under="ignore"):
            if self.is_event:
                event = (scores >= self.top).astype(np.float64)
                return event, event
            gap = np.minimum(scores - self.top, 0.0)
            if math.isinf(self.order):
                return np.exp(gap), np.exp(gap)
            return np.exp((self.order - 1) * gap), np.exp(self.order * gap)

    def divergence(self, below: float, above: float) -> float:
        """The bound that follows from E_P ≥ `below` and E_Q ≤ `above`; 0 where it says nothing."""
        if below <= 0 or above <= 0:
            return 0.0
        weight = 1.0 if math.isinf(self.order) else self.order / (self.order - 1)
        return max(0.0, weight * math.log(below) - math.log(above))


def lower_bound(wager: Wager, first: Array, second: Array, *, risk: float) -> float:
    """A number that D_α of the first law from the second exceeds, but for a probability of `risk` at most.

    `first` and `second` are scores of rows that had no part in choosing the wager.
    """
    if not len(first) or not len(second):
        return 0.0
    ups, downs = wager.means(first)[0], wager.means(second)[1]
    below = mean_at_least(ups, risk=risk / _SIDES, stake=wager.stakes[0])
    above = 1.0 - mean_at_least(1.0 - downs, risk=risk / _SIDES, stake=wager.stakes[1])
    return wager.divergence(below, above)


def mean_at_least(values: Array, *, risk: float, stake: float) -> float:
    """A lower bound on the mean of independent values in [0, 1], wrong with a probability of `risk` at most.

    Were the mean m or less, a fortune Π(1 + c(x/m − 1)) would be 1 at most on average, for any stake 0 < c < 1 fixed
    before; so by Markov's inequality it passes 1/risk with a probability of `risk` at most. The bound is the least m
    that is not refuted so. The values need not have one law: the bound is then on the average of their means, and
    also where they are drawn without replacement (Maclaurin's inequality).
    """
    distinct, times = np.unique(values, return_counts=True)
    counts = times.astype(np.float64)
    mean = float(distinct @ counts) / len(values)
    goal = math.log(1 / risk) + _ROOM
    if mean < _NOTHING:
        return 0.0
    # The fortune falls as m grows, and is 1 at most at the mean itself: bisection between there and nothing.
    low, high = mean * 1e-9, mean
    if _fortune(low, distinct, counts, stake) < goal:
        return 0.0
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        if _fortune(middle, distinct, counts, stake) >= goal:
            low = middle
        else:
            high = middle
    return low


def _fortune(m: float, distinct: Array, counts: Array, stake: float) -> float:
    """The logarithm of what a player has who divides the money among four stakes."""
    stakes = np.minimum(stake * _TIMES, _MOST_STAKE)
    logs = np.log(_SHARES) + np.log1p(stakes[:, None] * (distinct / m - 1.0)) @ counts
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def best_wager(first: Array, second: Array, *, alpha: float, risk: float, rows: tuple[int, int]) -> tuple[Wager, float]:
    """The wager that guarantees most for a test on `rows` further rows, judged by rows kept for this choice.

    What it guarantees is a guess, and nothing rests on it.
    """
    best, most = Wager(alpha, 0.0, is_event=True), -math.inf
    for wager in _candidates(first, second, alpha):
        ups, downs = wager.means(first)[0], wager.means(second)[1]
        below, bold = _expected(ups, rows[0], risk / _SIDES)
        above, shy = _expected(1.0 - downs, rows[1], risk / _SIDES)
        promised = wager.divergence(below, 1.0 - above)
        if promised > most:
            best, most = Wager(wager.order, wager.top, wager.is_event, (bold, shy)), promised
    return best, most


def _candidates(first: Array, second: Array, alpha: float) -> Iterator[Wager]:
    scores = np.concatenate(
        [np.quantile(part, (0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 1.0)) for part in (first, second)]
    )
    tops = np.unique(np.round(scores, 2)).tolist()
    orders = [order for order in (1.5, 2.0, 4.0) if order < alpha] + [alpha]
    for top in tops:
        yield Wager(alpha, top, is_event=True)
        for order in orders:
            yield Wager(order, top, is_event=False)


def _expected(values: Array, rows: int, risk: float) -> tuple[float, float]:
    """About what `mean_at_least` will say of `rows` values like these, and the stake at which it says most."""
    seen = len(values)
    mean = (float(values.sum()) + 0.5) / (seen + 1.0)  # half a row of each kind: few rows show no rare event
    variance = float(values.var()) + mean * (1 - mean) / seen
    doubt = math.log(1 / risk) + 1.0
    gap = math.sqrt(2 * variance * doubt / rows) + doubt / (3 * rows)
    least = max(mean - gap, 0.02 * mean)
    gain = mean - least
    stake = least * gain / (variance + gain * gain) if gain > 0 else 0.5
    return least, min(max(stake, 1e-6), _MOST_STAKE)


def share_interval(hits: int, rows: int, *, risk: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for a probability; each end fails with a probability of `risk`/2 at most.

    >>> tuple(round(end, 4) for end in share_interval(8, 10, risk=0.05))
    (0.4439, 0.9748)
    """
    from scipy.special import betainccinv, betaincinv

    if not rows:
        return 0.0, 1.0
    low = 0.0 if hits == 0 else float(betaincinv(hits, rows - hits + 1, risk / 2))
    high = 1.0 if hits == rows else float(betainccinv(hits + 1, rows - hits, risk / 2))
    return low * (1 - 1e-9), high + (1 - high) * 1e-9  # outwards, by more than the quantiles are off
