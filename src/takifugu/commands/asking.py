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
            single("--secret", required=True, metavar="COLUMN", help="The column to hide."),
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
                "trained on each group.",
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
                help="For gp and bnn: where to predict; else at the means.",
            ),
        )
    ):
        command = decorate(command)
    return command


def ask(
    table: str,
    *,
    secret: str,
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
    from takifugu.tables.table import match_secret

    kind, column = parse_query(query)
    wanted = list(pairs)
    named = list(dict.fromkeys(name for pair in wanted for name in pair)) or None
    source, title = source_of(table)
    numbers = {name: given for name, given in (("bounds", bounds), ("step", step), ("transform", transform)) if given}
    if step == 0:
        numbers["step"] = 0.0
    asked = _query(kind, column, prior, features, at, draws, numbers)
    priors = fit_priors(
        source,
        secret=secret,
        query=asked,
        secrets=named,
        known=[name.strip() for text in known for name in text.split(",") if name.strip()] or None,
        beliefs=beliefs_from(beliefs),
        reading=reading_from(reading),
    )
    first = priors if isinstance(priors, Mapping) else priors[0]
    chosen = [(match_secret(a, first), match_secret(b, first)) for a, b in wanted] or None
    which = f" ({' or '.join(map(str, chosen[0]))})" if chosen is not None and len(chosen) == 1 else ""
    answer = _ANSWERS[kind].format(column)
    change = "Which change" if kind == "row" else "How much noise"
    return Asked(priors, chosen, f"{change} hides {secret}{which} in {answer}, for the table {title}?")


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
    column: str,
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
        return Row(*column.split(","))
    if kind == "mean":
        return Mean(column)
    model = GP if kind == "gp" else BNN
    return model(column, features=list(features) or None, at=_place(at) or None, draws=draws)


def _place(at: tuple[str, ...]) -> dict[str, float]:
    place = {}
    for text in at:
        column, equals, value = text.rpartition("=")
        try:
            place[column] = float(value)
        except ValueError:
            equals = ""
        if not equals or not column:
            raise InputError(f"--at must be COLUMN=NUMBER, such as age=30; got {text!r}")
    return place
