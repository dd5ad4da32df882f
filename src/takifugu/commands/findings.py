"""Findings on the command line: in its words, one under another."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from takifugu.problems.findings import Finding

# Findings and errors say what to do in the words of Python; here a flag is meant.
_FLAGS = (
    ("list `na` to change that", "give --na to change that"),
    ("declare the sentinel ", "give --sentinel "),
    ("; give public bounds", "; give public ones with --bounds and --step"),
    ("ask for confidence=0.95, ", "ask for --confidence 0.95, "),
    (", or take the risk with fit_priors(..., few='allow')", " or leave it out by naming the pairs that matter"),
    ("ask for a new one with new=True", "ask for a new one with --new-ledger"),
    ("Name the columns that say so with keys", "Name the columns that say so with --keys"),
    ("Give a domain that is public to avoid that", "Give a public list to avoid that (publish --domain)"),
)


def in_flags(sentence: str) -> str:
    """A sentence with flags in place of arguments.

    >>> in_flags("read as missing: list `na` to change that")
    'read as missing: give --na to change that'
    """
    for said, meant in _FLAGS:
        sentence = sentence.replace(said, meant)
    return sentence


def tell_findings(findings: "Iterable[Finding]", out: "Console") -> None:
    """A line for each, warnings marked."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from takifugu.reports.text import clean

    lines = Table.grid(padding=(0, 1))
    for finding in findings:
        is_warning = finding.level == "warning"
        sentence = Text(in_flags(clean(finding.sentence, 600)))
        lines.add_row("!" if is_warning else "·", sentence, style="yellow" if is_warning else "dim")
    out.print(Padding(lines, (0, 2)))
