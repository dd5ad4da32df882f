"""What every channel between finite lists does, however its table is stored."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._display import Plotted
from takifugu._validation import Array, integer, vector
from takifugu.channels.protocol import Channel, Publishes
from takifugu.channels.sampling import BitSource, OsBits
from takifugu.divergences import (
    Decision,
    Effort,
    Enclosure,
    Extremes,
    Masses,
    decide_excess,
    decide_finite,
    enclose,
    excess,
    finite_divergence,
    largest_ratio,
    outward,
    register,
)
from takifugu.errors import InputError
from takifugu.laws import Finite, Scalar, Value, columns, key, number, plain
from takifugu.problems import Divergence, HockeyStick, MaxDivergence, RenyiDivergence

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from takifugu.channels.finite_channel import FiniteChannel

# Where values stand on a list: numbers by bisection, labels by hashing, rows column by column.
#
# A value that is not on the list is refused without being shown: it is somebody's.

Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer]
_ABSENT = -1
_MOST_VALUES = 100_000  # on either side of a channel, in a file
_HARDLY = 1e-9  # how probable an attacker holds what a law cannot publish
_MOST_DIRECT = 1 << 18  # combinations of two columns' entries that are looked up in a table and not by bisection
_CHUNK = 16_384  # values at a time, so that the working arrays stay in the processor's cache


class Positions:
    """A list of distinct plain values that finds the places of many values at once."""

    def __init__(self, values: Sequence[Value]) -> None:
        """Prepare the look-up; `values` come from `takifugu.laws.finite.plain`."""
        self.width = len(values[0]) if isinstance(values[0], tuple) else 0
        self._columns = [_Column(column) for column in columns(values)]
        self._known: list[Integers] = []  # for each column, the codes that its entry and those before it may have
        code = self._columns[0].own
        for column in self._columns[1:]:
            known, code = np.unique(code * len(column) + column.own, return_inverse=True)
            self._known.append(known)
        self._order = np.argsort(code)  # every row has a code of its own, and the codes are 0 to n-1
        self._direct = [_inverse(known, size) for known, size in zip(self._known, self._sizes(), strict=True)]
        looked_up = (self._order, *self._known, *(table for table in self._direct if table is not None))
        for array in (*looked_up, *(part for column in self._columns for part in column.arrays)):
            array.setflags(write=False)  # a look-up that could be changed would publish through another row

    def of(self, values: object) -> Integers:
        """The place of each value, or an error; rows come as tuples or as an array with a column for each entry."""
        if self.width == 0:
            return self.of_columns([values])
        two = getattr(values, "ndim", 1) == 2  # an array or a data frame
        rows = np.asarray(values, dtype=getattr(values, "dtype", object)) if two else _rows(values, self.width)
        if rows.shape[1] != self.width:
            raise InputError(f"the rows must have {self.width} columns, got {rows.shape[1]}")
        return self.of_columns([rows[:, column] for column in range(self.width)])

    def of_columns(self, given: Sequence[object]) -> Integers:
        """The place of each row whose entries are given column by column; one column for values that are no rows."""
        if len(given) != len(self._columns):
            raise InputError(f"{len(self._columns)} columns are needed, got {len(given)}")
        lists = [_one_list(values) for values in given]
        if len({len(values) for values in lists}) > 1:
            raise InputError(f"the columns must be equally long, got {', '.join(str(len(values)) for values in lists)}")
        columns = self._columns
        return self._found(
            len(lists[0]), lambda part: [one.of(values[part]) for one, values in zip(columns, lists, strict=True)]
        )

    def of_codes(self, given: Sequence[tuple[object, Codes]]) -> Integers:
        """The same for columns that are given as lists of their cells, and for each row the place of its own there."""
        if len(given) != len(self._columns):
            raise InputError(f"{len(self._columns)} columns are needed, got {len(given)}")
        places = [one.of(_one_list(cells)) for one, (cells, _) in zip(self._columns, given, strict=True)]
        codes = [of_rows for _, of_rows in given]
        return self._found(
            len(codes[0]), lambda part: [table[of_rows[part]] for table, of_rows in zip(places, codes, strict=True)]
        )

    def _sizes(self) -> list[int]:
        """For each column but the first, how many codes could be looked up among the known ones."""
        before = [len(self._columns[0]), *(len(known) for known in self._known)]
        return [rows * len(column) for rows, column in zip(before[:-1], self._columns[1:], strict=True)]

    def _found(self, rows: int, columns: Callable[[slice], list[Integers]]) -> Integers:
        """The place of each row, or an error; `columns` tells where the entries of some rows stand in their columns."""
        found = np.empty(rows, dtype=np.int64)
        for start in range(0, rows, _CHUNK):
            part = slice(start, start + _CHUNK)
            found[part] = self._places(columns(part))
        absent = np.flatnonzero(found == _ABSENT)
        if absent.size:
            raise InputError(
                f"{absent.size} of {len(found)} values are not among the channel's inputs (the first at position "
                f"{int(absent[0])}): publish only what the channel was made for, of the same type, or bring other "
                f"values to the nearest input first"
            )
        return found

    def _places(self, entries: Sequence[Integers]) -> Integers:
        """The place of each row, or -1."""
        code = entries[0]
        absent = code == _ABSENT
        # Column by column, so that the codes stay small however many combinations of entries there could be.
        rest = zip(self._columns[1:], self._known, self._direct, entries[1:], strict=True)
        for column, known, direct, places in rest:
            absent |= places == _ABSENT
            wanted = np.where(absent, 0, code * len(column) + places)
            if direct is not None:
                code = direct[wanted]
                absent |= code == _ABSENT
            else:
                code = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
                absent |= known[code] != wanted
        return np.where(absent, _ABSENT, self._order[code])


def _inverse(known: Integers, size: int) -> Integers | None:
    """Where each number below `size` stands among the known ones, or -1; None where the table would be large."""
    if size > _MOST_DIRECT:
        return None
    table = np.full(size, _ABSENT, dtype=np.int64)
    table[known] = np.arange(len(known))
    return table


class _Column:
    """The distinct scalars of one column; `own` is where each entry of the list stands among them."""

    def __init__(self, entries: Sequence[Scalar]) -> None:
        places: dict[Any, int] = {}
        self.own = np.array([places.setdefault(key(entry), len(places)) for entry in entries], dtype=np.int64)
        self._places = places
        # Python takes True for 1, so each type has a dictionary of its own.
        self._texts = {entry: place for (_, entry), place in places.items() if isinstance(entry, str)}
        numbers = sorted(
            (float(entry), place) for (truth, entry), place in places.items() if not truth and number(entry)
        )
        self._numbers = np.array([entry for entry, _ in numbers], dtype=np.float64)
        self._number_places = np.array([place for _, place in numbers], dtype=np.int64)
        self._truth = np.array([places.get((True, truth), _ABSENT) for truth in (False, True)], dtype=np.int64)

    @property
    def arrays(self) -> tuple[npt.NDArray[np.generic], ...]:
        """All that the look-up rests on."""
        return self.own, self._numbers, self._number_places, self._truth

    def __len__(self) -> int:
        return len(self._places)

    def of(self, values: npt.NDArray[np.generic]) -> Integers:
        """The place of each value, or -1."""
        by_kind: dict[str, Callable[[npt.NDArray[np.generic]], Integers]] = {
            "b": lambda given: self._truth[given.astype(np.int64)],
            "i": self._of_numbers,
            "u": self._of_numbers,
            "f": self._of_numbers,
            "U": lambda given: self._of_texts(given.tolist()),
            "T": lambda given: self._of_texts(given.tolist()),
            "O": self._of_objects,
        }
        if values.dtype.kind not in by_kind:
            raise InputError(f"values of type {values.dtype} cannot be published: give numbers, texts or truth values")
        return by_kind[values.dtype.kind](values)

    def _of_numbers(self, given: npt.NDArray[np.generic]) -> Integers:
        if not len(self._numbers):
            return np.full(len(given), _ABSENT, dtype=np.int64)
        # Whole numbers beyond 2⁵³ are rounded here, but no number on a list is so large: they stay absent.
        wanted = given.astype(np.float64)
        place = np.minimum(np.searchsorted(self._numbers, wanted), len(self._numbers) - 1)
        return np.where(self._numbers[place] == wanted, self._number_places[place], _ABSENT)

    def _of_texts(self, given: list[str]) -> Integers:
        find = self._texts.get
        return np.fromiter((find(text, _ABSENT) for text in given), dtype=np.int64, count=len(given))

    def _of_objects(self, values: npt.NDArray[np.generic]) -> Integers:
        given = values.tolist()
        kinds = set(map(type, given))
        if kinds <= {str}:
            return self._of_texts(given)
        if kinds <= {int, float}:
            with suppress(OverflowError):  # a whole number beyond the largest float, which the slow way refuses
                return self._of_numbers(np.array(given, dtype=np.float64))
        return np.fromiter(map(self._of_one, given), dtype=np.int64, count=len(given))

    def _of_one(self, value: object) -> int:
        if isinstance(value, np.generic):
            value = value.item()
        if type(value) not in (bool, int, float, str):
            return _ABSENT
        return self._places.get(key(value), _ABSENT)


def _one_list(values: object) -> npt.NDArray[np.generic]:
    if isinstance(values, np.ma.MaskedArray):
        raise InputError("a masked array holds values it hides: give x.compressed(), or x.filled(value)")
    if isinstance(values, str | bytes):
        raise InputError("the values must be a list, got one text")
    if isinstance(values, list | tuple) and len(set(map(type, values))) > 1:
        array = np.empty(len(values), dtype=object)  # numpy would turn the numbers of a mixed list into texts
        array[:] = values
    else:
        array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"the values must be one list, got an array of shape {array.shape}")
    return array


def _rows(values: object, width: int) -> npt.NDArray[np.object_]:
    """A list of tuples as an array of objects with one column for each entry."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InputError(f"the values must be rows of {width} entries, got one {type(values).__name__}")
    given = list(values)
    if not all(isinstance(row, tuple | list) and len(row) == width for row in given):
        raise InputError(f"each value must be a row (a tuple) of {width} entries, one per column of the channel")
    array = np.empty((len(given), width), dtype=object)
    for column in range(width):
        array[:, column] = [row[column] for row in given]
    return array


