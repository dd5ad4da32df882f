"""Version 2 of the certificate: a channel of any kind, and what it guarantees.

Noise on the line has version 1, unless its guarantee is for the population: the evidence for that is part of version 2.
"""

import os
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from takifugu import strict_json
from takifugu import strict_json as form
from takifugu._display import rounded_down
from takifugu.calibration import Calibration
from takifugu.certificates import document as version_1
from takifugu.certificates.document import Sealed, losses_from, losses_to
from takifugu.channels import (
    MOST_AXES,
    FiniteChannel,
    channel_class,
    channel_from_state,
)
from takifugu.divergences import Enclosure
from takifugu.errors import InputError
from takifugu.laws import key
from takifugu.mechanisms import Optimal, rows_in_words
from takifugu.problems import (
    belief_names,
    guarantee_from_state,
    has_code,
)

# Whether a channel leaves the shares of all rows as they were, which its public papers may tell.

_SHARES_KEPT = 1e-3  # what repair may move of the shares of a table that is said to keep them


def kept(calibration: Calibration) -> str | None:
    """What a finite channel leaves as it was, on average over all rows, so that analysts need not undo it."""
    channel = calibration.channel
    if (
        dict(calibration.options).get("keep") != "marginal"
        or (calibration.answer is not None and calibration.answer.private)  # of the noisy counts, and not of the rows
        or channel.kind != FiniteChannel.kind
        or calibration.mechanism != Optimal.name
    ):
        return None
    channel = channel.as_list()
    # The wish was about all beliefs together; what is published comes from the first, which knows nothing.
    belief = calibration.beliefs[0]
    if belief_names([belief]) != [None]:
        return None  # counted on other people's rows
    weights = sum((channel.weights_of(belief[secret]) for secret in calibration.pairs.secrets), np.zeros(1))
    shares = weights / weights.sum()
    before = {key(value): share for value, share in zip(channel.inputs, shares.tolist(), strict=True)}
    moved = sum(
        abs(before.pop(key(value), 0.0) - share)
        for value, share in zip(channel.outputs, (channel.through(shares)).tolist(), strict=True)
    )
    return "marginal" if moved + sum(before.values()) <= _SHARES_KEPT else None


# What may be published of a certificate of a channel.

VERSION = 2
KEPT = "kept: stated to be random"  # what is said of an order that was not drawn


