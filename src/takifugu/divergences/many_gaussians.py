"""The divergence of many pairs of Gaussians at once, rounded towards more loss.

Two readings of the same formula (proofs/gaussian.md): `RoughLosses` costs one logarithm a pair and dismisses most of
them; `upper_losses` keeps its digits when variances nearly agree and is used for what remains. Neither is ever below
the truth: what rounding could have taken away is put back.
"""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.envelope import Indices

_ROUNDING = 2.0**-48  # sixteen units in the last place
_SERIES_BELOW = 0.1
_SERIES_TERMS = 18


class RoughLosses:
    """The loss of pairs of Gaussians at one noise level, with all that depends on one secret computed once."""

    def __init__(self, means: Array, stds: Array, *, alpha: float, variance: float) -> None:
        """Prepare the terms of each secret; `variance` is that of the noise."""
        beta = alpha - 1.0
        total = stds * stds + variance
        scale = float(total.max())
        v = total / scale if scale > 0 else total
        with np.errstate(divide="ignore"):
            log_v = np.log(v)
        usable = np.isfinite(log_v)
        slip = _ROUNDING * alpha * (2.0 + float(np.abs(log_v[usable]).max(initial=0.0)))
        self._safe = scale > 0 and bool(usable.all()) and math.isfinite(scale) and slip < 1e-3
        self._mean = means * (math.sqrt(alpha * beta / scale) if self._safe else 1.0)
        self._lead = beta * v + _ROUNDING * alpha  # subtracted from S, so that S is never too large
        self._follow = alpha * v
        self._log_lead = -beta * log_v + slip if self._safe else v
        self._log_follow = alpha * log_v if self._safe else v
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
    """D_α for arrays of pairs, accurate to about 1e-13 and never below the truth; infinite where in doubt."""
    beta = alpha - 1.0
    with np.errstate(all="ignore"):
        total_p, total_q = np.hypot(std_p, theta), np.hypot(std_q, theta)
        difference, addition = std_q - std_p, std_q + std_p
        nu = (difference / total_p) * (addition / total_p)
        r = (difference / total_q) * (addition / total_q)
        w = 1.0 + beta * r - _ROUNDING * (1.0 + beta * np.abs(r))
        shift = gap / total_q
        mean_term = np.where(gap == 0, 0.0, 0.5 * shift * shift * (alpha / w))
        log_ratio = np.where(np.abs(nu) < 0.5, np.log1p(nu), 2.0 * np.log(total_q / total_p))
        spread = 0.5 * (log_ratio - np.log1p(w - 1.0) / beta)
        spread = np.where(np.abs(alpha * nu) < _SERIES_BELOW, 0.5 * alpha * _series(nu, alpha), spread)
        loss = (mean_term + np.where(difference == 0, 0.0, spread)) * (1 + _ROUNDING)
        same = (gap == 0) & (difference == 0)
        return np.where(same, 0.0, np.where((w > 0) & np.isfinite(loss), loss, np.inf))


def _series(nu: Array, alpha: float) -> Array:
    """Σ_{k≥2} (−ν)^k (1 + α + … + α^{k−2})/k, as in gaussian.py."""
    total, h, power = np.zeros_like(nu), np.ones_like(nu), np.ones_like(nu)
    for k in range(2, _SERIES_TERMS + 2):
        total += h / k if k % 2 == 0 else -h / k
        power *= nu
        h = alpha * nu * h + power
    return total * nu * nu
