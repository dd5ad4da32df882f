"""A divergence and a mechanism of one's own: χ² on lists, and randomized response."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import takifugu as tk
from takifugu.channels import FiniteChannel
from takifugu.divergences import Decision, Enclosure, register
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.problems import Divergence, HockeyStick, Part, offer_guarantee


@dataclass(frozen=True)
class ChiSquare(Divergence):
    """Σ (p − q)²/q."""

    @property
    def words(self):
        return "the χ² divergence"

    def stated(self, value):
        return f"χ² = {value:.6g}"


@dataclass(frozen=True)
class ChiSquared(Part):
    """Between what is published under two secrets χ² is `most` at most, both ways."""

    kind: ClassVar[str] = "chi-squared"

    most: float

    def __post_init__(self):
        if not 0 < self.most < math.inf:
            raise tk.InputError(f"most must be finite, above 0, got {self.most!r}")

    @property
    def divergence(self):
        return ChiSquare()

    @property
    def budget(self):
        return self.most

    def with_epsilon(self, epsilon):
        """χ² = e^ε − 1 is what D₂ = ε is."""
        return ChiSquared(math.expm1(epsilon))

    def bound_on(self, divergence):
        """The total variation is √χ²/2 at most, by Cauchy and Schwarz; rounded up."""
        if isinstance(divergence, ChiSquare):
            return self.most
        if isinstance(divergence, HockeyStick) and divergence.epsilon >= 0:
            return min(1.0, math.sqrt(self.most) / 2 * (1 + 1e-12))
        return math.inf

    def best_guess(self):
        return 0.5 + self.bound_on(HockeyStick(0.0)) / 2

    def odds_factor(self, chance):
        """The mean of p/q under p is 1 + χ², so Markov's inequality holds it."""
        return (1 + self.most) / chance * (1 + 1e-12)

    def __str__(self):
        return f"a χ² of {self.most:g}"


def value(p, q, divergence, channel):
    """In floats: `apply` is the law that is published."""
    first, second = channel.apply(p).probabilities, channel.apply(q).probabilities
    return (
        math.inf
        if (first[second == 0] > 0).any()
        else float((((first - second) ** 2)[second > 0] / second[second > 0]).sum())
    )


def decide(p, q, divergence, budget, channel, effort=None):
    """In rational numbers: `published` is the law that is published, exactly."""
    first, second = channel.published(p), channel.published(q)
    total = Fraction(0)
    for a, b in zip(first.numerators, second.numerators, strict=True):
        x, y = Fraction(a, first.denominator), Fraction(b, second.denominator)
        if x and not y:
            return Decision(False, Enclosure(budget, math.inf), "refuted: infinite")
        total += (x - y) ** 2 / y if y else 0
    if total <= Fraction(budget):
        return Decision(True, Enclosure(0.0, budget), f"proved: within {budget!r}")
    return Decision(False, Enclosure(budget, math.inf), f"refuted: above {budget!r}")


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """Each value, or by the least chance any of the list, in steps of 2^−bits."""

    name: ClassVar[str] = "randomized-response"
    label: ClassVar[str] = "Randomized response"
    summary: ClassVar[str] = "the truth, or any value of the list with the least chance"

    bits: int = 24

    def require(self, asked):
        """Whatever is known after a channel between values is looked at."""

    def find(self, problem, asked):
        if problem.space != "values":
            raise tk.MechanismError(f"{self.name!r} is for values from a list")
        laws = [law for k in range(len(problem.beliefs)) for law in problem.laws(k)]
        values = tuple(dict.fromkeys(value for law in laws for value in law.values))

        def channel(other):
            stays = 2**self.bits - other * len(values)
            rows = [[other + stays * (a == b) for b in values] for a in values]
            return FiniteChannel(values, values, rows)

        def is_enough(other):
            return all(
                channel(other)
                .decide(*problem.ends(place), part.divergence, part.budget)
                .holds
                for place in problem.places()
                for part in asked.parts
            )

        low, high = -1, 2**self.bits // len(values)
        if not is_enough(high):
            raise tk.NoAnswerError(f"no chance in steps of 2^-{self.bits} is enough")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return Found(channel(high))


register("values", ChiSquare, value, decide)
offer_guarantee(ChiSquared)


if __name__ == "__main__":
    answers = {
        "ill": tk.Finite(["no", "yes"], [3, 7]),
        "healthy": tk.Finite(["no", "yes"], [7, 3]),
    }
    for asked in (ChiSquared(0.2), ChiSquared(0.2) & tk.Odds(1.5)):
        calibration = tk.calibrate(answers, asked, mechanism=RandomizedResponse())
        print(calibration)
        print(tk.certify(calibration).claim)
    published = tk.release(["no", "yes"], calibration, ledger="answers.ledger")
    print(f"{len(published)} answers published")
