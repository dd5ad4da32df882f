"""Numbers as floats, the same ones in every engine."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import narwhals as nw


def as_float(column: str, dtype: Any) -> "nw.Expr":
    """A column of numbers as float64.

    Decimals go by way of their digits: read as text each becomes the nearest float, where PyArrow's own cast misses it
    by the last bit once in eight times. A number would then be another one in another engine, or on the other side of
    an edge.
    """
    import narwhals as nw

    value = nw.col(column)
    return value.cast(nw.String).cast(nw.Float64) if dtype.is_decimal() else value.cast(nw.Float64)