# A finite channel in words: what becomes of 100 people with a value.


def sentence(value: Value, outputs: Sequence[Value], shares: Array) -> str:
    """What becomes of 100 people with this value.

    The whole numbers add up to 100: each share is rounded down, and what is missing goes to the largest
    remainders, of equal ones to the output listed first.

    >>> sentence(4, (3, 4), np.array([0.19, 0.81]))
    'of 100 people with 4, 81 stay, 19 become 3'
    """
    people = np.array(hundred(shares))
    stays = [place for place, output in enumerate(outputs) if key(output) == key(value)]
    order = sorted(np.flatnonzero(people).tolist(), key=lambda place: (place not in stays, -people[place], place))
    rare = int(((shares > 0) & (people == 0)).sum())
    parts = [_part(int(people[place]), None if place in stays else outputs[place], rare) for place in order]
    if rare:
        parts.append(f"{rare} other outcome{'s happen' if rare > 1 else ' happens'} to fewer than 1 in 100")
    return f"of 100 people with {named(value)}, {', '.join(parts)}"


def hundred(shares: Array) -> list[int]:
    """Whole numbers that add up to 100, as near to the shares as that allows."""
    ideal = 100 * np.asarray(shares) / np.sum(shares)
    # A share such as 0.29 is a little below 29 hundredths in float64; it is 29 people all the same.
    down = np.floor(ideal + 1e-9)
    missing = round(100 - down.sum())
    first = np.argsort(np.round(down - ideal, 9), kind="stable")[:missing]
    down[first] += 1
    return [int(count) for count in down]


