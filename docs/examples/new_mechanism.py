"""A mechanism of one's own: what `exact` asks for, and a margin."""

from dataclasses import dataclass
from typing import ClassVar

import takifugu as tk
from takifugu.mechanisms.base import Additive
from takifugu.mechanisms.least_noise import Exact


@dataclass(frozen=True)
class WithMargin(Additive):
    """The least noise, with its variance raised by a share of itself."""

    name: ClassVar[str] = "with-margin"
    label: ClassVar[str] = "Exact, with a margin"
    summary: ClassVar[str] = "the least noise, and a margin above it"

    margin: float = 0.1  # an option is a field

    def least_variance(self, p, q, *, alpha, epsilon, floor=0.0):
        """The variance that hides p from q; one direction, `floor` or more."""
        least = Exact().least_variance(p, q, alpha=alpha, epsilon=epsilon)
        return max(floor, (1 + self.margin) * least)


if __name__ == "__main__":
    priors = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(2, 1)}
    print(tk.calibrate(priors, alpha=2, epsilon=1))
    print(tk.calibrate(priors, alpha=2, epsilon=1, mechanism=WithMargin(margin=0.5)))
    # Too little is noticed: the exact divergence is checked, and the noise raised.
    print(tk.calibrate(priors, alpha=2, epsilon=1, mechanism=WithMargin(margin=-0.9)))
