"""What a calibration protects: the beliefs and pairs that a release and a budget must have in common."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from takifugu.priors.mixture import Mixture


class Protected(Protocol):
    """The part of a `Calibration` that a release needs."""

    @property
    def theta(self) -> float: ...  # noqa: D102
    @property
    def alpha(self) -> float: ...  # noqa: D102
    @property
    def epsilon(self) -> float: ...  # noqa: D102
    @property
    def mechanism(self) -> str: ...  # noqa: D102
    @property
    def beliefs(self) -> Sequence[Mapping[Any, Mixture]]: ...  # noqa: D102
    @property
    def pairs(self) -> Iterable[tuple[Any, Any]]: ...  # noqa: D102


def protection(calibration: Protected, *, salt: bytes) -> str:
    """A keyed fingerprint of the beliefs and of the pairs, whatever their order."""
    digest = hashlib.blake2b(key=salt, digest_size=32, person=b"takifugu-belief")
    for belief in sorted(_described(belief) for belief in calibration.beliefs):
        digest.update(belief)
    everyone = len(calibration.beliefs[0])
    pairs = calibration.pairs
    every = len(pairs) == everyone * (everyone - 1) // 2 if isinstance(pairs, Sequence) else False
    named = ["every pair"] if every else sorted("|".join(sorted(map(_name, pair))) for pair in pairs)
    digest.update(repr(named).encode())
    return digest.hexdigest()


def worst_loss(calibration: Protected, *, theta: float) -> float:
    """The largest exact divergence over the beliefs, and over the pairs in both directions."""
    from takifugu.divergences import renyi_divergence

    return max(
        renyi_divergence(belief[i], belief[j], alpha=calibration.alpha, theta=theta)
        for belief in calibration.beliefs
        for pair in calibration.pairs
        for i, j in (pair, pair[::-1])
    )


def _described(belief: Mapping[Any, Mixture]) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for name, mixture in sorted(((_name(s), m) for s, m in belief.items()), key=lambda item: item[0]):
        digest.update(f"{name!r}:{len(mixture)}:".encode())
        for array in (mixture.weights, mixture.means, mixture.stds):
            digest.update(array.astype("<f8").tobytes())
    return digest.digest()


def _name(secret: Any) -> str:
    """A secret with its type, so that the number 1 and the text "1" stay apart."""
    plain = secret.item() if hasattr(secret, "item") else secret
    return f"{type(plain).__name__} {plain!r}"
