"""Whether a channel leaves the shares of all rows as they were, which its public papers may tell."""

import numpy as np

from takifugu.calibration import Calibration
from takifugu.channels.finite import FiniteChannel
from takifugu.laws.values import key
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.problems.beliefs import belief_names

_SHARES_KEPT = 1e-3  # what repair may move of the shares of a table that is said to keep them


def kept(calibration: Calibration) -> str | None:
    """What a finite channel leaves as it was, on average over all rows, so that analysts need not undo it."""
    channel = calibration.channel
    if (
        dict(calibration.options).get("keep") != "marginal"
        or not isinstance(channel, FiniteChannel)
        or calibration.mechanism != Optimal.name
    ):
        return None
    # The wish was about all beliefs together; what is published comes from the first, which knows nothing.
    belief = calibration.beliefs[0]
    if belief_names([belief]) != [None]:
        return None  # counted on other people's rows
    weights = sum((channel.weights_of(belief[secret]) for secret in calibration.pairs.secrets), np.zeros(1))
    shares = weights / weights.sum()
    before = {key(value): share for value, share in zip(channel.inputs, shares.tolist(), strict=True)}
    moved = sum(
        abs(before.pop(key(value), 0.0) - share)
        for value, share in zip(channel.outputs, (shares @ channel.matrix).tolist(), strict=True)
    )
    return "marginal" if moved + sum(before.values()) <= _SHARES_KEPT else None
