"""The content of a certificate file, checked field by field against schemas/certificate-1.json.

Every complaint is an `InputError` that names the field, what was found and what is accepted.
"""

import math
import re
from typing import Any

from takifugu.divergences.proved.balls import Enclosure
from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture

FORMAT = "takifugu-certificate"
REDACTED = "takifugu-certificate-redacted"
VERSION = 1

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

LOSS_KEYS = ("belief", "from", "to", "lower", "upper")

Scalar = str | int | float | bool
Places = tuple[tuple[int, int, int], ...]

_MOST_SECRETS = 20_000
_MOST_LOSSES = 200_000
_MOST_COMPONENTS = 500_000
_HEX = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_LONGEST = 1000  # characters of a text


def fields(value: Any, keys: tuple[str, ...], where: str) -> dict[str, Any]:
    """An object with exactly these keys."""
    if not isinstance(value, dict):
        raise _wrong(where, "an object", value)
    for key in keys:
        if key not in value:
            raise InputError(f"{where} lacks {key!r}")
    for key in value:
        if key not in keys:
            raise InputError(f"{where} has a field {key[:60]!r} that no certificate has")
    return value


def items(value: Any, where: str, *, least: int = 0, most: int) -> list[Any]:
    """A list of a sensible length."""
    if not isinstance(value, list):
        raise _wrong(where, "a list", value)
    if not least <= len(value) <= most:
        raise InputError(f"{where} must have {least:,} to {most:,} entries, it has {len(value):,}")
    return value


def number(value: Any, where: str, *, least: float = -math.inf, above: float = -math.inf) -> float:
    """A finite number in range, as a float; whole numbers count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(where, "a number", value)
    try:
        given = float(value)
    except OverflowError:
        given = math.inf
    if not math.isfinite(given) or given < least or given <= above or given != value:
        bound = f" above {above:g}" if above > -math.inf else f" of {least:g} or more" if least > -math.inf else ""
        raise InputError(f"{where} must be a float{bound}, got {str(value)[:40]}")
    return given + 0.0


def index(value: Any, where: str, *, below: int) -> int:
    """A position in a list of length `below`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(where, "a whole number", value)
    if not 0 <= value < below:
        raise InputError(f"{where} must be from 0 to {below - 1}, got {str(value)[:40]}")
    return value


def text(value: Any, where: str, pattern: re.Pattern[str] | None = None) -> str:
    """A short text, perhaps of a given form."""
    if not isinstance(value, str):
        raise _wrong(where, "a text", value)
    if len(value) > _LONGEST or (pattern is not None and not pattern.fullmatch(value)):
        raise InputError(f"{where} is not of the right form: {value[:60]!r}")
    return value


def header(data: Any) -> dict[str, Any]:
    """The outermost object, of the right kind and version, with nothing missing or added."""
    if not isinstance(data, dict) or "format" not in data:
        raise InputError("it is not a certificate: there is no field 'format'")
    if data["format"] == REDACTED:
        raise InputError("it is a redacted certificate, which holds no priors: only the full one can be verified")
    if data["format"] != FORMAT:
        raise InputError(f"it is not a certificate: 'format' must be {FORMAT!r}")
    version = data.get("version")
    if type(version) is not int or version != VERSION:
        raise InputError(f"'version' must be {VERSION}, the one version that is known here; got {str(version)[:40]}")
    return fields(data, KEYS, "the certificate")


def hex_digest(value: Any, where: str) -> str:
    """64 hexadecimal digits."""
    return text(value, where, _HEX)


def mechanism(value: Any) -> str:
    """The name of a mechanism."""
    return text(value, "'mechanism'", _NAME)


def secrets(value: Any) -> tuple[Scalar, ...]:
    """The secrets: texts, numbers, true or false, all different."""
    found = tuple(items(value, "'secrets'", least=2, most=_MOST_SECRETS))
    for i, secret in enumerate(found):
        if not isinstance(secret, str | int | float | bool):
            raise _wrong(f"secrets[{i}]", "a text or a number", secret)
        if len(str(secret)) > _LONGEST:
            raise InputError(f"secrets[{i}] is longer than {_LONGEST} characters")
    if len(set(found)) < len(found):
        raise InputError("'secrets' names the same secret twice")
    return found


