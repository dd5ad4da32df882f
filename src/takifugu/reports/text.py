"""Words and numbers for people, from data that may mean harm."""

import html
import math
import unicodedata
from collections.abc import Sequence
from fractions import Fraction

from takifugu.problems import Guarantee

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(value: object, longest: int = 60) -> str:
    """Text that is one line, of a sensible length, with nothing in it that acts on the text around it.

    Control characters, lone surrogates and marks that turn the direction of writing become '�'.

    >>> clean("a\\u202eb\\n"), clean("x" * 100, longest=5)
    ('a�b�', 'xxxx…')
    """
    text = "".join("�" if c in _TURNING or unicodedata.category(c) in ("Cc", "Cs") else c for c in str(value))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def escape(value: object, longest: int = 60) -> str:
    """`clean` text for HTML and SVG, in elements and in quoted attributes.

    >>> escape('<b>"')
    '&lt;b&gt;&quot;'
    """
    return html.escape(clean(value, longest), quote=True)


def in_letters(guarantee: Guarantee) -> str:
    """Order and budget of a guarantee that has one of each; of any other its own words.

    >>> from takifugu.problems import Approximate, Renyi
    >>> in_letters(Renyi(3, 1)), in_letters(Approximate(1, 1e-5))
    ('α = 3, ε = 1', '(ε, δ) = (1, 1e-05)')
    """
    if not hasattr(guarantee, "alpha"):
        return str(guarantee)
    return f"α = {number(guarantee.alpha)}, ε = {number(guarantee.epsilon)}"


def number(value: float, digits: int = 4) -> str:
    """A number with as many digits as a reader wants.

    >>> number(1.88968288), number(12345678.0), number(0.00001234), number(math.inf), number(4.0), number(math.nan)
    ('1.89', '12,350,000', '0.00001234', '∞', '4', '–')
    """
    if math.isnan(value):  # there is none such
        return "–"
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if not 1e-6 <= size < 1e9:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}×10^{int(exponent)}".replace("-", "−")
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    rounded = round(value, digits - 1 - math.floor(math.log10(size)))
    text = f"{rounded:,.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def at_least(value: float, digits: int = 4) -> str:
    """A lower bound above 0 as a `number`, rounded down: what is told is never more than what is proved.

    >>> at_least(5180.9), at_least(15.2999), at_least(0.89788), at_least(0.3), at_least(20.0)
    ('5,180', '15.29', '0.8978', '0.3', '20')
    """
    unit = Fraction(10) ** (math.floor(math.log10(value)) + 1 - digits)
    # The last bits of a float are no reason for another digit.
    return number(float(math.floor(round(Fraction(value) / unit, 6)) * unit), digits)


def percent(share: float) -> str:
    """A share in percent, to a tenth, without claiming certainty that is not there.

    >>> percent(0.5), percent(0.56789), percent(0.99999), percent(1.0), percent(1e-5)
    ('50 %', '56.8 %', '> 99.9 %', '100 %', '< 0.1 %')
    """
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    text = f"{100 * share:.1f}"
    return f"{text.removesuffix('.0')} %"


def share_of(share: float, *, first: bool = False) -> str:
    """A share inside a sentence, where `percent` is for figures; `first` where a sentence begins with it.

    >>> share_of(0.5), share_of(0.99999), share_of(1e-5, first=True)
    ('50 %', 'more than 99.9 %', 'Less than 0.1 %')
    """
    told = percent(share).replace("> ", "more than ").replace("< ", "less than ")
    return told[0].upper() + told[1:] if first else told


def roughly(share: float) -> str:
    """A share that was rounded, inside a sentence: a bound, none and all are said as they are.

    >>> roughly(0.5), roughly(1e-5), roughly(0.0), roughly(1.0)
    ('about 50 %', 'less than 0.1 %', '0 %', '100 %')
    """
    told = share_of(share)
    return told if share in (0, 1) or "than" in told else f"about {told}"


def at_most(share: float) -> str:
    """A bound on a share, rounded up to a tenth: what is told is never less than what is true.

    >>> at_most(0.75), at_most(0.7571), at_most(0.99999), at_most(1e-5)
    ('75 %', '75.8 %', '100 %', '0.1 %')
    """
    # The last bits of a float are no reason for another tenth.
    return f"{math.ceil(round(1000 * share, 6)) / 10:.1f}".removesuffix(".0") + " %"


def listed(names: Sequence[str]) -> str:
    """Names as one would say them.

    >>> listed(["age"]), listed(["age", "ward", "stay"])
    ('age', 'age, ward and stay')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
