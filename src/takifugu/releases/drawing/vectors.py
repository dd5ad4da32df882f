"""Noise on vectors: several columns at once, or several numbers about one group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.bits import BitSource
from takifugu.channels.gaussian.sampler import checked
from takifugu.channels.vector import GaussianVector
from takifugu.channels.vector.composition import at_least
from takifugu.errors import BudgetError, InputError
from takifugu.releases.binding import require_seen
from takifugu.releases.drawing.base import Drawing, refuse


@dataclass(frozen=True)
class Vectors(Drawing):
    """Gaussian noise with a covariance: the calibrated one, or more."""

    channel: GaussianVector

    @classmethod
    def of(cls, calibration: Calibration, options: Mapping[str, Any]) -> "Vectors":
        """Check the options: more noise is the only one."""
        refuse(options, ("theta",), "is noise on one number, and this is noise on vectors: give covariance")
        refuse(
            options, ("granularity",), "is for one column: the grid of a vector follows from its noise; leave it out"
        )
        after = "is for one column: round or clip what was published yourself, which costs no privacy"
        refuse(options, ("clip", "round_to"), after)
        calibrated: Any = calibration.channel
        if options["covariance"] is None:
            return cls(calibration, calibrated)
        channel = GaussianVector(options["covariance"])
        if channel.dimension != calibrated.dimension:
            raise InputError(
                f"covariance must be {calibrated.dimension} by {calibrated.dimension}, one row for each number "
                f"published, got {channel.dimension} by {channel.dimension}"
            )
        if not at_least(channel.covariance, calibrated.covariance):
            raise BudgetError(
                "covariance is less noise, in some direction, than was calibrated: nothing was released. Give at least "
                "the calibrated covariance, such as a multiple of it"
            )
        return cls(calibration, channel)

    @property
    def whole(self) -> GaussianVector:
        """See `Drawing.whole`."""
        return self.channel

    @property
    def noise(self) -> dict[str, Any]:
        """See `Drawing.noise`."""
        return {"covariance": self.channel.covariance}

    def check_columns(self, columns: Sequence[Any], names: Sequence[str]) -> Array:
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
                f"tells which is whose"
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
