"""What `calibrate` and `sweep` have in common: which table, which secret, which answer."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from takifugu.commands.options import belief_options, beliefs_from, reading_from, reading_options, single
from takifugu.commands.querying import parse_query, query_of
from takifugu.commands.wishes import known_of
from takifugu.errors import InputError

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

    priors: Any
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
                "trained on each group. raw and mean take several columns too, with commas: a vector.",
            ),
            single("--prior", metavar="KIND", help="For raw: counts (the default), mixture, empirical or gaussian."),
            single(
                "--bounds", type=(float, float), metavar="LOW HIGH", help="For raw: public ends; values are clipped."
            ),
            single("--step", type=float, help="For raw: what values are rounded to; 0 leaves them as they are."),
            single("--transform", type=click.Choice(["log"]), help="For raw: publish the logarithm."),
            single("--domain", metavar="FILE", type=click.Path(), help="For row: lists of public values, as JSON."),
            single("--other", metavar="LABEL", help="For row: what a label that is on no list becomes."),
            single("--loss", metavar="KIND", help="For row: what is lost least: square, absolute or change."),
            click.option(
                "--known",
                multiple=True,
                metavar="COLUMN[:EDGE:EDGE]",
                help="For raw and row: a column that the adversary may know, cut at edges if given; may be repeated.",
            ),
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
            click.option(
                "--allow-few-rows", is_flag=True, help="Use secrets of fewer than 5 rows without --confidence."
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
    known: tuple[str, ...],
    allow_few_rows: bool,
    beliefs: tuple[str, ...],
    draws: int = 0,
    **options: Any,
) -> Asked:
    """Fit the priors that the options describe; `draws` of a model's parameters are kept for its confidence."""
    from takifugu.queries.fitting import fit_priors
    from takifugu.queries.priors import Priors
    from takifugu.tables.table import Table, listed, match_secret

    reading = reading_from(options)
    kind, columns = parse_query(query)
    options |= {"known": known, "draws": draws}
    asked = query_of(kind, columns, options)
    wanted = list(pairs)
    named = list(dict.fromkeys(name for pair in wanted for name in pair)) or None
    source, title = source_of(table)
    if len(columns) > 1:  # a name may have a comma in it
        source = Table(source, reading)
        whole = query.partition(":")[2]
        if whole in source.columns:
            columns, asked = [whole], query_of(kind, [whole], options)
    priors = fit_priors(
        source,
        secret=secret[0] if len(secret) == 1 else list(secret),
        query=asked,
        secrets=named if len(secret) == 1 else None,
        known=known_of(known),
        beliefs=beliefs_from(beliefs),
        few="allow" if allow_few_rows else None,
        reading=reading,
    )
    names: Any = priors if isinstance(priors, Priors) else priors[0]
    chosen = [(match_secret(a, names), match_secret(b, names)) for a, b in wanted] or None
    for pair, found in zip(wanted, chosen or (), strict=False):
        if None in found:
            raise InputError(f"--pair {' '.join(pair)} names no two of the secrets: {listed(names)}")
    which = f" ({' or '.join(map(str, chosen[0]))})" if chosen is not None and len(chosen) == 1 else ""
    answer = _ANSWERS[kind].format(", ".join(columns))
    change = "Which change" if kind == "row" else "How much noise"
    hidden = " and ".join(secret)
    return Asked(priors, chosen, f"{change} hides {hidden}{which} in {answer}, for the table {title}?")


def default_of(query: str) -> str:
    """The mechanism that a query has by default.

    >>> default_of("row:age,ward"), default_of("mean:age,stay"), default_of("raw:age")
    ('optimal', 'shaped', 'exact')
    """
    kind, columns = parse_query(query)
    return "optimal" if kind == "row" else "shaped" if len(columns) > 1 else "exact"


def source_of(table: str) -> tuple[Any, str]:
    """A file, or a bundled dataset where no file has that name; and what to call it."""
    from takifugu import datasets

    if table in datasets.names() and not os.path.exists(table):
        return datasets.load(table), table
    return table, Path(table).name
