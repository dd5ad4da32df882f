"""The least noise that is enough for the centre of the posterior and for every one of a number of draws from it.

N draws that all hold, N = ⌈ln(1−c)/ln c⌉, are evidence for the population: had less than a share c of the posterior
been within the budget, all N would have held with probability below 1 − c. This is no proof (proofs/population.md).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer
from takifugu.channels import GaussianVector
from takifugu.divergences import divergence, gaussian_vector_divergences, lattice_losses
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws import Mixture, VectorMixture
from takifugu.mechanisms.base import root_above
from takifugu.mechanisms.closed_form import least_variance
from takifugu.mechanisms.draws import APART, Counted, LatticeDraws, draws_needed, lattice_draws
from takifugu.mechanisms.least_noise import Exact
from takifugu.problems import MEAN_OF, OF_GROUPS, Answer, Belief, Guarantee, Pairs, Problem, Secret

if TYPE_CHECKING:
    from takifugu.mechanisms.shaped import Shaped

_CLEAR = 1e-3  # the share of the budget by which a draw that is not looked at twice stays below it
_MARGIN = 1e-10  # the share of the budget left for rounding in the divergence itself
_LEADERS = 4  # laws worth a search of their own before all are looked at again
_ROUNDS = 60
_TINY = 1e-7  # budgets (times α − 1) below this are beyond the digits of a trapezoidal rule


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


def confident_noise(
    points: npt.ArrayLike,
    beliefs: Sequence[Mapping[Secret, Counted]],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    confidence: float = 0.95,
    seed: int = 0,
) -> Confident:
    """The least θ at which the centre and all draws lose at most ε, for every pair both ways and every belief."""
    draws, seed = draws_needed(confidence), integer("seed", seed, least=0)
    drawn = lattice_draws(beliefs, pairs, draws, seed)
    alone, centre = least_noise_of_draws(points, drawn.centre, alpha=alpha, epsilon=epsilon)
    theta, place = least_noise_of_draws(points, drawn, alpha=alpha, epsilon=epsilon, floor=alone)
    return Confident(theta, alone, float(confidence), draws, seed, place or centre)


def least_noise_of_draws(
    points: npt.ArrayLike, drawn: LatticeDraws, *, alpha: float, epsilon: float, floor: float = 0.0
) -> tuple[float, Place | None]:
    """The least θ, `floor` or more, at which every place of these draws loses at most ε; and which place binds."""
    search = _Search(np.asarray(points, dtype=np.float64), drawn, alpha, epsilon)
    return search.run(floor), search.place


def looked_at(
    points: Array,
    drawn: LatticeDraws,
    which: slice | npt.NDArray[np.intp] = slice(None),
    *,
    alpha: float,
    epsilon: float,
    theta: float,
) -> Array:
    """The losses of some of the draws, or of all: as accurate as a look at them beside this budget needs."""
    tolerance = min(1e-6, 1e-3 * epsilon * (alpha - 1))
    first, second = drawn.first[which], drawn.second[which]
    return lattice_losses(
        points, drawn.laws, first, second, alpha=alpha, theta=theta, tolerance=tolerance, limit=2 * epsilon
    )


class _Search:
    """The noise for all laws at once: a few are searched, all are looked at, the closest are checked accurately."""

    def __init__(self, points: Array, drawn: LatticeDraws, alpha: float, epsilon: float) -> None:
        self.points, self.drawn, self.alpha, self.epsilon = points, drawn, alpha, epsilon
        self.laws, self.i, self.j = drawn.laws, drawn.first, drawn.second
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
        return looked_at(self.points, self.drawn, which, alpha=self.alpha, epsilon=self.epsilon, theta=theta)

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
        self.place = Place(*self.drawn.named(k))


# Confidence for answers whose law is one normal that was itself estimated: means, and predictions of models.
#
# See `takifugu.mechanisms.draws` for what draws that hold are evidence of.

Normals = Mapping[Secret, Sequence[Mixture]]


def normal_draws(beliefs: Sequence[Belief], pairs: Pairs, draws: int, seed: int) -> list[Normals]:
    """The laws drawn for each secret under each belief; belief and secret by their positions seed each."""
    return [
        {secret: _of_secret(belief, secret, draws, [seed, b, k]) for k, secret in enumerate(pairs.secrets)}
        for b, belief in enumerate(beliefs)
    ]


def confident_noise_of_normals(
    beliefs: Sequence[Belief],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    confidence: float = 0.95,
    halvings: int = 0,
    seed: int = 0,
    floor: float = 0.0,
) -> Confident:
    """The least θ, `floor` or more, at which the centre and all draws lose at most ε under every belief."""
    draws, seed = draws_needed(confidence, halvings=halvings), integer("seed", seed, least=0)
    drawn = normal_draws(beliefs, pairs, draws, seed)
    exact, alone, place, variance = Exact(), 0.0, None, floor * floor
    for b, belief in enumerate(beliefs):
        centre = exact.least_variance_over(_laws(belief, pairs), pairs, alpha=alpha, epsilon=epsilon, floor=alone)
        if not centre.variance <= alone:
            alone, place = centre.variance, _named(b, centre.pair, pairs, None)
    variance = max(variance, alone)
    for b, of_belief in enumerate(drawn):
        for draw in range(draws):
            laws = [of_belief[secret][draw] for secret in pairs.secrets]
            new = exact.least_variance_over(laws, pairs, alpha=alpha, epsilon=epsilon, floor=variance)
            if not new.variance <= variance:
                variance, place = new.variance, _named(b, new.pair, pairs, draw)
    if not math.isfinite(variance):
        raise CalibrationError("no finite noise is enough for every draw: a secret rests on too few rows")
    return Confident(root_above(variance), root_above(alone), float(confidence), draws, seed, place)


def mean_draws(prior: Mixture, rows: int, draws: int, seed: Sequence[int]) -> list[Mixture]:
    """Normals drawn for the mean of `rows` rows whose prior has the mean and standard error they gave.

    Drawn is the normal–inverse-gamma posterior under the reference prior: σ² = (n − 1)s²/χ², then μ ~ N(x̄, σ²/n); the
    belief is N(μ, σ²/n).
    """
    rng = np.random.default_rng(seed)
    errors = float(prior.stds[0]) * np.sqrt((rows - 1) / rng.chisquare(rows - 1, size=draws))
    means = float(prior.means[0]) + errors * rng.standard_normal(draws)
    return [Mixture.gaussian(float(m), float(s)) for m, s in zip(means, errors, strict=True)]


def model_draws(drawn: tuple[Array, Array], draws: int, seed: Sequence[int]) -> list[Mixture]:
    """As many of the normals that were drawn when a model was trained, chosen by the seed, none twice."""
    means, stds = drawn
    if draws > len(means):
        raise too_few_model_draws(draws, len(means))
    chosen = np.random.default_rng(seed).permutation(len(means))[:draws]
    return [Mixture.gaussian(float(means[k]), float(stds[k])) for k in chosen]


def too_few_model_draws(needed: int, made: int) -> InputError:
    """What to do where a model kept fewer draws than a level asks for."""
    return InputError(
        f"confidence of this level needs {needed:,} draws of a model's parameters, and {made:,} were made when it was "
        f"fitted: fit it with draws={needed}, or ask for less"
    )


def all_alike(secret: Secret) -> MechanismError:
    """Why nothing is drawn for rows that do not spread: each draw would be the sample again, whatever it missed."""
    return MechanismError(
        f"the rows with secret {secret!r} are all alike in what is published, and say nothing of how others spread: no "
        f"draw of the population can be made of them. Merge {secret!r} with another secret, from which it is then not "
        f"hidden, or leave it out; without confidence the guarantee is for these rows alone"
    )


def _of_secret(belief: Belief, secret: Secret, draws: int, seed: Sequence[int]) -> list[Mixture]:
    prior = belief[secret]
    if prior.space != "number" or len(prior) != 1:
        raise InputError(f"the prior of {secret!r} must be one normal for its posterior to be drawn")
    if prior.stds[0] == 0:
        raise all_alike(secret)  # of a model's too, which was not trained on such rows
    if secret in belief.drawn:
        return model_draws(belief.drawn[secret], draws, seed)
    rows = belief.rows.get(secret, 0)
    if rows < 2:
        raise InputError(f"the prior of {secret!r} must rest on at least 2 rows for its posterior to be drawn")
    return mean_draws(prior, rows, draws, seed)


def _laws(belief: Belief, pairs: Pairs) -> list[Mixture]:
    return [law for secret in pairs.secrets if (law := belief[secret]).space == "number"]


def _named(belief: int, pair: tuple[int, int] | None, pairs: Pairs, draw: int | None) -> Place | None:
    return None if pair is None else Place(belief, draw, (pairs.secrets[pair[0]], pairs.secrets[pair[1]]))


# Confidence for vectors: the joint normal of several means, or of a model's predictions, was itself estimated.
#
# See `takifugu.mechanisms.draws` for what draws that hold are evidence of.

_MOST_SHAPING = 24  # draws that the shape of the noise is fitted to, beside the centre
_SHAPED_PLACES = 100  # pairs both ways, times those draws: what a search for a shape can bear
_CLOSE = 1e-4  # the search for the factor ends when two, one enough and one not, lie this close


def confident_vector_noise(
    rule: "Shaped", problem: Problem, asked: Guarantee, *, draws: int, seed: int, found: GaussianVector
) -> GaussianVector:
    """Noise that is enough for the centre and for every draw: a shape, times the least factor at which all hold.

    The shape is the best for the centre and for draws of their own. Then one number is left, on which every loss
    depends monotonically, so that the draws which set it may judge it (proofs/population.md).
    """
    places = 2 * len(problem.pairs)
    shaping = min(_MOST_SHAPING, _SHAPED_PLACES // places, _spare(problem, draws))
    shape = found.covariance
    if shaping:
        shape = _shape_for(rule, problem, asked, _shaping_laws(problem, draws, shaping, seed))
    gaps, lead, follow = _pairs_drawn(problem, draws, seed)

    def enough(factor: float) -> bool:
        losses = gaussian_vector_divergences(gaps, lead, follow, alpha=asked.alpha, covariance=factor * shape)
        return bool((losses <= asked.epsilon * (1 - _MARGIN)).all())

    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
        if high > 1e12:
            raise CalibrationError("no finite noise is enough for every draw: a secret rests on too few rows")
    while low > 0 and high > low * (1 + _CLOSE):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return GaussianVector(high * shape)


def has_posterior(problem: Problem) -> bool:
    """Whether the answer is several means or predictions, whose posterior is that of a normal's parameters."""
    answer = problem.answer
    if answer is None or answer.query not in OF_GROUPS or len(problem.beliefs) > 1:
        return False
    if answer.query != "mean" and set(problem.beliefs[0].drawn) < set(problem.beliefs[0]):
        raise no_model_draws(answer)
    return True


