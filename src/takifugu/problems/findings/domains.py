"""What there is to say about the lists and lattices that values are published on."""

from dataclasses import dataclass

from takifugu.problems.findings.base import Finding


@dataclass(frozen=True)
class DomainRead(Finding):
    """A list of values that was read from the data, and so is no public knowledge."""

    column: str
    values: int
    step: float | None

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        how = "" if self.step is None else f", in bins {self.step:g} wide"
        return (
            f"the {self.values} values that {self.column!r} may take were read from the data{how}: that a rare one is "
            f"on the list tells that somebody has it. Give a list that is public, with domain=, to avoid that"
        )


@dataclass(frozen=True)
class LatticeRead(Finding):
    """Bounds or a step that nobody gave, and that follow the data."""

    column: str
    low: float
    high: float
    step: float
    bounds_read: bool
    step_read: bool

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        parts = []
        if self.bounds_read:
            parts.append(f"bounds {self.low:g} to {self.high:g}")
        if self.step_read:
            parts.append(f"step {self.step:g}")
        risk = (
            "who sees them learns roughly where the smallest and largest value lie; give public bounds"
            if self.bounds_read
            else "give it if it is public"
        )
        verb = "were" if self.bounds_read else "was"
        return f"the {' and '.join(parts)} of column {self.column!r} {verb} read from the data: {risk}"


@dataclass(frozen=True)
class CoarserStep(Finding):
    """A step that was widened because it would have made too many points."""

    column: str
    step: float
    finer: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        wanted = f"a step of {self.finer:g}" if self.finer else "values that share no step"
        return f"{wanted} would make too many points: column {self.column!r} is rounded to {self.step:g}"


@dataclass(frozen=True)
class Clipped(Finding):
    """Values that lie beyond the bounds and are published as the bound."""

    says = "{rows:rows} of column {column!r} {rows:were} beyond the bounds {low:g} to {high:g} and clipped to them"
    column: str
    rows: int
    low: float
    high: float


@dataclass(frozen=True)
class HeavyTail(Finding):
    """A column whose range is mostly a tail."""

    level = "warning"
    column: str
    below: float
    share: float
    positive: bool

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        log = ", or transform='log', which makes the noise a factor instead of an amount" if self.positive else ""
        below = float(f"{self.below:.2g}")
        return (
            f"99 % of the rows of column {self.column!r} lie in {100 * self.share:.2g} % of its range, and the rest "
            f"forces noise on all: give bounds up to about {below:,.12g}, which clips 1 % of the rows{log}"
        )
