"""What certificates of every version share: losses at every place, and a digest that seals all they hold."""

import hashlib
import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

from takifugu._display import Plotted
from takifugu.divergences.proved.balls import Enclosure
from takifugu.documents import fields as form
from takifugu.documents import strict_json
from takifugu.errors import CertificationError, InputError

_LOSS = ("belief", "from", "to", "lower", "upper")


class Sealed(Plotted):
    """A certificate as a file: its content, and the digest of it."""

    @property
    def claim(self) -> str:
        """What is proved, in a sentence."""
        raise NotImplementedError

    def redacted(self) -> Any:
        """What may be published."""
        raise NotImplementedError

    def _content(self) -> dict[str, Any]:
        raise NotImplementedError

    def __str__(self) -> str:
        """What is proved."""
        return self.claim

    @property
    def sha256(self) -> str:
        """The digest of the canonical content. The nonce in it keeps the priors from being guessed from it."""
        return _digest(self._content())

    def to_dict(self) -> dict[str, Any]:
        """The content as plain values for JSON, and its digest; no float loses a bit."""
        content = self._content()
        return content | {"sha256": _digest(content)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `verify` takes."""
        strict_json.write(self.to_dict(), path, private=True)

    def require_digest(self, given: Any) -> None:
        """Make sure that a file holds what it held when it was made."""
        if form.hex_digest(given, "'sha256'") != self.sha256:
            raise InputError("'sha256' does not match the content: the file was changed after it was made")

    def require_match(self, published: Any) -> None:
        """Make sure that a published certificate is the redaction of this one, in every field."""
        if self.redacted() != published:
            raise CertificationError(
                "the redacted certificate is not that of this certificate: a figure or the digest in it differs"
            )


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(strict_json.canonical(content)).hexdigest()


def losses_to(places: Iterable[tuple[int, int, int]], losses: Sequence[Enclosure]) -> list[dict[str, Any]]:
    """The loss at each place (belief, from, to); a draft has none yet."""
    return [
        dict(zip(_LOSS, (*place, loss.lower, None if math.isinf(loss.upper) else loss.upper), strict=True))
        for place, loss in zip(places if losses else (), losses, strict=True)
    ]


def losses_from(value: Any, places: Sequence[tuple[int, int, int]]) -> tuple[Enclosure, ...]:
    """What `losses_to` wrote: all of the places, and in order."""
    entries = form.exactly(value, "'losses'", len(places))
    return tuple(_loss(*one, f"losses[{n}]") for n, one in enumerate(zip(entries, places, strict=True)))


def _loss(value: Any, place: tuple[int, int, int], where: str) -> Enclosure:
    entry = form.fields(value, _LOSS, where)
    if tuple(form.index(entry[key], f"{where}.{key}", below=1 << 31) for key in _LOSS[:3]) != tuple(place):
        raise InputError(f"{where} must be about belief {place[0]} and secrets {place[1]} to {place[2]}")
    lower = form.number(entry["lower"], f"{where}.lower", least=0)
    upper = math.inf if entry["upper"] is None else form.number(entry["upper"], f"{where}.upper", least=lower)
    return Enclosure(lower, upper)
