"""Templates and what goes into them: the sentence for each interface."""

import pickle

import pytest

from takifugu.commands.output import CommandLine
from takifugu.errors import PYTHON, BudgetError, InputError, Message, fields_of
from takifugu.web.describing import Page

INTERFACES = (PYTHON, CommandLine(), Page())


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        (
            Message("{arg:alpha} must be above {0:g}, got {value!r}", 1.0, value="a"),
            ("alpha must be above 1, got 'a'", "--alpha must be above 1, got 'a'", "alpha must be above 1, got 'a'"),
        ),
        (
            Message("give {arg:preserve=None}, or {arg:bounds=(0, 9)}, or {arg:few='allow'}"),
            (
                "give preserve=None, or bounds=(0, 9), or few='allow'",
                "give --preserve none, or --bounds 0 9, or --allow-few-rows",
                "give preserve=None, or bounds=(0, 9), or few='allow'",
            ),
        ),
        (
            Message("say so with {reading:sentinels=[{code!r}]}", code="age=99"),
            (
                "say so with reading=Reading(sentinels=['age=99'])",
                "say so with --sentinel 'age=99'",
                "say so with “How the file is read”",
            ),
        ),
        (
            Message("{to:@command→type|page→click|give} it to {names:some}", names=("a|b", "{c}")),
            ("give it to 'a|b', '{c}'", "type it to 'a|b', '{c}'", "click it to 'a|b', '{c}'"),
        ),
        (Message("{0:rows} ({1:%.1f})", 1, 0.125), ("1 row (12.5 %)",) * 3),
        (
            Message("the file: {0}", InputError(Message("give {arg:sep=';'}"))),
            ("the file: give sep=';'", "the file: give --sep ';'", "the file: give sep=';'"),
        ),
    ],
)
def test_each_interface_says_a_message_in_its_own_words(message, wanted):
    assert tuple(message.said(one) for one in INTERFACES) == wanted
    assert str(message) == wanted[0]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({"step": 2.5, "form": "whole"}, "in steps of 2.5: a count"),
        ({"step": None, "form": "real"}, "as it is: a number"),
        ({"step": None, "form": "date"}, "as it is: something else"),
    ],
)
def test_a_template_chooses_by_its_values(values, wanted):
    template = "{step:?in steps of {step:g}|as it is}: {form:@whole→a count|real→a number|something else}"
    assert str(Message(template, **values)) == wanted


def test_what_is_filled_in_is_no_template():
    odd = "{arg:keep} {0} %s | →"
    assert str(Message("{0}{name!r}", odd, name=odd)) == f"{odd}{odd!r}"
    assert InputError(odd).said(CommandLine()) == odd


def test_a_template_without_a_value_is_an_error():
    with pytest.raises(KeyError):
        str(Message("{rows} rows"))


def test_errors_keep_their_message_between_processes():
    error = pickle.loads(pickle.dumps(BudgetError(Message("{0:rows}: give {arg:ledger}", 3))))
    assert str(error) == "3 rows: give ledger"
    assert error.said(CommandLine()) == "3 rows: give --ledger"
    assert InputError().said() == ""


def test_the_fields_of_a_template_are_those_of_all_its_cases():
    template = "{a:?{b!r}|{c:rows} {arg:keep}}{form:@x→{d}|{arg:seed={e}}}{to:@page→{f}|}{reading:sep={g}}"
    assert fields_of(template) == (set("abcdefg") | {"form"}, {"keep", "seed"})
