"""What an analyst knows of a release: the channel, the columns that went through it, and what it leaves as it was."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu import strict_json
from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.certificates import (
    KEPT,
    REDACTED,
    Certificate,
    ChannelCertificate,
    RedactedCertificate,
    RedactedChannel,
    is_withheld,
    kept,
)
from takifugu.channels import FiniteChannel, GaussianNoise, GaussianVector, Noise, SparseChannel, channel_from_state
from takifugu.errors import InputError
from takifugu.problems import OrderKept

_ACCEPTED = "the public certificate of the release (a path, or what .redacted() gives), its calibration or its channel"


@dataclass(frozen=True)
class Axes:
    """Noise on vectors as the public knows it: the standard deviation of each axis, and not how they go together."""

    deviations: Array


@dataclass(frozen=True)
class Withheld:
    """A finite channel that is not told: its probabilities, or its list of values, tell about the rows behind it."""


Known = FiniteChannel | SparseChannel | Noise | GaussianVector | Axes | Withheld


@dataclass(frozen=True)
class Description:
    """The channel, its columns where they are told, and what it keeps: "marginal", the shares of rows, or None.

    `order` is what the publisher states of rows that were not shuffled; None of shuffled ones.
    """

    channel: Known
    columns: tuple[str, ...] | None = None
    keeps: str | None = None
    order: str | None = None

    @property
    def width(self) -> int:
        """How many columns go through the channel."""
        if isinstance(self.channel, FiniteChannel | SparseChannel):
            first = self.channel.inputs[0]
            return len(first) if isinstance(first, tuple) else 1
        if isinstance(self.channel, Axes):
            return len(self.channel.deviations)
        if isinstance(self.channel, Withheld):
            return len(self.columns or ())
        return self.channel.dimension if isinstance(self.channel, GaussianVector) else 1


def described(public: Any) -> Description:
    """What is known of a release, from whatever tells it."""
    if isinstance(public, str | os.PathLike):
        public = _read(public)
    if isinstance(public, ChannelCertificate):
        public = public.calibration
    if isinstance(public, RedactedCertificate | Certificate):
        return Description(GaussianNoise(public.theta))
    if isinstance(public, RedactedChannel):
        content = public.content
        channel = _public_channel(content["channel"])
        return Description(channel, _names(content["columns"]), content["keeps"], content.get("order"))
    if isinstance(public, Calibration):
        answer = public.answer
        columns = None if answer is None else answer.columns
        order = KEPT if OrderKept.among(public.findings) else None
        return Description(_supported(public.channel), columns, kept(public), order)
    return Description(_supported(public))


def named(description: Description, columns: Sequence[str] | str | None, available: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns that went through the channel."""
    given = (columns,) if isinstance(columns, str) else None if columns is None else tuple(columns)
    told = given if given is not None else description.columns
    if told is None and len(available) == description.width:
        told = tuple(available)
    if told is None or len(told) != description.width:
        raise InputError(
            f"the channel is for {description.width} column(s), and which they are is not told: name them with "
            f"columns, in the order of the channel"
        )
    if missing := [name for name in told if name not in available]:
        raise InputError(f"the published table has no column {missing[0]!r}; its columns are {', '.join(available)}")
    return told


def _supported(channel: Any) -> Known:
    if isinstance(channel, FiniteChannel | SparseChannel | Noise | GaussianVector):
        return channel
    raise InputError(f"estimates need {_ACCEPTED}, got {type(channel).__name__}")


def _read(path: str | os.PathLike[str]) -> Any:
    data = strict_json.read(path, most_bytes=1 << 28)
    told = data.get("format") if isinstance(data, dict) else None
    if told == REDACTED:
        return (RedactedCertificate if data.get("version") == 1 else RedactedChannel).from_dict(data)
    if told == "takifugu-calibration":
        return Calibration.from_dict(data)
    raise InputError(f"{os.fspath(path)!r} is something else: estimates need {_ACCEPTED}")


def _public_channel(value: Any) -> Known:
    if value.get("kind") == GaussianVector.kind and "deviations" in value:
        return Axes(np.array(value["deviations"], dtype=np.float64))
    if is_withheld(value):
        return Withheld()
    return _supported(channel_from_state(value))


def _names(columns: Any) -> tuple[str, ...] | None:
    return None if columns is None else tuple(columns)
