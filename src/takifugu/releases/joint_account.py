"""An account opened with the joint law of several columns: they are published one after another (proofs/later.md)."""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from takifugu import strict_json
from takifugu._validation import integer, real
from takifugu.calibration import Calibration, calibrate_later
from takifugu.channels import FiniteChannel, channel_from_state, same_draws, split
from takifugu.errors import BudgetError, CompositionError, InputError, LedgerError
from takifugu.mechanisms import Confidence, Optimal, draws_needed, own_seed, worst
from takifugu.problems import MaxDivergence, Odds, Pair, Problem, Renyi, of_columns, require_rows
from takifugu.problems import nouns as documents

# What a problem protects: the beliefs and pairs that a release and a budget must have in common.


def protection(problem: Problem, *, salt: bytes) -> str:
    """A keyed fingerprint of the beliefs and of the pairs, whatever their order."""
    pairs = problem.pairs
    digest = hashlib.blake2b(key=salt, digest_size=32, person=b"takifugu-belief")
    for belief in sorted(_described(problem, number) for number in range(len(problem.beliefs))):
        digest.update(belief)
    every = len(pairs) == len(pairs.secrets) * (len(pairs.secrets) - 1) // 2
    named = ["every pair"] if every else sorted("|".join(sorted(map(_name, pair))) for pair in pairs)
    digest.update(repr(named).encode())
    return digest.hexdigest()


def secrets_hidden(problem: Problem, *, salt: bytes) -> str:
    """The same of the secrets and pairs alone, whatever the beliefs and the answer are."""
    columns = () if problem.answer is None else problem.answer.secret
    pairs = sorted("|".join(sorted(map(_name, pair))) for pair in problem.pairs)
    content = strict_json.canonical([list(columns), pairs])
    return hashlib.blake2b(repr(content).encode(), key=salt, digest_size=32, person=b"takifugu-belief").hexdigest()


def _described(problem: Problem, number: int) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    belief = problem.beliefs[number]
    for name, law in sorted(((_name(s), law) for s, law in belief.items()), key=lambda item: item[0]):
        if law.space == "number":  # as version 0.1 did, whose ledgers stay readable
            digest.update(f"{name!r}:{len(law)}:".encode())
            for array in (law.weights, law.means, law.stds):
                digest.update(array.astype("<f8").tobytes())
        else:
            digest.update(repr((name, strict_json.canonical(law.to_state()))).encode())
    return digest.digest()


def _name(secret: Any) -> str:
    """A secret with its type, so that the number 1 and the text "1" stay apart."""
    plain = secret.item() if hasattr(secret, "item") else secret
    return f"{type(plain).__name__} {plain!r}"


@dataclass(frozen=True)
class Step:
    """Columns that were published together, the channel of everything up to them, and the budget promised for that."""

    columns: tuple[str, ...]
    channel: FiniteChannel = field(repr=False)
    epsilon: float


