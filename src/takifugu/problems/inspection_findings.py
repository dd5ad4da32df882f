"""What a reader should know about a table before anything of it is published.

No remark shows a value of a record but for codes that may stand for a missing one; secrets are called by their names.
"""

from dataclasses import dataclass

from takifugu.problems.findings import Finding
from takifugu.problems.findings.base import rows_of
from takifugu.problems.pairs import Secret


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
