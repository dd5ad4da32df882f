"""The exact Rényi divergence of two laws, on the line after Gaussian noise."""

from takifugu import _validation as check
from takifugu.divergences.finite import order_or_odds
from takifugu.divergences.mixtures import divergence
from takifugu.errors import InputError
from takifugu.laws import LAWS, Finite, Mixture, VectorMixture, key


def renyi_divergence(
    p: Mixture | Finite | VectorMixture, q: Mixture | Finite | VectorMixture, *, alpha: float, theta: float = 0.0
) -> float:
    """D_α(X + N ‖ X' + N) for X ~ p, X' ~ q and N ~ N(0, theta²), in natural logarithms; never a bound.

    Of two `Mixture` laws one component each has a closed formula, point masses without noise a finite sum, and
    everything else is integrated. `math.inf` is returned where the divergence is infinite or beyond the largest float,
    and, to be on the safe side, where neither floats nor balls of thousands of bits tell how large it is: single
    components that lie more than some 1e16 widths from all others, or orders of 1e13 and more.

    Two `Finite` laws have a finite sum, and `alpha` may be `math.inf`: the logarithm of the largest ratio. Of two
    `VectorMixture` laws Gaussians have a formula and points a sum; mixtures are integrated in up to three dimensions.
    `theta` is for the line alone: a channel's `apply` puts other noise into a law.

    >>> renyi_divergence(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=3)
    1.5
    >>> renyi_divergence(Mixture.empirical([0, 1]), Mixture.empirical([1, 2]), alpha=2)
    inf
    >>> round(renyi_divergence(Finite(["a", "b"], [1, 3]), Finite(["a", "b"], [1, 1]), alpha=float("inf")), 9)
    0.405465108
    """
    for name, law in (("p", p), ("q", q)):
        if not isinstance(law, LAWS):
            raise InputError(
                f"{name} must be a Mixture, a Finite or a VectorMixture, got {type(law).__name__}: make one with "
                f"Mixture.gaussian, Mixture.empirical or Mixture.fit"
            )
    if not isinstance(p, Mixture) and check.noise(theta) != 0:
        raise InputError(f"theta is noise on the line, and these laws are of the kind {type(p).__name__}: leave it out")
    if isinstance(p, Finite) and isinstance(q, Finite):
        return _finite(p, q, order_or_odds(alpha))
    if isinstance(p, VectorMixture) and isinstance(q, VectorMixture):
        from takifugu.divergences.vectors import vector_divergence

        return vector_divergence(p, q, alpha=check.order(alpha))
    if isinstance(p, Mixture) and isinstance(q, Mixture):
        return divergence(p, q, alpha=check.order(alpha), theta=check.noise(theta))
    raise InputError(f"p is a {type(p).__name__} and q a {type(q).__name__}: describe them alike")


def _finite(p: Finite, q: Finite, alpha: float) -> float:
    """A sum over the values of either law; values are matched as they are, 1 with 1.0 and neither with "1"."""
    from takifugu.divergences.mixtures import point_divergence

    first, second = (
        {key(value): weight for value, weight in zip(law.values, law.weights.tolist(), strict=True)} for law in (p, q)
    )
    return point_divergence(first, second, alpha=alpha)
