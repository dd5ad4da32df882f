"""What may be published of a certificate: the claim, and a digest that ties it to the full file."""

import os
from dataclasses import dataclass
from typing import Any

from takifugu.certificates import version_1
from takifugu.documents import fields as form
from takifugu.documents import strict_json
from takifugu.errors import InputError


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

    def to_dict(self) -> dict[str, Any]:
        """The content as plain values for JSON."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        head = {"format": version_1.REDACTED, "version": version_1.VERSION}
        return head | fields | {"software": dict(self.software)}

    @classmethod
    def from_dict(cls, data: Any) -> "RedactedCertificate":
        """What `to_dict` wrote, every field checked."""
        keys = tuple(cls.__dataclass_fields__)
        content = form.fields(data, ("format", "version", *keys), "the redacted certificate")
        if content["format"] != version_1.REDACTED or type(content["version"]) is not int:
            raise InputError(f"'format' must be {version_1.REDACTED!r} and 'version' {version_1.VERSION}")
        if content["version"] != version_1.VERSION:
            raise InputError(f"'version' must be {version_1.VERSION}, the one version that is known here")
        counts = {key: form.index(content[key], f"'{key}'", below=1 << 31) for key in ("secrets", "pairs", "beliefs")}
        return cls(
            alpha=form.number(content["alpha"], "'alpha'", above=1),
            epsilon=form.number(content["epsilon"], "'epsilon'", above=0),
            theta=form.number(content["theta"], "'theta'", least=0),
            mechanism=form.mechanism(content["mechanism"]),
            guarantee=form.text(content["guarantee"], "'guarantee'"),
            software=form.software(content["software"]),
            certificate_sha256=form.hex_digest(content["certificate_sha256"], "'certificate_sha256'"),
            **counts,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file to publish."""
        strict_json.write(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "RedactedCertificate":
        """Read a published file; it proves nothing without the full certificate."""
        return cls.from_dict(strict_json.read(path))
