"""The least noise that is enough for the centre of the posterior and for every one of a number of draws from it.

N draws that all hold, N = ⌈ln(1−c)/ln c⌉, are evidence for the population: had less than a share c of the posterior
been within the budget, all N would have held with probability below 1 − c. This is no proof (proofs/population.md).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer, real
from takifugu.divergences.line.general import divergence
from takifugu.divergences.line.one_lattice import lattice_losses
from takifugu.errors import CalibrationError, InputError
from takifugu.laws.fitting.counts import counted, posterior_draws
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.base import root_above
from takifugu.mechanisms.search import least_variance
from takifugu.problems.pairs import Pairs, Secret

_CLEAR = 1e-3  # the share of the budget by which a draw that is not looked at twice stays below it
_MARGIN = 1e-10  # the share of the budget left for rounding in the divergence itself
_LEADERS = 4  # laws worth a search of their own before all are looked at again
_ROUNDS = 60
_TINY = 1e-7  # budgets (times α − 1) below this are beyond the digits of a trapezoidal rule


class Counted(NamedTuple):
    """What is known of one secret's law on a lattice: how often each point was seen, and the pseudo-counts."""

    counts: Array
    pseudo: Array


class Place(NamedTuple):
    """Where the noise binds: the belief, the draw (None for the centre), and the directed pair."""

    belief: int
    draw: int | None
    pair: tuple[Secret, Secret]


@dataclass(frozen=True)
class Confident:
    """Noise that is enough for the centre and for all draws, and how to draw them again.

    `centre_theta` is what the centre alone would need: the price of confidence is the ratio.
    """

    theta: float
    centre_theta: float
    confidence: float
    draws: int
    seed: int
    place: Place | None

    @property
    def sentence(self) -> str:
        """What is said with this, and what is not."""
        share = f"{100 * self.confidence:g} %"
        return (
            f"with {share} confidence over {self.draws} draws (seed {self.seed}), at least {share} of the posterior "
            f"faces at most the budget: evidence from draws, not a proof"
        )


def draws_needed(confidence: float, *, halvings: int = 0) -> int:
    """How many draws must hold: the least N with confidence**N <= (1 − confidence)/2**halvings.

    >>> draws_needed(0.95), draws_needed(0.99)
    (59, 459)
    """
    c = real("confidence", confidence, "a number from 0.5 to 0.999, such as 0.95")
    if not 0.5 <= c <= 0.999:
        raise InputError(f"confidence must be a number from 0.5 to 0.999, such as 0.95; got {confidence!r}")
    chance = (1 - c) / 2**halvings
    needed = max(1, math.ceil(math.log(chance) / math.log(c)))
    while c**needed > chance:  # the quotient may have been rounded down
        needed += 1
    return needed


def joint_draws(beliefs: Sequence[Mapping[Secret, Counted]], secrets: Sequence[Secret], draws: int, seed: int) -> Array:
    """Laws by (belief, draw, secret, point), the centre first; belief and secret by their positions seed each."""
    laws = []
    for b, belief in enumerate(beliefs):
        per_secret = []
        for s, secret in enumerate(secrets):
            counts, pseudo = belief[secret]
            drawn = posterior_draws(counts, pseudo, draws, [seed, b, s])
            per_secret.append(np.concatenate([counted(counts, pseudo)[None], drawn]))
        laws.append(np.stack(per_secret, axis=1))
    return np.stack(laws)


def confident_noise(
    points: npt.ArrayLike,
    beliefs: Sequence[Mapping[Secret, Counted]],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    confidence: float = 0.95,
    halvings: int = 0,
    seed: int = 0,
) -> Confident:
    """The least θ at which the centre and all draws lose at most ε, for every pair both ways and every belief."""
    draws, seed = draws_needed(confidence, halvings=halvings), integer("seed", seed, least=0)
    x = np.asarray(points, dtype=np.float64)
    laws = joint_draws(beliefs, pairs.secrets, draws, seed)
    centre = _Search(x, laws[:, :1], pairs, alpha, epsilon)
    alone = centre.run(0.0)
    search = _Search(x, laws, pairs, alpha, epsilon)
    theta = search.run(alone)
    return Confident(theta, alone, float(confidence), draws, seed, search.place or centre.place)


