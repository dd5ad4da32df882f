"""How answers go through each kind of channel: what is accepted, what is drawn, and what may be told about it."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, real, reals
from takifugu.calibration import Calibration
from takifugu.channels import (
    BitSource,
    Channel,
    GaussianVector,
    ListChannel,
    Noise,
    Publishes,
    checked,
)
from takifugu.errors import BudgetError, InputError
from takifugu.mechanisms import table_of
from takifugu.releases.binding import require_seen, require_within
from takifugu.tables import Coded

# What every kind of channel has to do to publish: `check` what came in, and `draw` what leaves.
#
# Whatever publishes knows this interface alone. `check` turns what came in into an array, which the ledger
# fingerprints, and `draw` turns that array into columns.

_TOLD_TOO = (
    "If the values hold anything that the priors do not describe, such as digits that differ between groups, it is "
    "published too"
)
AS_THEY_ARE = f"values are published as they are: by these priors nothing had to be hidden, so nothing was. {_TOLD_TOO}"
FINER = (
    "values are published with noise ({theta:.3g}) finer than the data's steps ({step:.3g}): by these priors that is "
    f"enough, and many values can still be read from what is published. {_TOLD_TOO}"
)


@dataclass(frozen=True)
class Drawing(ABC):
    """One kind of channel at work. Only what `check` returned and the ledger knows may go through `draw`."""

    calibration: Calibration

    @classmethod
    @abstractmethod
    def of(cls, calibration: Calibration, options: Mapping[str, object]) -> "Drawing":
        """Check the options, of which each kind refuses what is for another."""

    @property
    @abstractmethod
    def whole(self) -> Channel:
        """The channel of everything that is published, with the noise that is added now."""

    @property
    def stated(self) -> dict[str, Any]:
        """How much noise is added, as whoever gets an array is told: nothing for a channel that adds none."""
        return {}

    @property
    def granularity(self) -> float | None:
        """The power of two that published numbers are multiples of; None where there is none."""
        return None

    @property
    def is_whole(self) -> bool:
        """Whether what is published are whole numbers, to be written as such."""
        return False

    @property
    def takes_labels(self) -> bool:
        """Whether entries may be anything, not only numbers."""
        return False

    @property
    def bare(self) -> str | None:
        """What to say where values leave as they are, or with noise finer than their own steps."""
        return None

    def check_columns(self, columns: Sequence[object], names: Sequence[str]) -> Array:
        """Rows whose entries are given column by column, ready to be drawn; an error for what cannot be published."""
        if len(columns) != 1:
            raise InputError(f"this calibration publishes one column, and {len(columns)} were given")
        return self.check(columns[0])

    @abstractmethod
    def check(self, values: object) -> Array:
        """The same for an array or a list of answers."""

    @abstractmethod
    def draw(self, ready: Array, source: BitSource) -> list[Any]:
        """What is published, column by column: an array of numbers, or a `Coded` column of a list's values."""

    def gathered(self, columns: list[object], like: object) -> Any:
        """Columns as one array, for answers that came as one."""
        return columns[0]


def refuse(options: Mapping[str, object], names: tuple[str, ...], why: str) -> None:
    """Refuse options that are for another kind of channel."""
    for name in names:
        if options[name] is not None:
            raise InputError(f"{name} {why}")


# Channels between finite lists: rows of one or several columns, each one of a list.


