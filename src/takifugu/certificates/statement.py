"""The statement that goes with a published table: what may be told to anybody, and what it does not guarantee.

All but what it calls the publisher's word (the date, the number of rows, which file it is) follows from the
certificate. Where that may be public it is part of the statement, and `verify` proves the guarantee from the statement
alone; otherwise its digest is, and whoever has the certificate, which holds the digest of the statement, can hold the
two against each other. Nothing in it may follow from the rows in another way: not how
many draws a confidence took, nor a list of values that was read from the table.
"""

import datetime
import hashlib
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from takifugu import strict_json
from takifugu import strict_json as form
from takifugu._display import rounded_up
from takifugu.atomic import write_text
from takifugu.calibration import Calibration
from takifugu.certificates.channel import KEPT, ChannelCertificate, tells_probabilities
from takifugu.certificates.document import Certificate, without_priors
from takifugu.errors import CertificationError, InputError
from takifugu.problems import Choices, Pairs, belief_names, guarantee_from_state, has_code

FORMAT, VERSION = "takifugu-statement", 1
_FACTS = (
    *("secret", "merged", "columns", "secrets", "pairs", "lists", "known", "guarantee", "adversary", "population"),
    "order",
)
_OF_PUBLISHER = ("kept", "others", "rows", "people", "date", "table_sha256")  # by the word of whoever published it
_KEYS = ("format", "version", *_FACTS, *_OF_PUBLISHER, "certificate_sha256", "certificate", "sha256")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SHUFFLED = "shuffled"

# Whom the guarantee is against: each kind with its sentence, and what is not promised on its account.
_ADVERSARIES = {
    "anybody": "It holds against any adversary, whatever they believe and know of all other people in the table.",
    "knows all other rows": (
        "It holds against an adversary who knows all other rows of the table and the private counts (epsilon = "
        "{private:g}) that the channel was fitted to, and believes {believed}."
    ),
    "other people's table": (
        "It holds against an adversary who believes {believed}. The channel was fitted to nobody in this table."
    ),
    "population": "It holds against an adversary who believes {believed}, and does not know the other rows of the "
    "table.",
}
_NOT_PROMISED = {
    "other rows": (
        "Nothing against an adversary who knows all or most of the other rows: the channel was fitted to the rows "
        "that it "
        "published."
    ),
    "beliefs": (
        "Nothing against an adversary who believes something else about how the columns relate to the secret, or "
        "knows more "
        "of a person than is said above."
    ),
    "several rows": (
        "Nothing about several rows of one person, or people who share a secret, taken together: it is about one row."
    ),
    "kept": "Nothing about what the columns tell by themselves that are published as they are.",
    "others": "Nothing about people with another value than those that are hidden: their rows are published too.",
    "merged": (
        "Values of the secret that were merged into one are not hidden from one another: what distinguishes them may "
        "show in what is published."
    ),
    "presence": (
        "Not that nobody learns who is in the table, or how many rows it has; nor anything about a value of the secret "
        "whose rows were left out, since nobody in the table has it."
    ),
    "elsewhere": ("Nothing about what other columns, other publications, or other sources tell of the same people."),
    "list": "Not that the list of values tells nothing: it was read from the table.",
    "order": (
        "Nothing where the order of the rows goes with the secret or with a column: they are in the order in which "
        "they were given, and that it is random is the publisher's statement, which no proof covers."
    ),
}
_WORD = (
    "Stated by the publisher, and not proved: the number of rows, the date{table}, that the table "
    "was drawn through this channel by unpredictable random numbers{counts}, that {people}, and that these rows are "
    "published once."
)
_PEOPLE = {
    "one row each": "each person has one row",
    "independent rows": "the rows of a person are independent of one another given the secret",
}
_NEW = ", new"  # of people whom the ledger could not tell from those that were published
_PEOPLE |= {f"{name}{_NEW}": f"{words}, that nobody in it was published before" for name, words in _PEOPLE.items()}


