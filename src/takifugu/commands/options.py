"""Options as the commands declare them."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from takifugu.commands.help_text import help_all, is_folded, write_options
from takifugu.errors import InputError, suggestion

if TYPE_CHECKING:
    from takifugu.dependence import Count
    from takifugu.queries import Query, Share
    from takifugu.tables import Reading


class Single(click.Option):
    """An option that may be given once: of two values, nobody can tell which was meant."""

    def handle_parse_result(self, ctx: click.Context, opts: Any, args: list[str]) -> Any:
        """Refuse a second value, which click would take without a word."""
        written = ctx.meta.get(_ARGUMENTS, ())
        given = sum(any(_is(arg, name) for name in self.opts) for arg in written)
        if given > 1:
            name = max(self.opts, key=len)
            raise InputError(f"{name} was given {given} times, and it takes one value: leave out all but one")
        return super().handle_parse_result(ctx, opts, args)


class Command(click.Command):
    """A command that remembers its arguments as they were written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments for `Single`, up to a `--` that ends the options."""
        ctx.meta[_ARGUMENTS] = args[: args.index("--")] if "--" in args else list(args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its options, and --help-all where they are too many for one look."""
        more = [help_all(self)] if is_folded(self) else []
        return [*super().get_params(ctx), *more]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options in groups."""
        write_options(self, ctx, formatter)


_ARGUMENTS = "takifugu.arguments"


def _is(argument: str, name: str) -> bool:
    """Whether an argument is this option, alone or with its value: --name, --name=value, -n, -nvalue."""
    if name.startswith("--"):
        return argument == name or argument.startswith(f"{name}=")
    return argument.startswith(name) and not argument.startswith("--")


def single(*names: str, **options: object) -> Callable[[object], Any]:
    """`click.option` for an option that may be given once."""
    return click.option(*names, cls=Single, **options)


def require_one_promise(*, of_noise: bool = False, **promise: float | None) -> None:
    """Refuse a guarantee that is asked for in two ways, and half of one, in the words of the options."""
    given = {name for name, value in promise.items() if value is not None}
    for name, others in (("error", {"epsilon", "odds", "best_guess"}), ("best_guess", {"epsilon", "odds"})):
        if name in given and given & others:
            taken, left = f"--{name.replace('_', '-')}", " or ".join(f"--{one}" for one in sorted(given & others))
            raise InputError(f"{taken} takes the place of {left.replace('_', '-')}: leave one of them out")
    if "error" in given or "best_guess" in given:
        return
    if len(given & {"alpha", "epsilon"}) == 1:
        missing = ({"alpha", "epsilon"} - given).pop()
        beside = "" if of_noise else "; or give --odds alone"
        raise InputError(f"--{missing} is missing: a guarantee has both --alpha and --epsilon{beside}")


def require_promise(
    *,
    alpha: float | None,
    epsilon: float | None,
    odds: float | None,
    best_guess: float | None,
    error: float | None,
    of_noise: bool,
) -> None:
    """Refuse what is no guarantee, or more than one; `of_noise` where it is to be kept by Gaussian noise."""
    from takifugu.problems import asked_for, promise_of_guess

    require_one_promise(alpha=alpha, epsilon=epsilon, odds=odds, best_guess=best_guess, error=error, of_noise=of_noise)
    if best_guess is not None:
        promise_of_guess(best_guess, alpha=alpha)
    elif error is None:
        asked_for(alpha=alpha, epsilon=epsilon, odds=odds, of_noise=of_noise)


def belief_options(command: Callable[..., object]) -> Callable[..., object]:
    """What others may believe: tables by name."""
    option = click.option(
        "--belief",
        "beliefs",
        multiple=True,
        metavar="NAME=FILE",
        help="What others may believe, such as 'last year=2023.csv': a table with the same columns; may be repeated.",
    )
    return option(command)


def beliefs_from(texts: tuple[str, ...]) -> dict[str, object] | None:
    """The tables that `--belief` names; bundled datasets too."""

    found: dict[str, Any] = {}
    for text in texts:
        name, equals, file = text.partition("=")
        if not equals or not name.strip() or not file:
            raise InputError(f"--belief must be NAME=FILE, such as 'last year=2023.csv'; got {text!r}")
        if name in found:
            raise InputError(f"--belief names {name!r} twice: give each a name of its own")
        found[name], _ = source_of(file)
    return found or None


_READING = (
    single("--sep", metavar="CHARACTER", help="What separates the fields of a text file, such as ';'."),
    single("--decimal", type=click.Choice([".", ","]), help="The decimal mark."),
    single("--thousands", metavar="CHARACTER", help="What groups digits, such as '.'."),
    single("--encoding", metavar="NAME", help="The text's encoding, such as cp1252."),
    click.option(
        "--na",
        multiple=True,
        metavar="TEXT",
        help="A text that means a missing value, in place of the usual ones (NA, N/A, NULL, -); may be repeated. "
        "--sentinel adds to them.",
    ),
    click.option(
        "--sentinel",
        "sentinels",
        multiple=True,
        metavar="[COLUMN=]VALUE",
        help="A value that stands for a missing one, such as 999, age=-1 or unknown; may be repeated.",
    ),
    click.option("--tidy", is_flag=True, help="Labels are the same whatever their case and spaces."),
    click.option(
        "--merge",
        multiple=True,
        metavar="LABEL=LABELS",
        help="Labels that become one, such as 'rare=HIV,Sickle cell'; may be repeated.",
    ),
    single("--sheet", metavar="NAME", help="The sheet of an Excel file."),
    click.option("--header/--no-header", default=None, help="Whether the first line names the columns."),
    single("--skip", type=click.IntRange(min=0), help="Lines above the header."),
    single(
        "--missing",
        type=click.Choice(["drop", "refuse"]),
        default="drop",
        show_default=True,
        help="Rows that lack a needed value: leave them out and count them, or refuse the table.",
    ),
)
READING_NAMES = (
    *("sep", "decimal", "thousands", "encoding", "na", "sentinels", "sheet", "header", "skip", "missing"),
    *("tidy", "merge"),
)


json_option = click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON; null is infinite.")
quiet_option = click.option("--quiet", is_flag=True, help="Show no progress.")
workers_option = single(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes that share the pairs of secrets, where there are thousands.",
)
drift_option = single(
    "--drift",
    type=click.Choice(["refuse", "allow"]),
    default="refuse",
    show_default=True,
    help="What to do with rows that are plainly related to the secret more closely than the priors say, such as those "
    "of another table.",
)
order_option = single(
    "--order",
    type=click.Choice(["shuffle", "keep"]),
    default="shuffle",
    show_default=True,
    help="Rows are shuffled; keep is your own statement that their order is random.",
)
preserve_option = single(
    "--preserve",
    type=click.Choice(["marginal", "mean", "none"]),
    help="Of rows, what is published right on average: how often each value is there, means, or nothing, which changes "
    "fewer cells.  [default: marginal, where that can be]",
)
new_ledger_option = click.option("--new-ledger", is_flag=True, help="Start the ledger, which must not exist yet.")
id_option = single(
    "--id", metavar="COLUMN", help="The column that tells people apart. [default: all that is read of a row]"
)
new_people_option = click.option(
    "--new-people", is_flag=True, help="You state that nobody was published before; the ledger records it."
)
repeats_option = single(
    "--repeats",
    type=click.Choice(["refuse", "independent"]),
    default="refuse",
    show_default=True,
    help="Where an id repeats: you state that the rows of a person are independent given the secret.",
)
positions_option = single(
    "--positions",
    metavar="FILE",
    type=click.Path(),
    help="Write which row stands where, as CSV or Parquet: a private key, for takifugu audit.",
)


def names_in(texts: "tuple[str, ...] | list[str]") -> list[str]:
    """Names with commas between them, of an option that may be repeated; one that holds a comma stands in quotes.

    >>> names_in(["a, b", "c", '"stay, days",ward'])
    ['a', 'b', 'c', 'stay, days', 'ward']
    """
    import csv

    return [name.strip() for line in csv.reader(texts, skipinitialspace=True) for name in line if name.strip()]


def reading_options(command: Callable[..., object]) -> Callable[..., Any]:
    """The options that say how a file is to be read; the same for every command that reads one."""
    for decorate in reversed(_READING):
        command = decorate(command)
    return command


def reading_from(options: dict[str, Any]) -> "Reading":
    """The reading that these options ask for; they are taken out of `options`."""
    from takifugu.tables import Reading

    given = {name: options.pop(name) for name in READING_NAMES}
    separator = given["sep"]
    given["sep"] = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
    given["na"] = given["na"] or None
    return Reading(**given)


Typed = TypeVar("Typed")


def taking(kind: type[Typed]) -> Callable[[Callable[[Typed], None]], Callable[..., None]]:
    """A command of one argument: everything that was typed, as the fields of a dataclass.

    The options of a reading become the field `reading`, and those of a question `question`, where there are such.
    """

    def decorate(run: Callable[[Typed], None]) -> Callable[..., None]:
        @wraps(run)
        def command(**typed: Any) -> None:
            if READING_NAMES[0] in typed:
                typed["reading"] = reading_from(typed)
            if "query" in typed:
                typed["question"] = Question(**{one.name: typed.pop(one.name) for one in fields(Question)})
            run(kind(**typed))

        return command

    return decorate


# What several commands ask for in the same words: lists of values, and what the adversary knows.


def known_of(texts: "tuple[str, ...] | list[str]") -> list[str] | None:
    """The columns that --known names; None where it names none.

    >>> known_of(["sex,ward", "age:30:45"])
    ['sex', 'ward', 'age:30:45']
    """
    return names_in(texts) or None


def preserve_of(typed: str | None) -> str | None:
    """What `Utility(preserve=)` takes for what was typed.

    >>> preserve_of(None), preserve_of("none"), preserve_of("mean")
    ('auto', None, 'mean')
    """
    return {None: "auto", "none": None}.get(typed, typed)


def domain_of(path: str) -> dict[str, list[object]]:
    """The lists in the file that --domain names."""
    from takifugu import strict_json

    content = strict_json.parse(path.encode()) if path.lstrip().startswith("{") else strict_json.read(path)
    if not isinstance(content, dict) or not all(isinstance(values, list) for values in content.values()):
        raise InputError(
            f"--domain {path!r} must hold a list for each column, such as {json.dumps({'ward': ['A', 'B']})}"
        )
    return content


# From KIND:COLUMN and the options that go with it to a query.

_KINDS = ("raw", "row", "mean", "count", "gp", "bnn")
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


def query_of(kind: str, columns: list[str], options: dict[str, Any]) -> "Query | Count":
    """The query that the options describe; an option for another kind is refused."""
    from takifugu.queries import BNN, GP, Mean, Raw, Row

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
    if kind == "count":
        return _count_of(columns)
    model = GP if kind == "gp" else BNN
    return model(column, features=list(options["features"]) or None, at=_places(options["at"]), draws=options["draws"])


def _count_of(columns: list[str]) -> "Count":
    """The count that COLUMN=VALUE asks for."""
    from takifugu.dependence import Count

    column, equals, value = ",".join(columns).partition("=")
    if not (column and equals and value):
        raise InputError(
            f"--query count must be count:COLUMN=VALUE, such as 'count:smoker=yes'; got {','.join(columns)!r}"
        )
    return Count(value, column=column)


def share_of(secret: tuple[str, ...], text: str, number: str) -> "Share":
    """The secret of the whole table that --share asks for.

    >>> share_of(("sex",), "F=0.3,0.5", "fixed")
    Share(column='sex', value='F', shares=(0.3, 0.5), number='fixed', apart=0.0)
    """
    from takifugu.queries import Share

    value, equals, rest = text.rpartition("=")
    try:
        shares = [float(share) for share in rest.split(",")]
    except ValueError:
        equals = ""
    if not equals or not value:
        raise InputError(f"--share must be VALUE=SHARE,SHARE, such as F=0.3,0.5; got {text!r}")
    if len(secret) > 1:
        raise InputError("--share is about one column: give --secret once")
    return Share(secret[0], value, tuple(shares), number=number)


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
            raise InputError(f"--at must be COLUMN=NUMBER, such as 'age=30', or several, 'age=30,40'; got {text!r}")
        if column in given:
            raise InputError(f"--at names {column!r} twice: write several numbers with commas, {column}=30,40")
        given[column] = numbers
    if len({len(numbers) for numbers in given.values()}) > 1:
        raise InputError("--at must have as many numbers for each column: one for each place")
    places = [dict(zip(given, numbers, strict=True)) for numbers in zip(*given.values(), strict=True)]
    return None if not places else places[0] if len(places) == 1 else places


# What `calibrate` and `sweep` have in common: which table, which secret, which answer.

_ANSWERS = {
    "raw": "a published value of {}",
    "row": "a published row of {}",
    "mean": "the published mean of {}",
    "count": "the published count of {}",
    "gp": "a Gaussian process's prediction of {}",
    "bnn": "a Bayesian neural network's prediction of {}",
}


@dataclass(frozen=True)
class Asked:
    """The priors that the options describe, the pairs to hide, and the question in words."""

    priors: Any
    pairs: list[tuple[Any, Any]] | None
    question: str


def asking(command: Callable[..., object]) -> Callable[..., Any]:
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
                "trained on each group; count:COLUMN=VALUE, with --share, how many of all rows have the value. raw and "
                "mean take several columns too, with commas: a vector.",
            ),
            single(
                "--share",
                metavar="VALUE=SHARE,SHARE",
                help="Hide how large the share of rows with a value of --secret is, such as F=0.3,0.5, in one number "
                "about all rows: --query mean:COLUMN or count:COLUMN=VALUE.",
            ),
            single(
                "--share-number",
                type=click.Choice(["fixed", "drawn"]),
                default="fixed",
                show_default=True,
                help="For --share: it says how many rows have the value, or with which probability each has it.",
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


@dataclass(frozen=True)
class Question:
    """What the options of `asking` describe: which table, which secret, which answer."""

    table: str
    secret: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    query: str
    known: tuple[str, ...]
    allow_few_rows: bool
    beliefs: tuple[str, ...]
    share: str | None
    share_number: str
    prior: str | None
    bounds: tuple[float, float] | None
    step: float | None
    transform: str | None
    domain: str | None
    other: str | None
    loss: str | None
    features: tuple[str, ...]
    at: tuple[str, ...]
    reading: "Reading"


def ask(question: Question, *, draws: int = 0) -> Asked:
    """Fit the priors that the options describe; `draws` of a model's parameters are kept for its confidence."""
    from takifugu.queries import Priors, fit_priors, secret_named
    from takifugu.tables import Table, listed

    query, secret, share, reading = question.query, question.secret, question.share, question.reading
    kind, columns = parse_query(query)
    options = {one.name: getattr(question, one.name) for one in fields(question)} | {"draws": draws}
    asked: Any = query_of(kind, columns, options)
    wanted = list(question.pairs)
    named = list(dict.fromkeys(name for pair in wanted for name in pair)) or None
    source, title = source_of(question.table)
    if len(columns) > 1:  # a name may have a comma in it
        source = Table(source, reading)
        whole = query.partition(":")[2]
        if whole in source.columns:
            columns, asked = [whole], query_of(kind, [whole], options)
    hiding: Any = secret[0] if len(secret) == 1 else list(secret)
    if share is not None:
        hiding = share_of(secret, share, question.share_number)
    priors = fit_priors(
        source,
        secret=hiding,
        query=asked,
        secrets=named if len(secret) == 1 and share is None else None,
        known=known_of(question.known),
        beliefs=beliefs_from(question.beliefs),
        few="allow" if question.allow_few_rows else None,
        reading=reading,
    )
    names: Any = priors if isinstance(priors, Priors) else priors[0]
    chosen = [(secret_named(a, names), secret_named(b, names)) for a, b in wanted] or None
    for pair, found in zip(wanted, chosen or (), strict=False):
        if None in found:
            raise InputError(f"--pair {' '.join(pair)} names no two of the secrets: {listed(names)}")
    which = f" ({' or '.join(map(str, chosen[0]))})" if chosen is not None and len(chosen) == 1 else ""
    answer = _ANSWERS[kind].format(", ".join(columns))
    change = "Which change" if kind == "row" else "How much noise"
    hidden = " and ".join(secret) if share is None else f"the share of {hiding.value} in {hiding.column}"
    return Asked(priors, chosen, f"{change} hides {hidden}{which} in {answer}, for the table {title}?")


def default_of(query: str, *, odds: bool = False) -> str:
    """The mechanism that a query has by default; `odds` where those alone are asked for.

    >>> default_of("row:age,ward"), default_of("mean:age,stay"), default_of("raw:age")
    ('optimal', 'shaped', 'exact')
    >>> default_of("raw:age", odds=True)
    'laplace'
    """
    kind, columns = parse_query(query)
    if kind == "row" or len(columns) > 1:
        return "optimal" if kind == "row" else "shaped"
    return "laplace" if odds else "exact"


def source_of(table: str) -> tuple[object, str]:
    """A file, or a bundled dataset where no file has that name; and what to call it."""
    from takifugu import datasets

    if table in datasets.names() and not os.path.exists(table):
        return datasets.load(table), table
    return table, Path(table).name
