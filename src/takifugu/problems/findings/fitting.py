"""What there is to say about priors and the rows they were fitted to."""

from dataclasses import dataclass

from takifugu.problems.findings.base import Finding
from takifugu.problems.pairs import Secret


@dataclass(frozen=True)
class FewRows(Finding):
    """A secret so rare that its prior is uncertain."""

    level = "warning"
    says = "secret {secret!r} has {rows} rows: its prior is uncertain"
    secret: Secret
    rows: int


@dataclass(frozen=True)
class ScarceRows(Finding):
    """A secret with so few rows that its prior alone says little."""

    level = "warning"
    says = (
        "secret {secret!r} has {rows:rows}: by chance alone its prior is off by about {distance:percent} of its "
        "mass, which confidence pays for"
    )
    secret: Secret
    rows: int
    distance: float


@dataclass(frozen=True)
class NoValue(Finding):
    """Rows that were left out because a column they need is empty."""

    says = "{rows:rows} had no value in {columns:any} and {rows:were} left out"
    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class LeftOutTells(Finding):
    """Rows without a value are left out, and that a row is not there goes with the secret."""

    level = "warning"
    often: Secret
    share: float
    seldom: Secret
    other: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"rows without a value are left out, and that tells the secret: {self.often!r} lacks one in "
            f"{100 * self.share:.1f} % of its rows, {self.seldom!r} in {100 * self.other:.1f} %. Whoever misses a "
            f"person in what is published learns from it. Give what is missing a value of its own in the table first, "
            f"such as 'unknown', and it is hidden like the others"
        )


@dataclass(frozen=True)
class NoSecret(Finding):
    """Rows that were left out because nobody knows their secret."""

    says = "{rows:rows} had no secret in {column!r} and {rows:were} left out"
    column: str
    rows: int


@dataclass(frozen=True)
class ComponentLimit(Finding):
    """A mixture that might have used more components than it was allowed."""

    level = "warning"
    says = "K hit its limit of {limit} for secret {secret!r}: allow more components"
    secret: Secret
    limit: int


@dataclass(frozen=True)
class Rounded(Finding):
    """A column that was rounded before it was stored."""

    says = "values look rounded to {step:.4g}: standard deviations are floored at {floor:.3g}"
    column: str
    step: float
    floor: float


@dataclass(frozen=True)
class Gridded(Finding):
    """A column with more distinct values than are counted one by one."""

    says = (
        "column {column!r} has too many distinct values to count one by one: they were counted on a grid of width "
        "{width:.3g}"
    )
    column: str
    width: float


@dataclass(frozen=True)
class PoorFit(Finding):
    """A fitted prior that does not look like the data."""

    level = "warning"
    says = "the fitted prior of secret {secret!r} misses the data by a Kolmogorov distance of {distance:.2g}"
    secret: Secret
    distance: float


@dataclass(frozen=True)
class Constant(Finding):
    """A secret whose rows all hold the same answer."""

    level = "warning"
    says = "column {column!r} is {value:g} in every row with secret {secret!r}: its prior is a single point"
    secret: Secret
    column: str
    value: float


@dataclass(frozen=True)
class NotConverged(Finding):
    """A model whose training stopped before it settled."""

    level = "warning"
    says = "the {model} of secret {secret!r} did not converge: {detail}"
    secret: Secret
    model: str
    detail: str


@dataclass(frozen=True)
class Subsampled(Finding):
    """A model trained on some of the rows."""

    says = "the model of secret {secret!r} was trained on {used} of its {rows} rows"
    secret: Secret
    rows: int
    used: int


@dataclass(frozen=True)
class ConstantFeature(Finding):
    """A feature that tells a model nothing."""

    says = "feature {column!r} is the same in every row and was left out"
    column: str


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
    says = (
        "the rows with secret {secret!r} lose at least {loss:.3g} against those with {other!r}, more than the "
        "{epsilon:.3g} promised for their fitted priors: the priors do not describe these rows"
    )
    secret: Secret
    other: Secret
    loss: float
    epsilon: float
