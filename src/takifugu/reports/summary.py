"""What publishing a table through a finite channel did, in figures and in plain words."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from takifugu.calibration import Calibration
from takifugu.channels import ListChannel
from takifugu.errors import InputError
from takifugu.laws import columns, key
from takifugu.mechanisms import Confidence
from takifugu.problems import (
    Diagnostic,
    belief_names,
    has_code,
)
from takifugu.reports.adversary import Adversary
from takifugu.reports.channel_facts import ColumnFacts, channel_facts
from takifugu.reports.text import clean, listed, number, roughly, share_of
from takifugu.reports.words import best_guess, for_each_row, in_guesses, stronger
from takifugu.tables import cut_named, written

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
        """One page of plain words."""
        answer, evidence = self.calibration.answer, self.calibration.evidence
        secret = "the secret" if answer is None else " and ".join(map(repr, answer.secret))
        lines = [self._promise(secret)]
        both = for_each_row(self.calibration), in_guesses(self.calibration.total)
        lines += [sentence for sentence in both if sentence is not None]
        if evidence is not None:
            lines.append(f"That is for the population, not only for these rows: {evidence.sentence}.")
        else:
            added = "these rows' shares with what was added to them, which in a cell is rows of other cells"
            believed = added if _is_smoothed(self.calibration) else "these rows' own shares"
            lines.append(f"That is for who believes {believed}, and says nothing about who knows better.")
        if isinstance(evidence, Confidence) and evidence.without < _LESS * self.calibration.error:
            lines.append(
                "For these rows' own shares alone much less had to change: the answer hangs on how well the population "
                f"is known, and more rows of the rarest secret{self._rarest} would help most."
            )
        if answer is not None and answer.known:
            lines.append(
                f"It holds also for who knows {', '.join(map(_known, answer.known))}. What that tells by "
                f"itself, where it is handed over too, is not hidden."
            )
        if answer is not None and answer.before:
            before = ", ".join(clean(name) for name in answer.before)
            lines.append(f"That is for {', '.join(map(clean, answer.drawn))} together with {before}, published before.")
        if answer is not None:
            lines.append(self._beliefs())
        if has_code("order-kept", self.calibration.findings):
            stated = Diagnostic("order-kept").sentence
            lines.append(f"{stated[0].upper()}{stated[1:]}.")
        lines += [f"{clean(column.name)}: {self._changed(column)}." for column in self.columns]
        if moved := self._moved():
            lines.append(
                f"{moved}; to keep the share of every value as it was, at the price of more changes, ask for "
                f"keep_shares=True."
            )
        if (lost := max(self.columns, key=_lost)) and _lost(lost) > _USELESS:
            given = self.guess_before > _GIVEN_AWAY
            telling = "True rows nearly give the secret away, and so few of them may leave as they are. "
            lines.append(
                f"Little of use is left of {clean(lost.name)}. {telling if given else ''}"
                f"The rarest secret decides what can be promised"
                f"{self._rarest}: {self._fewer}publish fewer columns, give coarser lists (domain=), or allow larger "
                f"odds."
            )
        lines.append(best_guess(self.adversary, "row", "from the true row", exact=True))
        return tuple(lines)

    def _changed(self, column: ColumnFacts) -> str:
        """What became of one column's cells: of what is on the list, and on the way to it."""
        told = f"{roughly(column.share_changed)} of the cells were changed"
        if (step := rounded(self.calibration.findings).get(clean(column.name))) is not None:
            told += f", besides rounding all of them to steps of {step}"
        if column.error is not None and column.spread:
            told += f"; it is off by about {number(column.error, 2)}, beside a spread of {number(column.spread, 3)}"
        return told

    def _moved(self) -> str:
        """Which values went, and how far the shares of the others moved; nothing where that is not worth a word."""
        told = []
        if self.gone:
            is_or_are = "is" if self.gone == 1 else "are"
            told.append(f"{self.gone} of the values that the columns may take {is_or_are} published no more")
        far = [column for column in self.columns if column.histogram_shift > _SHIFTED]
        if far:
            shifts = " and ".join(
                f"{share_of(column.histogram_shift)} of {clean(column.name)}"
                + (f" (its mean by {number(column.mean_shift, 2)})" if column.mean_shift is not None else "")
                for column in far
            )
            told.append(f"{'the' if told else 'The'} shares of the values shift, by {shifts}")
        return ", and ".join(told)

    @property
    def _fewer(self) -> str:
        """What can be done about rare secrets: of two, neither can be merged or left out."""
        few = len(self.calibration.pairs.secrets) < 3
        return "" if few else "merge rare secrets in the table or leave them out (leave_out=), "

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
                f"It holds also for who knows all other rows: the channel was fitted to private counts alone (epsilon "
                f"= {number(answer.private)}), whose cost is in the factor. Counts, channel and proof may be public."
            )
        others = " or ".join(f"'{clean(name)}'" for name in names if name is not None)
        if None not in names:
            return (
                f"It is for who believes {others}. These priors are not of the rows that are published, and what "
                f"follows from them tells nothing about those rows."
            )
        where = self.calibration.problem.under(self.calibration.place).removeprefix(" ")
        also = (
            f"It holds also for who believes {others}; the closest to the limit is {clean(where)}. " if others else ""
        )
        return (
            f"{also}The channel was fitted to these very rows, so its probabilities tell of them and stay private. "
            f"{stronger(self.calibration)}"
        )

    def _promise(self, secret: str) -> str:
        guarantee = self.calibration.total
        if guarantee.most_odds is not None:
            more = "" if math.isinf(guarantee.alpha) else f", and each pair is within {guarantee}"
            kept = (
                f"nothing published moves anyone's odds between two values of {secret} by more than a factor of "
                f"{number(guarantee.most_odds, 4)}{more}."
            )
        else:
            kept = f"every pair of values of {secret} is hidden {guarantee.bound}."
        answer = self.calibration.answer
        if answer is not None and answer.known:  # which may be handed over as they are
            kept = f"of {', '.join(map(clean, answer.drawn))}, {kept}"
        if for_each_row(self.calibration) is not None:
            kept = f"in one row, {kept}"
        return kept[0].upper() + kept[1:]


def _known(name: str) -> str:
    cut = cut_named(name)
    return clean(name) if cut is None else f"{clean(cut.column)} (cut at {', '.join(map(written, cut.edges))})"


def told(calibration: Calibration) -> Publication:
    """The figures of a calibration through a finite channel."""
    if not isinstance(calibration.channel, ListChannel):
        raise InputError("a publication is told of a finite channel")
    facts = channel_facts(calibration, question=None, compare=False, certificate_sha256=None)
    return Publication(
        calibration,
        facts.columns,
        facts.share_changed,
        sum(_gone(calibration.channel, place) for place in range(len(facts.columns))),
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


def _gone(channel: ListChannel, place: int) -> int:
    """How many values of a column no row is published with."""
    used = set(channel.entries[1].tolist())
    true, published = (columns(side)[place] for side in (channel.inputs, channel.outputs))
    return len({key(v) for v in true} - {key(v) for where, v in enumerate(published) if where in used})
