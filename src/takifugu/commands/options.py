"""Options as the commands declare them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from takifugu.errors import InputError

if TYPE_CHECKING:
    from takifugu.tables.reading import Reading


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


_ARGUMENTS = "takifugu.arguments"


def _is(argument: str, name: str) -> bool:
    """Whether an argument is this option, alone or with its value: --name, --name=value, -n, -nvalue."""
    if name.startswith("--"):
        return argument == name or argument.startswith(f"{name}=")
    return argument.startswith(name) and not argument.startswith("--")


def single(*names: str, **options: Any) -> Callable[[Any], Any]:
    """`click.option` for an option that may be given once."""
    return click.option(*names, cls=Single, **options)


def require_one_promise(*, of_noise: bool = False, **promise: float | None) -> None:
    """Refuse a promise that is asked for in two ways, and half of one, in the words of the options."""
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
        raise InputError(f"--{missing} is missing: a promise has both --alpha and --epsilon{beside}")


def require_promise(
    *,
    alpha: float | None,
    epsilon: float | None,
    odds: float | None,
    best_guess: float | None,
    error: float | None,
    of_noise: bool,
) -> None:
    """Refuse what is no promise, or more than one; `of_noise` where it is to be kept by Gaussian noise."""
    from takifugu.divergences.proved.guessing import promise_of_guess
    from takifugu.problems.guarantee import asked_for

    require_one_promise(alpha=alpha, epsilon=epsilon, odds=odds, best_guess=best_guess, error=error, of_noise=of_noise)
    if best_guess is not None:
        promise_of_guess(best_guess, alpha=alpha)
    elif error is None:
        asked_for(alpha=alpha, epsilon=epsilon, odds=odds, of_noise=of_noise)


def belief_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What others may believe: tables by name."""
    option = click.option(
        "--belief",
        "beliefs",
        multiple=True,
        metavar="NAME=FILE",
        help="What others may believe, such as 'last year=2023.csv': a table with the same columns; may be repeated.",
    )
    return option(command)


def beliefs_from(texts: tuple[str, ...]) -> dict[str, Any] | None:
    """The tables that `--belief` names; bundled datasets too."""
    from takifugu.commands.asking import source_of

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
READING_NAMES = ("sep", "decimal", "thousands", "encoding", "na", "sentinels", "sheet", "header", "skip", "missing")


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
    help="What becomes of rows that plainly go with the secret more closely than the priors say, as those of another "
    "table do.",
)
order_option = single(
    "--order",
    type=click.Choice(["shuffle", "keep"]),
    default="shuffle",
    show_default=True,
    help="Rows are shuffled; keep is your own statement that their order is random.",
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


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a file is to be read; the same for every command that reads one."""
    for decorate in reversed(_READING):
        command = decorate(command)
    return command


def reading_from(options: dict[str, Any]) -> "Reading":
    """The reading that these options ask for; they are taken out of `options`."""
    from takifugu.tables.reading import Reading

    given = {name: options.pop(name) for name in READING_NAMES}
    separator = given["sep"]
    given["sep"] = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
    given["na"] = given["na"] or None
    return Reading(**given)
