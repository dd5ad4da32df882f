"""Numbers in few digits, of which none says more than is known."""

from decimal import ROUND_FLOOR, Context


def rounded_down(bound: float, digits: int) -> str:
    """A bound from below in so many digits: what is told is never more than what was shown.

    >>> rounded_down(1.6469, 3), rounded_down(2.3, 3), rounded_down(float("inf"), 3)
    ('1.64', '2.29', '∞')
    """
    shown = float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(bound))
    return "∞" if shown == float("inf") else f"{shown:.{digits}g}"
