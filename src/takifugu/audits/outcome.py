"""What an audit found: every attack, the best guess, and how much the publication is proved to tell."""

import datetime
import html
import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from typing import Any, Self

import numpy as np

from takifugu import _validation as check
from takifugu._display import Plotted, rounded_down
from takifugu._validation import Array
from takifugu.audits.all_other_rows import KnownRows
from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.problems import Diagnostic, Guarantee, Pair

# Codes which say that rows stand beside the wrong truth, or that another table was published.
MISPLACED = ("not-through-channel", "moved-rows", "more-noise")

FEW_AUDITED = 200


ORDER = "order"  # the attacker who sees where a row stands, and nothing else


class Guess(float):
    """How often an attacker is right between two secrets, half of the rows from each: 0.5 is a random guess.

    `low` and `high` are an interval that holds the true share, for all attacks of an audit at once, with its
    confidence.

    >>> guess = Guess(0.75, low=0.7, high=0.8)
    >>> guess > 0.5, guess.high
    (True, 0.8)
    """

    low: float
    high: float

    def __new__(cls, value: float, *, low: float, high: float) -> Self:
        """A share with its interval."""
        self = super().__new__(cls, value)
        self.low, self.high = float(low), float(high)
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, float]]:
        """Pickle with the interval."""
        return (float(self),), {"low": self.low, "high": self.high}


