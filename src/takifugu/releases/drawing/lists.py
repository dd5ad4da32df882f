"""Channels between finite lists: rows of one or several columns, each one of a list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.base import Channel
from takifugu.channels.bits import BitSource
from takifugu.channels.listed import ListChannel
from takifugu.channels.product import split
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.table import table_of
from takifugu.releases.drawing.base import AS_THEY_ARE, Drawing, refuse


@dataclass(frozen=True)
class Listed(Drawing):
    """A finite channel: each row is one of a list, and becomes one of another."""

    @classmethod
    def of(cls, calibration: Calibration, options: Mapping[str, Any]) -> "Listed":
        """Refuse what is for noise."""
        refuse(options, tuple(options), "is for noise, and this channel publishes from a list: leave it out")
        return cls(calibration)

    @cached_property
    def channel(self) -> ListChannel:
        """The channel that values are drawn through: of columns that follow others, their part of the whole."""
        channel: Any = self.calibration.channel
        found: ListChannel = channel
        answer = self.calibration.answer
        if answer is None or not answer.before:
            return found
        return split(channel, width=len(answer.before)).second

    @property
    def whole(self) -> Channel:
        """See `Drawing.whole`: of columns that follow others, that of all of them."""
        return self.calibration.channel

    @property
    def takes_labels(self) -> bool:
        """See `Drawing.takes_labels`."""
        return True

    @property
    def bare(self) -> str | None:
        """See `Drawing.bare`. Values that become one another are no longer told apart: those are hidden, for sure."""
        inputs, outputs, _ = self.channel.entries
        if not self.channel.is_sure:
            return None
        if self.calibration.answer is None or not self.calibration.answer.before:
            outputs = outputs[table_of(self.calibration.problem).mass[inputs] > 0]  # what nobody has hides nobody
        return AS_THEY_ARE if len(outputs) > 1 and len(np.unique(outputs)) == len(outputs) else None

    def check_columns(self, columns: Sequence[Any], names: Sequence[str]) -> Array:
        """The place of each row in the channel's list; an error for a row that is not on it."""
        before = 0 if self.calibration.answer is None else len(self.calibration.answer.before)
        places = _places(self.channel, self._from_lists(columns, names, after=before))
        self._require_seen(places)
        return np.asarray(places, dtype=np.float64)

    def check_together(self, columns: Sequence[Any], names: Sequence[str]) -> Array:
        """The same for whole rows, with the columns that these follow, in the list of everything that is published."""
        whole: Any = self.calibration.channel
        rows = self._from_lists(columns, names, after=0)
        try:
            places = _places(whole, rows)
        except InputError:
            raise InputError(
                f"some rows go together in {', '.join(names)} as nobody's did when the account was opened: the table "
                f"has changed. Nothing was released"
            ) from None
        return np.asarray(places, dtype=np.float64)

    def _from_lists(self, columns: Sequence[Any], names: Sequence[str], *, after: int) -> Sequence[Any]:
        """The values of the columns' own lists; those of the first columns, published before, may not be asked for."""
        domain = None if self.calibration.answer is None else self.calibration.answer.domain
        if not isinstance(domain, tuple):
            return columns
        return [
            np.array(one.values, dtype=None if one.is_numeric else object)[one.places(column, name)]
            for one, column, name in zip(domain[after:], columns, names, strict=True)
        ]

    def _require_seen(self, places: Any) -> None:
        """Refuse values that no law gives a probability, where the promise is about the laws alone."""
        covered = self.calibration.evidence is not None or np.any(dict(self.calibration.options).get("radius"))
        if self.calibration.answer is None or covered:
            return
        if self.calibration.answer.before:  # what goes through it are the values that somebody had, and no others
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
        width = len(answer.drawn)
        if width == 1:
            return self.check_columns([values], answer.drawn)
        rows = list(values)
        if not rows:
            return np.empty(0)
        if any(not isinstance(row, tuple | list | np.ndarray) or len(row) != width for row in rows):
            raise InputError(f"this calibration is for rows of {', '.join(answer.drawn)}: give a list of such rows")
        return self.check_columns([list(column) for column in zip(*rows, strict=True)], answer.drawn)

    def draw(self, ready: Array, source: BitSource) -> list[Any]:
        """See `Drawing.draw`."""
        out = self.channel.draw(ready.astype(np.int64), source)
        outputs = self.channel.outputs
        rows = outputs if isinstance(outputs[0], tuple) else [(value,) for value in outputs]
        return [_column(values)[out] for values in zip(*rows, strict=True)]

    def gathered(self, columns: list[Any], like: Any) -> Any:
        """See `Drawing.gathered`: rows of several columns are a list of tuples."""
        return columns[0] if len(columns) == 1 else list(zip(*(column.tolist() for column in columns), strict=True))


def _places(channel: ListChannel, columns: Sequence[Any]) -> Any:
    return channel.positions(columns[0]) if len(columns) == 1 else channel.positions_of_columns(columns)


def _column(values: tuple[Any, ...]) -> Any:
    """One column of the channel's outputs: numbers or truth values as such, all else as objects."""
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values) or all(
        isinstance(v, bool) for v in values
    ):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
