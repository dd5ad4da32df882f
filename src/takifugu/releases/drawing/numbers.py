"""Noise on numbers: one column, a rounding of the exact sum of value and noise."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array, real
from takifugu.calibration import Calibration
from takifugu.channels.bits import BitSource
from takifugu.channels.gaussian.grid import Grid, default_granularity
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.gaussian.sampler import checked, rounded_gaussian
from takifugu.errors import BudgetError, InputError
from takifugu.laws.lattice import Lattice
from takifugu.releases.binding import require_seen, require_within
from takifugu.releases.drawing.base import AS_THEY_ARE, FINER, Drawing, refuse


@dataclass(frozen=True)
class Numbers(Drawing):
    """Noise of standard deviation θ on numbers, rounded to a grid; then rounded and clipped as asked."""

    theta: float = 0.0
    grid: float | None = None
    clip: tuple[float, float] | None = None
    round_to: float | None = None

    @classmethod
    def of(cls, calibration: Calibration, options: Mapping[str, Any]) -> "Numbers":
        """Check the options."""
        refuse(options, ("covariance",), "is noise on vectors, and this is noise on one number: give theta")
        theta, granularity = calibration.theta, options["granularity"]
        if options["theta"] is not None:
            theta = real("theta", options["theta"], "a finite number, at least the calibrated noise")
            if theta < calibration.theta:
                raise BudgetError(
                    f"theta={theta!r} is less noise than the {calibration.theta!r} that was calibrated: nothing was "
                    f"released"
                )
        if granularity is not None:
            granularity = Grid(granularity).granularity
        elif theta > 0:
            granularity = default_granularity(theta)
        step = _step(options["round_to"])
        return cls(calibration, theta, granularity, _bounds(options["clip"], step), step)

    @property
    def whole(self) -> GaussianNoise:
        """See `Drawing.whole`."""
        return GaussianNoise(self.theta)

    @property
    def noise(self) -> dict[str, Any]:
        """See `Drawing.noise`."""
        return {"theta": self.theta}

    @property
    def granularity(self) -> float | None:
        """See `Drawing.granularity`."""
        return self.grid

    @property
    def is_whole(self) -> bool:
        """See `Drawing.is_whole`."""
        return self.round_to is not None and float(self.round_to).is_integer()

    @property
    def bare(self) -> str | None:
        """See `Drawing.bare`."""
        if self.calibration.answer is None:  # whoever makes priors by hand says so, and `Released.unchecked` tells
            return None
        step = self.calibration.answer.step
        if self.theta > 0 and self.theta >= step:
            return None
        return AS_THEY_ARE if self.theta == 0 else FINER.format(theta=self.theta, step=step)

    def check(self, values: Any) -> Array:
        """See `Drawing.check`."""
        ready = checked(values, theta=self.theta, granularity=self.grid)[0]
        if ready.ndim > 1:
            raise InputError(
                f"values must be one column, got an array of shape {ready.shape}: several answers about the same "
                f"records are several releases, and do not compose without a joint prior"
            )
        answer = self.calibration.answer
        if answer is not None and isinstance(answer.domain, Lattice):
            require_within(ready, answer)
            ready = answer.domain.snap(ready)  # what lies below the step or beyond the bounds is no part of the answer
        require_seen(ready, self.calibration)
        return ready

    def draw(self, ready: Array, source: BitSource) -> list[Any]:
        """See `Drawing.draw`."""
        answer = self.calibration.answer
        if self.theta == 0 and answer is not None and answer.domain is None and answer.step > 0:
            # Digits below the step of the data are no part of the answer: they were never calibrated.
            ready = np.rint(ready / answer.step) * answer.step
        y = rounded_gaussian(ready, theta=self.theta, granularity=self.grid, source=source)
        # From here on only y is looked at, so the guarantee stands.
        if self.round_to is not None:
            with np.errstate(over="ignore"):
                rounded = np.rint(y / self.round_to) * self.round_to
            y = np.where(np.isfinite(rounded), rounded, y)
        return [(y if self.clip is None else np.clip(y, *self.clip)) + 0.0]


def _bounds(clip: Any, step: float | None) -> tuple[float, float] | None:
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


def _step(round_to: Any) -> float | None:
    if round_to is None:
        return None
    step = real("round_to", round_to, "a positive number, such as 1 or 0.5")
    if step <= 0:
        raise InputError(f"round_to must be a positive number, such as 1 or 0.5, got {round_to!r}")
    return step
