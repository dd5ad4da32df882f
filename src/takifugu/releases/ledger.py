"""The ledger: which records were published, what that cost, and what may still be."""

import copy
import datetime
import hmac
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from takifugu._validation import Array, one_of
from takifugu.calibration import Calibration
from takifugu.channels import Channel
from takifugu.errors import BudgetError, CompositionError, InputError, LedgerError, PublishedOnceError
from takifugu.mechanisms import closest
from takifugu.problems import REPEATS, Diagnostic, Guarantee, require_total
from takifugu.releases.accounts import (
    AnyAccount,
    Shown,
    account_of,
    evidence_state,
    kept_by,
    noise_text,
    opening_of,
    protection,
    released,
    require_as_sure,
    require_within,
    secrets_hidden,
    shown_accounts,
    terms_of,
    total_text,
    with_theta,
)
from takifugu.releases.ledger_file import LedgerFile, Reader, digest_of
from takifugu.releases.records import (
    Hashes,
    Identity,
    Reappearance,
    Recognition,
    overlap,
    reappearance,
    require_id,
    require_one_row,
    unknown_rows,
)
from takifugu.releases.total_account import INDEPENDENT, TotalAccount

Entries = tuple[dict[str, Any], ...]


class Ledger:
    """A durable record of releases in one SQLite file, shared by any number of processes. Keep one for a project.

    It holds keyed hashes of the records that were published, by an id or by all that was read of them, and so knows
    them again in a file that was renamed, sorted anew or appended to. Every batch of records has an account of its own:
    its budget is `budget`, a calibration, or else the calibration of its first release. Further releases of the same
    answer about the very same records are accepted while their precisions fit the budget; another answer about them, or
    a table with some of them among others, is refused. Records that are all new open an account of their own. The file
    holds no answers, no priors and no values; still, keep it to yourself, since it holds its key too.

    With a guarantee as its `budget`, an account has a total. Every release about its records then has a price, and
    their sum stays within the total: the first costs what it guarantees itself, the same answer again within the same
    noise nothing, an answer that is `independent` of all others what it guarantees, and any other its local price, the
    most that two true values can be told apart by what is published for them. What has none is refused.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        id: str | None = None,
        new_people: bool = False,
        repeats: str = "refuse",
        budget: Calibration | Guarantee | None = None,
        independent: bool = False,
        only_new: bool = False,
        new: bool | None = None,
    ) -> None:
        """Name the file; nothing is opened yet.

        Args:
            path: the file. One that is not there is started, with a notice in the log, when something is first
                published.
            id: the column that tells people apart; by default that by which the ledger knows records already, and where
                there is none, all columns that are read.
            new_people: your word that nobody in what is released was published before, where that cannot be seen; it is
                written down. An id that the ledger knows is refused all the same, and so is a table that plainly has
                the records of an earlier release: exactly its rows; or, where at least 20 records occurred once in
                that release, all of its rows, or more than half of those records once again.
            repeats: what to do with an id of several rows: "refuse", since the guarantee is about one, or take your
                word that the rows of a person are "independent" given the secret.
            budget: what the accounts opened through this object may spend: a calibration, whose noise is then shared
                out among releases of one answer; or a guarantee, such as `Odds(9)`, that all releases about the same
                records keep together.
            independent: of an account with a total, your word that what is published is independent, given the secret,
                of all that was published about these records; it is written down.
            only_new: `publish` leaves out the records that the ledger knows; without an id, of a table to which rows
                were appended.
            new: False never starts a file; True always does, and refuses one that is there.

        Raises:
            InputError: for a budget that is none, an unknown word, and `only_new` with `new_people`.

        >>> Ledger("project.ledger", id="person").id
        'person'
        """
        allowed: Any = budget
        self.total: Guarantee | None = allowed if hasattr(budget, "parts") else None
        self.budget: Calibration | None = None if self.total is not None else allowed
        if self.budget is not None and not isinstance(budget, Calibration):
            raise InputError(f"budget must be a Calibration, or a guarantee such as Odds(9), got {budget!r}")
        if self.total is not None:
            require_total(self.total)
        self.independent = independent
        self.id = id
        self.new_people = new_people
        self.only_new = only_new
        if only_new and new_people:
            raise InputError(
                "only_new leaves out who was published before, and new_people says that nobody was: give one"
            )
        one_of("repeats", repeats, REPEATS)
        self.repeats = repeats
        self._file = LedgerFile(path, new=new)
        self._cleared: int | None = None  # how many entries there were when the rows to come were found to be new

    def about(self, id: str | None = None, *, repeats: str = "refuse") -> "Ledger":
        """The same ledger, for a release of people who are told apart in this way.

        Args:
            id: the column by which people are told apart in this release; the ledger's own where left out.
            repeats: what to do with an id of several rows, "refuse" or "independent"; see `Ledger`.

        Returns:
            A ledger on the same file; this one does not change.
        """
        made = copy.copy(self)
        made.id = self.id if id is None else id
        made.repeats = self.repeats if repeats == "refuse" else repeats
        made._cleared = None
        return made

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._file.path

    def __repr__(self) -> str:
        """The file."""
        return f"Ledger({str(self._file.path)!r})"

    def accounts(self) -> tuple[Shown, ...]:
        """Every account in the file, in order: whose records, under which guarantee, and how much of it is spent.

        Accounts of other people stand beside one another and do not add up; releases about the same records share one,
        where they add up, and are refused where nobody knows that they do.

        Returns:
            A tuple; each has `records`, `kept`, `releases`, `spent`, `last`, and a `sentence`.
        """
        if not self._file.exists():
            self._file.require_expected()
            return ()
        return shown_accounts(self._file.read().entries)

    def account(self) -> AnyAccount | None:
        """The account of the records that were published last; None before the first release.

        Returns:
            What those people have published, and under which guarantee.
        """
        if not self._file.exists():
            self._file.require_expected()
            return None
        entries = _published(self._file.read().entries)
        return account_of(opening_of(entries, entries[-1]["account"]), entries) if entries else None

    def recognise(self, read: Sequence[str], available: Sequence[str], answer: Sequence[str] = ()) -> Recognition:
        """What will know the rows of a table: show it all that are to be published, and give it to `charge`.

        Args:
            read: the columns that are read of each row, by which it is known where there is no id.
            available: the columns that the table has.
            answer: the columns that are published.
        """
        entries: Entries = self._file.read().entries if self._file.exists() else ()
        known = list(dict.fromkeys(one for kind in ("account", "counts") for _, one, _ in _batches(entries, kind)))
        there = [one for one in known if one.columns and set(one.columns) <= set(available)]
        own = next((one for one in there if one.is_id), Identity.of_content(read, available))
        own = own if self.id is None else require_id(self.id, available)
        # Where nothing may be published in the end no ledger is left behind: its key is made ahead of it.
        return Recognition(self._file.salt_ahead(), own, there, answer)

    def recognise_values(self, values: Array) -> Recognition:
        """The same for numbers of which no rows are seen, such as an array, or the mean of a group.

        Args:
            values: what is to be published, before noise.

        Returns:
            Keyed hashes, by which `charge` knows the same numbers again. Nobody can read the numbers from the file.
        """
        found = Recognition(self._file.salt_ahead(), Identity())
        found.look_at_values(values)
        return found

    def known_rows(self, rows: Recognition) -> int:
        """How many of these rows the ledger knows, by whatever it can hold them against; private counts of them too.

        Args:
            rows: as `recognise` gave them.

        Returns:
            A number of rows, without writing anything.
        """
        if not self._file.exists():
            return 0
        with self._file.reading() as reader:
            both = chain.from_iterable(self._overlaps(reader, rows, kind) for kind in ("account", "counts"))
            found = [one.rows for identity, one in both if identity.is_id or not self.new_people]
            if self.new_people:
                found += [one.rows for kind in ("account", "counts") for one in self._plain(reader, rows, kind)]
        return max(found, default=0)

    def of_new_people(self, rows: Recognition) -> list[Diagnostic]:
        """What rests on the word that nobody was published before, once `refuse_known` let the rows pass.

        Args:
            rows: as `recognise` gave them.

        Returns:
            A remark where records agree with published ones, or cannot be held against them; none where the word is not
            needed, or was not given.
        """
        if not (self.new_people and rows.own.columns and self._file.exists()):
            return []
        with self._file.reading() as reader:
            both = chain.from_iterable(self._overlaps(reader, rows, kind) for kind in ("account", "counts"))
            agree = max((one.rows for identity, one in both if not identity.is_id), default=0)
            known = [one for kind in ("account", "counts") for _, one, _ in _batches(reader.contents.entries, kind)]
        unseen = any(not one.columns or one not in rows.identities for one in known)
        if not agree and not unseen:
            return []
        return [Diagnostic("stated-new", rows=agree, of=len(rows.hashes(rows.own)), unseen=unseen)]

    def refuse_known(self, rows: Recognition) -> None:
        """Before hours of work for a channel: refuse a table that may not be released through one, and stated alone.

        Args:
            rows: as `recognise` gave them.

        Raises:
            CompositionError: where a record among them has been published already, so that a channel found for them
                could not be used.
        """
        if self.total is not None:
            raise CompositionError(_STATED_ALONE)
        if not self._file.exists():
            self._file.require_expected()
            return
        with self._file.reading() as reader:
            entries = reader.contents.entries
            opening = self._opening(reader, rows)
        if opening is not None:
            if "total" in opening:
                raise CompositionError(_STATED_ALONE)
            account: Any = account_of(opening, entries)
            account.charged({"theta": math.inf.hex()})

    def new_rows(self, rows: Recognition) -> "Any":
        """Which of the rows are not known yet: those may be published, and `charge` then takes them for new.

        Without an id it must be seen that the table has all that was published, and more: of rows that are alike
        nobody can tell otherwise which are new.

        Args:
            rows: as `recognise` gave them.

        Returns:
            A mask of the rows.

        Raises:
            CompositionError: where it cannot be told which rows are new.
            PublishedOnceError: where none are.
        """
        if not self._file.exists():
            self._file.require_expected()
            return unknown_rows(rows.hashes(rows.own), (), by_id=rows.own.is_id)
        with self._file.reading() as reader:
            batches = list(_batches(reader.contents.entries))
            if any(identity != rows.own for _, identity, _ in batches):
                raise CompositionError(_NOT_BY_THIS.format(words=rows.own.words))
            parts = [(account, digest) for account, _, digest in batches]

            def stored() -> Iterable[Hashes]:
                return chain.from_iterable(reader.records(*one) for one in parts)

            by_id = rows.own.is_id
            if not by_id and not overlap(np.sort(rows.hashes(rows.own)), stored(), by_id=False).is_whole:
                raise CompositionError(_NOT_APPENDED.format(words=rows.own.words))
            found = unknown_rows(rows.hashes(rows.own), stored(), by_id=by_id)
            self._cleared = None if by_id else len(reader.contents.entries)
        if not found.any():
            raise PublishedOnceError(
                "all rows of this table were published before, and only those that were not are to be: nothing was "
                "released"
            )
        return found

    def loss(self, calibration: Calibration) -> float:
        """The exact divergence of all releases so far, for the worst belief and pair; 0 before the first.

        Args:
            calibration: whose priors, pairs and divergence the loss is about.

        Returns:
            The loss of the one release that all releases so far are worth, in floats (proofs/ledger.md).
        """
        return self._loss_at(calibration, extra=None)

    def loss_after(self, calibration: Calibration, *, theta: float | None = None) -> float:
        """What `loss` would be after one more release, with the calibration's noise or with `theta`.

        Args:
            calibration: of the next release.
            theta: its noise, where that is not the calibration's own.

        Returns:
            The loss in floats. Nothing is written down.
        """
        return self._loss_at(calibration, extra=with_theta(calibration.channel, theta))

    def charge(
        self,
        rows: Recognition,
        calibration: Calibration,
        *,
        through: Channel | None = None,
        count: int,
        granularity: float,
    ) -> AnyAccount:
        """Write a release down, or refuse it. Only what has been charged may be published.

        `rows` has seen what is published. They are drawn `through` the calibrated channel, or one that adds more noise.

        The file is locked while the account is read, checked and written, so that two processes cannot spend the same
        budget.

        Args:
            rows: who has seen what is to be published.
            calibration: its calibration.
            through: the channel that is really used, where that adds more noise.
            count: how many rows are published.
            granularity: the multiples on which published numbers lie.

        Returns:
            The account after the release.

        Raises:
            BudgetError: where the records have no budget left for it.
            CompositionError: where they were published in a way that does not compose with this.
            PublishedOnceError: where the same answer may be published once only, and was.
        """
        noise = noise_text(calibration, calibration.channel if through is None else through)
        with self._file.writing() as writer:
            salt, entries = writer.contents.salt, writer.contents.entries
            self._require_paid(writer, rows, calibration)
            ordered = rows.in_order(rows.own)
            is_private = calibration.answer is not None and calibration.answer.private > 0
            require_one_row(rows.own, ordered, "refuse" if is_private else self.repeats)
            batch: dict[str, Any] = {
                "by": {"columns": list(rows.own.columns), "id": rows.own.is_id},
                "rows": len(ordered),
                "records": _digest(rows, ordered),
            }
            protects = protection(calibration.problem, salt=salt)
            opening = self._opening(writer, rows)
            if opening is None:
                is_group = calibration.answer is not None and not calibration.answer.is_of_rows
                if is_group and any(entry.get("group") for entry in entries):
                    raise CompositionError(_ANOTHER_GROUP)  # whoever they are: what is hidden is which group it is
                number = len(entries) + 1
                terms = terms_of(calibration if self.budget is None else self.budget, salt)
                opening = {"kind": "account", "account": number, "answer": rows.answer(), **batch, **terms}
                opening |= {"new_people": True} if self.new_people else {}
                opening |= {"group": True} if is_group else {}
                if self.total is not None:
                    opening |= {
                        "total": total_text(self.total),
                        "secrets": secrets_hidden(calibration.problem, salt=salt),
                        "evidence": evidence_state(calibration),
                    }
                writer.add_records(number, ordered)
                writer.append(opening)
            _require_as_strong(opening, calibration)
            require_within(self.budget, calibration)
            number = opening["account"]
            account: AnyAccount
            before: Any = account_of(opening, entries)
            if "total" in opening:
                earlier = [opening, *released(entries, number)]
                account, cost = self._charged_to_total(before, earlier, rows, calibration, noise, salt)
                if cost["rule"] == INDEPENDENT:
                    require_as_sure(opening, calibration)
                cost |= {"answer": rows.answer()}
            else:
                self._require_same(opening, protects, salt)
                account, cost = before.charged(noise)
            writer.append(
                {
                    "kind": "release",
                    "account": number,
                    **cost,
                    "count": count,
                    "granularity": granularity,
                    "mechanism": str(calibration.mechanism),
                    "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                }
            )
        return account

    def charge_counts(self, rows: Recognition, epsilon: float) -> None:
        """Write down whose private counts are about to be drawn, or refuse: fresh noise would cost its epsilon again.

        Calibrations from one file of counts are free, and are published like any other.

        Args:
            rows: whose counts they are.
            epsilon: what the counts cost.

        Raises:
            PublishedOnceError: where counts of some of these rows were drawn before.
        """
        with self._file.writing() as writer:
            entries = writer.contents.entries
            if found := self._counted(writer, rows)[0]:
                raise PublishedOnceError(_COUNTED.format(rows=found, words=rows.own.words))
            self._require_new(writer, rows)
            number, ordered = len(entries) + 1, rows.in_order(rows.own)
            writer.add_records(number, ordered)
            writer.append(
                {
                    "kind": "counts",
                    "account": number,
                    "by": {"columns": list(rows.own.columns), "id": rows.own.is_id},
                    "rows": len(ordered),
                    "records": digest_of(ordered),
                    "epsilon": epsilon,
                    "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                }
            )

    def _require_paid(self, reader: Reader, rows: Recognition, calibration: Calibration) -> None:
        """Refuse rows whose private counts cost more than the total of this calibration has room for.

        The counts need not be those that the channel was fitted to: of other people's it is no function of these rows.
        """
        found, epsilon = self._counted(reader, rows)
        room = 0.0 if calibration.answer is None else calibration.answer.private
        if found and epsilon > room:
            raise CompositionError((_DEARER if room else _PLAIN).format(rows=found, epsilon=epsilon, room=room))

    def _counted(self, reader: Reader, rows: Recognition) -> tuple[int, float]:
        """How many of these rows are in private counts that were drawn, and at most with which epsilon."""
        entries = reader.contents.entries
        known = list(_batches(entries, kind="counts"))
        if any(one not in rows.identities for _, one, _ in known) and not self.new_people:
            raise CompositionError(_NOT_COMPARABLE.format(words=known[0][1].words))
        overlaps = self._overlaps(reader, rows, "counts")
        found = max((one.rows for identity, one in overlaps if identity.is_id or not self.new_people), default=0)
        if self.new_people:  # a word that is heeded, but not against plain evidence
            found = max((one.rows for one in self._plain(reader, rows, "counts")), default=found)
        return found, max((entry["epsilon"] for entry in entries if entry["kind"] == "counts"), default=0.0)

    def _opening(self, reader: Reader, rows: Recognition) -> dict[str, Any] | None:
        """The account of these very records; None where all of them are new; an error for anything between."""
        entries, digest = reader.contents.entries, _digest(rows, rows.in_order(rows.own))
        if self._cleared is not None:
            if self._cleared != len(entries):
                raise LedgerError(
                    f"the ledger {self.path} was written by another process meanwhile: nothing was released; try again"
                )
            return None
        for entry in entries:
            if "total" in entry and _is_known_batch(entry, rows):
                return entry
            if entry["kind"] == "account" and _is_batch(entry, rows.own, digest):
                if not hmac.compare_digest(entry["answer"], rows.answer()):
                    raise _another(account_of(entry, entries))
                return entry
        self._require_new(reader, rows)
        return None

    def _require_new(self, reader: Reader, rows: Recognition) -> None:
        for identity, found in self._overlaps(reader, rows):
            if not found.rows:
                continue
            total = len(rows.hashes(identity))
            if identity.is_id:
                raise PublishedOnceError(_SAME_IDS.format(rows=found.rows, total=total, words=identity.words))
            how = {"rows": found.rows, "total": total, "words": identity.words}
            if plain := next(self._plain(reader, rows, only=identity), None):
                raise PublishedOnceError(_PLAINLY_SAME.format(**how, why=plain.sentence, advice=plain.advice))
            if not self.new_people:
                raise PublishedOnceError(_SAME_VALUES.format(**how))
        entries = _published(reader.contents.entries)
        unseen = [one for _, one, _ in _batches(entries) if not one.columns or one not in rows.identities]
        if self.new_people or not (unseen or (entries and not rows.own.columns)):
            return
        if not rows.own.columns:
            raise _another(account_of(opening_of(entries, entries[-1]["account"]), entries))
        words = "the numbers themselves" if not unseen[0].columns else unseen[0].words
        raise CompositionError(_NOT_COMPARABLE.format(words=words))

    def _plain(
        self, reader: Reader, rows: Recognition, kind: str = "account", *, only: Identity | None = None
    ) -> "Iterator[Reappearance]":
        """What these rows plainly have of each earlier batch, by the values of columns, whatever is stated."""
        for account, identity, digest in _batches(reader.contents.entries, kind):
            if (
                identity.is_id
                or not identity.columns
                or identity not in rows.identities
                or only not in (None, identity)
            ):
                continue
            found = reappearance(rows.in_order(identity), reader.records(account, digest))
            if found.is_plain:
                yield found

    def _overlaps(self, reader: Reader, rows: Recognition, kind: str = "account") -> "Iterable[tuple[Identity, Any]]":
        """What the ledger knows of these rows, by each identity that both have."""
        batches = list(_batches(reader.contents.entries, kind))
        for identity in rows.identities:
            accounts = [(account, digest) for account, one, digest in batches if one == identity and one.columns]
            if accounts:
                stored = chain.from_iterable(reader.records(*one) for one in accounts)
                yield identity, overlap(rows.in_order(identity), stored, by_id=identity.is_id)

    def _charged_to_total(
        self,
        account: TotalAccount,
        earlier: list[dict[str, Any]],
        rows: Recognition,
        calibration: Calibration,
        noise: dict[str, str],
        salt: bytes,
    ) -> tuple[TotalAccount, dict[str, Any]]:
        """The account of a total after this release: of these very records and secrets, whatever the answer."""
        opening = earlier[0]
        if self.budget is not None or (self.total is not None and total_text(self.total) != opening["total"]):
            raise BudgetError(_OTHER_BUDGET.format(kept=kept_by(opening)))
        if opening["secrets"] != secrets_hidden(calibration.problem, salt=salt):
            raise CompositionError(_OTHER_SECRETS)
        answer = calibration.answer
        if answer is not None and (answer.private or not answer.is_of_rows):
            raise CompositionError(_NOT_OF_ROWS)
        # What is kept tells beside all answers: the first price is for whoever knows it, or for nobody who reads it.
        known = () if answer is None or account.releases else answer.known
        if strange := [name for name in rows.kept if name not in known]:
            raise CompositionError(_KEPT.format(columns=", ".join(map(repr, strange))))
        is_same = hmac.compare_digest(opening["answer"], rows.answer())
        return account.charged(
            calibration,
            noise,
            is_first_answer=is_same and opening["protection"] == protection(calibration.problem, salt=salt),
            # Whatever anybody's word is, an answer is not independent of itself.
            is_independent=self.independent
            and not any(hmac.compare_digest(one["answer"], rows.answer()) for one in earlier),
        )

    def _require_same(self, opening: dict[str, Any], protects: str, salt: bytes) -> None:
        other = self.budget is not None and not terms_of(self.budget, salt).items() <= opening.items()
        if other or self.total is not None:
            raise BudgetError(_OTHER_BUDGET.format(kept=kept_by(opening)))
        if opening["protection"] != protects:
            raise CompositionError(_OTHER_PROTECTION)

    def _loss_at(self, calibration: Calibration, *, extra: Channel | None) -> float:
        contents = self._file.read() if self._file.exists() else None
        if contents is None or not (entries := _published(contents.entries)):
            return _worst_loss(calibration, extra)
        opening = opening_of(entries, entries[-1]["account"])
        account = account_of(opening, contents.entries)
        if opening["protection"] != protection(calibration.problem, salt=contents.salt):
            raise CompositionError(_OTHER_PROTECTION)
        return _worst_loss(calibration, account.together(extra, calibration.channel))


def _published(entries: Entries) -> Entries:
    """All that is about publications, and not about private counts."""
    return tuple(entry for entry in entries if entry["kind"] != "counts")


def _batches(entries: Entries, kind: str = "account") -> Iterable[tuple[int, Identity, str]]:
    """Each batch of records that were published: its account, by what they are known, and the digest of their hashes.

    Of those that private counts were drawn of with the kind "counts".
    """
    for entry in entries:
        if "records" in entry and (entry["kind"] == "counts") == (kind == "counts"):
            yield entry["account"], Identity(tuple(entry["by"]["columns"]), entry["by"]["id"]), entry["records"]


def _digest(rows: Recognition, ordered: Hashes) -> str:
    return digest_of(ordered) if rows.own.columns else rows.answer()


def _is_batch(entry: dict[str, Any], own: Identity, digest: str) -> bool:
    """Whether the records of an entry are these, all of them and no other."""
    known_by = entry.get("by")
    same = known_by is not None and (tuple(known_by["columns"]), known_by["id"]) == (own.columns, own.is_id)
    return same and hmac.compare_digest(entry["records"], digest)


def _is_known_batch(entry: dict[str, Any], rows: Recognition) -> bool:
    """Whether the records of an entry are these, by whatever it knows its own by, which another answer may not read."""
    known_by = Identity(tuple(entry["by"]["columns"]), entry["by"]["id"])
    if not known_by.columns or known_by not in rows.identities:
        return _is_batch(entry, rows.own, _digest(rows, rows.in_order(rows.own)))
    return hmac.compare_digest(entry["records"], digest_of(rows.in_order(known_by)))


def _another(account: AnyAccount) -> LedgerError:
    """The refusal of another answer than that of an account, which is there to be published again or is not."""
    advice = "publish the first answer again, since precisions add up"
    if not account.may_go_on:
        advice = "nothing more can be published about these records"
    text = _ANOTHER.format(advice=advice)
    return PublishedOnceError(text) if account.is_finite else CompositionError(text)


_ANOTHER = (
    "another answer about these records was published before, or one about records that cannot be told from them. Two "
    "answers about the same records do not compose: each may hide the secret while both together give it away, and "
    "only a joint prior could tell. Nothing was released; {advice}. If these are other people, say so with "
    "Ledger(..., new_people=True)"
)
_COUNTED = (
    "private counts of {rows:,} of these rows were drawn before (by {words}): fresh noise about them would cost its "
    "epsilon once more, and what was stated would be wrong. Nothing was drawn; use the counts that were saved, from "
    "which any calibration is free"
)
_PLAIN = (
    "private counts of {rows:,} of these rows were drawn, and this calibration is not made of private counts: what was "
    "stated for an adversary who knows every other row would not hold. Nothing was released; calibrate from the "
    "saved counts"
)
_DEARER = (
    "private counts of {rows:,} of these rows were drawn with epsilon = {epsilon:g}, and the total that this "
    "calibration states has room for {room:g}: it would not hold. Nothing was released; calibrate from the saved counts"
)
_SAME_IDS = (
    "{rows:,} of {total:,} rows are of people whose records were published before ({words}): two releases about one "
    "person reveal more than one. Nothing was released; publish the others alone with Ledger(..., only_new=True). If "
    "the ids of other people are the same, give them a ledger of their own"
)
_SAME_VALUES = (
    "{rows:,} of {total:,} rows agree in {words} with rows that were published before: they are the same records, or "
    "alike by chance, which cannot be decided without an id. Nothing was released; name a column that identifies "
    "people with id=, publish with Ledger(..., only_new=True) what was appended since, or, if nobody in this table was "
    "published before, say so with Ledger(..., new_people=True)"
)
_PLAINLY_SAME = (
    "{rows:,} of {total:,} rows agree in {words} with rows that were published before, and {why}: these are the same "
    "records, whatever is stated. Nothing was released; {advice}"
)
_NOT_COMPARABLE = (
    "this ledger knows records by {words}, which this table does not have: whether the same people were published "
    "before cannot be seen. Nothing was released; give a table with these columns, or, if nobody in it was published "
    "before, say so with Ledger(..., new_people=True)"
)
_NOT_BY_THIS = (
    "only_new needs records that the ledger knows by {words}, and it knows some in another way: which rows are new "
    "cannot be decided. Nothing was released; publish a table of the new rows alone"
)
_NOT_APPENDED = (
    "without an id only_new is for a table to which rows were appended, and this one lacks some that were published: "
    "by {words} alone it cannot be decided which rows are new. Nothing was released; name a column that identifies "
    "people with id=, or publish a table of the new people alone with Ledger(..., new_people=True)"
)
_ANOTHER_GROUP = (
    "a number about one group was published with this ledger. A second one, of another group or of the same, tells "
    "together with it which group is which, whoever the people are: nothing was released. Publish rows instead, or the "
    "very same number again"
)
_OTHER_BUDGET = (
    "the budget of these records was set by their first release to {kept}, and this one differs: nothing was released. "
    "Leave the budget out, or give the same again"
)
_STATED_ALONE = (
    "publish states what one publication tells by itself, and these records have a total, of which it is a part: "
    "nothing was released. Use calibrate and release with this ledger, and state its total"
)
_OTHER_SECRETS = (
    "the total of these records is about other secrets or other pairs: what this release and the earlier ones tell "
    "together about either is bounded by none of them. Nothing was released; calibrate for the same secrets and pairs"
)
_NOT_OF_ROWS = (
    "a total adds up releases of rows, from calibrations that are not made of private counts: how others add up is not "
    "known. Nothing was released"
)
_KEPT = (
    "{columns} would be handed over as it is, and the first price of this total is not for whoever has read that: all "
    "releases together may tell more than the total. Nothing was released; leave keep out, or keep the columns in the "
    "first release of these records, from priors that name them as known"
)
_OTHER_PROTECTION = (
    "this calibration is for other beliefs or other pairs than the budget of these records: what both releases tell "
    "together is bounded by neither. Nothing was released; calibrate with the priors and pairs of the budget"
)


def _require_as_strong(opening: dict[str, Any], calibration: Calibration) -> None:
    """Refuse the name of a full guarantee for what a budget of a weaker one allows."""
    if opening.get("guarantee") == "approximate" and calibration.guarantee.is_provable:
        raise CompositionError(
            "the budget of these records was set under a weaker guarantee, which says nothing for a share of the "
            "cases, and this calibration makes the full one: nothing was released. Give a budget of the full guarantee "
            "to a new ledger, or publish with a calibration of the weaker one"
        )


def _worst_loss(calibration: Calibration, channel: Channel | None) -> float:
    return 0.0 if channel is None else closest(calibration.problem, channel, calibration.guarantee).loss