@dataclass(frozen=True)
class Statement:
    """What may be told to anybody about a published table; print it for a page of plain words.

    >>> import takifugu as tk
    >>> lists = {"ill": ["no", "yes"], "age": [30, 60]}
    >>> rows = {"ill": ["no", "yes"] * 500, "age": [30, 60, 60, 30] * 250}
    >>> import pandas as pd
    >>> counts = tk.private_counts(pd.DataFrame(rows), secret="ill", columns="age", domain=lists, epsilon=0.5)
    >>> made = tk.calibrate(counts, odds=3)
    >>> print(Statement.of(tk.certify(made), rows=1_000).sentences[0])
    For any adversary whose beliefs are covered, posterior odds between two values of 'ill' change by at most a factor \
of 3.
    """

    content: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        certificate: Certificate | ChannelCertificate,
        *,
        rows: int,
        date: datetime.date | None = None,
        table: str | os.PathLike[str] | None = None,
    ) -> "Statement":
        """The statement for a table of so many rows that is published through the channel of this certificate.

        Args:
            certificate: of the channel, proved.
            rows: how many rows were published.
            date: of the publication; today's where left out.
            table: the file that is published, whose digest is then stated.

        Returns:
            The statement. It holds the certificate itself where the priors are no secret.

        Raises:
            InputError: for a certificate of noise, and for a number of rows that is none.
        """
        if not isinstance(certificate, ChannelCertificate):
            raise InputError("a statement is about a published table, and this is a certificate of noise alone")
        is_public = tells_probabilities(certificate.calibration)
        proof = certificate.published() if is_public else certificate
        findings = certificate.calibration.findings
        day = datetime.datetime.now(datetime.UTC).date() if date is None else date
        return cls(
            {
                **_facts(proof.calibration),
                "kept": [name for one in findings if one.code == "cell-tells" for name in one["columns"]],
                "others": has_code("others-published", findings),
                "rows": int(rows),
                "people": list(_PEOPLE)[has_code("rows-of-one-person", findings)]
                + _NEW * has_code("stated-new", findings),
                "date": day.isoformat(),
                "table_sha256": None if table is None else _digest_of(table),
                "certificate_sha256": proof.sha256,
                "certificate": proof.to_dict() if is_public else None,
            }
        )

    @property
    def sha256(self) -> str:
        """The digest of all that is stated, which the private certificate of a publication holds too."""
        return hashlib.sha256(strict_json.canonical(self._unsealed())).hexdigest()

    def _unsealed(self) -> dict[str, object]:
        return {"format": FORMAT, "version": VERSION, **self.content}

    def sealed_in(self, certificate: Certificate | ChannelCertificate) -> ChannelCertificate:
        """The certificate that this is made of, with the digest of what was stated."""
        if not isinstance(certificate, ChannelCertificate):
            raise InputError("a statement is about a published table, and this is a certificate of noise alone")
        return replace(certificate, statement_sha256=self.sha256)

    def require_table(self, path: str | os.PathLike[str]) -> None:
        """Make sure that a published file is the one that this is about."""
        stated = self.content["table_sha256"]
        if stated is None:
            raise InputError("the statement does not say which file it is about: it holds no digest of one")
        if _digest_of(path) != stated:
            raise CertificationError(
                f"{os.fspath(path)!r} is not the file that the statement is about: its digest is another, so that it "
                f"was changed since, or is another table"
            )

    @property
    def certificate(self) -> ChannelCertificate | None:
        """The certificate that is part of it; None where the priors are private."""
        held = self.content["certificate"]
        return None if held is None else ChannelCertificate.from_dict(held)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The page, sentence by sentence."""
        facts = self.content
        guarantee = guarantee_from_state(facts["guarantee"])
        secret = " and ".join(map(repr, facts["secret"])) or " and ".join(map(repr, facts["columns"]))
        secret += " (as merged)" if facts["merged"] else ""
        if facts["pairs"] is not None:
            secret += f" ({', '.join(f'{a} or {b}' for a, b in facts['pairs'])})"
        secret += " that are hidden" if facts["others"] else ""
        read = ", ".join(map(repr, facts["kept"]))
        published = f"published as {'it is' if len(facts['kept']) == 1 else 'they are'}"
        whom = "any adversary whose beliefs are covered"
        whom += f" and who has read {read}, {published}" if read else ""
        if (most := guarantee.most_odds) is not None:
            by = f"by at most a factor of {rounded_up(most, 6)}"
            kept = f"For {whom}, posterior odds between two values of {secret} change {by}."
        else:
            kept = f"For {whom}, two values of {secret} are hidden from one another {guarantee.bound}."
        guess = (
            f"Of two that {'then seem' if read else 'seemed'} equally likely no guess is right with a probability "
            f"above {rounded_up(100 * guarantee.best_guess(), 4)} %."
        )
        columns = ", ".join(map(repr, facts["columns"])) + (f", beside {read}" if read else "")
        of = f"{facts['rows']:,} rows of {columns}, published on {facts['date']}"
        where = "in random order" if facts["order"] == _SHUFFLED else "in an order that the publisher states is random"
        told = [kept, guess, f"It is about {of}, {where}.", self._against()]
        if facts["lists"] is not None:
            sizes = ", ".join(f"{len(values)} of {name!r}" for name, values in facts["lists"].items())
            told.append(f"The values are from public lists ({sizes}), and none was read from the table.")
        told += ["What is not guaranteed:", *(f"- {_NOT_PROMISED[one]}" for one in self.not_promised)]
        digest = facts["table_sha256"]
        table = "" if digest is None else f", that the table is the file with the SHA-256 {digest}"
        told.append(_WORD.format(counts=self._counts, people=_PEOPLE[facts["people"]], table=table))
        if facts["certificate"] is None:
            told.append(
                f"The guarantee is proved in a certificate that describes the people and is private (SHA-256 "
                f"{facts['certificate_sha256']}): an auditor who is shown it can prove it again, and hold it against "
                f"this statement."
            )
        else:
            told.append("The guarantee is proved in this file: `takifugu verify` proves it again, for anybody.")
        return tuple(told)

    @property
    def _counts(self) -> str:
        return {
            "knows all other rows": ", that the counts hold the noise that is stated and were drawn once",
            "other people's table": ", that no one in this table is among the people whose table the priors are of",
        }.get(self.content["adversary"]["kind"], "")

    @property
    def not_promised(self) -> tuple[str, ...]:
        """What is not guaranteed, by the names of its sentences."""
        facts, kind = self.content, self.content["adversary"]["kind"]
        told = ["other rows"] if kind == "population" else []
        told += [] if kind == "anybody" else ["beliefs"]
        told += [
            *(name for name in ("kept", "others", "merged") if facts[name]),
            "several rows",
            "presence",
            "elsewhere",
        ]
        told += [] if facts["lists"] is not None else ["list"]
        return (*told, *([] if facts["order"] == _SHUFFLED else ["order"]))

    def _against(self) -> str:
        facts = self.content["adversary"]
        believed = f"what {'the counts' if facts['private'] else 'the rows'} say of the columns and the secret"
        if (level := self.content["population"]) is not None:
            believed = f"the shares in the population, as the certificate bounds them with {100 * level:g} % confidence"
        if facts["believes"]:
            believed = "what these say: " + ", ".join(map(repr, facts["believes"]))
        also = "" if not self.content["known"] else f", also where {', '.join(self.content['known'])} is known"
        return _ADVERSARIES[facts["kind"]].format(private=facts["private"], believed=f"{believed}{also}")

    def __str__(self) -> str:
        """A page of plain words."""
        return "\n".join(self.sentences)

    def to_dict(self) -> dict[str, object]:
        """The content as plain values for JSON."""
        return self._unsealed() | {"sha256": self.sha256}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it for everybody: as JSON, which `verify` reads, or as a page of plain words where it ends in .txt.

        Args:
            path: the name of the file.
        """
        if Path(path).suffix == ".txt":
            write_text(f"{self}\n", path)
        else:
            strict_json.write(self.to_dict(), path)

    @classmethod
    def from_dict(cls, data: object) -> "Statement":
        """What `to_dict` wrote, every field checked; whether it is true is for `matched` to say.

        Args:
            data: the content of a file.

        Returns:
            The statement, unproved.

        Raises:
            InputError: with the field that is missing, unknown or wrong.
        """
        form.header(data, FORMAT, (VERSION,), "a statement")
        content = form.fields(data, _KEYS, "the statement")
        guarantee_from_state(content["guarantee"])
        facts = form.fields(content["adversary"], ("kind", "private", "believes"), "'adversary'")
        if facts["kind"] not in _ADVERSARIES:
            raise InputError(f"adversary.kind must be one of {', '.join(map(repr, _ADVERSARIES))}")
        form.number(facts["private"], "adversary.private", least=0)
        form.texts(facts["believes"], "adversary.believes")
        for name in ("secret", "columns", "known", "kept"):
            form.texts(content[name], repr(name))
        if content["lists"] is not None and not isinstance(content["lists"], dict):
            raise InputError("'lists' must be an object of lists, or null")
        for number, pair in enumerate(form.items(content["pairs"] or [], "'pairs'", most=1 << 20)):
            form.exactly(pair, f"pairs[{number}]", 2)
        if content["population"] is not None:
            form.number(content["population"], "'population'", above=0)
        if content["order"] not in (_SHUFFLED, KEPT):
            raise InputError(f"'order' must be {_SHUFFLED!r} or {KEPT!r}")
        form.index(content["rows"], "'rows'", below=1 << 62)
        for name in ("others", "merged"):
            if not isinstance(content[name], bool):
                raise InputError(f"{name!r} must be true or false")
        if content["people"] not in _PEOPLE:
            raise InputError(f"'people' must be one of {', '.join(map(repr, _PEOPLE))}")
        form.text_field(content["date"], "'date'", _DATE)
        form.hex_digest(content["certificate_sha256"], "'certificate_sha256'")
        if content["table_sha256"] is not None:
            form.hex_digest(content["table_sha256"], "'table_sha256'")
        found = cls({name: content[name] for name in _KEYS[2:-1]})
        if form.hex_digest(content["sha256"], "'sha256'") != found.sha256:
            raise CertificationError(
                "'sha256' does not match what is stated: the statement was changed after it was made"
            )
        return found

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Statement":
        """Read a file that `save` wrote. Nothing is proved by reading."""
        return cls.from_dict(strict_json.read(path, most_bytes=1 << 28))

    def require_page(self, path: str | os.PathLike[str]) -> None:
        """Make sure that a page of plain words is the one of this statement.

        Args:
            path: the page.

        Raises:
            CertificationError: where a word differs.
        """
        try:
            page = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise InputError(f"the page {os.fspath(path)!r} cannot be read: {reason}") from None
        if page.split() != str(self).split():
            raise CertificationError(
                f"the page {os.fspath(path)!r} does not say what the statement says: it is another's, or was changed"
            )

    def matched(self, certificate: ChannelCertificate | None = None) -> ChannelCertificate:
        """The certificate that this is the statement of, once all that follows from it is what is stated.

        It is the one within, or the private one of an auditor; nothing is proved by that yet.

        Args:
            certificate: the auditor's, where the statement has none within.

        Returns:
            The certificate, to be proved by `verify`.

        Raises:
            CertificationError: where something that is stated does not follow from it.
        """
        proof = self.certificate if certificate is None else certificate
        if proof is None:
            raise without_priors(self.content["certificate_sha256"])
        if certificate is not None and tells_probabilities(certificate.calibration):
            proof = certificate.published()  # without what is said of the rows themselves
        if proof.sha256 != self.content["certificate_sha256"]:
            raise CertificationError("the statement names another certificate: the digests differ")
        if certificate is not None and certificate.statement_sha256 not in (None, self.sha256):
            raise CertificationError(
                "the certificate names another statement: the number of rows, the date, or something else that follows "
                "from no proof was changed after they were made"
            )
        for name, fact in _facts(proof.calibration).items():
            if self.content[name] != fact:
                raise CertificationError(f"the statement says of {name!r} what does not follow from its certificate")
        return proof


