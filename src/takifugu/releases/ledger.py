"""The ledger: what was published about which records, what that cost, and what may still be."""

import datetime
import math
import os
from pathlib import Path
from typing import Any

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.base import Channel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.vector import GaussianVector
from takifugu.errors import BudgetError, CompositionError, InputError
from takifugu.mechanisms.worst import worst
from takifugu.problems.guarantee import Renyi
from takifugu.releases.accounts import Account, VectorAccount, account_of, noise_text
from takifugu.releases.fingerprints import AnswerDigest, tells_alone
from takifugu.releases.ledger_file import LedgerFile
from takifugu.releases.names import skeleton
from takifugu.releases.protection import protection


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

    def __repr__(self) -> str:
        """The file and the records."""
        return f"Ledger({str(self._file.path)!r}, records={self.records!r})"

    def watch(self, *files: str | os.PathLike[str]) -> None:
        """Leave a mark beside these files with the next release; where one lies, no new ledger is started unasked."""
        self._file.marked = tuple(dict.fromkeys([*self._file.marked, *map(Path, files)]))

    def account(self) -> Account | VectorAccount | None:
        """What is known about the records; None before their first release."""
        if not self._file.exists():
            self._file.require_expected()
            return None
        entries = self._file.read().entries
        opening = _opening(self.records, entries)
        return None if opening is None else account_of(opening, entries)

    def answer_digest(self) -> AnswerDigest:
        """A new fingerprint, keyed with this ledger's own salt."""
        return AnswerDigest(self._file.read().salt)

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
    ) -> Account | VectorAccount:
        """Write a release down, or refuse it. Only what has been charged may be published.

        `answer` is the fingerprint of the values, `unordered` that of the same values in any order. The noise they will
        get, at least the calibrated one, is `theta` for numbers and `covariance` for vectors; a finite channel adds
        none.
        """
        noise = noise_text(calibration, theta=theta, covariance=covariance)
        with self._file.writing() as writer:
            salt, entries = writer.contents.salt, writer.contents.entries
            opening = _opening(self.records, entries)
            protects = protection(calibration, salt=salt)
            for entry in entries:
                if entry["kind"] == "account" and entry["records"] != self.records:
                    _refuse_other_name(self.records, entry, same=_is_same(entry, answer, unordered, protects))
            if opening is None:
                opening = self._open(answer, calibration, salt) | ({"unordered": unordered} if unordered else {})
                writer.append(opening)
                entries = (*entries, opening)
            self._require_same(opening, answer, unordered, protects, salt)
            account, cost = account_of(opening, entries).charged(noise)
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

    def _open(self, answer: str, calibration: Calibration, salt: bytes) -> dict[str, Any]:
        budget = calibration if self.budget is None else self.budget
        return {"kind": "account", "records": self.records, "answer": answer, **_terms(budget, salt)}

    def _require_same(self, opening: dict[str, Any], answer: str, unordered: str, protects: str, salt: bytes) -> None:
        if self.budget is not None and not _terms(self.budget, salt).items() <= opening.items():
            alpha, epsilon = (float.fromhex(opening[name]) for name in ("alpha", "epsilon"))
            raise BudgetError(
                f"the budget of {self.records!r} was set by its first release to epsilon = {epsilon:g} at "
                f"alpha = {alpha:g}, and this one differs: nothing was released. Leave the budget out, or give the "
                f"same again"
            )
        if opening["answer"] != answer:
            moved = _is_same(opening, answer, unordered, protects)
            raise CompositionError(_moved(self.records) if moved else _another(self.records, opening))
        if opening["protection"] != protects:
            raise CompositionError(_OTHER_PROTECTION.format(records=self.records))

    def _loss_at(self, calibration: Calibration, *, extra: Channel | None) -> float:
        contents = self._file.read() if self._file.exists() else None
        opening = None if contents is None else _opening(self.records, contents.entries)
        if contents is None or opening is None:
            return _worst_loss(calibration, extra)
        if opening["protection"] != protection(calibration, salt=contents.salt):
            raise CompositionError(_OTHER_PROTECTION.format(records=self.records))
        return _worst_loss(calibration, account_of(opening, contents.entries).together(extra))


_OTHER_PROTECTION = (
    "this calibration is for other beliefs or other pairs than the budget of {records!r}: what both releases tell "
    "together is bounded by neither. Nothing was released; calibrate with the priors and pairs of the budget"
)


def _worst_loss(calibration: Calibration, channel: Channel | None) -> float:
    return 0.0 if channel is None else worst(calibration.problem, channel, alpha=calibration.alpha).loss


def _is_same(entry: dict[str, Any], answer: str, unordered: str, protects: str) -> bool:
    """Whether an account is about this very answer, in whatever order its rows now stand."""
    if entry["answer"] == answer:
        return True
    alike = bool(unordered) and entry.get("unordered") == unordered
    return alike and (tells_alone(unordered) or entry["protection"] == protects)


def _refuse_other_name(records: str, entry: dict[str, Any], *, same: bool) -> None:
    """One body of records has one name: another spelling, or the same values under it, would have a budget anew."""
    if same or skeleton(entry["records"]) == skeleton(records):
        raise CompositionError(
            f"this ledger knows these records as {entry['records']!r}, and not as {records!r}: a second name would "
            f"have a second budget for the same people. Nothing was released; use the first name"
        )


def _moved(records: str) -> str:
    return (
        f"these values of {records!r} were published before, in another order, and whether each row is the same "
        f"person's cannot be seen. Nothing was released; give the rows in their first order"
    )


def _another(records: str, opening: dict[str, Any]) -> str:
    once = math.isinf(float.fromhex(opening["theta"])) and "covariance" not in opening
    again = "" if once else "publish the first answer again, since precisions add up; or, "
    return (
        f"another answer about {records!r} was published before. Two answers about the same records do not compose: "
        f"each may hide the secret while both together give it away, and only a joint prior could tell. Nothing was "
        f"released; {again}if these are different records, give them a name of their own with records="
    )


def _opening(records: str, entries: tuple[dict[str, Any], ...]) -> dict[str, Any] | None:
    return next((e for e in entries if e["kind"] == "account" and e["records"] == records), None)


def _terms(budget: Calibration, salt: bytes) -> dict[str, str]:
    """What an account is opened with, apart from its name and its answer."""
    promised = "rpp" if isinstance(budget.guarantee, Renyi) else "approximate"
    numbers = {"alpha": float(budget.alpha).hex(), "epsilon": float(budget.epsilon).hex()}
    noise = noise_text(budget, **_calibrated(budget.channel))
    return {"protection": protection(budget, salt=salt), "guarantee": promised, **noise, **numbers}


def _calibrated(channel: Channel) -> dict[str, Any]:
    if isinstance(channel, GaussianNoise):
        return {"theta": channel.theta}
    return {"covariance": channel.covariance} if isinstance(channel, GaussianVector) else {}
