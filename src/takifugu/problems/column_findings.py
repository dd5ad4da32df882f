"""What a reader should know about one column of a table before it is published; no remark shows a record."""

from dataclasses import dataclass

from takifugu.problems.findings import Finding


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
