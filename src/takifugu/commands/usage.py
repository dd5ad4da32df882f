"""Commands that were typed wrongly, told as every other error is: in one line that says what to do."""

from collections.abc import Iterable

import click

from takifugu._nearest import suggestion

_TYPES = {
    "is not a valid float": "is not a number",
    "is not a valid integer range": "is not a whole number",
    "is not a valid integer": "is not a whole number",
}


def sentence_of(error: click.UsageError, *, commands: Iterable[str] = ()) -> str:
    """What is wrong with what was typed, and where to read more; click would print its usage above that.

    >>> sentence_of(click.NoSuchOption("--od", possibilities=["--odds"]))
    'there is no option --od: did you mean --odds?'
    """
    told = _wrong(error, commands)
    if error.ctx is None:
        return told
    return f"{told}{'' if told.endswith(('?', '.')) else '.'} See {error.ctx.command_path} --help"


def _wrong(error: click.UsageError, commands: Iterable[str]) -> str:
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{_name(error.param)} is missing"
    if isinstance(error, click.BadParameter) and error.param is not None:
        message = _plain(error.message)
        for theirs, ours in _TYPES.items():
            message = message.replace(theirs, ours)
        return f"{_name(error.param)}: {message}"
    if isinstance(error, click.NoSuchOption):
        near = f": did you mean {' or '.join(error.possibilities)}?" if error.possibilities else ""
        return f"there is no option {error.option_name}{near}"
    message = _plain(error.format_message())
    if isinstance(error, click.BadOptionUsage):
        return message.replace(f"option '{error.option_name}'", error.option_name)
    if "unexpected extra argument" in message:
        return f"{message}: put a name that holds blanks in quotation marks"
    command = message.removeprefix("no such command ").strip("'")
    return message if command == message else f"there is no command {command!r}.{suggestion(command, commands)}"


def _name(parameter: click.Parameter) -> str:
    """An option as it is typed, an argument as the help writes it."""
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name


def _plain(message: str) -> str:
    """One line without a full stop, and begun small, as the middle of a sentence is."""
    text = " ".join(message.split()).removesuffix(".")
    return f"{text[:1].lower()}{text[1:]}"
