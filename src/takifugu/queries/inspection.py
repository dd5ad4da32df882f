"""What an inspection found, for people and for programs."""

import math
from dataclasses import dataclass, field
from html import escape
from typing import Any

from takifugu.problems.column_findings import GapsTell
from takifugu.problems.findings import Finding
from takifugu.problems.inspection_findings import NumbersInText, SuspectedWord
from takifugu.queries.betrayal import Betrayal
from takifugu.queries.exemplary import exemplary
from takifugu.queries.next_step import Asked, inspect_command, publish_call, publish_command
from takifugu.queries.proposing import Proposal
from takifugu.tables.reading import Reading
from takifugu.tables.table import Secret

_MOST_LEFT_OUT = 6  # secrets of one row; where there are more, it is for their owner to merge them


@dataclass(frozen=True)
class InspectedColumn:
    """One column: what it holds, what to do with it, a list of values that could be public, and what it betrays."""

    name: str
    kind: str
    missing: int
    distinct: int
    advice: str
    domain: Proposal | None = None
    betrayal: Betrayal | None = None

    def to_dict(self) -> dict[str, Any]:
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
    """What is in a table. `source` is its path, `reading` how it was asked to be read.

    `sentinels` are the suspected codes that the proposals take for missing values, as "column=value".
    """

    source: str | None
    rows: int
    columns: tuple[InspectedColumn, ...]
    secret: str | None
    groups: tuple[Group, ...]
    without_secret: int
    sentinels: tuple[str, ...]
    findings: tuple[Finding, ...]
    reading: Reading = field(repr=False, default_factory=Reading)

    @property
    def betrayals(self) -> tuple[Betrayal, ...]:
        """What each column tells of the secret, the worst first."""
        found = [one.betrayal for one in self.columns if one.betrayal is not None]
        return tuple(sorted(found, key=lambda one: (-one.best_guess, -one.odds)))

    @property
    def proposed(self) -> tuple[str, ...]:
        """Columns to publish together in a first run, which takes seconds: see `takifugu.queries.exemplary`."""
        unclear = {one.column for one in self.findings if isinstance(one, NumbersInText | SuspectedWord)}
        unclear |= {name for one in self.findings if isinstance(one, GapsTell) for name in one.columns}
        candidates = {
            one.name: (one.betrayal, one.domain)
            for one in self.columns
            if one.domain is not None and one.betrayal is not None and not one.betrayal.outright
            and one.name not in unclear and "," not in one.name  # a comma ends a name on the command line
        }  # fmt: skip
        chosen = exemplary(candidates)
        return tuple(one.name for one in self.columns if one.name in chosen)

    @property
    def next_step(self) -> str | None:
        """The command to run next, or the call where the table is no file; None where there is nothing to publish."""
        if self.secret is None:
            candidates = [
                one.name
                for one in self.columns
                if one.kind in ("labels", "truth") and one.domain is not None and 2 * one.missing <= self.rows
            ]
            if self.source is None or not candidates:
                return None
            fewest = min(candidates, key=lambda name: next(c.distinct for c in self.columns if c.name == name))
            return inspect_command(self.source, secret=fewest, reading=self.reading)
        alone = tuple(one.secret for one in self.groups if one.rows == 1)
        if not self.proposed or len(alone) > _MOST_LEFT_OUT:
            return None
        codes = [code for code in self.sentinels if code.rpartition("=")[0] in (self.secret, *self.proposed)]
        asked = Asked(self.secret, self.proposed, tuple(codes), self.reading, alone)
        return publish_call(asked) if self.source is None else publish_command(self.source, asked)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "rows": self.rows,
            "columns": [one.to_dict() for one in self.columns],
            "secret": self.secret,
            "groups": [{"secret": one.secret, "rows": one.rows} for one in self.groups],
            "without_secret": self.without_secret,
            "sentinels": list(self.sentinels),
            "proposed": list(self.proposed),
            "findings": [finding.to_dict() for finding in self.findings],
            "next_step": self.next_step,
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
        """The same as text: the table, what was found, and what to do next."""
        wide = [max(map(len, cells)) for cells in zip(*self._lines, strict=True)]
        hidden = "" if self.secret is None else f", of which {self.secret!r} is to be hidden"
        told = [f"{self.rows:,} rows, {len(self.columns)} columns{hidden}"]
        for line in self._lines:
            cells = "  ".join(cell.ljust(width) for cell, width in zip(line, wide, strict=True)).rstrip()
            told.append(cells if cells.isprintable() else ascii(cells)[1:-1])  # a name may act on the terminal
        told += [f"- {finding.sentence}" for finding in self.findings]
        return "\n".join(told if self.next_step is None else [*told, f"Next, for example: {self.next_step}"])

    def _repr_html_(self) -> str:
        """A table for a notebook."""
        head, *rows = self._lines
        names = "".join(f"<th>{name}</th>" for name in head)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in rows)
        said = "".join(f"<li>{escape(finding.sentence)}</li>" for finding in self.findings)
        step = "" if self.next_step is None else f"<pre>{escape(self.next_step)}</pre>"
        return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table><ul>{said}</ul>{step}"
