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
from takifugu.problems.beliefs import belief_names

VERSION = 2
KEPT = "kept: stated to be random"  # what is said of an order that was not drawn
LISTS = (FiniteChannel.kind, SparseChannel.kind)


@dataclass(frozen=True)
class RedactedChannel:
    """A certificate without its priors and losses.

    The probabilities of a finite channel are in it only where they tell nothing about the rows that are published: see
    `tells_probabilities`. Of noise on vectors only the standard deviation of each axis is told: its correlations point
    in the direction in which the secrets differ. `order` is there where the rows were not shuffled, on the word of
    whoever published them.
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


def tells_probabilities(calibration: Calibration) -> bool:
    """Whether the probabilities of a finite channel may be published.

    Probabilities that were fitted to the rows that are published give the secret of one of them away to whoever knows
    all others and can fit again (benchmarks/small_tables.py); so every belief must be that of another table, which has
    a name. A list of values that was read from data, or the rows that occur, would tell that somebody has each of them;
    so the list must be given by the user.
    """
    answer = calibration.answer
    return answer is not None and answer.is_public and None not in belief_names(calibration.beliefs)


def public_form(calibration: Calibration) -> dict[str, Any]:
    """What may be published of a channel: of a finite one whose probabilities are withheld, its kind and no size."""
    channel = calibration.channel
    if isinstance(channel, GaussianVector):
        return {"kind": channel.kind, "deviations": np.sqrt(np.diagonal(channel.covariance)).tolist()}
    if isinstance(channel, ListChannel) and not tells_probabilities(calibration):
        return {"kind": channel.kind}
    return channel_form.channel_to(channel)


def is_withheld(value: dict[str, Any]) -> bool:
    """Whether what was published of a channel is that it is a finite one, and no more."""
    return value == {"kind": value["kind"]}


def _require_public(value: Any) -> None:
    if form.kind_of(value) == GaussianVector.kind:
        content = form.fields(value, ("kind", "deviations"), "'channel'")
        for n, one in enumerate(form.items(content["deviations"], "channel.deviations", least=1, most=MOST_AXES)):
            form.number(one, f"channel.deviations[{n}]", above=0)
    elif not (form.kind_of(value) in LISTS and is_withheld(value)):
        channel_form.channel_from(value)