class _Search:
    """The noise for all laws at once: a few are searched, all are looked at, the closest are checked accurately."""

    def __init__(self, points: Array, laws: Array, pairs: Pairs, alpha: float, epsilon: float) -> None:
        self.points, self.pairs, self.alpha, self.epsilon = points, pairs, alpha, epsilon
        self.shape = laws.shape[:3]
        self.laws = laws.reshape(-1, laws.shape[3])
        number = {secret: k for k, secret in enumerate(pairs.secrets)}
        directed = np.array([(number[a], number[b]) for a, b in pairs.directed()])
        starts = np.arange(self.shape[0] * self.shape[1]) * self.shape[2]
        self.i, self.j = ((starts[:, None] + directed[:, side]).ravel() for side in (0, 1))
        self.place: Place | None = None

    def run(self, floor: float) -> float:
        """The least θ, `floor` or more."""
        if self.epsilon * (self.alpha - 1) < _TINY:
            return self._accurately(floor)
        theta = floor
        for _ in range(_ROUNDS):
            losses = self._losses(np.arange(len(self.i)), theta)
            if not (losses > self.epsilon).any():
                theta, settled = self._check(losses, theta)
                if settled:
                    return theta
                continue
            # An infinite loss is an unknown one: those that are known to be large come first.
            leaders = np.argsort(-np.where(np.isinf(losses), np.finfo(float).max, losses))[:_LEADERS]
            theta = self._raised(leaders, theta)
        raise CalibrationError("the search for the least noise over all draws did not settle: please report this case")

    def _losses(self, which: npt.NDArray[np.intp], theta: float) -> Array:
        return lattice_losses(
            self.points,
            self.laws,
            self.i[which],
            self.j[which],
            alpha=self.alpha,
            theta=theta,
            tolerance=min(1e-6, 1e-3 * self.epsilon * (self.alpha - 1)),
            limit=2 * self.epsilon,
        )

    def _raised(self, leaders: npt.NDArray[np.intp], theta: float) -> float:
        """The least θ that is enough for these laws, by the fast rule."""
        reach = float(self.points[-1] - self.points[0])

        def loss(z: float) -> float:
            return float(self._losses(leaders, math.sqrt(z)).max())

        z = least_variance(
            loss,
            epsilon=self.epsilon * (1 - 1e-7),
            floor=theta * theta,
            start=max(theta * theta, 1e-2 * reach * reach) if theta else reach * reach,
            unit=0.0,
            rtol=1e-9,
        )
        if not math.isfinite(z):
            raise CalibrationError("no finite noise was found to be enough for every draw: please report this case")
        self._bind(int(leaders[np.argmax(self._losses(leaders, math.sqrt(z)))]))
        return root_above(z)

    def _check(self, losses: Array, theta: float) -> tuple[float, bool]:
        """Whether the laws closest to the budget are within it by adaptive quadrature; if not, a larger θ."""
        close = np.flatnonzero(losses > self.epsilon * (1 - _CLEAR))
        for k in close[np.argsort(-losses[close])]:
            p, q = (Mixture.empirical(self.points, self.laws[side[k]]) for side in (self.i, self.j))
            if not divergence(p, q, alpha=self.alpha, theta=theta) <= self.epsilon * (1 - _MARGIN):
                self._bind(int(k))
                return (theta * (1 + 1e-8) if theta else float(np.diff(self.points).min()) * 1e-3), False
        return theta, True

    def _accurately(self, floor: float) -> float:
        """Without the fast rule, whose digits are not enough for a budget this small."""
        exact, variance = Exact(), floor * floor
        for k, (a, b) in enumerate(zip(self.i, self.j, strict=True)):
            p, q = Mixture.empirical(self.points, self.laws[a]), Mixture.empirical(self.points, self.laws[b])
            new = exact.least_variance(p, q, alpha=self.alpha, epsilon=self.epsilon, floor=variance)
            if not new <= variance:
                variance = new
                self._bind(k)
        if not math.isfinite(variance):
            raise CalibrationError("no finite noise was found to be enough for every draw: please report this case")
        return max(floor, root_above(variance))

    def _bind(self, k: int) -> None:
        belief, draw = divmod(int(self.i[k]) // self.shape[2], self.shape[1])
        a, b = (self.pairs.secrets[int(side[k]) % self.shape[2]] for side in (self.i, self.j))
        self.place = Place(belief, draw - 1 if draw else None, (a, b))
