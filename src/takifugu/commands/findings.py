"""Findings on the command line: in its words, one under another."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from takifugu.commands.words import in_flags

if TYPE_CHECKING:
    from rich.console import Console

    from takifugu.problems.findings import Finding


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
