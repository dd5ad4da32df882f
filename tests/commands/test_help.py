"""Help: options in groups, a dozen above the fold, and every command in JSON."""

import click
import pytest
from click.testing import CliRunner

from takifugu.cli import main
from takifugu.commands.help_text import _FIRST, GROUPS, MOST

NAMES = main.list_commands(click.Context(main))


def command(name):
    return main.get_command(click.Context(main), name)


def options(name):
    return {max(one.opts, key=len) for one in command(name).params if isinstance(one, click.Option)}


def shown(text):
    return {word.strip(",") for line in text.splitlines() for word in line.split()[:2] if word.startswith("--")}


@pytest.mark.parametrize("name", NAMES)
def test_a_dozen_options_stand_above_the_fold_and_all_under_help_all(name):
    told = CliRunner().invoke(main, [name, "--help"]).stdout
    options_told = told[told.index("\n\n", told.rindex("Exit status") if "Exit status" in told else 0) :]
    assert len(shown(options_told) & options(name)) <= MOST
    if len(options(name)) > MOST:
        assert "--help-all" in told
        everything = CliRunner().invoke(main, [name, "--help-all"])
        assert everything.exit_code == 0
        assert options(name) <= shown(everything.stdout) | {"--header"}
        assert set(_FIRST[name]) <= options(name)


def test_every_option_that_a_group_names_is_one_of_a_command():
    every = set().union(*map(options, NAMES))
    assert {one for group in GROUPS.values() for one in group} <= every


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_json(name):
    assert "--json" in options(name)
