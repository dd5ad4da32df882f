"""A small SVG renderer: axes, lines, areas, bars, a legend and squares, as pictures for pages, notebooks and files.

Colours are CSS variables, so that a page's light and dark themes reach the charts; each has a value to fall back on.
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import count

import numpy as np

from takifugu._validation import Array
from takifugu.atomic import write_text
from takifugu.errors import InputError
from takifugu.reports.text import clean, escape, number

# Okabe and Ito's colours, told apart by colour-blind readers; the dashes tell them apart in print.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a8548a", "#5f6b76", "#8a6d00")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "5 2", "1 4")

LETTER = 7.2  # units of width that a letter of 13 units takes
MARGIN = 13.0  # units around a panel that numbers may reach into
_GAP = 10.0  # units between two numbers of an axis

INK, MUTED, RULE = "var(--tk-ink, #1f2933)", "var(--tk-muted, #52606d)", "var(--tk-rule, #d9e0e6)"


PICTURE_WIDTH = 480  # units of a picture's width, by default
_BESIDE = 18.0  # units between two pictures of one
# In a notebook the ink is the notebook's own, whatever its theme; the other colours are read on light and on dark.
NOTEBOOK = (
    "--tk-ink:currentColor;--tk-muted:currentColor;--tk-rule:rgba(128,128,128,.4);--tk-paper:transparent;--tk-on:#ffffff;"
    "max-width:34rem;overflow-x:auto"
)
_numbers = count(1)  # what two notebook cells show stands on one page, and needs names of its own


@dataclass(frozen=True)
class Picture:
    """A drawing, with a title and a description for those who do not see it.

    A notebook shows it, `save` writes it to a file, and its text stands in a page as it is.

    >>> str(Picture("tk-dot", "A dot", "It is black.", 20, 20, ['<circle cx="10" cy="10" r="5"/>']))[:46]
    '<svg class="tk-chart" viewBox="0 0 20 20" role'
    """

    name: str
    title: str
    description: str
    width: float
    height: float
    parts: Sequence[str] = field(repr=False)

    def __str__(self) -> str:
        """The SVG element, for a page that knows the colours."""
        return self._svg("")

    def _repr_html_(self) -> str:
        """What a notebook shows, in the notebook's own ink."""
        own = Picture(f"tk-shown-{next(_numbers)}", self.title, self.description, self.width, self.height, self.parts)
        return f'<div style="{NOTEBOOK}">{own}</div>'

    def _repr_svg_(self) -> str:
        """A picture that stands alone, with its colours in light and in dark."""
        paper = f'<rect width="{self.width:g}" height="{self.height:.0f}" fill="var(--tk-paper, #ffffff)"/>'
        return self._svg(f"<style>{palette()}</style>{paper}", ' xmlns="http://www.w3.org/2000/svg"')

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file that loads nothing from elsewhere. It may describe the priors.

        Args:
            path: a name that ends in `.svg`, or in `.html`.

        Raises:
            InputError: the name ends in anything else.
        """
        ending = os.path.splitext(path)[1].lower()
        if ending not in (".svg", ".html"):
            raise InputError(f"a picture is saved as .svg or .html, got {os.fspath(path)!r}")
        svg = self._repr_svg_()
        head = f'<meta charset="utf-8"><title>{escape(self.title, 200)}</title>'
        page = f'<!DOCTYPE html>\n<html lang="en">{head}{svg}</html>\n'
        write_text(page if ending == ".html" else svg, path, private=True)

    def _svg(self, inside: str, about: str = "") -> str:
        return (
            f'<svg{about} class="tk-chart" viewBox="0 0 {self.width:g} {self.height:.0f}" role="img" '
            f'aria-labelledby="{self.name}-title {self.name}-desc" font-family="system-ui, sans-serif" font-size="13">'
            f'<title id="{self.name}-title">{escape(self.title, 200)}</title>'
            f'<desc id="{self.name}-desc">{escape(self.description, 1000)}</desc>'
            f"{inside}{''.join(self.parts)}</svg>"
        )


def stacked(pictures: Sequence[Picture]) -> Picture:
    """Several pictures as one, each under the last; the first gives it its name."""
    first, *rest = pictures
    if not rest:
        return first
    parts, height = [], 0.0
    for one in pictures:
        told = f'<g transform="translate(0 {height + _BESIDE:g})" aria-label="{escape(one.title, 200)}">'
        parts += [label(0, height + 12, one.title, fill=INK, weight="600"), told, *one.parts, "</g>"]
        height += one.height + 2 * _BESIDE
    width = max(one.width for one in pictures)
    return Picture(first.name, first.title, " ".join(one.description for one in pictures), width, height, parts)


def palette() -> str:
    """The colours of pictures and pages, in light and in dark."""
    return files("takifugu.reports").joinpath("colours.css").read_text(encoding="utf-8")


def colour(index: int) -> str:
    """The colour of the index-th series."""
    return f"var(--tk-c{index % len(COLOURS) + 1}, {COLOURS[index % len(COLOURS)]})"


def dash(index: int) -> str:
    """The dash pattern of the index-th series."""
    return DASHES[index % len(DASHES)]


@dataclass(frozen=True)
class Scale:
    """From values to coordinates: straight, logarithmic, or bent.

    A bent scale is straight up to about `bend` on both sides of zero and logarithmic beyond, so that it has room for
    values that are skewed and for the noise that takes them below zero.
    """

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False
    bend: float | None = None

    def __call__(self, values: Array | float) -> Array:
        """Coordinates, kept within a picture's reach of the range."""
        x, low, high = np.asarray(values, dtype=np.float64), self.low, self.high
        if self.is_log:
            x, low, high = np.log(np.maximum(x, 1e-300)), math.log(low), math.log(high)
        if self.bend is not None:
            x, low, high = np.arcsinh(x / self.bend), math.asinh(low / self.bend), math.asinh(high / self.bend)
        share = np.clip((x - low) / ((high - low) or 1.0), -1.0, 2.0)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values within the range.

        >>> Scale(0, 10, 0, 1).ticks(), Scale(0.1, 10, 0, 1, is_log=True).ticks()
        ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])
        """
        if self.is_log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            steps = (1, 2, 5) if self.high < 500 * self.low else (1,)
            return [x for d in decades for s in steps if self.low * 0.999 <= (x := _decimal(s, d)) <= self.high * 1.001]
        if self.bend is not None:
            return self._bent_ticks(self.bend)
        width = (self.high - self.low) / most
        if not (math.isfinite(width) and width > 0):
            return [self.low]
        exponent = math.floor(math.log10(width))
        step = next(s for s in (1, 2, 5, 10) if _decimal(s, exponent) >= width * 0.999)
        unit = _decimal(step, exponent)
        first, last = math.ceil(self.low / unit - 1e-9), math.floor(self.high / unit + 1e-9)
        return [float(np.float64(k * unit).round(12 - min(exponent, 0))) for k in range(first, last + 1)]

    def _bent_ticks(self, bend: float) -> list[float]:
        """Zero, and powers of ten on both sides of it; between them 2 and 5 where the powers are few."""
        far = max(abs(self.low), abs(self.high))
        decades = range(math.floor(math.log10(bend)), math.ceil(math.log10(far)) + 1)
        steps = (1, 2, 5) if len(decades) <= 4 else (1,)
        sizes = [x for d in decades for s in steps if (x := _decimal(s, d)) >= 0.5 * bend]
        return [x for x in (*(-size for size in reversed(sizes)), 0.0, *sizes) if self.low <= x <= self.high]

    def stretch(self, values: Array) -> Array:
        """The units of value that a unit of a bent scale stands for: what a density is multiplied with, to keep areas.

        On a straight scale it is one everywhere.
        """
        x: Array = np.asarray(values, dtype=np.float64)
        found: Array = np.ones_like(x) if self.bend is None else np.hypot(x, self.bend)
        return found

    def even(self, count: int) -> Array:
        """So many points from end to end, at equal distances in the picture."""
        if self.bend is None:
            return np.linspace(self.low, self.high, count)
        ends = np.arcsinh(np.array([self.low, self.high]) / self.bend)
        points: Array = self.bend * np.sinh(np.linspace(ends[0], ends[1], count))
        return points


@dataclass
class Panel:
    """One pair of axes and what is drawn on them."""

    x: Scale
    y: Scale
    parts: list[str] = field(default_factory=list)

    def axes(self, *, x_label: str = "", y_label: str = "", x_numbers: bool = True, y_numbers: bool = True) -> None:
        """Rules, ticks and labels."""
        left, right, bottom, top = self.x.start, self.x.end, self.y.start, self.y.end
        for value in self.y.ticks(5) if y_numbers else ():
            at = float(self.y(value))
            self.parts.append(_line(left, at, right, at, RULE))
            self.parts.append(label(left - 6, at + 4, number(value), anchor="end"))
        if x_numbers:
            self._x_numbers(bottom)
        self.parts.append(_line(left, bottom, right, bottom, MUTED))
        if x_label:
            fits = max(8, int((right - left) / LETTER))
            at = (left + right) / 2
            self.parts.append(label(at, bottom + 36, clean(x_label, fits), anchor="middle", fill=INK))
        if y_label:
            self.parts.append(label(left, top - 10, y_label, fill=INK))

    def _x_numbers(self, bottom: float) -> None:
        """Ticks with their numbers: one that would run into the last, or out of the picture, stays a tick."""
        zero_first = sorted(self.x.ticks(), key=lambda value: (value != 0.0, value))
        spans: list[tuple[float, float]] = []
        for value in zero_first:
            at, text = float(self.x(value)), number(value)
            self.parts.append(_line(at, bottom, at, bottom + 4, MUTED))
            half = LETTER * len(text) / 2
            centre = min(max(at, self.x.start - MARGIN + half), self.x.end + MARGIN - half)
            if all(centre + half + _GAP < low or centre - half - _GAP > high for low, high in spans):
                spans.append((centre - half, centre + half))
                self.parts.append(label(centre, bottom + 18, text, anchor="middle"))

    def curve(self, x: Array, y: Array, index: int, *, filled: bool = False, width: float = 2.0) -> None:
        """A line in the colour and dash of a series, perhaps with the area under it."""
        y = np.minimum(y, self.y.high)  # a peak beyond the picture is cut off flat
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(self.x(x), self.y(y), strict=True))
        if filled and len(x):
            foot = f"{float(self.y(self.y.low)):.1f}"
            ends = f"{float(self.x(x[0])):.1f},{foot} {points} {float(self.x(x[-1])):.1f},{foot}"
            self.parts.append(f'<polygon points="{ends}" fill="{colour(index)}" fill-opacity="0.13"/>')
        self.parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour(index)}" stroke-width="{width:g}" '
            f'stroke-linejoin="round" stroke-dasharray="{dash(index) or "none"}"/>'
        )

    def bars(self, x: Array, y: Array, index: int, *, width: float, shift: float = 0.0, opacity: float = 0.3) -> None:
        """Bars of a width in units of the picture, from the foot of the panel."""
        foot = float(self.y(self.y.low))
        for at, top in zip(self.x(x), self.y(np.minimum(y, self.y.high)), strict=True):
            if foot - top > 0.2:
                self.parts.append(
                    f'<rect x="{at + shift - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" '
                    f'height="{foot - top:.1f}" fill="{colour(index)}" fill-opacity="{opacity:g}"/>'
                )

    def point(self, x: float, y: float, text: str) -> None:
        """A marked point with guides to both axes."""
        at, up = float(self.x(x)), float(self.y(y))
        self.parts.append(_line(at, up, at, self.y.start, INK, "3 3"))
        self.parts.append(_line(self.x.start, up, at, up, INK, "3 3"))
        self.parts.append(f'<circle cx="{at:.1f}" cy="{up:.1f}" r="5.5" fill="{INK}"/>')
        right = at > (self.x.start + self.x.end) / 2
        self.parts.append(label(at + (-9 if right else 9), up - 9, text, anchor="end" if right else "start", fill=INK))

    def note(self, text: str) -> None:
        """A heading inside the panel's upper right corner."""
        self.parts.append(label(self.x.end, self.y.end - 6, text, anchor="end", fill=INK, weight="600"))


