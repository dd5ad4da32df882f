"""A finite channel: a table of whole numbers that says how likely each value is published as each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.channels.alias import AliasTables
from takifugu.channels.bits import BitSource
from takifugu.channels.counts import BITS, checked_counts, whole_rows
from takifugu.channels.listed import ListChannel
from takifugu.divergences.proved.finite import Extremes, Masses
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.laws.values import Value, key, plain


@dataclass(frozen=True, eq=False, repr=False)
class FiniteChannel(ListChannel):
    """P(y given x) = counts[x, y]/denominator, exactly: the rows sum to one power of two, up to 2**62.

    >>> channel = FiniteChannel(inputs=("a", "b"), outputs=("a", "b"), counts=[[3, 1], [1, 3]])
    >>> channel.denominator
    4
    >>> channel.apply(Finite(["a"], [1.0])).probabilities.tolist()
    [0.75, 0.25]
    """

    kind: ClassVar[str] = "finite"

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    counts: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        """Validate, copy and freeze."""
        self._freeze_lists()
        counts = checked_counts(self.counts, len(self.inputs), len(self.outputs))
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def identity(cls, values: Sequence[Any], *, bits: int = BITS) -> "FiniteChannel":
        """The channel that publishes every value as it is, and hides nothing."""
        inputs = plain(values)
        return cls(inputs, inputs, np.eye(len(inputs), dtype=np.int64) << bits)

    @classmethod
    def constant(cls, inputs: Sequence[Any], law: Finite, *, bits: int = BITS) -> "FiniteChannel":
        """The channel that publishes a draw from `law` (rounded to the denominator) whatever the value is."""
        row, values = whole_rows(law.probabilities[None, :], bits), plain(inputs, name="inputs")
        return cls(values, law.values, np.repeat(row, len(values), axis=0))

    @property
    def denominator(self) -> int:
        """What every row sums to, a power of two."""
        return int(self.counts[0].sum())

    @cached_property
    def matrix(self) -> Array:
        """The probabilities as float64, inputs by outputs."""
        matrix: Array = self.counts / self.denominator
        matrix.setflags(write=False)
        return matrix

    @property
    def _identity(self) -> tuple[Any, ...]:
        return tuple(map(key, self.inputs)), tuple(map(key, self.outputs)), self.counts.tobytes()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as what it was made of, so that what is unpickled has been validated again."""
        return type(self), (self.inputs, self.outputs, self.counts)

    @cached_property
    def extremes(self) -> Extremes:
        """See `ListChannel.extremes`."""
        return Extremes.of(self.counts, self.denominator)

    def through(self, laws: Array) -> Array:
        """See `ListChannel.through`."""
        published: Array = laws @ self.matrix
        return published

    def exactly(self, law: Masses) -> Masses:
        """See `ListChannel.exactly`."""
        return law.through(self.counts, self.denominator)

    @property
    def entries(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array]:
        """See `ListChannel.entries`."""
        sources, targets = np.nonzero(self.counts)
        return sources, targets, self.matrix[sources, targets]

    def row(self, place: int) -> tuple[npt.NDArray[np.intp], Array]:
        """See `ListChannel.row`."""
        return np.arange(len(self.outputs)), self.matrix[place]

    def expected_loss(self, mass: Finite | npt.ArrayLike, loss: npt.ArrayLike) -> float:
        """The average of `loss[x, y]` over inputs weighed by `mass` and what they are published as."""
        costs = np.asarray(loss, dtype=np.float64)
        if costs.shape != self.counts.shape or not np.isfinite(costs).all():
            raise InputError(f"loss must be a matrix of finite numbers, inputs by outputs {self.counts.shape}")
        return float(self.shares_of(mass) @ (self.matrix * costs).sum(axis=1))

    @property
    def kept(self) -> npt.NDArray[np.int64]:
        """See `ListChannel.kept`."""
        return np.where(self._stays >= 0, self.counts[np.arange(len(self.inputs)), self._stays], 0)

    def _drawn(self, rows: npt.NDArray[np.int64], source: BitSource) -> npt.NDArray[np.int64]:
        return self._tables.draw(rows, source)

    @cached_property
    def _tables(self) -> AliasTables:
        return AliasTables(self.counts, self.denominator.bit_length() - 1)
