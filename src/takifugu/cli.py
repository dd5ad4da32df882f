"""The command line: parses, calls, prints. Commands are in `takifugu.commands`, those that belong together in one file.

Exit status: 0 done, 1 refused or not proved, 2 bad input, 130 interrupted.
"""

import sys
from importlib import import_module
from typing import NoReturn

import click

from takifugu import __version__
from takifugu._work import INTERRUPTED, SENTENCE
from takifugu.errors import InputError, TakifuguError

# A command's name, its module (and what it is called there) and its one-line help; the module is imported when
# the command is used.
_COMMANDS = {
    "demo": ("takifugu.commands.demo", "Run a complete example on bundled data: start here."),
    "publish": ("takifugu.commands.publish", "Publish columns of a table so that they hide a secret."),
    "inspect": ("takifugu.commands.inspect", "Look at a table: what it holds, and what reveals the secret."),
    "calibrate": ("takifugu.commands.calibrate", "Find the least noise that hides a secret; write a report."),
    "sweep": ("takifugu.commands.calibrate:sweeping", "Compare budgets and mechanisms in a table."),
    "certify": ("takifugu.commands.calibrate:certifying", "Prove a calibration and write a certificate."),
    "explore": ("takifugu.commands.demo:exploring", "Open a page to try secrets and budgets on."),
    "audit": ("takifugu.commands.release:auditing", "Attack a release, as the owner who has the truth."),
    "release": ("takifugu.commands.release", "Publish a column of a Parquet or CSV file with its noise."),
    "ledger": ("takifugu.commands.ledger", "Show what was published about whom, and what is spent."),
    "depend": ("takifugu.commands.ledger:depending", "Say what private releases tell of records in time."),
    "reproduce": ("takifugu.commands.demo:reproducing", "Redraw the paper's evaluation: figures, headline and claims."),
    "verify": ("takifugu.commands.calibrate:verifying", "Prove a certificate again from the file alone."),
}


class Commands(click.Group):
    """The commands by name; their errors are one sentence and an exit status, never a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table above."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command when it is asked for."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name or "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say in a sentence what is wrong with what stands before the command's name."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            _mistyped(error)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; say what went wrong in a sentence."""
        from takifugu.commands import noticing

        try:
            with noticing():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            _interrupted()
        except RuntimeError as error:
            if str(error) != "Query interrupted":  # what DuckDB makes of Ctrl-C while it reads
                raise
            _interrupted()
        except click.UsageError as error:
            _mistyped(error)
        except TakifuguError as error:
            if type(error.__cause__).__name__ == "InterruptException":  # the same, as an error of its own
                _interrupted()
            from takifugu.commands import done, in_flags, said

            done()
            click.echo(f"takifugu: {in_flags(said(error), ctx.invoked_subcommand)}", err=True)
            sys.exit(2 if isinstance(error, InputError) else 1)


def _mistyped(error: click.UsageError) -> NoReturn:
    from takifugu.commands import sentence_of

    if type(error).__name__ == "NoArgsIsHelpError":  # which old versions of click do not have
        raise error
    click.echo(f"takifugu: {sentence_of(error, commands=_COMMANDS)}", err=True)
    sys.exit(2)


def _interrupted() -> NoReturn:
    from takifugu.commands import done

    done()
    click.echo(SENTENCE, err=True)
    sys.exit(INTERRUPTED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="takifugu")
def main() -> None:
    """Publish tables that keep a secret, with the least change, and prove that it is enough.

    \b
    See it work on bundled data:
      takifugu demo
    Publish two columns of your own table so that they hide a third:
      takifugu publish people.csv published.csv \\
          --secret diagnosis --columns stay_days,ward --odds 3
    The noise that hides it in a mean, with a report:
      takifugu calibrate people.csv --secret diagnosis \\
          --query mean:stay_days --alpha 3 --epsilon 1 --report report.html

    Each command explains itself: takifugu publish --help. Exit status: 0 done, 1 refused or not proved, 2 bad
    input, 130 interrupted. Errors are one sentence on standard error.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters gets question marks