def _digest_of(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{os.fspath(path)!r} cannot be read: {error.strerror or error}") from None


def is_statement(data: object) -> bool:
    """Whether the content of a file says that it is a statement."""
    return isinstance(data, dict) and data.get("format") == FORMAT


def _facts(calibration: Calibration) -> dict[str, object]:
    """All that follows from a calibration and may be told."""
    answer = calibration.answer
    if answer is None:
        raise InputError("a statement is about a table: these priors were made by hand and name none")
    is_public, pairs = tells_probabilities(calibration), calibration.pairs
    domain = answer.lists if answer.is_public and answer.lists else None
    order = KEPT if has_code("order-kept", calibration.findings) else _SHUFFLED
    return {
        "secret": list(answer.secret),
        "merged": bool(answer.merged(pairs.secrets)),
        "columns": list(answer.columns),
        "secrets": [form.plain(one) for one in pairs.secrets] if is_public and answer.secret else None,
        "pairs": None if hides_every(pairs, answer.secret) else [list(map(form.plain, one)) for one in pairs],
        "lists": None if domain is None else dict(zip(answer.columns, map(_listed, domain), strict=True)),
        "known": list(answer.known),
        "guarantee": calibration.total.to_state(),
        "adversary": {
            "kind": _kind(calibration),
            "private": answer.private,
            "believes": [name for name in belief_names(calibration.beliefs) if name is not None],
        },
        "population": None if calibration.evidence is None else calibration.evidence.level,
        "order": order,
    }


def hides_every(pairs: Pairs, columns: Sequence[str]) -> bool:
    """Whether any two values of each column of secrets are hidden from one another."""
    if pairs.is_every or len(columns) < 2:
        return pairs.is_every
    longest = sorted(columns, key=len, reverse=True)
    of = Counter(next(name for name in longest if str(one).startswith(f"{name} = ")) for one in pairs.secrets)
    return len(pairs) == sum(math.comb(values, 2) for values in of.values())


def _listed(choices: Choices) -> list[object]:
    return list(choices.values)


def _kind(calibration: Calibration) -> str:
    answer = calibration.answer
    if answer is not None and not answer.secret:
        return "anybody"
    if answer is not None and answer.private:
        return "knows all other rows"
    return "population" if None in belief_names(calibration.beliefs) else "other people's table"
