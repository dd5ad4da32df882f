"""Where the integrand p^α q^{1−α} can have mass, and a quadratic that follows it there.

Between two breakpoints of the envelopes one component k of p and one l of q dominate, and α ln p − (α − 1) ln q is
within a known constant of one quadratic H. Near the edge of convergence its peak lies far outside both supports and
its curvature is a difference of nearly equal numbers, so both are computed from the exact margin S.
"""

import math
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.envelope import Envelope, Indices, Parabolas, owners_at, upper_envelope
from takifugu.divergences.line.gaussian import exact_margin
from takifugu.divergences.line.narrow import fading_points, faint_stretches, hidden_components
from takifugu.divergences.line.split import exact_sum

_DROPS = (0.5, 3.0, 12.0, 40.0)  # where panels end, in units of the log-integrand below a peak
_WIDTHS = (0.0, 1.0, 3.0, 6.0, 9.5)  # the same for the densities of p and q, in standard deviations
_NEGLIGIBLE = 46.0  # e^-46 = 1e-20
_PANELS_PER_FEATURE = 2.0


class Side(NamedTuple):
    """The components of one mixture with a density: standard deviations before (`bare`) and after noise.

    Means are `means + lows`, the second zero until the line is moved.
    """

    weights: Array
    means: Array
    bare: Array
    stds: Array
    lows: Array

    def moved(self, origin: float, scale: float) -> "Side":
        """The same after y → (y − origin)·scale, `scale` a power of two: no digit of a mean is lost."""
        far = exact_sum(self.means, np.full_like(self.means, -origin))
        lows = (far.low + self.lows) * scale
        return Side(self.weights, far.high * scale, self.bare * scale, self.stds * scale, lows)


class Skeleton(NamedTuple):
    """Segment i runs from left[i] to right[i]; there H(y) = height − slope·t − ½·curvature·t².

    t = y − origin − low: a summit is known to more digits than one float has.
    """

    left: Array
    right: Array
    p_owner: Indices
    q_owner: Indices
    origin: Array
    low: Array
    height: Array
    slope: Array
    curvature: Array

    def value(self, segment: Indices, y: Array) -> Array:
        """H(y) on the given segments."""
        t = (y - self.origin[segment]) - self.low[segment]
        return self.height[segment] - t * (self.slope[segment] + 0.5 * self.curvature[segment] * t)


def build_skeleton(p: Side, q: Side, f: Parabolas, g: Parabolas, *, alpha: float, theta: float) -> Skeleton:
    """The quadratics that dominate, segment by segment; f and g are the log-densities of p and q."""
    over_p, over_q = upper_envelope(f), upper_envelope(g)
    cuts = np.unique(np.concatenate([over_p.cuts, over_q.cuts]))
    left, right = np.concatenate([[-np.inf], cuts]), np.concatenate([cuts, [np.inf]])
    k, l = _segment_owners(over_p, cuts), _segment_owners(over_q, cuts)
    beta = alpha - 1.0
    v, s = p.stds[k] ** 2, q.stds[l] ** 2
    margin = _margins(p.bare[k], q.bare[l], v, alpha, theta)
    gap = (p.means[k] - q.means[l]) + (p.lows[k] - q.lows[l])
    curvature, pull = margin / (v * s), beta * gap / s
    height = alpha * f.heights[k] - beta * g.heights[l] + 0.5 * gap * pull  # at the mean of k

    def told(y: Array) -> tuple[Array, Array]:
        """H and its fall at y, from the exact margin.

        Where two components of q are almost equally wide, segments end where each logarithm is 10¹⁷: taken as their
        difference, H was off by hundreds there, and the mass with it.
        """
        x = (y - p.means[k]) - p.lows[k]
        return height + x * (pull - 0.5 * curvature * x), curvature * x - pull

    with np.errstate(all="ignore"):
        centre, rest = exact_sum(p.means[k], beta * v * gap / margin)
        summit = alpha * f.heights[k] - beta * g.heights[l] + 0.5 * alpha * beta * gap * gap / margin
        own = (margin > 0) & (centre >= left) & (centre <= right)
        # Without a summit of its own a segment is told from the end where H is larger: there it has its mass.
        leftwards = np.isfinite(left) & ~(np.isfinite(right) & (told(right)[0] > told(left)[0]))
        origin = np.where(own, centre, np.where(leftwards, left, right))
        direct, fall = told(origin)
    low = np.where(own, rest + p.lows[k], 0.0)
    return Skeleton(left, right, k, l, origin, low, np.where(own, summit, direct), np.where(own, 0.0, fall), curvature)


