"""What `calibrate` and `sweep` have in common: which table, which secret, which answer."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from takifugu._nearest import suggestion
from takifugu.commands.options import belief_options, beliefs_from, reading_from, reading_options, single
from takifugu.errors import InputError

if TYPE_CHECKING:
    from takifugu.queries.priors import Priors, Query

_KINDS = ("raw", "row", "mean", "gp", "bnn")
_ANSWERS = {
    "raw": "a published value of {}",
    "row": "a published row of {}",
    "mean": "the published mean of {}",
    "gp": "a Gaussian process's prediction of {}",
    "bnn": "a Bayesian neural network's prediction of {}",
}


@dataclass(frozen=True)
class Asked:
    """The priors that the options describe, the pairs to hide, and the question in words."""

    priors: "Priors"
    pairs: list[tuple[Any, Any]] | None
    question: str


def asking(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and options that describe a question."""
    command = belief_options(reading_options(command))
    for decorate in reversed(
        (
            click.argument("table"),
            click.option(
                "--secret",
                required=True,
                multiple=True,
                metavar="COLUMN",
                help="The column to hide; may be repeated for several, each hidden under its own laws.",
            ),
            click.option(
                "--pair",
                "pairs",
                type=(str, str),
                multiple=True,
                metavar="A B",
                help="Two secrets to hide from one another; may be repeated. By default every pair.",
            ),
            single(
                "--query",
                required=True,
                metavar="KIND:COLUMN",
                help="What is published: raw:COLUMN, each person's value; row:COLUMN,COLUMN, each person's values from "
                "finite lists; mean:COLUMN, each group's mean; gp:TARGET or bnn:TARGET, the prediction of a model "
                "trained on each group. Of several columns, with commas, raw and mean are vectors.",
            ),
            single("--bounds", type=(float, float), metavar="LOW HIGH", help="For raw: clip values to these first."),
            single("--step", type=float, help="For raw: round values to this step first; 0 leaves them as they are."),
            single("--transform", type=click.Choice(["log"]), help="For raw: publish the logarithm."),
            click.option(
                "--known", multiple=True, metavar="COLUMN", help="For raw and row: a column the adversary may know."
            ),
            single("--prior", metavar="KIND", help="For raw: counts (the default), mixture, empirical or gaussian."),
            click.option(
                "--feature",
                "features",
                multiple=True,
                metavar="COLUMN",
                help="For gp and bnn: a column to predict from.",
            ),
            click.option(
                "--at",
                multiple=True,
                metavar="COLUMN=NUMBER",
                help="For gp and bnn: where to predict, or with commas at several places; else at the means.",
            ),
        )
    ):
        command = decorate(command)
    return command


def ask(
    table: str,
    *,
    secret: tuple[str, ...],
    pairs: Iterable[tuple[str, str]],
    query: str,
    prior: str | None,
    features: tuple[str, ...],
    at: tuple[str, ...],
    beliefs: tuple[str, ...],
    bounds: tuple[float, float] | None,
    step: float | None,
    transform: str | None,
    known: tuple[str, ...],
    draws: int = 0,
    **reading: Any,
) -> Asked:
    """Fit the priors that the options describe; `draws` of a model's parameters are kept for its confidence."""
    from takifugu.queries.priors import fit_priors
    from takifugu.releases.in_turn import named_pairs
    from takifugu.tables.table import Table

    kind, column = parse_query(query)
    wanted = list(pairs)
    hidden = secret[0] if len(secret) == 1 else list(secret)
    # Of several columns of secrets every pair within a column has laws; those to hide are chosen afterwards.
    every = list(dict.fromkeys(name for pair in wanted for name in pair))
    named = (every or None) if isinstance(hidden, str) else None
    given, title = source_of(table)
    source = Table(given, reading_from(reading))
    numbers = {name: given for name, given in (("bounds", bounds), ("step", step), ("transform", transform)) if given}
    if step == 0:
        numbers["step"] = 0.0
    asked = _query(kind, _columns(column, source), prior, features, at, draws, numbers)
    priors = fit_priors(
        source,
        secret=hidden,
        query=asked,
        secrets=named,
        known=[name.strip() for text in known for name in text.split(",") if name.strip()] or None,
        beliefs=beliefs_from(beliefs),
    )
    first = priors if isinstance(priors, Mapping) else priors[0]
    chosen = named_pairs(wanted, first) or None
    which = f" ({' or '.join(map(str, chosen[0]))})" if chosen is not None and len(chosen) == 1 else ""
    answer = _ANSWERS[kind].format(column)
    change = "Which change" if kind == "row" else "How much noise"
    hides = f"{change} hides {' and '.join(secret)}{which}"
    return Asked(priors, chosen, f"{hides} in {answer}, for the table {title}?")


def _columns(text: str, table: Any) -> str | list[str]:
    """The column of a query, or several with commas between them; a column may have a comma in its own name."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return text if text in table.columns or len(names) < 2 else names


def parse_query(text: str) -> tuple[str, str]:
    """The kind and the column of KIND:COLUMN.

    >>> parse_query("raw:education-num")
    ('raw', 'education-num')
    """
    kind, colon, column = text.partition(":")
    if not colon or not column:
        raise InputError(f"--query must be KIND:COLUMN, such as raw:{text.strip(':') or 'age'}; got {text!r}")
    if kind not in _KINDS:
        raise InputError(f"--query has no kind {kind!r}; there are {', '.join(_KINDS)}.{suggestion(kind, _KINDS)}")
    return kind, column


def source_of(table: str) -> tuple[Any, str]:
    """A file, or a bundled dataset where no file has that name; and what to call it."""
    from takifugu import datasets

    if table in datasets.names() and not os.path.exists(table):
        return datasets.load(table), table
    return table, Path(table).name


def _query(
    kind: str,
    column: str | list[str],
    prior: str | None,
    features: tuple[str, ...],
    at: tuple[str, ...],
    draws: int,
    numbers: dict[str, Any],
) -> "Query":
    from takifugu.queries.bnn import BNN
    from takifugu.queries.gp import GP
    from takifugu.queries.mean import Mean
    from takifugu.queries.raw import Raw
    from takifugu.queries.row import Row

    if numbers and kind != "raw":
        raise InputError(f"--{next(iter(numbers))} is for raw, whose values are clipped and rounded: leave it out")
    if prior is not None and kind != "raw":
        raise InputError(f"--prior is for raw: the prior of {kind} is one Gaussian per secret, leave it out")
    if (features or at) and kind in ("raw", "row", "mean"):
        raise InputError(f"--feature and --at are for gp and bnn, which train a model: leave them out for {kind}")
    if kind == "raw":
        return Raw(column, prior=prior, **numbers)
    if kind == "row":
        return Row(*([column] if isinstance(column, str) else column))
    if kind == "mean":
        return Mean(column)
    if not isinstance(column, str):
        raise InputError(f"--query {kind} predicts one column, and {len(column)} were named: leave out all but one")
    model = GP if kind == "gp" else BNN
    return model(column, features=list(features) or None, at=_places(at), draws=draws)


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
