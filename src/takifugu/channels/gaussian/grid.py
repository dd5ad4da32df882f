"""The multiples of Λ, a power of two, on which a release lands."""

import math

import numpy as np

from takifugu._validation import Array, noise, real
from takifugu.errors import InputError

_FINENESS = 10  # the default lies between θ/2¹¹ and θ/2¹⁰: rounding adds less than 10⁻⁷ of the noise's variance
_SMALLEST_EXPONENT = -1074  # every float64 is a multiple of 2^-1074


def default_granularity(theta: float) -> float:
    """The granularity of a release that names none: θ/1024, rounded down to a power of two.

    >>> default_granularity(1.0) == 1 / 1024
    True
    """
    theta = noise(theta)
    if theta == 0:
        raise InputError("theta is 0: without noise there is no granularity to choose")
    return math.ldexp(1.0, max(math.frexp(theta)[1] - 1 - _FINENESS, _SMALLEST_EXPONENT))


class Grid:
    """The multiples of one power of two."""

    def __init__(self, granularity: float) -> None:
        """Check that the granularity is a power of two; others cannot be divided by exactly."""
        number = real("granularity", granularity, "a positive power of two, such as 0.25")
        significand, exponent = math.frexp(number)
        if significand != 0.5:
            raise InputError(f"granularity must be a positive power of two, such as 0.25, got {granularity!r}")
        self.granularity = number
        self.exponent = exponent - 1
        # 1/Λ can be too large for a float64; its two factors never are.
        self._inverse = (
            math.ldexp(1.0, -(self.exponent // 2)),
            math.ldexp(1.0, self.exponent // 2 - self.exponent),
        )

    def split(self, x: Array, offset: Array, base: Array) -> None:
        """Write x as base + offset·Λ: base the nearest multiple of Λ, |offset| at most a half.

        Both are exact but for an offset below 2^-1021, whose error is less than that (`proofs/sampler.md`,
        lemma 1).
        """
        np.multiply(x, self._inverse[0], out=offset)
        offset *= self._inverse[1]
        np.rint(offset, out=base)
        offset -= base
        base *= self.granularity
        beyond = np.abs(x) >= 2.0**53 * self.granularity
        if beyond.any():  # such an x is a multiple of Λ already, and x/Λ may not be a float64
            offset[beyond] = 0.0
            base[beyond] = x[beyond]
