"""The Rényi divergence of two mixtures with densities, by adaptive Gauss–Kronrod quadrature in logarithms.

Panels are laid where the skeleton shows mass (skeleton.py) and halved until the error estimate is negligible. The
claim to accuracy is tested against ball arithmetic; what float64 cannot resolve is refused, never guessed.
"""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.envelope import Indices, Parabolas
from takifugu.divergences.line.excess import log_weighted_excess
from takifugu.divergences.line.gaussian import exact_margin
from takifugu.divergences.line.kronrod import GAUSS_WEIGHTS, KRONROD_WEIGHTS, NODES
from takifugu.divergences.line.relative import relative
from takifugu.divergences.line.skeleton import Side, Skeleton, build_skeleton, panel_edges
from takifugu.divergences.line.split import Split, exact_sum

_TOLERANCE = 1e-14  # of the whole integral, per panel
_ABSOLUTE = 1e-20  # the same next to a mass of one: below it lies the rounding of the densities
_ROUNDS = 50
_MOST_PANELS = 20_000  # what takes more is rounding, which no panel is small enough for
_BLOCK = 1 << 19  # exponentials at a time
_LEAST = 32  # panels at a time, of whose hundreds of components mostly few are near
_MANY = 24  # components from which it pays to look for those that are near
_NOTHING = 80.0  # e^-80 is no digit of a sum above 1, however many are added
_FINEST = 1e-7  # a component narrower than this share of the distances around it needs more than float64


class UnresolvedError(ArithmeticError):
    """Float64 quadrature cannot vouch for its digits here."""


def log_integral(p: Side, q: Side, *, alpha: float, theta: float) -> float:
    """ln ∫ q·excess(ln p/q), see excess.py; `math.inf` where it diverges.

    Raises `UnresolvedError` where float64 cannot resolve the integrand.
    """
    if not converges(p, q, alpha=alpha, theta=theta):
        return math.inf
    spread = max(float(np.ptp(np.concatenate([p.means, q.means]))), p.stds.max(), q.stds.max())
    if min(p.stds.min(), q.stds.min()) < _FINEST * spread:
        raise UnresolvedError
    origin = float(p.means[p.weights.argmax()])
    scale = 2.0 ** -math.frexp(max(p.stds.max(), q.stds.max()))[1]
    p, q = p.moved(origin, scale), q.moved(origin, scale)
    f, g = (Parabolas.of(side.weights, side.means, side.stds, side.bare, side.lows) for side in (p, q))
    skeleton = build_skeleton(p, q, f, g, alpha=alpha, theta=theta * scale)
    edges = panel_edges(skeleton, f, g, alpha=alpha)
    return _integrate(edges, skeleton, f, g, alpha)


def converges(p: Side, q: Side, *, alpha: float, theta: float) -> bool:
    """Whether ∫ p^α q^{1−α} is finite, decided exactly from the widest components (proofs/mixture.md)."""
    widest_p, widest_q = float(p.bare.max()), float(q.bare.max())
    margin = exact_margin(widest_p, widest_q, alpha=alpha, theta=theta)
    if margin != 0:
        return margin > 0
    means_p, means_q = p.means[p.bare == widest_p], q.means[q.bare == widest_q]
    return bool(means_p.max() < means_q.max() and means_p.min() > means_q.min())


def _integrate(edges: Array, skeleton: Skeleton, f: Parabolas, g: Parabolas, alpha: float) -> float:
    left, right = edges[:-1], edges[1:]
    done: list[Array] = []
    pending = 0
    for _ in range(_ROUNDS):
        half = 0.5 * (right - left)
        # Neighbouring panels must meet: a middle rounded to a float far from 0 would leave gaps between them.
        middle, low = exact_sum(left, half)
        value, error = _panels(Split(middle, low), half, skeleton, f, g, alpha)
        everything = np.concatenate([*done, value])
        top = everything.max()
        if np.isneginf(top):
            return -math.inf
        total = top + math.log(np.exp(everything - top).sum())
        rough = error > max(total + math.log(_TOLERANCE), math.log(_ABSOLUTE))
        rough &= (middle > left) & (middle < right)  # two floats with none between them cannot be told apart
        if not rough.any():
            return float(total)
        done.append(value[~rough])
        pending = sum(len(d) for d in done) + 2 * int(rough.sum())
        if pending > _MOST_PANELS:
            break
        left, right = (
            np.concatenate([left[rough], middle[rough]]),
            np.concatenate([middle[rough], right[rough]]),
        )
    raise UnresolvedError


