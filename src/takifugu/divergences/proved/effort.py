"""A limit on work, counted and not timed, so that the same input always meets the same fate."""

from collections.abc import Iterable

DEFAULT_LIMIT = 8_000_000  # of one divergence; a unit is one component evaluated once, about a microsecond
VERIFY_LIMIT = 15_000_000  # of a whole certificate, however small
_PER_PLACE, _PER_COMPONENT = 10_000, 3_000  # several times what an honest claim about such laws takes


class UndecidableError(Exception):
    """A limit on work or precision was met before anything was proved; the text says which."""


def limit_for(sizes: Iterable[int]) -> int:
    """The work that claims about pairs of laws may take; `sizes` are the numbers of components of each pair.

    It grows with what is claimed: a file of forty thousand places is no more suspicious a place than one of ten.
    """
    return max(VERIFY_LIMIT, sum(min(_PER_PLACE + _PER_COMPONENT * size, DEFAULT_LIMIT) for size in sizes))


class Effort:
    """Units of work that may still be spent; several divergences can share one."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        """Start with the whole limit."""
        self.left = self.limit = limit

    def spend(self, units: int) -> None:
        """Count work; an error once there was more than the limit."""
        self.left -= units
        self.require()

    def require(self) -> None:
        """Go on only while some work is left."""
        if self.left <= 0:
            raise UndecidableError(f"the limit of {self.limit:,} evaluations of a component was met")
