"""What a ledger knows about one batch of records: what was allowed, what is spent, and what may still be published."""

import hashlib
import json
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from takifugu import strict_json
from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels import (
    WHOLE,
    Channel,
    GaussianNoise,
    GaussianVector,
    LinearRelease,
    Noise,
    fits,
    known_channel,
    noise_family,
    what_is_left,
    worth,
)
from takifugu.errors import BudgetError, CompositionError, InputError, PublishedOnceError
from takifugu.mechanisms import ProvedBand
from takifugu.problems import Guarantee, Problem, guarantee_from_state
from takifugu.releases.total_account import AGAIN, FIRST, Step, TotalAccount

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
        if law.space == "number":
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


_OTHER_KIND = "these records have a budget for another kind of noise than this release has: nothing was released"


@dataclass(frozen=True)
class Account:
    """What the ledger knows about records that are published number by number, or from a finite list."""

    theta: float
    kept: str  # the guarantee, in words
    releases: int
    spent: int  # in parts of `takifugu.channels.noise.WHOLE`

    kind: str = GaussianNoise.kind  # of the noise, whose size `theta` is

    @property
    def family(self) -> type[Noise]:
        """The family of the noise, which knows how releases add up."""
        return noise_family(self.kind)

    @property
    def is_finite(self) -> bool:
        """Whether the answer is published from a finite list, and so once; `theta` is infinite then."""
        return math.isinf(self.theta)

    @property
    def fraction_spent(self) -> float:
        """The part of the budget that is spent."""
        return self.spent / WHOLE

    @property
    def effective_theta(self) -> float:
        """The noise of the one release that would tell as much as all so far; infinite before the first."""
        if self.is_finite:
            return math.inf
        return self.family.effective(self.spent, budget=self.theta)

    @property
    def next_theta(self) -> float:
        """The least noise with which the answer may be published once more; infinite where it may not."""
        if self.is_finite:
            return math.inf
        return self.family.least(WHOLE - self.spent, budget=self.theta)

    @property
    def may_go_on(self) -> bool:
        """Whether the answer was published and may be once more, with enough noise."""
        return self.releases > 0 and math.isfinite(self.next_theta)

    def together(self, extra: Channel | None, like: Channel) -> Noise | None:
        """The one release that would tell as much as all so far, and one more; None where there is none."""
        if self.is_finite:
            raise InputError("an answer from a finite list is published once: see the loss of its calibration")
        for one in (extra, like):
            _require_kind(one, self.kind)
        more = 0 if extra is None else self.family.share(extra.as_noise().size, budget=self.theta)
        size = self.family.effective(self.spent + more, budget=self.theta)
        return None if math.isinf(size) else like.as_noise().resized(size)

    def charged(self, noise: dict[str, str]) -> "tuple[Account, dict[str, str]]":
        """This account after a release with that noise, and what is written down; or a refusal."""
        theta = float.fromhex(noise["theta"])
        # A channel from a list is written as infinite noise and is none: it would cost a budget of noise nothing.
        is_other = math.isinf(theta) and not self.is_finite
        if "covariance" in noise or noise.get("noise", GaussianNoise.kind) != self.kind or is_other:
            raise CompositionError(_OTHER_KIND)
        cost = self._affordable(theta)
        return replace(self, releases=self.releases + 1, spent=self.spent + cost), noise | {"share": str(cost)}

    def _affordable(self, theta: float) -> int:
        """The share of a release with this noise, or a refusal that says what would fit."""
        if self.is_finite:
            if self.releases == 0:
                return WHOLE
            raise PublishedOnceError(
                "these records were published before, through a channel from a finite list. Such an answer is "
                "published once: two draws of it reveal more than one. Nothing was released; next time publish all "
                "columns that may ever go out together, in one call"
            )
        if theta > 0 or self.theta == 0:
            cost = self.family.share(theta, budget=self.theta)
            if self.spent + cost <= WHOLE:
                return cost
        if self.spent >= WHOLE:
            advice = "the budget is spent: publish nothing more about these records"
        else:
            advice = f"what is left allows {self.family.parameter}={self.next_theta!r} or more"
        raise BudgetError(
            f"a release with noise of {self.family.size_is} {theta!r} would exceed the budget of these records "
            f"({self.kept}), {_spent(self)}. Nothing was released; {advice}"
        )


