"""Cells as floats, the same ones in every engine: this is where a number in a table becomes a number of ours."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import narwhals as nw

_HALF = 2**32


def as_float(column: str, dtype: Any, engine: "nw.Implementation") -> "nw.Expr":
    """A column of numbers as float64, each the nearest.

    Decimals go by way of their digits: read as text each becomes the nearest float, where PyArrow's own cast misses it
    by the last bit once in eight times. A number would then be another one in another engine, or on the other side of
    an edge. Whole numbers beyond 2⁵³ it does not cast at all, and quotes one of them: an identifier, somebody's.

    There is one zero. Rounding makes negative ones, which PyArrow and Polars count as values of their own, and no list
    of values can hold both. Adding zero is not enough: Polars leaves that out.
    """
    import narwhals as nw

    value = nw.col(column)
    has_arrow = engine.is_pyarrow() or engine.is_pandas_like()
    if dtype == nw.Int64 and has_arrow:
        high = value // _HALF  # it and the rest are exact, and so is what a power of two makes of it
        return high.cast(nw.Float64) * float(_HALF) + (value - high * _HALF).cast(nw.Float64)
    if dtype.is_decimal() or (has_arrow and dtype in (nw.UInt64, nw.Int128, nw.UInt128)):
        value = value.cast(nw.String)
    value = value.cast(nw.Float64)
    return value if dtype.is_integer() else nw.when(value == 0).then(0.0).otherwise(value).alias(column)