@dataclass(frozen=True)
class Attack:
    """One attacker against one pair of secrets, and perhaps among the rows of one cell of what is known.

    `lower_bound` is on the larger D_α of the two directions; `odds_bound` on the logarithm of the odds, where the
    calibration guarantees both. `roc` has the share of the second secret's rows and of the first's that score above
    each of some thresholds. `rows` are those of either secret that were tested.
    """

    attacker: str
    sees: str
    pair: Pair
    where: str
    rows: tuple[int, int]
    guess: Guess
    lower_bound: float
    odds_bound: float | None = None
    roc: tuple[tuple[float, float], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Audit(Plotted):
    """All attacks on a publication. With probability `confidence` every bound in it holds.

    `before` is how well gradient boosting guesses from the true values, where truth has them. `known_rows` is what who
    knows all other rows learns, where that was asked for: of a table too small for attacks on rows it is all there is.

    Attributes:
        guarantee: what was guaranteed.
        attacks: one for each attacker, pair and cell.
        confidence: that all bounds hold at once.
        findings: remarks on what was published.
        before: the guesses from the true values.
        rows: how many rows were attacked.
        known_rows: the adversary who knows all other rows.

    >>> from takifugu import Renyi
    >>> Audit(guarantee=Renyi(3, 1), attacks=(), confidence=0.95, findings=()).contradicted
    False
    """

    guarantee: Guarantee
    attacks: tuple[Attack, ...] = field(repr=False)
    confidence: float
    findings: tuple[Diagnostic, ...] = field(repr=False)
    before: tuple[tuple[Pair, Guess], ...] = field(default=(), repr=False)
    rows: int = 0
    known_rows: KnownRows | None = None

    @property
    def _telling(self) -> tuple[Attack, ...]:
        """The attacks that something follows from.

        Of rows that stand beside the wrong truth, as shuffled ones do, the order that is seen is that of the truth.
        """
        others = tuple(one for one in self.attacks if one.attacker != ORDER)
        return self.attacks if self.misplaced is None or not others else others

    @property
    def best(self) -> Attack:
        """The attack that guesses best."""
        return max(self._telling, key=lambda one: one.guess)

    @property
    def strongest(self) -> Attack:
        """The attack with the largest bound, beside what is guaranteed about it."""
        return max(self._telling, key=lambda one: (self._excess(one), one.lower_bound))

    @property
    def best_guess(self) -> Guess:
        """How often the best attacker is right, between the two secrets it tells apart best."""
        return self.best.guess if self.attacks else Guess(0.5, low=0.0, high=1.0)

    @property
    def lower_bound(self) -> float:
        """What D_α between the published laws of some pair exceeds, with this confidence."""
        return max((one.lower_bound for one in self._telling), default=0.0)

    @property
    def contradicted(self) -> bool:
        """Whether the publication is shown, with this confidence, to tell more than was guaranteed."""
        is_known = self.known_rows is not None and self.known_rows.contradicted
        return is_known or self.order is not None or any(self._excess(one) > 0 for one in self._telling)

    @property
    def order(self) -> Diagnostic | None:
        """Where the order of the rows is shown not to be random, which the guarantee takes for granted; else None."""
        return next((one for one in self.findings if one.code == "order-tells"), None)

    @property
    def misplaced(self) -> Diagnostic | None:
        """What says that the rows are not those of the truth they were held against; None where nothing does."""
        return next((one for one in self.findings if one.code in MISPLACED), None)

    @property
    def guess_limit(self) -> float:
        """The largest share of right guesses between two secrets that the guarantee allows."""
        return self.guarantee.best_guess()

    def _excess(self, attack: Attack) -> float:
        """How far an attack is above the guarantee; below 0 where it is within it."""
        over = attack.lower_bound - self.guarantee.epsilon
        if attack.odds_bound is not None and self.guarantee.odds_beside is not None:
            over = max(over, attack.odds_bound - math.log(self.guarantee.odds_beside))
        return over

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in words; none of them shows a record."""
        known = () if self.known_rows is None else (self.known_rows.sentence,)
        if not self.attacks:
            return (*known, *(one.sentence for one in self.findings))
        if known and self.known_rows is not None and self.known_rows.contradicted:
            return (f"The guarantee is contradicted: {known[0]}", *replace(self, known_rows=None).sentences)
        worst, best, sure = self.strongest, self.best, f"{100 * self.confidence:g} %"
        a, b = worst.pair
        if self.order is not None and self._excess(worst) <= 0:
            first = f"The guarantee is contradicted: with {sure} confidence {self.order.sentence}"
        elif self.contradicted:
            first = (
                f"The guarantee is contradicted: with {sure} confidence the publication tells {a!r} from {b!r}"
                f"{worst.where} by {self._told(worst)}, and {self.guarantee} was guaranteed. Withdraw it, or find "
                f"out why"
            )
        elif self.misplaced is not None:
            first = f"Nothing follows from this audit: {self.misplaced.sentence}"
        else:
            some = self.lower_bound > 0
            what = (
                f"odds of {rounded_down(math.exp(self.lower_bound), 3)}"
                if self._is_odds
                else f"a loss of {rounded_down(self.lower_bound, 3)}"
            )
            shown = f"they show {what}" if some else "none of them shows any loss"
            first = (
                f"No attack contradicts the guarantee of {self.guarantee}: with {sure} confidence {shown}, and others "
                f"may show more. An audit is evidence, never a proof"
            )
        guess = best.guess
        c, d = best.pair
        second = (
            f"The best guess between {c!r} and {d!r}{best.where} is right in {_percent(guess)} of the cases "
            f"({_percent(guess.low)} to {_percent(guess.high)}; 50 % is a random guess, and the guarantee allows "
            f"{_percent(self.guess_limit)}), by "
            f"{best.attacker} from {best.sees}"
        )
        by = f"The attack that shows most is {worst.attacker}, which saw {worst.sees}"
        third = (by,) if self._excess(worst) > 0 else ()
        said = self.misplaced if not self.contradicted else self.order if self._excess(worst) <= 0 else None
        others = (one.sentence for one in self.findings if one is not said)
        return (first, *third, second, *known, *others)

    @property
    def _is_odds(self) -> bool:
        """Whether the guarantee is told as a factor of odds, beside which its logarithm would look harmless."""
        return math.isinf(self.guarantee.alpha)

    def _told(self, attack: Attack) -> str:
        if attack.lower_bound > self.guarantee.epsilon and not self._is_odds:
            return f"more than {rounded_down(attack.lower_bound, 3)}"
        bound = attack.lower_bound if self._is_odds else attack.odds_bound or 0.0
        return f"odds of more than {rounded_down(math.exp(bound), 3)}"

    def __str__(self) -> str:
        """The sentences."""
        return " ".join(f"{one[0].upper()}{one[1:].rstrip('.')}." for one in self.sentences)

    def to_dict(self) -> dict[str, object]:
        """The figures as plain values for JSON.

        Returns:
            What a machine may read. No record is in it, and the shares of guesses describe the rows of each secret.
        """
        return {
            "contradicted": self.contradicted,
            "confidence": self.confidence,
            "alpha": None if math.isinf(self.guarantee.alpha) else self.guarantee.alpha,
            "epsilon": self.guarantee.epsilon,
            "lower_bound": self.lower_bound,
            "best_guess": _shares(self.best_guess),
            "guess_limit": self.guess_limit,
            "rows": self.rows,
            "attacks": [
                {
                    "attacker": one.attacker,
                    "sees": one.sees,
                    "pair": [str(secret) for secret in one.pair],
                    "where": one.where.strip(),
                    "rows": list(one.rows),
                    "guess": _shares(one.guess),
                    "lower_bound": one.lower_bound,
                }
                for one in self.attacks
            ],
            "findings": [finding.sentence for finding in self.findings],
        } | ({} if self.known_rows is None else {"known_rows": asdict(self.known_rows)})

    # The page stands in a room to the right, which draws audits and is not needed to make one: it is looked up by
    # name when somebody wants to see it, as the public names of the package are.
    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(_page().fragment(self)) if self.attacks else f"<p>{html.escape(str(self))}</p>"

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML file with everything in it. It describes the rows of each secret: for the auditor.

        Args:
            path: the name of the file, written over where it is there.

        Raises:
            InputError: where it cannot be written.
        """
        from takifugu.atomic import write_text

        if not self.attacks:
            raise InputError("too few rows were attacked for a page of pictures: print the audit")
        write_text(_page().render_audit(self), path, private=True)


def _page() -> Any:
    return import_module("takifugu.reports.html")


def _shares(guess: Guess) -> dict[str, float]:
    return {"share": float(guess), "low": guess.low, "high": guess.high}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# A release card: what was published, under which promise, for a registry of deployments.
#
# The schema, version 1. Every key is always there; `null` says that it is not known.
#
#     format: takifugu-release-card
#     version: 1
#     title, publisher, date          texts (date: YYYY-MM-DD)
#     software                        name and version
#     answer: query, columns, rows    what was published, and how many rows
#     hidden: secret, pairs, known    the column hidden, how many pairs of its values, what an adversary may know
#     promise: kind, alpha, epsilon, odds, words
#     channel: kind, mechanism, theta
#     evidence: certificate_sha256    the digest of the private certificate, which holds the priors
#     audit: confidence, rows, contradicted, lower_bound, best_guess, best_guess_allowed
#
# A card names no secret's value and no figure of the priors: it is made to be public. The digest is that of a
# certificate because 256 random bits go into it; a digest of the priors alone could be guessed.


FORMAT = "takifugu-release-card"
VERSION = 1


def release_card(
    calibration: Calibration,
    *,
    title: str,
    publisher: str | None = None,
    date: datetime.date | None = None,
    rows: int | None = None,
    certificate: Any = None,
    audit: Audit | None = None,
) -> str:
    """The card as YAML text.

    Args:
        calibration: what was released.
        title: what to call the release.
        publisher: who stands for it.
        date: when it was released.
        rows: how many rows were published.
        certificate: of the calibration; its digest goes into the card.
        audit: of what was published.
    """
    from takifugu import __version__

    _require_same(calibration, certificate, audit)
    answer, guarantee, channel = calibration.answer, calibration.guarantee, calibration.channel
    content: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "title": _text("title", title),
        "publisher": None if publisher is None else _text("publisher", publisher),
        "date": None if date is None else f"{date:%Y-%m-%d}",
        "software": f"takifugu {__version__}",
        "answer": {
            "query": None if answer is None else answer.query,
            "columns": None if answer is None else list(answer.columns),
            "rows": None if rows is None else check.integer("rows", rows, least=0),
        },
        "hidden": {
            "secret": None if answer is None else list(answer.secret),
            "pairs": len(calibration.pairs),
            "known": None if answer is None else list(answer.known),
        },
        "promise": {
            "kind": type(guarantee).__name__.lower(),
            "alpha": getattr(guarantee, "alpha", None),
            "epsilon": guarantee.leading.epsilon,
            "odds": getattr(guarantee, "most_odds", None),
            "words": str(guarantee),
        },
        "channel": {
            "kind": channel.kind,
            "mechanism": calibration.mechanism,
            "noise": channel.to_state() if channel.publishes == "number" else None,
        },
        "evidence": {"certificate_sha256": None if certificate is None else certificate.sha256},
        "audit": None
        if audit is None
        else {
            "confidence": audit.confidence,
            "rows": audit.rows,
            "contradicted": audit.contradicted,
            "lower_bound": audit.lower_bound,
            "best_guess": [float(audit.best_guess), audit.best_guess.low, audit.best_guess.high],
            "best_guess_allowed": audit.guess_limit,
        },
    }
    return "".join(_lines(content, ""))


