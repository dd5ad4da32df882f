"""What every kind of channel is told with: the facts that do not depend on how a value is published."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.listed import ListChannel
from takifugu.documents.problems import guarantee_to
from takifugu.problems.findings import Finding
from takifugu.problems.guarantee import Renyi
from takifugu.reports.adversary import Adversary
from takifugu.reports.few_rows import is_shown
from takifugu.reports.text import at_most, clean, listed, number

MOST_SECRETS = 20  # in a matrix of losses: more could not be read


@dataclass(frozen=True)
class PairLosses:
    """The loss of each directed pair under the belief that binds, for the secrets named.

    It is NaN where a pair is not to be hidden. `left_out` secrets are not among them: their losses are smaller.
    """

    names: tuple[str, ...]
    losses: Array = field(repr=False)
    left_out: int = 0


@dataclass(frozen=True)
class BeliefLoss:
    """What one belief's worst pair loses."""

    label: str
    pair: tuple[str, str]
    loss: float


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One calibration and what there is to say about it. Labels are plain text: whoever shows them escapes them."""

    question: str
    calibration: Calibration = field(repr=False)
    loss: float
    adversary: Adversary
    pair_losses: PairLosses | None = field(default=None, repr=False)
    beliefs: tuple[BeliefLoss, ...] = field(default=(), repr=False)
    findings: tuple[Finding, ...] = ()
    certificate_sha256: str | None = None

    @property
    def alpha(self) -> float:
        """The Rényi order."""
        return self.calibration.alpha

    @property
    def epsilon(self) -> float:
        """The budget."""
        return self.calibration.epsilon

    @property
    def worst_pair(self) -> tuple[str, str]:
        """The secrets of the pair that is hardest to hide, as text."""
        a, b = self.calibration.worst_pair
        return str(a), str(b)

    @property
    def unshown(self) -> tuple[str, ...]:
        """Those of the pair that is hardest to hide whose laws rest on too few rows to be shown, as text."""
        rows = self.calibration.beliefs[self.calibration.place.belief].rows
        return tuple(str(name) for name in self.calibration.worst_pair if not is_shown(rows.get(name)))

    @property
    def worst_figure(self) -> tuple[str, str, str]:
        """The loss of the pair that is hardest to hide: a name, the value, and which pair it is."""
        a, b = (clean(name, 30) for name in self.worst_pair)
        where = f", {clean(self.belief, 60)}" if self.belief else ""
        return "Worst pair’s loss", number(self.loss), f"{a} against {b}{where}"

    @property
    def guess_figure(self) -> tuple[str, str, str]:
        """The best guess of all: a name, the value, and which pair it is about."""
        guess = self.adversary
        return (
            "Best guess",
            at_most(guess.guess_after),
            f"{guess.after_between}; {at_most(guess.guess_before)} {self.bare}",
        )

    @property
    def bare(self) -> str:
        """What an adversary would see if nothing were hidden, after a chance."""
        return "from the true value" if isinstance(self.calibration.channel, ListChannel) else "without noise"

    @property
    def belief(self) -> str:
        """The belief that binds, for a sentence; empty where there is only one."""
        return belief_name(self.calibration, self.calibration.place.belief)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values for JSON; what is infinite is None. It describes the priors: keep it private."""
        guess = self.adversary
        return {
            "question": self.question,
            "alpha": finite(self.alpha),
            "epsilon": self.epsilon,
            "mechanism": self.calibration.mechanism,
            "guarantee": guarantee_to(self.calibration.guarantee),
            "worst_pair": list(self.worst_pair),
            "belief": self.belief,
            "loss": finite(self.loss),
            "adversary": {
                "guess_before": guess.guess_before,
                "guess_before_between": guess.before_between,
                "guess_after": guess.guess_after,
                "guess_after_between": guess.after_between,
                "guess_bound": guess.guess_bound,
                "odds": [
                    {"probability": o.probability, "exact": finite(o.exact), "bound": finite(o.bound)}
                    for o in guess.odds
                ],
            },
            "findings": [finding.to_dict() for finding in self.findings],
            "certificate_sha256": self.certificate_sha256,
        }


def belief_name(calibration: Calibration, belief: int) -> str:
    """What the adversary knows under a belief; empty where there is only one."""
    if len(calibration.beliefs) == 1:
        return ""
    return calibration.beliefs[belief].label or (
        "nothing known" if belief == 0 else f"belief {belief + 1} of {len(calibration.beliefs)}"
    )


def question_of(calibration: Calibration) -> str:
    """What was asked, from what the calibration knows about its answer."""
    a, b = calibration.worst_pair
    if calibration.answer is None:
        return f"How to publish an answer so that nobody can tell {a} from {b}?"
    secret = ", ".join(calibration.answer.secret)
    pair = f"{secret} = {a} from {secret} = {b}"
    others = len(calibration.pairs) - 1
    more = f" (and {others:,} other pair{'s' * (others > 1)})" if others else ""
    thing = _thing(calibration.answer.query, calibration.answer.columns)
    return f"How to publish {thing} so that nobody can tell {pair}{more}?"


def _thing(query: str, columns: tuple[str, ...]) -> str:
    said = {
        "raw": "each person's {}",
        "row": "each person's {}",
        "mean": "the mean of {}",
        "gp": "a Gaussian process's prediction of {}",
        "bnn": "a Bayesian neural network's prediction of {}",
        "gp-mean": "the mean of a Gaussian process's prediction of {}",
        "bnn-mean": "the mean of a Bayesian neural network's prediction of {}",
    }.get(query, "the answer about {}")
    return said.format(listed(columns))


def promised(calibration: Calibration) -> Renyi | None:
    """The promise that bounds may start from: a weaker one bounds nothing by itself."""
    return calibration.guarantee if isinstance(calibration.guarantee, Renyi) else None


def drawn_secrets(calibration: Calibration, most: int) -> list[Hashable]:
    """The secrets of one picture: the worst pair first, then as many as fit; none of too few rows."""
    first = list(calibration.worst_pair)
    rows = calibration.beliefs[calibration.place.belief].rows
    ordered = [*first, *(name for name in calibration.pairs.secrets if name not in first)]
    return [name for name in ordered if is_shown(rows.get(name))][:most]


def finite(number: float) -> float | None:
    """A number for JSON, which has no word for infinity."""
    return number if math.isfinite(number) else None
