"""How far two laws are apart, as the user asks for it, and which divergences are known after which noise.

The Rényi divergence, the largest odds and the hockey stick of two laws are looked up by what the laws are of; after a
channel they are looked up in the registry, by its kind.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.divergences.certified import Decision
from takifugu.divergences.discrete import order_or_odds
from takifugu.divergences.mixtures import divergence, point_divergence
from takifugu.divergences.numerics.balls import Effort
from takifugu.divergences.privacy_profile import Density, NormalDensity, Points, PrivacyCurve, hockey_stick_after
from takifugu.errors import InputError
from takifugu.laws import LAWS, Finite, Law, Mixture, Space, VectorMixture, key
from takifugu.problems import Divergence, HockeyStick, MaxDivergence, RenyiDivergence

_Law = Mixture | Finite | VectorMixture


class _Noise(Protocol):
    """What is added to a number before it is published: `GaussianNoise`, `LaplaceNoise` or another package's."""

    @property
    def is_bare(self) -> bool: ...

    @classmethod
    def knows(cls, divergence: type[Divergence]) -> bool: ...

    def loss(self, p: Law, q: Law, of: Divergence) -> float: ...

    def smoothed(self, law: Mixture, beside: Mixture) -> Density: ...


def renyi_divergence(p: _Law, q: _Law, *, alpha: float, theta: float = 0.0, noise: _Noise | None = None) -> float:
    """D_α(X + N ‖ X' + N) for X ~ p, X' ~ q and noise N, in natural logarithms; never a bound.

    Of two `Mixture` laws one component each has a closed formula, point masses without noise a finite sum, and
    everything else is integrated. `math.inf` is returned where the divergence is infinite or beyond the largest float,
    and, to be on the safe side, where neither floats nor balls of thousands of bits tell how large it is: single
    components that lie more than some 1e16 widths from all others, or orders of 1e13 and more.

    Two `Finite` laws have a finite sum, and `alpha` may be `math.inf`: the logarithm of the largest ratio. Of two
    `VectorMixture` laws Gaussians have a formula and points a sum; mixtures are integrated in up to three dimensions.
    Noise is for the line alone: a channel's `apply` puts other noise into a law.

    Args:
        p: the law of the answer under one secret.
        q: that under the other.
        alpha: the order, above 1.
        theta: the standard deviation of the noise, a short form of `noise=GaussianNoise(theta)`.
        noise: `GaussianNoise(theta)` or `LaplaceNoise(scale)`.

    Returns:
        D_α in natural logarithms, 0 or more.

    Raises:
        InputError: for what are no laws, laws of different kinds, an order of 1 or less, and noise on laws that are not
            on the line.

    >>> renyi_divergence(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=3)
    1.5
    >>> renyi_divergence(Mixture.empirical([0, 1]), Mixture.empirical([1, 2]), alpha=2)
    inf
    >>> round(renyi_divergence(Finite(["a", "b"], [1, 3]), Finite(["a", "b"], [1, 1]), alpha=float("inf")), 9)
    0.405465108
    """
    if noise is not None and check.noise(theta) != 0:
        raise InputError("theta and noise are two names of one thing: give one of them")
    return _between(p, q).renyi(p, q, alpha, check.noise(theta), _added(noise))


def max_divergence(p: _Law, q: _Law, *, noise: _Noise | None = None) -> float:
    """D∞(X + N ‖ X' + N), the logarithm of the largest odds that a published value can give p against q.

    Args:
        p: the law of the answer under one secret.
        q: that under the other.
        noise: `LaplaceNoise(scale)`; or none, or Gaussian noise, under which it is infinite in one direction or both
            unless the laws are points or the same.

    Returns:
        The supremum in float64, never a bound; for a proof see `takifugu.certify`.

    Raises:
        InputError: for what are no laws, laws of different kinds, and laws of vectors, of which it is not known.

    >>> from takifugu import LaplaceNoise
    >>> p, q = Mixture.gaussian(0, 2), Mixture.gaussian(0.5, 1)
    >>> round(max_divergence(p, q, noise=LaplaceNoise(2.302775637732)), 9)
    0.5
    """
    return _between(p, q).odds(p, q, _added(noise))


