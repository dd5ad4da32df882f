"""What publishing a table through a finite channel did, in figures and in plain words."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from takifugu.calibration import Calibration
from takifugu.certificates import hides_every
from takifugu.channels import ListChannel, named
from takifugu.errors import InputError
from takifugu.estimates import compared_laws
from takifugu.laws import Scalar, columns, key
from takifugu.mechanisms import Confidence, table_of
from takifugu.problems import (
    Diagnostic,
    belief_names,
    has_code,
)
from takifugu.queries import FEW
from takifugu.reports.adversary import Adversary
from takifugu.reports.channel_facts import ChannelFacts, ColumnFacts, channel_facts
from takifugu.reports.text import clean, listed, number, roughly, share_of
from takifugu.reports.words import attack_accuracy, for_each_row
from takifugu.tables import cut_named, written


def preserved_within(calibration: Calibration) -> float:
    """The total variation between the true values and the published ones on average, rounded up to a digit."""
    table, channel = table_of(calibration.problem), calibration.channel.as_list()
    sources, targets, shares = channel.entries
    mass = table.mass / table.mass.sum()
    spread = np.zeros(len(mass))
    place = {key(value): where for where, value in enumerate(table.values)}
    np.add.at(spread, np.array([place[key(value)] for value in channel.outputs])[targets], mass[sources] * shares)
    # Below one in a million digits are those of rounding, which differ from one processor to another.
    apart = max(float(np.abs(spread - mass).sum() / 2) * (1 + 1e-9), 1e-6)
    digit = 10.0 ** math.floor(math.log10(apart))
    return math.ceil(apart / digit * (1 - 1e-12)) * digit


# That numbers of many values are rounded to a list first, which a channel's own figures leave out.


def rounded(findings: Iterable[Diagnostic]) -> dict[str, str]:
    """The columns whose list is one of bins, each with how far these lie apart, for a sentence.

    >>> age = Diagnostic("domain-read", column="age", values=51, step=20.0)
    >>> rounded([age, Diagnostic("domain-read", column="ward", values=3, step=None)])
    {'age': '20'}
    """
    return {
        clean(one["column"]): number(one["step"])
        for one in findings
        if one.code == "domain-read" and one["step"] is not None
    }


def besides(findings: Iterable[Diagnostic]) -> str:
    """What a share of changed values leaves out, after it; nothing where nothing is rounded.

    >>> age = Diagnostic("domain-read", column="age", values=51, step=20.0)
    >>> besides([age]), besides([age, Diagnostic("domain-read", column="ward", values=3, step=None)])
    (', besides rounding to steps of 20', ', besides rounding age to steps of 20')
    """
    findings = tuple(findings)
    found = rounded(findings)
    if not found:
        return ""
    if sum(one.code == "domain-read" for one in findings) == 1:  # whose values are meant is clear
        return f", besides rounding to steps of {next(iter(found.values()))}"
    return f", besides rounding {listed([f'{name} to steps of {step}' for name, step in found.items()])}"


def in_steps(findings: Iterable[Diagnostic]) -> str | None:
    """What is rounded, as a sentence; None where nothing is.

    >>> in_steps([Diagnostic("domain-read", column="age", values=51, step=20.0)])
    'age is published in steps of 20: each value is rounded to the nearest of them before anything else.'
    """
    found = rounded(findings)
    if not found:
        return None
    told = listed([f"{name} is published in steps of {step}" for name, step in found.items()])
    return f"{told}: each value is rounded to the nearest of them before anything else."


_LESS = 0.5  # of what is lost: what the promise for the sample alone would lose, where that is worth a word
_USELESS = 0.5  # of a column's variance, or of its labels: what is published is then mostly noise

_SHIFTED = 0.1  # of the rows: the shares of values move by more than whoever counts them would overlook
_GIVEN_AWAY = 0.95  # of the guesses from the true row: right
_MOST_NAMED = 20  # values that are never output, one by one
_MOST_PAIRS = 3  # that were chosen, one by one


@dataclass(frozen=True)
class Publication:
    """The figures of one publication; `adversary` has the best guess of all, and which pair it is about."""

    calibration: Calibration
    columns: tuple[ColumnFacts, ...]
    rows_changed: float
    gone: int
    worst_odds: float
    adversary: Adversary

    @property
    def guess_before(self) -> float:
        """How often the best guess from a true row is right, between the two secrets of which it is right most."""
        return self.adversary.guess_before

    @property
    def guess_after(self) -> float:
        """The same from a published row."""
        return self.adversary.guess_after

    @property
    def sentences(self) -> tuple[str, ...]:
        """Five lines: the guarantee, attack accuracy, what changed, what is never output, and what survives."""
        return self.lines()

    def lines(self, *, would: bool = False) -> tuple[str, ...]:
        """The five lines; with `would`, of a publication that was not made."""
        changed = "; ".join(f"{clean(column.name)} {self._changed(column)}" for column in self.columns)
        survives = compared_laws(self.calibration).sentence
        return (
            self._headline(would=would),
            attack_accuracy(self.adversary),
            f"{'Would be changed' if would else 'Changed'}: {changed}.",
            self._never_output(would=would),
            f"What {'would survive' if would else 'survives'}, on average: {survives}.",
        )

    @property
    def details(self) -> tuple[str, ...]:
        """What the report says beside the five lines: whose beliefs are covered, and what could be had for what."""
        answer, evidence = self.calibration.answer, self.calibration.evidence
        lines = []
        if evidence is None and _is_smoothed(self.calibration):
            lines.append(
                "The shares that the adversary is taken to believe have something added to them, which in a cell of "
                "side information is rows of other cells."
            )
        if isinstance(evidence, Confidence) and evidence.without < _LESS * self.calibration.error:
            lines.append(
                "For these rows' own shares alone much less would have to change: the cost is that of not knowing the "
                f"population, above all its rarest secret{self._rarest}."
            )
        if answer is not None and answer.known:
            lines.append(
                f"It holds also for an adversary who knows {', '.join(map(_known, answer.known))}. What that tells by "
                f"itself, where it is handed over too, is not hidden."
            )
        if answer is not None:
            lines.append(self._beliefs())
        if self._preserves:
            lines.append(
                "Preserved: every row of the published columns is on average as frequent as it truly is, up to a "
                f"total variation of {preserved_within(self.calibration):.1g}; tables of counts need no correction."
            )
        elif answer is not None and answer.private:
            lines.append(
                "The distribution of the published columns is not preserved, as it would be without a private fit: "
                "only that of the noisy counts could be. To preserve that, at the price of more changes, ask for "
                "preserve='marginal'."
            )
        if moved := self._moved():
            lines.append(
                f"{moved}; to keep the share of every value as it was, at the price of more changes, ask for "
                f"preserve='marginal'."
            )
        if (lost := max(self.columns, key=_lost)) and _lost(lost) > _USELESS:
            given = self.guess_before > _GIVEN_AWAY
            telling = (
                "True rows nearly give the secret away, so few of them may be published unchanged. " if given else ""
            )
            lines.append(
                f"Single cells of {clean(lost.name)} say little. {telling}The rarest secret decides how much has to "
                f"change{self._rarest}: {self._remedies}."
            )
        return tuple(lines)

    @property
    def never_output(self) -> dict[str, list[Scalar]]:
        """Of each column, the values that no row is published with."""
        found = {column.name: _gone(self._channel, place) for place, column in enumerate(self.columns)}
        return {name: gone for name, gone in found.items() if gone}

    def _never_output(self, *, would: bool) -> str:
        """The values that no row is published with, by name."""
        verb = "Would never be output" if would else "Never output"
        if not self.gone:
            return f"{verb}: none; every value of the lists can be."
        told, left = [], _MOST_NAMED
        for name, gone in self.never_output.items():
            shown = [clean(named(value), 40) for value in gone[:left]]
            more = f" and {len(gone) - len(shown):,} more" if len(gone) > len(shown) else ""
            told.append(f"{clean(name)} {', '.join(shown)}{more}")
            left -= len(shown)
        return f"{verb}: {'; '.join(told)}."

    @property
    def _channel(self) -> ListChannel:
        return self.calibration.channel.as_list()  # `told` takes no other

    def _changed(self, column: ColumnFacts) -> str:
        """What became of one column's cells: of what is on the list, and on the way to it."""
        told = f"{roughly(column.share_changed)} of cells"
        told += self._beforehand(column)
        if column.error is not None and column.spread:
            told += f", off by about {number(column.error, 2)} beside a spread of {number(column.spread, 3)}"
        return f"{told} (single cells say little)" if _lost(column) > _USELESS else told

    def _beforehand(self, column: ColumnFacts) -> str:
        """What was done to cells on their way to the list, which no share of changed cells counts."""
        if (step := rounded(self.calibration.findings).get(clean(column.name))) is not None:
            return f", besides rounding all of them to steps of {step}"
        for one in self.calibration.findings:
            if one.code == "off-list" and one["column"] == column.name and one.belief is None:
                share = share_of(one["cells"] / one["rows"])
                other = one["other"]
                becomes = "rounded to its list" if other is None else f"put into {clean(other, 40)}"
                return f", besides {share} {becomes}"
        return ""

    def _moved(self) -> str:
        """Which values went, and how far the shares of the others moved; nothing where that is not worth a word."""
        told: list[str] = []
        if self._preserves:
            return ""
        if self.gone:
            is_or_are = "is" if self.gone == 1 else "are"
            told.append(f"{self.gone} of the values that the columns may take {is_or_are} never output")
        far = [column for column in self.columns if column.histogram_shift > _SHIFTED]
        if far:
            shifts = " and ".join(
                f"{share_of(column.histogram_shift)} of {clean(column.name)}"
                + (f" (its mean by {number(column.mean_shift, 2)})" if column.mean_shift is not None else "")
                for column in far
            )
            told.append(f"{'the' if told else 'The'} shares of the values shift by {shifts}")
        return ", and ".join(told)

    @property
    def _preserves(self) -> bool:
        return dict(self.calibration.options).get("keep") == "marginal"

    @property
    def _remedies(self) -> str:
        """What can be done: of two secrets none can be merged, nor is a large one, and of one column none left out."""
        rows, secrets = self.calibration.beliefs[0].rows, self.calibration.pairs.secrets
        is_rare = len(secrets) > 2 and bool(rows) and min(rows.values()) < FEW
        merge = "merge rare secrets or leave them out (leave_out=)"
        found = [f"{merge} – what distinguishes merged ones is then not hidden –"] if is_rare else []
        found += ["publish fewer columns"] if len(self.columns) > 1 else []
        return f"{', '.join([*found, 'give coarser lists (domain=)'])}, or allow larger odds"

    @property
    def _rarest(self) -> str:
        rows = self.calibration.beliefs[0].rows
        if not rows:
            return ""
        name = min(rows, key=lambda one: rows[one])
        return f" (here {clean(name, 40)}, with {rows[name]:,} rows)"

    def _beliefs(self) -> str:
        """Whose priors these are, and what follows for the rows they were counted on."""
        answer, names = self.calibration.answer, belief_names(self.calibration.beliefs)
        if answer is not None and not answer.secret:
            return "It holds whatever anybody believes and knows of all other rows: the channel was fitted to no rows."
        if answer is not None and answer.private:
            return (
                "It holds also for an adversary who knows all other rows: the channel was fitted to private counts "
                f"alone (epsilon = {number(answer.private)}), whose cost is in the factor. Counts, channel and proof "
                "may be public."
            )
        others = " or ".join(f"'{clean(name)}'" for name in names if name is not None)
        if None not in names:
            return (
                f"It is for an adversary who believes {others}. These priors are not of the rows that are "
                f"published, and what "
                f"follows from them tells nothing about those rows."
            )
        where = self.calibration.problem.under(self.calibration.place).removeprefix(" ")
        also = (
            f"It holds also for an adversary who believes {others}; the closest to the limit is {clean(where)}. "
            if others
            else ""
        )
        return f"{also}The channel was fitted to these very rows, so its probabilities describe them and are private."

    def _headline(self, *, would: bool) -> str:
        """Against whom, what changes by how much at most, and what that rests on."""
        answer, guarantee = self.calibration.answer, self.calibration.total
        secret = "the secret" if answer is None or not answer.secret else " and ".join(map(repr, answer.secret))
        pairs = self.calibration.pairs
        secret += " (as merged)" if answer is not None and answer.merged(pairs.secrets) else ""
        if answer is not None and not hides_every(pairs, answer.secret):
            some = [f"{clean(str(a))} or {clean(str(b))}" for a, b in pairs[:_MOST_PAIRS]]
            secret += f" ({', '.join(some)}{' …' if len(pairs) > _MOST_PAIRS else ''})"
        change = "would change" if would else "change"
        if guarantee.most_odds is not None:
            kept = f"posterior odds between two values of {secret} {change} by at most a factor of "
            kept += number(guarantee.most_odds, 4)
            is_of_odds_alone = math.isinf(getattr(guarantee, "alpha", math.inf))
            kept += "" if is_of_odds_alone else f", and each pair is within {guarantee}"
        else:
            kept = f"every pair of values of {secret} {'would be' if would else 'is'} hidden {guarantee.bound}"
        row = " by one row" if for_each_row(self.calibration) is not None else ""
        known = ""
        if answer is not None and answer.known:  # which may be handed over as they are
            known = f" and who knows {listed(list(map(_known, answer.known)))}"
            kept = f"through {listed([clean(name) for name in answer.columns])}, {kept}"
        own = answer is not None and answer.secret and not answer.private
        fitted = own and None in belief_names(self.calibration.beliefs)  # to the rows that are published
        less = "; no guarantee against one who knows all other rows" if fitted else ""
        if has_code("order-kept", self.calibration.findings):
            less += "; rows keep their order, which the publisher states is random"
        return f"For {self._adversary}{known}, {kept}{row} ({self._basis}{less})."

    @property
    def _adversary(self) -> str:
        answer = self.calibration.answer
        if answer is not None and not answer.secret:
            return "any adversary, whatever they believe and know of other rows"
        others = "" if answer is None or not answer.private else ", also one who knows all other rows"
        return f"any adversary whose beliefs are covered{others}"

    @property
    def _basis(self) -> str:
        """What it rests on: a proof, Monte Carlo evidence, or the shares of these rows alone."""
        answer, evidence = self.calibration.answer, self.calibration.evidence
        if evidence is not None:
            return f"population: {'Monte Carlo evidence' if isinstance(evidence, Confidence) else 'proved'}"
        if answer is not None and not answer.secret:
            return "proved"
        if not any(belief.rows for belief in self.calibration.beliefs):
            return "proved for the priors as given"
        return "proved for the shares as counted, not for the population"


