"""Findings on the command line: in its words, one under another."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from takifugu.problems.findings import Finding

# Findings say what to do in words that fit every door; here a flag is meant.
_FLAGS = (
    ("list `na` to change that", "give --na to change that"),
    ("declare the sentinel ", "give --sentinel "),
    ("; give public bounds", "; give public ones with --bounds and --step"),
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
