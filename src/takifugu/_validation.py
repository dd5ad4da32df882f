"""Checks shared by every room: numbers that are numbers, budgets that make sense."""

import math
import numbers
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from takifugu.errors import InputError, suggestion

Array = npt.NDArray[np.float64]


def real(name: str, value: object, accepted: str) -> float:
    """`value` as a finite float, or an error that names it and what is accepted."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | np.floating | np.integer):
        raise InputError(f"{name} must be {accepted}, got {value!r} of type {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{name} must be {accepted}, got {value!r}")
    return number


def integer(name: str, value: object, *, least: int) -> int:
    """`value` as an int of at least `least`, or an error that names it and what is accepted."""
    if type(value) is int and value >= least:  # the places of a million pairs come this way
        return value
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral) or value < least:
        raise InputError(f"{name} must be a whole number, {least} or more, got {value!r}")
    return int(value)


def above(name: str, value: object, least: float, *, because: str = "") -> float:
    """`value` as a finite float above `least`, or an error that names it."""
    accepted = f"a finite number above {least:g}"
    number = real(name, value, accepted)
    if number <= least:
        raise InputError(f"{name} must be {accepted}, got {value!r}{because}")
    return number


def order(alpha: object) -> float:
    """The Rényi order, above one."""
    return above("alpha", alpha, 1)


def budget(epsilon: object) -> float:
    """The privacy budget, above zero."""
    return above("epsilon", epsilon, 0)


def odds(factor: object) -> float:
    """A factor that odds may change by, above one."""
    return above("odds", factor, 1, because=": at 1 nothing may be told at all")


def noise(theta: object) -> float:
    """The standard deviation of the noise, zero or more."""
    number = real("theta", theta, "a finite number, 0 or more")
    if number < 0:
        raise InputError(f"theta must be a finite number, 0 or more, got {theta!r}")
    return number


def one_of(name: str, value: object, known: Sequence[str]) -> None:
    """Refuse what is none of the words that `name` may be."""
    if not isinstance(value, str) or value not in known:
        near = suggestion(value, known) if isinstance(value, str) else ""
        raise InputError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}.{near}")


def no_text(name: str, values: object, what: str) -> None:
    """Refuse a single text where a list of `what` is meant: it would be taken letter by letter."""
    if isinstance(values, str | bytes):
        listed = [part.strip() for part in values.split(",")] if isinstance(values, str) else [values]
        raise InputError(f"{name} must be a list of {what}, got the text {values!r}: write {listed!r}")


def no_cells(name: str, values: object) -> None:
    """Refuse a column itself where its name is meant: its cells would be taken for names, and told as missing ones."""
    from narwhals.dependencies import is_into_series

    if is_into_series(values):
        raise InputError(
            f"{name} must be the name of a column, or a list of names; got a column's values: give its name"
        )


def vector(name: str, values: object) -> Array:
    """`values` as a new one-dimensional array of finite floats."""
    no_text(name, values, "numbers")
    array = _floats(name, values, "a list of numbers")
    if array.ndim != 1:
        raise InputError(f"{name} must be one list of numbers, got an array of shape {array.shape}")
    if array.size == 0:
        raise InputError(f"{name} is empty: at least one number is needed")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InputError(f"{name} must be finite, got {float(array[bad[0]])} at position {int(bad[0])}")
    return array + 0.0  # turns -0.0 into 0.0, so that equal values have equal bits


def reals(name: str, values: object) -> Array:
    """`values` as an array of floats of any shape; infinite ones are welcome, NaN and text are not."""
    array = _floats(name, values, "a number or an array of numbers")
    if np.isnan(array).any():
        raise InputError(f"{name} must be a number or an array of numbers, got nan in {_short(values)}")
    return array


def _floats(name: str, values: object, accepted: str) -> Array:
    """`values` as float64, or an error where they are not numbers: text, truth values and objects are refused."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "fiu":
            raise TypeError
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be {accepted}, got {_short(values)}") from None


def _short(value: object) -> str:
    """What a value is, without showing what it holds: it may be somebody's record."""
    if value is None or isinstance(value, bool | int | float) or not hasattr(value, "__len__"):
        text = repr(value)
        return text if len(text) <= 80 else f"{text[:77]}..."
    return f"{type(value).__name__} of length {len(value)}"
