"""What there is to say about what was asked for: a promise told backwards, an order that is kept."""

from collections.abc import Iterable
from dataclasses import dataclass

from takifugu.problems.findings import Finding


@dataclass(frozen=True)
class GuessAsked(Finding):
    """A promise made for a best guess."""

    asked: float
    promise: str

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"a best guess of {100 * self.asked:.4g} % at most was asked for: between two secrets that were equally "
            f"likely before, that is {self.promise}"
        )


@dataclass(frozen=True)
class ErrorAsked(Finding):
    """A promise made for an error; `falls` says whether the error fell with every larger budget that was tried."""

    asked: float
    error: float
    promise: str
    tried: int
    falls: bool

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        doubt = "" if self.falls else "; the errors did not fall with every larger budget, so a stronger one may exist"
        return (
            f"an error of {self.asked:.4g} of the spread at most was asked for: of {self.tried} promises tried, the "
            f"strongest that errs no more is {self.promise}, with {self.error:.3g}{doubt}"
        )


@dataclass(frozen=True)
class OrderKept(Finding):
    """Rows that leave in their own order, on the word of whoever publishes them."""

    says = (
        "the rows were not shuffled: whoever published them states that their order is random, and has nothing to do "
        "with the secret or with any column. Where it has, the guarantee does not hold"
    )

    @classmethod
    def among(cls, findings: Iterable[Finding]) -> bool:
        """Whether that is stated, by this finding or by one that a file told."""
        return any(one.sentence == cls.says for one in findings)
