"""A calibration in sentences."""

from typing import TYPE_CHECKING

import numpy as np

from takifugu.channels.listed import ListChannel
from takifugu.channels.vector import GaussianVector
from takifugu.mechanisms import is_ours
from takifugu.mechanisms.optimal.table import table_of
from takifugu.problems.guarantee import Renyi
from takifugu.problems.pairs import Pairs

if TYPE_CHECKING:
    from takifugu.calibration.result import Calibration


def told(calibration: "Calibration") -> str:
    """What a calibration found, in sentences."""
    channel, promise, rule = calibration.channel, calibration.guarantee, calibration.mechanism
    who = _protected(calibration.pairs)
    closest = f"{calibration.problem.words(calibration.place)}, with a loss of {calibration.loss:.6g}."
    if isinstance(channel, ListChannel):
        changed = channel.share_changed(table_of(calibration.problem).mass)
        return (
            f"A channel between {len(channel.inputs)} value{'s' if len(channel.inputs) > 1 else ''} hides "
            f"{who} {promise.bound} ({rule}): {changed:.3g} of the values are published as "
            f"another. The worst pair is {closest}"
        )
    if isinstance(channel, GaussianVector):
        stds = ", ".join(f"{x:.4g}" for x in np.sqrt(np.diagonal(channel.covariance)))
        return (
            f"Gaussian noise on vectors of {channel.dimension} numbers, with standard deviations {stds}, "
            f"hides {who} {promise.bound} ({rule}). The worst pair is {closest}"
        )
    if calibration.theta == 0:
        return f"No noise is needed: without any, {who} is {promise.bound}. The closest to the limit is {closest}"
    hides = (
        f"hides {who}" if isinstance(promise, Renyi) else f"gives the weaker, approximate promise of {rule!r} to {who}"
    )
    foreign = "" if is_ours(rule) else ", not one of Takifugu's own: the exact divergence was checked"
    return (
        f"Gaussian noise of standard deviation θ = {calibration.theta:.6g} {hides} {promise.bound} "
        f"({rule}{foreign}). The worst pair is {closest}"
    )


def _protected(pairs: Pairs) -> str:
    if pairs.is_every:
        return "every pair of secrets"
    return "the chosen pair of secrets" if len(pairs) == 1 else f"each of the {len(pairs):,} chosen pairs"