def no_model_draws(answer: Answer) -> MechanismError:
    """What to do where a model was fitted without a thought of confidence."""
    if answer.query in MEAN_OF.values():
        return MechanismError(
            "confidence is for a new observation that is drawn from a model's prediction, not for the mean of the "
            "prediction: leave confidence out"
        )
    return MechanismError(
        f"confidence draws from the model's own posterior, and no draws were kept when it was fitted: fit it with "
        f"draws=59 for 0.95, as in {answer.query.upper()}({answer.columns[0]!r}, draws=59)"
    )


def withstands_vectors(problem: Problem, channel: GaussianVector, asked: Guarantee, *, draws: int, seed: int) -> bool:
    """Whether noise on vectors keeps the promise for every draw."""
    gaps, lead, follow = _pairs_drawn(problem, draws, seed)
    losses = gaussian_vector_divergences(gaps, lead, follow, alpha=asked.alpha, covariance=channel.covariance)
    return bool((losses <= asked.epsilon).all())


def vector_mean_draws(law: VectorMixture, rows: int, draws: int, seed: Sequence[int]) -> list[VectorMixture]:
    """Normals drawn for the means of `rows` rows whose prior has the means and the covariance of means they gave.

    The normal–inverse-Wishart posterior under the reference prior: Σ from the inverse Wishart of n − 1 degrees of
    freedom around the rows' covariance, then μ ~ N(x̄, Σ/n); the belief is N(μ, Σ/n).
    """
    d = law.dimension
    if len(law) != 1 or rows <= d:
        raise InputError(
            f"confidence for the means of {d} columns needs one normal per secret on more than {d} rows: merge rare "
            f"secrets, which are then not hidden from one another, or name fewer columns"
        )
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(law.covariances[0])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    freedom = rows - 1
    found = []
    for _ in range(draws):
        # Bartlett: A Aᵀ is Wishart, and A lower triangular; its inverse is what the covariance is multiplied by.
        lower = np.tril(rng.standard_normal((d, d)), -1)
        lower[np.diag_indices(d)] = np.sqrt(rng.chisquare(freedom - np.arange(d)))
        spread = math.sqrt(freedom) * root @ np.linalg.inv(lower).T
        covariance = spread @ spread.T
        mean = law.means[0] + spread @ rng.standard_normal(d)
        found.append(VectorMixture.gaussian(mean, 0.5 * (covariance + covariance.T)))
    return found