def legend(labels: Sequence[tuple[int, str]], x: float, y: float, width: float) -> tuple[list[str], float]:
    """A line sample and a name for each series, wrapped; the parts, and how high they stand."""
    parts, at, row = [], x, y
    for index, name in labels:
        needs = 34 + LETTER * len(name) + 16
        if at > x and at + needs > x + width + 16:
            at, row = x, row + 20
        parts.append(
            f'<line x1="{at:.0f}" y1="{row - 4:.0f}" x2="{at + 26:.0f}" y2="{row - 4:.0f}" stroke="{colour(index)}" '
            f'stroke-width="3" stroke-dasharray="{dash(index) or "none"}"/>'
        )
        parts.append(label(at + 33, row, name, fill=INK))
        at += needs
    return parts, row - y + 20


def label(
    x: float, y: float, text: str, *, anchor: str = "start", fill: str = MUTED, weight: str = "400", size: int = 13
) -> str:
    """A line of text."""
    # A rim in the colour of the paper keeps a label readable where a line runs behind it.
    rim = 'stroke="var(--tk-paper, #ffffff)" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
    style = f'text-anchor="{anchor}" fill="{fill}" font-size="{size}" font-weight="{weight}" {rim}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, stroke: str, dashes: str = "none") -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" stroke-dasharray="{dashes}"/>'
    )


