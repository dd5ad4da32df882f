"""The help of a command: options in groups, the dozen that most people need first, all under --help-all."""

from collections.abc import Iterable

import click

MOST = 12  # options above the fold

# The groups in the order in which they are told, and what is in each, whatever the command; the rest is output.
GROUPS: dict[str, tuple[str, ...]] = {
    "What to publish": (
        *("--plan", "--secret", "--columns", "--query", "--calibration", "--column", "--truth", "--keep", "--pair"),
        *("--share", "--share-number", "--leave-out", "--others", "--of", "--chain", "--length"),
    ),
    "Guarantee": (
        *("--odds", "--alpha", "--epsilon", "--delta", "--best-guess", "--error", "--confidence", "--assurance"),
        *("--mechanism", "--private-fit", "--accept-weaker-promise", "--dp-epsilon", "--rho", "--seed"),
    ),
    "Adversary": ("--known", "--belief", "--only-beliefs", "--prior", "--bounds", "--step", "--radius", "--drift"),
    "Utility": (
        *("--domain", "--other", "--loss", "--preserve", "--shape", "--solver", "--transform"),
        *("--feature", "--at", "--theta", "--granularity", "--clip", "--round-to", "--allow-no-noise"),
        "--allow-few-rows",
    ),
    "Records": ("--id", "--only-new", "--new-people", "--repeats", "--ledger", "--new-ledger", "--order"),
    "Reading": (
        *("--sep", "--decimal", "--thousands", "--encoding", "--na", "--sentinel", "--tidy", "--merge", "--sheet"),
        *("--header", "--skip", "--missing"),
    ),
    "Output": (),
}

# What stands above the fold where a command has more than a dozen.
_FIRST: dict[str, tuple[str, ...]] = {
    "publish": (
        *("--secret", "--columns", "--plan", "--odds", "--known", "--leave-out", "--id", "--only-new"),
        *("--ledger", "--dry-run", "--sentinel", "--json"),
    ),
    "inspect": ("--secret", "--plan", "--sentinel", "--tidy", "--merge", "--json"),
    "calibrate": (
        *("--secret", "--query", "--pair", "--odds", "--alpha", "--epsilon", "--confidence", "--mechanism"),
        *("--report", "--certificate", "--output", "--json"),
    ),
    "sweep": ("--secret", "--query", "--pair", "--alpha", "--epsilon", "--odds", "--mechanism", "--csv", "--json"),
    "audit": ("--truth", "--calibration", "--secret", "--positions", "--report", "--level", "--json", "--quiet"),
    "release": (
        *(
            "--calibration",
            "--column",
            "--of",
            "--keep",
            "--others",
            "--ledger",
            "--new-ledger",
            "--id",
            "--new-people",
        ),
        *("--json", "--quiet"),
    ),
    "explore": ("--port", "--no-browser", "--ledger", "--link", "--json"),
}


def help_all(command: click.Command) -> click.Option:
    """The option that shows every other."""

    def show(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
        if asked and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            click.echo(command.get_help(ctx), color=ctx.color)
            ctx.exit()

    return click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show, help="Show every option."
    )


_ALL = "takifugu.help-all"


def is_folded(command: click.Command) -> bool:
    """Whether a command has more options than are shown at first."""
    return len(_shown(command)) > MOST


def write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """The options in groups."""
    options = _shown(command)
    folded = is_folded(command) and not ctx.meta.get(_ALL)
    first = _FIRST.get(command.name or "", ())
    if folded:
        options = {name: option for name, option in options.items() if name in first}
    for group, names in GROUPS.items():
        inside = [options[name] for name in _ordered(options, group, names)]
        lines = [line for option in inside if (line := option.get_help_record(ctx)) is not None]
        if lines:
            with formatter.section(group if len(options) > 6 else "Options"):
                formatter.write_dl(lines)
    with formatter.section("Help"):
        more = [("--help-all", f"Show all {len(_shown(command))} options.")] if folded else []
        formatter.write_dl([("-h, --help", "Show this message and exit."), *more])


def _ordered(options: dict[str, click.Option], group: str, names: Iterable[str]) -> list[str]:
    if group != "Output":
        return [name for name in names if name in options]
    taken = {name for one in GROUPS.values() for name in one}
    return [name for name in options if name not in taken]


def _shown(command: click.Command) -> dict[str, click.Option]:
    """By its longest name, each option of a command; help itself is none."""
    return {max(one.opts, key=len): one for one in command.params if isinstance(one, click.Option) and not one.hidden}
