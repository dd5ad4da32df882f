"""What every channel between finite lists does, however its table is stored."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from takifugu._display import Plotted
from takifugu._validation import Array, integer, vector
from takifugu.channels.bits import BitSource, OsBits
from takifugu.channels.positions import Positions
from takifugu.channels.sentences import sentence
from takifugu.divergences.finite import divergence
from takifugu.divergences.proved.balls import Enclosure, outward
from takifugu.divergences.proved.certified import Decision
from takifugu.divergences.proved.effort import Effort
from takifugu.divergences.proved.finite import Extremes, Masses, decide, enclose, largest_ratio
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.laws.values import Value, key, number, plain


class ListChannel(Plotted, ABC):
    """P(y given x) in whole numbers over one power of two; a subclass stores the table.

    What is proved about a channel, and what is drawn from it, rests on integers alone (proofs/finite-channels.md).
    """

    kind: ClassVar[str]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    @property
    @abstractmethod
    def denominator(self) -> int:
        """What every row sums to, a power of two."""

    @property
    @abstractmethod
    def extremes(self) -> Extremes:
        """The least and the largest count of each output over all inputs."""

    @abstractmethod
    def through(self, laws: Array) -> Array:
        """What is published for weights over the inputs (the last axis), in float64."""

    @abstractmethod
    def exactly(self, law: Masses) -> Masses:
        """What is published for a law over the inputs, in rational numbers."""

    @abstractmethod
    def row(self, place: int) -> tuple[npt.NDArray[np.intp], Array]:
        """The outputs that an input may become, and the probability of each."""

    @property
    @abstractmethod
    def entries(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array]:
        """What is above zero: inputs, outputs and the probabilities between them, three lists of one length."""

    @property
    def is_sure(self) -> bool:
        """Whether every input becomes one output for sure, so that nothing is left to chance."""
        return len(self.entries[0]) == len(self.inputs)

    @property
    @abstractmethod
    def kept(self) -> npt.NDArray[np.int64]:
        """The count with which each input is published as itself."""

    @cached_property
    def _stays(self) -> npt.NDArray[np.int64]:
        """The place of each input among the outputs; −1 where it is none of them."""
        place = {key(value): where for where, value in enumerate(self.outputs)}
        return np.array([place.get(key(value), -1) for value in self.inputs])

    @abstractmethod
    def _drawn(self, rows: npt.NDArray[np.int64], source: BitSource) -> npt.NDArray[np.int64]: ...

    @property
    @abstractmethod
    def _identity(self) -> tuple[Any, ...]: ...

    def _freeze_lists(self) -> None:
        """Validate and copy the two lists, which are often one."""
        inputs = _distinct(self.inputs, name="inputs")
        outputs = inputs if self.outputs is self.inputs else _distinct(self.outputs, name="outputs")
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "outputs", outputs)

    def __eq__(self, other: object) -> bool:
        """Whether the same counts stand between the same values in the same order."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self._identity)

    def __repr__(self) -> str:
        """A summary: the table may be large, and a printed one helps nobody."""
        bits, name = self.denominator.bit_length() - 1, type(self).__name__
        return f"<{name} from {len(self.inputs)} to {len(self.outputs)} values, rows of 2**{bits}>"

    # ---- what becomes of a law

    def weights_of(self, law: Finite) -> Array:
        """The law's weights in the order of the inputs; an error where it gives weight to any other value."""
        place = self._input_places
        weights = np.zeros(len(self.inputs))
        for value, weight in zip(law.values, law.weights.tolist(), strict=True):
            where = place.get(key(value))
            if where is not None:
                weights[where] = weight
            elif weight > 0:
                raise InputError("the law gives weight to a value that is not among the channel's inputs")
        return weights

    def apply(self, law: Finite) -> Finite:
        """The published law, its weights rounded to float64; `published` has it exactly."""
        with np.errstate(under="ignore"):
            return Finite(self.outputs, self.through(self.weights_of(law)))

    def published(self, law: Finite) -> Masses:
        """The published law in exact rational numbers, in the order of the outputs."""
        return self.exactly(Masses.of(self.weights_of(law)))

    # ---- what it loses

    def loss(self, p: Finite, q: Finite, *, alpha: float) -> float:
        """D_α of what is published under p from what is published under q, in float64."""
        return float(divergence(self.apply(p).probabilities, self.apply(q).probabilities, alpha=alpha))

    def enclosure(
        self, p: Finite, q: Finite, *, alpha: float, radius_p: float = 0.0, radius_q: float = 0.0
    ) -> Enclosure:
        """Two floats that hold the loss, proved; with a radius they hold a bound on it for every prior around.

        The bound covers every prior on the inputs within total variation `radius_p` of p, against every one
        within `radius_q` of q. `upper` is then what is promised; `lower` is a lower end of the bound, not of a loss.
        """
        high = self.published(p).raised(radius_p, self.extremes)
        low = self.published(q).lowered(radius_q, self.extremes)
        return enclose(high, low, alpha=alpha)

    def decide(self, p: Finite, q: Finite, *, alpha: float, epsilon: float, effort: Effort | None = None) -> Decision:
        """Whether the loss is `epsilon` at most, in rational numbers and balls."""
        return decide(self.published(p), self.published(q), alpha=alpha, epsilon=epsilon)

    def worst_odds(self, *laws: Finite) -> float:
        """The most that any published value changes the odds of one of these laws against another, rounded up.

        With no law given: of any two inputs against one another, which is so whatever the priors are.
        """
        if len(laws) == 1:
            raise InputError("odds need two laws or more; with none given, every input is told from every other")
        if laws:
            masses = [self.published(law) for law in laws]
        else:  # of the rows only the extremes matter
            masses = [Masses(side, self.denominator) for side in (self.extremes.low, self.extremes.high)]
        from flint import arb, fmpq

        ratios = [largest_ratio(p, q) for i, p in enumerate(masses) for j, q in enumerate(masses) if i != j]
        exact = [arb.pos_inf() if ratio is None else fmpq(ratio.numerator, ratio.denominator) for ratio in ratios]
        return max(outward(ratio).upper for ratio in exact)

    # ---- what it costs

    def share_changed(self, mass: Finite | npt.ArrayLike) -> float:
        """The share of values that are published as another, over inputs weighed by `mass`."""
        return float(self.shares_of(mass) @ ((self.denominator - self.kept) / self.denominator))

    def shares_of(self, mass: Finite | npt.ArrayLike) -> Array:
        """Weights over the inputs, divided by their sum."""
        weights = self.weights_of(mass) if isinstance(mass, Finite) else vector("mass", mass)
        if len(weights) != len(self.inputs) or weights.min() < 0 or not weights.any():
            raise InputError(f"mass must be {len(self.inputs)} weights, 0 or more and not all 0, one per input")
        weights = weights / weights.max()  # weights near the largest float have no sum
        shares: Array = weights / weights.sum()
        return shares

    def sentences(self, *, most: int | None = None) -> list[str]:
        """What becomes of 100 people with each value; with `most`, of the values that change most.

        >>> from takifugu.channels.finite import FiniteChannel
        >>> FiniteChannel((3, 4), (3, 4), [[4, 0], [1, 3]]).sentences()
        ['of 100 people with 3, all stay', 'of 100 people with 4, 75 stay, 25 become 3']
        """
        chosen = np.arange(len(self.inputs))
        if most is not None:
            chosen = np.sort(np.argsort(self.kept, kind="stable")[: integer("most", most, least=0)])
        told = []
        for place in chosen.tolist():
            where, shares = self.row(place)
            told.append(sentence(self.inputs[place], [self.outputs[y] for y in where.tolist()], shares))
        return told

    # ---- drawing

    def positions(self, values: Any) -> npt.NDArray[np.int64]:
        """Where each value stands among the inputs; an error, which shows none, for a value that does not."""
        return self._positions.of(values)

    def positions_of_columns(self, columns: Sequence[Any]) -> npt.NDArray[np.int64]:
        """The same for rows whose entries are given column by column."""
        return self._positions.of_columns(columns)

    def draw(self, positions: npt.ArrayLike, source: BitSource | None = None) -> npt.NDArray[np.int64]:
        """A position among the outputs for each position among the inputs, drawn exactly and independently.

        Each takes log2(denominator) fresh bits of one word, by default of the operating system's generator.
        """
        rows = np.asarray(positions)
        if rows.dtype.kind not in "iu" or rows.ndim != 1:
            raise InputError(f"positions must be one list of whole numbers, got {rows.dtype} of shape {rows.shape}")
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self.inputs)):
            raise InputError(f"positions must lie between 0 and {len(self.inputs) - 1}")
        return self._drawn(rows.astype(np.int64, copy=False), OsBits() if source is None else source)

    def publish(self, values: Any, source: BitSource | None = None) -> npt.NDArray[Any]:
        """The values as they are published: an array of numbers or truth values, otherwise of objects."""
        published: npt.NDArray[Any] = self._output_array[self.draw(self.positions(values), source)]
        return published

    @cached_property
    def _input_places(self) -> dict[Any, int]:
        return {key(value): where for where, value in enumerate(self.inputs)}

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self.inputs)

    @cached_property
    def _output_array(self) -> npt.NDArray[Any]:
        if all(map(number, self.outputs)) or all(isinstance(value, bool) for value in self.outputs):
            return np.array(self.outputs)
        array = np.empty(len(self.outputs), dtype=object)
        array[:] = self.outputs
        return array


def _distinct(values: Any, *, name: str) -> tuple[Value, ...]:
    found = plain(values, name=name)
    if len(set(map(key, found))) < len(found):
        raise InputError(f"{name} must be distinct: merge the rows or columns of a value that occurs twice")
    return found
