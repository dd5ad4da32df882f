"""What survives of a table in what is published of it: the figures side by side, as a table and as a picture."""

import math

from takifugu.estimates import Compared, Comparison
from takifugu.reports.blocks import table
from takifugu.reports.svg import INK, LETTER, RULE, Picture, Scale, colour, label, legend
from takifugu.reports.text import clean, number

_ROW = 22.0  # units of height of a figure in the picture
_MOST_NAMED = 46  # characters of a figure's name in the picture
_MOST_DRAWN = 40  # figures in the picture, the most changed first
_FAR = 2.5  # spreads: what lies farther stands at the edge
_WIDTH = 640


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


def survival_chart(comparison: Comparison) -> Picture:
    """Each figure before and after on one scale of spreads, the most changed first."""
    chosen = sorted(comparison.figures, key=_order)[:_MOST_DRAWN]
    names = [clean(f"{one.kind}: {one.name}", _MOST_NAMED) for one in chosen]
    left = min(max(map(len, names), default=0) * LETTER * 0.95 + 12, 0.6 * _WIDTH)
    ends = [min(abs(x), _FAR) for one in chosen for x in one.measured if not math.isnan(x)]
    reach = 1.05 * max([0.25, *ends])
    scale = Scale(-reach, reach, left, _WIDTH - 16)
    parts, used = legend([(0, "true rows"), (1, "published")], 8, 18, _WIDTH - 16)
    top, bottom = used + 8.0, used + 8.0 + _ROW * len(chosen)
    for value in scale.ticks(5):
        at = float(scale(value))
        parts.append(f'<line x1="{at:.1f}" y1="{top:.1f}" x2="{at:.1f}" y2="{bottom:.1f}" stroke="{RULE}"/>')
        parts.append(label(at, bottom + 16, number(value), anchor="middle"))
    for k, (one, name) in enumerate(zip(chosen, names, strict=True)):
        y = top + _ROW * (k + 0.5)
        before, after = (min(max(x, -reach), reach) for x in one.measured)
        weight = "600" if one.is_changed else "400"
        parts.append(label(left - 8, y + 4, name, anchor="end", fill=INK, weight=weight, size=12))
        first = float(scale(before))
        if not math.isnan(after):
            then = float(scale(after))
            width = 3 if one.is_changed else 1.5
            parts.append(
                f'<line x1="{first:.1f}" y1="{y:.1f}" x2="{then:.1f}" y2="{y:.1f}" stroke="{colour(1)}" '
                f'stroke-width="{width}"/>'
            )
            parts.append(f'<rect x="{then - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour(1)}"/>')
        parts.append(f'<circle cx="{first:.1f}" cy="{y:.1f}" r="5" fill="{colour(0)}"/>')
    parts.append(
        label((left + _WIDTH) / 2, bottom + 36, "correlation, or distance in spreads", anchor="middle", fill=INK)
    )
    return Picture("tk-survival", "What survives", f"{comparison.sentence}.", _WIDTH, bottom + 46, parts)


def _order(one: Compared) -> tuple[bool, bool, float]:
    before, after = one.measured
    return not one.is_reversed, not one.is_changed, -abs((0.0 if math.isnan(after) else after) - before)