@dataclass(frozen=True)
class Listed(Drawing):
    """A finite channel: each row is one of a list, and becomes one of another."""

    @classmethod
    def of(cls, calibration: Calibration, options: Mapping[str, object]) -> "Listed":
        """Refuse what is for noise."""
        refuse(options, tuple(options), "is for noise, and this channel publishes from a list: leave it out")
        return cls(calibration)

    @cached_property
    def channel(self) -> ListChannel:
        """The channel that values are drawn through."""
        return self.calibration.channel.as_list()

    @property
    def whole(self) -> Channel:
        """See `Drawing.whole`."""
        return self.calibration.channel

    @property
    def takes_labels(self) -> bool:
        """See `Drawing.takes_labels`."""
        return True

    @property
    def bare(self) -> str | None:
        """See `Drawing.bare`. Values that become one another are no longer told apart: those are hidden, for sure."""
        inputs, outputs, _ = self.channel.entries
        if not self.channel.is_bare:
            return None
        outputs = outputs[table_of(self.calibration.problem).mass[inputs] > 0]  # what nobody has hides nobody
        return AS_THEY_ARE if len(outputs) > 1 and len(np.unique(outputs)) == len(outputs) else None

    def check_columns(self, columns: Sequence[object], names: Sequence[str]) -> Array:
        """The place of each row in the channel's list; an error for a row that is not on it."""
        places = _places(self.channel, self._from_lists(columns, names))
        self._require_seen(places)
        return np.asarray(places, dtype=np.float64)

    def _from_lists(self, columns: Sequence[object], names: Sequence[str]) -> Sequence[Coded]:
        """The values of the columns' own lists."""
        lists = () if self.calibration.answer is None else self.calibration.answer.lists
        if not lists:
            return [_coded(column, name) for column, name in zip(columns, names, strict=True)]
        found = []
        for one, column, name in zip(lists, columns, names, strict=True):
            given = _coded(column, name)
            places = one.places(given.cells, name, tallies=given.tallies.tolist())
            values = np.array(one.values, dtype=None if one.is_numeric else object)
            found.append(Coded(values, places[given.codes]))
        return found

    def _require_seen(self, places: npt.NDArray[np.intp]) -> None:
        """Refuse values that no law gives a probability, where the promise is about the laws alone."""
        covered = self.calibration.evidence is not None or np.any(dict(self.calibration.options).get("radius"))
        if self.calibration.answer is None or covered:
            return
        unseen = int((table_of(self.calibration.problem).mass[places] == 0).sum())
        if unseen:
            raise InputError(
                f"{unseen:,} of {len(places):,} rows have a value that nobody had when this was calibrated: the table "
                f"has changed. Nothing was released; calibrate with this table, or with confidence"
            )

    def check(self, values: Any) -> Array:
        """Of rows of several columns, a list of tuples."""
        if isinstance(values, np.ma.MaskedArray):
            raise InputError("a masked array holds values it hides: give x.compressed(), or x.filled(value)")
        answer = self.calibration.answer
        if answer is None:
            return np.asarray(self.channel.positions(values), dtype=np.float64)
        width = len(answer.columns)
        if width == 1:
            return self.check_columns([values], answer.columns)
        rows = list(values)
        if not rows:
            return np.empty(0)
        if any(not isinstance(row, tuple | list | np.ndarray) or len(row) != width for row in rows):
            raise InputError(f"this calibration is for rows of {', '.join(answer.columns)}: give a list of such rows")
        return self.check_columns([list(column) for column in zip(*rows, strict=True)], answer.columns)

    def draw(self, ready: Array, source: BitSource) -> list[Any]:
        """See `Drawing.draw`."""
        out = self.channel.draw(ready.astype(np.int64), source)
        outputs = self.channel.outputs
        rows = outputs if isinstance(outputs[0], tuple) else [(value,) for value in outputs]
        return [Coded(_column(values), out) for values in zip(*rows, strict=True)]

    def gathered(self, columns: list[Any], like: object) -> Any:
        """See `Drawing.gathered`: rows of several columns are a list of tuples."""
        made = [column.rows for column in columns]
        return made[0] if len(made) == 1 else list(zip(*(column.tolist() for column in made), strict=True))


def _places(channel: ListChannel, columns: Sequence[Coded]) -> npt.NDArray[np.int64]:
    if len(columns) == 1 and channel.width > 1:  # a column of whole rows
        return channel.positions(columns[0].rows)
    return channel.positions_of_codes([(column.cells, column.codes) for column in columns])


def _coded(column: Any, name: str) -> Coded:
    """A column as its cells, each once, and the codes of its rows."""
    if isinstance(column, Coded):
        return column
    if isinstance(column, str | bytes):
        raise InputError(f"column {name!r} must be a list of values, got one text")
    if not isinstance(column, np.ndarray):
        return Coded.of_list(column)
    if column.ndim != 1:
        raise InputError(f"column {name!r} must be one list of values, got an array of shape {column.shape}")
    return Coded.of_array(column)


def _column(values: tuple[object, ...]) -> npt.NDArray[np.generic]:
    """One column of the channel's outputs: numbers or truth values as such, all else as objects."""
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values) or all(
        isinstance(v, bool) for v in values
    ):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# Noise on numbers: one column, a rounding of the exact sum of value and noise.


