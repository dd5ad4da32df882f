"""Mixtures as exact rational numbers: what a proof starts from.

A float is a fraction with a power of two below it, so weights, means and variances after noise are
known exactly, and so is every comparison that decides whether a divergence is finite.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from takifugu.laws.mixture import Mixture


@dataclass(frozen=True, slots=True)
class Bell:
    """One normal component: its weight in the whole, its mean and its variance, all rational."""

    weight: Any
    mean: Any
    variance: Any


@dataclass(frozen=True, slots=True)
class ExactMixture:
    """Point masses (value to weight) and bells; all weights together sum to one exactly."""

    atoms: dict[Any, Any]
    bells: tuple[Bell, ...]

    @classmethod
    def after_noise(cls, mixture: Mixture, theta: float) -> "ExactMixture":
        """The mixture plus N(0, theta²), weights divided by their exact sum, equal components merged."""
        noise = fraction(theta) ** 2
        # Floats are equal, and in order, as the numbers they stand for are, and are compared in far less time.
        weights: defaultdict[tuple[float, float], Any] = defaultdict(lambda: fraction(0.0))
        lists = (mixture.weights.tolist(), mixture.means.tolist(), mixture.stds.tolist())
        for weight, mean, std in zip(*lists, strict=True):
            if weight > 0:
                weights[mean, std] += fraction(weight)
        total = sum(weights.values(), fraction(0.0))
        parts = [
            (fraction(mean), fraction(std) ** 2 + noise, weights[mean, std] / total) for mean, std in sorted(weights)
        ]
        return cls(
            {mean: weight for mean, variance, weight in parts if variance == 0},
            tuple(Bell(weight, mean, variance) for mean, variance, weight in parts if variance != 0),
        )


def fraction(number: float) -> Any:
    """The float as a rational number, exactly."""
    from flint import fmpq

    return fmpq(*float(number).as_integer_ratio())


def mirrored(bells: tuple[Bell, ...]) -> tuple[Bell, ...]:
    """The bells seen from the other end of the line."""
    return tuple(Bell(bell.weight, -bell.mean, bell.variance) for bell in bells)


def widest(bells: tuple[Bell, ...]) -> Bell:
    """The bell that outweighs all others far to the right: the widest, and of those the rightmost."""
    return max(bells, key=lambda bell: (bell.variance, bell.mean))


def converges(p: tuple[Bell, ...], q: tuple[Bell, ...], alpha: Any) -> bool:
    """Whether ∫ p^α q^(1-α) is finite, decided without rounding (proofs/certified.md, lemma 1)."""
    right_p, right_q = widest(p), widest(q)
    margin = alpha * right_q.variance - (alpha - 1) * right_p.variance
    if margin != 0:
        return bool(margin > 0)
    # The squares cancel and what is left is exp(linear): both ends must slope down.
    left_p, left_q = widest(mirrored(p)), widest(mirrored(q))
    return bool(right_p.mean < right_q.mean and left_p.mean < left_q.mean)
