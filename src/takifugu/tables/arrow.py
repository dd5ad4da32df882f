"""PyArrow's rarer types, of which its own functions know little, as the types that all of them know."""

from typing import Any


def in_usual_types(native: Any) -> Any:
    """A table or a column of PyArrow with texts in place of views of them, and floats in place of halves.

    Every value stays what it is. Whatever is not PyArrow's is handed back as it came.
    """
    if type(native).__module__.partition(".")[0] != "pyarrow":
        return native
    if hasattr(native, "schema") and hasattr(native, "column_names"):
        usual = {place: _usual(field.type) for place, field in enumerate(native.schema)}
        for place, kind in usual.items():
            if kind is not None:
                name = native.column_names[place]
                native = native.set_column(place, name, _cast(native.column(place), kind))
        return native
    kind = _usual(getattr(native, "type", None))
    return native if kind is None else _cast(native, kind)


def _cast(column: Any, kind: Any) -> Any:
    import pyarrow as pa

    try:
        return column.cast(kind)
    except pa.ArrowNotImplementedError:  # older versions do not cast halves
        return pa.array([None if one is None else float(one) for one in column.to_pylist()], kind)


def _usual(kind: Any) -> Any:
    import pyarrow as pa

    return {"string_view": pa.string(), "binary_view": pa.binary(), "halffloat": pa.float32()}.get(str(kind))