@dataclass(frozen=True)
class VectorAccount:
    """What the ledger knows about records that are published as vectors: precisions are matrices, and add up.

    `covariance` is what the budget allows, `spent` the covariance of each release, all as the ledger writes them.
    """

    covariance_text: str
    kept: str  # the guarantee, in words
    spent: tuple[str, ...] = ()

    is_finite = False

    @property
    def releases(self) -> int:
        """How often the answer was published."""
        return len(self.spent)

    @property
    def covariance(self) -> Array:
        """The noise of the one release that the budget allows."""
        return _matrix(self.covariance_text)

    @cached_property
    def _releases(self) -> list[LinearRelease]:
        return [LinearRelease.of(_matrix(text)) for text in self.spent]

    @property
    def fraction_spent(self) -> float:
        """The part of the budget that is spent, in the direction in which most is; for people, rounded."""
        if not self.spent:
            return 0.0
        factor = np.linalg.cholesky(self.covariance)
        precision = np.asarray(sum(np.linalg.inv(one.covariance) for one in self._releases))
        return float(np.linalg.eigvalsh(factor.T @ precision @ factor)[-1])

    @property
    def next_covariance(self) -> Array | None:
        """The least noise with which the answer may be published once more; None where it may not."""
        return what_is_left(self._releases, budget=self.covariance)

    @property
    def may_go_on(self) -> bool:
        """Whether the answer was published and may be once more, with enough noise."""
        return self.releases > 0 and self.next_covariance is not None

    def together(self, extra: Channel | None, like: Channel) -> GaussianVector | None:
        """The one release that would tell as much as all so far, and one more; None where there is none."""
        for one in (extra, like):
            _require_kind(one, GaussianVector.kind)
        more = [] if extra is None else [LinearRelease(extra.noise_covariance)]
        every = [*self._releases, *more]
        return GaussianVector(worth(every)) if every else None

    def charged(self, noise: dict[str, str]) -> "tuple[VectorAccount, dict[str, str]]":
        """This account after a release with that noise, and what is written down; or a refusal.

        Whether the precisions still fit is decided in rational numbers (proofs/ledger.md).
        """
        if "covariance" not in noise:
            raise CompositionError(_OTHER_KIND)
        now = LinearRelease.of(_matrix(noise["covariance"]))
        if not fits([*self._releases, now], budget=self.covariance):
            advice = (
                "the budget is spent in some direction: publish nothing more about these records"
                if self.next_covariance is None
                else "what is left allows theta=ledger.account().next_covariance, or more"
            )
            raise BudgetError(
                f"a release with this covariance would exceed the budget of these records ({self.kept}), "
                f"{_spent(self)}. Nothing was released; {advice}"
            )
        return replace(self, spent=(*self.spent, noise["covariance"])), noise


def _require_kind(extra: Channel | None, kind: str) -> None:
    """Refuse to add another kind of release to those that were made: it would count for nothing."""
    if extra is not None and known_channel(extra).kind != kind:
        raise CompositionError(_OTHER_KIND)


def _spent(account: Account | VectorAccount) -> str:
    """What is gone of a budget, in words."""
    times = f"{account.releases} release{'s' * (account.releases != 1)}"
    return f"of which {100 * account.fraction_spent:.6g} % is spent by {times}"


AnyAccount = Account | VectorAccount | TotalAccount


def account_of(opening: dict[str, Any], entries: tuple[dict[str, object], ...]) -> AnyAccount:
    """The account that an entry opened, with all that was released since."""
    releases = released(entries, opening["account"])
    if "total" in opening:
        total = guarantee_from_state(json.loads(opening["total"]))
        first = _of_one_answer(opening, [one for one in releases if one["rule"] in (FIRST, AGAIN)])
        return TotalAccount(total, first, tuple(Step.of(one, len(total.parts)) for one in releases))
    return _of_one_answer(opening, releases)


def _of_one_answer(opening: dict[str, Any], releases: list[dict[str, Any]]) -> Account | VectorAccount:
    theta, kept = float.fromhex(opening["theta"]), kept_by(opening)
    if "covariance" in opening:
        spent = tuple(e["covariance"] for e in releases)
        return VectorAccount(opening["covariance"], kept, spent)
    kind = opening.get("noise", GaussianNoise.kind)
    return Account(theta, kept, len(releases), sum(int(e["share"]) for e in releases), kind)


