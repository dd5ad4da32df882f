"""`help` of everything that `takifugu` offers: every argument, what is raised, and an example."""

import builtins
import inspect
import re

import pytest

import takifugu as tk
from takifugu import errors

OFFERED = [
    one
    for one in (getattr(tk, name) for name in tk.__all__)
    if callable(one) and not (inspect.isclass(one) and issubclass(one, BaseException))
]
EVERY = pytest.mark.parametrize("offered", OFFERED, ids=lambda one: one.__name__)


def told(offered):
    """What `help` shows of it: of a class the docstring of its constructor too, where it has one of its own."""
    own = [offered.__doc__]
    if inspect.isclass(offered) and is_written(offered):
        own.append(offered.__init__.__doc__)
    return "\n\n".join(inspect.cleandoc(one or "") for one in own)


def is_written(cls):
    """Whether a class has a constructor that somebody wrote, and not a dataclass alone."""
    return cls.__init__.__code__.co_filename.endswith(".py")


def described(text):
    """The names in the sections Args and Attributes, with what is said of each."""
    found = {}
    for section in re.findall(r"^(?:Args|Attributes):\n((?: {4}.*\n|\n)+)", text + "\n", re.MULTILINE):
        for names, words in re.findall(r"^ {4}(\*{0,2}\w+(?:, \w+)*):[ \n]+(\S.*)$", section, re.MULTILINE):
            found |= {name.lstrip("*"): words for name in names.split(", ")}
    return found


@EVERY
def test_every_argument_is_described_and_no_other(offered):
    known, takes = described(told(offered)), list(inspect.signature(offered).parameters)
    assert [name for name in takes if name not in known] == []
    if not inspect.isclass(offered):  # an object may have attributes that it is not made with
        assert sorted(known) == sorted(takes)


@EVERY
def test_an_argument_that_is_described_elsewhere_is_described_there(offered):
    for name, words in described(told(offered)).items():
        for other in re.findall(r"(?:as (?:for|in)|see) `(?:takifugu\.)?(\w+)`", words):
            there = getattr(tk, other, None)
            if there in OFFERED and inspect.signature(there).parameters:
                assert name in described(told(there)), f"{name}: {words}"


@EVERY
def test_what_is_raised_is_said_and_is_an_error_that_is_offered(offered):
    takes = inspect.signature(offered).parameters
    checks = not inspect.isclass(offered) or hasattr(offered, "__post_init__") or is_written(offered)
    text = told(offered)
    section = re.search(r"^Raises:\n((?: {4}.*\n?|\n)+)", text, re.MULTILINE)
    if takes and checks:
        assert section, f"{offered.__name__} does not say what it raises"
    for name in re.findall(r"^ {4}(\w+):", section.group(1), re.MULTILINE) if section else ():
        assert name in tk.__all__ or issubclass(getattr(builtins, name), Exception)


@EVERY
def test_there_is_an_example(offered):
    assert ">>> " in told(offered)


def test_every_error_is_offered():
    made = [
        name
        for name, one in vars(errors).items()
        if inspect.isclass(one) and issubclass(one, Exception) and one.__module__ == errors.__name__
    ]
    assert len(made) > 10
    assert [name for name in made if name not in tk.__all__] == []
