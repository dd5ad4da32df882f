"""The certificate itself: what it holds, and how it becomes a file and back."""

import os
from dataclasses import dataclass, field
from typing import Any

from takifugu.certificates import version_1
from takifugu.certificates.redaction import RedactedCertificate
from takifugu.certificates.sealed import Sealed, losses_to
from takifugu.divergences.proved.balls import Enclosure
from takifugu.documents import fields as form
from takifugu.documents import strict_json
from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture


@dataclass(frozen=True)
class Certificate(Sealed):
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
    guarantee: str = version_1.RPP

    def __post_init__(self) -> None:
        """One loss for each place; none yet in a draft, which no `verify` accepts."""
        if len(self.losses) not in (0, len(self.places)):
            raise InputError(f"'losses' must have {len(self.places)} entries, got {len(self.losses)}")

    @property
    def places(self) -> version_1.Places:
        """What the losses are about, in order: (belief, from, to)."""
        return version_1.places(self.pairs, len(self.beliefs))

    @property
    def claim(self) -> str:
        """What is proved, in a sentence."""
        pairs, beliefs = version_1.in_words(len(self.pairs), len(self.beliefs))
        promise = f"alpha = {self.alpha!r}, epsilon = {self.epsilon!r}"
        return f"noise of standard deviation {self.theta!r} keeps {pairs} within {promise}, under {beliefs}"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Certificate":
        """Read a file, checking its form and its digest. Nothing is proved by reading: see `verify`."""
        data = strict_json.read(path)
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"{os.fspath(path)!r} is not a certificate that can be used: {error}") from None

    @classmethod
    def from_dict(cls, data: Any) -> "Certificate":
        """What `to_dict` wrote, every field checked; an `InputError` names the one that is wrong."""
        content = version_1.header(data)
        names = form.secrets(content["secrets"])
        pairs = form.pairs(content["pairs"], len(names))
        beliefs = version_1.beliefs(content["beliefs"], len(names))
        epsilon = form.number(content["epsilon"], "'epsilon'", above=0)
        certificate = cls(
            alpha=form.number(content["alpha"], "'alpha'", above=1),
            epsilon=epsilon,
            theta=form.number(content["theta"], "'theta'", least=0),
            mechanism=form.mechanism(content["mechanism"]),
            secrets=names,
            pairs=pairs,
            beliefs=beliefs,
            losses=version_1.losses(content["losses"], version_1.places(pairs, len(beliefs)), epsilon),
            software=form.software(content["software"]),
            nonce=form.hex_digest(content["nonce"], "'nonce'"),
            guarantee=form.text(content["guarantee"], "'guarantee'"),
        )
        certificate.require_digest(content["sha256"])
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

    def _content(self) -> dict[str, Any]:
        return {
            "format": version_1.FORMAT,
            "version": version_1.VERSION,
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
            "losses": losses_to(self.places, self.losses),
            "software": dict(self.software),
        }
