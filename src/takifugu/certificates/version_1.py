"""Version 1 of the certificate, that of Gaussian noise, checked field by field against schemas/certificate-1.json."""

from typing import Any

from takifugu.certificates.sealed import losses_from
from takifugu.divergences.proved.balls import Enclosure
from takifugu.documents import fields as form
from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture

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


def header(data: Any) -> dict[str, Any]:
    """The outermost object, of the right kind and version, with nothing missing or added."""
    form.header(data, FORMAT, (VERSION,), "a certificate")
    return form.fields(data, KEYS, "the certificate")


def beliefs(value: Any, size: int) -> tuple[tuple[Mixture, ...], ...]:
    """Under each belief, one prior for each secret, in the order of the secrets."""
    room = form.Room()
    return tuple(
        tuple(
            form.mixture(prior, f"beliefs[{b}][{s}]", room)
            for s, prior in enumerate(form.exactly(belief, f"beliefs[{b}]", size))
        )
        for b, belief in enumerate(form.items(value, "'beliefs'", least=1, most=form.MOST_BELIEFS))
    )


def losses(value: Any, places: Places, epsilon: float) -> tuple[Enclosure, ...]:
    """The enclosure of the loss at each place (belief, from, to), all of them and in order."""
    found = losses_from(value, places)
    for n, loss in enumerate(found):
        if loss.upper > epsilon:
            raise InputError(f"losses[{n}].upper is {loss.upper!r}, above the epsilon that the certificate claims")
    return found


def places(pairs: tuple[tuple[int, int], ...], beliefs: int) -> Places:
    """Every pair in both directions under every belief, in the order of the file."""
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
