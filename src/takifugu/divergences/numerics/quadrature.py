"""The Rényi divergence of two mixtures with densities, by adaptive Gauss–Kronrod quadrature in logarithms.

Panels are laid where the skeleton shows mass (skeleton.py) and halved until the error estimate is negligible. The
claim to accuracy is tested against ball arithmetic; what float64 cannot resolve is refused, never guessed.
"""

import math
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.gaussians import exact_margin
from takifugu.divergences.numerics.envelope import (
    Envelope,
    Indices,
    Parabolas,
    Split,
    exact_sum,
    log_weighted_excess,
    owners_at,
    relative,
    roots,
    upper_envelope,
)

# The 10-point Gauss and 21-point Kronrod rules on [−1, 1] (QUADPACK, qk21).

_ABSCISSAE = (
    0.995657163025808080735527280689003,
    0.973906528517171720077964012084452,
    0.930157491355708226001207180059508,
    0.865063366688984510732096688423493,
    0.780817726586416897063717578345042,
    0.679409568299024406234327365114874,
    0.562757134668604683339000099272694,
    0.433395394129247190799265943165784,
    0.294392862701460198131126603103866,
    0.14887433898163121088482600112972,
)
_KRONROD = (
    0.011694638867371874278064396062192,
    0.03255816230796472747881897245939,
    0.05475589657435199603138130024458,
    0.07503967481091995276704314091619,
    0.093125454583697605535065465083366,
    0.109387158802297641899210590325805,
    0.123491976262065851077958109585166,
    0.134709217311473325928054001771707,
    0.142775938577060080797094273138717,
    0.147739104901338491374841515972068,
)
_KRONROD_CENTRE = 0.149445554002916905664936468389821
_GAUSS = (
    0.066671344308688137593568809893332,
    0.149451349150580593145863396957698,
    0.219086362515982043995534934228163,
    0.269266719309996355091226921569469,
    0.295524224714752870173815619188769,
)


def _both_sides(half: Array, centre: float, sign: int) -> Array:
    return np.concatenate([sign * half, [centre], half[::-1]])


NODES = _both_sides(np.array(_ABSCISSAE), 0.0, -1)
KRONROD_WEIGHTS = _both_sides(np.array(_KRONROD), _KRONROD_CENTRE, 1)
GAUSS_WEIGHTS = _both_sides(np.ravel([(0.0, g) for g in _GAUSS]), 0.0, 1)


# Features of an integrand that panels laid along the envelopes would step over.
#
# The envelopes tell which component dominates. Three things happen beside them: a narrow component may stand below
# the envelope and still carry mass; just beyond a crossing the component that has lost the lead fades, within a
# distance that can be far smaller than the width of the one that took it; and one that never leads adds to the one
# that does over some stretch, of which a panel next to the edge of convergence is ten thousand times as long. A
# quadrature rule refines what it sees: it is enough that each such feature has a panel of its own size.

_REACH = 9.5  # standard deviations that hold a component, to 1e-20 of it
_FADED = 46.0  # e^-46 = 1e-20
_SEEN = 8.0  # a component within a panel of this many of its standard deviations (over √α) cannot be stepped over
_SHORT = 0.25  # a stretch that is more of its panel than this is seen


def hidden_components(edges: Array, curves: Parabolas, alpha: float) -> Array:
    """The two ends of each component that is much narrower than the panel it stands in."""
    panel = np.searchsorted(edges, curves.means)
    inside = (panel > 0) & (panel < len(edges))
    width = edges[np.minimum(panel, len(edges) - 1)] - edges[np.maximum(panel - 1, 0)]
    hidden = inside & (width * math.sqrt(alpha) > _SEEN * curves.stds)
    reach = _REACH * curves.stds[hidden]
    return np.concatenate([curves.means[hidden] - reach, curves.means[hidden], curves.means[hidden] + reach])


def fading_points(left: Array, right: Array, owner: Indices, curves: Parabolas) -> Array:
    """Where, on either side of each crossing, the component below has faded; within the segment."""
    change = np.flatnonzero(owner[1:] != owner[:-1])
    cut, a, b = right[change], owner[change], owner[change + 1]
    pull = [(cut - curves.means[x]) / curves.stds[x] / curves.stds[x] for x in (a, b)]
    with np.errstate(divide="ignore"):
        reach = _FADED / np.abs(pull[0] - pull[1])
    before, after = cut - reach, cut + reach
    early, late = before > left[change], after < right[change + 1]
    return np.concatenate([cut[early | late], before[early], after[late]])


def faint_stretches(edges: Array, owner: Indices, curves: Parabolas, alpha: float) -> Array:
    """The ends of each stretch on which a component still adds to the owner of a panel, where it is a small part of it.

    The power of a sum of two is that of the larger times (1 + e^{−fall})^α: what has fallen by ln α + 46 adds nothing.
    """
    faded, width = _FADED + math.log(alpha), edges[1:] - edges[:-1]
    # Panels are mostly as long as a width or shorter, and then no stretch is short: a look at each would take long.
    long = np.flatnonzero(width * math.sqrt(alpha) > _SEEN * curves.stds.min())
    narrow = np.minimum(curves.stds, curves.stds[owner[long], None])
    row, other = np.nonzero(width[long, None] * math.sqrt(alpha) > _SEEN * narrow)
    panel = long[row]
    room, found = width[panel], []
    for sign, end in ((1.0, edges[panel]), (-1.0, edges[panel + 1])):
        # Told from the end of the panel where the stretch is: from the other one its length would be rounding.
        fall = relative(curves, other, curves, owner[panel], Split(end, np.zeros_like(end)))
        with np.errstate(all="ignore"):
            both = roots(fall.square, sign * fall.linear, fall.constant + faded).reshape(2, -1)
            inside = (both > 0) & (both < room)
            near = inside & (both < _SHORT * room)
            between = inside.all(axis=0) & (np.abs(both[0] - both[1]) < _SHORT * room)
        found.append((end + sign * both)[near | between])
    return np.concatenate(found)


# Where the integrand p^α q^{1−α} can have mass, and a quadratic that follows it there.
#
# Between two breakpoints of the envelopes one component k of p and one l of q dominate, and α ln p − (α − 1) ln q is
# within a known constant of one quadratic H. Near the edge of convergence its peak lies far outside both supports and
# its curvature is a difference of nearly equal numbers, so both are computed from the exact margin S.

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
