"""What a calibration protects: the beliefs and pairs that a release and a budget must have in common."""

import hashlib
from typing import Any

from takifugu.calibration import Calibration
from takifugu.problems.beliefs import Belief


def protection(calibration: Calibration, *, salt: bytes) -> str:
    """A keyed fingerprint of the beliefs and of the pairs, whatever their order."""
    digest = hashlib.blake2b(key=salt, digest_size=32, person=b"takifugu-belief")
    for belief in sorted(_described(belief) for belief in calibration.beliefs):
        digest.update(belief)
    pairs = calibration.pairs
    every = len(pairs) == len(pairs.secrets) * (len(pairs.secrets) - 1) // 2
    named = ["every pair"] if every else sorted("|".join(sorted(map(_name, pair))) for pair in pairs)
    digest.update(repr(named).encode())
    return digest.hexdigest()


def worst_loss(calibration: Calibration, *, theta: float) -> float:
    """The largest exact divergence over the beliefs, and over the pairs in both directions."""
    from takifugu.divergences import renyi_divergence
    from takifugu.mechanisms.worst import largest_loss

    secrets, beliefs = calibration.pairs.secrets, calibration.beliefs
    priors = [[belief[secret] for secret in secrets] for belief in beliefs]
    i, j = largest_loss(priors, calibration.pairs, alpha=calibration.alpha, theta=theta)
    return max(renyi_divergence(p[i], p[j], alpha=calibration.alpha, theta=theta) for p in priors)


def _described(belief: Belief) -> bytes:
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
