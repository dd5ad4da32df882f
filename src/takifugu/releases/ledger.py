"""The ledger: what was published about which records, what that cost, and what may still be."""

import datetime
import hashlib
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.gaussian.composition import WHOLE, effective_theta, least_theta, share
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.errors import BudgetError, CompositionError, InputError
from takifugu.mechanisms.worst import worst
from takifugu.problems.guarantee import Renyi
from takifugu.releases.ledger_file import LedgerFile
from takifugu.releases.protection import protection


@dataclass(frozen=True)
class Account:
    """What the ledger knows about one body of records."""

    records: str
    theta: float
    alpha: float
    epsilon: float
    releases: int
    spent: int  # in parts of `takifugu.channels.gaussian.composition.WHOLE`

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
        return effective_theta(self.spent, budget=self.theta)

    @property
    def next_theta(self) -> float:
        """The least noise with which the answer may be published once more; infinite where it may not."""
        if self.is_finite:
            return math.inf
        return least_theta(WHOLE - self.spent, budget=self.theta)


class AnswerDigest:
    """A fingerprint of an answer, part by part: the same values in the same order, however they are cut."""

    def __init__(self, salt: bytes) -> None:
        """Start with no values."""
        self._digest = hashlib.blake2b(key=salt, digest_size=32, person=b"takifugu-answer")

    def update(self, values: Array) -> None:
        """Add the next values."""
        whole = np.ascontiguousarray(values, dtype="<f8") + 0.0  # one zero, not two
        self._digest.update(whole.tobytes())

    def hexdigest(self) -> str:
        """The fingerprint of all values so far."""
        return self._digest.hexdigest()


