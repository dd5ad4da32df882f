"""The exact distribution of a rounded normal, cell by cell: the oracle of the sampler's tests."""

from fractions import Fraction

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2, kstwobign


class RoundedNormal:
    """P(RN64(Λ·round((x + θN)/Λ)) = y) for every y within nine deviations, made with exact fractions."""

    def __init__(self, x: float, theta: float, granularity: float) -> None:
        centre, tau = Fraction(x) / Fraction(granularity), Fraction(theta) / Fraction(granularity)
        middle, reach = round(centre), int(9 * tau) + 2
        multiples = range(middle - reach, middle + reach + 1)
        # (2k − 1 − 2·centre)/(2τ), which Python rounds once from whole numbers: fractions take ten times as long
        step, first = 2 * centre.denominator * tau.denominator, 2 * centre.numerator * tau.denominator
        below, whole = 2 * tau.numerator * centre.denominator, (*multiples, middle + reach + 1)
        edges = np.array([(k * step - step // 2 - first) / below for k in whole])
        # differences of the smaller tail keep the digits that differences near one would lose
        mass = np.where(edges[1:] > 0, ndtr(-edges[:-1]) - ndtr(-edges[1:]), ndtr(edges[1:]) - ndtr(edges[:-1]))
        up, down = granularity.as_integer_ratio()
        self.values, place = np.unique([k * up / down for k in multiples], return_inverse=True)
        self.mass = np.bincount(place, weights=mass)

    def counts(self, draws: np.ndarray) -> np.ndarray:
        """How often each value was drawn; a draw that is none of them is a failure."""
        # Mostly the values are evenly spaced, and where one stands is a division instead of a search.
        last = len(self.values) - 1
        with np.errstate(all="ignore"):  # what cannot be divided is searched for
            guess = np.rint((draws - self.values[0]) / ((self.values[-1] - self.values[0]) / last))
        place = np.clip(np.nan_to_num(guess), 0, last).astype(np.intp)
        if not np.array_equal(self.values[place], draws):
            place = np.searchsorted(self.values, draws)
            place[place == len(self.values)] = 0
        assert np.array_equal(self.values[place], draws)
        return np.bincount(place, minlength=len(self.values))

    def chi_square(self, counts: np.ndarray) -> float:
        """The p-value of Pearson's test, with neighbouring cells pooled until 20 draws are expected."""
        n = counts.sum()
        bins = np.floor(np.cumsum(self.mass) * min(n / 20, 2000)).astype(int)
        expected, seen = np.bincount(bins, self.mass) * n, np.bincount(bins, counts)
        kept = expected > 5
        statistic = ((seen - expected)[kept] ** 2 / expected[kept]).sum()
        return float(chi2.sf(statistic, kept.sum() - 1))

    def kolmogorov(self, counts: np.ndarray) -> float:
        """The p-value of Kolmogorov's test: conservative, since the distribution is discrete."""
        n = counts.sum()
        gap = np.abs(np.cumsum(counts) / n - np.cumsum(self.mass)).max()
        return float(kstwobign.sf(gap * np.sqrt(n)))
