"""How answers go through each kind of channel: what is accepted, what is drawn, and what may be told about it."""

from collections.abc import Mapping
from typing import Any

from takifugu.calibration import Calibration
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.sparse import SparseChannel
from takifugu.channels.vector import GaussianVector
from takifugu.errors import InputError
from takifugu.releases.drawing.base import Drawing
from takifugu.releases.drawing.lists import Listed
from takifugu.releases.drawing.numbers import Numbers
from takifugu.releases.drawing.vectors import Vectors

__all__ = ["OPTIONS", "Drawing", "drawing_of"]

# Whatever can be asked of a channel; each kind refuses what is not for it.
OPTIONS = ("theta", "covariance", "granularity", "clip", "round_to")


def drawing_of(calibration: Calibration, options: Mapping[str, Any]) -> Drawing:
    """The way to publish through a calibration's channel, its options checked; those left out are None."""
    given = {name: options.get(name) for name in OPTIONS}
    kinds: dict[type, Any] = {
        FiniteChannel: Listed,
        SparseChannel: Listed,
        GaussianNoise: Numbers,
        GaussianVector: Vectors,
    }
    kind = kinds.get(type(calibration.channel))
    if kind is None:
        raise InputError(
            f"nothing can be published through a {type(calibration.channel).__name__}: exact draws are known for "
            f"{', '.join(one.__name__ for one in kinds)}. Nothing was released"
        )
    drawing: Drawing = kind.of(calibration, given)
    return drawing
