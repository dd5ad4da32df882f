"""The pairs of secrets to be hidden from one another, without a list of them where all are meant."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from takifugu._validation import no_text
from takifugu.errors import InputError

Secret = Hashable
Pair = tuple[Any, Any]
Indices = npt.NDArray[np.intp]


class Pairs(Sequence[Pair]):
    """Unordered pairs of secrets; each is protected in both directions.

    Twenty thousand secrets make two hundred million pairs, so "every pair" is kept as a rule, not as a list.
    """

    __slots__ = ("_first", "_second", "secrets")

    def __init__(self, secrets: Iterable[Secret], chosen: Iterable[Pair] | None = None) -> None:
        """Every pair of the secrets, or those chosen."""
        self.secrets: tuple[Secret, ...] = tuple(secrets)
        if len(self.secrets) < 2:
            raise InputError(
                f"at least two secrets are needed to hide one from another, got {list(self.secrets)}: "
                "take a secret of more than one value"
            )
        self._first: Indices | None = None
        self._second: Indices | None = None
        if chosen is not None:
            self._first, self._second = _indices(self.secrets, chosen)

    @property
    def is_every(self) -> bool:
        """Whether these are all pairs of the secrets."""
        return self._first is None

    def __len__(self) -> int:
        """The number of unordered pairs."""
        n = len(self.secrets)
        return n * (n - 1) // 2 if self._first is None else len(self._first)

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | list[Pair]:
        """The pair at a position, in the order of the secrets (or of the choice)."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"there are {size} pairs, no number {index}")
        index %= size
        if self._first is not None and self._second is not None:
            return self.secrets[self._first[index]], self.secrets[self._second[index]]
        row, ahead = 0, len(self.secrets) - 1
        while index >= ahead:
            index, row, ahead = index - ahead, row + 1, ahead - 1
        return self.secrets[row], self.secrets[row + 1 + index]

    def __iter__(self) -> Iterator[Pair]:
        """Each unordered pair once."""
        if self._first is not None and self._second is not None:
            for i, j in zip(self._first.tolist(), self._second.tolist(), strict=True):
                yield self.secrets[i], self.secrets[j]
            return
        for i, a in enumerate(self.secrets):
            for b in self.secrets[i + 1 :]:
                yield a, b

    def __contains__(self, pair: object) -> bool:
        """Whether a pair is among them, in either order."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            return False
        a, b = pair
        if self.is_every:
            return a != b and a in self.secrets and b in self.secrets
        return any({a, b} == {c, d} for c, d in self)

    def __eq__(self, other: object) -> bool:
        """The same pairs in the same order; also of a plain list or tuple.

        Two `Pairs` are the same only with their secrets in the same order: places and radii are counted by it.
        """
        if isinstance(other, Pairs) and self.secrets != other.secrets:
            return False
        if isinstance(other, Pairs) and self.is_every and other.is_every:
            return True
        if isinstance(other, Pairs | list | tuple):
            return len(self) == len(other) and all(a == tuple(b) for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        """Consistent with equality of two `Pairs`."""
        return hash((len(self), self[0]))

    def __repr__(self) -> str:
        """The pairs while they are few."""
        if len(self) <= 6:
            return repr(list(self))
        return f"<{len(self):,} pairs of {len(self.secrets):,} secrets>"

    def directed(self) -> Iterator[Pair]:
        """Each pair in both orders."""
        for a, b in self:
            yield a, b
            yield b, a

    def directed_places(self) -> tuple[Indices, Indices]:
        """The places of `directed` among the secrets: first ones and second ones.

        >>> [places.tolist() for places in Pairs("abc", [("a", "c")]).directed_places()]
        [[0, 2], [2, 0]]
        """
        one, other = np.triu_indices(len(self.secrets), 1)
        if self._first is not None and self._second is not None:
            one, other = self._first, self._second
        return np.stack([one, other], axis=1).ravel(), np.stack([other, one], axis=1).ravel()

    def directed_blocks(self, size: int) -> Iterator[tuple[Indices, Indices]]:
        """Index arrays (i, j), which broadcast together to about `size` directed pairs at a time.

        The blocks of every pair are whole rows and hold each secret against itself too, which costs nothing.
        """
        if self._first is not None and self._second is not None:
            i = np.concatenate([self._first, self._second])
            j = np.concatenate([self._second, self._first])
            for start in range(0, len(i), size):
                yield i[start : start + size], j[start : start + size]
            return
        n = len(self.secrets)
        everyone = np.arange(n)
        rows = max(1, size // n)
        for start in range(0, n, rows):
            yield everyone[start : start + rows, None], everyone[None, :]


def _indices(secrets: tuple[Secret, ...], chosen: Iterable[Pair]) -> tuple[Indices, Indices]:
    place = {secret: i for i, secret in enumerate(secrets)}
    seen: dict[tuple[int, int], None] = {}
    no_text("pairs", chosen, "pairs of secrets")
    for pair in chosen:
        if isinstance(pair, str | bytes) or not isinstance(pair, Iterable) or len(both := tuple(pair)) != 2:
            raise InputError(f"each of the pairs must hold two secrets, got {pair!r}")
        for secret in both:
            if not _is_key(secret, place):
                raise InputError(f"{secret!r} in pairs is not one of the secrets: {_listed(secrets)}")
        i, j = place[both[0]], place[both[1]]
        if i == j:
            raise InputError(f"a secret cannot be hidden from itself: {pair!r}")
        if (j, i) not in seen:
            seen[(i, j)] = None
    if not seen:
        raise InputError("pairs is empty: name at least one pair, or leave it out to protect every pair")
    first, second = zip(*seen, strict=True)
    return np.array(first, dtype=np.intp), np.array(second, dtype=np.intp)


def _is_key(secret: Any, place: dict[Secret, int]) -> bool:
    try:
        return secret in place
    except TypeError:  # a list, or a tuple with one in it
        return False


def _listed(secrets: tuple[Secret, ...]) -> str:
    shown = ", ".join(repr(s) for s in secrets[:12])
    return shown if len(secrets) <= 12 else f"{shown} and {len(secrets) - 12} more"
