"""What to know about an audit: typed remarks, each of which says its own sentence."""

from dataclasses import dataclass

from takifugu.problems.findings import Finding
from takifugu.problems.pairs import Pair, Secret


@dataclass(frozen=True)
class FewRowsAudited(Finding):
    """A secret with so few rows that an attack can show little."""

    level = "warning"
    says = "secret {secret!r} has {rows} rows: the intervals are wide, and only a gross failure would show"
    secret: Secret
    rows: int


@dataclass(frozen=True)
class PairsLeftOut(Finding):
    """Pairs that were not attacked."""

    level = "warning"
    says = "{attacked} of {pairs:,} pairs were attacked: {reason}"
    attacked: int
    pairs: int
    reason: str


@dataclass(frozen=True)
class CellsLeftOut(Finding):
    """Beliefs whose rows were not attacked apart."""

    says = "{attacked} of {beliefs:,} beliefs were attacked: those with most rows, and the one that binds"
    attacked: int
    beliefs: int


@dataclass(frozen=True)
class PublishedAsIs(Finding):
    """A publication that equals the truth."""

    level = "warning"
    says = "every published value of {columns:bare} equals the true one: nothing was changed"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class NotCovered(Finding):
    """Columns that were published and that the calibration says nothing about."""

    level = "warning"
    says = (
        "the calibration says nothing about {columns:bare}, which went out too: what these columns tell is not "
        "within the promise"
    )
    columns: tuple[str, ...]


@dataclass(frozen=True)
class SecretPublished(Finding):
    """The column of secrets is in the publication."""

    level = "warning"
    says = "the column {column!r} holds the secrets and was published: nothing is hidden"
    column: str


@dataclass(frozen=True)
class LessNoise(Finding):
    """Differences between published and true values that spread less than the noise should."""

    level = "warning"
    says = (
        "published and true values differ with a spread of {spread:.4g}, and the noise was calibrated to "
        "{theta:.4g}: either values were clipped, or the noise is not what it should be"
    )
    spread: float
    theta: float


@dataclass(frozen=True)
class MoreNoise(LessNoise):
    """Differences that spread more than the noise should: rows beside the wrong truth look so."""

    says = (
        "published and true values differ with a spread of {spread:.4g}, and the noise was calibrated to "
        "{theta:.4g}: either more was added, or the rows are in another order and no attack can succeed. "
        "Where publishing shuffled them, give positions; or name the columns that say which row is whose with keys"
    )


@dataclass(frozen=True)
class MovedRows(Finding):
    """Fewer rows that agree with the truth than the channel leaves as they are: rows beside the wrong truth look so."""

    level = "warning"
    says = (
        "{share:.1%} of the rows were published as they are, and the channel leaves {expected:.1%}: the "
        "rows are in another order and no attack can succeed. Where publishing shuffled them, give positions; or name "
        "the columns that say which row is whose with keys"
    )
    share: float
    expected: float


@dataclass(frozen=True)
class NotThroughChannel(Finding):
    """Rows that the channel could not have published as they were."""

    level = "warning"
    says = (
        "{rows:,} of {of:,} rows were published as something that the channel never makes of their true "
        "values: this is not the table that was published, another channel was used, or the rows are in another "
        "order. Where publishing shuffled them, give positions"
    )
    rows: int
    of: int


@dataclass(frozen=True)
class NoPriorsAttack(Finding):
    """The attacker who knows the priors could not be made."""

    says = "nobody attacked with the calibration's own priors: which published column they are about is not clear"


@dataclass(frozen=True)
class OrderTells(Finding):
    """Places that tell two secrets apart, as those of rows in a random order hardly ever do."""

    level = "warning"
    pair: Pair
    seen: str
    chance: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        first, second = self.pair
        return (
            f"the order of the rows is not random, and tells {first!r} from {second!r}: {self.seen}, and a random "
            f"order shows that with a chance of {self.chance:.1e} at most. Shuffle the rows; where publishing shuffled "
            f"them and they stand beside the wrong truth, give positions"
        )


FEW_AUDITED = 200