def hockey_stick(p: _Law, q: _Law, *, epsilon: float, noise: _Noise | None = None) -> float:
    """∫ (p − e^ε q)₊ after noise: the least δ at which p is within (ε, δ) of q.

    Args:
        p: the law of the answer under one secret.
        q: that under the other.
        epsilon: any number, negative ones too: δ over all of them determines every other figure.
        noise: `GaussianNoise(theta)`, `LaplaceNoise(scale)` or none.

    Returns:
        δ in float64.

    Raises:
        InputError: for what are no laws, laws of different kinds, and laws of vectors, of which it is not known.

    >>> from takifugu import GaussianNoise
    >>> p, q = Mixture.gaussian(0, 1), Mixture.gaussian(1, 2)
    >>> round(hockey_stick(p, q, epsilon=0.5, noise=GaussianNoise(0.7)), 12)
    0.075079914228
    """
    kind = _between(p, q)
    return kind.hockey_stick(p, q, check.real("epsilon", epsilon, "a finite number"), _added(noise))


def privacy_curve(p: _Law, q: _Law, *, noise: _Noise | None = None) -> PrivacyCurve:
    """How well p can be told from q after noise, at every threshold: δ(ε), odds, guesses and the trade-off of errors.

    Args:
        p: the law of the answer under one secret.
        q: that under the other.
        noise: `GaussianNoise(theta)`, `LaplaceNoise(scale)` or none.

    Returns:
        The curve of p against q; its `reversed()` is that of q against p.

    Raises:
        InputError: for what are no laws, laws of different kinds, and laws of vectors, of which it is not known.

    >>> from takifugu import LaplaceNoise
    >>> curve = privacy_curve(Mixture.gaussian(0, 0), Mixture.gaussian(1, 0), noise=LaplaceNoise(1.0))
    >>> round(curve.odds_quantile(0.9), 9), round(curve.best_guess(), 9)
    (2.718281828, 0.69673467)
    """
    kind, added = _between(p, q), _added(noise)
    orders = partial(_of_order, p, q, noise), partial(_of_order, q, p, noise)
    return PrivacyCurve(kind.density(p, q, added), kind.density(q, p, added), orders)


class _Between:
    """What is known between laws of one kind; what a kind does not know is refused by name."""

    what: ClassVar[str]

    def renyi(self, p: Law, q: Law, alpha: float, theta: float, noise: _Noise | None) -> float:
        raise self._unknown("the Rényi divergence is")

    def odds(self, p: Law, q: Law, noise: _Noise | None) -> float:
        raise self._unknown("the largest odds are")

    def hockey_stick(self, p: Law, q: Law, epsilon: float, noise: _Noise | None) -> float:
        raise self._unknown("the hockey stick is")

    def density(self, law: Law, beside: Law, noise: _Noise | None) -> Density:
        """A law as its privacy curve against another takes it."""
        raise self._unknown("the privacy curve is")

    def _unknown(self, what: str) -> InputError:
        return InputError(f"of {self.what} {what} not known")

    def _bare(self, noise: _Noise | None, theta: float = 0.0) -> None:
        if noise is not None or theta != 0:
            raise InputError(f"noise is for numbers on the line, and these laws are of {self.what}: leave it out")


