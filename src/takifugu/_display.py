"""How the nouns show themselves, without knowing who draws them.

Laws, channels and calibrations stand to the left of the reports, and no room looks to its right. So they ask whoever
has signed up here. `takifugu/__init__.py`, which knows every room, signs the reports up, and they are imported when
something is first shown.
"""

import os
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Protocol


class Drawing(Protocol):
    """What `.plot()` returns: a picture that a notebook shows, and that can be saved as .svg or .html."""

    def _repr_html_(self) -> str: ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file."""
        ...


class Painters(Protocol):
    """Who shows whatever is shown: the front of the reports."""

    def html(self, thing: object) -> str | None:
        """HTML for a notebook; None where there is nothing to draw."""
        ...

    def plot(self, thing: object) -> Drawing:
        """The picture of a thing."""
        ...


_painters: list[Callable[[], Painters]] = []


def sign_up(painters: Callable[[], Painters]) -> None:
    """Say who makes the HTML and the picture of anything shown; asked when something is first shown."""
    _painters.append(painters)


class Plotted:
    """What a notebook shows as a small picture or table, and what can be drawn."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """HTML for a notebook; None, and so the plain text, where there is nothing to draw."""
        return _painters[0]().html(self) if _painters else None

    def plot(self) -> Drawing:
        """A picture: a notebook shows it, and `.save("picture.svg")` writes it to a file.

        Secrets of fewer than ten rows are named in it and not drawn. It describes the priors: keep it private.
        """
        return _painters[0]().plot(self)


# Numbers in few digits, of which none says more than is known.


def rounded_up(bound: float, digits: int) -> str:
    """A bound from above in so many digits: what is told is never less than what was shown.

    >>> rounded_up(1.6411, 3), rounded_up(3.0, 3), rounded_up(float("inf"), 3)
    ('1.65', '3', '∞')
    """
    shown = float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(bound))
    return "∞" if shown == float("inf") else f"{shown:.{digits}g}"


def rounded_down(bound: float, digits: int) -> str:
    """A bound from below in so many digits: what is told is never more than what was shown.

    >>> rounded_down(1.6469, 3), rounded_down(2.3, 3), rounded_down(float("inf"), 3)
    ('1.64', '2.29', '∞')
    """
    shown = float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(bound))
    return "∞" if shown == float("inf") else f"{shown:.{digits}g}"
