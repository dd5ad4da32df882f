"""Options as the commands declare them."""

from collections.abc import Callable
from typing import Any

import click

from takifugu.errors import InputError


class Single(click.Option):
    """An option that may be given once: of two values, nobody can tell which was meant."""

    def handle_parse_result(self, ctx: click.Context, opts: Any, args: list[str]) -> Any:
        """Refuse a second value, which click would take without a word."""
        for name in self.opts:
            given = sum(arg == name or arg.startswith(f"{name}=") for arg in ctx.meta.get(_ARGUMENTS, ()))
            if given > 1:
                raise InputError(f"{name} was given {given} times, and it takes one value: leave out all but one")
        return super().handle_parse_result(ctx, opts, args)


class Command(click.Command):
    """A command that remembers its arguments as they were written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments for `Single`, up to a `--` that ends the options."""
        ctx.meta[_ARGUMENTS] = args[: args.index("--")] if "--" in args else list(args)
        return super().parse_args(ctx, args)


_ARGUMENTS = "takifugu.arguments"


def single(*names: str, **options: Any) -> Callable[[Any], Any]:
    """`click.option` for an option that may be given once."""
    return click.option(*names, cls=Single, **options)
