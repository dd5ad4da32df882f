"""What a reader should know about one column of a table before it is published; no remark shows a record."""

from dataclasses import dataclass

from takifugu.problems.findings import Finding, HeavyTail, LeftOutTells
from takifugu.problems.findings.base import some


@dataclass(frozen=True)
class FreeText(Finding):
    """A column of texts that few people share."""

    level = "warning"
    says = (
        "{column!r} looks like free text: {distinct:,} labels, most of which few people share. Do not publish it, for "
        "such texts describe single people; sort them into a few groups first"
    )
    column: str
    distinct: int


@dataclass(frozen=True)
class TellsOutright(Finding):
    """A column each of whose values goes with one secret."""

    level = "warning"
    says = (
        "{column!r} tells {secret!r} outright: each of its values goes with one value of {secret!r} alone. Leave it "
        "out unless it is needed, for little is left of such a column once the secret is hidden"
    )
    column: str
    secret: str


@dataclass(frozen=True)
class RowOfTotals(Finding):
    """A row that holds the sums of all others, among those that are published."""

    level = "warning"
    says = (
        "one row holds the sum of all others in {columns:some}: it looks like a row of totals, which is no person's "
        "and would make the list of values far too long; remove it from the table"
    )
    columns: tuple[str, ...]


@dataclass(frozen=True)
class TailAhead(HeavyTail):
    """The same heavy tail before anything is asked: who looks at a table may publish it in several ways."""

    @property
    def kind(self) -> str:
        """That of the finding that it is."""
        return "heavy-tail"

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        log = ", or with transform='log', which makes the noise a factor instead of an amount" if self.positive else ""
        return (
            f"99 % of the rows of column {self.column!r} lie in {100 * self.share:.2g} % of its range, and the rest "
            f"would force noise on all: to add noise to it, calibrate(...) takes Raw({self.column!r}) with `bounds` "
            f"up to about {float(f'{self.below:.2g}'):,.12g}, which clips 1 % of the rows{log}"
        )


@dataclass(frozen=True)
class GapsTell(LeftOutTells):
    """The same before anything is asked, of columns that are empty alike: where they are goes with the secret."""

    columns: tuple[str, ...]

    @property
    def kind(self) -> str:
        """That of the finding that it is."""
        return "left-out-tells"

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"what is empty in {some(self.columns)} tells the secret: {self.often!r} lacks a value in "
            f"{100 * self.share:.1f} % of its rows, {self.seldom!r} in {100 * self.other:.1f} %. Such rows are left "
            f"out of what is published, and whoever misses a person there learns from it. Give what is missing a value "
            f"of its own in the table first, such as 'unknown', and it is hidden like the others"
        )


@dataclass(frozen=True)
class LabelsAlike(Finding):
    """Labels that differ in capitals or blanks alone; `such_as` are some that many people share."""

    level = "warning"
    column: str
    labels: int
    such_as: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        named = f", such as {some(self.such_as)}" if self.such_as else ""
        return (
            f"{self.labels:,} labels of {self.column!r} look alike and differ in capitals or blanks alone{named}: "
            f"write them the same way first if they mean the same, for each of them counts as a value of its own"
        )


@dataclass(frozen=True)
class MostlyEmpty(Finding):
    """A column that most rows leave empty."""

    level = "warning"
    says = (
        "{column!r} is empty in most rows, {missing:,} of {rows:,}: where cells were merged in a spreadsheet, fill "
        "them down first, for only the first row of each has its value"
    )
    column: str
    missing: int
    rows: int
