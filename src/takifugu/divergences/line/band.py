"""A bound on the divergence of any two laws in two bands, after noise: envelopes of the published densities.

On each half of a step the densities' largest and smallest value belong to one law each, the same on the whole half
(proofs/band.md). So the envelopes are mixtures, piece by piece, and the bound is a sum of smooth integrals.
"""

import math
from bisect import bisect_left
from functools import lru_cache
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.laws.band import Band

_NODES = 12  # of the Gauss–Legendre rule on each part of a half step
_PART = 0.75  # standard deviations that one part may span
_REACH = 40.0  # standard deviations beyond the outermost points
_BLOCK = 1 << 22


def largest_laws(band: Band) -> Array:
    """For each half step, the law in the band with the largest density there: masses, one law a row."""
    size = len(band.lower) + 1
    upto = np.ones((2 * (size - 1), size))
    for half in range(2 * (size - 1)):
        nearest = (half + 1) // 2
        upto[half, :-1] = np.where(np.arange(size - 1) < nearest, band.lower, band.upper)
    return np.diff(upto, axis=1, prepend=0.0)


def smallest_laws(band: Band) -> Array:
    """For each half step, the law in the band with the smallest density there: masses, one law a row."""
    size = len(band.lower) + 1
    upto = np.ones((2 * (size - 1), size))
    for half in range(2 * (size - 1)):
        nearest = (half + 1) // 2
        level = chosen_level(band, half)
        left = np.arange(size - 1) < nearest
        upto[half, :-1] = np.where(left, np.minimum(band.upper, level), np.maximum(band.lower, level))
    return np.diff(upto, axis=1, prepend=0.0)


def chosen_level(band: Band, half: int) -> float:
    """The share of the mass that goes to the left of the half step, for the smallest density there.

    The density as a function of the level c is convex with slope E_a − E_b, where a is the point on the left that the
    next bit of mass would go to and b the one on the right that it would come from. It is least where a comes closer
    than b; which is closer does not change within a half step, so whole numbers decide and no rounding does.
    """
    last, nearest = len(band.lower), (half + 1) // 2
    upper, lower = band.upper[:nearest], band.lower[nearest:]

    def enough(level: float) -> bool:
        a = int(np.searchsorted(upper, level, side="right"))
        b = min(nearest + int(np.searchsorted(lower, level, side="right")), last)
        # Distances from the middle of the half step, in quarters of a step.
        return abs(4 * a - 2 * half - 1) <= abs(4 * b - 2 * half - 1)

    levels: list[float] = [0.0, *np.sort(np.concatenate([upper, lower])).tolist(), 1.0]
    return levels[bisect_left(levels, True, key=enough)]


class BandLoss:
    """The bound for p in one band against q in another, as a function of the noise (in steps of the lattice)."""

    def __init__(self, p: Band, q: Band) -> None:
        """Find the laws of the envelopes: they do not depend on the noise."""
        self.p, self.q = largest_laws(p), smallest_laws(q)
        self.size = self.p.shape[1]

    def bound(self, *, alpha: float, noise: float) -> float:
        """ln ∫ (p⁺)^α (q⁻)^(1−α) / (α − 1), by quadrature: a guide for the search, and no proof."""
        if noise == 0:
            return self._without_noise(alpha)
        parts = max(1, math.ceil(0.5 / (_PART * noise)))
        x, w = _rule()
        places = ((np.arange(parts)[:, None] + x) / parts).ravel()
        weights = np.tile(w, parts) / parts
        rows = len(self.p)
        logs, sizes = [], []
        block = max(1, _BLOCK // (len(places) * self.size))
        for start in range(0, rows, block):
            halves = np.arange(start, min(start + block, rows))
            t = 0.5 * (halves[:, None] + places)
            logs.append(self._log_f(halves, t, alpha, noise).ravel())
            sizes.append(np.tile(0.5 * weights, len(halves)))
        steps = math.ceil(_REACH / _PART)
        beyond = (_PART * noise * (np.arange(steps)[:, None] + x)).ravel()
        for half, t in ((0, -beyond), (rows - 1, self.size - 1 + beyond)):
            logs.append(self._log_f(np.array([half]), t[None], alpha, noise).ravel())
            sizes.append(np.tile(_PART * noise * w, steps))
        log_f, size = np.concatenate(logs), np.concatenate(sizes)
        top = float(log_f.max())
        if not math.isfinite(top):
            return math.inf
        total = float(np.exp(log_f - top) @ size)
        return max(0.0, top + math.log(total)) / (alpha - 1)

    def _log_f(self, halves: Any, t: Array, alpha: float, noise: float) -> Array:
        """The log-integrand at places t, one row per half step."""
        z = (t[:, :, None] - np.arange(self.size)) / noise
        exponents = -0.5 * z * z
        top = exponents.max(axis=2, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            bells = np.exp(exponents - top)
            log_p = np.log(np.einsum("htk,hk->ht", bells, self.p[halves]))
            log_q = np.log(np.einsum("htk,hk->ht", bells, self.q[halves]))
            found = alpha * log_p - (alpha - 1) * log_q + top[:, :, 0] - math.log(noise) - 0.5 * math.log(2 * math.pi)
        # A q⁻ that underflows is taken for nothing, and the bound for infinite: more noise, never less.
        return np.where(np.isneginf(log_p) & np.isneginf(log_q), np.inf, found)

    def _without_noise(self, alpha: float) -> float:
        halves = np.maximum(2 * np.arange(self.size) - 1, 0)
        here = np.arange(self.size)
        p, q = self.p[halves, here], self.q[halves, here]
        if (q[p > 0] <= 0).any():
            return math.inf
        total = float((p[p > 0] ** alpha * q[p > 0] ** (1 - alpha)).sum())
        return max(0.0, math.log(total)) / (alpha - 1)


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    x, w = np.polynomial.legendre.leggauss(_NODES)
    return 0.5 * (x + 1), 0.5 * w
