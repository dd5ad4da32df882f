"""Version 2 of the certificate: a finite channel, what it promises, and that no channel errs less."""

import hashlib
import math
import os
from dataclasses import dataclass, field
from typing import Any

from takifugu.calibration import FOR_READERS, Calibration
from takifugu.certificates import version_1
from takifugu.channels.finite import FiniteChannel
from takifugu.divergences.proved.balls import Enclosure
from takifugu.documents import fields as form
from takifugu.documents import problems as documents
from takifugu.documents import strict_json
from takifugu.errors import CertificationError, InputError
from takifugu.mechanisms.optimal.lower_bound import lower_bound
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Place

VERSION = 2
_KEYS = ("format", "version", "nonce", "calibration", "losses", "software", "sha256")
_LOSS = ("belief", "from", "to", "lower", "upper")
_ROOM = 1e-10  # losses are recorded this much wider than proved, so that any machine can prove them again


@dataclass(frozen=True)
class ChannelCertificate:
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
        best = (
            "" if self.lower_bound is None else f"; it loses {self.error:.6g} a value, and none {self.lower_bound:.6g}"
        )
        return (
            f"a channel between {len(_channel(self.calibration).inputs)} values keeps {len(problem.pairs)} pair(s) of "
            f"secrets within {self.calibration.guarantee}, under {len(problem.beliefs)} belief(s){best}"
        )

    @property
    def sha256(self) -> str:
        """The digest of the canonical content. The nonce in it keeps the priors from being guessed from it."""
        content = self._content()
        # Figures for readers follow from the rest, and their last bit may depend on the machine.
        content["calibration"] = {k: v for k, v in content["calibration"].items() if k not in FOR_READERS}
        return hashlib.sha256(strict_json.canonical(content)).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The content as plain values for JSON, and its digest; no float loses a bit."""
        return self._content() | {"sha256": self.sha256}

    @classmethod
    def from_dict(cls, data: Any) -> "ChannelCertificate":
        """What `to_dict` wrote, every field checked; an `InputError` names the one that is wrong."""
        form.header(data, version_1.FORMAT, (VERSION,), "a certificate of a finite channel")
        content = form.fields(data, _KEYS, "the certificate")
        calibration = Calibration.from_dict(content["calibration"])
        places = list(calibration.problem.places())
        entries = form.items(content["losses"], "'losses'", least=len(places), most=len(places))
        certificate = cls(
            calibration,
            tuple(
                _loss(entry, place, f"losses[{n}]")
                for n, (entry, place) in enumerate(zip(entries, places, strict=True))
            ),
            form.software(content["software"]),
            form.hex_digest(content["nonce"], "'nonce'"),
        )
        if form.hex_digest(content["sha256"], "'sha256'") != certificate.sha256:
            raise InputError("'sha256' does not match the content: the file was changed after it was made")
        return certificate

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `verify` takes."""
        strict_json.write(self.to_dict(), path, private=True)

    def redacted(self) -> "RedactedChannel":
        """What may be published: the promise and the channel, without the priors, and the digest of this file."""
        return RedactedChannel(
            {
                "guarantee": documents.guarantee_to(self.calibration.guarantee),
                "channel": documents.channel_to(self.calibration.channel),
                "mechanism": self.mechanism,
                "software": dict(self.software),
                "certificate_sha256": self.sha256,
            }
        )

    def require_match(self, published: Any) -> None:
        """Make sure that a published certificate is the redaction of this one, in every field."""
        if self.redacted() != published:
            raise CertificationError(
                "the redacted certificate is not that of this certificate: a figure or the digest in it differs"
            )

    def _content(self) -> dict[str, Any]:
        return {
            "format": version_1.FORMAT,
            "version": VERSION,
            "nonce": self.nonce,
            "calibration": self.calibration.to_dict(),
            "losses": [
                dict(zip(_LOSS, (*place, loss.lower, None if math.isinf(loss.upper) else loss.upper), strict=True))
                for place, loss in zip(self.calibration.problem.places(), self.losses, strict=True)
            ],
            "software": dict(self.software),
        }


