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
    excess = _excess_ratio(std_p, std_q, alpha, theta, total_q)
    if excess <= 0:
        return math.inf
    shift = gap / total_q
    mean_term = 0.5 * shift * shift * (alpha / excess) if shift else 0.0
    spread = _spread_term(std_p, std_q, total_p, total_q, excess, alpha)
    return max(mean_term + spread, 0.0)


def exact_margin(std_p: float, std_q: float, *, alpha: float, theta: float) -> Fraction:
    """S = θ² + ασ_q² − (α − 1)σ_p² with no rounding: the integral of two Gaussians converges where S > 0."""
    a, s, t, n = (Fraction(x) for x in (alpha, std_p, std_q, theta))
    return n * n + a * t * t - (a - 1) * s * s


def _excess_ratio(std_p: float, std_q: float, alpha: float, theta: float, total_q: float) -> float:
    """w = S/v_q: how far the integral is from diverging; exact where subtraction would lose digits."""
    r = ((std_q - std_p) / total_q) * ((std_q + std_p) / total_q)
    w = 1.0 + (alpha - 1.0) * r
    if w > 0.5:
        return w
    n, t = Fraction(theta), Fraction(std_q)
    ratio = exact_margin(std_p, std_q, alpha=alpha, theta=theta) / (n * n + t * t)
    if ratio <= 0:
        return -1.0
    return max(float(ratio), 5e-324)  # too small for a float is still positive


def _spread_term(std_p: float, std_q: float, total_p: float, total_q: float, w: float, alpha: float) -> float:
    """½ [ln(v_q/v_p) − ln(w)/β]: what unequal variances cost."""
    beta = alpha - 1.0
    difference, addition = std_q - std_p, std_q + std_p
    if difference == 0:
        return 0.0
    nu = (difference / total_p) * (addition / total_p)
    if abs(alpha * nu) < _SERIES_BELOW:
        return 0.5 * alpha * _series(nu, alpha)
    r = (difference / total_q) * (addition / total_q)
    log_ratio = math.log1p(nu) if abs(nu) < 0.5 else 2.0 * _log_quotient(total_q, total_p)
    log_w = math.log1p(beta * r) if w > 0.5 else math.log(w)
    return 0.5 * (log_ratio - log_w / beta)


def _series(nu: float, alpha: float) -> float:
    """Σ_{k≥2} (−ν)^k (1 + α + … + α^{k−2})/k, which is [α ln(1+ν) − ln(1+αν)] / (α(α−1))."""
    terms = []
    power, geometric = -nu, 0.0
    for k in range(2, _SERIES_TERMS + 2):
        geometric = geometric * alpha + 1.0
        power *= -nu
        terms.append(power * geometric / k)
    return math.fsum(terms)


def _log_quotient(a: float, b: float) -> float:
    quotient = a / b
    if 1e-300 < quotient < 1e300:
        return math.log(quotient)
    return math.log(a) - math.log(b)
