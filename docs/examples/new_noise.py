"""A noise of one's own: logistic noise, for answers that are numbers from a list.

More of it is what less becomes when more is added. The characteristic function of
logistic noise of scale s is πst/sinh(πst); that of scale s' > s divided by it is
(s'/s)·sinh(πst)/sinh(πs't), which belongs to the density
sin φ/(2πs·(cosh(y/s') + cos φ)) with φ = πs/s': cosh is never below 1 > −cos φ.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import takifugu as tk
from takifugu.channels import Noise, Shape, offer_noise
from takifugu.divergences import Decision, Enclosure, register, working_precision
from takifugu.mechanisms.base import Mechanism, on_the_line
from takifugu.mechanisms.least_noise import least_noise_for, require_known
from takifugu.problems import MaxDivergence


class Logistic(Shape):
    """The size of a logistic variable: above t with probability 2/(1 + e^t)."""

    def derivatives(self, a):
        """Of ln(2/u − 1) = ln(2³² − a) − ln a with u = a·2⁻³¹."""
        rest = 2**32 - a
        value = rest.log() - a.log()
        slopes = (-1 / rest - 1 / a, 1 / a**2 - 1 / rest**2)
        return value, *slopes, -2 / rest**3 - 2 / a**3, 6 / a**4 - 6 / rest**4

    def survival(self, size):
        return 2 / (1 + size.exp())

    def quantile(self, size, known):
        return math.log(2 ** (known + 2) - (2 * size + 1)) - math.log(2 * size + 1)


@dataclass(frozen=True)
class LogisticNoise(Noise):
    """Adds an independent logistic variable of a scale to each value."""

    kind: ClassVar[str] = "logistic"
    parameter: ClassVar[str] = "scale"
    symbol: ClassVar[str] = "s"
    size_is: ClassVar[str] = "scale"
    shape: ClassVar[Shape] = Logistic()
    excess_kurtosis: ClassVar[float] = 1.2

    scale: float

    def __post_init__(self):
        if not 0 <= self.scale < math.inf:
            raise tk.InputError(f"scale must be finite, 0 or more, got {self.scale!r}")

    @property
    def size(self):
        return self.scale

    @property
    def std(self):
        return math.pi * self.scale / math.sqrt(3)

    def smoothed(self, law, beside):
        return Smoothed(law, self.scale)

    def density(self, law, at):
        return np.exp(Smoothed(law, self.scale).log_density(at))

    def below(self, gaps):
        return 0.5 + 0.5 * np.tanh(gaps / (2 * self.scale))

    def beyond(self, last, before, gap):
        """The logarithm of the density falls by 1/s a unit at most."""
        return last * math.exp(-min(gap / self.scale, 700.0))


class Smoothed:
    """A law on points after logistic noise, in floats."""

    points: ClassVar[dict] = {}

    def __init__(self, law, scale):
        if not law.is_discrete:
            raise tk.InputError("logistic noise is for answers from a list of numbers")
        simple = law.simplified()
        self.means, self.scale = simple.means, scale
        self.weights = simple.weights / math.fsum(simple.weights)
        reach = scale * np.linspace(-40, 40, 801)
        self.places = np.unique(self.means[:, None] + reach)

    def log_density(self, y):
        """ln Σ w/4s·cosh²((y − x)/2s), without leaving the range of floats."""
        z = np.abs(np.asarray(y)[..., None] - self.means) / self.scale
        each = np.log(self.weights / self.scale) - z - 2 * np.log1p(np.exp(-z))
        return np.logaddexp.reduce(each, axis=-1)

    def mass(self, a, c):
        low, high = ((end - self.means) / (2 * self.scale) for end in (a, c))
        return float(self.weights @ (np.tanh(high) - np.tanh(low)) / 2)


def odds(p, q, divergence, noise):
    """The largest ln p/q, in floats: on a grid, and on finer ones at its best."""
    first, second = Smoothed(p, noise.scale), Smoothed(q, noise.scale)

    def ratio(y):
        return first.log_density(y) - second.log_density(y)

    at = np.union1d(first.places, second.places)
    found = ratio(at)
    for k in np.argsort(-found)[:3]:
        y, step = at[k], noise.scale / 10
        for _ in range(9):
            near = y + step * np.linspace(-1, 1, 41)
            y, step = near[np.argmax(ratio(near))], step / 10
        found = np.append(found, ratio(np.array([y])))
    return max(0.0, float(found.max()))


def decide_odds(p, q, divergence, budget, noise, effort=None):
    """Whether p ≤ e^ε·q: whether a polynomial in t = e^(y/s) is 0 or more for t > 0.

    With a = e^(x/s) the density after the noise is (t/s)·Σ w·a/(a + t)². So e^ε·q − p
    has the sign of Σᵢ (e^ε·qᵢ − pᵢ)·aᵢ·Πⱼ (aⱼ + t)², j ≠ i. On an interval that is 0 or
    more where all its coefficients in Bernstein's form are.
    """
    from flint import arb, arb_poly, fmpq

    for law in (p, q):
        if not law.is_discrete:
            raise tk.InputError("logistic noise is for answers from a list of numbers")
    simple = (p.simplified(), q.simplified())  # no point stands twice
    laws = [
        dict(zip(law.means.tolist(), law.weights.tolist(), strict=True))
        for law in simple
    ]
    places = sorted({x for law in laws for x in law})
    middle, exact = (places[0] + places[-1]) / 2, lambda x: fmpq(*x.as_integer_ratio())
    width = (places[-1] - places[0]) / noise.scale
    with working_precision(int(512 + 40 * len(places) + 12 * len(places) * width)):
        factor = arb(exact(budget)).exp()
        p_sum, q_sum = (sum(map(exact, law.values()), fmpq(0)) for law in laws)
        total = arb_poly([0])
        a = {
            x: (arb(exact(x) - exact(middle)) / exact(noise.scale)).exp()
            for x in places
        }
        for x in places:
            mine, others = (exact(law.get(x, 0.0)) for law in laws)
            term = arb_poly([(factor * (others / q_sum) - mine / p_sum) * a[x]])
            for other in places:
                term = term * arb_poly([a[other], 1]) ** 2 if other != x else term
            total += term
        halves = [total, arb_poly(total.coeffs()[::-1])]  # t from 0 to 1, and 1/t
        waiting = [(half, arb(0), arb(1)) for half in halves]
        for _ in range(2_000):
            if not waiting:
                return Decision(
                    True, Enclosure(0.0, budget), f"proved: within {budget!r}"
                )
            form, low, high = waiting.pop()
            part = form(arb_poly([low, high - low]))
            bernstein = arb_poly(part.coeffs()[::-1])(arb_poly([1, 1])).coeffs()
            if all(c >= 0 for c in bernstein):
                continue
            half = (low + high) / 2
            if form(half) < 0:
                return Decision(
                    False, Enclosure(budget, math.inf), f"refuted: above {budget!r}"
                )
            waiting += [(form, low, half), (form, half, high)]
    return Decision(None, Enclosure(0.0, math.inf), "undecided after 2,000 intervals")


@dataclass(frozen=True)
class LeastLogistic(Mechanism):
    """The least of it that keeps a guarantee: the search that serves every family."""

    name: ClassVar[str] = "least-logistic"
    label: ClassVar[str] = "Logistic noise"
    summary: ClassVar[str] = "the least logistic noise that keeps the guarantee"

    def suited(self, problem):
        return on_the_line(problem)

    def require(self, asked):
        require_known(self.name, LogisticNoise, asked)

    def find(self, problem, asked):
        return least_noise_for(problem, asked, LogisticNoise(0.0))


register("logistic", MaxDivergence, odds, decide_odds)
offer_noise(LogisticNoise)


if __name__ == "__main__":
    visits = {
        "healthy": tk.Mixture.empirical([0, 1, 2], [5, 3, 2]),
        "ill": tk.Mixture.empirical([0, 1, 2], [2, 3, 5]),
    }
    calibration = tk.calibrate(visits, odds=2, mechanism=LeastLogistic())
    print(calibration)
    print(tk.certify(calibration).claim)
    published = tk.release([0, 2, 1, 1], calibration)
    print(f"{len(published)} counts published")
    laplace = tk.LaplaceNoise(tk.calibrate(visits, odds=2).channel.size)
    print(f"spread {calibration.channel.std:.3f}, Laplace noise {laplace.std:.3f}")
