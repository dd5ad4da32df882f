"""What a reader should know about one column of a table before it is published; no remark shows a record."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from takifugu.problems.findings import Finding, HeavyTail, LeftOutTells, rows_of, some
from takifugu.problems.pairs import Secret


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


# What a reader should know about a table before anything of it is published.
#
# No remark shows a value of a record but for codes that may stand for a missing one; secrets are called by their
# names.


@dataclass(frozen=True)
class SuspectedSentinel(Finding):
    """A number that may stand for a missing value."""

    level = "warning"
    column: str
    value: float
    rows: int
    apart: bool

    @property
    def code(self) -> str:
        """The sentinel as it is declared: for this column alone."""
        return f"{self.column}={self.value:.15g}"

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"{self._suspicion}: if it does, give reading=Reading(sentinels=[{self.code!r}]); otherwise it is "
            f"published like any other value"
        )

    @property
    def refusal(self) -> str:
        """What is said where nothing is published before somebody has decided what it means."""
        return (
            f"{self._suspicion}: if it does, give reading=Reading(sentinels=[{self.code!r}]); if it is a real value, "
            f"give reading=Reading(sentinels=[{f'{self.column}='!r}])"
        )

    @property
    def _suspicion(self) -> str:
        how = "stands far from the rest" if self.apart else "is far more frequent than its neighbours"
        return f"{self.value:.15g} {how} in {self.column!r} ({rows_of(self.rows)}) and may mean a missing value"


@dataclass(frozen=True)
class SuspectedWord(Finding):
    """A word that may stand for a missing value in a column of numbers, which is text for its sake."""

    level = "warning"
    column: str
    word: str
    rows: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"{self.column!r} would hold numbers but for {self.word!r} ({rows_of(self.rows)}), and is text: if that "
            f"means a missing value, give reading=Reading(sentinels=[{f'{self.column}={self.word}'!r}]); otherwise it "
            f"counts like any other label"
        )


@dataclass(frozen=True)
class LooksLikeIdentifier(Finding):
    """A column whose values name people."""

    level = "warning"
    says = (
        "{column!r} has {distinct:,} different values in {rows:rows} and looks like an identifier: never publish "
        "it, whoever knows it knows the person"
    )
    column: str
    distinct: int
    rows: int


@dataclass(frozen=True)
class SeveralRows(Finding):
    """A column that may name people, some of whom have several rows."""

    level = "warning"
    says = (
        "the values of {column!r} repeat, and each of them goes with one value of {secret!r}: if it names people, some "
        "have several rows. The promise is for each row by itself, and k rows of one person may tell anything together "
        "unless they are independent given the secret, when the odds may move by its k-th power: publish a table with "
        "one row for each person"
    )
    column: str
    secret: str


@dataclass(frozen=True)
class RowsOfOnePerson(Finding):
    """People have several rows, which the holder says are independent given the secret."""

    level = "warning"
    says = (
        "people have up to {most} rows each by {column!r}, which are independent of one another given the secret by "
        "the holder's word: then all rows of a person together may move the odds by the {most}-th power of the factor "
        "that is guaranteed for one, and otherwise by anything"
    )
    column: str
    most: int


@dataclass(frozen=True)
class LooksLikeDates(Finding):
    """A column of dates."""

    level = "warning"
    says = "{column!r} holds dates, which single people out: publish an age, a year or a length of time instead"
    column: str


@dataclass(frozen=True)
class NumbersInText(Finding):
    """A column of text most of which are numbers."""

    level = "warning"
    column: str
    form: str

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        if self.form == "amounts":
            return (
                f"{self.column!r} is text that looks like amounts with a currency sign: take the sign away and convert "
                f"them to numbers"
            )
        if self.form == "losses":
            return (
                f"{self.column!r} is text that looks like numbers of which some stand in parentheses, as losses do in "
                f"accounts: write those with a minus sign"
            )
        if self.form == "measurements":
            return (
                f"{self.column!r} is text that looks like measurements with units, or with a sign such as < before "
                f"them: take these away and convert them to numbers, what lies below a limit to half of it"
            )
        what = {"percentages": "percentages", "decimal commas": "numbers with decimal commas"}.get(self.form, "numbers")
        return (
            f"{self.column!r} is text, and most of it are {what}: convert them, or name the texts among them that mean "
            f"a missing value"
        )


@dataclass(frozen=True)
class ManyLabels(Finding):
    """A column of more labels than a channel can have."""

    says = "{column!r} has {distinct:,} different labels, too many to publish: group them into fewer first"
    column: str
    distinct: int


@dataclass(frozen=True)
class BeyondNumbers(Finding):
    """A column of numbers too large to be told apart."""

    level = "warning"
    says = "{column!r} has infinite values or some beyond 2**53: remove such rows, or give it in a larger unit"
    column: str


@dataclass(frozen=True)
class UnclearLabels(Finding):
    """Labels that readers would take for one another."""

    level = "warning"
    says = (
        "some labels of {column!r} look alike but differ, by spaces or by a number that is text elsewhere: "
        "write them the same way if they are the same, otherwise rename one"
    )
    column: str


@dataclass(frozen=True)
class LooksLikeTotals(Finding):
    """A row without a secret that holds the sums of the others."""

    level = "warning"
    says = (
        "a row without a secret holds the sum of {columns:some}: it looks like a row of totals, which is no person's; "
        "remove it from the table"
    )
    columns: tuple[str, ...]


@dataclass(frozen=True)
class RareSecrets(Finding):
    """Groups so small that hiding them costs everyone, and those to merge them with."""

    level = "warning"
    column: str
    groups: tuple[tuple[Secret, int], ...]
    merge: tuple[Secret, ...]
    together: int

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        names = ", ".join(f"{name!r} ({rows_of(rows)})" for name, rows in self.groups[:6])
        more = f" and {len(self.groups) - 6} more" if len(self.groups) > 6 else ""
        few = f"{names}{more} of {self.column!r} {'is' if len(self.groups) == 1 else 'are'} rare"
        cost = f"{few}: what goes with so few rows is mostly chance, which confidence pays for with changed values"
        if self.groups[0][1] < 2:
            cost += ", and a group of one row is refused"
        if not self.merge:
            return cost
        beyond = f" and {len(self.merge) - 6} more" if len(self.merge) > 6 else ""
        merged = ", ".join(map(repr, self.merge[:6])) + beyond
        return (
            f"{cost}. Merging {merged} makes a group of {rows_of(self.together)}; what tells the merged apart is then "
            f"no longer hidden"
        )


# What a reader should know about how a file was read: one remark for each decision that a plain file does not need.
#
# No remark shows a value of a record; names of columns and the texts that mean "missing" are all that is quoted.


@dataclass(frozen=True)
class OfReading(Finding):
    """A remark on how a table was read."""


@dataclass(frozen=True)
class ReadAs(OfReading):
    """How a file was read where that is not what a plain CSV file in UTF-8 would have got."""

    separator: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    beside: tuple[str, ...] = ()  # other sheets that hold a table

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        parts = []
        if self.separator is not None:
            parts.append(f"with {_SEPARATORS.get(self.separator, repr(self.separator))} between its fields")
        if self.encoding is not None:
            parts.append(f"in the encoding {self.encoding}")
        if self.sheet is not None:
            parts.append(f"from the sheet {self.sheet!r}")
        told = f"the file was read {' and '.join(parts)}"
        if not self.beside:
            return told
        there = ", ".join(map(repr, self.beside))
        return f"{told}, and not from {there}: give reading=Reading(sheet={self.beside[0]!r}) to change that"


@dataclass(frozen=True)
class TitleLines(OfReading):
    """Lines above the header that belong to no record."""

    says = "{lines} line{lines:plural} above the header {lines:were} skipped"
    lines: int


@dataclass(frozen=True)
class UnnamedColumns(OfReading):
    """Columns that the header leaves without a name."""

    places: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"columns without a name are called by their place: {some([f'column{p}' for p in self.places])}"


@dataclass(frozen=True)
class DecimalCommas(OfReading):
    """Columns whose numbers are written with a decimal comma."""

    says = "commas were read as decimal marks in {columns:some}"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class GroupedDigits(OfReading):
    """Columns whose numbers have marks between groups of three digits."""

    says = "marks between groups of three digits were dropped in {columns:some}"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Percentages(OfReading):
    """Columns of percentages, read as the number before the sign."""

    says = "percent signs were dropped in {columns:some}: 12 % is 12 there"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class KeptAsText(OfReading):
    """Columns of digits that are names rather than numbers: with zeros in front, or too long."""

    says = "digits with zeros in front, or more than 18 of them, were kept as text in {columns:some}"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class SpacesDropped(OfReading):
    """Columns of text in which every cell begins with a space, as where separators are followed by one."""

    says = "the space before each value was dropped in {columns:some}"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class AmbiguousNumbers(OfReading):
    """Columns whose numbers could be a thousand times larger or smaller, and nothing in them tells."""

    level = "warning"
    columns: tuple[str, ...]
    decimal: str

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        mark = "point" if self.decimal == "." else "comma"
        return (
            f"nothing in {some(self.columns)} tells a decimal mark from one between thousands: the decimal {mark} "
            f"was assumed; give reading=Reading(decimal=...) to be sure"
        )


@dataclass(frozen=True)
class MissingTexts(OfReading):
    """Texts such as NA that were read as missing values."""

    says = (
        "column {column!r} says {texts:either} in {cells:rows}, read as missing: give reading=Reading(na=[...]) to "
        "change that"
    )
    column: str
    texts: tuple[str, ...]
    cells: int


@dataclass(frozen=True)
class SentinelsTreated(OfReading):
    """Values that were declared to mean a missing one."""

    says = "{cells:rows} had a declared sentinel in {column!r}, read as missing"
    column: str
    cells: int


@dataclass(frozen=True)
class SentinelsUnseen(OfReading):
    """Declared sentinels that no cell has: perhaps the table writes them in another way."""

    says = "no cell has the declared sentinel {sentinels:either}: see how the table writes it"
    sentinels: tuple[str, ...]


def about(findings: Iterable[Finding], columns: Container[str]) -> tuple[Finding, ...]:
    """What of it concerns these columns, or the file as a whole: what was decided about others changes nothing.

    >>> about([DecimalCommas(("dose", "weight")), MissingTexts("age", ("NA",), 3)], ["dose"])
    (DecimalCommas(columns=('dose',)),)
    """
    found: list[Finding] = []
    for one in findings:
        if isinstance(one, MissingTexts | SentinelsTreated):
            found.extend([one] if one.column in columns else [])
        elif isinstance(one, _OF_COLUMNS):
            named = tuple(name for name in one.columns if name in columns)
            found.extend([replace(one, columns=named)] if named else [])
        else:
            found.append(one)
    return tuple(found)


_OF_COLUMNS = DecimalCommas | GroupedDigits | Percentages | KeptAsText | SpacesDropped | AmbiguousNumbers
_SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
