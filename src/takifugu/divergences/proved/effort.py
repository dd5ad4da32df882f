"""A limit on work, counted and not timed, so that the same input always meets the same fate."""

DEFAULT_LIMIT = 8_000_000  # of one divergence; a unit is one component evaluated once, about a microsecond
VERIFY_LIMIT = 15_000_000  # of a whole certificate: well under a minute


class UndecidableError(Exception):
    """A limit on work or precision was met before anything was proved; the text says which."""


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