def _require_same(calibration: object, certificate: object, audit: Any) -> None:
    """Refuse papers of another release: a card that mixes two would guarantee what was not done."""
    if not isinstance(calibration, Calibration):
        raise InputError(f"a card is made for a Calibration, got {type(calibration).__name__}")
    if certificate is not None:
        theirs = getattr(certificate, "calibration", certificate)
        if isinstance(theirs, Calibration) and theirs != calibration:  # one channel may be proved for other beliefs
            raise InputError("the certificate is not of this calibration: its problem, guarantee or channel differs")
        for name in ("alpha", "epsilon", "channel", "theta"):
            ours = getattr(calibration, name, None)
            if hasattr(theirs, name) and getattr(theirs, name, None) != ours:
                raise InputError(f"the certificate is not of this calibration: its {name} differs")
        if not hasattr(certificate, "sha256"):
            raise InputError("the certificate has no digest: give what takifugu.certify returned")
    if audit is not None and hasattr(calibration.guarantee, "alpha") and audit.guarantee != calibration.guarantee:
        raise InputError(
            f"the audit is about {audit.guarantee}, and the calibration guarantees {calibration.guarantee}"
        )


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name} must be a text that is not empty, got {type(value).__name__}")
    return value


def _lines(content: dict[str, object], indent: str) -> list[str]:
    found = []
    for key, value in content.items():
        if isinstance(value, dict):
            found += [f"{indent}{key}:\n", *_lines(value, f"{indent}  ")]
        else:
            found.append(f"{indent}{key}: {_scalar(value)}\n")
    return found