def named(value: Value) -> str:
    """A value as it stands in a sentence: texts without quotes, rows in brackets."""
    if isinstance(value, tuple):
        return f"({', '.join(named(entry) for entry in value)})"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _part(people: int, becomes: Value | None, rare: int) -> str:
    number = ("nearly all" if rare else "all") if people == 100 else str(people)
    ending = "s" if people == 1 else ""
    return f"{number} stay{ending}" if becomes is None else f"{number} become{ending} {named(becomes)}"


class ListChannel(Plotted, Channel):
    """P(y given x) in whole numbers over one power of two; a subclass stores the table.

    What is proved about a channel, and what is drawn from it, rests on integers alone (proofs/finite-channels.md).
    """

    publishes: ClassVar[Publishes] = "values"
    laws: ClassVar[type] = Finite
    weaker: ClassVar[str] = "unchanged values"
    is_table: ClassVar[bool] = False
    """Whether its whole table is stored, and not its moves alone."""

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
    def table(self) -> "Array | csr_array":
        """The probabilities in float64, inputs by outputs: an array, or a sparse matrix of SciPy's."""

    @property
    @abstractmethod
    def entries(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array]:
        """What is above zero: inputs, outputs and the probabilities between them, three lists of one length."""

    @property
    def width(self) -> int:
        """See `Channel`: the columns of a row."""
        first = self.inputs[0]
        return len(first) if isinstance(first, tuple) else 1

    @property
    def is_bare(self) -> bool:
        """See `Channel`: every input becomes one output for sure."""
        return len(self.entries[0]) == len(self.inputs)

    def as_list(self) -> "ListChannel":
        """See `Channel`."""
        return self

    def as_table(self) -> "FiniteChannel":
        """Itself, where its whole table is stored; an error for one that is stored by its moves."""
        raise InputError(f"{self.describe()} is stored by its moves alone, and this needs its whole table")

    def describe(self, *, exact: bool = False) -> str:
        """See `Channel`."""
        return f"a channel between {len(self.inputs)} value{'s' if len(self.inputs) > 1 else ''}"

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
    def _identity(self) -> tuple[object, ...]: ...

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
        self.require_law(law)
        with np.errstate(under="ignore"):
            return Finite(self.outputs, self.through(self.weights_of(law)))

    def published(self, law: Finite) -> Masses:
        """The published law in exact rational numbers, in the order of the outputs."""
        return self.exactly(Masses.of(self.weights_of(law)))

    # ---- what it loses

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

    def local_loss(self, of: Divergence) -> float:
        """See `Channel`: the largest ratio of two rows; of finite order λ of odds within e^λ, or αλ²/2 if that is less.

        M. Bun and T. Steinke, "Concentrated Differential Privacy" (2016), proposition 3.3.
        """
        odds = self.worst_odds()
        price = math.nextafter(math.log(odds), math.inf) if 1 < odds < math.inf else 0.0 if odds == 1 else math.inf
        if type(of) is MaxDivergence or math.isinf(price):
            return price
        if type(of) is not RenyiDivergence:
            return math.inf
        return min(price, 0.5 * of.alpha * price * price * (1 + 2.0**-48))

    # ---- attacks

    def log_likelihood(
        self, law: Finite, published: Sequence[npt.NDArray[np.generic]], *, weaker: bool = False
    ) -> Array:
        """See `Channel`."""
        told = law if weaker else self.apply(law)
        shares = {key(value): share for value, share in zip(told.values, told.probabilities.tolist(), strict=True)}
        columns = [column.tolist() for column in published]
        rows = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        return np.log(np.maximum([shares.get(key(row), 0.0) for row in rows], _HARDLY))

    # ---- files

    def public_state(self, *, withhold: bool) -> dict[str, object]:
        """See `Channel`: probabilities that were fitted to rows tell about them, and so does the list they had."""
        return {"kind": self.kind} if withhold else self.to_state()

    # ---- what it costs

    def share_changed(self, mass: Finite | npt.ArrayLike) -> float:
        """The share of values that are published as another, over inputs weighed by `mass`."""
        return float(self.shares_of(mass) @ ((self.denominator - self.kept) / self.denominator))

    def shares_of(self, mass: Finite | npt.ArrayLike) -> Array:
        """Weights over the inputs, divided by their sum."""
        is_law = getattr(mass, "space", None) == self.publishes
        weights = self.weights_of(cast(Finite, mass)) if is_law else vector("mass", mass)
        if len(weights) != len(self.inputs) or weights.min() < 0 or not weights.any():
            raise InputError(f"mass must be {len(self.inputs)} weights, 0 or more and not all 0, one per input")
        weights = weights / weights.max()  # weights near the largest float have no sum
        shares: Array = weights / weights.sum()
        return shares

    def sentences(self, *, most: int | None = None) -> list[str]:
        """What becomes of 100 people with each value; with `most`, of the values that change most.

        >>> from takifugu.channels.finite_channel import FiniteChannel
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

    def positions(self, values: object) -> npt.NDArray[np.int64]:
        """Where each value stands among the inputs; an error, which shows none, for a value that does not."""
        return self._positions.of(values)

    def positions_of_codes(self, columns: Sequence[tuple[object, Codes]]) -> npt.NDArray[np.int64]:
        """The same for columns that are lists of cells, and for each row the place of its own cell on that list."""
        return self._positions.of_codes(columns)

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

    def publish(self, values: object, source: BitSource | None = None) -> npt.NDArray[np.generic]:
        """The values as they are published: an array of numbers or truth values, otherwise of objects."""
        published: npt.NDArray[np.generic] = self._output_array[self.draw(self.positions(values), source)]
        return published

    @cached_property
    def _input_places(self) -> dict[object, int]:
        return {key(value): where for where, value in enumerate(self.inputs)}

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self.inputs)

    @cached_property
    def _output_array(self) -> npt.NDArray[np.generic]:
        if all(map(number, self.outputs)) or all(isinstance(value, bool) for value in self.outputs):
            return np.array(self.outputs)
        array = np.empty(len(self.outputs), dtype=object)
        array[:] = self.outputs
        return array


def values_from(content: dict[str, object], name: str) -> tuple[Value, ...]:
    """The list of a channel's inputs or outputs, as a file has it."""
    listed = form.items(content[name], f"channel.{name}", least=1, most=_MOST_VALUES)
    return tuple(form.value_from(value, f"channel.{name}") for value in listed)


