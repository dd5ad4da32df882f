"""Everything about a release but its values: decided, checked, and then applied to as many batches as there are."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array, real
from takifugu.calibration import Calibration
from takifugu.channels.bits import BitSource, InsecureSeededBits, OsBits
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.grid import Grid, default_granularity
from takifugu.channels.gaussian.sampler import checked, rounded_gaussian
from takifugu.errors import BudgetError, CalibrationError, InputError
from takifugu.laws.lattice import Lattice
from takifugu.problems.guarantee import Renyi
from takifugu.releases.binding import require_seen, require_within
from takifugu.releases.ledger import Ledger


class InsecureReleaseWarning(UserWarning):
    """A release was made from a seed. It hides nothing from whoever knows the seed."""


class NoNoiseWarning(UserWarning):
    """Values leave as they are, or nearly so, because the priors said that nothing had to be hidden."""


@dataclass(frozen=True)
class Plan:
    """The noise, the grid, the source of bits and what is done to the values afterwards."""

    calibration: Calibration
    theta: float | None  # None for a channel that adds no noise
    granularity: float | None
    source: BitSource
    insecure: bool
    clip: tuple[float, float] | None
    round_to: float | None
    ledger: Ledger | None

    @classmethod
    def of(
        cls,
        calibration: Calibration,
        *,
        theta: float | None = None,
        granularity: float | None = None,
        clip: tuple[float, float] | None = None,
        round_to: float | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        insecure_seed: int | None = None,
        allow_no_noise: bool = False,
        accept_weaker_promise: bool = False,
    ) -> "Plan":
        """Check every option; nothing is drawn or charged."""
        _require_kept(calibration, accept_weaker_promise)
        noise = None
        if isinstance(calibration.channel, FiniteChannel):
            given = {"theta": theta, "granularity": granularity, "clip": clip, "round_to": round_to}
            for name, value in given.items():
                if value is not None:
                    raise InputError(f"{name} is for noise, and this channel publishes from a list: leave it out")
        else:
            noise = _noise(calibration, theta)
            if granularity is None:
                granularity = default_granularity(noise) if noise > 0 else None
            else:
                granularity = Grid(granularity).granularity
        if not allow_no_noise and (words := bare(calibration, noise)):
            warnings.warn(words, NoNoiseWarning, stacklevel=3)
        source: BitSource = OsBits()
        if insecure_seed is not None:
            source = InsecureSeededBits(insecure_seed)
            warnings.warn(
                "this release comes from a seed: whoever knows it can remove the noise. Do not publish it",
                InsecureReleaseWarning,
                stacklevel=3,
            )
        if ledger is not None and not isinstance(ledger, Ledger):
            ledger = Ledger(ledger)
        return cls(
            calibration,
            noise,
            granularity,
            source,
            insecure_seed is not None,
            _bounds(clip),
            _step(round_to),
            ledger,
        )

    def checked_rows(self, columns: Sequence[Any], names: Sequence[str]) -> Array:
        """The place of each row in the channel's list, as float64; an error for a row that is not on it."""
        channel, answer = self._finite, self.calibration.answer
        domain = None if answer is None else answer.domain
        if isinstance(domain, tuple):
            columns = [
                np.array(one.values, dtype=None if one.is_numeric else object)[one.places(column, name)]
                for one, column, name in zip(domain, columns, names, strict=True)
            ]
        places = channel.positions(columns[0]) if len(columns) == 1 else channel.positions_of_columns(columns)
        return np.asarray(places, dtype=np.float64)

    def drawn_rows(self, places: Array) -> list[Any]:
        """What is published for rows at these places, column by column. Only what was charged may go through here."""
        channel = self._finite
        out = channel.draw(places.astype(np.int64), self.source)
        rows = channel.outputs if isinstance(channel.outputs[0], tuple) else [(value,) for value in channel.outputs]
        return [_column(values)[out] for values in zip(*rows, strict=True)]

    @property
    def _finite(self) -> FiniteChannel:
        if not isinstance(self.calibration.channel, FiniteChannel):
            raise InputError("this calibration adds noise to numbers: it publishes no rows from a list")
        return self.calibration.channel

    def checked(self, values: Any) -> Array:
        """The values as float64, or an error: all that can be refused before anything is drawn."""
        if self.theta is None:
            first = self._finite.inputs[0]
            columns = _by_column(values, len(first)) if isinstance(first, tuple) else [values]
            answer = self.calibration.answer
            return self.checked_rows(columns, answer.columns if answer else ["the values"] * len(columns))
        ready = checked(values, theta=self.theta, granularity=self.granularity)[0]
        answer = self.calibration.answer
        if answer is not None and isinstance(answer.domain, Lattice):
            require_within(ready, answer)
            ready = answer.domain.snap(ready)  # what lies below the step or beyond the bounds is no part of the answer
        require_seen(ready, self.calibration)
        if ready.ndim > 1:
            raise InputError(
                f"values must be one column, got an array of shape {ready.shape}: several answers about the same "
                f"records are several releases, and do not compose without a joint prior"
            )
        return ready

    def charge(self, answer: str, count: int) -> None:
        """Write the release into the ledger, if there is one, or refuse."""
        if self.ledger is not None:
            self.ledger.charge(
                answer,
                self.calibration,
                theta=self.theta,
                count=count,
                granularity=self.granularity or 0.0,
            )

    def noised(self, values: Array) -> Array:
        """The values with noise, rounded and clipped. Only what was charged may go through here."""
        if self.theta is None:
            columns = self.drawn_rows(values)
            if not isinstance(self._finite.outputs[0], tuple):
                return columns[0]  # type: ignore[no-any-return]
            rows = np.empty(len(columns[0]), dtype=object)
            rows[:] = list(zip(*(column.tolist() for column in columns), strict=True))
            return rows
        answer = self.calibration.answer
        if self.theta == 0 and answer is not None and answer.domain is None and answer.step > 0:
            # Digits below the step of the data are no part of the answer: they were never calibrated.
            values = np.rint(values / answer.step) * answer.step
        y = rounded_gaussian(values, theta=self.theta, granularity=self.granularity, source=self.source)
        # From here on only y is looked at, so the guarantee stands.
        if self.round_to is not None:
            with np.errstate(over="ignore"):
                rounded = np.rint(y / self.round_to) * self.round_to
            y = np.where(np.isfinite(rounded), rounded, y)
        if self.clip is not None:
            y = np.clip(y, *self.clip)
        out: Array = y + 0.0
        return out

    @property
    def is_whole(self) -> bool:
        """Whether what is published are whole numbers, to be written as such."""
        return self.round_to is not None and float(self.round_to).is_integer()