def _scalar(value: object) -> str:
    """A value as JSON writes it, which YAML reads; infinity is YAML's own."""
    if isinstance(value, list):
        return f"[{', '.join(map(_scalar, value))}]"
    if isinstance(value, float):
        if math.isinf(value):
            return ".inf"
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e")  # YAML takes 1e-05 for a text
    return json.dumps(value, ensure_ascii=True)


# Lower confidence bounds on a Rényi divergence, from any score of what was published (proofs/audit.md).
#
# For every function h ≥ 0 of a published row, D_α(P‖Q) ≥ α/(α−1)·ln E_P[h^{α−1}] − ln E_Q[h^α], by Hölder's
# inequality, with equality at h = p/q; at α = ∞ it is ln E_P[h] − ln E_Q[h]. Whoever made the score need not be
# trusted: a bad one gives a small bound, never a wrong one. The two means are bounded by betting against them with
# stakes chosen beforehand.


_SIDES = 2  # a bound rests on two means, each of which may fail with half the risk
_ROOM = 1e-9  # of the logarithm of a fortune: more than rounding adds up to
_STEPS = 80
_NOTHING = 1e-100  # a mean below which products underflow: no bound is worth the trouble
_SHARES = np.array([0.15, 0.25, 0.4, 0.2])  # of the money
_TIMES = np.array([1 / 9, 1 / 3, 1.0, 3.0])  # multiples of the stake that each share is bet at
_MOST_STAKE = 0.98