def _known(name: str) -> str:
    cut = cut_named(name)
    return clean(name) if cut is None else f"{clean(cut.column)} (cut at {', '.join(map(written, cut.edges))})"


def told(calibration: Calibration) -> Publication:
    """The figures of a calibration through a finite channel."""
    if calibration.channel.publishes != "values":
        raise InputError("a publication is told of a finite channel")
    return publication_of(channel_facts(calibration, question=None, compare=False, certificate_sha256=None))


def publication_of(facts: ChannelFacts) -> Publication:
    """The figures of a publication, from the facts of its calibration."""
    calibration, channel = facts.calibration, facts.calibration.channel.as_list()  # no other has these facts
    return Publication(
        calibration,
        facts.columns,
        facts.share_changed,
        sum(len(_gone(channel, place)) for place in range(len(facts.columns))),
        facts.worst_odds,
        facts.adversary,
    )


def _is_smoothed(calibration: Calibration) -> bool:
    """Whether some law is not the shares of the rows it rests on; those of cells never are."""
    return any(
        not counts.any() or not np.allclose(belief[secret].probabilities, counts / counts.sum(), rtol=1e-9, atol=1e-12)
        for belief in calibration.beliefs
        for secret, (counts, _) in belief.counted.items()
    )


def _lost(column: ColumnFacts) -> float:
    """The part of a column that is lost: of the variance of numbers, of the labels of others."""
    if column.error is not None and column.spread:
        return (column.error / column.spread) ** 2
    return column.share_changed


def _gone(channel: ListChannel, place: int) -> list[Scalar]:
    """The values of a column that no row is published with."""
    used = set(channel.entries[1].tolist())
    true, published = (columns(side)[place] for side in (channel.inputs, channel.outputs))
    there = {key(v) for where, v in enumerate(published) if where in used}
    return list({key(v): v for v in true if key(v) not in there}.values())