class _BetweenNumbers(_Between):
    what = "numbers"

    def renyi(self, p: Mixture, q: Mixture, alpha: float, theta: float, noise: _Noise | None) -> float:
        order = check.order(alpha)
        return divergence(p, q, alpha=order, theta=theta) if noise is None else noise.loss(p, q, RenyiDivergence(order))

    def odds(self, p: Mixture, q: Mixture, noise: _Noise | None) -> float:
        p, q = p.simplified(), q.simplified()
        if p == q:
            return 0.0
        if noise is not None and noise.knows(MaxDivergence):
            return noise.loss(p, q, MaxDivergence())
        theta = 0.0 if noise is None else float(getattr(noise, "theta", math.nan))  # a normal after Gaussian noise
        if noise is None and p.is_discrete and q.is_discrete:
            return point_divergence(_masses(p), _masses(q), alpha=math.inf)
        if len(p) == len(q) == 1 and not p.is_discrete | q.is_discrete and not math.isnan(theta):
            return _of_normals(p, q, theta)
        return math.inf

    def hockey_stick(self, p: Mixture, q: Mixture, epsilon: float, noise: _Noise | None) -> float:
        if noise is None:
            return hockey_stick_after(p, q, epsilon=epsilon)
        return noise.loss(p, q, HockeyStick(epsilon))

    def density(self, law: Mixture, beside: Mixture, noise: _Noise | None) -> Density:
        return NormalDensity(law) if noise is None else noise.smoothed(law, beside)


class _BetweenLists(_Between):
    what = "values from a list"

    def renyi(self, p: Finite, q: Finite, alpha: float, theta: float, noise: _Noise | None) -> float:
        self._bare(noise, theta)
        return _finite(p, q, order_or_odds(alpha))

    def odds(self, p: Finite, q: Finite, noise: _Noise | None) -> float:
        self._bare(noise)
        return _finite(p, q, math.inf)

    def hockey_stick(self, p: Finite, q: Finite, epsilon: float, noise: _Noise | None) -> float:
        self._bare(noise)
        first, second, factor = _shares(p), _shares(q), math.exp(epsilon)
        return math.fsum(max(0.0, mass - factor * second.get(value, 0.0)) for value, mass in first.items())

    def density(self, law: Finite, beside: Finite, noise: _Noise | None) -> Density:
        self._bare(noise)
        return Points(_shares(law))


class _BetweenVectors(_Between):
    what = "vectors"

    def renyi(self, p: VectorMixture, q: VectorMixture, alpha: float, theta: float, noise: _Noise | None) -> float:
        from takifugu.divergences.vectors import vector_divergence

        self._bare(noise, theta)
        return vector_divergence(p, q, alpha=check.order(alpha))


_KINDS: dict[Space, _Between] = {"number": _BetweenNumbers(), "values": _BetweenLists(), "vector": _BetweenVectors()}


def _between(p: Law, q: Law) -> _Between:
    """What is known between the two; an error where they are no laws, or laws of two kinds."""
    for name, law in (("p", p), ("q", q)):
        if not isinstance(law, LAWS):
            raise InputError(
                f"{name} must be a Mixture, a Finite or a VectorMixture, got {type(law).__name__}: make one with "
                f"Mixture.gaussian, Mixture.empirical or Mixture.fit"
            )
    if p.space != q.space:
        raise InputError(f"p is a {type(p).__name__} and q a {type(q).__name__}: describe them alike")
    return _KINDS[p.space]


def _of_order(p: _Law, q: _Law, noise: _Noise | None, alpha: float) -> float:
    """D_α for every order, the largest odds among them."""
    if math.isinf(order_or_odds(alpha)):
        return max_divergence(p, q, noise=noise)
    return renyi_divergence(p, q, alpha=alpha, noise=noise)


def _added(noise: _Noise | None) -> _Noise | None:
    """The noise, if there is any; what is none is refused by name."""
    if noise is not None and not hasattr(noise, "smoothed"):
        raise InputError(f"noise must be GaussianNoise(theta) or LaplaceNoise(scale), got {type(noise).__name__}")
    return None if noise is None or noise.is_bare else noise