@dataclass(frozen=True)
class Wager:
    """How a score becomes h: its exponential, flattened above `top`; or the event that it reaches `top`.

    `order` is the order at which the bound is taken, α or less: D never falls as the order grows. `stakes` are how
    boldly to bet on the two means.
    """

    order: float
    top: float
    is_event: bool
    stakes: tuple[float, float] = (0.5, 0.5)

    def means(self, scores: Array) -> tuple[Array, Array]:
        """h^{order−1} and h^order, between 0 and 1; at infinite order h and h."""
        with np.errstate(under="ignore"):
            if self.is_event:
                event = (scores >= self.top).astype(np.float64)
                return event, event
            gap = np.minimum(scores - self.top, 0.0)
            if math.isinf(self.order):
                return np.exp(gap), np.exp(gap)
            return np.exp((self.order - 1) * gap), np.exp(self.order * gap)

    def divergence(self, below: float, above: float) -> float:
        """The bound that follows from E_P ≥ `below` and E_Q ≤ `above`; 0 where it says nothing.

        For h between 0 and 1 Hölder's inequality gives E_P h^(α−1) ≤ e^((α−1)D/α)·(E_Q h^α)^((α−1)/α), so that two
        means bound D_α from below (proofs/audit.md).

        Args:
            below: less than the mean under the first law.
            above: more than the mean under the second.

        Returns:
            A lower bound, 0 or more.
        """
        if below <= 0 or above <= 0:
            return 0.0
        weight = 1.0 if math.isinf(self.order) else self.order / (self.order - 1)
        return max(0.0, weight * math.log(below) - math.log(above))


def lower_bound(wager: Wager, first: Array, second: Array, *, risk: float) -> float:
    """A number that D_α of the first law from the second exceeds, but for a probability of `risk` at most.

    `first` and `second` are scores of rows that had no part in choosing the wager.

    Args:
        wager: how scores become means, chosen on other rows.
        first: scores of rows of the first secret.
        second: those of the second.
        risk: the probability with which the bound may be wrong.

    Returns:
        The bound, 0 where nothing is shown. Both means are bounded with half of the risk each.
    """
    if not len(first) or not len(second):
        return 0.0
    ups, downs = wager.means(first)[0], wager.means(second)[1]
    below = mean_at_least(ups, risk=risk / _SIDES, stake=wager.stakes[0])
    above = 1.0 - mean_at_least(1.0 - downs, risk=risk / _SIDES, stake=wager.stakes[1])
    return wager.divergence(below, above)


def mean_at_least(values: Array, *, risk: float, stake: float) -> float:
    """A lower bound on the mean of independent values in [0, 1], wrong with a probability of `risk` at most.

    Were the mean m or less, a fortune Π(1 + c(x/m − 1)) would be 1 at most on average, for any stake 0 < c < 1 fixed
    before; so by Markov's inequality it passes 1/risk with a probability of `risk` at most. The bound is the least m
    that is not refuted so. The values need not have one law: the bound is then on the average of their means, and
    also where they are drawn without replacement (Maclaurin's inequality).

    Args:
        values: independent, each between 0 and 1.
        risk: the probability with which the bound may be wrong.
        stake: c, the share of the fortune that each value is bet on.

    Returns:
        A number between 0 and the sample's mean.
    """
    distinct, times = np.unique(values, return_counts=True)
    counts = times.astype(np.float64)
    mean = float(distinct @ counts) / len(values)
    goal = math.log(1 / risk) + _ROOM
    if mean < _NOTHING:
        return 0.0
    # The fortune falls as m grows, and is 1 at most at the mean itself: bisection between there and nothing.
    low, high = mean * 1e-9, mean
    if _fortune(low, distinct, counts, stake) < goal:
        return 0.0
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        if _fortune(middle, distinct, counts, stake) >= goal:
            low = middle
        else:
            high = middle
    return low


