"""How close every pair and every belief comes to the limit: what a report lists beside its worst pair."""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.listed import ListChannel
from takifugu.divergences.finite import divergence
from takifugu.problems.problem import Place
from takifugu.reports.common import MOST_SECRETS, BeliefLoss, PairLosses, belief_name

_MOST_PLACES = 420  # whose loss is an integral each
_MOST_NUMBERS = 4_000_000  # probabilities of published values that are looked at in a report
_MOST_BELIEFS = 8  # that a table lists


def pair_losses(calibration: Calibration) -> PairLosses | None:
    """The losses of every pair under the belief that binds; None where one pair is all there is, or they are too many.

    Of many secrets those whose pairs lose most are taken.
    """
    pairs = calibration.pairs
    if len(pairs) == 1:
        return None
    found = _all_losses(calibration, calibration.place.belief)
    if found is None:
        return None
    worst = np.where(np.isnan(found), -1.0, np.maximum(found, found.T)).max(axis=1)
    kept = np.sort(np.argsort(-worst, kind="stable")[:MOST_SECRETS])
    return PairLosses(
        tuple(str(pairs.secrets[k]) for k in kept), found[np.ix_(kept, kept)], len(pairs.secrets) - len(kept)
    )


def belief_losses(calibration: Calibration) -> tuple[BeliefLoss, ...]:
    """The beliefs closest to the limit, the closest first; none where there is one belief, or too many to look at."""
    count = len(calibration.beliefs)
    if count == 1:
        return ()
    if not isinstance(calibration.channel, ListChannel) and calibration.problem.size > _MOST_PLACES:
        return ()
    found = []
    for belief in range(count):
        losses = _all_losses(calibration, belief)
        if losses is None:
            return ()
        i, j = np.unravel_index(int(np.nanargmax(losses)), losses.shape)
        place = Place(belief, int(i), int(j))
        a, b = calibration.problem.names(place)
        found.append(BeliefLoss(belief_name(calibration, belief), (str(a), str(b)), float(losses[i, j])))
    # The place that binds stands first even where another is as close to the limit.
    order = sorted(range(count), key=lambda k: (-found[k].loss, k != calibration.place.belief))
    return tuple(found[k] for k in order[:_MOST_BELIEFS])


def _all_losses(calibration: Calibration, belief: int) -> Array | None:
    """Losses by position of the secrets; NaN where a pair is not among those to hide. None where they are too many."""
    problem, secrets = calibration.problem, calibration.pairs.secrets
    size, channel = len(secrets), calibration.channel
    found = np.full((size, size), math.nan)
    position = {secret: k for k, secret in enumerate(secrets)}
    if isinstance(channel, ListChannel):
        if size * size * len(channel.outputs) > _MOST_NUMBERS:
            return None
        published = np.stack([channel.apply(law).probabilities for law in problem.laws(belief)])
        every = divergence(published[:, None, :], published[None, :, :], alpha=calibration.alpha)
        for a, b in calibration.pairs.directed():
            found[position[a], position[b]] = every[position[a], position[b]]
        return found
    if 2 * len(calibration.pairs) > _MOST_PLACES:
        return None
    laws = calibration.beliefs[belief]
    for a, b in calibration.pairs.directed():
        found[position[a], position[b]] = channel.loss(laws[a], laws[b], alpha=calibration.alpha)
    return found
