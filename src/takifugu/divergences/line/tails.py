"""What lies beyond a grid: a bound on ∫ p^α q^{1−α} from its end on, for all pairs at once (proofs/exact.md)."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from takifugu._validation import Array

if TYPE_CHECKING:
    from takifugu.divergences.line.many_mixtures import Components

_SURE = 1e-9  # the share of its terms that a difference is lowered by,
_ROUNDING = 2.0**-50  # or this one, of distances measured in the narrowest component


class _Fall(NamedTuple):
    """A density at least (or at most) exp(log − slope·t − ½·curve·t²) at the distance t beyond the end of the grid."""

    log: Array
    slope: Array
    curve: Array


def log_tails(
    p: "Components",
    q: "Components",
    log_p: Array,
    log_q: Array,
    end: float,
    *,
    side: float,
    alpha: float,
    stretch: float = 0.0,
    rounding: float = 0.0,
) -> Array:
    """ln of the bound beyond `end` on one side (1 right, −1 left), infinite where there is none.

    `log_p` and `log_q` are the log-densities at the end. Each log-density falls off at least, or at most, like one
    parabola, and what is left is the integral of an exponential. To it is added what the integrand holds over a
    `stretch` if it stays as it is at the end. `rounding` is how far the components' shares in q may be off.
    """
    far = max(abs(end), np.abs(p.means).max(), np.abs(q.means).max()) / min(p.stds.min(), q.stds.min())
    beta, sure = alpha - 1.0, max(_SURE, _ROUNDING * float(far))
    above = _at_most(p, log_p, end, side)
    best = np.full((len(log_p), len(log_q)), np.inf)
    for below in (_at_least(q, log_q, end, side, rounding), _widest(q, end, side)):
        with np.errstate(all="ignore"):
            slope = alpha * above.slope[:, None] - beta * below.slope
            curve = alpha * above.curve[:, None] - beta * below.curve
            slope -= sure * (alpha * np.abs(above.slope[:, None]) + beta * np.abs(below.slope))
            curve -= sure * (alpha * above.curve[:, None] + beta * below.curve)
            falls = (slope > 0) & (curve > 0)
            bound = alpha * above.log[:, None] - beta * below.log + np.log(1.0 / slope + stretch)
        best = np.minimum(best, np.where(falls, bound, np.inf))
    return best


def _at_most(p: "Components", log_p: Array, end: float, side: float) -> _Fall:
    """p is at most its value at the end, times the slowest fall of any component."""
    there = np.isfinite(p.log_weights)
    slopes = np.where(there, side * (end - p.means) / p.stds**2, np.inf)
    curves = np.where(there, p.stds**-2.0, np.inf)
    return _Fall(log_p, slopes.min(axis=1), curves.min(axis=1))


def _at_least(q: "Components", log_q: Array, end: float, side: float, rounding: float) -> _Fall:
    """q is at least its value at the end times the mean fall, by Jensen: components count as they do at the end."""
    logs = q.log_weights - np.log(q.stds) - 0.5 * np.log(2 * np.pi) - 0.5 * ((end - q.means) / q.stds) ** 2
    with np.errstate(under="ignore"):
        shares = np.exp(logs - log_q[:, None])
    shares /= shares.sum(axis=1, keepdims=True)
    slopes, curves = side * (end - q.means) / q.stds**2, q.stds**-2.0
    slope, curve = ((shares * x).sum(axis=1) + rounding * np.ptp(x, axis=1) for x in (slopes, curves))
    return _Fall(log_q, slope, curve)


def _widest(q: "Components", end: float, side: float) -> _Fall:
    """q is at least its widest component, and of equally wide ones that nearest to this end."""
    rows = np.arange(len(q.means))
    stds = np.where(np.isfinite(q.log_weights), q.stds, 0.0)
    nearest = np.where(stds == stds.max(axis=1, keepdims=True), side * q.means, -np.inf)
    l = nearest.argmax(axis=1)
    s, gap = q.stds[rows, l], end - q.means[rows, l]
    log = q.log_weights[rows, l] - np.log(s) - 0.5 * np.log(2 * np.pi) - 0.5 * (gap / s) ** 2
    return _Fall(log, side * gap / s**2, s**-2.0)
