"""The one kind of prior: a finite mixture of normals, some of which may be points."""

import math
from collections.abc import Sequence
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer, noise, real, reals, vector
from takifugu.errors import InputError
from takifugu.laws.frozen import Components
from takifugu.laws.quantiles import quantile, standardised
from takifugu.laws.weights import merge, shares

_ALL = np.array([1.0])  # the weight of a single component, shared by all that have one


class Mixture(Components):
    """A mixture of normal distributions on the line: what an adversary believes about an answer.

    One component is a Gaussian; a standard deviation of 0 makes a component a point mass. The
    distribution is that of the weights divided by their sum, so rounding in the weights never matters.
    Immutable, hashable and picklable; the arrays are read-only.

    >>> Mixture([0.25, 0.75], means=[0.0, 4.0], stds=[1.0, 2.0])
    Mixture(weights=[0.25, 0.75], means=[0.0, 4.0], stds=[1.0, 2.0])
    """

    __slots__ = ("_simple", "means", "stds")

    _lists = ("weights", "means", "stds")
    means: Array
    stds: Array
    _simple: "Mixture | None"  # None where it is this very mixture: no object should hold itself

    def __init__(self, weights: npt.ArrayLike, means: npt.ArrayLike, stds: npt.ArrayLike) -> None:
        """Validate, copy and freeze the three lists."""
        w, m, s = vector("weights", weights), vector("means", means), vector("stds", stds)
        if not len(w) == len(m) == len(s):
            raise InputError(
                f"weights, means and stds must have one entry per component, got {len(w)}, {len(m)} and {len(s)}"
            )
        if s.min() < 0:
            raise InputError(f"stds must be 0 or more, got {float(s.min())}")
        self._freeze(shares(w), m, s)

    @classmethod
    def gaussian(cls, mean: float, std: float) -> Self:
        """One normal distribution; a point mass where `std` is 0.

        >>> Mixture.gaussian(1.0, 2.0).variance
        4.0
        """
        mean = real("mean", mean, "a finite number")
        std = real("std", std, "a finite number, 0 or more")
        if std < 0:
            raise InputError(f"std must be a finite number, 0 or more, got {std!r}")
        # Not by way of __init__: a million secrets are a million Gaussians, and these three lists need no second look.
        new = object.__new__(cls)
        new._freeze(_ALL, np.array([mean + 0.0]), np.array([std + 0.0]))
        return new

    @classmethod
    def empirical(cls, values: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Self:
        """Point masses at `values`; repeated values are merged, weights (or counts) are normalised.

        >>> Mixture.empirical([3, 1, 3, 3])
        Mixture(weights=[0.25, 0.75], means=[1.0, 3.0], stds=[0.0, 0.0])
        """
        points, counts = merge(values, weights)
        return cls(counts / math.fsum(counts), points, np.zeros_like(points))

    @classmethod
    def fit(
        cls,
        values: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        *,
        max_components: int = 10,
        min_std: float | None = None,
        seed: int = 0,
    ) -> Self:
        """Fit by weighted EM, with the number of components chosen by BIC.

        See `takifugu.laws.fitting.fit.fit` for the parameters, and for a result that tells how it went.
        """
        from takifugu.laws.fitting.fit import fit

        mixture = fit(values, weights, max_components=max_components, min_std=min_std, seed=seed).mixture
        return cls(mixture.weights, mixture.means, mixture.stds)

    def __repr__(self) -> str:
        """Code that makes the mixture again while it is short, a summary where it is long."""
        if len(self) == 1:
            return f"Mixture.gaussian(mean={self.means[0]:.6g}, std={self.stds[0]:.6g})"
        if len(self) <= 6:
            lists = (f"{name}=[{', '.join(_digits(x) for x in getattr(self, name))}]" for name in self._lists)
            return f"Mixture({', '.join(lists)})"
        kind = "point masses" if self.is_discrete else "components"
        return (
            f"<Mixture of {len(self)} {kind}, means {self.means.min():.6g} to {self.means.max():.6g}, "
            f"mean {self.mean:.6g}, std {self.std:.6g}>"
        )

    @property
    def is_gaussian(self) -> bool:
        """Whether this is one normal distribution or one point."""
        return len(self.simplified()) == 1

    @property
    def is_discrete(self) -> bool:
        """Whether every component is a point mass."""
        return not self.stds.any()

    @property
    def mean(self) -> float:
        """The expectation."""
        _, exponent = math.frexp(float(np.abs(self.means).max()))
        with np.errstate(under="ignore"):
            return _ldexp(float(self._normalised() @ np.ldexp(self.means, -exponent)), exponent)

    @property
    def variance(self) -> float:
        """The variance: the spread within the components plus the spread of their means.

        `inf` where it is beyond the largest float; `std` is still right there.
        """
        square, exponent = self._spread()
        return _ldexp(square, 2 * exponent)

    @property
    def std(self) -> float:
        """The standard deviation."""
        square, exponent = self._spread()
        return _ldexp(math.sqrt(square), exponent)

    def _spread(self) -> tuple[float, int]:
        """The variance as square · 4**exponent, so that no square on the way over- or underflows."""
        w = self._normalised()
        # The heaviest mean is the origin, so that components close together far from zero lose no digits.
        # Halves of huge means, because the difference of two floats may be beyond the largest.
        half = 1 if np.abs(self.means).max() > 1e300 else 0
        m = np.ldexp(self.means, -half) - math.ldexp(float(self.means[np.argmax(w)]), -half)
        s = np.ldexp(self.stds, -half)
        exponent = math.frexp(float(max(np.abs(m).max(), s.max())))[1]
        with np.errstate(under="ignore"):
            m, s = np.ldexp(m, -exponent), np.ldexp(s, -exponent)
            return float(w @ (s**2 + (m - w @ m) ** 2)), exponent + half

    def simplified(self) -> "Mixture":
        """The same distribution with no empty component and no component twice, sorted.

        Divergences start here: an empty component must not decide whether an integral converges.
        """
        if len(self) == 1:
            return self
        try:
            simple = self._simple
        except AttributeError:  # every look at a pair asks again, so the answer is kept
            found = self._merged()
            simple = None if found is self else found
            object.__setattr__(self, "_simple", simple)
        return self if simple is None else simple

    def _merged(self) -> "Mixture":
        keep = np.flatnonzero(self.weights > 0)
        keep = keep[np.lexsort((self.stds[keep], self.means[keep]))]
        w, m, s = self.weights[keep], self.means[keep], self.stds[keep]
        first = np.ones(len(w), dtype=bool)
        first[1:] = (m[1:] != m[:-1]) | (s[1:] != s[:-1])
        if first.all():
            same = len(w) == len(self) and np.array_equal(keep, np.arange(len(w)))
            return self if same else Mixture(w, m, s)
        starts = np.flatnonzero(first)
        return Mixture(np.add.reduceat(w, starts), m[starts], s[starts])

    def with_noise(self, theta: float) -> "Mixture":
        """The distribution of X + N(0, theta²)."""
        with np.errstate(over="ignore"):  # beyond the largest float is refused like any infinite std
            return Mixture(self.weights, self.means, np.hypot(self.stds, noise(theta)))

    @overload
    def pdf(self, x: float) -> float: ...
    @overload
    def pdf(self, x: Sequence[float] | Array) -> Array: ...
    def pdf(self, x: float | Sequence[float] | Array) -> float | Array:
        """The density at `x`; an error where there is none because a component is a point.

        >>> round(Mixture.gaussian(0, 1).pdf(0.0), 6)
        0.398942
        """
        if not self.stds[self.weights > 0].all():
            raise InputError(
                "a mixture with point masses has no density: use cdf, or with_noise(theta).pdf for "
                "the density after noise"
            )
        simple = self.simplified()  # an empty component must not turn 0 · inf into NaN
        z = standardised(reals("x", x)[..., None], simple.means, simple.stds)
        with np.errstate(over="ignore", under="ignore"):
            bells = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) / simple.stds
            return _scalar(bells @ simple._normalised())

    @overload
    def cdf(self, x: float) -> float: ...
    @overload
    def cdf(self, x: Sequence[float] | Array) -> Array: ...
    def cdf(self, x: float | Sequence[float] | Array) -> float | Array:
        """P(X <= x).

        >>> Mixture.gaussian(2.0, 3.0).cdf([2.0, 1e9]).tolist()
        [0.5, 1.0]
        """
        from scipy.special import ndtr

        below = ndtr(standardised(reals("x", x)[..., None], self.means, self.stds))
        return _scalar(np.clip(below @ self._normalised(), 0.0, 1.0))

    @overload
    def quantile(self, u: float) -> float: ...
    @overload
    def quantile(self, u: Sequence[float] | Array) -> Array: ...
    def quantile(self, u: float | Sequence[float] | Array) -> float | Array:
        """The least x with cdf(x) >= u, for u from 0 to 1.

        >>> Mixture.empirical([1, 2, 3, 4]).quantile([0.25, 0.26]).tolist()
        [1.0, 2.0]
        """
        return _scalar(quantile(self, reals("u", u)))

    def sample(self, size: int, *, seed: int | None = None) -> Array:
        """Independent draws, for simulations. Never the noise of a release: see `takifugu.release`."""
        size = integer("size", size, least=0)
        rng = np.random.default_rng(None if seed is None else integer("seed", seed, least=0))
        which = rng.choice(len(self), size=size, p=self._normalised())
        draws: Array = self.means[which] + self.stds[which] * rng.standard_normal(size)
        return draws


def _digits(x: float) -> str:
    return repr(float(f"{x:.6g}"))


def _ldexp(x: float, exponent: int) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(x, exponent))


def _scalar(x: Any) -> float | Array:
    return float(x) if np.ndim(x) == 0 else np.asarray(x)