@dataclass(frozen=True)
class Numbers(Drawing):
    """Noise of one family on numbers, rounded to a grid; then rounded and clipped as asked."""

    channel: Noise
    grid: float | None = None
    clip: tuple[float, float] | None = None
    round_to: float | None = None

    @classmethod
    def of(cls, calibration: Calibration, options: Mapping[str, Any]) -> "Numbers":
        """Check the options."""
        channel = calibration.channel.as_noise()
        granularity = options["granularity"]
        if options["theta"] is not None:
            if channel.parameter != "theta":
                refuse(options, ("theta",), f"is Gaussian noise, and this calibration adds {channel.describe()}")
            theta = real("theta", options["theta"], "a finite number, at least the calibrated noise")
            if theta < channel.size:
                raise BudgetError(
                    f"theta={theta!r} is less noise than the {channel.size!r} that was calibrated: nothing was released"
                )
            channel = channel.resized(theta)
        granularity = channel.grid(granularity)
        step = _step(options["round_to"])
        return cls(calibration, channel, granularity, _bounds(options["clip"], step), step)

    @property
    def whole(self) -> Noise:
        """See `Drawing.whole`."""
        return self.channel

    @property
    def stated(self) -> dict[str, Any]:
        """See `Drawing.stated`: the standard deviation, whatever the family."""
        return {"theta": self.channel.std}

    @property
    def granularity(self) -> float | None:
        """See `Drawing.granularity`."""
        return self.grid

    @property
    def is_whole(self) -> bool:
        """See `Drawing.is_whole`."""
        return self.channel.is_whole if self.round_to is None else float(self.round_to).is_integer()

    @property
    def bare(self) -> str | None:
        """See `Drawing.bare`."""
        if self.calibration.answer is None:  # whoever makes priors by hand says so, and `Released.unchecked` tells
            return None
        step = self.calibration.answer.step
        std = self.channel.std
        if std > 0 and std >= step:
            return None
        return AS_THEY_ARE if std == 0 else FINER.format(theta=std, step=step)

    def check(self, values: Any) -> Array:
        """See `Drawing.check`."""
        ready = checked(values, theta=self.channel.size, granularity=self.grid)[0]
        if ready.ndim > 1:
            raise InputError(
                f"values must be one column, got an array of shape {ready.shape}: several answers about the same "
                f"records are several releases, and do not compose without a joint prior"
            )
        answer = self.calibration.answer
        if answer is not None and answer.lattice is not None:
            require_within(ready, answer)
            ready = answer.lattice.snap(ready)  # what lies below the step or beyond the bounds is no part of the answer
        require_seen(ready, self.calibration)
        return ready

    def draw(self, ready: Array, source: BitSource) -> list[Any]:
        """See `Drawing.draw`."""
        answer = self.calibration.answer
        if self.channel.size == 0 and answer is not None and answer.domain is None and answer.step > 0:
            # Digits below the step of the data are no part of the answer: they were never calibrated.
            ready = np.rint(ready / answer.step) * answer.step
        y = self.channel.draw(ready, granularity=self.grid, source=source)
        # From here on only y is looked at, so the guarantee stands.
        if self.round_to is not None:
            with np.errstate(over="ignore"):
                rounded = np.rint(y / self.round_to) * self.round_to
            y = np.where(np.isfinite(rounded), rounded, y)
        return [(y if self.clip is None else np.clip(y, *self.clip)) + 0.0]


def _bounds(clip: object, step: float | None) -> tuple[float, float] | None:
    """The ends, each moved inwards to a multiple of the step: what is clipped to them is on the grid as well."""
    if clip is None:
        return None
    if not isinstance(clip, tuple | list) or len(clip) != 2:
        raise InputError(f"clip must be a pair (lowest, highest), got {clip!r}")
    low, high = (real("each end of clip", end, "a finite number") for end in clip)
    if low > high:
        raise InputError(f"clip must be a pair (lowest, highest), got {clip!r}")
    if step is None:
        return low, high
    inner = _multiple(low, step, math.ceil), _multiple(high, step, math.floor)
    if inner[0] > inner[1]:
        raise InputError(f"clip={clip!r} leaves no multiple of round_to={step:g} to publish: give a wider one")
    return inner


def _multiple(end: float, step: float, inwards: Callable[[float], int]) -> float:
    """The end itself where it is a multiple but for rounding, as 0.3 is of 0.1; else the next one inwards."""
    count = end / step
    if not abs(count) < 2**53:
        return end  # beyond, every float is whole
    nearest = round(count)
    return end if math.isclose(count, nearest, rel_tol=1e-12, abs_tol=1e-12) else inwards(count) * step


