"""From KIND:COLUMN and the options that go with it to a query."""

from typing import TYPE_CHECKING, Any

from takifugu._nearest import suggestion
from takifugu.commands.options import names_in
from takifugu.commands.wishes import domain_of
from takifugu.errors import InputError

if TYPE_CHECKING:
    from takifugu.queries.priors import Query

_KINDS = ("raw", "row", "mean", "gp", "bnn")
_MODELS = ("gp", "bnn")

# The options that say more about an answer, and the kinds of answers they are for.
_MEANT_FOR = {
    "--prior": ("raw",),
    "--bounds": ("raw",),
    "--step": ("raw",),
    "--transform": ("raw",),
    "--domain": ("row",),
    "--other": ("row",),
    "--loss": ("row",),
    "--known": ("raw", "row"),
    "--feature": _MODELS,
    "--at": _MODELS,
}


def parse_query(text: str) -> tuple[str, list[str]]:
    """The kind and the columns of KIND:COLUMN,COLUMN.

    >>> parse_query("raw:education-num")
    ('raw', ['education-num'])
    """
    kind, colon, rest = text.partition(":")
    columns = names_in([rest])
    if not colon or not columns:
        raise InputError(f"--query must be KIND:COLUMN, such as raw:{text.strip(':') or 'age'}; got {text!r}")
    if kind not in _KINDS:
        raise InputError(f"--query has no kind {kind!r}; there are {', '.join(_KINDS)}.{suggestion(kind, _KINDS)}")
    return kind, [rest] if kind in _MODELS else columns


def query_of(kind: str, columns: list[str], options: dict[str, Any]) -> "Query":
    """The query that the options describe; an option for another kind is refused."""
    from takifugu.queries.bnn import BNN
    from takifugu.queries.gp import GP
    from takifugu.queries.mean import Mean
    from takifugu.queries.raw import Raw
    from takifugu.queries.row import Row

    for flag, kinds in _MEANT_FOR.items():
        given = options[{"--feature": "features"}.get(flag, flag[2:])]
        if given not in (None, ()) and kind not in kinds:
            raise InputError(f"{flag} is for --query {' and '.join(kinds)}: leave it out for {kind}")
    column: Any = columns[0] if len(columns) == 1 else columns
    if kind == "raw":
        return Raw(
            column,
            prior=options["prior"],
            bounds=options["bounds"],
            step=options["step"],
            transform=options["transform"],
        )
    if kind == "row":
        domain = None if options["domain"] is None else domain_of(options["domain"])
        return Row(*columns, domain=domain, other=options["other"], loss=options["loss"])
    if kind == "mean":
        return Mean(column)
    model = GP if kind == "gp" else BNN
    return model(column, features=list(options["features"]) or None, at=_places(options["at"]), draws=options["draws"])


def _places(at: tuple[str, ...]) -> Any:
    """Where to predict: a place, several where columns have several numbers, or None.

    >>> _places(("age=30", "chol=200")), _places(("age=30,40",))
    ({'age': 30.0, 'chol': 200.0}, [{'age': 30.0}, {'age': 40.0}])
    """
    given: dict[str, list[float]] = {}
    for text in at:
        column, equals, values = text.rpartition("=")
        try:
            numbers = [float(value) for value in values.split(",")]
        except ValueError:
            equals = ""
        if not equals or not column:
            raise InputError(f"--at must be COLUMN=NUMBER, such as age=30, or several, age=30,40; got {text!r}")
        if column in given:
            raise InputError(f"--at names {column!r} twice: write several numbers with commas, {column}=30,40")
        given[column] = numbers
    if len({len(numbers) for numbers in given.values()}) > 1:
        raise InputError("--at must have as many numbers for each column: one for each place")
    places = [dict(zip(given, numbers, strict=True)) for numbers in zip(*given.values(), strict=True)]
    return None if not places else places[0] if len(places) == 1 else places
