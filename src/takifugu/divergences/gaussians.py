"""The Rényi divergence of two Gaussians after noise, to almost the last bit of a float64.

Notation of proofs/gaussian.md: p = N(μᵢ, σᵢ²), q = N(μⱼ, σⱼ²), noise of variance z = θ²; vᵢ = σᵢ² + z, vⱼ = σⱼ² + z,
β = α − 1, r = (σⱼ² − σᵢ²)/vⱼ and w = S/vⱼ = 1 + βr. Then

    D = α gap²/(2 vⱼ w) + ½ [ln(vⱼ/vᵢ) − ln(w)/β]      for w > 0, and +∞ otherwise.

The bracket is a difference of nearly equal numbers when the variances are close, and w when the integral is about
to diverge: the first is then a power series, the second is computed in exact rational arithmetic.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.numerics.envelope import Indices

_SERIES_BELOW = 0.1  # on |αν|: the series then gains a digit a term
_SERIES_TERMS = 18


def gaussian_divergence(gap: float, std_p: float, std_q: float, *, alpha: float, theta: float = 0.0) -> float:
    """D_α(N(gap, std_p² + theta²) ‖ N(0, std_q² + theta²)); `math.inf` where the integral diverges.

    A value too large for a float64 is returned as `math.inf` too. Where a standard deviation and theta are both
    0 that side is a point: two points diverge by 0 or by infinity, a point and a density by infinity.

    With σ_p² and σ_q² the variances after noise and S = ασ_q² − (α − 1)σ_p², it is α·gap²/2S + ln(σ_q/σ_p) +
    ln(σ_q²/S)/(2(α − 1)), and infinite where S ≤ 0 (M. Gil, F. Alajaji and T. Linder, "Rényi divergence measures for
    commonly used univariate continuous distributions", 2013). The two logarithms nearly cancel where the variances are
    close, so a series takes their place there.

    Args:
        gap: the distance of the means.
        std_p: the standard deviation of the first law before noise.
        std_q: that of the second.
        alpha: the order, above 1.
        theta: the standard deviation of the noise.

    Returns:
        D_α in float64.

    >>> gaussian_divergence(1.0, 1.0, 1.0, alpha=2.0)
    1.0
    """
    total_p, total_q = math.hypot(std_p, theta), math.hypot(std_q, theta)
    if total_p == 0 or total_q == 0:
        return 0.0 if total_p == total_q and gap == 0 else math.inf
    r = ((std_q - std_p) / total_q) * ((std_q + std_p) / total_q)
    w = 1.0 + (alpha - 1.0) * r
    if w > 0.5:
        t = (gap / total_q) / math.sqrt(w)
        log_w = math.log1p((alpha - 1.0) * r)
        mean_term = 0.5 * alpha * t * t
    else:  # subtraction has lost digits, or the integral diverges
        margin = exact_margin(std_p, std_q, alpha=alpha, theta=theta)
        if margin <= 0:
            return math.inf
        log_w = _log_fraction(margin / (Fraction(theta) ** 2 + Fraction(std_q) ** 2))
        mean_term = _float_of(Fraction(alpha) * Fraction(gap) ** 2 / (2 * margin))
    return max(mean_term + _spread_term(std_p, std_q, total_p, total_q, log_w, alpha), 0.0)


def exact_margin(std_p: float, std_q: float, *, alpha: float, theta: float) -> Fraction:
    """S = θ² + ασ_q² − (α − 1)σ_p² with no rounding: the integral of two Gaussians converges where S > 0.

    Args:
        std_p: the standard deviation of the first law before noise.
        std_q: that of the second.
        alpha: the order, above 1.
        theta: the standard deviation of the noise.

    Returns:
        The margin as a fraction of the exact numbers that the floats are. Its sign decides whether a divergence is
        finite, which no rounding may.
    """
    a, s, t, n = (Fraction(x) for x in (alpha, std_p, std_q, theta))
    return n * n + a * t * t - (a - 1) * s * s


def _log_fraction(x: Fraction) -> float:
    """ln x for x > 0, however far outside the float64 range x lies."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    mantissa = float(x / 2**exponent if exponent >= 0 else x * 2**-exponent)
    return math.log(mantissa) + exponent * math.log(2)


def _float_of(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf


def _spread_term(std_p: float, std_q: float, total_p: float, total_q: float, log_w: float, alpha: float) -> float:
    """½ [ln(v_q/v_p) − ln(w)/β]: what unequal variances cost."""
    beta = alpha - 1.0
    difference, addition = std_q - std_p, std_q + std_p
    if difference == 0:
        return 0.0
    nu = (difference / total_p) * (addition / total_p)
    if abs(alpha * nu) < _SERIES_BELOW:
        return _series(nu, alpha)
    log_ratio = math.log1p(nu) if abs(nu) < 0.5 else 2.0 * _log_quotient(total_q, total_p)
    return 0.5 * (log_ratio - log_w / beta)


def _series(nu: float, alpha: float) -> float:
    """½ Σ_{k≥2} ν (αν) (−αν)^{k−2} (1 + 1/α + … + 1/α^{k−2})/k = [α ln(1+ν) − ln(1+αν)] / (2(α−1)).

    Powers of 1/α and of αν are bounded, those of α and of ν are not.
    """
    x = alpha * nu
    terms = []
    power, geometric = 1.0, 0.0
    for k in range(2, _SERIES_TERMS + 2):
        geometric = geometric / alpha + 1.0
        terms.append(power * geometric / k)
        power *= -x
    return 0.5 * nu * x * math.fsum(terms)


def _log_quotient(a: float, b: float) -> float:
    quotient = a / b
    if 1e-300 < quotient < 1e300:
        return math.log(quotient)
    return math.log(a) - math.log(b)


# The divergence of many pairs of Gaussians at once, rounded towards more loss.
#
# Two readings of the same formula (proofs/gaussian.md): `RoughLosses` costs one logarithm a pair and dismisses most
# of them; `upper_losses` keeps its digits when variances nearly agree and is used for what remains. Neither is ever
# below the truth: what rounding could have taken away is put back.

_ROUNDING = 2.0**-48  # 32 half-units in the last place: what each bound may lose, several times over
_SMALLEST, _LARGEST = 2.0**-500, 2.0**500  # between these neither a quotient nor a square leaves the float64 range


class RoughLosses:
    """The loss of pairs of Gaussians at one noise level, with all that depends on one secret computed once.

    With S' = S/(αβ), twice β times the divergence is gap²/S' − ln S' − ln αβ + α ln v_q − β ln v_p. The unit of length
    is a power of two, so that changing to it rounds nothing: means are subtracted as they were given.
    """

    def __init__(self, means: Array, stds: Array, *, alpha: float, variance: float) -> None:
        """Prepare the terms of each secret; `variance` is that of the noise."""
        beta = alpha - 1.0
        with np.errstate(over="ignore"):
            total = stds * stds + variance
        self._safe = bool(total.min() > _SMALLEST and total.max() < _LARGEST and _ROUNDING * alpha < 1e-3)
        if not self._safe:
            return
        exponent = -(-math.frexp(float(total.max()))[1] // 2)  # total <= 4^exponent
        v = np.ldexp(total, -2 * exponent)
        log_v, log_unit = np.log(v), math.log(alpha) + math.log(beta)
        slip = _ROUNDING * (alpha * (2.0 + float(np.abs(log_v).max())) + abs(math.log(beta)))
        with np.errstate(over="ignore", under="ignore"):
            self._mean = np.ldexp(means, -exponent)
            self._follow = v / beta
            self._lead = v / alpha + _ROUNDING / beta  # subtracted, so that S' is never too large
        self._log_follow = alpha * log_v
        self._log_lead = slip - log_unit - beta * log_v
        self._unit = 2.0 * beta

    def __call__(self, i: Indices, j: Indices) -> Array:
        """An upper bound on D_α of secret i against secret j; the indices broadcast."""
        if not self._safe:
            return np.full(np.broadcast_shapes(i.shape, j.shape), np.inf)
        with np.errstate(all="ignore"):
            S: Array = self._follow[j] - self._lead[i]
            loss: Array = self._mean[i] - self._mean[j]
            loss *= loss
            loss /= S
            np.log(S, out=S)  # a margin of zero or less becomes NaN or -inf here
            loss -= S
            loss += self._log_follow[j]
            loss += self._log_lead[i]
            loss *= (1 + _ROUNDING) / self._unit
        return loss


def upper_losses(gap: Array, std_p: Array, std_q: Array, *, alpha: float, theta: float) -> Array:
    """D_α for arrays of pairs, accurate to about 1e-12 and never below the truth; infinite where in doubt.

    Args:
        gap: the distance of the means of each pair.
        std_p: the standard deviations of the first laws before noise.
        std_q: those of the second laws.
        alpha: the order, above 1.
        theta: the standard deviation of the noise.

    Returns:
        One value for each pair, with more than what rounding can have taken put back.
    """
    beta = alpha - 1.0
    with np.errstate(all="ignore"):
        total_p, total_q = np.hypot(std_p, theta), np.hypot(std_q, theta)
        difference, addition = std_q - std_p, std_q + std_p
        nu = (difference / total_p) * (addition / total_p)
        r = (difference / total_q) * (addition / total_q)
        tilt = beta * r - _ROUNDING * beta * np.abs(r)  # w − 1, never too large
        w = 1.0 + tilt
        shift = gap / total_q / np.sqrt(w)
        mean_term = np.where(gap == 0, 0.0, 0.5 * alpha * shift * shift)
        log_ratio = np.where(np.abs(nu) < 0.5, np.log1p(nu), 2.0 * np.log(total_q / total_p))
        log_w = np.log1p(tilt) / beta
        # the two may nearly cancel: what is put back is a share of each, not of their difference
        spread = 0.5 * (log_ratio - log_w) + _ROUNDING * (np.abs(log_ratio) + np.abs(log_w))
        spread = np.where(np.abs(alpha * nu) < _SERIES_BELOW, spread_series(nu, alpha), spread)
        loss = (mean_term + np.where(difference == 0, 0.0, spread)) * (1 + _ROUNDING)
        same = (gap == 0) & (difference == 0)
        reliable = (
            (w > 0)
            & np.isfinite(loss)
            & (np.minimum(total_p, total_q) > _SMALLEST)
            & (np.maximum(total_p, total_q) < _LARGEST)
        )
        return np.where(same, 0.0, np.where(reliable, loss, np.inf))


def spread_series(nu: Array, alpha: float) -> Array:
    """½ Σ_{k≥2} ν (αν) (−αν)^{k−2} (1 + 1/α + … + 1/α^{k−2})/k, as in gaussian.py."""
    x = alpha * nu
    back, total = -x, np.zeros_like(nu)
    for coefficient in _series_coefficients(alpha):
        total = total * back + coefficient
    return 0.5 * total * nu * x


@lru_cache(maxsize=64)
def _series_coefficients(alpha: float) -> tuple[float, ...]:
    """Those of `spread_series`, the last first."""
    coefficients = []
    geometric = 0.0
    for k in range(2, _SERIES_TERMS + 2):
        geometric = geometric / alpha + 1.0
        coefficients.append(geometric / k)
    return tuple(reversed(coefficients))