def _step(round_to: object) -> float | None:
    if round_to is None:
        return None
    step = real("round_to", round_to, "a positive number, such as 1 or 0.5")
    if step <= 0:
        raise InputError(f"round_to must be a positive number, such as 1 or 0.5, got {round_to!r}")
    return step


# Noise on vectors: several columns at once, or several numbers about one group.


@dataclass(frozen=True)
class Vectors(Drawing):
    """Gaussian noise with a covariance: the calibrated one, or more."""

    channel: GaussianVector

    @classmethod
    def of(cls, calibration: Calibration, options: Mapping[str, Any]) -> "Vectors":
        """Check the options: more noise is the only one."""
        refuse(
            options, ("granularity",), "is for one column: the grid of a vector follows from its noise; leave it out"
        )
        after = "is for one column: round or clip what was published yourself, which costs no privacy"
        refuse(options, ("clip", "round_to"), after)
        calibrated = calibration.channel.as_vector()
        if options["theta"] is None:
            return cls(calibration, calibrated)
        channel = GaussianVector(np.atleast_2d(reals("theta", options["theta"])))
        if channel.dimension != calibrated.dimension:
            raise InputError(
                f"theta of vectors is the covariance of their noise, {calibrated.dimension} by {calibrated.dimension}, "
                f"one row for each number published, got {channel.dimension} by {channel.dimension}"
            )
        if not channel.at_least(calibrated):
            raise BudgetError(
                "theta is less noise, in some direction, than was calibrated: nothing was released. Give at least "
                "the calibrated covariance, such as a multiple of it"
            )
        return cls(calibration, channel)

    @property
    def whole(self) -> GaussianVector:
        """See `Drawing.whole`."""
        return self.channel

    @property
    def stated(self) -> dict[str, Any]:
        """See `Drawing.stated`."""
        return {"covariance": self.channel.covariance}

    def check_columns(self, columns: Sequence[object], names: Sequence[str]) -> Array:
        """See `Drawing.check_columns`."""
        if len(columns) != self.channel.dimension:
            raise InputError(
                f"this calibration is for vectors of {self.channel.dimension} numbers, and {len(columns)} "
                f"column{'s were' * (len(columns) != 1) or ' was'} given: give a table with all of them"
            )
        return self._ready(np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1))

    def check(self, values: Any) -> Array:
        """One vector, or a table of them with one in each row; of a group there is one vector."""
        ready, _ = checked(values, theta=1.0)
        size, answer = self.channel.dimension, self.calibration.answer
        one, several = ready.shape == (size,), ready.ndim == 2 and ready.shape[1] == size
        if answer is not None and not answer.is_of_rows and not one:
            raise InputError(
                f"this calibration is for {answer.words}: one vector of {size} numbers about one group whose secret "
                f"is hidden, and an array of shape {ready.shape} was given. Publishing the numbers of several groups "
                f"reveals which is whose"
            )
        if not several and (not one or (answer is not None and answer.is_of_rows)):
            raise InputError(
                f"vectors of {size} numbers are needed, one in each row of a table; got an array of shape {ready.shape}"
            )
        return self._ready(ready.reshape(-1, size))

    def _ready(self, rows: Array) -> Array:
        ready, _ = checked(rows, theta=1.0)
        require_seen(ready, self.calibration)
        return ready

    def draw(self, ready: Array, source: BitSource) -> list[Any]:
        """See `Drawing.draw`."""
        return list(self.channel.draw(ready, source=source).T)

    def gathered(self, columns: list[Any], like: Any) -> Any:
        """See `Drawing.gathered`."""
        table = np.stack(columns, axis=1)
        return table[0] if np.ndim(like) == 1 else table


# Whatever can be asked of a channel; each kind refuses what is not for it.
OPTIONS = ("theta", "granularity", "clip", "round_to")


def drawing_of(calibration: Calibration, options: Mapping[str, object]) -> Drawing:
    """The way to publish through a calibration's channel, its options checked; those left out are None."""
    given = {name: options.get(name) for name in OPTIONS}
    kinds: dict[Publishes, type[Drawing]] = {"number": Numbers, "values": Listed, "vector": Vectors}
    return kinds[calibration.channel.publishes].of(calibration, given)
