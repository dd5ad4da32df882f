"""What an inspection found, for people and for programs."""

import math
from dataclasses import dataclass
from html import escape
from typing import Any

from takifugu.problems.findings import Finding
from takifugu.queries.betrayal import Betrayal
from takifugu.queries.proposing import Proposal
from takifugu.tables.table import Secret


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
    """What is in a table.

    `sentinels` are the suspected codes that the lists take for missing values, as "column=value".
    """

    rows: int
    columns: tuple[InspectedColumn, ...]
    secret: str | None
    groups: tuple[Group, ...]
    without_secret: int
    sentinels: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def betrayals(self) -> tuple[Betrayal, ...]:
        """What each column tells of the secret, the worst first."""
        found = [one.betrayal for one in self.columns if one.betrayal is not None]
        return tuple(sorted(found, key=lambda one: (-one.best_guess, -one.odds)))

    def to_dict(self) -> dict[str, Any]:
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
