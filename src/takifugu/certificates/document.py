"""The certificate itself: what it holds, and how it becomes a file and back."""

import hashlib
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from takifugu import strict_json
from takifugu import strict_json as form
from takifugu._display import Plotted
from takifugu.divergences import Enclosure
from takifugu.errors import CertificationError, InputError, Message
from takifugu.laws import Mixture

# What certificates of every version share: losses at every place, and a digest that seals all they hold.

_LOSS = ("belief", "from", "to", "lower", "upper")


class Sealed(Plotted):
    """A certificate as a file: its content, and the digest of it."""

    @property
    def claim(self) -> str:
        """What is proved, in a sentence."""
        raise NotImplementedError

    def redacted(self) -> Any:
        """What may be published.

        Returns:
            The claim and a digest, by which whoever has the full certificate can be held to it.
        """
        raise NotImplementedError

    def _content(self) -> dict[str, object]:
        raise NotImplementedError

    def __str__(self) -> str:
        """What is proved."""
        return self.claim

    @property
    def sha256(self) -> str:
        """The digest of the canonical content. The nonce in it keeps the priors from being guessed from it."""
        return _digest(self._content())

    def to_dict(self) -> dict[str, object]:
        """The content as plain values for JSON, and its digest; no float loses a bit.

        Returns:
            What `save` writes.
        """
        content = self._content()
        return content | {"sha256": _digest(content)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `verify` takes.

        Args:
            path: the name of the file. Only its owner can read it, since it holds the priors.
        """
        strict_json.write(self.to_dict(), path, private=True)

    def require_digest(self, given: object) -> None:
        """Make sure that a file holds what it held when it was made.

        Args:
            given: the digest that the file states.

        Raises:
            InputError: where the content has another.
        """
        if form.hex_digest(given, "'sha256'") != self.sha256:
            raise InputError("'sha256' does not match the content: the file was changed after it was made")

    def require_match(self, published: object) -> None:
        """Make sure that a published certificate is the redaction of this one, in every field.

        Args:
            published: a redacted certificate.

        Raises:
            CertificationError: where a field differs.
        """
        if self.redacted() != published:
            raise CertificationError(
                "the redacted certificate is not that of this certificate: a figure or the digest in it differs"
            )


def _digest(content: dict[str, object]) -> str:
    return hashlib.sha256(strict_json.canonical(content)).hexdigest()


def losses_to(places: Iterable[tuple[int, int, int]], losses: Sequence[Enclosure]) -> list[dict[str, object]]:
    """The loss at each place (belief, from, to); a draft has none yet.

    Args:
        places: what the losses are about.
        losses: an enclosure for each; none for a draft.

    Returns:
        Objects for JSON, infinity as null.
    """
    return [
        dict(zip(_LOSS, (*place, loss.lower, None if math.isinf(loss.upper) else loss.upper), strict=True))
        for place, loss in zip(places if losses else (), losses, strict=True)
    ]


def losses_from(value: object, places: Sequence[tuple[int, int, int]]) -> tuple[Enclosure, ...]:
    """What `losses_to` wrote: all of the places, and in order.

    Args:
        value: the list from the file.
        places: what the losses must be about.

    Returns:
        One enclosure for each place.

    Raises:
        InputError: where a place is missing, out of order or has ends that enclose nothing.
    """
    entries = form.exactly(value, "'losses'", len(places))
    return tuple(_loss(*one, f"losses[{n}]") for n, one in enumerate(zip(entries, places, strict=True)))


def _loss(value: object, place: tuple[int, int, int], where: str) -> Enclosure:
    entry = form.fields(value, _LOSS, where)
    if tuple(form.index(entry[key], f"{where}.{key}", below=1 << 31) for key in _LOSS[:3]) != tuple(place):
        raise InputError(f"{where} must be about belief {place[0]} and secrets {place[1]} to {place[2]}")
    lower = form.number(entry["lower"], f"{where}.lower", least=0)
    upper = math.inf if entry["upper"] is None else form.number(entry["upper"], f"{where}.upper", least=lower)
    return Enclosure(lower, upper)


# Version 1 of the certificate, that of Gaussian noise, checked field by field against schemas/certificate-1.json.

FORMAT = "takifugu-certificate"
REDACTED = "takifugu-certificate-redacted"
VERSION = 1
RPP = "rpp"  # the one promise that version 1 knows

KEYS = (
    "format",
    "version",
    "nonce",
    "alpha",
    "epsilon",
    "theta",
    "mechanism",
    "guarantee",
    "secrets",
    "pairs",
    "beliefs",
    "losses",
    "software",
    "sha256",
)

Places = tuple[tuple[int, int, int], ...]


def header(data: object) -> dict[str, object]:
    """The outermost object, of the right kind and version, with nothing missing or added."""
    form.header(data, FORMAT, (VERSION,), "a certificate")
    return form.fields(data, KEYS, "the certificate")


def beliefs_from(value: object, size: int) -> tuple[tuple[Mixture, ...], ...]:
    """Under each belief, one prior for each secret, in the order of the secrets."""
    room = form.Room()
    return tuple(
        tuple(
            Mixture.from_state(prior, f"beliefs[{b}][{s}]", room)
            for s, prior in enumerate(form.exactly(belief, f"beliefs[{b}]", size))
        )
        for b, belief in enumerate(form.items(value, "'beliefs'", least=1, most=form.MOST_BELIEFS))
    )


def losses(value: object, places: Places, epsilon: float) -> tuple[Enclosure, ...]:
    """The enclosure of the loss at each place (belief, from, to), all of them and in order."""
    found = losses_from(value, places)
    for n, loss in enumerate(found):
        if loss.upper > epsilon:
            raise InputError(f"losses[{n}].upper is {loss.upper!r}, above the epsilon that the certificate claims")
    return found


def places(pairs: tuple[tuple[int, int], ...], beliefs: int) -> Places:
    """Every pair in both directions under every belief, in the order of the file.

    Args:
        pairs: positions of secrets.
        beliefs: how many beliefs there are.

    Returns:
        As many places as directed pairs under all beliefs.

    >>> places(((0, 1),), 2)
    ((0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0))
    """
    require_provable(len(pairs), beliefs)
    return tuple((b, *ends) for b in range(beliefs) for i, j in pairs for ends in ((i, j), (j, i)))


def require_provable(pairs: int, beliefs: int) -> None:
    """No more losses than a file may hold."""
    if 2 * pairs * beliefs > form.MOST_LOSSES:
        raise InputError(
            f"{2 * pairs * beliefs:,} losses would have to be proved, over the limit of {form.MOST_LOSSES:,}: "
            "certify fewer pairs at a time"
        )


def in_words(pairs: int, beliefs: int) -> tuple[str, str]:
    """How many of each, for a sentence.

    >>> in_words(1, 12)
    ('1 pair of secrets', '12 beliefs')
    """
    return f"{pairs:,} pair{'s' * (pairs != 1)} of secrets", f"{beliefs:,} belief{'s' * (beliefs != 1)}"


# What may be published of a certificate: the claim, and a digest that ties it to the full file.


def without_priors(digest: object, name: str = "THIS-FILE") -> CertificationError:
    """Why nothing is proved by what was published, and who can prove it; `name` is that of its file."""
    return CertificationError(
        Message(
            "nothing can be proved from this file alone, since the priors are private: only who holds the certificate "
            "with the digest {digest} can, with `takifugu verify CERTIFICATE --public {name}`. Anybody can where "
            "priors may be public (private counts, or another table's) and so may the lists",
            digest=digest,
            name=name,
        )
    )


@dataclass(frozen=True)
class RedactedCertificate:
    """A certificate without its priors.

    Losses and the worst pair are left out too: with α and θ known, a loss is an equation for the distance between two
    priors. So are the names of the secrets, which can tell that a rare one is in the table; there are only
    counts. The digest is over content with 256 random bits in it, so guessing priors and hashing them leads nowhere.
    """

    alpha: float
    epsilon: float
    theta: float
    mechanism: str
    guarantee: str
    secrets: int
    pairs: int
    beliefs: int
    software: tuple[tuple[str, str], ...]
    certificate_sha256: str

    def to_dict(self) -> dict[str, object]:
        """The content as plain values for JSON."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        head = {"format": REDACTED, "version": VERSION}
        return head | fields | {"software": dict(self.software)}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it states, in plain words; nothing is proved by that."""
        noise = f"Noise of standard deviation {self.theta!r} is added"
        kept = f"{in_words(self.pairs, self.beliefs)[0]} are hidden within alpha = {self.alpha!r}, epsilon"
        return (
            f"{noise}; {kept} = {self.epsilon!r} ({self.guarantee}), under {in_words(self.pairs, self.beliefs)[1]}.",
        )

    @classmethod
    def from_dict(cls, data: object) -> "RedactedCertificate":
        """What `to_dict` wrote, every field checked."""
        keys = tuple(cls.__dataclass_fields__)
        content = form.fields(data, ("format", "version", *keys), "the redacted certificate")
        if content["format"] != REDACTED or type(content["version"]) is not int:
            raise InputError(f"'format' must be {REDACTED!r} and 'version' {VERSION}")
        if content["version"] != VERSION:
            raise InputError(f"'version' must be {VERSION}, the one version that is known here")
        counts = {key: form.index(content[key], f"'{key}'", below=1 << 31) for key in ("secrets", "pairs", "beliefs")}
        return cls(
            alpha=form.number(content["alpha"], "'alpha'", above=1),
            epsilon=form.number(content["epsilon"], "'epsilon'", above=0),
            theta=form.number(content["theta"], "'theta'", least=0),
            mechanism=form.mechanism(content["mechanism"]),
            guarantee=form.text_field(content["guarantee"], "'guarantee'"),
            software=form.software(content["software"]),
            certificate_sha256=form.hex_digest(content["certificate_sha256"], "'certificate_sha256'"),
            **counts,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file to publish."""
        strict_json.write(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "RedactedCertificate":
        """Read a published file; it proves nothing without the full certificate.

        Args:
            path: the published file.

        Returns:
            The redaction.

        Raises:
            InputError: with the field that is wrong.
        """
        return cls.from_dict(strict_json.read(path))


@dataclass(frozen=True)
class Certificate(Sealed):
    """A claim with all that is needed to prove it: this noise keeps these pairs of secrets within this budget.

    It holds the priors, which describe people: it is for the auditor. `redacted()` is for the public.

    Attributes:
        alpha: the Rényi order.
        epsilon: the budget.
        theta: the standard deviation of the noise.
        mechanism: the name of the mechanism that found it.
        secrets: the values of the secret.
        pairs: positions of those that are hidden from one another.
        beliefs: under each belief one prior for each secret.
        losses: an enclosure of the loss at each place, proved when it was made.
        software: what made it, for the reader alone.
        nonce: random digits, so that the digest gives no prior away to whoever guesses.
        guarantee: "rpp", Rényi Pufferfish Privacy: nothing else is proved in this form.

    Raises:
        InputError: where there is not one loss for each place.

    >>> from takifugu import Mixture, calibrate, certify
    >>> made = certify(calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1))
    >>> made.mechanism, made.secrets, len(made.losses)
    ('exact', ('a', 'b'), 2)
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
    def places(self) -> Places:
        """What the losses are about, in order: (belief, from, to)."""
        return places(self.pairs, len(self.beliefs))

    @property
    def claim(self) -> str:
        """What is proved, in a sentence."""
        pairs, beliefs = in_words(len(self.pairs), len(self.beliefs))
        promise = f"alpha = {self.alpha!r}, epsilon = {self.epsilon!r}"
        return f"noise of standard deviation {self.theta!r} keeps {pairs} within {promise}, under {beliefs}"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Certificate":
        """Read a file, checking its form and its digest. Nothing is proved by reading: see `verify`.

        Args:
            path: the file.

        Returns:
            The certificate, unproved.

        Raises:
            InputError: with the field that is wrong.
        """
        data = strict_json.read(path)
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"{os.fspath(path)!r} is not a certificate that can be used: {error}") from None

    @classmethod
    def from_dict(cls, data: object) -> "Certificate":
        """What `to_dict` wrote, every field checked; an `InputError` names the one that is wrong."""
        content = header(data)
        names = form.secrets(content["secrets"])
        pairs = form.pairs(content["pairs"], len(names))
        beliefs = beliefs_from(content["beliefs"], len(names))
        epsilon = form.number(content["epsilon"], "'epsilon'", above=0)
        certificate = cls(
            alpha=form.number(content["alpha"], "'alpha'", above=1),
            epsilon=epsilon,
            theta=form.number(content["theta"], "'theta'", least=0),
            mechanism=form.mechanism(content["mechanism"]),
            secrets=names,
            pairs=pairs,
            beliefs=beliefs,
            losses=losses(content["losses"], places(pairs, len(beliefs)), epsilon),
            software=form.software(content["software"]),
            nonce=form.hex_digest(content["nonce"], "'nonce'"),
            guarantee=form.text_field(content["guarantee"], "'guarantee'"),
        )
        certificate.require_digest(content["sha256"])
        return certificate

    @property
    def for_everybody(self) -> "RedactedCertificate":
        """What may be published."""
        return self.redacted()

    def redacted(self) -> RedactedCertificate:
        """What may be published: the claim without the priors, with the digest of this certificate.

        Returns:
            A certificate that tells α, ε and θ, and by its digest which priors were meant. A loss would tell how far
            apart the priors are, and is left out.
        """
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

    def _content(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": VERSION,
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
