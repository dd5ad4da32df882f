"""What is published: the one thing that a calibration is for."""

from dataclasses import dataclass, field

from takifugu.laws.lattice import Lattice
from takifugu.problems.domain import Choices

# What stands for one value a row, and what stands for one number about a group of rows.
OF_ROWS = ("raw", "row")
MEAN = "mean"
MODELS = ("gp", "bnn")  # a new observation, drawn from what a model predicts,
MEAN_OF = {"gp": "gp-mean", "bnn": "bnn-mean"}  # and the mean of the same prediction
OF_GROUPS = (MEAN, *MODELS, *MEAN_OF.values())

MEAN_BY = "mean-by"  # several means, each over rows of its own: no draws of a common covariance stand for them

_WORDS = {
    "raw": "a published value of {}",
    "row": "a published row of {}",
    MEAN: "the published mean of {}",
    MEAN_BY: "the published means: {}",
    "gp": "a Gaussian process's prediction of {}",
    "bnn": "a Bayesian neural network's prediction of {}",
    "gp-mean": "the mean of a Gaussian process's prediction of {}",
    "bnn-mean": "the mean of a Bayesian neural network's prediction of {}",
}


@dataclass(frozen=True)
class Spelling:
    """What the cells of a text file meant when its priors were fitted: a second file must mean the same by them."""

    decimal: str | None = None
    thousands: str | None = None
    na: tuple[str, ...] | None = None
    sentinels: tuple[str | int | float, ...] = ()


@dataclass(frozen=True)
class Answer:
    """Which query about which columns, which column is the secret, and what the adversary knows beside it.

    `domain` is what values may be published: a `Lattice`, to which numbers are clipped and rounded first, or the
    `Choices` of each column of a row; None where values are published as they are. `step` is the distance between
    values as they are stored, 0 where they are not rounded. `is_read` says that the ends of a lattice were read from
    data: a value beyond them then comes from another table, where public bounds would take it in. `spelling` is how the
    cells of a file were read. `before` are those of the columns, the first ones, that were published earlier: what is
    drawn are the others, and the promise is for all.
    """

    query: str
    columns: tuple[str, ...]
    secret: tuple[str, ...]
    known: tuple[str, ...] = ()
    domain: Lattice | tuple[Choices, ...] | None = None
    step: float = 0.0
    is_read: bool = False
    spelling: Spelling | None = field(default=None, compare=False)
    before: tuple[str, ...] = ()

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are published now."""
        return self.columns[len(self.before) :]

    def domain_of(self, column: str) -> Choices | None:
        """The list that a column of a row is published from; None where there is none."""
        lists = dict(zip(self.columns, self.domain, strict=True)) if isinstance(self.domain, tuple) else {}
        return lists.get(column)

    @property
    def is_of_rows(self) -> bool:
        """Whether each person's own value is published, not one number about a group."""
        return self.query in OF_ROWS

    @property
    def is_public(self) -> bool:
        """Whether the list of what may be published is the user's own, and so tells nothing about the data.

        The rows of several columns that a channel lists are always those that occur.
        """
        domain = self.domain
        return isinstance(domain, tuple) and len(domain) == 1 and not domain[0].is_read

    @property
    def words(self) -> str:
        """What is published, for a sentence."""
        after = f" (after {', '.join(self.before)})" if self.before else ""
        return _WORDS.get(self.query, f"the answer {self.query!r} about {{}}").format(", ".join(self.drawn)) + after

    def __str__(self) -> str:
        """The query and its columns, as the command line writes them."""
        return f"{self.query}:{','.join(self.columns)}"
