"""Confidence for answers whose law is one normal that was itself estimated: means, and predictions of models.

See `takifugu.mechanisms.draws` for what draws that hold are evidence of.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from takifugu._validation import Array, integer
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.base import root_above
from takifugu.mechanisms.confidence import Confident, Place
from takifugu.mechanisms.draws import draws_needed
from takifugu.problems.beliefs import Belief
from takifugu.problems.pairs import Pairs, Secret

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
        f"draw of the population can be made of them. Merge {secret!r} with another secret or leave it out; without "
        f"confidence the promise is for these rows alone"
    )


def _of_secret(belief: Belief, secret: Secret, draws: int, seed: Sequence[int]) -> list[Mixture]:
    prior = belief[secret]
    if not isinstance(prior, Mixture) or len(prior) != 1:
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
    return [law for secret in pairs.secrets if isinstance(law := belief[secret], Mixture)]


def _named(belief: int, pair: tuple[int, int] | None, pairs: Pairs, draw: int | None) -> Place | None:
    return None if pair is None else Place(belief, draw, (pairs.secrets[pair[0]], pairs.secrets[pair[1]]))
