"""The study as Markdown: a table with a line for each table, a paragraph that counts, and the sources."""

from collections.abc import Sequence

from studies.unseen.settings import ALPHA, AT_LEAST, CONFIDENCE, EPSILON, ODDS, Unseen
from studies.unseen.study import Line

_HEAD = (
    "table: secret → number, label",
    "rows (rarest)",
    "noise",
    "channel",
    "times",
    "shares kept",
    "times",
    "times, sample",
    "noise, clipped",
    "noise, estimated",
    f"odds {ODDS:g}",
    f"labels, odds {ODDS:g}",
    "best guess (allowed)",
    "contradicted",
)


def told(lines: Sequence[Line]) -> str:
    """One line for each table; errors in percent of the column's variance, or of its labels."""
    rows = [_HEAD, ("---",) * 2 + ("--:",) * (len(_HEAD) - 2), *map(_row, lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(line: Line) -> tuple[str, ...]:
    table, numbers = line.unseen, line.numbers
    worst = max(line.audits.values(), key=lambda one: float(one.best_guess) - one.guess_limit)
    return (
        f"{table.name}: {table.secret} → {table.number}, {table.label}",
        f"{line.rows:,} ({line.rarest:,} of {line.secrets} secrets)",
        _percent(numbers.noise),
        _percent(numbers.channel),
        _times(numbers.times),
        _percent(numbers.kept),
        _times(numbers.times_kept),
        _times(numbers.times_sample),
        _percent(numbers.noise_clipped),
        _percent(numbers.noise_estimated),
        _percent(numbers.odds),
        _percent(line.changed),
        f"{worst.best_guess:.1%} ({worst.guess_limit:.1%})",
        ", ".join(line.contradicted) or "none",
    )


def _times(times: float) -> str:
    return f"**{times:.1f}**" if times >= AT_LEAST else f"{times:.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:,.0f} %"


def summary(lines: Sequence[Line]) -> str:
    """How many tables show what was to be shown, and which do not."""
    audits = sum(len(line.audits) for line in lines)
    attacks = sum(len(audit.attacks) for line in lines for audit in line.audits.values())
    wrong = sum(len(line.contradicted) for line in lines)
    short = [line.unseen.name for line in lines if line.numbers.times < AT_LEAST]
    short_kept = [line.unseen.name for line in lines if line.numbers.times_kept < AT_LEAST]
    beaten = [line.unseen.name for line in lines if line.numbers.channel > line.numbers.noise_estimated]
    seconds = sum(line.seconds for line in lines)
    return (
        f"{len(lines)} tables, {audits} releases, {attacks:,} attacks: {wrong} guarantees contradicted. At "
        f"α = {ALPHA:g} and ε = {EPSILON:g} with {CONFIDENCE:.0%} confidence, Gaussian noise has at least "
        f"{AT_LEAST:g} times the square error of the channel on {_count(lines, short)}; of the channel that also "
        f"keeps the shares of all values, on {_count(lines, short_kept)}. After the noisy values are replaced by "
        f"their best estimate, the channel still has the smaller error on {_count(lines, beaten)}. Processor time: "
        f"{seconds:,.0f} s."
    )


def _count(lines: Sequence[Line], without: Sequence[str]) -> str:
    names = f" (not on {', '.join(without)})" if without else ""
    return f"{len(lines) - len(without)} of {len(lines)} tables{names}"


def sources(tables: Sequence[Unseen]) -> str:
    """Where each table comes from, and under which licence the package is shared."""
    rows = [("table", "what", "package", "licence", "source"), ("---",) * 5]
    for one in tables:
        licence = f"{one.wheel.licence}; {one.terms}" if one.terms else one.wheel.licence
        rows.append((one.name, one.title, f"`{one.wheel}`", licence, one.source))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
