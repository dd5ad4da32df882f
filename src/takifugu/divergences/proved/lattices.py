"""Bells of one width on a lattice: over the leading one they are powers of a single exponential.

Values that were counted stand on a lattice, and after noise each of a hundred of them is a bell of the same width. The
k-th over the leading one is exp(a_k + n_k·r·u), n_k whole and r the same for all: a polynomial in exp(r·u), which takes
one exponential where a sum would take a hundred (proofs/certified.md). Floats stand on a lattice exactly where its step
is a sum of few powers of two, as whole numbers and quarters are; tenths do not, and are summed.
"""

import math
from typing import Any, NamedTuple

from takifugu.divergences.proved.rational import Bell

_FEWEST = 6  # bells for which a polynomial is quicker than their exponentials
_FURTHEST = 4096  # steps from end to end
_THIN = 2.0**-30  # radius of the exponent: wider balls grow in every product of a polynomial


class Lattice(NamedTuple):
    """The place of each bell as a whole number of steps, and by how much the exponent grows from one to the next."""

    positions: list[int]
    rate: Any  # step / variance, rational


def lattice_of(bells: tuple[Bell, ...]) -> Lattice | None:
    """The coarsest lattice that holds the means of bells of one variance; None where there is none worth it."""
    from flint import fmpq

    if len(bells) < _FEWEST or any(bell.variance != bells[0].variance for bell in bells):
        return None
    gaps = [bell.mean - bells[0].mean for bell in bells]
    together = math.lcm(*(int(gap.denom()) for gap in gaps))
    whole = [int(gap * together) for gap in gaps]
    step = math.gcd(*whole)
    if step == 0 or max(whole) - min(whole) > _FURTHEST * step:
        return None
    return Lattice([place // step for place in whole], fmpq(step, together) / bells[0].variance)


class Powers:
    """Σ exp(a_n + n·rate·u) over whole n, none of them 0."""

    def __init__(self, logs: dict[int, Any], rate: Any) -> None:
        """Keep the logarithms of the coefficients in balls."""
        from flint import acb, acb_poly

        self._terms = [(acb(a), acb(n * rate)) for n, a in logs.items()]
        self._rate, self._reach = rate, float(abs(rate).upper()) * max(map(abs, logs), default=0)
        self._sides = []
        for sign in (1, -1):
            most = max((sign * n for n in logs), default=0)
            if most > 0:
                coefficients = [logs[sign * n].exp() if sign * n in logs else 0 for n in range(most + 1)]
                self._sides.append((acb(sign * rate), acb_poly(coefficients)))

    def __len__(self) -> int:
        """The number of terms."""
        return len(self._terms)

    def __call__(self, u: Any) -> Any:
        """The sum in balls: as a polynomial for all but a wide ball, which each product would make wider."""
        from flint import acb

        total = acb(0)
        if float(u.rad()) * self._reach <= _THIN:
            for rate, polynomial in self._sides:
                total += polynomial((rate * u).exp())
            return total
        for a, b in self._terms:
            total += (b * u + a).exp()
        return total
