"""Confidence for vectors: the joint normal of several means, or of a model's predictions, was itself estimated.

See `takifugu.mechanisms.draws` for what draws that hold are evidence of.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.channels.vector import GaussianVector
from takifugu.divergences.vector.gaussian import gaussian_vector_divergences
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws.vector import VectorMixture
from takifugu.mechanisms.confidence_normals import all_alike, too_few_model_draws
from takifugu.mechanisms.draws import APART
from takifugu.mechanisms.shaped.mechanism import Shaped
from takifugu.problems.answer import MEAN_OF, OF_GROUPS, Answer
from takifugu.problems.beliefs import Belief
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

_MOST_SHAPING = 24  # draws that the shape of the noise is fitted to, beside the centre
_SHAPED_PLACES = 100  # pairs both ways, times those draws: what a search for a shape can bear
_CLOSE = 1e-4  # the search for the factor ends when two, one enough and one not, lie this close
_MARGIN = 1e-10  # the share of the budget left for rounding in the divergence itself


def confident_vector_noise(
    rule: Shaped, problem: Problem, asked: Renyi, *, draws: int, seed: int, found: GaussianVector
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


def withstands_vectors(problem: Problem, channel: GaussianVector, asked: Renyi, *, draws: int, seed: int) -> bool:
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
            f"secrets, or name fewer columns"
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


def _shape_for(rule: Shaped, problem: Problem, asked: Renyi, laws: list[list[VectorMixture]]) -> Array:
    secrets = problem.pairs.secrets
    beliefs = (problem.beliefs[0], *(Belief(dict(zip(secrets, drawn, strict=True))) for drawn in laws))
    channel: Any = rule.find(Problem(beliefs, problem.pairs), asked).channel
    shape: Array = channel.covariance
    return shape


def _law(belief: Belief, secret: Any) -> VectorMixture:
    law = belief[secret]
    if not isinstance(law, VectorMixture):
        raise InputError("these draws are of vectors")
    if not np.diagonal(law.covariances[0]).all():
        raise all_alike(secret)
    return law