def _decimal(step: int, exponent: int) -> float:
    return float(f"{step}e{exponent}")


# A table of shares as a picture: the darker a square, the larger its share.

_NAME = 20  # characters of a value beside its row
_LETTER = 6.9  # units of width that a letter of 12 units takes
_WIDE = 9.0  # and one of the wider ones: without the difference, names in capitals would be cut off
_LINE = 13.0  # units of height that a line of text takes
_LARGEST = 44.0  # a square's side, where there are few
_LEAST_SHARE = 5e-4  # below which a square stays empty: it could not be seen
_DARK = 0.7  # the shade from which the colour of the paper is read better on a square than that of the ink
_READABLE = 27.0  # a square's side from which a figure fits in


def squares(
    shares: Array,
    names: tuple[Sequence[str], Sequence[str]],
    *,
    texts: Callable[[int, int], str],
    is_numeric: bool = False,
    x_label: str = "",
    y_label: str = "",
    width: int = PICTURE_WIDTH,
) -> tuple[list[str], float]:
    """Squares shaded by `shares` (0 to 1), NaN left blank: what to draw, and how high it stands.

    Args:
        shares: a row of squares for each of the first `names`, a column for each of the second.
        names: what stands beside each row, and under each column.
        texts: the figure of a square.
        is_numeric: whether names are numbers, of which some may be left out.
        x_label: what stands under the columns.
        y_label: what stands over the rows.
        width: of the picture.
    """
    rows, columns = ([clean(name, _NAME) for name in side] for side in names)
    left = min(max(map(_width, rows)) + 10, 0.36 * width)
    side = min((width - left - 10) / len(columns), _LARGEST)
    flat = is_numeric or max(map(_width, columns)) < side - 2
    foot = 22.0 if flat else min(max(map(_width, columns)) + 10, 150.0)
    top = 24.0 if y_label else 8.0
    parts = [label(2, 14, y_label, fill=INK)] if y_label else []
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if float(shares[i, j]) >= _LEAST_SHARE:  # which NaN is not
                at = left + j * side, top + i * side
                parts += _square(float(shares[i, j]), at, side, texts(i, j), f"{row} → {column}")
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
        middle = left + (j + 0.5) * side
        if flat:
            parts.append(label(middle, bottom + 16, columns[j], anchor="middle", size=12))
        else:
            parts.append(
                f'<text transform="translate({middle + 4:.1f} {bottom + 6:.1f}) rotate(-90)" text-anchor="end" '
                f'font-size="{size}" fill="{MUTED}">{escape(columns[j])}</text>'
            )
    parts.append(label((left + right) / 2, bottom + foot + 12, x_label, anchor="middle", fill=INK))
    return parts, bottom + foot + 22


def _width(text: str) -> float:
    """About how many units of width a text takes."""
    return sum(_WIDE if letter.isupper() or letter in "mw%" else _LETTER for letter in text)


def _square(share: float, at: tuple[float, float], side: float, text: str, names: str) -> list[str]:
    # The root makes room for small shares, which are what a reader looks for beside a full diagonal.
    shade = min(1.0, 0.06 + 0.94 * math.sqrt(min(share, 1.0)))
    x, y = at
    parts = [
        f'<g><title>{escape(f"{names}: {text}", 120)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" '
        f'height="{side:.1f}" fill="{colour(0)}" fill-opacity="{shade:.2f}"/>'
    ]
    if side >= _READABLE and len(text) * 6 < side:
        fill = "var(--tk-on, var(--tk-paper, #ffffff))" if shade > _DARK else INK
        parts.append(
            f'<text x="{x + side / 2:.1f}" y="{y + side / 2 + 4:.1f}" text-anchor="middle" font-size="11" '
            f'fill="{fill}">{escape(text)}</text>'
        )
    return [*parts, "</g>"]
