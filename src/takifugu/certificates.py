"""Certificates: a calibration proved once, in a file from which anyone can prove it again.

What a certificate claims, and what it does not, is proofs/certificates.md.
"""

import hashlib
import math
import os
import platform
import secrets as random_bits
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from takifugu import certificate_format as form
from takifugu import strict_json
from takifugu.calibration import Calibration
from takifugu.divergences.balls import Enclosure
from takifugu.divergences.certified import Decision, decide, settle
from takifugu.divergences.effort import VERIFY_LIMIT, Effort
from takifugu.errors import CertificationError, InputError
from takifugu.mechanisms import get_mechanism, list_mechanisms
from takifugu.mechanisms.base import RPP
from takifugu.priors.mixture import Mixture
from takifugu.redaction import RedactedCertificate

__all__ = ["Certificate", "certify", "verify"]

_ROOM = 1e-10  # losses are recorded this much wider than proved, so that any machine can prove them again


@dataclass(frozen=True)
class Certificate:
    """A claim with all that is needed to prove it: this noise keeps these pairs of secrets within this budget.

    It holds the priors, which describe people: it is for the auditor. `redacted()` is for the public.
    """

    alpha: float
    epsilon: float
    theta: float
    mechanism: str
    secrets: tuple[form.Scalar, ...]
    pairs: tuple[tuple[int, int], ...] = field(repr=False)
    beliefs: tuple[tuple[Mixture, ...], ...] = field(repr=False)
    losses: tuple[Enclosure, ...] = field(repr=False)
    software: tuple[tuple[str, str], ...] = field(repr=False)
    nonce: str = field(repr=False)
    guarantee: str = RPP

    def __post_init__(self) -> None:
        """One loss for each place; none yet in a draft, which no `verify` accepts."""
        if len(self.losses) not in (0, len(self.places)):
            raise InputError(f"'losses' must have {len(self.places)} entries, got {len(self.losses)}")

    @property
    def places(self) -> form.Places:
        """What the losses are about, in order: (belief, from, to)."""
        return form.places(self.pairs, len(self.beliefs))

    @property
    def sha256(self) -> str:
        """The digest of the canonical content. The nonce in it keeps the priors from being guessed from it."""
        return hashlib.sha256(strict_json.canonical(self._content())).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `verify` takes."""
        strict_json.write(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Certificate":
        """Read a file, checking its form and its digest. Nothing is proved by reading: see `verify`."""
        data = strict_json.read(path)
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"{os.fspath(path)!r} is not a certificate that can be used: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """The content as plain values for JSON, and its digest; no float loses a bit."""
        return self._content() | {"sha256": self.sha256}

    @classmethod
    def from_dict(cls, data: Any) -> "Certificate":
        """What `to_dict` wrote, every field checked; an `InputError` names the one that is wrong."""
        content = form.header(data)
        names = form.secrets(content["secrets"])
        pairs = form.pairs(content["pairs"], len(names))
        beliefs = form.beliefs(content["beliefs"], len(names))
        epsilon = form.number(content["epsilon"], "'epsilon'", above=0)
        certificate = cls(
            alpha=form.number(content["alpha"], "'alpha'", above=1),
            epsilon=epsilon,
            theta=form.number(content["theta"], "'theta'", least=0),
            mechanism=form.mechanism(content["mechanism"]),
            secrets=names,
            pairs=pairs,
            beliefs=beliefs,
            losses=form.losses(content["losses"], form.places(pairs, len(beliefs)), epsilon),
            software=form.software(content["software"]),
            nonce=form.hex_digest(content["nonce"], "'nonce'"),
            guarantee=form.text(content["guarantee"], "'guarantee'"),
        )
        if form.hex_digest(content["sha256"], "'sha256'") != certificate.sha256:
            raise InputError("'sha256' does not match the content: the file was changed after it was made")
        return certificate

    def redacted(self) -> RedactedCertificate:
        """What may be published: the claim without the priors, with the digest of this certificate."""
        return RedactedCertificate(
            alpha=self.alpha,
            epsilon=self.epsilon,
            theta=self.theta,
            mechanism=self.mechanism,
            guarantee=self.guarantee,
            secrets=len(self.secrets),
            pairs=len(self.pairs),
            beliefs=len(self.beliefs),
            software=self.software,
            certificate_sha256=self.sha256,
        )

    def require_match(self, published: RedactedCertificate) -> None:
        """Make sure that a published certificate is the redaction of this one, in every field."""
        if self.redacted() != published:
            raise CertificationError(
                "the redacted certificate is not that of this certificate: a figure or the digest in it differs"
            )

    def _content(self) -> dict[str, Any]:
        return {
            "format": form.FORMAT,
            "version": form.VERSION,
            "nonce": self.nonce,
            "alpha": self.alpha,
            "epsilon": self.epsilon,
            "theta": self.theta,
            "mechanism": self.mechanism,
            "guarantee": self.guarantee,
            "secrets": list(self.secrets),
            "pairs": [list(pair) for pair in self.pairs],
            "beliefs": [
                [
                    {"weights": prior.weights.tolist(), "means": prior.means.tolist(), "stds": prior.stds.tolist()}
                    for prior in belief
                ]
                for belief in self.beliefs
            ],
            "losses": [
                dict(zip(form.LOSS_KEYS, (*place, loss.lower, loss.upper), strict=True))
                for place, loss in zip(self.places, self.losses, strict=False)
            ],
            "software": dict(self.software),
        }


def certify(calibration: Calibration) -> Certificate:
    """Prove, in exact and ball arithmetic, that a calibration keeps every pair within its budget.

    Raises `CertificationError` where that is false or cannot be proved, or where the mechanism promises less.

    >>> from takifugu import calibrate
    >>> result = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(1, 1)}, alpha=2, epsilon=0.5)
    >>> certify(result).theta == result.theta
    True
    """
    if not isinstance(calibration, Calibration):
        raise InputError(f"certify takes the result of calibrate, got {type(calibration).__name__}")
    mechanism = form.mechanism(calibration.mechanism)
    _require_full_promise(mechanism, form.text(calibration.guarantee, "'guarantee'"))
    if math.isinf(calibration.theta):
        raise CertificationError(f"{mechanism!r} found no finite noise, so there is nothing to certify: use 'exact'")
    names = calibration.pairs.secrets
    for belief in calibration.beliefs:
        if missing := [secret for secret in names if secret not in belief]:
            raise InputError(f"every belief must give each secret a prior; one gives none to {missing[0]!r}")
    draft = Certificate(
        alpha=calibration.alpha,
        epsilon=calibration.epsilon,
        theta=calibration.theta,
        mechanism=mechanism,
        secrets=form.secrets([_plain(secret) for secret in names]),
        pairs=_positions(calibration),
        beliefs=tuple(tuple(belief[secret] for secret in names) for belief in calibration.beliefs),
        losses=(),
        software=_software(),
        nonce=random_bits.token_hex(32),
    )
    losses = []
    for b, i, j in draft.places:
        p, q = draft.beliefs[b][i], draft.beliefs[b][j]
        decision = decide(p, q, alpha=draft.alpha, epsilon=draft.epsilon, theta=draft.theta)
        _require_proof(decision, draft, (b, i, j))
        losses.append(_with_room(decision.enclosure, draft.epsilon))
    return replace(draft, losses=tuple(losses))


def verify(certificate: Certificate | str | os.PathLike[str], *, limit: int = VERIFY_LIMIT) -> Certificate:
    """Prove a certificate again from its priors alone, and return it; no recorded figure is trusted.

    Raises `InputError` where the file is not a certificate, and `CertificationError` where its claim is false or could
    not be proved within `limit` units of work (about a microsecond each): a large file may need more.
    """
    if not isinstance(certificate, Certificate):
        if not isinstance(certificate, str | os.PathLike):
            raise InputError(f"verify takes a Certificate or the path of one, got {type(certificate).__name__}")
        certificate = Certificate.load(certificate)
    certificate = Certificate.from_dict(certificate.to_dict())  # an object made by hand is held to the same form
    _require_full_promise(certificate.mechanism, certificate.guarantee)
    effort = Effort(limit)
    for place, loss in zip(certificate.places, certificate.losses, strict=True):
        p, q = (certificate.beliefs[place[0]][k] for k in place[1:])
        decision = settle(p, q, loss, alpha=certificate.alpha, theta=certificate.theta, effort=effort)
        _require_proof(decision, certificate, place)
    return certificate


def _require_full_promise(mechanism: str, guarantee: str) -> None:
    if mechanism in list_mechanisms():
        promised = get_mechanism(mechanism, {}).guarantee
        guarantee = promised if promised != RPP else guarantee
    if guarantee != RPP:
        raise CertificationError(
            f"{mechanism!r} gives a weaker promise ({guarantee[:60]}) than Rényi Pufferfish Privacy: its budget may be "
            "exceeded for a share of the cases, and so there is no proof to be had; calibrate with 'exact' instead"
        )


def _require_proof(decision: Decision, certificate: Certificate, place: tuple[int, int, int]) -> None:
    if decision.holds:
        return
    belief, i, j = place
    first, second = certificate.secrets[i], certificate.secrets[j]
    under = f" under belief {belief}" if len(certificate.beliefs) > 1 else ""
    raise CertificationError(
        f"the loss of {first!r} against {second!r}{under} with theta = {certificate.theta!r} and alpha = "
        f"{certificate.alpha!r} is not proved to be within epsilon = {certificate.epsilon!r}: {decision.reason}"
    )


def _with_room(proved: Enclosure, epsilon: float) -> Enclosure:
    lower, upper = proved.lower * (1 - _ROOM), proved.upper * (1 + _ROOM)
    return Enclosure(lower, min(upper, epsilon))


def _positions(calibration: Calibration) -> tuple[tuple[int, int], ...]:
    names = calibration.pairs.secrets
    place = {secret: i for i, secret in enumerate(names)}
    form.require_provable(len(calibration.pairs), len(calibration.beliefs))
    return tuple((place[a], place[b]) for a, b in calibration.pairs)


def _plain(secret: Any) -> Any:
    return secret.item() if isinstance(secret, np.generic) else secret


def _software() -> tuple[tuple[str, str], ...]:
    import flint

    from takifugu import __version__

    return (
        ("flint", flint.__FLINT_VERSION__),
        ("python", platform.python_version()),
        ("python-flint", flint.__version__),
        ("takifugu", __version__),
    )
