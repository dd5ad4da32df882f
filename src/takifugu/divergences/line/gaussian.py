"""The Rényi divergence of two Gaussians after noise, to almost the last bit of a float64.

Notation of proofs/gaussian.md: p = N(μᵢ, σᵢ²), q = N(μⱼ, σⱼ²), noise of variance z = θ²; vᵢ = σᵢ² + z, vⱼ = σⱼ² + z,
β = α − 1, r = (σⱼ² − σᵢ²)/vⱼ and w = S/vⱼ = 1 + βr. Then

    D = α gap²/(2 vⱼ w) + ½ [ln(vⱼ/vᵢ) − ln(w)/β]      for w > 0, and +∞ otherwise.

The bracket is a difference of nearly equal numbers when the variances are close, and w when the integral is about
to diverge: the first is then a power series, the second is computed in exact rational arithmetic.
"""

import math
from fractions import Fraction

_SERIES_BELOW = 0.1  # on |αν|: the series then gains a digit a term
_SERIES_TERMS = 18


def gaussian_divergence(gap: float, std_p: float, std_q: float, *, alpha: float, theta: float = 0.0) -> float:
    """D_α(N(gap, std_p² + theta²) ‖ N(0, std_q² + theta²)); `math.inf` where the integral diverges.

    A value too large for a float64 is returned as `math.inf` too. Where a standard deviation and theta are both
    0 that side is a point: two points diverge by 0 or by infinity, a point and a density by infinity.

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
    """S = θ² + ασ_q² − (α − 1)σ_p² with no rounding: the integral of two Gaussians converges where S > 0."""
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