def _fortune(m: float, distinct: Array, counts: Array, stake: float) -> float:
    """The logarithm of what a player has who divides the money among four stakes."""
    stakes = np.minimum(stake * _TIMES, _MOST_STAKE)
    logs = np.log(_SHARES) + np.log1p(stakes[:, None] * (distinct / m - 1.0)) @ counts
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def best_wager(first: Array, second: Array, *, alpha: float, risk: float, rows: tuple[int, int]) -> tuple[Wager, float]:
    """The wager that guarantees most for a test on `rows` further rows, judged by rows kept for this choice.

    What it guarantees is a guess, and nothing rests on it.

    Args:
        first: scores of rows of the first secret, kept for this choice.
        second: those of the second.
        alpha: the order of the guarantee.
        risk: that the test will take.
        rows: how many rows of either secret it will have.

    Returns:
        The wager, and the bound that it is expected to give.
    """
    best, most = Wager(alpha, 0.0, is_event=True), -math.inf
    for wager in _candidates(first, second, alpha):
        ups, downs = wager.means(first)[0], wager.means(second)[1]
        below, bold = _expected(ups, rows[0], risk / _SIDES)
        above, shy = _expected(1.0 - downs, rows[1], risk / _SIDES)
        promised = wager.divergence(below, 1.0 - above)
        if promised > most:
            best, most = Wager(wager.order, wager.top, wager.is_event, (bold, shy)), promised
    return best, most


def _candidates(first: Array, second: Array, alpha: float) -> Iterator[Wager]:
    scores = np.concatenate(
        [np.quantile(part, (0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 1.0)) for part in (first, second)]
    )
    tops = np.unique(np.round(scores, 2)).tolist()
    orders = [order for order in (1.5, 2.0, 4.0) if order < alpha] + [alpha]
    for top in tops:
        yield Wager(alpha, top, is_event=True)
        for order in orders:
            yield Wager(order, top, is_event=False)


def _expected(values: Array, rows: int, risk: float) -> tuple[float, float]:
    """About what `mean_at_least` will say of `rows` values like these, and the stake at which it says most."""
    seen = len(values)
    mean = (float(values.sum()) + 0.5) / (seen + 1.0)  # half a row of each kind: few rows show no rare event
    variance = float(values.var()) + mean * (1 - mean) / seen
    doubt = math.log(1 / risk) + 1.0
    gap = math.sqrt(2 * variance * doubt / rows) + doubt / (3 * rows)
    least = max(mean - gap, 0.02 * mean)
    gain = mean - least
    stake = least * gain / (variance + gain * gain) if gain > 0 else 0.5
    return least, min(max(stake, 1e-6), _MOST_STAKE)


def share_interval(hits: int, rows: int, *, risk: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for a probability; each end fails with a probability of `risk`/2 at most.

    Args:
        hits: how often it happened.
        rows: of how many times.
        risk: of both ends together.

    Returns:
        The two ends, exact for a binomial distribution; (0, 1) where there are no rows.

    >>> tuple(round(end, 4) for end in share_interval(8, 10, risk=0.05))
    (0.4439, 0.9748)
    """
    from scipy.special import betainccinv, betaincinv

    if not rows:
        return 0.0, 1.0
    low = 0.0 if hits == 0 else float(betaincinv(hits, rows - hits + 1, risk / 2))
    high = 1.0 if hits == rows else float(betainccinv(hits + 1, rows - hits, risk / 2))
    return low * (1 - 1e-9), high + (1 - high) * 1e-9  # outwards, by more than the quantiles are off
