"""Version 2 of the certificate: a channel of any kind, and what it promises.

Noise on the line has version 1, unless its promise is for the population: the evidence for that is part of version 2.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from takifugu._digits import rounded_down
from takifugu.calibration import Calibration
from takifugu.certificates import version_1
from takifugu.certificates.keeping import kept
from takifugu.certificates.redacted_channel import KEPT, VERSION, RedactedChannel, public_form
from takifugu.certificates.sealed import Sealed, losses_from, losses_to
from takifugu.channels.base import Channel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.channels.vector import GaussianVector
from takifugu.divergences.proved.balls import Enclosure
from takifugu.documents import fields as form
from takifugu.documents import problems as documents
from takifugu.errors import InputError
from takifugu.mechanisms.posterior import rows_in_words
from takifugu.problems.asking_findings import OrderKept

_KEYS = ("format", "version", "nonce", "calibration", "losses", "software", "sha256")
_WISHES = {"unbiased": "lack of bias", "forbidden": "forbidden moves", "diagonal": "share of values that stay"}


@dataclass(frozen=True)
class ChannelCertificate(Sealed):
    """A claim with all that is needed to prove it: this channel keeps this promise, and none loses less than said.

    It holds the priors, which describe people: it is for the auditor. `redacted()` is for the public.
    """

    calibration: Calibration
    losses: tuple[Enclosure, ...] = field(repr=False)
    software: tuple[tuple[str, str], ...] = field(repr=False)
    nonce: str = field(repr=False)

    @property
    def alpha(self) -> float:
        """The Rényi order; infinite for a promise about odds."""
        return self.calibration.alpha

    @property
    def epsilon(self) -> float:
        """The budget."""
        return self.calibration.epsilon

    @property
    def theta(self) -> float:
        """The standard deviation of the noise; an `AttributeError` for a channel that adds none."""
        return self.calibration.theta

    @property
    def mechanism(self) -> str:
        """How the channel was found."""
        return self.calibration.mechanism

    @property
    def lower_bound(self) -> float | None:
        """What no channel between these values that keeps the promise loses less than, where that is proved."""
        return self.calibration.lower_bound

    @property
    def error(self) -> float:
        """The expected loss of a published value."""
        return self.calibration.error

    @property
    def claim(self) -> str:
        """What is proved, in a sentence."""
        problem = self.calibration.problem
        best = ""
        if self.lower_bound is not None and (self.lower_bound > 0 or self.error == 0):  # that none gains goes unsaid
            least = rounded_down(self.lower_bound, 6)
            best = f"; it loses {self.error:.6g} a value, and none{self._wished} less than {least}"
        pairs, beliefs = version_1.in_words(len(problem.pairs), len(problem.beliefs))
        bound = self.calibration.guarantee.bound
        return f"{_named(self.calibration.channel)} keeps {pairs} {bound}, under {beliefs}{best}"

    @property
    def population(self) -> str | None:
        """What is said of the population, and on how many rows that rests; None where nothing is."""
        evidence = self.calibration.evidence
        return None if evidence is None else f"{evidence.sentence}; {rows_in_words(self.calibration.problem)}"

    def __str__(self) -> str:
        """What is proved, and what is said of the population."""
        return self.claim if self.population is None else f"{self.claim}. For the population: {self.population}"

    @property
    def _wished(self) -> str:
        """Among which channels the bound is: those between these values that do what else was asked."""
        asked = dict(self.calibration.options)
        wishes = [words for name, words in _WISHES.items() if asked.get(name)]
        if asked.get("keep"):
            wishes.insert(0, "shares" if asked["keep"] == "marginal" else str(asked["keep"]))
        if np.any(asked.get("radius")):  # the condition that is proved is sufficient for the radius, no more
            wishes.append("margin for other priors")
        also = f" with the same {' and '.join(wishes)}" if wishes else ""
        return f" between these values{also}"

    @classmethod
    def from_dict(cls, data: Any) -> "ChannelCertificate":
        """What `to_dict` wrote, every field checked; an `InputError` names the one that is wrong."""
        form.header(data, version_1.FORMAT, (VERSION,), "a certificate of a channel")
        content = form.fields(data, _KEYS, "the certificate")
        calibration = Calibration.from_essentials(content["calibration"])
        certificate = cls(
            calibration,
            losses_from(content["losses"], list(calibration.problem.places())),
            form.software(content["software"]),
            form.hex_digest(content["nonce"], "'nonce'"),
        )
        certificate.require_digest(content["sha256"])
        return certificate

    def redacted(self) -> "RedactedChannel":
        """What may be published: the promise and the channel, without the priors, and the digest of this file."""
        return RedactedChannel(
            {
                "guarantee": documents.guarantee_to(self.calibration.guarantee),
                "channel": public_form(self.calibration),
                "mechanism": self.mechanism,
                "columns": None if self.calibration.answer is None else list(self.calibration.answer.columns),
                "keeps": kept(self.calibration),
                "software": dict(self.software),
                "certificate_sha256": self.sha256,
            }
            | ({"order": KEPT} if OrderKept.among(self.calibration.findings) else {})
        )

    def _content(self) -> dict[str, Any]:
        return {
            "format": version_1.FORMAT,
            "version": VERSION,
            "nonce": self.nonce,
            "calibration": self.calibration.essentials(),
            "losses": losses_to(self.calibration.problem.places(), self.losses),
            "software": dict(self.software),
        }


def _named(channel: Channel) -> str:
    """A channel for a sentence."""
    if isinstance(channel, GaussianNoise):
        return f"Gaussian noise of standard deviation {channel.theta!r}"
    if isinstance(channel, GaussianVector):
        return f"Gaussian noise on vectors of {channel.dimension} numbers"
    if isinstance(channel, ListChannel):
        return f"a channel between {len(channel.inputs)} value{'s' if len(channel.inputs) > 1 else ''}"
    raise InputError(f"a {type(channel).__name__} is not proved here")
