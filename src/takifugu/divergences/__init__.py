"""The exact Rényi divergence of two priors after Gaussian noise."""

from takifugu import _validation as check
from takifugu.divergences.line.general import divergence
from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture

__all__ = ["renyi_divergence"]


def renyi_divergence(p: Mixture, q: Mixture, *, alpha: float, theta: float = 0.0) -> float:
    """D_α(X + N ‖ X' + N) for X ~ p, X' ~ q and N ~ N(0, theta²), in natural logarithms; never a bound.

    One component each has a closed formula, point masses without noise a finite sum, and everything else is
    integrated. `math.inf` is returned where the divergence is infinite, or beyond the largest float.

    >>> renyi_divergence(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=3)
    1.5
    >>> renyi_divergence(Mixture.empirical([0, 1]), Mixture.empirical([1, 2]), alpha=2)
    inf
    """
    for name, prior in (("p", p), ("q", q)):
        if not isinstance(prior, Mixture):
            raise InputError(
                f"{name} must be a Mixture, got {type(prior).__name__}: make one with Mixture.gaussian, "
                f"Mixture.empirical or Mixture.fit"
            )
    alpha, theta = check.order(alpha), check.noise(theta)
    return divergence(p, q, alpha=alpha, theta=theta)
