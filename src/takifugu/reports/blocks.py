"""The blocks that pages are made of: cards, tables, bars and sections. Everything that came from data is escaped."""

import math
from collections.abc import Container, Iterable, Sequence
from importlib.resources import files

from takifugu.estimates import Compared, Comparison
from takifugu.reports.adversary import Adversary
from takifugu.reports.svg import INK, LETTER, RULE, Picture, Scale, colour, label, legend, palette
from takifugu.reports.text import at_most, clean, escape, number

_LONG = 2_000  # characters of a sentence: its parts were shortened already


def style() -> str:
    """The look of a page."""
    return palette() + files("takifugu.reports").joinpath("report.css").read_text(encoding="utf-8")


def say(text: str) -> str:
    """A sentence for HTML."""
    return escape(text, _LONG)


def paragraphs(*texts: str | None, kind: str = "") -> str:
    """A paragraph for each text that there is."""
    mark = f' class="{kind}"' if kind else ""
    return "\n".join(f"<p{mark}>{say(text)}</p>" for text in texts if text)


def section(name: str, title: str, *parts: str) -> str:
    """A section under a heading."""
    body = "\n".join(part for part in parts if part)
    return f'<section aria-labelledby="{name}-title">\n<h2 id="{name}-title">{say(title)}</h2>\n{body}\n</section>'


def columns(*sides: str) -> str:
    """Side by side where there is room, else one below the other."""
    inside = "\n".join(f"<div>\n{side}\n</div>" for side in sides)
    return f'<div class="columns">\n{inside}\n</div>'


