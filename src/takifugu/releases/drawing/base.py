"""What every kind of channel has to do to publish: `check` what came in, and `draw` what leaves.

Whatever publishes knows this interface alone. `check` turns what came in into an array, which the ledger fingerprints,
and `draw` turns that array into columns.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.base import Channel
from takifugu.channels.bits import BitSource
from takifugu.errors import InputError

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

    @property
    @abstractmethod
    def whole(self) -> Channel:
        """The channel of everything that is published, with the noise that is added now."""

    @property
    def noise(self) -> dict[str, Any]:
        """How much noise is added, as the ledger is told: nothing for a channel that adds none."""
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

    def check_columns(self, columns: Sequence[Any], names: Sequence[str]) -> Array:
        """Rows whose entries are given column by column, ready to be drawn; an error for what cannot be published."""
        if len(columns) != 1:
            raise InputError(f"this calibration publishes one column, and {len(columns)} were given")
        return self.check(columns[0])

    @abstractmethod
    def check(self, values: Any) -> Array:
        """The same for an array or a list of answers."""

    @abstractmethod
    def draw(self, ready: Array, source: BitSource) -> list[Any]:
        """What is published, column by column."""

    def gathered(self, columns: list[Any], like: Any) -> Any:
        """Columns as one array, for answers that came as one."""
        return columns[0]


def refuse(options: Mapping[str, Any], names: tuple[str, ...], why: str) -> None:
    """Refuse options that are for another kind of channel."""
    for name in names:
        if options[name] is not None:
            raise InputError(f"{name} {why}")