def _distinct(values: object, *, name: str) -> tuple[Value, ...]:
    found = plain(values, name=name)
    if len(set(map(key, found))) < len(found):
        raise InputError(f"{name} must be distinct: merge the rows or columns of a value that occurs twice")
    return found


def _value(p: Finite, q: Finite, of: Divergence, channel: ListChannel) -> float:
    first, second = channel.apply(p).probabilities, channel.apply(q).probabilities
    return float(finite_divergence(first, second, alpha=getattr(of, "alpha", math.inf)))


def _decide(
    p: Finite, q: Finite, of: Divergence, budget: float, channel: ListChannel, effort: Effort | None
) -> Decision:
    """In rational numbers and balls."""
    first, second = channel.published(p), channel.published(q)
    return decide_finite(first, second, alpha=getattr(of, "alpha", math.inf), epsilon=budget)


register("values", RenyiDivergence, _value, _decide)
register("values", MaxDivergence, _value, _decide)
register(
    "values",
    HockeyStick,
    lambda p, q, of, channel: float(
        excess(channel.apply(p).probabilities, channel.apply(q).probabilities, epsilon=of.epsilon)
    ),
    lambda p, q, of, budget, channel, effort: decide_excess(
        channel.published(p), channel.published(q), epsilon=of.epsilon, delta=budget
    ),
)
