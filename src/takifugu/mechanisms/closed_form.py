"""How much Gaussian noise is enough: in closed form for two Gaussians, and by a search that inverts any loss."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar, NamedTuple

from takifugu.errors import CalibrationError, MechanismError
from takifugu.laws import Mixture
from takifugu.mechanisms.base import Additive, at_least

# The paper's closed form for two Gaussians (Theorem 3.5).

_UP = 1 + 2**-48  # more than the rounding of the few operations below
_DOWN = 1 - 2**-48
_SMALLEST = 2.0**-1022  # a variance that had to be smaller is rounded up to this


@dataclass(frozen=True)
class ClosedForm(Additive):
    """The sufficient variance of the paper's Theorem 3.5; proofs/closed-form.md."""

    name: ClassVar[str] = "closed-form"
    label: ClassVar[str] = "The paper's closed form"
    summary: ClassVar[str] = (
        "The paper's formula for single Gaussians: sufficient, immediate, more noise than needed "
        "when the variances differ."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """θ² = (α/4ε)(a + √(a² + 8εδ²/(α−1))) − σᵢ², never below 0."""
        gap, std_p, std_q = gaussian_pair(p, q, self.name)
        return at_least(floor, closed_form(gap, std_p, std_q, alpha=alpha, epsilon=epsilon))


def closed_form(gap: float, std_p: float, std_q: float, *, alpha: float, epsilon: float) -> float:
    """Equation 6 of the paper, written so that nothing cancels and rounded up.

    With A = Δ/4ε − δ/2 and B = |δ|/√(2ε(α−1)) it is α(A + √(A² + B²)) − σᵢ².
    """
    pair = Scaled.of(gap, std_p, std_q, epsilon)
    A, B = pair.lead, abs(pair.delta) / (math.sqrt(2) * math.sqrt(epsilon) * math.sqrt(alpha - 1))
    root = math.hypot(A, B)
    total = A + root if A >= 0 else B * (B / (root - A))
    return pair.variance(alpha * total)


class Scaled(NamedTuple):
    """Two Gaussians in a unit of length in which nothing over- or underflows; what cancels is computed exactly."""

    lead: float  # Δ/4ε − δ/2, that is a/4ε in the paper's notation
    delta: float  # σ_q² − σ_p²
    std_p: float
    exponent: int

    @classmethod
    def of(cls, gap: float, std_p: float, std_q: float, epsilon: float) -> "Scaled":
        """`gap` may have been rounded once: its square is taken a little larger."""
        exponent = math.frexp(max(abs(gap), std_p, std_q))[1]
        unit = Fraction(2) ** exponent
        g, s, t = (Fraction(x) / unit for x in (gap, std_p, std_q))
        delta = t * t - s * s
        lead = g * g * (1 + Fraction(1, 2**51)) / (4 * Fraction(epsilon)) - delta / 2
        try:
            return cls(float(lead), float(delta), float(s), exponent)
        except OverflowError:  # a budget so small that no float64 noise would do
            return cls(math.inf, float(delta), float(s), exponent)

    def variance(self, total: float) -> float:
        """total − σ_p² back in the unit of the priors, rounded up and never below 0."""
        noise = total * _UP - self.std_p * self.std_p * _DOWN
        if noise <= 0:
            return 0.0
        try:
            return max(math.ldexp(noise, 2 * self.exponent), _SMALLEST)  # a NaN stays one
        except OverflowError:
            return math.inf


def gaussian_pair(p: Mixture, q: Mixture, mechanism: str) -> tuple[float, float, float]:
    """The gap of the means and the two standard deviations, or an error that says which mechanisms would do."""
    p, q = p.simplified(), q.simplified()
    for prior in (p, q):
        if len(prior) > 1:
            raise MechanismError(
                f"{mechanism!r} is for priors that are one Gaussian each, and one here has {len(prior)} "
                f"components: use 'exact' (the least noise) or 'gmm-transport' (the paper's bound for mixtures)"
            )
    return float(p.means[0] - q.means[0]), float(p.stds[0]), float(q.stds[0])


# The closed form at its best order: what is enough for a larger α is enough for α.


@dataclass(frozen=True)
class ClosedFormEnvelope(Additive):
    """The least value of the paper's closed form over all orders α' >= α; proofs/closed-form-envelope.md."""

    name: ClassVar[str] = "closed-form-envelope"
    label: ClassVar[str] = "Closed form, improved"
    summary: ClassVar[str] = (
        "The closed form taken at the order α' >= α that asks for the least noise: never more than closed-form."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The closed form at max(α, α*), or its limit for infinite order."""
        gap, std_p, std_q = gaussian_pair(p, q, self.name)
        return at_least(floor, envelope(gap, std_p, std_q, alpha=alpha, epsilon=epsilon))


def envelope(gap: float, std_p: float, std_q: float, *, alpha: float, epsilon: float) -> float:
    """min over α' >= α of the closed form: with c = √(2ε)|δ| its minimum is at α* = 1 + c/(a + c).

    Any order from α up is sound, so rounding in α* costs at most a little noise.
    """
    pair = Scaled.of(gap, std_p, std_q, epsilon)
    A, C = pair.lead, abs(pair.delta) / math.sqrt(8) / math.sqrt(epsilon)  # a/4ε and c/4ε
    if A + C > 0:
        best = max(alpha, 1 + C / (A + C))  # α where the quotient is no number
        if math.isfinite(best):
            return closed_form(gap, std_p, std_q, alpha=best, epsilon=epsilon)
    if A >= 0:
        return closed_form(gap, std_p, std_q, alpha=alpha, epsilon=epsilon)
    return pair.variance(pair.delta * (pair.delta / (-4 * A)) / epsilon)


# Inverting a loss that falls with the noise: the least noise at which it meets a budget, from above.


# Where a function of one number changes its sign: as few looks as Brent takes, without loading all of SciPy.

_MOST_STEPS = 300


def crossing(f: Callable[[float], float], low: float, high: float, *, xtol: float) -> float:
    """The upper end of an interval no longer than xtol at whose ends f has opposite signs: f(low) < 0 <= f(high).

    What is no number counts as below.

    T. R. Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function
    without using derivatives", Advances in Engineering Software 28 (1997): inverse quadratic interpolation where the
    last three points make it sure to converge, bisection elsewhere.

    >>> crossing(lambda x: x * x - 2.0, 0.0, 2.0, xtol=1e-12)  # doctest: +ELLIPSIS
    1.41421356237...
    """
    a, b = high, low
    fa, fb = f(a), f(b)
    t = 0.5
    for _ in range(_MOST_STEPS):
        x = a + t * (b - a)
        fx = f(x)
        if (fx >= 0) == (fa >= 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        width = abs(b - a)
        if width <= xtol or fa == 0:
            break
        t = 0.5
        if fc != fb:
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            if phi * phi < xi and (1 - phi) ** 2 < 1 - xi:
                t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        # Half the tolerance from either end at least, so that the interval is closed from both sides.
        least = min(0.5 * xtol / width, 0.5)
        t = min(max(t, least), 1.0 - least) if math.isfinite(t) else 0.5
    return a if fa >= 0 else b


# Inverting a bound: the least variance at which a loss that falls with the noise meets the budget.
#
# The answer is always a variance at which the loss was evaluated and found within the budget. See proofs/search.md.

_GROWTH = 4.0
_TINY = 1e-60
_HUGE = 2.0**1022
_MOST_DOUBLINGS = 1100  # doublings enough to cross the whole float64 range


def least_variance(
    loss: Callable[[float], float],
    *,
    epsilon: float,
    floor: float,
    start: float,
    unit: float = 0.0,
    rtol: float,
) -> float:
    """The least z >= floor with loss(z) <= epsilon, from above, to within rtol·(z + unit).

    `loss` must not grow with z; it may be infinite. A NaN counts as too much. The search starts `start` above the
    floor; `unit` is the variance that is there already, next to which less noise makes no difference.
    """

    loss = cache(loss)  # the ends of a bracket are asked for again by each step of the search

    def enough(z: float) -> bool:
        return loss(z) <= epsilon

    if enough(floor):
        return floor
    if epsilon < _TINY and not enough(_HUGE):  # so small that no number may do: that is seen at once, not after all
        return math.inf
    low, high = _bracket(enough, floor, start)
    if math.isinf(high):
        return high
    return _narrow(loss, enough, epsilon, low, high, rtol * (low + unit))


def _bracket(enough: Callable[[float], bool], floor: float, start: float) -> tuple[float, float]:
    """A variance that is not enough and a larger one that is."""
    low, step = floor, start if 0 < start < math.inf else max(floor, 1.0)
    for _ in range(_MOST_DOUBLINGS):
        high = floor + step
        if math.isinf(high):
            return low, math.inf
        if enough(high):
            break
        low, step = high, step * _GROWTH
    else:
        return low, math.inf
    if low > floor:
        return low, high
    while True:  # the first step was enough: come down, to start the search close
        step /= _GROWTH**2
        middle = floor + step
        if middle == floor or not enough(middle):
            return max(middle, floor), high
        high = middle


def _narrow(
    loss: Callable[[float], float],
    enough: Callable[[float], bool],
    epsilon: float,
    low: float,
    high: float,
    xtol: float,
) -> float:
    """Where 1/loss, which is close to a straight line in z, meets the budget; then up until it is enough."""

    def room(z: float) -> float:
        value = loss(z)
        if not value < math.inf:  # also catches NaN
            return -1.0
        return min(epsilon / value, 1e6) - 1.0 if value > 0 else 1e6

    xtol = max(xtol, 4 * math.ulp(high))
    z = crossing(room, low, high, xtol=xtol) if room(low) < 0 < room(high) else high
    for _ in range(_MOST_DOUBLINGS):
        if z >= high:
            return high
        if enough(z):
            return z
        z += xtol
        xtol *= 2.0
    raise CalibrationError("the search for the least noise did not settle: please report this case")