def pairs(value: Any, size: int) -> tuple[tuple[int, int], ...]:
    """Pairs of positions among the secrets."""
    found = []
    for n, pair in enumerate(items(value, "'pairs'", least=1, most=_MOST_LOSSES)):
        i, j = (index(k, f"pairs[{n}]", below=size) for k in items(pair, f"pairs[{n}]", least=2, most=2))
        if i == j:
            raise InputError(f"pairs[{n}] hides a secret from itself")
        found.append((i, j))
    if len({frozenset(pair) for pair in found}) < len(found):
        raise InputError("'pairs' holds the same pair twice")
    return tuple(found)


def beliefs(value: Any, size: int) -> tuple[tuple[Mixture, ...], ...]:
    """Under each belief, one prior for each secret, in the order of the secrets."""
    room = [_MOST_COMPONENTS]
    return tuple(
        tuple(
            _prior(prior, f"beliefs[{b}][{s}]", room)
            for s, prior in enumerate(items(belief, f"beliefs[{b}]", least=size, most=size))
        )
        for b, belief in enumerate(items(value, "'beliefs'", least=1, most=10_000))
    )


def losses(value: Any, places: Places, epsilon: float) -> tuple[Enclosure, ...]:
    """The enclosure of the loss at each place (belief, from, to), all of them and in order."""
    found = []
    for n, (entry, place) in enumerate(
        zip(items(value, "'losses'", least=len(places), most=len(places)), places, strict=True)
    ):
        where = f"losses[{n}]"
        entry = fields(entry, LOSS_KEYS, where)
        if tuple(index(entry[key], f"{where}.{key}", below=1 << 31) for key in LOSS_KEYS[:3]) != place:
            raise InputError(f"{where} must be about belief {place[0]} and secrets {place[1]} to {place[2]}")
        lower = number(entry["lower"], f"{where}.lower", least=0)
        upper = number(entry["upper"], f"{where}.upper", least=lower)
        if upper > epsilon:
            raise InputError(f"{where}.upper is {upper!r}, above the epsilon that the certificate claims")
        found.append(Enclosure(lower, upper))
    return tuple(found)


def places(pairs: tuple[tuple[int, int], ...], beliefs: int) -> Places:
    """Every pair in both directions under every belief, in the order of the file."""
    require_provable(len(pairs), beliefs)
    return tuple((b, *ends) for b in range(beliefs) for i, j in pairs for ends in ((i, j), (j, i)))


def require_provable(pairs: int, beliefs: int) -> None:
    """No more losses than a file may hold."""
    if 2 * pairs * beliefs > _MOST_LOSSES:
        raise InputError(
            f"{2 * pairs * beliefs:,} losses would have to be proved, over the limit of {_MOST_LOSSES:,}: "
            "certify fewer pairs at a time"
        )


def software(value: Any) -> tuple[tuple[str, str], ...]:
    """Names and versions; they are for the reader, nothing depends on them."""
    if not isinstance(value, dict):
        raise _wrong("'software'", "an object", value)
    items(list(value), "'software'", most=20)
    return tuple(sorted((text(k, "'software'"), text(v, f"software[{k[:60]!r}]")) for k, v in value.items()))


def _prior(value: Any, where: str, room: list[int]) -> Mixture:
    prior = fields(value, ("weights", "means", "stds"), where)
    lists = []
    for key, least in (("weights", 0.0), ("means", -math.inf), ("stds", 0.0)):
        entries = items(prior[key], f"{where}.{key}", least=1, most=room[0])
        room[0] -= len(entries)
        lists.append([number(x, f"{where}.{key}[{k}]", least=least) for k, x in enumerate(entries)])
    try:
        mixture = Mixture(*lists)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if mixture.weights.tolist() != lists[0]:
        raise InputError(f"{where}.weights must sum to 1 within 2^-50: divide each by their sum")
    return mixture


def _wrong(where: str, accepted: str, value: Any) -> InputError:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return InputError(f"{where} must be {accepted}, got {kinds.get(type(value), 'a number')}")
