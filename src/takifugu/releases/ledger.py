"""The ledger: what was published about which records, what that cost, and what may still be."""

import datetime
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.calibration.calibrating import Priors
from takifugu.channels.base import Channel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.errors import BudgetError, CompositionError, InputError
from takifugu.mechanisms.worst import worst
from takifugu.problems.guarantee import Renyi
from takifugu.problems.pairs import Pair
from takifugu.releases.accounts import Account, AnyAccount, account_of, noise_text, opening_of, released, terms_of
from takifugu.releases.fingerprints import AnswerDigest
from takifugu.releases.joint_account import JointAccount
from takifugu.releases.joint_entries import joint_account, joint_terms, same_terms
from takifugu.releases.ledger_file import LedgerFile
from takifugu.releases.marks import names_of, refuse_another, refuse_forgetting
from takifugu.releases.protection import protection
from takifugu.releases.same_records import another, is_same, moved, refuse_other_names
from takifugu.releases.within_budget import require_within


class Ledger:
    """A durable record of releases in one SQLite file, shared by any number of processes.

    Everything in the file is taken to be about the same records, unless `records` names them apart: then each
    name has its own account, and it is for you to know that they are different people. An account is opened
    by its first release. Its budget is `budget`, a calibration, or else the calibration of that first
    release. Further releases of the same answer are accepted while their precisions fit the budget; another
    answer about the same records is refused, as is a calibration for other beliefs or pairs. The file holds
    no answers and no priors, only keyed digests of them; still, keep it to yourself. An account that `open` starts is
    for several columns that are published one after another; the file then holds their joint law.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        records: str = "records",
        budget: Calibration | None = None,
        new: bool | None = None,
    ) -> None:
        """Name the file, the records and the budget; nothing is opened yet.

        A file that is not there is started, with a notice in the log, when something is first published, unless a mark
        says that there was one (`takifugu.releases.marks`). `new=False` never starts one; `new=True` always does, and
        refuses a file that is there.
        """
        if not isinstance(records, str) or not records.strip():
            raise InputError(f"records must be a name, got {records!r}")
        if budget is not None and not isinstance(budget, Calibration):
            raise InputError(f"budget must be a Calibration, got {budget!r}")
        self.records = records
        self.budget = budget
        self._file = LedgerFile(path, new=new)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._file.path

    @property
    def is_new(self) -> bool:
        """Whether a ledger that was not there yet was asked for."""
        return self._file.is_new

    def __repr__(self) -> str:
        """The file and the records."""
        return f"Ledger({str(self._file.path)!r}, records={self.records!r})"

    def watch(self, *files: str | os.PathLike[str]) -> None:
        """Leave a mark beside these files with the next release; where one lies, no new ledger is started unasked.

        A link is one more name of the file it leads to, which gets a mark too, and so does every file of a pattern.
        """
        names = (name for file in files for name in names_of(file))
        self._file.marked = tuple(dict.fromkeys([*self._file.marked, *names]))

    def account(self) -> AnyAccount | None:
        """What is known about the records; None before their first release."""
        if not self._file.exists():
            self._file.require_expected()
            return None
        entries = self._file.read().entries
        opening = opening_of(self.records, entries)
        return None if opening is None else account_of(opening, entries)

    def open(
        self,
        priors: Priors,
        *,
        odds: float,
        pairs: Iterable[Pair] | None = None,
        confidence: float | None = None,
        seed: int = 0,
    ) -> JointAccount:
        """Open an account for columns that will be published one after another, all within one promise.

        Nothing is published by it. Opening it again with the same terms gives the account as it stands; with others,
        a new one, as long as nothing was published.

        Args:
            priors: those of `Row` of every column that may ever be published about these records.
            odds: no row of all that is published changes the odds of a pair by more than this factor.
            pairs: the pairs of secrets to hide from one another; every pair by default.
            confidence: as for `calibrate`: the promise is then for the population.
            seed: of the draws behind that.
        """
        if self.budget is not None:
            raise InputError(_OWN_BUDGET)
        with self._file.writing() as writer:
            salt, entries = writer.contents.salt, writer.contents.entries
            terms = joint_terms(priors, odds=odds, pairs=pairs, confidence=confidence, seed=seed, salt=salt)
            opening, spent = opening_of(self.records, entries), released(self.records, entries)
            refuse_other_names(self.records, entries)
            if opening is None or ("joint" in opening and not spent and not same_terms(opening, terms)):
                opening = {"kind": "account", "records": self.records, **terms}
                writer.append(opening)
            elif not same_terms(opening, terms):
                raise CompositionError(_OTHER_ACCOUNT.format(records=self.records))
            return joint_account(opening, spent)

    def answer_digest(self, *, ahead: bool = False) -> AnswerDigest:
        """A new fingerprint, keyed with this ledger's own salt; `ahead` starts no ledger that is not there yet."""
        return AnswerDigest(self._file.salt_ahead() if ahead else self._file.read().salt)

    def loss(self, calibration: Calibration) -> float:
        """The exact divergence of all releases so far, for the worst belief and pair; 0 before the first."""
        return self._loss_at(calibration, extra=None)

    def loss_after(self, calibration: Calibration, *, theta: float | None = None) -> float:
        """What `loss` would be after one more release, with the calibration's noise or with `theta`."""
        if theta is not None and not isinstance(calibration.channel, GaussianNoise):
            raise InputError("theta is for noise on numbers, and this channel adds none: leave it out")
        return self._loss_at(calibration, extra=calibration.channel if theta is None else GaussianNoise(theta))

    def charge(
        self,
        answer: str,
        calibration: Calibration,
        *,
        theta: float | None = None,
        covariance: Array | None = None,
        count: int,
        granularity: float,
        unordered: str = "",
    ) -> AnyAccount:
        """Write a release down, or refuse it. Only what has been charged may be published.

        `answer` is the fingerprint of the values, `unordered` that of the same values in any order. The noise they will
        get, at least the calibrated one, is `theta` for numbers and `covariance` for vectors; a finite channel adds
        none.
        """
        noise = noise_text(calibration, theta=theta, covariance=covariance)
        with self._file.writing() as writer:
            salt, entries = writer.contents.salt, writer.contents.entries
            opening = opening_of(self.records, entries)
            protects = protection(calibration.problem, salt=salt)
            refuse_other_names(self.records, entries, answer=answer, unordered=unordered, protects=protects)
            if opening is None:
                terms = terms_of(calibration if self.budget is None else self.budget, salt)
                opening = {"kind": "account", "records": self.records, "answer": answer, **terms}
                opening |= {"unordered": unordered} if unordered else {}
                writer.append(opening)
                entries = (*entries, opening)
            account: AnyAccount = account_of(opening, entries)
            if isinstance(account, JointAccount):
                account, cost = self._charged(account, calibration, salt)
                cost |= {"answer": answer, "unordered": unordered}
            else:
                _require_first(calibration)
                _require_as_strong(opening, calibration)
                require_within(self.budget, calibration)
                self._require_same(opening, account, answer, unordered, protects, salt)
                account, cost = account.charged(noise)
            writer.append(
                {
                    "kind": "release",
                    "records": self.records,
                    **cost,
                    "count": count,
                    "granularity": granularity,
                    "mechanism": str(calibration.mechanism),
                    "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                }
            )
        return account

    def refuse_twice(self) -> None:
        """Before hours of work for a channel: whether these records left through one, which they do once."""
        account = self.account()
        if isinstance(account, Account) and account.is_finite and account.releases:
            account.charged({"theta": math.inf.hex()})

    def require_room(self, calibration: Calibration, **noise: Any) -> None:
        """Before hours of work, whether the budget could allow it at all; the charge at the end decides."""
        account = self.account()
        if isinstance(account, JointAccount):
            self._charged(account, calibration, self._file.read().salt)
            return
        _require_first(calibration)
        require_within(self.budget, calibration)
        if account is not None:
            account.charged(noise_text(calibration, **noise))

    def _charged(self, account: JointAccount, calibration: Calibration, salt: bytes) -> tuple[JointAccount, Any]:
        if self.budget is not None:
            raise InputError(_OWN_BUDGET)
        return account.charged(calibration, salt=salt)

    def _require_same(
        self, opening: dict[str, Any], account: AnyAccount, answer: str, unordered: str, protects: str, salt: bytes
    ) -> None:
        if self.budget is not None and not terms_of(self.budget, salt).items() <= opening.items():
            alpha, epsilon = (float.fromhex(opening[name]) for name in ("alpha", "epsilon"))
            raise BudgetError(
                f"the budget of {self.records!r} was set by its first release to epsilon = {epsilon:g} at "
                f"alpha = {alpha:g}, and this one differs: nothing was released. Leave the budget out, or give the "
                f"same again"
            )
        if opening["answer"] != answer:
            same = is_same(opening, answer, unordered, protects)
            raise CompositionError(moved(self.records) if same else another(self.records, account))
        if opening["protection"] != protects:
            raise CompositionError(_OTHER_PROTECTION.format(records=self.records))

    def _loss_at(self, calibration: Calibration, *, extra: Channel | None) -> float:
        contents = self._file.read() if self._file.exists() else None
        opening = None if contents is None else opening_of(self.records, contents.entries)
        if contents is None or opening is None:
            return _worst_loss(calibration, extra)
        account = account_of(opening, contents.entries)
        if isinstance(account, JointAccount):
            # The channel of a later column is that of everything published with it.
            return account.loss if extra is None else _worst_loss(calibration, extra)
        if opening["protection"] != protection(calibration.problem, salt=contents.salt):
            raise CompositionError(_OTHER_PROTECTION.format(records=self.records))
        return _worst_loss(calibration, account.together(extra))


def remember(ledger: Ledger | None, *files: str | os.PathLike[str]) -> None:
    """Have a ledger leave its mark beside tables; refuse those of which another remembers releases."""
    for file in files:
        if ledger is None:
            refuse_forgetting(file)
        elif ledger.path.exists() and not ledger.is_new:
            refuse_another(file, ledger.path)
    if ledger is not None:
        ledger.watch(*files)


_OTHER_ACCOUNT = (
    "{records!r} have an account already, opened with another law or promise, or by a release. "
    "Nothing was opened; if these are different people, give them a name of their own with `records`"
)
_OWN_BUDGET = "an account for several columns has its own budget: leave budget out of the ledger"
_OTHER_PROTECTION = (
    "this calibration is for other beliefs or other pairs than the budget of {records!r}: what both releases tell "
    "together is bounded by neither. Nothing was released; calibrate with the priors and pairs of the budget"
)


def _require_first(calibration: Calibration) -> None:
    """Refuse columns that follow others where no account says what was published."""
    if calibration.answer is not None and calibration.answer.before:
        raise CompositionError(
            "this calibration is for columns that follow others, and this ledger has no account that says what was "
            "published: nothing was released. Give the ledger in which the account was opened"
        )


def _require_as_strong(opening: dict[str, Any], calibration: Calibration) -> None:
    """Refuse the name of a full promise for what a budget of a weaker one allows."""
    if opening.get("guarantee") == "approximate" and isinstance(calibration.guarantee, Renyi):
        raise CompositionError(
            "the budget of these records was set under a weaker promise, which says nothing for a share of the cases, "
            "and this calibration makes the full one: nothing was released. Give a budget of the full promise to a "
            "new ledger, or publish with a calibration of the weaker one"
        )


def _worst_loss(calibration: Calibration, channel: Channel | None) -> float:
    return 0.0 if channel is None else worst(calibration.problem, channel, alpha=calibration.alpha).loss
