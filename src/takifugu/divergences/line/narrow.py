"""Features of an integrand that panels laid along the envelopes would step over.

The envelopes tell which component dominates. Two things happen beside them: a narrow component may stand below the
envelope and still carry mass, and just beyond a crossing the component that has lost the lead fades, within a
distance that can be far smaller than the width of the one that took it. A quadrature rule refines what it sees: it is
enough that each such feature has a panel of its own size.
"""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.envelope import Indices, Parabolas

_REACH = 9.5  # standard deviations that hold a component, to 1e-20 of it
_FADED = 46.0  # e^-46 = 1e-20
_SEEN = 8.0  # a component within a panel of this many of its standard deviations (over √α) cannot be stepped over


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
