"""Confidence for answers whose prior is one normal that was itself estimated: means.

See `takifugu.mechanisms.confidence` for what draws that hold are evidence of.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from takifugu._validation import integer
from takifugu.errors import CalibrationError, InputError
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.base import root_above
from takifugu.mechanisms.confidence import Confident, Place, draws_needed
from takifugu.problems.pairs import Pairs, Secret


def confident_noise_of_means(
    priors: Mapping[Secret, Mixture],
    rows: Mapping[Secret, int],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    confidence: float = 0.95,
    halvings: int = 0,
    seed: int = 0,
) -> Confident:
    """The same for means: each prior is normal, with a standard error that itself rests on `rows` rows.

    Drawn is the normal–inverse-gamma posterior under the reference prior: σ² = (n − 1)s²/χ², then μ ~ N(x̄, σ²/n); the
    belief is N(μ, σ²/n).
    """
    draws, seed = draws_needed(confidence, halvings=halvings), integer("seed", seed, least=0)
    exact, centre = Exact(), [priors[secret] for secret in pairs.secrets]
    for secret, prior in zip(pairs.secrets, centre, strict=True):
        if len(prior) != 1 or rows[secret] < 2:
            raise InputError(
                f"the prior of {secret!r} must be one normal on at least 2 rows for its posterior to be drawn"
            )
    drawn = [mean_draws(priors[s], rows[s], draws, [seed, 0, k]) for k, s in enumerate(pairs.secrets)]
    found = exact.least_variance_over(centre, pairs, alpha=alpha, epsilon=epsilon)
    alone, place = found.variance, _named(found.pair, pairs, None)
    for draw in range(draws):
        laws = [of_secret[draw] for of_secret in drawn]
        new = exact.least_variance_over(laws, pairs, alpha=alpha, epsilon=epsilon, floor=found.variance)
        if not new.variance <= found.variance:
            found, place = new, _named(new.pair, pairs, draw)
    if not math.isfinite(found.variance):
        raise CalibrationError("no finite noise is enough for every draw: a secret rests on too few rows")
    return Confident(root_above(found.variance), root_above(alone), float(confidence), draws, seed, place)


def mean_draws(prior: Mixture, rows: int, draws: int, seed: Sequence[int]) -> list[Mixture]:
    """Normals drawn for the mean of `rows` rows whose prior has the mean and standard error they gave."""
    rng = np.random.default_rng(seed)
    errors = float(prior.stds[0]) * np.sqrt((rows - 1) / rng.chisquare(rows - 1, size=draws))
    means = float(prior.means[0]) + errors * rng.standard_normal(draws)
    return [Mixture.gaussian(float(m), float(s)) for m, s in zip(means, errors, strict=True)]


def _named(pair: tuple[int, int] | None, pairs: Pairs, draw: int | None) -> Place | None:
    return None if pair is None else Place(0, draw, (pairs.secrets[pair[0]], pairs.secrets[pair[1]]))
