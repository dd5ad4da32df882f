"""The one kind of prior: a finite mixture of normals, some of which may be points."""

import math
import sys
from collections.abc import Sequence
from typing import ClassVar, Literal, Self, overload

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._display import Plotted
from takifugu._validation import Array, integer, noise, real, reals, vector
from takifugu.errors import InputError

# What laws have in common: they cannot change, and mixtures are the same where their lists are.

Space = Literal["number", "values", "vector"]
"""What a law is of, and what a channel publishes: a number, an entry of a list (a row is one), or a vector."""


class Frozen(Plotted):
    """A law that stays as it was made: a changed one would carry a proof made for another."""

    __slots__ = ()

    space: ClassVar[Space]
    """What it is a law of. Code that differs for numbers, lists and vectors asks this, and for no class."""

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse."""
        raise AttributeError(f"a {type(self).__name__} is immutable: make a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        """Refuse, as for setting."""
        raise AttributeError(f"a {type(self).__name__} is immutable: {name!r} cannot be deleted")


class Components(Frozen):
    """A mixture: lists with an entry for each component, which its kind names in `_lists`, the weights first."""

    __slots__ = ("_hash", "weights")

    _lists: ClassVar[tuple[str, ...]]
    weights: Array
    _hash: int

    def _freeze(self, *arrays: Array) -> None:
        for name, array in zip(self._lists, arrays, strict=True):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return tuple(getattr(self, name) for name in self._lists)

    def __eq__(self, other: object) -> bool:
        """Whether the same components stand in the same order, bit for bit."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(map(np.array_equal, self._arrays, other._arrays))

    def __hash__(self) -> int:
        """Consistent with equality: no component holds a negative zero."""
        try:
            value: int = self._hash
        except AttributeError:  # few mixtures are ever hashed
            value = hash(tuple(array.tobytes() for array in self._arrays))
            object.__setattr__(self, "_hash", value)
        return value

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the lists, so that what is unpickled has been validated again."""
        return type(self), self._arrays

    def __len__(self) -> int:
        """The number of components."""
        return len(self.weights)

    def to_state(self) -> dict[str, object]:
        """As plain values for JSON; no float loses a bit."""
        return {name: array.tolist() for name, array in zip(self._lists, self._arrays, strict=True)}

    def _normalised(self) -> Array:
        return self.weights / math.fsum(self.weights)


# Quantiles of a mixture, accurate in both tails.

Flags = npt.NDArray[np.bool_]
Ranks = npt.NDArray[np.int64]

_EVERY = 16  # of many quantiles one in so many is searched first, and the others begin between two of them
_FEW = 4  # floats beyond the end of a bracket
_MOST_TURNS = 600  # an eighth of them halve, and 64 halvings always suffice
_PAD = 4 * sys.float_info.epsilon  # the ends of the bracket are rounded sums of rounded products
_ROUNDING = 1e-15  # weights are rounded, and so are their sums and the logarithms of those


def quantile(mixture: "Mixture", u: Array) -> Array:
    """The least x with P(X <= x) >= u; the ends of the support for u = 0 and u = 1."""
    if not ((u >= 0) & (u <= 1)).all():
        raise InputError(f"u must be between 0 and 1, got {float(u[~((u >= 0) & (u <= 1))][0])}")
    from scipy.special import ndtri

    if mixture.is_discrete:
        return _discrete(mixture, u)
    upper = u > 0.5
    with np.errstate(divide="ignore"):
        target = np.where(upper, np.log1p(-u), np.log(u))
    return _search(mixture, ndtri(u), upper, target)


def quantile_at_score(mixture: "Mixture", score: Array) -> Array:
    """The quantile at u = Φ(score): the scale on which a normal's quantiles are a straight line.

    Scores keep their meaning far beyond the levels that a float64 u can tell from 0 or 1. Each
    component's own quantile is mean + std·score, and the mixture's lies between the least and the
    largest of them.

    Args:
        mixture: the mixture of normals.
        score: places on the standard normal scale.

    Returns:
        The x with P(X <= x) = Φ(score), found by a bracketed search on the logarithm of whichever tail is the smaller:
        there the digits are, and a probability of 1 − 10⁻³⁰ has none left in float64.
    """
    from scipy.special import log_ndtr, ndtr

    t = np.asarray(score, dtype=np.float64)
    if mixture.is_discrete:
        return _discrete(mixture, ndtr(t))
    return _search(mixture, t, t > 0, log_ndtr(-np.abs(t)))


def _search(mixture: "Mixture", t: Array, upper: Flags, target: Array) -> Array:
    """The least float at which the smaller tail (the upper one where told) meets its target."""
    out = np.empty(t.shape)
    finite = np.isfinite(t)
    out[~finite] = t[~finite]  # a component of positive width reaches both ends of the line
    out[finite] = _bisect(mixture.simplified(), t[finite], upper[finite], target[finite])
    return out


def _bisect(mixture: "Mixture", t: Array, upper: Flags, target: Array) -> Array:
    """Bisection over the floats themselves, counted in order, with Newton's method to guess ahead.

    Halving the count instead of the length ends at two neighbouring floats, however narrow one
    component is beside the distance to another, and lands on a point mass exactly.
    """
    low, high = _bracket(mixture, t)
    start = _halfway(low, high)
    if len(t) > _EVERY**2:
        # Only where the search begins: the bracket stays the one that is proved.
        some = np.argsort(t, kind="stable")[::_EVERY]
        start = np.interp(t, t[some], _bisect(mixture, t[some], upper[some], target[some]))
    # The slack matters only at a level where a point mass ends: there rounding must not skip to the
    # next value, which may be far away.
    target = np.where(upper, target + _ROUNDING, target - _ROUNDING)
    active = np.arange(len(t))
    probe = np.clip(_rank(start), low + 1, high)
    for turn in range(_MOST_TURNS):
        tail, log_density = _log_tail_and_density(mixture, _float(probe), upper[active])
        excess = np.where(upper[active], target[active] - tail, tail - target[active])
        enough = excess >= 0
        high[active] = np.where(enough, probe, high[active])
        low[active] = np.where(enough, low[active], probe)
        going = high[active] > low[active] + 1  # a difference of ranks could overflow, a successor cannot
        active, probe = active[going], probe[going]
        if not active.size:
            break
        begin, end = low[active], high[active]
        if turn % 8 == 7:
            probe = (begin >> 1) + (end >> 1) + (begin & end & 1)
            continue
        guess = _newton(probe, excess[going], tail[going], log_density[going])
        # Newton's method is believed where it ends inside the bracket, or hardly outside: there a few floats past the
        # near end are tried, since its last steps are of the size of the rounding in a tail.
        inside = np.clip(guess, begin + 1, end - 1)
        here = np.abs(guess - inside) <= (np.abs(guess - probe) >> 8) + _FEW
        probe = np.where(here, inside, np.clip(_rank(_halfway(begin, end)), begin + 1, end - 1))
    return _float(high)


def _halfway(low: Ranks, high: Ranks) -> Array:
    """The middle by length."""
    return 0.5 * _float(low) + 0.5 * _float(high)


def _bracket(mixture: "Mixture", t: Array) -> tuple[Ranks, Ranks]:
    """Ranks that hold the quantiles, the first excluded: from the least of the components' own to the largest."""
    largest = sys.float_info.max
    with np.errstate(over="ignore"):
        reach = np.clip(t[:, None] * mixture.stds, -largest, largest)
        own = np.clip(mixture.means + reach, -largest, largest)
        pad = _PAD * np.abs(mixture.means) + _PAD * np.abs(reach)
        low = np.clip((own - pad).min(axis=1), -largest, largest)
        high = np.clip((own + pad).max(axis=1), -largest, largest)
    return np.maximum(_rank(low) - 1, _rank(np.array(-largest))), _rank(high)


