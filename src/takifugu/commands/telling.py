"""What commands print: for people with rich, for programs as JSON."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from takifugu.reports.facts import Facts


def file_of(content: Any) -> str:
    """JSON as files hold it: every float in the shortest form that loses no bit."""
    from takifugu.documents import strict_json

    return strict_json.text(content)


def print_json(content: Any) -> None:
    """Indented JSON on standard output; what is infinite is null, as JSON has no word for it."""
    click.echo(json.dumps(finite(content), indent=1, allow_nan=False))


def finite(content: Any) -> Any:
    """The content with None for each number that JSON cannot hold.

    >>> finite({"theta": [1.5, math.inf]})
    {'theta': [1.5, None]}
    """
    if isinstance(content, dict):
        return {key: finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def console() -> "Console":
    """Standard output for people: plain in a pipe, without colour where NO_COLOR asks for that."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False)


def tell(facts: "Facts", out: "Console") -> None:
    """What was found, what it means and what it costs."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from takifugu.reports import words
    from takifugu.reports.text import clean, number, percent

    guess = facts.adversary
    typical = next(o for o in facts.adversary.odds if o.probability == 0.95)
    out.print(Text(clean(facts.question, 400), style="bold"))
    out.print()
    out.print(words.answer(facts))
    if saving := words.saving(facts):
        out.print(saving)
    out.print()
    lines = Table.grid(padding=(0, 3))
    lines.add_column(style="dim")
    lines.add_column(justify="right", style="bold")
    lines.add_column()
    lines.add_row("Noise θ", number(facts.theta), f"for α = {number(facts.alpha)}, ε = {number(facts.epsilon)}")
    a, b = (clean(name, 30) for name in facts.worst_pair)
    lines.add_row("Worst pair’s loss", number(facts.loss), f"{a} against {b}")
    lines.add_row(
        "Best guess", percent(guess.guess_after), f"of the secret; {percent(guess.guess_before)} without noise"
    )
    lines.add_row("Odds rise", f"≤ ×{number(typical.exact, 3)}", "in 95 of 100 releases")
    lines.add_row("100 averaged", f"± {number(facts.analyst[2].error, 3)}", "its standard error from the noise")
    out.print(Padding(lines, (0, 2)))
    out.print()
    others = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    others.add_column("At the same budget")
    others.add_column("noise θ", justify="right")
    others.add_column("")
    for one in facts.comparisons:
        chosen = one.mechanism == facts.calibration.mechanism
        note = "weaker promise" if one.is_weaker else "no finite answer" if math.isinf(one.theta) else ""
        mark = "chosen" if chosen else note
        others.add_row(one.label, number(one.theta), mark, style="bold" if chosen else None)
    out.print(Padding(others, (0, 2)))
    if facts.findings:
        out.print()
    for finding in facts.findings:
        mark = "!" if finding.level == "warning" else "·"
        out.print(Text(f"  {mark} {clean(finding.sentence, 400)}", style="yellow" if mark == "!" else "dim"))


def tell_files(files: list[tuple[str, str]], out: "Console") -> None:
    """Which files were written, and for whose eyes."""
    from rich.padding import Padding
    from rich.table import Table

    lines = Table.grid(padding=(0, 3))
    lines.add_column(style="bold", overflow="fold")
    lines.add_column(style="dim")
    for path, what in files:
        lines.add_row(str(Path(path)), what)
    out.print(Padding(lines, (0, 2)))