class Shown(NamedTuple):
    """One account of a ledger, for its owner: what was let out about whom, and how much of the budget is spent."""

    account: int
    records: str
    kept: str
    releases: int
    spent: float
    last: str | None
    prices: tuple[str, ...] = ()
    left: tuple[float, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """Under a total: each release with its price and the rule behind it, then their sum and what is left."""
        if not self.left:
            return ()
        left = " and ".join(f"{one:.6g}" for one in self.left)
        return (*self.prices, f"left: {left}")

    @property
    def sentence(self) -> str:
        """The account in a line."""
        times = f"{self.releases} release{'s' * (self.releases != 1)}"
        last = "" if self.last is None else f", the last at {self.last}"
        return f"Account {self.account}: {self.records}; {self.kept}; {times}{last}; {100 * self.spent:.4g} % is spent"


def shown_accounts(entries: tuple[dict[str, Any], ...]) -> tuple[Shown, ...]:
    """Every account that entries hold, private counts among them; no record, and no name of one."""
    found = []
    for entry in entries:
        if entry["kind"] == "counts":
            kept = f"private counts with epsilon={entry['epsilon']:g}"
            found.append(Shown(entry["account"], _rows_of(entry), kept, 1, 1.0, entry.get("at")))
        if entry["kind"] != "account":
            continue
        made, account = released(entries, entry["account"]), account_of(entry, entries)
        last = made[-1]["at"] if made else None
        shown = Shown(entry["account"], _rows_of(entry), _in_words(entry), len(made), account.fraction_spent, last)
        if "total" in entry:
            whole = cast(TotalAccount, account)
            shown = shown._replace(
                kept=f"all releases together {whole.total.bound}",
                prices=tuple(f"release {n}, {step.sentence}" for n, step in enumerate(whole.steps, start=1)),
                left=whole.left,
            )
        found.append(shown)
    return tuple(found)


def _in_words(opening: dict[str, Any]) -> str:
    kept = kept_by(opening)
    alpha, epsilon = (float.fromhex(opening.get(name, "0x0p+0")) for name in ("alpha", "epsilon"))
    return f"odds within a factor of {math.exp(epsilon):.6g}" if math.isinf(alpha) else kept


def _rows_of(entry: dict[str, Any]) -> str:
    if entry.get("group"):
        return "one number about a group"
    rows, by = entry.get("rows", 0), entry.get("by") or {}
    columns = ", ".join(map(repr, by.get("columns", ())))
    return f"{rows:,} records" + (f", known by {columns}" if columns else "")


def kept_by(opening: dict[str, Any]) -> str:
    """The budget of an account, in words."""
    if "total" in opening:
        return str(guarantee_from_state(json.loads(opening["total"])))
    if "kept" in opening:
        return str(guarantee_from_state(json.loads(opening["kept"])))
    alpha, epsilon = (float.fromhex(opening[name]) for name in ("alpha", "epsilon"))
    return f"alpha={alpha:g}, epsilon={epsilon:g}"


def opening_of(entries: tuple[dict[str, object], ...], account: int) -> dict[str, object]:
    """The entry that opened an account."""
    return next(entry for entry in entries if entry["kind"] == "account" and entry["account"] == account)


def released(entries: tuple[dict[str, object], ...], account: int) -> list[dict[str, Any]]:
    """What was written about releases of an account."""
    return [entry for entry in entries if entry["kind"] == "release" and entry["account"] == account]


def noise_text(calibration: Calibration, through: Channel) -> dict[str, str]:
    """The noise of a release as the ledger writes it, no bit lost; an error where it is less than was calibrated."""
    if not through.at_least(calibration.channel):
        raise BudgetError(
            f"{through.describe(exact=True)} is less noise than was calibrated, which is "
            f"{calibration.channel.describe(exact=True)}: nothing was released"
        )
    if through.publishes == "number":
        # A reader that knows Gaussian noise alone refuses an entry with a field that it does not know.
        family = {} if through.kind == GaussianNoise.kind else {"noise": through.kind}
        return {"theta": through.as_noise().size.hex()} | family
    # An old reader of the file sees an answer that is published once, and refuses whatever it does not know.
    once = {"theta": math.inf.hex()}
    if through.publishes == "values":
        return once
    return once | {"covariance": " ".join(float(x).hex() for x in through.as_vector().covariance.reshape(-1))}


def with_theta(channel: Channel, theta: float | None) -> Channel:
    """The channel, or with `theta` the same Gaussian noise of another size; an error for any other channel."""
    if theta is None:
        return channel
    if channel.publishes != "number":
        raise InputError("theta is for noise on numbers, and this channel adds none: leave it out")
    noise = channel.as_noise()
    if noise.parameter != "theta":
        raise InputError(f"theta is Gaussian noise, and this calibration adds {channel.describe()}")
    return noise.resized(theta)


def terms_of(budget: Calibration, salt: bytes) -> dict[str, str]:
    """What an account is opened with, apart from its name and its answer."""
    promised = "rpp" if budget.guarantee.is_provable else "approximate"
    guarantee = budget.guarantee
    if hasattr(guarantee, "alpha"):
        numbers = {"alpha": float(guarantee.alpha).hex(), "epsilon": float(guarantee.epsilon).hex()}
    else:  # about no one order: an older reader misses fields that it knows, and refuses
        numbers = {"kept": json.dumps(guarantee.to_state(), sort_keys=True)}
    noise = noise_text(budget, budget.channel)
    return {"protection": protection(budget.problem, salt=salt), "guarantee": promised, **noise, **numbers}


def total_text(total: Guarantee) -> str:
    """A total as the ledger writes it."""
    return json.dumps(total.to_state(), sort_keys=True)


def _matrix(text: str) -> Array:
    numbers = [float.fromhex(word) for word in text.split()]
    size = math.isqrt(len(numbers))
    return np.array(numbers).reshape(size, size)


# Whether a release promises what the budget of its records does, where no noise can be measured against the budget's.
#
# Of noise the ledger compares sizes. A channel from a list has none, and whoever sets a budget is owed its promise.


def require_within(budget: Calibration | None, calibration: Calibration) -> None:
    """Refuse a channel from a list that promises less than the budget, or promises it on weaker evidence."""
    if budget is None or calibration.channel.publishes != "values":
        return
    allowed, promised = budget.guarantee, calibration.guarantee
    if not (allowed.is_provable and promised.is_provable and promised.implies(allowed)):
        raise BudgetError(
            f"the budget allows {allowed}, and this calibration guarantees {promised}, which may reveal more. Nothing "
            "was released; calibrate with the guarantee of the budget"
        )
    if _is_weaker(evidence_state(calibration), evidence_state(budget)):
        raise BudgetError(
            f"the budget is for the population ({budget.evidence.sentence if budget.evidence else ''}), and this "
            f"calibration says less about it. Nothing was released; calibrate with the confidence of the budget"
        )


def require_as_sure(opening: dict[str, Any], calibration: Calibration) -> None:
    """Refuse to add a guarantee on weaker evidence than that of the first release of a total."""
    if _is_weaker(evidence_state(calibration), opening.get("evidence")):
        first = opening["evidence"]
        what = "proved" if first["kind"] == ProvedBand.kind else "shown by draws"
        raise CompositionError(
            f"the first release of this total is for the population ({what}, with {100 * first['level']:g} % "
            f"confidence), and this calibration says less about it: together they would be for the sample alone. "
            f"Nothing was released; calibrate with the confidence of the first release"
        )


def evidence_state(calibration: Calibration) -> dict[str, Any] | None:
    """What a calibration says about the population, as the ledger writes it; None of one for the sample alone."""
    said = calibration.evidence
    return None if said is None else {"kind": said.kind, "level": float(said.level)}


def _is_weaker(said: dict[str, Any] | None, asked: dict[str, Any] | None) -> bool:
    """Whether less is said about the population: nothing, with less confidence, or draws in place of a proof."""
    if asked is None:
        return False
    is_proved = said is not None and said["kind"] == ProvedBand.kind
    return said is None or said["level"] < asked["level"] or (asked["kind"] == ProvedBand.kind and not is_proved)
