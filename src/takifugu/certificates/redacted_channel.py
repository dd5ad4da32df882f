"""What may be published of a certificate of a channel."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu.calibration import Calibration
from takifugu.certificates import version_1
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.listed import ListChannel
from takifugu.channels.sparse import SparseChannel
from takifugu.channels.vector import MOST_AXES, GaussianVector
from takifugu.documents import channels as channel_form
from takifugu.documents import fields as form
from takifugu.documents import problems as documents
from takifugu.documents import strict_json
from takifugu.errors import InputError

VERSION = 2
KEPT = "kept: stated to be random"  # what is said of an order that was not drawn
_LISTS = (FiniteChannel.kind, SparseChannel.kind)


@dataclass(frozen=True)
class RedactedChannel:
    """A certificate without its priors and losses.

    A finite channel may be known where its list is public: whoever believes the priors could have computed it. A list
    that was read from the data, or of the rows that occur, would tell that somebody has each of them: of such a channel
    only the size is told. Of noise on vectors only the standard deviation of each axis is: its correlations point in
    the direction in which the secrets differ. `order` is there where the rows were not shuffled, on the word of whoever
    published them.
    """

    content: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The content as plain values for JSON."""
        return {"format": version_1.REDACTED, "version": VERSION, **self.content}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file to publish."""
        strict_json.write(self.to_dict(), path)

    @classmethod
    def from_dict(cls, data: Any) -> "RedactedChannel":
        """What `to_dict` wrote."""
        keys = ("guarantee", "channel", "mechanism", "columns", "keeps", "software", "certificate_sha256")
        form.header(data, version_1.REDACTED, (VERSION,), "a redacted certificate of a channel")
        told = ("order",) if "order" in data else ()  # there only where the rows were not shuffled
        if told and data["order"] != KEPT:
            raise InputError(f"'order' must be {KEPT!r}, where it is told")
        content = form.fields(data, ("format", "version", *keys, *told), "the redacted certificate")
        documents.guarantee_from(content["guarantee"])
        _require_public(content["channel"])
        form.mechanism(content["mechanism"])
        if content["columns"] is not None:
            form.texts(content["columns"], "'columns'", least=1, most=MOST_AXES)
        if content["keeps"] not in (None, "marginal"):
            raise InputError("'keeps' must be 'marginal' or null")
        form.software(content["software"])
        form.hex_digest(content["certificate_sha256"], "'certificate_sha256'")
        return cls({key: content[key] for key in (*keys, *told)})


def public_form(calibration: Calibration) -> dict[str, Any]:
    """What may be published of a channel."""
    channel, answer = calibration.channel, calibration.answer
    if isinstance(channel, GaussianVector):
        return {"kind": channel.kind, "deviations": np.sqrt(np.diagonal(channel.covariance)).tolist()}
    if isinstance(channel, ListChannel) and answer is not None and not answer.is_public:
        return {"kind": channel.kind, "inputs": len(channel.inputs), "outputs": len(channel.outputs)}
    return channel_form.channel_to(channel)


def _require_public(value: Any) -> None:
    if form.kind_of(value) == GaussianVector.kind:
        content = form.fields(value, ("kind", "deviations"), "'channel'")
        for n, one in enumerate(form.items(content["deviations"], "channel.deviations", least=1, most=MOST_AXES)):
            form.number(one, f"channel.deviations[{n}]", above=0)
        return
    if form.kind_of(value) in _LISTS and "counts" not in value:
        content = form.fields(value, ("kind", "inputs", "outputs"), "'channel'")
        for key in ("inputs", "outputs"):
            form.index(content[key], f"channel.{key}", below=1 << 31)
        return
    channel_form.channel_from(value)
