"""The integrand of a Rényi divergence with its certain part taken out.

With r = p/q, the integral of q r^α is 1 plus the integral of q (r^α − 1 − α(r − 1)), since p and q each have mass 1.
The bracket is never negative, so nothing cancels in its integral however close p and q are. Divided by β = α − 1
it stays of order one as α falls to 1. Here L = ln r and

    excess(L) = (e^{αL} − 1 − α(e^L − 1)) / β,

and a divergence is ln(1 + βJ)/β, J the integral (for atoms, the sum) of q·excess(ln p/q). See proofs/mixture.md.
"""

import math

import numpy as np

from takifugu._validation import Array

_SERIES_BELOW = 0.1  # on α|L|; beyond, at most a factor of 20 of a rounding error is lost
_SERIES_TERMS = 14


def log_weighted_excess(L: Array, log_q: Array, log_power: Array, alpha: float) -> Array:
    """ln(q·excess(L)) for L = ln p/q, given also log_power = α ln p − (α − 1) ln q.

    All three are taken from the caller because where p and q are tiny each is known to more digits than a
    difference of their logarithms would give.
    """
    beta = alpha - 1.0
    with np.errstate(all="ignore"):
        small = alpha * np.abs(L) < _SERIES_BELOW
        above = np.where(L > 0, L, 0.0)
        below = np.where(L > 0, 0.0, L)
        # excess(L)·e^{−αL} for L > 0 and excess(L) for L < 0: no exponential here exceeds one
        high = -np.expm1(-beta * above) / beta + np.exp(-beta * above) * np.expm1(-above)
        low = np.exp(below) * np.expm1(beta * below) / beta - np.expm1(below)
        result = np.where(L > 0, log_power + np.log(high), log_q + np.log(low))
        if small.any():
            near = np.where(small, L, 0.0)
            result = np.where(small, log_q + np.log(_series(near, alpha)), result)
        return result


def from_log_integral(log_j: float, alpha: float) -> float:
    """ln(1 + βJ)/β from ln J."""
    beta = alpha - 1.0
    x = math.log(beta) + log_j
    if x > 700:
        return x / beta
    return math.log1p(math.exp(x)) / beta


def _series(L: Array, alpha: float) -> Array:
    """Σ_{k≥2} α(1 + α + … + α^{k−2}) L^k / k!, the powers of L taken with those of α."""
    total, h, power, factorial = np.zeros_like(L), np.ones_like(L), np.ones_like(L), 1.0
    for k in range(2, _SERIES_TERMS + 2):
        factorial *= k
        total += h / factorial
        power = power * L
        h = alpha * L * h + power
    return total * (alpha * L) * L
