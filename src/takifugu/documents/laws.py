"""Laws as plain values for JSON, and back; no float loses a bit."""

from typing import Any

from takifugu.documents import fields as form
from takifugu.errors import InputError
from takifugu.laws import Law
from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Mixture
from takifugu.laws.vector import VectorMixture

_MIXTURE = ("weights", "means", "stds")
_VECTORS = ("weights", "means", "covariances")


def law_to(law: Law) -> dict[str, Any]:
    """A law as an object; no float loses a bit."""
    if isinstance(law, Finite):
        return {"values": [value_to(value) for value in law.values], "weights": law.weights.tolist()}
    if not isinstance(law, Mixture | VectorMixture):
        raise InputError(f"a law of the type {type(law).__name__} has no form in a file")
    names = _VECTORS if isinstance(law, VectorMixture) else _MIXTURE
    return {name: getattr(law, name).tolist() for name in names}


def law_from(value: Any, where: str, room: form.Room) -> Law:
    """What `law_to` wrote."""
    if isinstance(value, dict) and "values" in value:
        content = form.fields(value, ("values", "weights"), where)
        values = [
            value_from(v, f"{where}.values[{k}]") for k, v in enumerate(room.take(content["values"], f"{where}.values"))
        ]
        weights = form.exactly(content["weights"], f"{where}.weights", len(values))
        numbers = [form.number(w, f"{where}.weights[{k}]", least=0) for k, w in enumerate(weights)]
        try:
            return Finite(values, numbers)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    if isinstance(value, dict) and "covariances" in value:
        return _vectors(value, where, room)
    return form.mixture(value, where, room)


def matrix_from(value: Any, where: str, room: form.Room, *, columns: int | None = None) -> list[list[float]]:
    """A list of rows of numbers, all as long as the first or of `columns` numbers."""
    rows = [room.take(row, f"{where}[{i}]") for i, row in enumerate(room.take(value, where))]
    wanted = len(rows[0]) if columns is None else columns
    for i, row in enumerate(rows):
        if len(row) != wanted:
            raise InputError(f"{where}[{i}] must have {wanted} entries, it has {len(row)}")
    return [[form.number(x, f"{where}[{i}][{j}]") for j, x in enumerate(row)] for i, row in enumerate(rows)]


def _vectors(value: Any, where: str, room: form.Room) -> VectorMixture:
    """A mixture of vectors as its three lists: what is read must be what was written, to the last bit."""
    prior = form.fields(value, _VECTORS, where)
    given = room.take(prior["weights"], f"{where}.weights")
    weights = [form.number(w, f"{where}.weights[{k}]", least=0.0) for k, w in enumerate(given)]
    means = matrix_from(prior["means"], f"{where}.means", room)
    matrices = form.exactly(prior["covariances"], f"{where}.covariances", len(weights))
    if len(means) != len(weights):
        raise InputError(f"{where}.means must have {len(weights)} entries, it has {len(means)}")
    covariances = [
        matrix_from(matrix, f"{where}.covariances[{k}]", room, columns=len(means[0]))
        for k, matrix in enumerate(matrices)
    ]
    try:
        made = VectorMixture(weights, means, covariances)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if made.weights.tolist() != weights:
        raise InputError(f"{where}.weights must sum to 1 within 2^-50: divide each by their sum")
    if made.covariances.tolist() != covariances:
        raise InputError(f"{where}.covariances must be symmetric to the last digit")
    return made


def value_to(value: Any) -> Any:
    """A value of a finite law: a row of several columns is a list in JSON."""
    return [form.plain(part) for part in value] if isinstance(value, tuple) else form.plain(value)


def value_from(value: Any, where: str) -> Any:
    """What `value_to` wrote."""
    if isinstance(value, list):
        return tuple(value_from(part, where) for part in form.items(value, where, least=1, most=100))
    if not isinstance(value, str | int | float | bool):
        raise InputError(f"{where} must be a text, a number, true or false, or a list of those")
    return value
