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
    w, log_w = _margin_ratio(std_p, std_q, alpha, theta, total_q)
    if math.isinf(log_w):
        return math.inf
    spread = _spread_term(std_p, std_q, total_p, total_q, log_w, alpha)
    return max(_mean_term(gap, total_q, w, log_w, alpha) + spread, 0.0)


def exact_margin(std_p: float, std_q: float, *, alpha: float, theta: float) -> Fraction:
    """S = θ² + ασ_q² − (α − 1)σ_p² with no rounding: the integral of two Gaussians converges where S > 0."""
    a, s, t, n = (Fraction(x) for x in (alpha, std_p, std_q, theta))
    return n * n + a * t * t - (a - 1) * s * s


def _margin_ratio(std_p: float, std_q: float, alpha: float, theta: float, total_q: float) -> tuple[float, float]:
    """w = S/v_q and ln w: how far the integral is from diverging, exact where a subtraction would lose digits.

    ln w is −∞ where S <= 0; w itself may be too small for a float while its logarithm is not.
    """
    r = ((std_q - std_p) / total_q) * ((std_q + std_p) / total_q)
    step = (alpha - 1.0) * r
    if step > -0.5:
        return 1.0 + step, math.log1p(step)
    n, t = Fraction(theta), Fraction(std_q)
    ratio = exact_margin(std_p, std_q, alpha=alpha, theta=theta) / (n * n + t * t)
    if ratio <= 0:
        return 0.0, -math.inf
    w = float(ratio)
    return w, math.log(w) if w > 1e-300 else math.log(ratio.numerator) - math.log(ratio.denominator)


def _mean_term(gap: float, total_q: float, w: float, log_w: float, alpha: float) -> float:
    """α gap²/(2 v_q w), through logarithms where a factor leaves the float range."""
    if gap == 0:
        return 0.0
    shift = gap / total_q
    if w > 1e-300 and 1e-150 < abs(shift) < 1e150 and alpha < 1e150:
        return 0.5 * shift * shift * (alpha / w)
    log_term = 2.0 * (math.log(abs(gap)) - math.log(total_q)) + math.log(alpha) - log_w - math.log(2.0)
    return math.exp(log_term) if log_term < 709.0 else math.inf


def _spread_term(std_p: float, std_q: float, total_p: float, total_q: float, log_w: float, alpha: float) -> float:
    """½ [ln(v_q/v_p) − ln(w)/β]: what unequal variances cost."""
    difference, addition = std_q - std_p, std_q + std_p
    if difference == 0:
        return 0.0
    nu = (difference / total_p) * (addition / total_p)
    if abs(alpha * nu) < _SERIES_BELOW:
        return 0.5 * alpha * _series(nu, alpha)
    log_ratio = math.log1p(nu) if abs(nu) < 0.5 else 2.0 * _log_quotient(total_q, total_p)
    return 0.5 * (log_ratio - log_w / (alpha - 1.0))


def _series(nu: float, alpha: float) -> float:
    """Σ_{k≥2} (−ν)^k (1 + α + … + α^{k−2})/k, which is [α ln(1+ν) − ln(1+αν)] / (α(α−1)).

    The powers of ν go with those of α, so that no order overflows: h_k = ν^{k−2}(1 + … + α^{k−2}).
    """
    terms = []
    h, power, sign = 1.0, 1.0, 1.0
    for k in range(2, _SERIES_TERMS + 2):
        terms.append(sign * h / k)
        power *= nu
        h = alpha * nu * h + power
        sign = -sign
    return nu * nu * math.fsum(terms)


def _log_quotient(a: float, b: float) -> float:
    quotient = a / b
    if 1e-300 < quotient < 1e300:
        return math.log(quotient)
    return math.log(a) - math.log(b)
