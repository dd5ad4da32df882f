"""Findings about the population: what a cell tells by itself, and what evidence rests on."""

import math
from dataclasses import dataclass

from takifugu.problems.findings import Finding
from takifugu.problems.pairs import Secret


@dataclass(frozen=True)
class CellTells(Finding):
    """Known columns that are published as they are, and what they tell of the secret by themselves.

    `odds` and `guess` are by the rows' shares: the largest factor by which a cell changes the odds of two secrets, and
    how often a guess between two equally likely ones is right. They are None where nothing may be told of the rows.
    """

    level = "warning"
    columns: tuple[str, ...]
    odds: float | None = None
    guess: float | None = None

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        names = ", ".join(repr(column) for column in self.columns)
        told = "" if self.odds is None else f": {self._odds}{self._guess}"
        return (
            f"the known columns ({names}) are published as they are, and what they tell by themselves is not hidden"
            f"{told}. The promise is about what the rest of a row adds, for who has read them"
        )

    @property
    def _odds(self) -> str:
        if self.odds is not None and math.isinf(self.odds):
            return "in some cell one of the secrets does not occur at all"
        return f"they change the odds between two secrets by a factor of up to {self.odds:.3g}, by the rows' shares"

    @property
    def _guess(self) -> str:
        if self.guess is None:
            return ""
        return f", and a guess between two equally likely ones is right with a chance of up to {100 * self.guess:.0f} %"


@dataclass(frozen=True)
class FewForConfidence(Finding):
    """A secret with so few rows that draws from its posterior rest on the pseudo-row more than on them."""

    level = "warning"
    says = (
        "what confidence says of secret {secret!r} rests on {rows} rows and the model of one more: "
        "merge it with another secret, or ask for assurance='band', which needs no model and costs more"
    )
    secret: Secret
    rows: int


@dataclass(frozen=True)
class ListReadForBand(Finding):
    """A proof for the population on a list of values that was read from the rows it is proved with."""

    level = "warning"
    says = (
        "the assurance 'band' is proved for a list of values that was not chosen from these rows, and {what}: {advice}"
    )
    what: str
    advice: str
