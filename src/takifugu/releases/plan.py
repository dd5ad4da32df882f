"""Everything about a release but its values: decided, checked, and then applied to as many batches as there are."""

import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array, real
from takifugu.calibration import Calibration
from takifugu.channels.bits import BitSource, InsecureSeededBits, OsBits
from takifugu.channels.gaussian.grid import Grid, default_granularity
from takifugu.channels.gaussian.sampler import checked, rounded_gaussian
from takifugu.errors import BudgetError, CalibrationError, InputError
from takifugu.problems.guarantee import Renyi
from takifugu.releases.binding import require_seen
from takifugu.releases.ledger import Ledger


class InsecureReleaseWarning(UserWarning):
    """A release was made from a seed. It hides nothing from whoever knows the seed."""


class NoNoiseWarning(UserWarning):
    """Values leave as they are, or nearly so, because the priors said that nothing had to be hidden."""


@dataclass(frozen=True)
class Plan:
    """The noise, the grid, the source of bits and what is done to the values afterwards."""

    calibration: Calibration
    theta: float
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
        noise = _noise(calibration, theta, accept_weaker_promise)
        if not allow_no_noise and (words := bare(calibration, noise)):
            warnings.warn(words, NoNoiseWarning, stacklevel=3)
        if granularity is None:
            granularity = default_granularity(noise) if noise > 0 else None
        else:
            granularity = Grid(granularity).granularity
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

    def checked(self, values: Any) -> Array:
        """The values as float64, or an error: all that can be refused before anything is drawn."""
        ready = checked(values, theta=self.theta, granularity=self.granularity)[0]
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
        answer = self.calibration.answer
        if self.theta == 0 and answer is not None and answer.step > 0:
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


def bare(calibration: Calibration, theta: float) -> str | None:
    """What to say where values leave as they are, or with noise finer than their own steps; None where they do not."""
    if calibration.answer is None:  # whoever makes priors by hand says so, and `Released.unchecked` tells
        return None
    step = calibration.answer.step
    if theta > 0 and theta >= step:
        return None
    how = "as they are" if theta == 0 else f"with noise ({theta:.3g}) finer than the steps of the data ({step:.3g})"
    return (
        f"values are published {how}: by these priors nothing had to be hidden, so nothing was. If the values hold "
        f"anything that the priors do not describe, such as digits that differ between groups, it is published too"
    )


def _noise(calibration: Any, theta: float | None, accept_weaker_promise: bool) -> float:
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
            f"theta={calibration.theta!r} does not meet the budget that this calibration states: it, or its file, was "
            f"changed. Nothing was released; calibrate again"
        )
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
