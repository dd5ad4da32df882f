"""`inspect`: what is in a table, what of it could be published, and what would betray the secret.

Values are called by their names where at least `SHARED` rows have them, and secrets always are; nothing else of a
record is shown. All figures are of the rows there are: evidence for choosing what to publish, and no guarantee.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from takifugu.errors import InputError
from takifugu.problems import Diagnostic, tidy
from takifugu.queries.leakage import Betrayal, Proposal, betrayals_of, proposed
from takifugu.queries.priors import (
    FEW,
    RARE,
    about_left_out,
    heavy_tail,
    read_alike,
    suspected_code,
    suspected_word,
    words_for_missing,
)
from takifugu.queries.side_information import several_rows
from takifugu.tables import (
    MOST_LABELS,
    BySecret,
    ColumnFacts,
    Reading,
    Secret,
    Subset,
    Suspect,
    Table,
    alike,
    is_free_text,
    label_counts,
    lacking,
    look,
    require_some,
    treated,
    with_secrets,
    words_among_numbers,
)

# What `inspect` says of one column: what stands in the way of publishing it, and the advice in a few words.

_ADVICE = {
    "dates": "publish an age or a year instead",
    "nothing": "empty",
    "something else": "no numbers, labels or truth values",
}


def remarks(one: ColumnFacts, dropped: tuple[Suspect, ...], *, is_secret: bool) -> Iterable[Diagnostic]:
    """What there is to say of a column, with the suspects that are `dropped` left out.

    Args:
        one: what was counted of the column.
        dropped: suspected codes that are read as missing already.
        is_secret: whether it is the column to be hidden, of which other things matter.

    Returns:
        Remarks, the gravest first.
    """
    if one.is_identifier:
        yield Diagnostic("looks-like-identifier", column=one.name, distinct=one.distinct, rows=one.rows)
    elif one.kind == "dates":
        yield Diagnostic("looks-like-dates", column=one.name)
    elif one.labels is not None and (words := words_among_numbers(one.labels)):
        yield from (suspected_word(one.name, word, one.labels[word]) for word in words)
    elif one.form is not None:
        yield Diagnostic("numbers-in-text", column=one.name, form=one.form)
    elif is_free_text(one) and not is_secret:  # secrets of few rows have a remark of their own
        yield Diagnostic("free-text", column=one.name, distinct=one.distinct)
    elif one.kind == "labels" and one.distinct > MOST_LABELS:
        yield Diagnostic("many-labels", column=one.name, distinct=one.distinct)
    elif one.is_number and one.numbers is None:
        yield Diagnostic("beyond-numbers", column=one.name)
    elif one.numbers is not None:
        kept = ~np.isin(one.numbers.values, [suspect.value for suspect in dropped])
        if kept.any():
            tails = heavy_tail(one.name, one.numbers.values[kept], one.numbers.counts[kept])
            yield from (tail.but(ahead=True) for tail in tails)


def emptiness(one: ColumnFacts, without: int = 0, named: int = 0) -> Iterable[Diagnostic]:
    """Whether most rows leave a column empty, `without` of which are not among those looked at.

    In `named` of them a text stands that was read as missing, which has a remark of its own.
    """
    missing, rows = one.missing + without, one.rows + one.missing + without
    if one.rows and 2 * (missing - named) > rows:
        yield Diagnostic("mostly-empty", column=one.name, missing=missing, rows=rows)


def look_alike(one: ColumnFacts) -> Iterable[Diagnostic]:
    """Labels that read the same, where a column of labels has any."""
    if one.labels is None or one.kind != "labels" or one.is_identifier or one.form is not None or is_free_text(one):
        return
    yield from words_for_missing(one.name, one.labels)
    yield from read_alike(one.name, one.labels)


def advice(one: ColumnFacts, is_listed: bool, told: Betrayal | None) -> str:
    """What to do with a column, for which there is a list of values or none, and which tells so much of the secret."""
    reasons = {
        "identifier: never publish": one.is_identifier,
        _ADVICE.get(one.kind, ""): one.kind in _ADVICE,
        "the same in every row": one.distinct == 1,
        "numbers in text: convert first": one.form is not None,
        "free text: do not publish": is_free_text(one),
        "reveals the secret: leave it out": told is not None and told.outright,
        "supported": is_listed,
    }
    return next((words for words, holds in reasons.items() if holds), "cannot be published as it is")


# What an inspection found, for people and for programs.


@dataclass(frozen=True)
class InspectedColumn:
    """One column: what it holds, what to do with it, a list that could be public, and what it tells."""

    name: str
    kind: str
    missing: int
    distinct: int
    advice: str
    domain: Proposal | None = None
    betrayal: Betrayal | None = None

    def to_dict(self) -> dict[str, object]:
        """The same for JSON; an infinite factor is null."""
        told: dict[str, Any] = {name: getattr(self, name) for name in ("name", "kind", "missing", "distinct", "advice")}
        one, list_ = self.betrayal, self.domain
        if list_ is not None:
            choices = list_.choices
            told["domain"] = {
                "values": list(choices.values), "step": list_.step, "rare": list_.rare, "other": choices.other
            }  # fmt: skip
        if one is not None:
            told["betrayal"] = {
                "best_guess": one.best_guess,
                "by_chance": one.by_chance,
                "guessed": list(one.guessed),
                "odds": one.odds if math.isfinite(one.odds) else None,
                "turned": list(one.turned),
                "pairs": one.pairs,
            }
        return told


@dataclass(frozen=True)
class Group:
    """The people of one secret."""

    secret: Secret
    rows: int


@dataclass(frozen=True, repr=False)
class Inspection:
    """What is in a table.

    `sentinels` are the suspected codes that the lists take for missing values, as "column=value".
    """

    rows: int
    columns: tuple[InspectedColumn, ...]
    secret: str | None
    groups: tuple[Group, ...]
    without_secret: int
    sentinels: tuple[str, ...]
    findings: tuple[Diagnostic, ...]

    @property
    def betrayals(self) -> tuple[Betrayal, ...]:
        """What each column tells of the secret, the worst first."""
        found = [one.betrayal for one in self.columns if one.betrayal is not None]
        return tuple(sorted(found, key=lambda one: (-one.best_guess, -one.odds)))

    def to_dict(self) -> dict[str, object]:
        """Everything, ready for JSON."""
        return {
            "rows": self.rows,
            "columns": [one.to_dict() for one in self.columns],
            "secret": self.secret,
            "groups": [{"secret": one.secret, "rows": one.rows} for one in self.groups],
            "without_secret": self.without_secret,
            "sentinels": list(self.sentinels),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    @property
    def _lines(self) -> list[tuple[str, ...]]:
        """The table that people see, its head first."""
        lines: list[tuple[str, ...]] = [("column", "holds", "distinct", "missing", "best guess", "advice")]
        for one in self.columns:
            guess = "" if one.betrayal is None else f"{100 * one.betrayal.best_guess:.1f} %"
            lines.append((one.name, one.kind, f"{one.distinct:,}", f"{one.missing:,}", guess, one.advice))
        return lines

    def __repr__(self) -> str:
        """The same as text: the table, and what was found."""
        wide = [max(map(len, cells)) for cells in zip(*self._lines, strict=True)]
        hidden = "" if self.secret is None else f", of which {self.secret!r} is to be hidden"
        told = [f"{self.rows:,} rows, {len(self.columns)} columns{hidden}"]
        for line in self._lines:
            cells = "  ".join(cell.ljust(width) for cell, width in zip(line, wide, strict=True)).rstrip()
            told.append(cells if cells.isprintable() else ascii(cells)[1:-1])  # a name may act on the terminal
        told += [f"- {finding.sentence}" for finding in self.findings]
        return "\n".join(told)

    def _repr_html_(self) -> str:
        """A table for a notebook."""
        head, *rows = self._lines
        names = "".join(f"<th>{name}</th>" for name in head)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in rows)
        said = "".join(f"<li>{escape(finding.sentence)}</li>" for finding in self.findings)
        return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table><ul>{said}</ul>"


# A row of totals at the end of a table, as spreadsheets have it: it has the sums of all the others.
#
# Mostly it has no secret, and is out of the way. Where it has one, or none is asked for, its number stands among
# those of people, and makes every list of them a thousand times too long.

_MOST = 3  # rows without a secret: of more, one that happens to be a sum is chance
_FEWEST = 10  # rows that are summed: of fewer, too
_MANY = 20  # numbers other than 0 that are summed where the sum stands among them: of fewer, a large one is chance
_CLOSE = 1e-9
_MOST_AMOUNTS = 100_000  # different ones of a column that are looked at
_MARKS = ".,"  # of decimals: amounts are tried with either, and a sum that fits proves which it is


def summed(table: Table, facts: Sequence[ColumnFacts]) -> tuple[str, ...]:
    """The columns of numbers, or of amounts with a currency sign, in which one row has the sum of all the others."""
    return tuple(one.name for one in facts if any(map(_holds_its_sum, _readings(table, one).values())))


def _readings(table: Table, one: ColumnFacts) -> dict[str, Subset]:
    """The numbers of a column with their counts; of amounts, by the decimal mark that they may have."""
    if one.numbers is not None:
        return {"": one.numbers}
    if one.form != "amounts":
        return {}
    counts = label_counts(table, one.name, most=_MOST_AMOUNTS) if one.labels is None else one.labels
    return {mark: subset for mark in _MARKS if (subset := _as_amounts(counts, mark)) is not None}


def _as_amounts(counts: Mapping[Any, int], decimal: str) -> Subset | None:
    read = [(number, rows) for label, rows in counts.items() if (number := amount(label, decimal)) is not None]
    if not read:
        return None
    values, where = np.unique([number for number, _ in read], return_inverse=True)
    return Subset(values, np.bincount(where, [rows for _, rows in read]).astype(np.float64), 0.0)


def amount(text: object, decimal: str) -> float | None:
    """The number of an amount with a currency sign and this decimal mark; None where it is none.

    >>> amount("€ 1.234,50", ","), amount("1,234.50 EUR", "."), amount("-$5", "."), amount("Total", ".")
    (1234.5, 1234.5, -5.0, None)
    """
    other = "," if decimal == "." else "."
    digits = re.sub(r"[^0-9.,+-]", "", str(text)).replace(other, "").replace(decimal, ".").strip(".")
    try:
        return float(digits)
    except ValueError:
        return None


def _holds_its_sum(numbers: Subset) -> bool:
    """Whether the largest number, or the least, is of one row and the sum of the rest.

    >>> import numpy as np
    >>> _holds_its_sum(Subset(np.array([1.0, 2, 60]), np.array([20.0, 20, 1]), 0.0))
    True
    """
    values, counts = numbers.values, numbers.counts
    if numbers.width or counts[values != 0].sum() <= _MANY:
        return False
    rest = float(values @ counts)
    return any(
        counts[end] == 1 and values[end] != 0 and math.isclose(values[end], rest - values[end], rel_tol=_CLOSE)
        for end in (0, -1)
    )


def totals(table: Table, secret: str, facts: Sequence[ColumnFacts], without: int) -> Iterable[Diagnostic]:
    """Whether a row without a secret holds sums; `facts` are of the rows that have one.

    Args:
        table: the rows.
        secret: the column of secrets.
        facts: of every column.
        without: how many rows have no secret.

    Returns:
        A remark where such a row sums up the others, as spreadsheets have it at their end.
    """
    if not 0 < without <= _MOST:
        return
    held = with_secrets(table, [secret])
    read = {
        one.name: {mark: float(numbers.values @ numbers.counts) for mark, numbers in _readings(held, one).items()}
        for one in facts
        if one.distinct > 1 and one.rows >= _FEWEST and (one.numbers is None or not one.numbers.width)
    }
    sums = {name: by_mark for name, by_mark in read.items() if by_mark}
    if not sums:
        return
    asked = [_value(table, name, by_mark).alias(f"x{place}") for place, (name, by_mark) in enumerate(sums.items())]
    rest = table.collect(table.frame.filter(table.secret(secret).is_null()).select(*asked))
    found = [
        name
        for place, (name, by_mark) in enumerate(sums.items())
        if any(_is_sum(x, total, mark) for x in rest[f"x{place}"] for mark, total in by_mark.items())
    ]
    if found:
        yield Diagnostic("looks-like-totals", columns=tuple(found))


def _value(table: Table, name: str, by_mark: Mapping[str, float]) -> Any:
    return table.number(name) if "" in by_mark else table.secret(name)


def _is_sum(cell: Any, total: float, mark: str) -> bool:
    number = amount(cell, mark) if mark and cell is not None else cell
    return number is not None and math.isclose(number, total, rel_tol=_CLOSE)


_LISTS = ("whole numbers", "numbers", "truth", "labels")  # what a list of values can be made of


def inspect(table: object, secret: str | None = None, *, reading: Reading | None = None) -> Inspection:
    """What is in a table, and what of it would tell the secret.

    Args:
        table: a path or a table of any dataframe library, as for `fit_priors`.
        secret: the column to hide; of several secrets, look once for each.
        reading: what is known of a file's form, as the reader takes it.

    Returns:
        The columns with what each holds, what to do with it, and what it tells of the secret; printed it is a page.

    Raises:
        InputError: where the table cannot be read, or has no such column.

    >>> import takifugu as tk
    >>> found = tk.inspect(tk.datasets.load("student-por"), secret="schoolsup")
    >>> [one.column for one in found.betrayals[:2]]
    ['G3', 'age']
    """
    if secret is not None and not isinstance(secret, str):
        raise InputError("secret must be the name of one column: of several secrets, inspect the table once for each")
    source = Table(table, reading)
    if secret is not None:
        source.require(secret)
        source.secret(secret)  # refuses a column that cannot hold secrets
    held, without = (source, 0) if secret is None else _with_secret(source, secret)
    facts = look(held)
    findings = list(source.findings)
    codes: list[str] = []
    proposals: dict[str, Proposal] = {}
    sums = summed(held, [one for one in facts if one.name != secret])
    findings.extend([Diagnostic("row-of-totals", columns=sums)] if sums else [])
    for one in facts:
        # What stands apart has to be declared before anything is published; the rest is for people to judge.
        dropped = tuple(s for s in one.suspects if s.apart and s.may_be_named)
        told = [suspected_code(one.name, suspect) for suspect in one.suspects]
        codes.extend(
            finding["sentinel"] for finding, suspect in zip(told, one.suspects, strict=True) if suspect in dropped
        )
        doubles = tuple(look_alike(one))
        named = sum(f["cells"] for f in source.findings if f.code == "missing-texts" and f["column"] == one.name)
        findings.extend([*emptiness(one, without if one.name == secret else 0, named), *told, *doubles])
        if one.name not in sums or one.form is not None:
            findings.extend(remarks(one, dropped, is_secret=one.name == secret))
        if one.name == secret or one.name in sums or not _may_be_listed(one):
            continue
        try:
            proposal = proposed(one, dropped)
        except InputError:  # its sentence is about positions on a list that nobody sees
            findings.extend([] if doubles else [Diagnostic("unclear-labels", column=one.name)])
            continue
        if proposal is not None:
            proposals[one.name] = proposal
    groups: tuple[Group, ...] = ()
    betrayals: dict[str, Betrayal] = {}
    if secret is not None:
        numbers = [one.name for one in facts if one.name in proposals and one.is_number]
        labels = [name for name in proposals if name not in numbers]
        seen = BySecret(treated(held, codes), secret, numbers, labels)
        groups = tuple(Group(name, rows) for name, rows in seen.rows.items())
        made = groups if source.reading.tidy else _tidied(groups)  # spellings of one label are made one first
        findings.extend(_about_groups(secret, made, without))
        findings.extend([*totals(source, secret, facts, without), *several_rows(held, [secret])])
        betrayals = betrayals_of(seen, proposals)
        findings.extend(
            Diagnostic("tells-outright", column=name, secret=secret)
            for name, told in betrayals.items()
            if told.outright
        )
        findings.extend(_gaps(seen, list(proposals)))
    columns = tuple(
        InspectedColumn(
            name=one.name,
            kind=one.kind,
            missing=without if one.name == secret else one.missing,
            distinct=one.distinct,
            advice="the secret" if one.name == secret else advice(one, one.name in proposals, betrayals.get(one.name)),
            domain=proposals.get(one.name),
            betrayal=betrayals.get(one.name),
        )
        for one in facts
    )
    return Inspection(
        rows=facts[0].rows + facts[0].missing + without,
        columns=columns,
        secret=secret,
        groups=groups,
        without_secret=without,
        sentinels=tuple(codes),
        findings=tuple(findings),
    )


def _may_be_listed(one: ColumnFacts) -> bool:
    """Whether a list of the column's values could be public: what people wrote is no list, and would be shown."""
    return one.kind in _LISTS and not one.is_identifier and not is_free_text(one)