@dataclass(frozen=True)
class RedactedChannel:
    """A certificate without its priors and losses.

    The channel may be known: whoever believes the priors could have computed it.
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
        keys = ("guarantee", "channel", "mechanism", "software", "certificate_sha256")
        form.header(data, version_1.REDACTED, (VERSION,), "a redacted certificate of a finite channel")
        content = form.fields(data, ("format", "version", *keys), "the redacted certificate")
        documents.guarantee_from(content["guarantee"])
        documents.channel_from(content["channel"])
        form.mechanism(content["mechanism"])
        form.software(content["software"])
        form.hex_digest(content["certificate_sha256"], "'certificate_sha256'")
        return cls({key: content[key] for key in keys})


def prove(calibration: Calibration, software: tuple[tuple[str, str], ...], nonce: str) -> ChannelCertificate:
    """The certificate of a finite channel, once everything in it is proved."""
    _require_kept(calibration)
    _require_best(calibration)
    _require_evidence(calibration)
    version_1.require_provable(len(calibration.pairs), len(calibration.beliefs))
    losses = tuple(_with_room(enclosure) for enclosure in _enclosures(calibration))
    return ChannelCertificate(calibration, losses, software, nonce)


def reprove(certificate: ChannelCertificate) -> None:
    """Prove a certificate again from its priors alone."""
    _require_kept(certificate.calibration)
    _require_best(certificate.calibration)
    _require_evidence(certificate.calibration)
    for place, stated, found in zip(
        certificate.calibration.problem.places(),
        certificate.losses,
        _enclosures(certificate.calibration),
        strict=True,
    ):
        if not (stated.lower <= found.lower and found.upper <= stated.upper):
            raise CertificationError(
                f"the loss of {certificate.calibration.problem.words(place)} is not what the certificate says"
            )


def _enclosures(calibration: Calibration) -> "list[Enclosure]":
    channel, problem = _channel(calibration), calibration.problem
    reach = _rule(calibration).reach(problem)
    size = len(problem.pairs.secrets)

    def radius(place: Place, end: int) -> float:
        return float(reach[place.belief * size + end])

    return [
        channel.enclosure(
            *problem.ends(place),
            alpha=calibration.alpha,
            radius_p=radius(place, place.first),
            radius_q=radius(place, place.second),
        )
        for place in problem.places()
    ]


def _require_kept(calibration: Calibration) -> None:
    if not isinstance(calibration.guarantee, Renyi):
        raise CertificationError("a finite channel can be proved for (α, ε) and for odds, and for no other promise")
    if not _rule(calibration).is_kept(calibration.problem, calibration.guarantee, _channel(calibration)):
        raise CertificationError(f"the channel is not proved to keep {calibration.guarantee}: it was refuted")


def _require_best(calibration: Calibration) -> None:
    """That no channel loses less than the stated bound, by the multipliers that come with it (proofs/optimal.md)."""
    stated = calibration.lower_bound
    if stated is None:
        return
    if calibration.optimality is None or not isinstance(calibration.guarantee, Renyi):
        raise CertificationError("a lower bound is stated, and nothing proves it")
    program = _rule(calibration).program(calibration.problem, calibration.guarantee)
    proved = lower_bound(program, calibration.optimality)
    if not proved >= stated * (1 - _ROOM):
        raise CertificationError(f"that no channel loses less than {stated!r} is not proved: the bound is {proved!r}")


def _require_evidence(calibration: Calibration) -> None:
    """That the channel withstands the draws it is said to withstand: drawn again, as evidence and no proof."""
    evidence, guarantee = calibration.evidence, calibration.guarantee
    if evidence is None or not isinstance(guarantee, Renyi):
        return
    if not evidence.holds(calibration.problem, calibration.channel, guarantee):
        raise CertificationError("the channel does not withstand the draws that are given as evidence, drawn again")


def _rule(calibration: Calibration) -> Optimal:
    return Optimal(**dict(calibration.options)) if calibration.mechanism == Optimal.name else Optimal(keep=None)


def _channel(calibration: Calibration) -> FiniteChannel:
    if not isinstance(calibration.channel, FiniteChannel):
        raise InputError(f"a {type(calibration.channel).__name__} is not proved here")
    return calibration.channel


def _with_room(proved: Enclosure) -> Enclosure:
    return Enclosure(proved.lower * (1 - _ROOM), proved.upper * (1 + _ROOM))


def _loss(value: Any, place: Place, where: str) -> Enclosure:
    entry = form.fields(value, _LOSS, where)
    if tuple(form.index(entry[key], f"{where}.{key}", below=1 << 31) for key in _LOSS[:3]) != tuple(place):
        raise InputError(f"{where} must be about belief {place[0]} and secrets {place[1]} to {place[2]}")
    lower = form.number(entry["lower"], f"{where}.lower", least=0)
    upper = math.inf if entry["upper"] is None else form.number(entry["upper"], f"{where}.upper", least=lower)
    return Enclosure(lower, upper)
