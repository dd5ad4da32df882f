"""What a problem protects: the beliefs and pairs that a release and a budget must have in common."""

import hashlib
from typing import Any

from takifugu.documents import strict_json
from takifugu.documents.laws import law_to
from takifugu.laws.mixture import Mixture
from takifugu.problems.problem import Problem


def protection(problem: Problem, *, salt: bytes) -> str:
    """A keyed fingerprint of the beliefs and of the pairs, whatever their order."""
    pairs = problem.pairs
    digest = hashlib.blake2b(key=salt, digest_size=32, person=b"takifugu-belief")
    for belief in sorted(_described(problem, number) for number in range(len(problem.beliefs))):
        digest.update(belief)
    every = len(pairs) == len(pairs.secrets) * (len(pairs.secrets) - 1) // 2
    named = ["every pair"] if every else sorted("|".join(sorted(map(_name, pair))) for pair in pairs)
    digest.update(repr(named).encode())
    return digest.hexdigest()


def _described(problem: Problem, number: int) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    belief = problem.beliefs[number]
    for name, law in sorted(((_name(s), law) for s, law in belief.items()), key=lambda item: item[0]):
        if isinstance(law, Mixture):  # as version 0.1 did, whose ledgers stay readable
            digest.update(f"{name!r}:{len(law)}:".encode())
            for array in (law.weights, law.means, law.stds):
                digest.update(array.astype("<f8").tobytes())
        else:
            digest.update(repr((name, strict_json.canonical(law_to(law)))).encode())
    return digest.digest()


def _name(secret: Any) -> str:
    """A secret with its type, so that the number 1 and the text "1" stay apart."""
    plain = secret.item() if hasattr(secret, "item") else secret
    return f"{type(plain).__name__} {plain!r}"
