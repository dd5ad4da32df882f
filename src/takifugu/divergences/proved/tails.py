"""What lies outside a window: a rigorous bound on the two tails of ∫ p^α q^(1-α).

With l the component of q that outweighs the others on that side, and weights that sum to at most one,
p^α q^(1-α) <= Σ_k w_k N_k^α (w_l N_l)^(1-α): each term is a bell or, on the edge of the domain, an
exponential (proofs/certified.md, lemma 2).
"""

import math
from dataclasses import dataclass
from typing import Any

from takifugu.divergences.proved.rational import Bell, widest


@dataclass(frozen=True, slots=True)
class Term:
    """exp(log_size) times exp(-curve·(y - centre)²/2), or exp(-slope·y) where there is no curve."""

    log_size: Any
    curve: Any
    centre: Any
    slope: Any


class RightTail:
    """The bound on the integral from `start` to infinity, for any start; mirror the bells for the left."""

    def __init__(self, p: tuple[Bell, ...], q: tuple[Bell, ...], alpha: Any) -> None:
        """Work out each term at the precision in force."""
        widest_of_q = widest(q)
        self.terms = [term(bell, widest_of_q, alpha) for bell in p]

    def bound(self, start: Any) -> Any:
        """A ball whose upper end bounds the tail beyond `start` (an exact ball)."""
        from flint import arb

        total = arb(0)
        for part in self.terms:
            if part.curve == 0:
                total += (part.log_size - start * part.slope).exp() / part.slope
            else:
                curve = arb(part.curve)
                reach = (start - part.centre) * (curve / 2).sqrt()
                total += part.log_size.exp() * (arb.pi() / (2 * curve)).sqrt() * reach.erfc()
        return total

    def start(self, log_target: float) -> float:
        """About where the bound falls below exp(log_target); only a guess, `bound` tells the truth."""
        from flint import arb

        share = arb(log_target - math.log(len(self.terms)))
        best = arb.neg_inf()
        for part in self.terms:
            if part.curve == 0:
                slope = arb(part.slope)
                best = best.max((part.log_size - slope.log() - share) / slope)
                continue
            curve = arb(part.curve)
            excess = part.log_size + (2 * arb.pi() / curve).log() / 2 - share
            if excess > 0:
                best = best.max(part.centre + (2 * excess / curve).sqrt())
        return float(best)


def term(bell: Bell, other: Bell, alpha: Any) -> Term:
    """One component of p over the component of q that outweighs the others."""
    from flint import arb, fmpq

    a, v, s = alpha, bell.variance, other.variance
    margin = a * s - (a - 1) * v
    heights = arb(bell.weight).log() - (arb(a) - 1) * arb(other.weight).log()
    norms = (arb(a) * _log_norm(v) - (arb(a) - 1) * _log_norm(s)) / 2
    if margin == 0:
        # -α(y-m)²/2v + (α-1)(y-n)²/2s with α/v = (α-1)/s: only the linear part is left.
        slope = a / v * (other.mean - bell.mean)
        constant = a / (2 * v) * (other.mean**2 - bell.mean**2)
        return Term(heights - norms + arb(constant), fmpq(0), fmpq(0), slope)
    curve = margin / (v * s)
    centre = (a * bell.mean * s - (a - 1) * other.mean * v) / margin
    peak = a * (a - 1) * (bell.mean - other.mean) ** 2 / (2 * margin)
    return Term(heights - norms + arb(peak), curve, centre, fmpq(0))


def _log_norm(variance: Any) -> Any:
    from flint import arb

    return (2 * arb.pi() * arb(variance)).log()
