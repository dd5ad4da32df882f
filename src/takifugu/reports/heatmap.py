"""A table of shares as a picture: the darker a square, the larger its share."""

import math
from collections.abc import Callable, Sequence

from takifugu._validation import Array
from takifugu.reports.svg import INK, MUTED, RULE, colour, document, label
from takifugu.reports.text import clean, escape

WIDTH = 480
_NAME = 20  # characters of a value beside its row
_LETTER = 6.9  # units of width that a letter of 12 units takes
_WIDE = 9.0  # and one of the wider ones: without the difference, names in capitals would be cut off
_LINE = 13.0  # units of height that a line of text takes
_LARGEST = 44.0  # a square's side, where there are few
_LEAST_SHARE = 5e-4  # below which a square stays empty: it could not be seen
_DARK = 0.7  # the shade from which the colour of the paper is read better on a square than that of the ink
_READABLE = 27.0  # a square's side from which a figure fits in


def heat_map(
    shares: Array,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    texts: Callable[[int, int], str],
    name: str,
    title: str,
    description: str,
    is_numeric: bool,
    x_label: str,
    y_label: str,
    width: int = WIDTH,
) -> str:
    """Squares shaded by `shares` (0 to 1), NaN left blank; `texts` gives the figure of a square."""
    rows, columns = [clean(r, _NAME) for r in rows], [clean(c, _NAME) for c in columns]
    left = min(max(map(_width, rows)) + 10, 0.36 * width)
    side = min((width - left - 10) / len(columns), _LARGEST)
    flat = is_numeric or max(map(_width, columns)) < side - 2
    foot = 22.0 if flat else min(max(map(_width, columns)) + 10, 150.0)
    top = 24.0 if y_label else 8.0
    parts = []
    if y_label:
        parts.append(label(2, 14, y_label, fill=INK))
    for i in range(len(rows)):
        for j in range(len(columns)):
            parts += _square(float(shares[i, j]), left + j * side, top + i * side, side, texts, (i, j), (rows, columns))
    bottom, right = top + len(rows) * side, left + len(columns) * side
    parts.append(
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" fill="none" '
        f'stroke="{RULE}"/>'
    )
    # Numbers between two labels can be read off; of labels each must be there, in smaller letters if need be.
    size = 12 if is_numeric or side >= _LINE else max(9, math.floor(side))
    line = _LINE if is_numeric else size
    for i in range(0, len(rows), math.ceil(line / side)):
        parts.append(label(left - 6, top + (i + 0.5) * side + 4, rows[i], anchor="end", size=size))
    wide = max(map(_width, columns)) + 6 if flat else size
    for j in range(0, len(columns), math.ceil(wide / side)):
        at = left + (j + 0.5) * side
        if flat:
            parts.append(label(at, bottom + 16, columns[j], anchor="middle", size=12))
        else:
            parts.append(
                f'<text transform="translate({at + 4:.1f} {bottom + 6:.1f}) rotate(-90)" text-anchor="end" '
                f'font-size="{size}" fill="{MUTED}">{escape(columns[j])}</text>'
            )
    parts.append(label((left + right) / 2, bottom + foot + 12, x_label, anchor="middle", fill=INK))
    return document(parts, name=name, title=title, description=description, width=width, height=bottom + foot + 22)


def _width(text: str) -> float:
    """About how many units of width a text takes."""
    return sum(_WIDE if letter.isupper() or letter in "mw%" else _LETTER for letter in text)


def _square(
    share: float,
    x: float,
    y: float,
    side: float,
    texts: Callable[[int, int], str],
    at: tuple[int, int],
    names: tuple[Sequence[str], Sequence[str]],
) -> list[str]:
    if not share >= _LEAST_SHARE:  # NaN too
        return []
    # The root makes room for small shares, which are what a reader looks for beside a full diagonal.
    shade = min(1.0, 0.06 + 0.94 * math.sqrt(min(share, 1.0)))
    text = texts(*at)
    told = escape(f"{names[0][at[0]]} → {names[1][at[1]]}: {text}", 120)
    parts = [
        f'<g><title>{told}</title><rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}" '
        f'fill="{colour(0)}" fill-opacity="{shade:.2f}"/>'
    ]
    if side >= _READABLE and len(text) * 6 < side:
        fill = "var(--tk-on, var(--tk-paper, #ffffff))" if shade > _DARK else INK
        parts.append(
            f'<text x="{x + side / 2:.1f}" y="{y + side / 2 + 4:.1f}" text-anchor="middle" font-size="11" '
            f'fill="{fill}">{escape(text)}</text>'
        )
    parts.append("</g>")
    return ["".join(parts)]
