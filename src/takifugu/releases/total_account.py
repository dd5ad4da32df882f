"""An account with a total guarantee: each release about its records has a price, and they add up (proofs/ledger.md)."""

from dataclasses import dataclass, replace
from typing import Any

from takifugu.calibration import Calibration
from takifugu.channels import Channel
from takifugu.errors import BudgetError, CompositionError, LedgerError, TakifuguError
from takifugu.problems import (
    Guarantee,
    Price,
    budget_of,
    first_price,
    in_nats,
    price_of,
    priced_in,
)

FIRST, AGAIN, INDEPENDENT, LOCAL = "first", "again", "independent", "local"
RULES = {
    FIRST: "the first, at what its own guarantee states",
    AGAIN: "the same answer as the first, within the noise that was paid for with it",
    INDEPENDENT: "independent of the others as the publisher states, at what its own guarantee states",
    LOCAL: "at its local price, which holds for any two values",
}


@dataclass(frozen=True)
class Step:
    """One release: by which rule it was priced, and its price in each part of the total."""

    rule: str
    prices: tuple[Price, ...]
    at: str | None = None
    kept: str = ""

    @classmethod
    def of(cls, entry: dict[str, Any], parts: int) -> "Step":
        """What an entry of the file says."""
        prices = tuple(map(Price.from_state, entry["prices"]))
        if entry["rule"] not in RULES or len(prices) != parts:
            raise LedgerError("the ledger prices a release by a rule that is not known here: upgrade Takifugu")
        return cls(entry["rule"], prices, entry.get("at"), entry.get("kept", ""))

    @property
    def sentence(self) -> str:
        """The release in a line."""
        cost = " and ".join(f"{float(price):.6g}" for price in self.prices)
        return f"{self.kept or 'a release'}: {cost} ({RULES[self.rule]})"


@dataclass(frozen=True)
class TotalAccount:
    """What the ledger knows about records of which several answers may be published, all within one guarantee.

    The total is for whoever believes the priors of the first release, whatever he believes about the other answers.
    `first` is the account of that release by itself: the same answer may go out again within its noise for nothing.
    """

    total: Guarantee
    first: Any  # an `Account` or a `VectorAccount`
    steps: tuple[Step, ...] = ()

    is_finite = False

    @property
    def kept(self) -> str:
        """The total, in words."""
        return str(self.total)

    @property
    def releases(self) -> int:
        """How often something was published."""
        return len(self.steps)

    @property
    def spent(self) -> tuple[Price, ...]:
        """The sum of all prices, in each part of the total."""
        return tuple(
            sum((step.prices[place] for step in self.steps), Price()) for place in range(len(self.total.parts))
        )

    @property
    def left(self) -> tuple[float, ...]:
        """What is left in each part of the total, in nats, rounded."""
        both = zip(self.total.parts, self.spent, strict=True)
        return tuple(max(0.0, float(budget_of(part)) - float(spent)) for part, spent in both)

    @property
    def fraction_spent(self) -> float:
        """The share of the total that is spent, of the part of which most is; rounded."""
        both = zip(self.total.parts, self.spent, strict=True)
        return max(float(spent) / max(float(budget_of(part)), 1e-300) for part, spent in both)

    @property
    def next_theta(self) -> float:
        """The least noise with which the first answer may be published once more for nothing."""
        return float(self.first.next_theta)

    @property
    def may_go_on(self) -> bool:
        """Whether anything is left."""
        return min(self.left) > 0 or self.first.may_go_on

    def together(self, extra: Channel | None, like: Channel) -> None:
        """Refused: answers of several kinds are no one release."""
        raise CompositionError(
            "answers that add up within a total are no one release, whose loss could be computed: see "
            "ledger.account().steps for the price of each"
        )

    def charged(
        self, calibration: Calibration, noise: dict[str, str], *, is_first_answer: bool, is_independent: bool
    ) -> "tuple[TotalAccount, dict[str, Any]]":
        """This account after a release, and what is written down; or a refusal."""
        first, cost = self.first, dict(noise)
        again = None
        if self.steps and is_first_answer:
            again = _within(first, noise)
        if not self.steps or again is not None:
            first, cost = first.charged(noise) if again is None else again
        rule, prices = self._priced(calibration, is_again=again is not None, is_independent=is_independent)
        step = Step(rule, prices, kept=str(calibration.guarantee))
        after = replace(self, first=first, steps=(*self.steps, step))
        for part, spent in zip(self.total.parts, after.spent, strict=True):
            if not spent.is_within(budget_of(part)):
                raise BudgetError(self._beyond(step))
        return after, cost | {
            "rule": rule,
            "prices": [price.to_state() for price in prices],
            "kept": step.kept,
        }

    def _priced(
        self, calibration: Calibration, *, is_again: bool, is_independent: bool
    ) -> tuple[str, tuple[Price, ...]]:
        parts, kept = self.total.parts, calibration.guarantee
        if is_again:
            return AGAIN, tuple(Price() for _ in parts)
        if not self.steps or is_independent:
            priced = price_of if self.steps else first_price
            found = [priced(part, kept) if kept.is_provable else None for part in parts]
            if None in found:
                raise CompositionError(
                    f"what a release under {kept} takes of the total, {self.total}, is not known: nothing was "
                    f"released. Calibrate with a guarantee of the kind of the total"
                )
            return INDEPENDENT if self.steps else FIRST, tuple(price for price in found if price is not None)
        losses = [in_nats(calibration.channel.local_loss(priced_in(part))) for part in parts]
        if None in losses and min(self.left) <= 0:
            raise BudgetError(
                f"the total of these records, {self.total}, is spent: nothing was released. Publish nothing more about "
                f"these records"
            )
        if None in losses:
            raise CompositionError(
                f"something else about these records was published before, and {calibration.channel.describe()} has "
                f"no finite local price: some value may be published for one true value and never for another, or "
                f"hardly ever, so that both releases together can give the secret away. Nothing was released; "
                f"calibrate a list with utility=Utility(local_price={self._advised}), or, if this answer is "
                f"independent of what was published, given the secret, say so with Ledger(..., independent=True)"
            )
        return LOCAL, tuple(price for price in losses if price is not None)

    @property
    def _advised(self) -> str:
        """A local price of odds that fits into what is left, rounded down."""
        left = min(self.left) * (1 - 1e-9)
        return f"{left:.4g}" if float(f"{left:.4g}") <= left else f"{left * (1 - 1e-3):.4g}"

    def _beyond(self, step: Step) -> str:
        asked = " and ".join(f"{float(price):.6g}" for price in step.prices)
        spent = " and ".join(f"{float(price):.6g}" for price in self.spent)
        left = " and ".join(f"{one:.6g}" for one in self.left)
        times = f"{self.releases} release{'s' * (self.releases != 1)}"
        return (
            f"this release takes {asked} ({RULES[step.rule]}), and the total of these records, {self.total}, has room "
            f"for {left} more: {times} took {spent}. Nothing was released; calibrate so that less is told, or publish "
            f"nothing more about these records"
        )


def _within(first: Any, noise: dict[str, str]) -> Any:
    """The first answer's own account after it goes out once more; None where it has no room for that."""
    try:
        return first.charged(noise)
    except TakifuguError:
        return None
