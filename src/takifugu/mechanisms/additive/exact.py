"""The least noise there is: the Rényi divergence itself, inverted."""

import math
from dataclasses import dataclass
from typing import ClassVar

from takifugu.divergences.line.general import divergence
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.closed_form import closed_form
from takifugu.mechanisms.base import Binding, Mechanism, Priors
from takifugu.mechanisms.search import least_variance
from takifugu.problems.pairs import Pairs

# The share of the budget left for rounding in the divergence itself, so that a proof in ball arithmetic succeeds.
# Searches aim for the whole of it; a pair that is only looked at may use all but a quarter.
_GAUSSIAN_MARGIN = 4e-12
_MIXTURE_MARGIN = 1e-10


@dataclass(frozen=True)
class Exact(Mechanism):
    """The least variance at which the exact divergence meets the budget; proofs/exact.md.

    Many pairs are taken together: each is evaluated at the noise found so far, and only those for which it is not
    enough are searched.
    """

    name: ClassVar[str] = "exact"
    summary: ClassVar[str] = "The least noise that meets the budget, from the exact divergence; can be certified."

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The least variance with D_α <= ε, a hair on the safe side."""
        p, q = p.simplified(), q.simplified()
        if p == q:
            return floor
        gaussian = len(p) == len(q) == 1
        target = epsilon * (1 - (_GAUSSIAN_MARGIN if gaussian else _MIXTURE_MARGIN))

        def loss(z: float) -> float:
            return divergence(p, q, alpha=alpha, theta=math.sqrt(z))

        if floor == 0 and target < loss(0.0) <= epsilon * (1 + _MIXTURE_MARGIN):
            from takifugu.divergences.proved.certified import decide

            if decide(p, q, alpha=alpha, epsilon=epsilon, theta=0.0).holds:
                return 0.0
        width = float(max(p.stds.max(), q.stds.max()))
        unit = width * width  # infinite rather than an error
        if gaussian:
            gap = float(p.means[0] - q.means[0])
            start = closed_form(gap, float(p.stds[0]), float(q.stds[0]), alpha=alpha, epsilon=epsilon)
            return least_variance(loss, epsilon=target, floor=floor, start=1.01 * start, unit=unit, rtol=1e-13)
        reach = float(max(p.means.max(), q.means.max()) - min(p.means.min(), q.means.min()))
        return least_variance(loss, epsilon=target, floor=floor, start=unit + reach * reach, unit=unit, rtol=1e-11)

    def least_variance_over(
        self, priors: Priors, pairs: Pairs, *, alpha: float, epsilon: float, floor: float = 0.0
    ) -> Binding:
        """The least variance for all pairs at once."""
        from takifugu.mechanisms.screen.gaussians import least_variance_of_gaussians
        from takifugu.mechanisms.screen.mixtures import least_variance_of_mixtures

        if all(prior.is_gaussian for prior in priors):
            together, margin = least_variance_of_gaussians, _GAUSSIAN_MARGIN
        else:
            together, margin = least_variance_of_mixtures, _MIXTURE_MARGIN
        accept = epsilon * (1 - margin / 4)
        return together(self, priors, pairs, alpha=alpha, epsilon=epsilon, accept=accept, floor=floor)
