"""What commands print: for people with rich, for programs as JSON."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from takifugu.commands.findings import tell_findings
from takifugu.commands.words import in_flags

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from takifugu.reports.channel_facts import ChannelFacts
    from takifugu.reports.common import Facts
    from takifugu.reports.noise_facts import NoiseFacts
    from takifugu.reports.vector_facts import VectorFacts

_SENTENCES = 6  # that a terminal shows of a column
_MOST_COLUMNS = 4
_USUAL_WIDTH = 80


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

    made = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
    if made.width < 1:  # COLUMNS=0, as some schedulers have it: rich would print nothing at all
        made.width = _USUAL_WIDTH
    return made


def tell(facts: "Facts", out: "Console") -> None:
    """What was found, what it means and what it costs."""
    from rich.text import Text

    from takifugu.reports.channel_facts import ChannelFacts
    from takifugu.reports.noise_facts import NoiseFacts
    from takifugu.reports.text import clean
    from takifugu.reports.vector_facts import VectorFacts

    out.print(Text(clean(facts.question, 400), style="bold"))
    out.print()
    if isinstance(facts, NoiseFacts):
        _tell_noise(facts, out)
    elif isinstance(facts, ChannelFacts):
        _tell_channel(facts, out)
    elif isinstance(facts, VectorFacts):
        _tell_vectors(facts, out)
    if facts.findings:
        out.print()
        tell_findings(facts.findings, out)


def _tell_noise(facts: "NoiseFacts", out: "Console") -> None:
    from takifugu.reports import words
    from takifugu.reports.text import number

    typical = next(o for o in facts.adversary.odds if o.probability == 0.95)
    out.print(words.answer(facts))
    promise = words.in_guesses(facts.calibration.guarantee)
    for told in (promise, words.order(facts), words.priors(facts), words.population(facts), words.saving(facts)):
        if told:
            out.print(in_flags(told))
    out.print()
    averaged = ("100 averaged", f"± {number(facts.analyst[2].error, 3)}", "its standard error from the noise")
    _figures(
        [
            ("Noise θ", number(facts.theta), f"for α = {number(facts.alpha)}, ε = {number(facts.epsilon)}"),
            facts.worst_figure,
            facts.guess_figure,
            ("Odds rise", f"≤ ×{number(typical.exact, 3)}", f"in 95 of 100 releases, {facts.adversary.after_between}"),
            *([averaged] if words.is_averaged(facts) else []),
        ],
        out,
    )
    rows = []
    for one in facts.comparisons:
        chosen = one.mechanism == facts.calibration.mechanism
        note = "weaker promise" if one.is_weaker else "no finite answer" if math.isinf(one.theta) else ""
        rows.append(((one.label, one.told(), "chosen" if chosen else note), chosen))
    _rows(("At the same budget", "noise θ", ""), rows, out)


def _tell_vectors(facts: "VectorFacts", out: "Console") -> None:
    from takifugu.reports import vector_page, words

    out.print(vector_page.answer(facts))
    if told := words.population(facts):
        out.print(in_flags(told))
    out.print()
    _figures(
        [
            *vector_page.figures(facts),
            facts.worst_figure,
            facts.guess_figure,
        ],
        out,
    )


def _tell_channel(facts: "ChannelFacts", out: "Console") -> None:
    from takifugu.reports import channel_words as words
    from takifugu.reports.text import clean, number, percent
    from takifugu.reports.words import in_guesses, population

    out.print(words.answer(facts))
    beside = (words.radius, words.best, words.counted_as, words.gaussian)
    for told in (in_guesses(facts.calibration.guarantee), population(facts), *(say(facts) for say in beside)):
        if told:
            out.print(in_flags(told))
    out.print()
    _figures(words.figures(facts), out)
    for column in facts.columns[:_MOST_COLUMNS]:
        if len(facts.columns) > 1:
            out.print(f"  {clean(column.name)}", style="bold")
        for sentence in words.sentences(column, most=_SENTENCES):
            out.print(f"  {sentence}")
    out.print()
    out.print(words.cost(facts))
    out.print(words.averages(facts))
    rows = []
    for one in facts.costs:
        least = "≥ " if one.is_least else ""
        error = "" if one.error is None else f"{least}{number(one.error, 3)}"
        changed = "" if one.changed is None else percent(one.changed)
        note = "chosen" if one.is_chosen else f"weaker: {one.promise}" if one.is_weaker else ""
        rows.append(((one.label, error, changed, note), one.is_chosen))
    if len(rows) > 1:
        out.print()
        _rows(("What others would cost", "off by", "changed", ""), rows, out)


def _figures(figures: "Iterable[tuple[str, str, str]]", out: "Console") -> None:
    from rich.padding import Padding
    from rich.table import Table

    lines = Table.grid(padding=(0, 3))
    lines.add_column(style="dim")
    lines.add_column(justify="right", style="bold")
    lines.add_column()
    for figure in figures:
        lines.add_row(*figure)
    out.print(Padding(lines, (0, 2)))
    out.print()


def _rows(head: tuple[str, ...], rows: "Sequence[tuple[tuple[str, ...], bool]]", out: "Console") -> None:
    """A table of which the chosen row stands out."""
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if 0 < place < len(head) - 1 else "left")
    for cells, chosen in rows:
        table.add_row(*cells, style="bold" if chosen else None)
    out.print(Padding(table, (0, 2)))


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
