"""A guarantee of one's own: how far apart published laws are in total variation."""

from dataclasses import dataclass
from typing import ClassVar

import takifugu as tk
from takifugu.problems import HockeyStick, Part, offer_guarantee


@dataclass(frozen=True)
class TotalVariation(Part):
    """Under two secrets an event differs in probability by `most` at most."""

    kind: ClassVar[str] = "total-variation"

    most: float

    @property
    def divergence(self):
        """The hockey stick at ε = 0, known after Gaussian and Laplace noise."""
        return HockeyStick(0.0)

    @property
    def budget(self):
        return self.most

    def with_epsilon(self, epsilon):
        return tk.Approximate(epsilon, self.most)

    def bound_on(self, divergence):
        """A hockey stick at a larger ε is smaller; of anything else nothing follows."""
        is_less = isinstance(divergence, HockeyStick) and divergence.epsilon >= 0
        return self.most if is_less else float("inf")

    def best_guess(self):
        return 0.5 + self.most / 2

    def odds_factor(self, chance):
        return float("inf")

    def __str__(self):
        return f"a total variation of {self.most:g}"


offer_guarantee(TotalVariation)  # ledgers and files can read it, in this process


if __name__ == "__main__":
    priors = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 2)}
    for noise in ("gaussian", "laplace"):
        calibration = tk.calibrate(priors, TotalVariation(0.1), noise=noise)
        print(calibration)
        print(tk.certify(calibration).claim)
    both = tk.calibrate(priors, TotalVariation(0.1) & tk.Odds(2))
    print(f"with odds within 2: {both.channel.describe()}")
