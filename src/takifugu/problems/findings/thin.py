"""What there is to say where whole rows are many and shared by few: what was added, and what that costs."""

from dataclasses import dataclass

from takifugu.problems.findings.base import Finding
from takifugu.problems.pairs import Secret


@dataclass(frozen=True)
class SparseChosen(Finding):
    """More values than the best of all channels is found for."""

    says = (
        "the answer takes {values:,} values, more than the {limit:,} that the best of all channels is "
        "found for by default: the mechanism 'sparse' found one of few moves. The promise is proved all the same; how "
        "much less another channel could change is proved for bounded odds, where all rows fit into one program"
    )
    values: int
    limit: int


@dataclass(frozen=True)
class Smoothed(Finding):
    """Rows that were added to each secret's, because most combinations of values are shared by hardly anybody.

    For each secret its name, its rows, how many were added, and the shape of the law they are from.
    """

    level = "warning"
    added: tuple[tuple[Secret, int, float, str], ...]

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        shapes = {"independent": "columns taken as independent", "tree": "each column taken to depend on one other"}
        told = "; ".join(
            f"{_counted(rows)} to the {own:,} of {secret!r} ({shapes[shape]})"
            for secret, own, rows, shape in self.added[:8]
        )
        more = "" if len(self.added) <= 8 else f"; and so on for {len(self.added) - 8} more"
        return (
            f"few people share a whole row, so rows of each secret's own columns were added to its rows: {told}{more}. "
            f"The promise is for who believes these laws"
        )


@dataclass(frozen=True)
class OtherSmoothing(Finding):
    """What the channel loses for who would have added fewer rows, or more."""

    level = "warning"
    says = (
        "for who adds a tenth of these rows instead the largest loss is {tenth:.3g}, and with ten times as "
        "many {tenfold:.3g}, where {epsilon:.3g} is promised"
    )
    tenth: float
    tenfold: float
    epsilon: float


@dataclass(frozen=True)
class PriceOfIgnorance(Finding):
    """How much of what is lost is paid for laws that are known from few rows."""

    says = "{share:percent} of what the rows lose is the price of confidence, for what few rows leave unknown"
    share: float


def _counted(rows: float) -> str:
    """Three digits of a number of rows, with no exponent."""
    return f"{float(f'{rows:.3g}'):,.10g}"