def panel_edges(skeleton: Skeleton, f: Parabolas, g: Parabolas, *, alpha: float) -> Array:
    """Points that cut the line into panels on which the integrand is tame; beyond the ends it is negligible."""
    slack = alpha * math.log(len(f.means)) + (alpha - 1.0) * math.log(len(g.means)) + _NEGLIGIBLE
    segment = np.tile(np.arange(len(skeleton.left)), 3)
    anchor = np.concatenate([skeleton.left, skeleton.right, skeleton.origin])
    finite = np.isfinite(anchor)
    segment, anchor = segment[finite], anchor[finite]
    height = skeleton.value(segment, anchor)
    # all of a segment that matters somewhere: its low end may be nearer than the next drop from its high one
    matters = np.zeros(len(skeleton.left), dtype=np.bool_)
    matters[segment[height >= height.max() - slack]] = True
    high = matters[segment]
    edges = [
        anchor[high],
        _drop_points(skeleton, segment[high], anchor[high], slack),
        _bulk_points(skeleton, skeleton.p_owner, f),
        _bulk_points(skeleton, skeleton.q_owner, g),
    ]
    coarse = _thinned(np.unique(np.concatenate(edges)), skeleton, f, g, alpha)
    within = np.searchsorted(skeleton.left[1:], coarse[:-1] + 0.5 * (coarse[1:] - coarse[:-1]))
    fine = [
        *(hidden_components(coarse, curves, alpha) for curves in (f, g)),
        faint_stretches(coarse, skeleton.p_owner[within], f, alpha),
        faint_stretches(coarse, skeleton.q_owner[within], g, alpha),
        fading_points(skeleton.left, skeleton.right, skeleton.p_owner, f),
        fading_points(skeleton.left, skeleton.right, skeleton.q_owner, g),
    ]
    points = np.concatenate(fine)
    return np.unique(np.concatenate([coarse, points[(points > coarse[0]) & (points < coarse[-1])]]))


def _segment_owners(envelope: Envelope, cuts: Array) -> Indices:
    """The owner of each segment of a finer partition: that of its right end, or the last."""
    return np.append(owners_at(envelope, cuts), envelope.owners[-1])


def _margins(bare_p: Array, bare_q: Array, v: Array, alpha: float, theta: float) -> Array:
    """S = v + α(σ_q² − σ_p²), through exact rationals where it is a small difference of large numbers."""
    shift = alpha * (bare_q - bare_p) * (bare_q + bare_p)
    margin: Array = v + shift
    for i in np.flatnonzero(np.abs(margin) < 1e-2 * v):
        margin[i] = float(exact_margin(bare_p[i], bare_q[i], alpha=alpha, theta=theta))
    return margin


def _drop_points(skeleton: Skeleton, segment: Indices, anchor: Array, slack: float) -> Array:
    """Where H has fallen by each of a few amounts from an anchor, on either side, within its segment."""
    curvature = skeleton.curvature[segment][:, None]
    rise = -(skeleton.slope[segment] + (anchor - skeleton.origin[segment]) * skeleton.curvature[segment])[:, None]
    drop = np.array([*(d for d in _DROPS if d < slack), slack])
    points = []
    for direction in (-1.0, 1.0):
        g = direction * rise
        with np.errstate(all="ignore"):
            root = np.sqrt(g * g + 2 * curvature * drop)
            t = np.where(g <= 0, 2 * drop / (root - g), np.where(curvature > 0, (g + root) / curvature, np.nan))
            y = anchor[:, None] + direction * t
            inside = (y > skeleton.left[segment][:, None]) & (y < skeleton.right[segment][:, None])
        points.append(y[inside & np.isfinite(y)])
    return np.concatenate(points)


def _bulk_points(skeleton: Skeleton, owner: Indices, curves: Parabolas) -> Array:
    """Points around each component on the segments it dominates: p and q themselves are parts of the integrand."""
    steps = np.array([*(-w for w in _WIDTHS[:0:-1]), *_WIDTHS])
    y = curves.means[owner][:, None] + curves.stds[owner][:, None] * steps
    inside: Array = y[(y > skeleton.left[:, None]) & (y < skeleton.right[:, None])]
    return inside


def _thinned(edges: Array, skeleton: Skeleton, f: Parabolas, g: Parabolas, alpha: float) -> Array:
    """The edges without those that stand closer than any feature of the integrand could.

    A feature is no narrower than a component's width over √α, nor than the distance over which H changes by one:
    where two components of q cross far from p the integrand has a kink with slopes in the thousands.
    """
    width = edges[1:] - edges[:-1]
    middle = edges[:-1] + 0.5 * width
    segment = np.searchsorted(skeleton.left[1:], middle)
    std = np.minimum(f.stds[skeleton.p_owner[segment]], g.stds[skeleton.q_owner[segment]])
    slope = skeleton.slope[segment] + skeleton.curvature[segment] * (middle - skeleton.origin[segment])
    density = np.maximum(math.sqrt(alpha) / std, np.abs(slope))
    # One is enough to keep an edge. In a sum with a segment of 10²² features, all later ones would be lost to rounding.
    features = np.minimum(width * density * _PANELS_PER_FEATURE, 1.0)
    place = np.concatenate([[0.0], np.cumsum(features)])
    whole = np.floor(place)
    keep = np.ones(len(edges), dtype=np.bool_)  # the two ends in any case
    keep[1:-1] = whole[1:-1] > whole[:-2]
    return edges[keep]