@dataclass(frozen=True)
class JointAccount:
    """Columns of the same people that may be published in turn, each once, all of them within one promise.

    `problem` is that of publishing all of them as one row. `calibrate` finds the channel for the columns to publish
    next; `takifugu.release` with the ledger of this account publishes through it.
    """

    problem: Problem = field(repr=False)
    epsilon: float
    confidence: float | None = None
    seed: int = 0
    published: tuple[Step, ...] = ()

    is_finite = True
    may_go_on = False
    alpha = math.inf

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the account was opened for."""
        return () if self.problem.answer is None else self.problem.answer.columns

    @property
    def identifying(self) -> tuple[str, ...]:
        """The columns by which a row is known again in every release of this account, where there is no id."""
        answer = self.problem.answer
        return () if answer is None else (*answer.columns, *answer.secret, *answer.known)

    @property
    def before(self) -> tuple[str, ...]:
        """The columns that are published, in their order."""
        return tuple(name for step in self.published for name in step.columns)

    @property
    def left(self) -> tuple[str, ...]:
        """The columns that may still be published."""
        return tuple(name for name in self.columns if name not in self.before)

    @property
    def releases(self) -> int:
        """How often columns were published."""
        return len(self.published)

    @property
    def odds(self) -> float:
        """The factor by which everything published together may move the odds of a pair."""
        return math.exp(self.epsilon)

    @property
    def fraction_spent(self) -> float:
        """The part of the budget that is promised to what was published."""
        return self.published[-1].epsilon / self.epsilon if self.published else 0.0

    @property
    def channel(self) -> FiniteChannel | None:
        """The channel of everything published so far; None before the first."""
        return self.published[-1].channel if self.published else None

    @cached_property
    def loss(self) -> float:
        """What everything published so far tells, for the worst belief and pair: the logarithm of a factor of odds."""
        if self.channel is None:
            return 0.0
        return worst(of_columns(self.problem, self.before), self.channel, MaxDivergence()).loss

    def calibrate(self, *columns: str, spend: float | None = None, keep_shares: bool = False) -> Calibration:
        """The calibration for columns to publish next, such that all that is published then keeps the promise.

        Args:
            *columns: one column, or several to be drawn together.
            spend: the share of the account's budget to spend on them, such as 0.5. By default what is left is divided
                evenly among the columns that may still be published.
            keep_shares: whether the share of each published value is what it was among the true ones.

        Columns published together cost less than one after another: each is then drawn with an eye on the others.
        """
        self._require_free(columns)
        share = self._share(len(columns), spend)
        problem = of_columns(self.problem, (*self.before, *columns), before=self.before)
        return calibrate_later(
            problem,
            self.channel,
            epsilon=self.epsilon * share,
            steps=1 + len(self.left) - len(columns),
            confidence=self.confidence,
            seed=own_seed(self.seed, len(self.published)),  # what was published passed the draws before these
            keep="marginal" if keep_shares else None,
        )

    def charged(self, calibration: Calibration, *, salt: bytes) -> "tuple[JointAccount, dict[str, Any]]":
        """This account after a release through that calibration, and what is written down; or a refusal.

        Nothing of the calibration is believed: it must be about this account's own laws, its channel must be that of
        what was published and a further one that does not look at it, and the two together are proved here once more
        to keep the whole promise.
        """
        answer = calibration.answer
        if answer is not None:
            self._require_free(answer.drawn)
        if answer is None or calibration.channel.kind != FiniteChannel.kind or answer.before != self.before:
            raise CompositionError(
                f"the account of these records lets {', '.join(self.left) or 'nothing more'} follow "
                f"{', '.join(self.before) or 'nothing'}, and this calibration was made for another place in that "
                f"order. Nothing was released; calibrate with ledger.account().calibrate(...)"
            )
        channel = calibration.channel.as_list().as_table()
        expected = of_columns(self.problem, answer.columns, before=answer.before)
        if answer != expected.answer or protection(calibration.problem, salt=salt) != protection(expected, salt=salt):
            raise CompositionError(
                "this calibration is for other beliefs or pairs than the joint law that the account of "
                "these records was opened with. Nothing was released; calibrate with "
                "ledger.account().calibrate(...)"
            )
        if self.channel is not None and not same_draws(split(channel, width=len(self.before)).first, self.channel):
            raise CompositionError(
                "this calibration takes something else for published than what was. Nothing was released; calibrate "
                "with ledger.account().calibrate(...)"
            )
        self._require_within(calibration, expected, channel)
        step = Step(answer.drawn, channel, min(calibration.epsilon, self.epsilon))
        return replace(self, published=(*self.published, step)), {
            "theta": math.inf.hex(),
            "columns": list(step.columns),
            "spent": step.epsilon.hex(),
            "channel": channel.to_state(),
        }

    def _require_within(self, calibration: Calibration, problem: Problem, channel: FiniteChannel) -> None:
        """Prove that everything published together keeps the whole promise, and see that it was drawn for."""
        if not Optimal(keep=None).is_kept(problem, Renyi(math.inf, self.epsilon), channel):
            raise BudgetError(
                "with this release everything published about these records would not be proved to keep the odds "
                f"within a factor of {self.odds:g}. Nothing was released; calibrate with "
                f"ledger.account().calibrate(...)"
            )
        evidence, total = calibration.evidence, Renyi(math.inf, self.epsilon)
        if self.confidence is None:
            return
        if not isinstance(evidence, Confidence) or evidence.level < self.confidence:
            raise BudgetError(
                f"the account of these records was opened with confidence={self.confidence:g}, and this calibration "
                f"was made without it. Nothing was released; calibrate with ledger.account().calibrate(...)"
            )
        if not evidence.holds(problem, channel, total):
            raise BudgetError("what is said about the population does not hold when it is looked at again")

    def _require_free(self, columns: tuple[str, ...]) -> None:
        if not columns:
            raise InputError(f"name the column to publish next, one of {', '.join(self.left) or 'none'}")
        for name in columns:
            if name in self.before:
                raise BudgetError(
                    f"{name!r} of these records was published before. A column from a finite list is published "
                    f"once: two draws of it tell more than one. Nothing was released"
                )
            if name not in self.columns:
                raise CompositionError(
                    f"the account of these records was opened for {', '.join(self.columns)}, and {name!r} is not "
                    f"among them: nobody knows what it tells together with them. Nothing was released{self._anew}"
                )

    def _share(self, count: int, spend: float | None) -> float:
        """The share of the whole budget that everything published may have used after this."""
        spent = self.fraction_spent
        if spend is None:
            if spent >= 1:
                raise BudgetError(self._nothing_left)
            return 1.0 if count == len(self.left) else spent + (1 - spent) * count / len(self.left)
        asked = real("spend", spend, "a share of the budget above 0, such as 0.5")
        if not 0 < asked <= 1:
            raise InputError(f"spend must be a share of the budget, above 0 and at most 1, got {spend!r}")
        if spent >= 1:
            raise BudgetError(self._nothing_left)
        if spent + asked > 1 + 1e-9:
            raise BudgetError(
                f"spend={asked:g} is more than is left: {spent:.6g} of the budget of these records is spent. "
                f"Nothing was released; spend {1 - spent:.6g} at most"
            )
        return min(1.0, spent + asked)

    @property
    def _anew(self) -> str:
        return "" if self.published else "; nothing was published yet, so name the columns to come with later, anew"

    @property
    def _nothing_left(self) -> str:
        return (
            f"the budget of these records is spent by {', '.join(self.before)}: nothing more may be published about "
            f"these people. Nothing was released; next time give each column its share with spend"
        )


# What the ledger writes about an account for several columns, and how it is read back. The joint law is in it.

_SAME = ("protection", "epsilon", "confidence", "seed")


def joint_terms(
    priors: object,
    *,
    odds: float,
    pairs: Iterable[Pair] | None,
    confidence: float | None,
    seed: int,
    salt: bytes,
) -> dict[str, object]:
    """What such an account is opened with, apart from its name; every argument is checked."""
    require_rows(priors, confidence=confidence)
    problem = Problem.of(priors, pairs)
    of_columns(problem, () if problem.answer is None else problem.answer.columns)  # refuses what has no columns
    if confidence is not None:
        draws_needed(confidence)
    return {
        "guarantee": "rpp",
        "theta": math.inf.hex(),
        "alpha": math.inf.hex(),
        "epsilon": Odds(odds).epsilon.hex(),
        "protection": protection(problem, salt=salt),
        "joint": documents.problem_to(problem),
        "confidence": None if confidence is None else float(confidence),
        "seed": integer("seed", seed, least=0),
    }


def same_terms(opening: dict[str, object], terms: dict[str, object]) -> bool:
    """Whether an account was opened with these terms."""
    return all(name in opening and opening[name] == terms[name] for name in _SAME)


def joint_account(opening: dict[str, Any], releases: Iterable[dict[str, Any]]) -> JointAccount:
    """The account that such an entry opened, with what was published since."""
    return JointAccount(
        documents.problem_from(opening["joint"]),
        float.fromhex(opening["epsilon"]),
        opening["confidence"],
        opening["seed"],
        tuple(Step(tuple(e["columns"]), _channel(e["channel"]), float.fromhex(e["spent"])) for e in releases),
    )


def _channel(content: object) -> FiniteChannel:
    channel = channel_from_state(content)
    if channel.kind != FiniteChannel.kind:
        raise LedgerError("the ledger holds a channel of another kind than its account: restore it from a copy")
    return channel.as_list().as_table()