def _of_normals(p: Mixture, q: Mixture, theta: float) -> float:
    """Of two normals the ratio is bounded where the first is the narrower: ln(t/s) + Δ²/2(t² − s²)."""
    s2, t2 = float(p.stds[0]) ** 2 + theta**2, float(q.stds[0]) ** 2 + theta**2
    if s2 >= t2:
        return math.inf
    gap = float(p.means[0] - q.means[0])
    return 0.5 * math.log(t2 / s2) + gap * gap / (2 * (t2 - s2))


def _finite(p: Finite, q: Finite, alpha: float) -> float:
    """A sum over the values of either law; values are matched as they are, 1 with 1.0 and neither with "1"."""
    first, second = (
        {key(value): weight for value, weight in zip(law.values, law.weights.tolist(), strict=True)} for law in (p, q)
    )
    return point_divergence(first, second, alpha=alpha)


def _masses(law: Mixture) -> Mapping[float, float]:
    return dict(zip(law.means.tolist(), law.weights.tolist(), strict=True))


def _shares(law: Finite) -> Mapping[Hashable, float]:
    total = math.fsum(law.weights.tolist())
    return {key(value): weight / total for value, weight in zip(law.values, law.weights.tolist(), strict=True)}


# Which divergences are known after which noise: one function in floats, and one decision that is proved.
#
# A kind of channel and a kind of divergence meet here and nowhere else. A new noise names the functions of the
# divergences that it knows, a new guarantee those of the noises; what nobody named is refused.


# Which divergence and channel a function takes follows from the key it stands under, which no type can say.
Value = Callable[[Law, Law, Any, Any], float]
"""Two laws before the channel, the divergence, the channel: how far they are apart after it, in floats."""
Proof = Callable[[Law, Law, Any, float, Any, Effort | None], Decision]
"""The same with a budget before the channel and the work that may be spent after it: whether that is enough."""


Screen = Callable[[Sequence[Law], Any, Any, float], tuple[Array, Array]]
"""Laws, the divergence, the channel and a budget: of each law against each other one a value that the divergence
reaches, and one that it is proved not to exceed; for many pairs at once, and as close as it takes beside the budget."""


Truths = npt.NDArray[np.bool_]
Clear = Callable[[Sequence[Law], Any, Any, float, Effort | None], Truths]
"""Laws, the divergence, the channel, a budget and the work that may be spent: which pairs are *proved*, all at once, to
be within the budget. What is not is left to the proof of a pair."""


class Known(NamedTuple):
    """The functions of one divergence after one kind of channel."""

    value: Value
    decide: Proof
    screen: Screen | None = None
    clear: Clear | None = None


_KNOWN: dict[tuple[str, type[Divergence]], Known] = {}


def register(
    channel: str,
    divergence: type[Divergence],
    value: Value,
    decide: Proof,
    screen: Screen | None = None,
    clear: Clear | None = None,
) -> None:
    """Say how a divergence is computed and proved after the channels of a kind.

    Args:
        channel: the kind of channel, or what channels publish: "gaussian", "values".
        divergence: the class of the divergence.
        value: it in floats, never a bound.
        decide: whether it is a budget at most, proved; its `holds` is None where that is not decided.
        screen: bounds for many laws at once, which spare the two above most pairs.
        clear: proofs for many pairs at once, which spare certificates most proofs of one.
    """
    _KNOWN[channel, divergence] = Known(value, decide, screen, clear)


def known(kinds: Iterable[str], divergence: type[Divergence]) -> Known | None:
    """The functions that the first of these kinds of channel has for a divergence."""
    return next((_KNOWN[kind, divergence] for kind in kinds if (kind, divergence) in _KNOWN), None)


def required(kinds: Iterable[str], divergence: Divergence, channel: str) -> Known:
    """The same, or an error that names what is not known."""
    found = known(kinds, type(divergence))
    if found is None:
        raise InputError(
            f"nothing is known of {divergence.words} after {channel}: nothing can be said, and nothing is proved"
        )
    return found


def registered() -> dict[tuple[str, type[Divergence]], Known]:
    """All that was named so far, for tests of what they have in common."""
    return dict(_KNOWN)