class Ledger:
    """A durable record of releases in one SQLite file, shared by any number of processes.

    Everything in the file is taken to be about the same records, unless `records` names them apart: then each
    name has its own account, and it is for you to know that they are different people. An account is opened
    by its first release. Its budget is `budget`, a calibration, or else the calibration of that first
    release. Further releases of the same answer are accepted while their precisions fit the budget; another
    answer about the same records is refused, as is a calibration for other beliefs or pairs. The file holds
    no answers and no priors, only keyed digests of them; still, keep it to yourself.
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

        A file that is not there is started, with a notice in the log, when something is first published; `new=False`
        refuses that, and `new=True` refuses a file that is there.
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

    def __repr__(self) -> str:
        """The file and the records."""
        return f"Ledger({str(self._file.path)!r}, records={self.records!r})"

    def account(self) -> Account | None:
        """What is known about the records; None before their first release."""
        if not self._file.exists():
            return None
        entries = self._file.read().entries
        opening = _opening(self.records, entries)
        return None if opening is None else _account(opening, entries)

    def answer_digest(self) -> AnswerDigest:
        """A new fingerprint, keyed with this ledger's own salt."""
        return AnswerDigest(self._file.read().salt)

    def loss(self, calibration: Calibration) -> float:
        """The exact divergence of all releases so far, for the worst belief and pair; 0 before the first.

        Of an answer that was published from a finite list the ledger knows the promise alone, and that is told.
        """
        return self._loss_at(calibration, extra=None)

    def loss_after(self, calibration: Calibration, *, theta: float | None = None) -> float:
        """What `loss` would be after one more release, with the calibration's noise or with `theta`."""
        if not isinstance(calibration.channel, GaussianNoise):
            if theta is not None:
                raise InputError("theta is for noise, and this channel publishes from a list: leave it out")
            return self._loss_at(calibration, extra=math.inf)
        return self._loss_at(calibration, extra=calibration.theta if theta is None else theta)

    def charge(
        self, answer: str, calibration: Calibration, *, theta: float | None, count: int, granularity: float
    ) -> Account:
        """Write a release down, or refuse it. Only what has been charged may be published.

        `answer` is the fingerprint of the values; `theta` the noise they will get, at least the calibrated
        one, and None for a finite channel, which adds none.
        """
        if theta is None:
            return self._charge(answer, calibration, math.inf, count, granularity)
        theta = float(theta)
        if not (math.isfinite(theta) and theta >= calibration.theta):
            raise BudgetError(
                f"theta={theta!r} is less noise than the {calibration.theta!r} that was calibrated: nothing "
                f"was released"
            )
        return self._charge(answer, calibration, theta, count, granularity)

    def _charge(self, answer: str, calibration: Calibration, theta: float, count: int, granularity: float) -> Account:
        with self._file.writing() as writer:
            salt, entries = writer.contents.salt, writer.contents.entries
            opening = _opening(self.records, entries)
            _refuse_other_names(self.records, answer, entries)
            if opening is None:
                opening = self._open(answer, calibration, salt)
                writer.append(opening)
                entries = (*entries, opening)
            self._require_same(opening, answer, calibration, salt)
            account = _account(opening, entries)
            cost = _affordable(account, theta)
            writer.append(
                {
                    "kind": "release",
                    "records": self.records,
                    "theta": theta.hex(),
                    "share": str(cost),
                    "count": count,
                    "granularity": granularity,
                    "mechanism": str(calibration.mechanism),
                    "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                }
            )
        return replace(account, releases=account.releases + 1, spent=account.spent + cost)

    def _open(self, answer: str, calibration: Calibration, salt: bytes) -> dict[str, Any]:
        budget = calibration if self.budget is None else self.budget
        return {"kind": "account", "records": self.records, "answer": answer, **_terms(budget, salt)}

    def _require_same(self, opening: dict[str, Any], answer: str, calibration: Calibration, salt: bytes) -> None:
        if self.budget is not None and not _terms(self.budget, salt).items() <= opening.items():
            alpha, epsilon = (float.fromhex(opening[name]) for name in ("alpha", "epsilon"))
            raise BudgetError(
                f"the budget of {self.records!r} was set by its first release to epsilon={epsilon:g} at "
                f"alpha={alpha:g}, and this one differs: nothing was released. Leave the budget out, or give the "
                f"same again"
            )
        if opening["answer"] != answer:
            raise CompositionError(
                f"another answer about {self.records!r} was published before. Two answers about the same records "
                f"do not compose: each may hide the secret while both together give it away, and only a joint "
                f"prior could tell. Nothing was released. Publish the first answer again (its precisions add), "
                f"or, if these are different records, give them a name of their own: Ledger(path, records=...)"
            )
        if opening["protection"] != protection(calibration, salt=salt):
            raise CompositionError(_OTHER_PROTECTION.format(records=self.records))

    def _loss_at(self, calibration: Calibration, *, extra: float | None) -> float:
        contents = self._file.read() if self._file.exists() else None
        opening = None if contents is None else _opening(self.records, contents.entries)
        if contents is None or opening is None:
            return 0.0 if extra is None else _worst_loss(calibration, theta=extra)
        if opening["protection"] != protection(calibration, salt=contents.salt):
            raise CompositionError(_OTHER_PROTECTION.format(records=self.records))
        account = _account(opening, contents.entries)
        if account.is_finite:
            if account.releases and extra is None:  # losses grow with the order, so the promise covers those below
                return account.epsilon if calibration.alpha <= account.alpha else math.inf
            return math.inf if account.releases else 0.0 if extra is None else _worst_loss(calibration, theta=extra)
        spent = account.spent + (0 if extra is None else share(extra, budget=account.theta))
        theta = effective_theta(spent, budget=account.theta)
        return 0.0 if math.isinf(theta) else _worst_loss(calibration, theta=theta)


_OTHER_PROTECTION = (
    "this calibration is for other beliefs or other pairs than the budget of {records!r}: what both releases tell "
    "together is bounded by neither. Nothing was released; calibrate with the priors and pairs of the budget"
)


def _worst_loss(calibration: Calibration, *, theta: float) -> float:
    finite = math.isinf(theta) and not isinstance(calibration.channel, GaussianNoise)
    channel = calibration.channel if finite else GaussianNoise(theta)
    return worst(calibration.problem, channel, alpha=calibration.alpha).loss


def _refuse_other_names(records: str, answer: str, entries: tuple[dict[str, Any], ...]) -> None:
    """One body of records has one name: another spelling, or the same values under it, would have a budget anew."""
    for entry in entries:
        if entry["kind"] != "account" or entry["records"] == records:
            continue
        if entry["answer"] == answer or _folded(entry["records"]) == _folded(records):
            raise CompositionError(
                f"this ledger knows these records as {entry['records']!r}, and not as {records!r}: a second name would "
                f"have a second budget for the same people. Nothing was released; use the first name"
            )


def _folded(records: str) -> str:
    return " ".join(records.split()).casefold()


def _opening(records: str, entries: tuple[dict[str, Any], ...]) -> dict[str, Any] | None:
    return next((e for e in entries if e["kind"] == "account" and e["records"] == records), None)


def _terms(budget: Calibration, salt: bytes) -> dict[str, str]:
    """What an account is opened with, apart from its name and its answer."""
    promised = "rpp" if isinstance(budget.guarantee, Renyi) else "approximate"
    theta = budget.theta if isinstance(budget.channel, GaussianNoise) else math.inf
    numbers = {"theta": theta.hex(), "alpha": float(budget.alpha).hex(), "epsilon": float(budget.epsilon).hex()}
    return {"protection": protection(budget, salt=salt), "guarantee": promised, **numbers}


def _account(opening: dict[str, Any], entries: tuple[dict[str, Any], ...]) -> Account:
    records = opening["records"]
    shares = [int(e["share"]) for e in entries if e["kind"] == "release" and e["records"] == records]
    theta, alpha, epsilon = (float.fromhex(opening[name]) for name in ("theta", "alpha", "epsilon"))
    return Account(records, theta, alpha, epsilon, len(shares), sum(shares))


def _affordable(account: Account, theta: float) -> int:
    """The share of a release with this noise, or a refusal that says what would fit."""
    if account.is_finite:
        if account.releases == 0:
            return WHOLE
        raise BudgetError(
            f"{account.records!r} were published before, through a channel from a finite list. Such an answer is "
            f"published once: two draws of it tell more than one. Nothing was released; to publish more about these "
            f"people, calibrate one joint answer, such as Row of all the columns, before anything is published"
        )
    if theta > 0 or account.theta == 0:
        cost = share(theta, budget=account.theta)
        if account.spent + cost <= WHOLE:
            return cost
    if account.spent >= WHOLE:
        advice = "the budget is spent: publish nothing more about these records"
    else:
        advice = f"what is left allows theta={account.next_theta!r} or more"
    raise BudgetError(
        f"a release with theta={theta!r} would exceed the budget of {account.records!r} (alpha={account.alpha:g}, "
        f"epsilon={account.epsilon:g}), of which {account.fraction_spent:.4%} is spent by {account.releases} "
        f"releases. Nothing was released; {advice}"
    )
