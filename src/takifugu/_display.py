"""How the nouns show themselves, without knowing who draws them.

Laws, channels and calibrations stand to the left of the reports, and no room looks to its right. So they ask whoever
has signed up here. `takifugu/__init__.py`, which knows every room, signs the reports up, and they are imported when
something is first shown.
"""

from collections.abc import Callable
from decimal import ROUND_FLOOR, Context
from typing import Any

_painters: dict[str, Callable[..., Any]] = {}


def sign_up(**painters: Callable[..., Any]) -> None:
    """Say who makes `html` and who makes a `plot` of anything shown."""
    _painters.update(painters)


class Displayed:
    """What a notebook shows as a small picture or table."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """HTML for a notebook; None, and so the plain text, where there is nothing to draw."""
        paint = _painters.get("html")
        return None if paint is None else paint(self)


class Plotted(Displayed):
    """What can also be drawn with Matplotlib."""

    __slots__ = ()

    def plot(self, ax: Any = None) -> Any:
        """Draw on Matplotlib axes, new ones by default, and return them. Needs the extra `plots`."""
        return _painters["plot"](self, ax=ax)


# Numbers in few digits, of which none says more than is known.


def rounded_down(bound: float, digits: int) -> str:
    """A bound from below in so many digits: what is told is never more than what was shown.

    >>> rounded_down(1.6469, 3), rounded_down(2.3, 3), rounded_down(float("inf"), 3)
    ('1.64', '2.29', '∞')
    """
    shown = float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(bound))
    return "∞" if shown == float("inf") else f"{shown:.{digits}g}"