def vector_model_draws(drawn: tuple[Array, Array], start: int, draws: int, seed: Sequence[int]) -> list[VectorMixture]:
    """So many of the normals that were drawn when a model was trained, in an order that the seed gives, from `start`.

    Given its parameters, a model's new observations are independent: one variance for each.
    """
    means, stds = drawn
    chosen = np.random.default_rng(seed).permutation(len(means))[start : start + draws]
    if len(chosen) < draws:
        raise too_few_model_draws(draws, len(means))
    one = np.eye(means.shape[1])
    return [VectorMixture.gaussian(means[k], float(stds[k]) ** 2 * one) for k in chosen]


def _spare(problem: Problem, draws: int) -> int:
    """How many draws are left for the shape when those that judge are taken; of means there is no end of them."""
    kept = [len(means) for means, _ in problem.beliefs[0].drawn.values()]
    return max(0, min(kept) - draws) if kept else _MOST_SHAPING


def _shaping_laws(problem: Problem, draws: int, shaping: int, seed: int) -> list[list[VectorMixture]]:
    """Draws that have nothing in common with those that judge: from another seed, or further on in a model's list."""
    if problem.beliefs[0].drawn:
        return _laws_drawn(problem, shaping, seed, start=draws)
    return _laws_drawn(problem, shaping, seed + APART)