def bare(calibration: Calibration, theta: float | None) -> str | None:
    """What to say where values leave as they are, or with noise finer than their own steps; None where they do not."""
    if theta is None:
        channel = calibration.channel
        same = isinstance(channel, FiniteChannel) and bool((channel.counts.max(axis=1) == channel.denominator).all())
        return _AS_THEY_ARE if same else None
    if calibration.answer is None:  # whoever makes priors by hand says so, and `Released.unchecked` tells
        return None
    step = calibration.answer.step
    if theta > 0 and theta >= step:
        return None
    if theta == 0:
        return _AS_THEY_ARE
    return _AS_THEY_ARE.replace("as they are", f"with noise ({theta:.3g}) finer than the data's steps ({step:.3g})")


_AS_THEY_ARE = (
    "values are published as they are: by these priors nothing had to be hidden, so nothing was. If the values hold "
    "anything that the priors do not describe, such as digits that differ between groups, it is published too"
)


def _column(values: tuple[Any, ...]) -> Any:
    """One column of the channel's outputs: numbers or truth values as such, all else as objects."""
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values) or all(
        isinstance(v, bool) for v in values
    ):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _by_column(values: Any, width: int) -> list[Any]:
    """Rows that came as a list of tuples, or as an array, column by column."""
    if getattr(values, "ndim", 1) == 2 and values.shape[1] == width:
        return [values[:, column] for column in range(width)]
    rows = [row for row in values if isinstance(row, tuple | list | np.ndarray) and len(row) == width]
    if getattr(values, "ndim", 1) != 1 or len(rows) != len(values):
        raise InputError(f"each value must be a row of {width} entries, one for each column that is published")
    return [[row[column] for row in rows] for column in range(width)]


def _require_kept(calibration: Any, accept_weaker_promise: bool) -> None:
    if not isinstance(calibration, Calibration):
        raise InputError(
            f"a release needs a Calibration, got {type(calibration).__name__}: make one with takifugu.calibrate"
        )
    if not isinstance(calibration.guarantee, Renyi) and not accept_weaker_promise:
        raise CalibrationError(
            f"{calibration.mechanism!r} gives a weaker promise, {calibration.guarantee}: for a share of the cases it "
            f"says nothing. Nothing was released; calibrate with 'exact', or give accept_weaker_promise=True"
        )
    if not calibration.meets_budget():
        raise CalibrationError(
            "the channel does not meet the budget that this calibration states: it, or its file, was changed. Nothing "
            "was released; calibrate again"
        )


def _noise(calibration: Calibration, theta: float | None) -> float:
    if theta is None:
        return calibration.theta
    wanted = real("theta", theta, "a finite number, at least the calibrated noise")
    if wanted < calibration.theta:
        raise BudgetError(
            f"theta={wanted!r} is less noise than the {calibration.theta!r} that was calibrated: nothing was released"
        )
    return wanted


def _bounds(clip: Any) -> tuple[float, float] | None:
    if clip is None:
        return None
    if not isinstance(clip, tuple | list) or len(clip) != 2:
        raise InputError(f"clip must be a pair (lowest, highest), got {clip!r}")
    low, high = (real("each end of clip", end, "a finite number") for end in clip)
    if low > high:
        raise InputError(f"clip must be a pair (lowest, highest), got {clip!r}")
    return low, high


def _step(round_to: Any) -> float | None:
    if round_to is None:
        return None
    step = real("round_to", round_to, "a positive number, such as 1 or 0.5")
    if step <= 0:
        raise InputError(f"round_to must be a positive number, such as 1 or 0.5, got {round_to!r}")
    return step