def _newton(rank: Ranks, excess: Array, tail: Array, log_density: Array) -> Ranks:
    """One Newton step on the logarithm of the tail, a little too far, so that the bracket closes too."""
    x = _float(rank)
    largest = sys.float_info.max
    with np.errstate(all="ignore"):
        guess = np.clip(np.nan_to_num(x - excess * np.exp(tail - log_density)), -largest, largest)
    move = _rank(guess) - rank  # wraps only for a leap over half of all floats, which the bracket refuses
    ahead: Ranks = rank + move + (move >> 12) + np.sign(move)
    return ahead


def _rank(x: Array) -> Ranks:
    """The place of each float in the order of all floats: equal steps from one to the next."""
    bits = np.ascontiguousarray(x + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)


def _float(rank: Ranks) -> Array:
    bits = np.where(rank >= 0, rank, np.int64(-(2**63)) - rank)
    return bits.view(np.float64) + 0.0


def standardised(x: Array, means: Array, stds: Array) -> Array:
    """(x − mean)/std where the three are broadcast against one another; ±inf on the two sides of a point mass.

    Args:
        x: places on the line.
        means: the means of components.
        stds: their standard deviations, 0 for points.

    Returns:
        Scores; at a point itself +inf, since a cumulative distribution counts it from there on.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gaps = x - means
        z = gaps / stds
        if np.isinf(gaps).any():  # halves have a difference where floats of opposite sign have none
            z = np.where(np.isinf(gaps), (0.5 * x - 0.5 * means) / (0.5 * stds), z)
    return np.where(stds > 0, z, np.where(gaps >= 0, np.inf, -np.inf))


def _log_tail_and_density(mixture: "Mixture", x: Array, upper: Flags) -> tuple[Array, Array]:
    """ln P(X > x) where `upper` and ln P(X <= x) elsewhere; the log-density of the continuous part."""
    tail, z = log_tail(mixture, x, upper)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_weights, stds = np.log(mixture.weights)[:, None], mixture.stds[:, None]
        bells = np.where(stds > 0, -0.5 * z * z - np.log(stds), -np.inf)
        log_density = _log_sum(bells + log_weights) - 0.5 * np.log(2 * np.pi)
    return tail, log_density


def log_tail(mixture: "Mixture", x: Array, upper: Flags) -> tuple[Array, Array]:
    """ln P(X > x) where `upper` and ln P(X <= x) elsewhere, with x as each component's scores, one a row.

    Args:
        mixture: whose tails are asked for.
        x: places on the line.
        upper: for each of them, whether the upper tail is meant.

    Returns:
        The logarithm of the tail's probability at each place, from which no cancellation takes digits, and the scores.
    """
    from scipy.special import log_ndtr

    # Component by component along the points: sums over a handful in the innermost axis take three times as long.
    z = standardised(x, mixture.means[:, None], mixture.stds[:, None])
    with np.errstate(divide="ignore"):
        return _log_sum(log_ndtr(np.where(upper, -z, z)) + np.log(mixture.weights)[:, None]), z


def _log_sum(logs: Array) -> Array:
    """ln Σ exp along the first axis; a sum of nothing is −inf."""
    top = np.maximum(logs.max(axis=0), -sys.float_info.max)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        return np.asarray(top + np.log(np.exp(logs - top).sum(axis=0)))


def _discrete(mixture: "Mixture", u: Array) -> Array:
    simple = mixture.simplified()
    cumulative = np.cumsum(simple.weights) / simple.weights.sum()
    place = np.searchsorted(cumulative, u * (1 - _ROUNDING))
    return simple.means[np.minimum(place, len(simple) - 1)]


# Weights of values and of components: checked in one place.

_SUM_TOLERANCE = 1e-9  # weights off by more are a mistake; off by less they are rounding


def shares(weights: Array) -> Array:
    """Weights that sum to 1, and to within 2⁻⁵⁰ of it once they are divided by their sum.

    Args:
        weights: 0 or more, whose sum is 1 but for rounding.

    Returns:
        The weights, divided by their exact sum where that is off by more than 2⁻⁵⁰.

    Raises:
        InputError: where one is negative, or the sum is off by more than rounding: they may be meant otherwise.
    """
    _require_signs(weights)
    total = math.fsum(weights)
    if not abs(total - 1) <= _SUM_TOLERANCE:
        raise InputError(f"weights must sum to 1, they sum to {total}: divide each by the sum")
    return weights / total if abs(total - 1) > 2**-50 else weights


def counts(weights: npt.ArrayLike | None, of: int, *, what: str = "value") -> Array:
    """The weight of each of so many values, 1 where none are given; one of them at least is above 0."""
    w = np.ones(of) if weights is None else vector("weights", weights)
    if len(w) != of:
        raise InputError(f"weights must have one entry per {what}, got {len(w)} for {of} {what}s")
    _require_signs(w)
    if not w.any():
        raise InputError(f"weights are all 0: at least one {what} needs a positive weight")
    return w


def merge(values: npt.ArrayLike, weights: npt.ArrayLike | None) -> tuple[Array, Array]:
    """Distinct values in order, with the weight (or count) of each; values without weight are dropped.

    Args:
        values: numbers, in any order, with repeats.
        weights: of each value; 1 where left out.

    Returns:
        The distinct values in increasing order and the sum of the weights of each. Zeros of either sign are one value.
    """
    x = vector("values", values)
    w = counts(weights, len(x))
    points, place = np.unique(x[w > 0], return_inverse=True)
    return points, np.bincount(place, weights=w[w > 0]).astype(np.float64)


def _require_signs(weights: Array) -> None:
    if weights.min() < 0:
        raise InputError(f"weights must be 0 or more, got {float(weights.min())}")


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

    space: ClassVar[Space] = "number"
    _lists = ("weights", "means", "stds")
    means: Array
    stds: Array
    _simple: "Mixture | None"  # None where it is this very mixture: no object should hold itself

    def __init__(self, weights: npt.ArrayLike, means: npt.ArrayLike, stds: npt.ArrayLike) -> None:
        """Validate, copy and freeze the three lists.

        Args:
            weights: one for each component, 0 or more, whose sum is 1 but for rounding.
            means: the expectation of each component.
            stds: its standard deviation, 0 for a point mass.

        Raises:
            InputError: for lists of different lengths, NaN or infinite entries, and weights that do not sum to 1.
        """
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

        Args:
            mean: the expectation.
            std: the standard deviation, 0 or more.

        Returns:
            A mixture of one component.

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

        Args:
            values: the observed answers, or the points of a law that is known.
            weights: how often each was seen, or its probability; 1 each where left out.

        Returns:
            A mixture of point masses in increasing order. It claims that nothing but what was seen is possible: for a
            prior that allows other values, `fit` one or add noise.

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

        Args:
            values: the observed answers.
            weights: how often each was seen; 1 each where left out.
            max_components: the most components that are tried.
            min_std: the least standard deviation of a component. By default it follows the values' own resolution,
                since a component that shrinks onto one value has an unbounded likelihood.
            seed: of the starting points; the same values and seed give the same mixture.

        Returns:
            The mixture whose BIC is the least.

        Raises:
            InputError: where there are no values, or they are not finite numbers.
        """
        from takifugu.laws.fitting.fit import fit

        mixture = fit(values, weights, max_components=max_components, min_std=min_std, seed=seed).mixture
        return cls(mixture.weights, mixture.means, mixture.stds)

    @classmethod
    def from_state(cls, state: object, where: str, room: form.Room) -> Self:
        """What `to_state` gave, whose weights sum to 1; an `InputError` names the field that is wrong."""
        prior = form.fields(state, cls._lists, where)
        lists = [
            [
                form.number(x, f"{where}.{key}[{k}]", least=least)
                for k, x in enumerate(room.take(prior[key], f"{where}.{key}"))
            ]
            for key, least in zip(cls._lists, (0.0, -math.inf, 0.0), strict=True)
        ]
        try:
            made = cls(*lists)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        if made.weights.tolist() != lists[0]:
            raise InputError(f"{where}.weights must sum to 1 within 2^-50: divide each by their sum")
        return made

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

    def on_the_line(self) -> "Mixture | None":
        """Itself: it is there."""
        return self

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

    @property
    def deviations(self) -> Array:
        """The standard deviation on each axis, of which there is one."""
        return np.array([self.std])

    @property
    def component_stds(self) -> Array:
        """The standard deviation of each component."""
        return self.stds

    @property
    def component_covariances(self) -> Array:
        """The variance of each component, as a matrix of one axis."""
        return np.asarray(self.stds[:, None, None] ** 2)

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

        Returns:
            A mixture that is equal as a distribution. Two mixtures that simplify to equal ones are at divergence 0.
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
        """The distribution of X + N(0, theta²).

        Args:
            theta: the standard deviation of the noise, 0 or more.

        Returns:
            A mixture of as many components, whose variances have grown by theta².

        >>> Mixture.gaussian(0, 3).with_noise(4)
        Mixture.gaussian(mean=0, std=5)
        """
        with np.errstate(over="ignore"):  # beyond the largest float is refused like any infinite std
            return Mixture(self.weights, self.means, np.hypot(self.stds, noise(theta)))

    @overload
    def pdf(self, x: float) -> float: ...
    @overload
    def pdf(self, x: Sequence[float] | Array) -> Array: ...
    def pdf(self, x: float | Sequence[float] | Array) -> float | Array:
        """The density at `x`; an error where there is none because a component is a point.

        Args:
            x: a number, or an array of any shape.

        Returns:
            The density at each, as a float for a number and as an array otherwise; 0 where it is below every float.

        Raises:
            InputError: where a component is a point, which has no density.

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

        Args:
            x: a number, or an array of any shape; infinite ones are allowed.

        Returns:
            The probability of values up to each, points included.

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

        Args:
            u: one level or several, each from 0 to 1.

        Returns:
            The quantile of each, found by bisection between the components' own quantiles; the ends of the support for
            0 and 1, which are infinite unless the mixture is made of points.

        >>> Mixture.empirical([1, 2, 3, 4]).quantile([0.25, 0.26]).tolist()
        [1.0, 2.0]
        """
        return _scalar(quantile(self, reals("u", u)))

    def sample(self, size: int, *, seed: int | None = None) -> Array:
        """Independent draws, for simulations. Never the noise of a release: see `takifugu.release`.

        Args:
            size: how many numbers.
            seed: of the generator; fresh random bits where left out.

        Returns:
            An array of `size` numbers. They come from floating-point samplers, whose low bits can give away the true
            value.
        """
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


def _scalar(x: Array) -> float | Array:
    return float(x) if np.ndim(x) == 0 else np.asarray(x)
