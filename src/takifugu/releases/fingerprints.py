"""How a ledger knows an answer again: keyed digests of its values, in their order and whatever their order."""

import hashlib
import math

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array

Words = npt.NDArray[np.uint64]

_LANES = 2  # of 64 bits each
_ENOUGH = 64  # distinct values that are counted
_BITS = 30.0  # below 2⁻³⁰ it is no chance that two tables have the same values
_COMMON = "common-"


class AnswerDigest:
    """A fingerprint of an answer, part by part: the same values, however they are cut into parts."""

    def __init__(self, salt: bytes) -> None:
        """Start with no values."""
        self._digest = hashlib.blake2b(key=salt, digest_size=32, person=b"takifugu-answer")
        keys = hashlib.blake2b(b"whatever their order", key=salt, digest_size=8 * _LANES).digest()
        self._sums = dict.fromkeys(np.frombuffer(keys, dtype="<u8").tolist(), 0)
        self._count = 0
        self._distinct: set[int] = set()

    def update(self, values: Array) -> None:
        """Add the next values: an entry each, or a row each."""
        whole = np.ascontiguousarray(values, dtype="<f8") + 0.0  # one zero, not two
        self._digest.update(whole.tobytes())
        if not whole.size:
            return
        rows = whole.reshape(len(whole) if whole.ndim else 1, -1).view("<u8")
        self._count += len(rows)
        # Rows are scrambled one by one and added up, so it makes no difference which comes first. This tells tables
        # apart that nobody made to be mistaken for one another, which is all that a ledger guards against.
        for key in self._sums:
            scrambled = np.full(len(rows), key, dtype=np.uint64)
            for column in rows.T:
                scrambled = _scrambled(scrambled ^ column)
            self._sums[key] += int(scrambled.sum(dtype=np.uint64))
        if len(self._distinct) < _ENOUGH:
            self._distinct.update(np.unique(scrambled)[:_ENOUGH].tolist())

    def hexdigest(self) -> str:
        """The fingerprint of all values so far, in their order."""
        return self._digest.hexdigest()

    def unordered(self) -> str:
        """The fingerprint of the same values in any order; see `tells_alone`."""
        # Tables of n rows with d distinct ones, drawn from one law, have the same tallies about once in n^((d−1)/2).
        chance = 0.5 * (len(self._distinct) - 1) * math.log2(max(self._count, 1))
        mark = "" if chance >= _BITS else _COMMON
        return f"{mark}{self._count:x}-" + "".join(f"{total % 2**64:016x}" for total in self._sums.values())


def tells_alone(unordered: str) -> bool:
    """Whether two tables with this fingerprint are the same but for their order: not where few values are common.

    >>> few, many = AnswerDigest(b"salt"), AnswerDigest(b"salt")
    >>> few.update(np.array([0.0, 1.0, 1.0])), many.update(np.arange(50.0))
    (None, None)
    >>> tells_alone(few.unordered()), tells_alone(many.unordered())
    (False, True)
    """
    return not unordered.startswith(_COMMON)


def _scrambled(words: Words) -> Words:
    """The finaliser of SplitMix64, which is one to one."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Words = words ^ (words >> np.uint64(31))
    return mixed
