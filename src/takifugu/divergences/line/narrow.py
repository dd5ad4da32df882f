"""Features of an integrand that panels laid along the envelopes would step over.

The envelopes tell which component dominates. Three things happen beside them: a narrow component may stand below the
envelope and still carry mass; just beyond a crossing the component that has lost the lead fades, within a distance that
can be far smaller than the width of the one that took it; and one that never leads adds to the one that does over some
stretch, of which a panel next to the edge of convergence is ten thousand times as long. A quadrature rule refines what
it sees: it is enough that each such feature has a panel of its own size.
"""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.envelope import Indices, Parabolas, roots
from takifugu.divergences.line.relative import relative
from takifugu.divergences.line.split import Split

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