def scroll(label: str, inside: str) -> str:
    """What may be wider than a telephone, to be moved sideways with a finger or the keyboard."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{inside}</div>'


def cards(figures: Iterable[tuple[str, str, str]]) -> str:
    """The figures that count: a name, a value and a note each."""
    return "\n".join(
        f"<div><dt>{say(name)}</dt><dd>{say(value)}<small>{say(note)}</small></dd></div>"
        for name, value, note in figures
    )


def proof_card(digest: str | None) -> tuple[str, str, str]:
    """Whether it was proved."""
    return (
        "Proof",
        "Certified" if digest else "Computed",
        "in exact and ball arithmetic" if digest else "no certificate was made",
    )


def items(texts: Iterable[str]) -> str:
    """A plain list."""
    return f"<ul>{''.join(f'<li>{say(text)}</li>' for text in texts)}</ul>"


def bars(label: str, rows: Iterable[tuple[str, str, float, int]]) -> str:
    """A bar for each: name, value as text, share of the full length, and the index of its colour."""
    inside = "".join(
        f"<li><span>{say(name)} <b>{say(value)}</b></span>"
        f'<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * min(1.0, max(0.0, share)):.2f}" height="4" fill="{colour(index)}"/></svg></li>'
        for name, value, share, index in rows
    )
    return f'<ul class="bars" aria-label="{escape(label, 200)}">{inside}</ul>'


def guesses(guess: Adversary, *, before: str) -> str:
    """Three bars from a random guess (50 %) to certainty."""
    return bars(
        "Chance of guessing right; an empty bar is a random guess",
        (
            (name, at_most(share), 2 * (share - 0.5), index)
            for name, share, index in (
                (before, guess.guess_before, 1),
                ("As published", guess.guess_after, 0),
                ("At most, by the guarantee alone", guess.guess_bound, 4),
            )
        ),
    )


def odds_table(guess: Adversary) -> str:
    """How far the odds move in most releases."""
    rows = [
        (f"{one.probability * 100:g} of 100", f"×{number(one.exact, 3)}", f"×{number(one.bound, 3)}")
        for one in guess.odds
    ]
    caption = f"The odds of the true secret rise by at most ({guess.after_between})"
    return scroll("How far the odds can move", table(caption, ("Releases", "Here", "By the guarantee alone"), rows))


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, chosen: Container[int] = ()) -> str:
    """A table whose first column names its rows; columns of figures stand to the right."""
    body = [list(map(str, row)) for row in rows]
    figures = [k > 0 and all(_is_figure(row[k]) for row in body) for k in range(len(head))]
    mark = [' class="n"' if is_figure else "" for is_figure in figures]
    top = "".join(f'<th scope="col"{m}>{say(name)}</th>' for name, m in zip(head, mark, strict=True))
    lines = []
    for i, row in enumerate(body):
        cells = "".join(f"<td{m}>{say(cell)}</td>" for cell, m in zip(row[1:], mark[1:], strict=True))
        lines.append(f'<tr{" class=chosen" if i in chosen else ""}><th scope="row">{escape(row[0])}</th>{cells}</tr>')
    return (
        f"<table><caption>{say(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _is_figure(cell: str) -> bool:
    return cell == "" or cell[0] in "0123456789×−∞≥<>"


# What survives of a table in what is published of it: the figures side by side, as a table and as a picture.


_ROW = 22.0  # units of height of a figure in the picture
_MOST_NAMED = 46  # characters of a figure's name in the picture
MOST_FIGURES = 12  # of those in a picture beside others
_MOST_DRAWN = 40  # figures in the picture, the most changed first
_FAR = 2.5  # spreads: what lies farther stands at the edge


def survival_table(comparison: Comparison) -> str:
    """Every figure of the true rows beside that of the published ones; those that are changed in bold."""
    has_corrections = any(one.corrected is not None for one in comparison.figures)
    rows = []
    for one in comparison.figures:
        mark = "reversed" if one.is_reversed else "changed" if one.is_changed else ""
        corrected = (_corrected(one),) if has_corrections else ()
        rows.append((f"{one.kind}: {one.name}", _number(one.before), _number(one.after), *corrected, mark))
    head = ("Figure", "True rows", "Published", *(("Corrected",) if has_corrections else ()), "")
    chosen = [k for k, one in enumerate(comparison.figures) if one.is_changed]
    return table("What survives; what is changed stands in bold", head, rows, chosen=chosen)


def _corrected(one: Compared) -> str:
    if one.corrected is None:
        return "–"
    return f"{_number(one.corrected.value)} ± {number(one.corrected.from_channel, 2)}"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else number(0.0 if abs(value) < 1e-9 else value, 3)


def survival_chart(comparison: Comparison, *, width: int = 640, most: int = _MOST_DRAWN) -> Picture:
    """Each figure before and after on one scale of spreads, the most changed first."""
    chosen = sorted(comparison.figures, key=_order)[:most]
    names = [clean(f"{one.kind}: {one.name}", _MOST_NAMED) for one in chosen]
    beside = max(map(len, names), default=0) * LETTER * 0.95 + 12
    is_above = beside > 0.6 * width  # a name that leaves no room beside it stands above its figure, and is not cut
    left, row = (16.0, 2 * _ROW) if is_above else (beside, _ROW)
    ends = [min(abs(x), _FAR) for one in chosen for x in one.measured if not math.isnan(x)]
    reach = 1.05 * max([0.25, *ends])
    scale = Scale(-reach, reach, left, width - 16)
    parts, used = legend([(0, "true rows"), (1, "published")], 8, 18, width - 16)
    top, bottom = used + 8.0, used + 8.0 + row * len(chosen)
    for value in scale.ticks(5):
        at = float(scale(value))
        parts.append(f'<line x1="{at:.1f}" y1="{top:.1f}" x2="{at:.1f}" y2="{bottom:.1f}" stroke="{RULE}"/>')
        parts.append(label(at, bottom + 16, number(value), anchor="middle"))
    for k, (one, name) in enumerate(zip(chosen, names, strict=True)):
        y = top + row * (k + 1) - _ROW / 2
        before, after = (min(max(x, -reach), reach) for x in one.measured)
        weight = "600" if one.is_changed else "400"
        x, up, anchor = (8.0, _ROW - 4, "start") if is_above else (left - 8, -4, "end")
        parts.append(label(x, y - up, name, anchor=anchor, fill=INK, weight=weight, size=12))
        first = float(scale(before))
        if not math.isnan(after):
            then = float(scale(after))
            stroke = 3 if one.is_changed else 1.5
            parts.append(
                f'<line x1="{first:.1f}" y1="{y:.1f}" x2="{then:.1f}" y2="{y:.1f}" stroke="{colour(1)}" '
                f'stroke-width="{stroke}"/>'
            )
            parts.append(f'<rect x="{then - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour(1)}"/>')
        parts.append(f'<circle cx="{first:.1f}" cy="{y:.1f}" r="5" fill="{colour(0)}"/>')
    parts.append(label(width - 16, bottom + 36, "correlation, or distance in spreads", anchor="end", fill=INK))
    return Picture("tk-survival", "What survives", f"{comparison.sentence}.", width, bottom + 46, parts)


def _order(one: Compared) -> tuple[bool, bool, float]:
    before, after = one.measured
    return not one.is_reversed, not one.is_changed, -abs((0.0 if math.isnan(after) else after) - before)