def _laws_drawn(problem: Problem, draws: int, seed: int, start: int = 0) -> list[list[VectorMixture]]:
    """The laws of every secret, draw by draw."""
    belief = problem.beliefs[0]
    each = []
    for k, secret in enumerate(problem.pairs.secrets):
        law = _law(belief, secret)
        if secret in belief.drawn:
            each.append(vector_model_draws(belief.drawn[secret], start, draws, [seed, 0, k]))
        else:
            each.append(vector_mean_draws(law, belief.rows.get(secret, 0), draws, [seed, 0, k]))
    return [list(laws) for laws in zip(*each, strict=True)]


def _pairs_drawn(problem: Problem, draws: int, seed: int) -> tuple[Array, Array, Array]:
    """Every pair both ways under every draw: differences of means, and the covariances of the two."""
    pairs = list(zip(*problem.pairs.directed_places(), strict=True))
    both = [(laws[i], laws[j]) for laws in _laws_drawn(problem, draws, seed) for i, j in pairs]
    return (
        np.array([p.means[0] - q.means[0] for p, q in both]),
        np.array([p.covariances[0] for p, _ in both]),
        np.array([q.covariances[0] for _, q in both]),
    )


def _shape_for(rule: "Shaped", problem: Problem, asked: Guarantee, laws: list[list[VectorMixture]]) -> Array:
    secrets = problem.pairs.secrets
    beliefs = (problem.beliefs[0], *(Belief(dict(zip(secrets, drawn, strict=True))) for drawn in laws))
    return rule.find(Problem(beliefs, problem.pairs), asked).channel.noise_covariance


def _law(belief: Belief, secret: object) -> VectorMixture:
    law: VectorMixture = belief[secret]
    if law.space != "vector":
        raise InputError("these draws are of vectors")
    if not np.diagonal(law.covariances[0]).all():
        raise all_alike(secret)
    return law
