"""What laws have in common: they cannot change, and mixtures are the same where their lists are."""

import math
from typing import Any, ClassVar

import numpy as np

from takifugu._display import Plotted
from takifugu._validation import Array


class Frozen(Plotted):
    """A law that stays as it was made: a changed one would carry a proof made for another."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse."""
        raise AttributeError(f"a {type(self).__name__} is immutable: make a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        """Refuse, as for setting."""
        raise AttributeError(f"a {type(self).__name__} is immutable: {name!r} cannot be deleted")


class Components(Frozen):
    """A mixture: lists with an entry for each component, which its kind names in `_lists`, the weights first."""

    __slots__ = ("_hash", "weights")

    _lists: ClassVar[tuple[str, ...]]
    weights: Array
    _hash: int

    def _freeze(self, *arrays: Array) -> None:
        for name, array in zip(self._lists, arrays, strict=True):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return tuple(getattr(self, name) for name in self._lists)

    def __eq__(self, other: object) -> bool:
        """Whether the same components stand in the same order, bit for bit."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(map(np.array_equal, self._arrays, other._arrays))

    def __hash__(self) -> int:
        """Consistent with equality: no component holds a negative zero."""
        try:
            value: int = self._hash
        except AttributeError:  # few mixtures are ever hashed
            value = hash(tuple(array.tobytes() for array in self._arrays))
            object.__setattr__(self, "_hash", value)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the lists, so that what is unpickled has been validated again."""
        return type(self), self._arrays

    def __len__(self) -> int:
        """The number of components."""
        return len(self.weights)

    def _normalised(self) -> Array:
        return self.weights / math.fsum(self.weights)
