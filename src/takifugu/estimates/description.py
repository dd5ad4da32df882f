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
from takifugu.channels import (
    Channel,
    GaussianNoise,
    Noise,
    Publishes,
    channel_class,
    channel_from_state,
    known_channel,
)
from takifugu.errors import InputError
from takifugu.problems import has_code

_ACCEPTED = "the public certificate of the release (a path, or what .redacted() gives), its calibration or its channel"


@dataclass(frozen=True)
class Description:
    """What is known of a channel and of what went through it.

    Attributes:
        publishes: what left it; see `Channel.publishes`.
        width: how many columns went through it.
        channel: the channel, or None of one that is not told: of a finite one whose probabilities, or whose list of
            values, tell about the rows behind it, and of noise on vectors, whose correlations do.
        columns: their names, where they are told.
        keeps: what the channel leaves as it was: "marginal", the shares of rows, or None.
        order: what the publisher states of rows that were not shuffled; None of shuffled ones.
        axes: the noise on each number, where noise was added.
    """

    publishes: Publishes
    width: int
    channel: Channel | None = None
    columns: tuple[str, ...] | None = None
    keeps: str | None = None
    order: str | None = None
    axes: tuple[Noise, ...] = ()

    @classmethod
    def of(
        cls,
        channel: Channel,
        columns: tuple[str, ...] | None = None,
        keeps: str | None = None,
        order: str | None = None,
    ) -> "Description":
        """What is known of a channel that is told."""
        axes = () if channel.publishes == "values" else channel.axes
        return cls(channel.publishes, channel.width, channel, columns, keeps, order, axes)

    @property
    def covariance(self) -> Array:
        """Of the noise that was added; no number where it is not told."""
        if self.channel is not None:
            return self.channel.noise_covariance
        found = np.full((self.width, self.width), np.nan)
        np.fill_diagonal(found, [noise.variance for noise in self.axes])
        return found


def described(public: Any) -> Description:
    """What is known of a release, from whatever tells it."""
    if isinstance(public, str | os.PathLike):
        public = _read(public)
    if isinstance(public, ChannelCertificate):
        public = public.calibration
    if isinstance(public, RedactedCertificate | Certificate):
        return Description.of(GaussianNoise(public.theta))
    if isinstance(public, RedactedChannel):
        content = public.content
        columns = None if content["columns"] is None else tuple(content["columns"])
        return _of_public(content["channel"], columns, content["keeps"], content.get("order"))
    if isinstance(public, Calibration):
        answer = public.answer
        columns = None if answer is None else answer.columns
        order = KEPT if has_code("order-kept", public.findings) else None
        return Description.of(public.channel, columns, kept(public), order)
    if not isinstance(public, Channel):
        raise InputError(f"estimates need {_ACCEPTED}, got {type(public).__name__}")
    return Description.of(known_channel(public))


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


def _read(path: str | os.PathLike[str]) -> Any:
    data = strict_json.read(path, most_bytes=1 << 28)
    told = data.get("format") if isinstance(data, dict) else None
    if told == REDACTED:
        return (RedactedCertificate if data.get("version") == 1 else RedactedChannel).from_dict(data)
    if told == "takifugu-calibration":
        return Calibration.from_dict(data)
    raise InputError(f"{os.fspath(path)!r} is something else: estimates need {_ACCEPTED}")


def _of_public(
    state: dict[str, Any], columns: tuple[str, ...] | None, keeps: str | None, order: str | None
) -> Description:
    """What a public certificate tells of a channel: all of it, the noise on each axis, or its kind alone."""
    if "deviations" in state:
        axes = tuple(GaussianNoise(std) for std in state["deviations"])
        return Description("vector", len(axes), None, columns, keeps, order, axes)
    if is_withheld(state):
        return Description(channel_class(state["kind"]).publishes, len(columns or ()), None, columns, keeps, order)
    return Description.of(channel_from_state(state), columns, keeps, order)