def _panels(
    middle: Split, half: Array, skeleton: Skeleton, f: Parabolas, g: Parabolas, alpha: float
) -> tuple[Array, Array]:
    """The logarithm of the integral over each panel and of its error."""
    size = max(_LEAST, _BLOCK // (len(NODES) * (len(f.means) + len(g.means))))
    logs = np.concatenate(
        [
            _log_integrand(Split(*(x[i : i + size] for x in middle)), half[i : i + size], skeleton, f, g, alpha)
            for i in range(0, len(half), size)
        ]
    )
    top = logs.max(axis=1)
    with np.errstate(all="ignore"):
        height = np.exp(logs - np.where(np.isfinite(top), top, 0.0)[:, None])
        kronrod, gauss = height @ KRONROD_WEIGHTS, height @ GAUSS_WEIGHTS
        # QUADPACK's reading of the difference of the two rules
        variation = np.abs(height - 0.5 * kronrod[:, None]) @ KRONROD_WEIGHTS
        error = variation * np.minimum(1.0, (200 * np.abs(kronrod - gauss) / variation) ** 1.5)
        error = np.where(variation > 0, error, 0.0)
        return np.log(kronrod) + np.log(half) + top, np.log(error) + np.log(half) + top


def _log_integrand(middle: Split, half: Array, skeleton: Skeleton, f: Parabolas, g: Parabolas, alpha: float) -> Array:
    """ln(q·excess(ln p/q)) at the nodes of each panel.

    Everything is told relative to the two components that own the panel, by quadratics around its middle: far out the
    logarithms themselves are huge, and their differences would be rounding and little else.
    """
    offsets = half[:, None] * NODES
    segment = np.searchsorted(skeleton.left[1:], middle.high)
    k, l = skeleton.p_owner[segment], skeleton.q_owner[segment]
    over_p, over_q = (_above_owner(middle, half, offsets, *side) for side in ((f, k), (g, l)))
    t = middle.minus(skeleton.origin[segment], skeleton.low[segment])[:, None] + offsets
    power = skeleton.height[segment][:, None] - t * (
        skeleton.slope[segment][:, None] + 0.5 * skeleton.curvature[segment][:, None] * t
    )
    ratio = relative(f, k[:, None], g, l[:, None], _column(middle)).at(offsets)
    z = (middle.minus(g.means[l], g.lows[l])[:, None] + offsets) / g.stds[l][:, None]
    log_q = g.heights[l][:, None] - 0.5 * z * z + over_q
    return log_weighted_excess(ratio + over_p - over_q, log_q, power + alpha * over_p - (alpha - 1.0) * over_q, alpha)


def _above_owner(middle: Split, half: Array, offsets: Array, curves: Parabolas, owner: Indices) -> Array:
    """ln of the density over that of its component `owner`, at middle + offsets."""
    if len(curves.means) == 1:
        return np.zeros_like(offsets)
    curve = relative(curves, _near(middle, half, curves, owner)[None, :], curves, owner[:, None], _column(middle))
    # constant + u·(linear + square·u), in place: half of the time went into making room for what lies between
    logs = curve.square[:, None, :] * offsets[:, :, None]
    logs += curve.linear[:, None, :]
    logs *= offsets[:, :, None]
    logs += curve.constant[:, None, :]
    top = logs.max(axis=2)
    logs -= top[:, :, None]
    above: Array = top + np.log(np.exp(logs, out=logs).sum(axis=2))
    return above


def _near(middle: Split, half: Array, curves: Parabolas, owner: Indices) -> Indices:
    """The components that are anything beside the owner on one of these panels: among hundreds of points, a few.

    The others are below e^-80 of it, so that all of them together are no digit of the sum.
    """
    if len(curves.means) < _MANY:
        return np.arange(len(curves.means))
    away = np.abs(middle.high[:, None] - curves.means)
    nearest = np.maximum(away - half[:, None], 0.0) / curves.stds
    most = curves.heights - 0.5 * nearest * nearest
    farthest = (away[np.arange(len(owner)), owner] + half) / curves.stds[owner]
    lost = 0.5 * farthest * farthest
    # Far out both are huge, and so is the rounding of each.
    least = curves.heights[owner] - lost - _NOTHING - 1e-12 * lost
    near: Indices = np.flatnonzero((most >= least[:, None]).any(axis=0))
    return near


def _column(middle: Split) -> Split:
    return Split(middle.high[:, None], middle.low[:, None])