def _with_secret(table: Table, secret: str) -> tuple[Table, int]:
    """The rows that have a secret, of which alone anything is said, and how many have none."""
    gone = lacking(table, [secret])
    if gone is None:
        return table, 0
    held = with_secrets(table, [secret])
    require_some(table, secret, held.row_count(), gone["rows"])
    return held, gone["rows"]


def _gaps(seen: BySecret, columns: list[str]) -> Iterable[Diagnostic]:
    """Whether rows that would be left out for want of a value go with the secret; columns alike are told at once."""
    alike: dict[Diagnostic, list[str]] = {}
    for name in columns if seen.rows else ():
        for gap in about_left_out(seen.lacking(name)):
            alike.setdefault(gap, []).append(name)
    return [gap.but(columns=tuple(names)) for gap, names in alike.items()]


def _tidied(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """The groups as they are once labels that read the same are one; as they were where there are none.

    >>> _tidied((Group("Flu", 30), Group(" flu", 2), Group("HIV", 3)))
    (Group(secret='flu', rows=32), Group(secret='hiv', rows=3))
    """
    if not alike(group.secret for group in groups):
        return groups
    rows: dict[Secret, int] = {}
    for group in groups:
        label = tidy(group.secret) if isinstance(group.secret, str) else group.secret
        rows[label] = rows.get(label, 0) + group.rows
    return tuple(Group(label, count) for label, count in rows.items())


def _about_groups(secret: str, groups: tuple[Group, ...], without: int) -> Iterable[Diagnostic]:
    """Rows without a secret, and rare groups with those to merge them with: one another, and then the next larger.

    What distinguishes merged groups is not hidden, so none of `FEW` rows or more is merged with rare ones.
    """
    if without:
        yield Diagnostic("no-secret", column=secret, rows=without)
    ordered = sorted(groups, key=lambda group: group.rows)
    rare = [group for group in ordered if group.rows < RARE]
    if not rare:
        return
    merged, together = list(rare), sum(group.rows for group in rare)
    for group in ordered[len(rare) :]:
        if (together >= RARE and len(merged) > 1) or group.rows >= FEW:
            break
        merged, together = [*merged, group], together + group.rows
    # Merged into one, all groups would leave nothing to be hidden from anything.
    names = tuple(group.secret for group in merged) if 1 < len(merged) < len(groups) else ()
    yield Diagnostic(
        "rare-secrets",
        column=secret,
        groups=tuple((group.secret, group.rows) for group in rare),
        merge=names,
        together=together,
        lone=rare[0].rows < 2,
    )
