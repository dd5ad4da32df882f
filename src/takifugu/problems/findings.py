"""What a reader should know about the data: typed remarks, each of which says its own sentence.

Reports, the command line and the web page show the same findings; each picks those it wants by type.
"""

import re
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from takifugu.problems.pairs import Secret


@dataclass(frozen=True)
class Finding:
    """One remark. `level` is 'warning' where the priors may be worth less than they look."""

    level: ClassVar[Literal["note", "warning"]] = "note"

    @property
    def kind(self) -> str:
        """A name for machines.

        >>> FewRows("Other", 21).kind
        'few-rows'
        """
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(self).__name__).lower()

    @property
    def sentence(self) -> str:
        """The remark in words."""
        raise NotImplementedError

    def __str__(self) -> str:
        """The sentence."""
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Fields, kind, level and sentence, ready for JSON."""
        return {"kind": self.kind, "level": self.level, **asdict(self), "sentence": self.sentence}


@dataclass(frozen=True)
class Remark(Finding):
    """A finding as a file tells it: the words, without the type that made them."""

    text: str

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return self.text


@dataclass(frozen=True)
class Caution(Remark):
    """The same of a warning."""

    level = "warning"


@dataclass(frozen=True)
class FewRows(Finding):
    """A secret so rare that its prior is uncertain."""

    level = "warning"
    secret: Secret
    rows: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"secret {self.secret!r} has {self.rows} rows: its prior is uncertain"


@dataclass(frozen=True)
class NoValue(Finding):
    """Rows that were left out because a column they need is empty."""

    columns: tuple[str, ...]
    rows: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        where = ", ".join(repr(column) for column in self.columns[:4])
        if len(self.columns) > 4:
            where += f" or {len(self.columns) - 4} more"
        return f"{_rows(self.rows)} had no value in {where} and {_were(self.rows)} left out"


@dataclass(frozen=True)
class NoSecret(Finding):
    """Rows that were left out because nobody knows their secret."""

    column: str
    rows: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"{_rows(self.rows)} had no secret in {self.column!r} and {_were(self.rows)} left out"


@dataclass(frozen=True)
class ComponentLimit(Finding):
    """A mixture that might have used more components than it was allowed."""

    level = "warning"
    secret: Secret
    limit: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"K hit its limit of {self.limit} for secret {self.secret!r}: allow more components"


@dataclass(frozen=True)
class Rounded(Finding):
    """A column that was rounded before it was stored."""

    column: str
    step: float
    floor: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"values look rounded to {self.step:.4g}: standard deviations are floored at {self.floor:.3g}"


@dataclass(frozen=True)
class Gridded(Finding):
    """A column with more distinct values than are counted one by one."""

    column: str
    width: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"column {self.column!r} has too many distinct values to count one by one: they were counted "
            f"on a grid of width {self.width:.3g}"
        )


@dataclass(frozen=True)
class PoorFit(Finding):
    """A fitted prior that does not look like the data."""

    level = "warning"
    secret: Secret
    distance: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"the fitted prior of secret {self.secret!r} misses the data by a Kolmogorov distance of "
            f"{self.distance:.2g}"
        )


@dataclass(frozen=True)
class Constant(Finding):
    """A secret whose rows all hold the same answer."""

    level = "warning"
    secret: Secret
    column: str
    value: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"column {self.column!r} is {self.value:g} in every row with secret {self.secret!r}: "
            f"its prior is a single point"
        )


@dataclass(frozen=True)
class NotConverged(Finding):
    """A model whose training stopped before it settled."""

    level = "warning"
    secret: Secret
    model: str
    detail: str

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"the {self.model} of secret {self.secret!r} did not converge: {self.detail}"


@dataclass(frozen=True)
class Subsampled(Finding):
    """A model trained on some of the rows."""

    secret: Secret
    rows: int
    used: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"the model of secret {self.secret!r} was trained on {self.used} of its {self.rows} rows"


@dataclass(frozen=True)
class ConstantFeature(Finding):
    """A feature that tells a model nothing."""

    column: str

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"feature {self.column!r} is the same in every row and was left out"


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
            f"on the list tells that somebody has it. Give a domain that is public to avoid that"
        )


@dataclass(frozen=True)
class VectorOfRows(Finding):
    """Records of several columns to be published with noise, which a joint channel would spare."""

    level = "warning"
    columns: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        names = ", ".join(repr(column) for column in self.columns)
        return f"noise on whole rows costs a variance or more a column: a joint channel, Row({names}), costs far less"


@dataclass(frozen=True)
class UnsafePrior(Finding):
    """Noise that is enough for the fitted priors and not for the rows they were fitted to."""

    level = "warning"
    secret: Secret
    other: Secret
    loss: float
    epsilon: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"the rows with secret {self.secret!r} lose at least {self.loss:.3g} against those with {self.other!r}, "
            f"more than the {self.epsilon:.3g} promised for their fitted priors: the priors do not describe these rows"
        )


def _rows(number: int) -> str:
    return f"{number} row{'' if number == 1 else 's'}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


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

    column: str
    rows: int
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"{_rows(self.rows)} of column {self.column!r} {_were(self.rows)} beyond the bounds {self.low:g} to "
            f"{self.high:g} and clipped to them"
        )


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


@dataclass(frozen=True)
class ScarceRows(Finding):
    """A secret with so few rows that its prior alone says little."""

    level = "warning"
    secret: Secret
    rows: int
    distance: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"secret {self.secret!r} has {_rows(self.rows)}: by chance alone its prior is off by about "
            f"{100 * self.distance:.0f} % of its mass, which confidence pays for with noise"
        )


@dataclass(frozen=True)
class SmallCells(Finding):
    """Cells of what the adversary knows that hold few rows of some secret."""

    level = "warning"
    small: int
    cells: int
    rows: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"{self.small} of {self.cells} cells rest on fewer than {self.rows} rows of some secret"


@dataclass(frozen=True)
class ManyCells(Finding):
    """More cells than rows can speak for."""

    level = "warning"
    cells: int
    column: str
    values: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"{self.cells} cells of what the adversary knows are many: merge values of {self.column!r}, which has "
            f"{self.values}, or cut it with binned({self.column!r}, [...])"
        )


@dataclass(frozen=True)
class OneSecretCells(Finding):
    """Cells in which the rows of some secret are missing altogether."""

    cells: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        verb = "holds" if self.cells == 1 else "hold"
        return (
            f"{self.cells} cell{'s' * (self.cells != 1)} of what the adversary knows {verb} no row of some secret: "
            f"its law there is that of its other cells. Who knows such a cell may know the secret without any release"
        )


@dataclass(frozen=True)
class SparseChosen(Finding):
    """More values than the best of all channels is found for."""

    values: int
    limit: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"the answer takes {self.values:,} values, more than the {self.limit:,} that the best of all channels is "
            f"found for: the mechanism 'sparse' found a good one part by part. The promise is proved all the same, and "
            f"that no channel changes less is not"
        )


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
            f"{rows:.3g} to the {own:,} of {secret!r} ({shapes[shape]})" for secret, own, rows, shape in self.added[:8]
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
    tenth: float
    tenfold: float
    epsilon: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"for who adds a tenth of these rows instead the largest loss is {self.tenth:.3g}, and with ten times as "
            f"many {self.tenfold:.3g}, where {self.epsilon:.3g} is promised"
        )


@dataclass(frozen=True)
class PriceOfIgnorance(Finding):
    """How much of what is lost is paid for laws that are known from few rows."""

    share: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        share = f"{100 * self.share:.0f} %"
        return f"{share} of what the rows lose is the price of confidence, for what few rows leave unknown"