@dataclass(frozen=True)
class RedactedChannel:
    """A certificate without its priors and losses.

    The probabilities of a finite channel are in it only where they tell nothing about the rows that are published: see
    `tells_probabilities`. Of noise on vectors only the standard deviation of each axis is told: its correlations point
    in the direction in which the secrets differ. `order` is there where the rows were not shuffled, on the word of
    whoever published them.
    """

    content: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The content as plain values for JSON."""
        return {"format": version_1.REDACTED, "version": VERSION, **self.content}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file to publish."""
        strict_json.write(self.to_dict(), path)

    @property
    def certificate_sha256(self) -> str:
        """The digest of the certificate that this is the public part of."""
        return str(self.content["certificate_sha256"])

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it states, in plain words; nothing is proved by that."""
        facts = self.content
        told = [f"Secrets are hidden from one another {guarantee_from_state(facts['guarantee']).bound}."]
        if facts["columns"] is not None:
            told.append(f"What is published: {', '.join(map(repr, facts['columns']))}.")
        if facts["keeps"] is not None:
            told.append("What is published is on average as frequent as it truly is.")
        if "order" in facts:
            told.append("Whoever published the rows states that their order, which was kept, is random.")
        return tuple(told)

    @classmethod
    def from_dict(cls, data: Any) -> "RedactedChannel":
        """What `to_dict` wrote."""
        keys = ("guarantee", "channel", "mechanism", "columns", "keeps", "software", "certificate_sha256")
        form.header(data, version_1.REDACTED, (VERSION,), "a redacted certificate of a channel")
        told = ("order",) if "order" in data else ()  # there only where the rows were not shuffled
        if told and data["order"] != KEPT:
            raise InputError(f"'order' must be {KEPT!r}, where it is told")
        content = form.fields(data, ("format", "version", *keys, *told), "the redacted certificate")
        guarantee_from_state(content["guarantee"])
        _require_public(content["channel"])
        form.mechanism(content["mechanism"])
        if content["columns"] is not None:
            form.texts(content["columns"], "'columns'", least=1, most=MOST_AXES)
        if content["keeps"] not in (None, "marginal"):
            raise InputError("'keeps' must be 'marginal' or null")
        form.software(content["software"])
        form.hex_digest(content["certificate_sha256"], "'certificate_sha256'")
        return cls({key: content[key] for key in (*keys, *told)})


def tells_probabilities(calibration: Calibration) -> bool:
    """Whether the probabilities of a finite channel may be published.

    Probabilities that were fitted to the rows that are published give the secret of one of them away to whoever knows
    all others and can fit again (benchmarks/small_tables.py); so every belief must be that of another table, which has
    a name. A list of values that was read from data, or the rows that occur, would tell that somebody has each of them;
    so the list must be given by the user. Private counts paid for being told, and a
    channel that needs no data knows none.

    Args:
        calibration: of any channel.

    Returns:
        True only where it is known that nothing in the probabilities was fitted to the rows that are published.
    """
    answer = calibration.answer
    if answer is not None and not answer.secret:
        return True
    is_others = answer is not None and (bool(answer.private) or None not in belief_names(calibration.beliefs))
    return answer is not None and answer.is_public and is_others


def public_form(calibration: Calibration) -> dict[str, object]:
    """What may be published of a channel: of a finite one whose probabilities are withheld, its kind and no size."""
    return calibration.channel.public_state(withhold=not tells_probabilities(calibration))


def is_withheld(value: dict[str, object]) -> bool:
    """Whether what was published of a channel is that it is a finite one, and no more."""
    return value == {"kind": value["kind"]}


def _require_public(value: Any) -> None:
    publishes = channel_class(form.kind_of(value)).publishes
    if publishes == "vector":
        content = form.fields(value, ("kind", "deviations"), "'channel'")
        for n, one in enumerate(form.items(content["deviations"], "channel.deviations", least=1, most=MOST_AXES)):
            form.number(one, f"channel.deviations[{n}]", above=0)
    elif not (publishes == "values" and is_withheld(value)):
        channel_from_state(value)


def _losses_of(calibration: Calibration, value: object) -> tuple[Enclosure, ...]:
    """The enclosures of a file; none where there are very many places, each of which is within the budget."""
    is_many = calibration.channel.publishes == "number" and calibration.problem.size > form.MOST_LOSSES
    if is_many != (value is None):
        raise InputError("'losses' must list each loss, or be null where there are too many of them")
    return () if is_many else losses_from(value, list(calibration.problem.places()))


_KEYS = ("format", "version", "nonce", "calibration", "losses", "software", "sha256")
_OF_NO_ROWS = ("private-total", "data-free", "order-kept", "few-for-counts")  # diagnostics that may be published
_WISHES = {"unbiased": "lack of bias", "forbidden": "forbidden moves", "diagonal": "share of values that stay"}


@dataclass(frozen=True)
class ChannelCertificate(Sealed):
    """A claim with all that is needed to prove it: this channel keeps this guarantee, and none loses less than said.

    It holds the priors, which describe people: it is for the auditor, and `redacted()` is for the public. Where the
    priors are private counts or other people's, and the list is public, `published()` is too: then anybody can prove
    the guarantee from the public file alone.
    """

    calibration: Calibration
    losses: tuple[Enclosure, ...] = field(repr=False)
    software: tuple[tuple[str, str], ...] = field(repr=False)
    nonce: str = field(repr=False)
    statement_sha256: str | None = field(default=None, repr=False)
    """The digest of the statement that was published with it: beside the seal, which the statement itself names."""

    @property
    def alpha(self) -> float:
        """The Rényi order; infinite for a guarantee about odds."""
        return self.calibration.alpha

    @property
    def epsilon(self) -> float:
        """The budget."""
        return self.calibration.epsilon

    @property
    def theta(self) -> float:
        """The standard deviation of the noise; an `AttributeError` for a channel that adds none."""
        return self.calibration.theta

    @property
    def mechanism(self) -> str:
        """How the channel was found."""
        return self.calibration.mechanism

    @property
    def lower_bound(self) -> float | None:
        """What no channel between these values that keeps the guarantee loses less than, where that is proved."""
        return self.calibration.lower_bound

    @property
    def error(self) -> float:
        """The expected loss of a published value."""
        return self.calibration.error

    @property
    def claim(self) -> str:
        """What is proved, in a sentence."""
        problem = self.calibration.problem
        best = ""
        if self.lower_bound is not None and (self.lower_bound > 0 or self.error == 0):  # that none gains goes unsaid
            least = rounded_down(self.lower_bound, 6)
            best = f"; it loses {self.error:.6g} a value, and none{self._wished} less than {least}"
            if self.calibration.evidence is not None and not np.any(dict(self.calibration.options).get("radius")):
                best = (  # what was looked for beyond that has no bound of its own
                    f"; it loses {self.error:.6g} a value for the population; for these rows alone, which takes less, "
                    f"none{self._wished} loses less than {least}"
                )
        pairs, beliefs = version_1.in_words(len(problem.pairs), len(problem.beliefs))
        bound = self.calibration.guarantee.bound
        if self.calibration.answer is not None and self.calibration.answer.private:
            best += (
                f". With the private counts that it was found from (epsilon = {self.calibration.answer.private:g}) "
                f"that is {self.calibration.total.bound} for an adversary who knows every other row"
            )
        return f"{self.calibration.channel.describe(exact=True)} keeps {pairs} {bound}, under {beliefs}{best}"

    @property
    def population(self) -> str | None:
        """What is said of the population, and on how many rows that rests; None where nothing is."""
        evidence = self.calibration.evidence
        return None if evidence is None else f"{evidence.sentence}; {rows_in_words(self.calibration.problem)}"

    def __str__(self) -> str:
        """What is proved, and what is said of the population."""
        return self.claim if self.population is None else f"{self.claim}. For the population: {self.population}"

    @property
    def _wished(self) -> str:
        """Among which channels the bound is: those between these values that do what else was asked."""
        asked = dict(self.calibration.options)
        wishes = [words for name, words in _WISHES.items() if asked.get(name)]
        if asked.get("keep"):
            wishes.insert(0, "shares" if asked["keep"] == "marginal" else str(asked["keep"]))
        if np.any(asked.get("radius")):  # the condition that is proved is sufficient for the radius, no more
            wishes.append("margin for other priors")
        also = f" with the same {' and '.join(wishes)}" if wishes else ""
        return f" between these values{also}"

    @classmethod
    def from_dict(cls, data: object) -> "ChannelCertificate":
        """What `to_dict` wrote, every field checked; an `InputError` names the one that is wrong."""
        form.header(data, version_1.FORMAT, (VERSION,), "a certificate of a channel")
        stated = isinstance(data, dict) and "statement_sha256" in data
        content = form.fields(data, (*_KEYS, "statement_sha256") if stated else _KEYS, "the certificate")
        calibration = Calibration.from_essentials(content["calibration"])
        if any(one["total"] != str(calibration.total) for one in calibration.findings if one.code == "private-total"):
            raise InputError("a finding states another total than follows from the counts and the channel")
        certificate = cls(
            calibration,
            _losses_of(calibration, content["losses"]),
            form.software(content["software"]),
            form.hex_digest(content["nonce"], "'nonce'"),
            form.hex_digest(content["statement_sha256"], "'statement_sha256'") if stated else None,
        )
        certificate.require_digest(content["sha256"])
        return certificate

    def published(self) -> "ChannelCertificate":
        """The whole certificate, for everybody; refused where its priors were fitted to the rows that are published.

        Diagnostics may be of those rows even where the priors are not, so only those that follow from the priors stay.

        Returns:
            A certificate that anybody can prove.

        Raises:
            InputError: where its priors tell about the rows that are published.
        """
        if not tells_probabilities(self.calibration):
            raise InputError(
                "this certificate holds priors that were fitted to the rows themselves, and is for the auditor alone: "
                "publish redacted(), or calibrate from private_counts or from other people's priors (own=False) and "
                "public lists"
            )
        problem = self.calibration.problem
        kept = tuple(one for one in problem.findings if one.code in _OF_NO_ROWS)
        calibration = replace(self.calibration, problem=replace(problem, findings=kept))
        return replace(self, calibration=calibration, statement_sha256=None)

    def to_dict(self) -> dict[str, object]:
        """The content as plain values for JSON, its digest, and that of the statement, where there is one."""
        stated = {} if self.statement_sha256 is None else {"statement_sha256": self.statement_sha256}
        return super().to_dict() | stated

    @property
    def for_everybody(self) -> "ChannelCertificate | RedactedChannel":
        """What may be published: the whole certificate where its priors may be, else its redaction."""
        return self.published() if tells_probabilities(self.calibration) else self.redacted()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `verify` takes; for the owner of it alone, unless it may be published.

        Args:
            path: the name of the file.
        """
        of_rows = [one for one in self.calibration.findings if one.code not in _OF_NO_ROWS]
        is_public = tells_probabilities(self.calibration) and not of_rows
        strict_json.write(self.to_dict(), path, private=not is_public)

    def redacted(self) -> "RedactedChannel":
        """What may be published: the guarantee and the channel, without the priors, and the digest of this file."""
        return RedactedChannel(
            {
                "guarantee": self.calibration.guarantee.to_state(),
                "channel": public_form(self.calibration),
                "mechanism": self.mechanism,
                "columns": None if self.calibration.answer is None else list(self.calibration.answer.columns),
                "keeps": kept(self.calibration),
                "software": dict(self.software),
                "certificate_sha256": self.sha256,
            }
            | ({"order": KEPT} if has_code("order-kept", self.calibration.findings) else {})
        )

    def _content(self) -> dict[str, object]:
        return {
            "format": version_1.FORMAT,
            "version": VERSION,
            "nonce": self.nonce,
            "calibration": self.calibration.essentials(),
            "losses": losses_to(self.calibration.problem.places(), self.losses) if self.losses else None,
            "software": dict(self.software),
        }
