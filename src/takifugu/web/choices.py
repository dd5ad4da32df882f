"""One question to the explorer, checked field by field: nothing reaches the mathematics that was not offered."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from takifugu._validation import integer, real
from takifugu.errors import InputError
from takifugu.mechanisms import is_ours, list_mechanisms
from takifugu.queries import KINDS

ALPHAS = (1.01, 256.0)
EPSILONS = (0.001, 100.0)
ODDS = (1.01, 1000.0)
DELTAS = (1e-12, 0.1)
LIMITS = {"alpha": ALPHAS, "epsilon": EPSILONS, "odds": ODDS, "delta": DELTAS}
CONFIDENCES = (0.9, 0.95, 0.99)
QUERIES = ("row", "raw", "mean", "gp", "bnn")
SEVERAL = ("row", "raw", "mean")  # of which several columns can be published together
PROMISES = {  # what each is made of
    "odds": ("odds",),
    "renyi": ("alpha", "epsilon"),
    "approximate": ("epsilon", "delta"),
    "both": ("alpha", "epsilon", "odds"),
}
MOST_TEXT = 200  # characters of a column's or a secret's name
MOST_TOGETHER = 6  # columns that are published together
MOST_KNOWN = 4  # columns that the adversary may know: each doubles the subsets that are looked at
MOST_LEFT_OUT = 40  # secrets
MOST_LIST = 1000  # characters of a list of values; a longer one is for the command line

_FIELDS = {
    *("table", "secret", "pair", "leave_out", "query", "columns", "lists", "other", "known", "prior", "mechanism"),
    *("promise", "odds", "alpha", "epsilon", "delta", "confidence", "train", "narrow", "page", "turn"),
}


Value = str | int | float


@dataclass(frozen=True)
class Fit:
    """What priors are fitted to: all of a question that does not change while a slider moves.

    A `pair` of None stands for every pair, but for those of the secrets that are left out. `lists` are the values that
    a column may be published with, and `other` is what a label on none of them becomes.
    """

    table: str
    secret: str
    pair: tuple[str, str] | None
    query: str
    columns: tuple[str, ...]
    known: tuple[str, ...] = ()
    prior: str | None = None
    leave_out: tuple[str, ...] = ()
    lists: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    other: str | None = None

    @property
    def column(self) -> str:
        """The one column of an answer that noise is added to."""
        return self.columns[0]

    @property
    def is_vector(self) -> bool:
        """Whether noise is added to several numbers as one vector."""
        return self.query != "row" and len(self.columns) > 1

    @property
    def domain(self) -> dict[str, list[Value]] | None:
        """The lists as `publish` takes them; None where there are none."""
        return {name: list(values) for name, values in self.lists} or None


@dataclass(frozen=True)
class Choice:
    """Everything that is chosen on the page and makes a difference to the answer: two that are equal have one."""

    fit: Fit
    mechanism: str
    alpha: float | None
    epsilon: float | None
    odds: float | None
    confidence: float | None
    delta: float | None = None

    @property
    def promise(self) -> dict[str, float]:
        """What is guaranteed, in the names of `calibrate`."""
        given = {name: getattr(self, name) for name in ("odds", "alpha", "epsilon", "delta")}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def is_listed(self) -> bool:
        """Whether values are published from finite lists, through the best channel."""
        return self.fit.query == "row"


@dataclass(frozen=True)
class Question:
    """A choice, and how it is asked: by which page in which turn, whether to train a network, how wide to draw."""

    choice: Choice
    page: str = ""
    turn: int = 0
    train: bool = False
    narrow: bool = False


def read_question(data: object) -> Question:
    """The question in a request's body, or an `InputError` that names the field that is wrong.

    Whether the columns and secrets are there is for the table to say.
    """
    if not isinstance(data, Mapping):
        raise InputError("a question is a JSON object with the choices made on the page")
    if unknown := sorted(str(key)[:MOST_TEXT] for key in set(data) - _FIELDS):
        raise InputError(f"a question has no field {unknown[0]!r}")
    query = _one_of(data.get("query"), QUERIES, "'query'")
    most = MOST_TOGETHER if query in SEVERAL else 1
    columns = _names(data.get("columns"), "'columns'", least=1, most=most)
    fit = Fit(
        table=text(data.get("table"), "'table'"),
        secret=text(data.get("secret"), "'secret'"),
        pair=_pair(data.get("pair")),
        query=query,
        columns=columns,
        known=_names(data.get("known", []), "'known'", least=0, most=MOST_KNOWN),
        prior=_one_of(data.get("prior"), KINDS, "'prior'"),
        leave_out=_names(data.get("leave_out", []), "'leave_out'", least=0, most=MOST_LEFT_OUT, of="secrets"),
        lists=_lists(data.get("lists", {}), columns),
        other=_other(data.get("other")),
    )
    mechanism = _mechanism(data.get("mechanism"))
    promise = _one_of(data.get("promise", "renyi"), tuple(PROMISES), "'promise'")
    confidence = data.get("confidence")
    if confidence is not None and (isinstance(confidence, bool) or confidence not in CONFIDENCES):
        raise InputError(f"'confidence' must be null or one of {', '.join(map(str, CONFIDENCES))}")
    numbers = {name: _between(data.get(name), LIMITS[name], name) for name in PROMISES[promise]}
    return Question(
        choice=_settled(
            Choice(
                fit,
                mechanism,
                alpha=numbers.get("alpha"),
                epsilon=numbers.get("epsilon"),
                odds=numbers.get("odds"),
                delta=numbers.get("delta"),
                confidence=confidence,
            )
        ),
        page=text(data.get("page", "page"), "'page'"),
        turn=integer("turn", data.get("turn", 0), least=0),
        train=_truth(data.get("train", False), "'train'"),
        narrow=_truth(data.get("narrow", False), "'narrow'"),
    )


def _settled(choice: Choice) -> Choice:
    """The choice without what makes no difference: a prediction is normal whatever the kind of prior, say."""
    fit = choice.fit if choice.fit.pair is None else replace(choice.fit, leave_out=())  # all others are left out
    if choice.is_listed:
        if choice.delta is not None:
            raise InputError("a table is published within bounded odds, or α and ε: (ε, δ) is for noise on numbers")
        return replace(choice, fit=replace(fit, prior=None), mechanism="optimal")
    fit = replace(fit, leave_out=(), lists=(), other=None)
    fit = fit if fit.query == "raw" else replace(fit, known=(), prior=None)
    if fit.is_vector:
        choice = replace(choice, mechanism="shaped")  # the one that is for vectors
    drawn = fit.query == "mean" or (fit.query == "raw" and fit.prior == "counts")
    if not drawn or choice.mechanism not in (("shaped",) if fit.is_vector else ("exact", "laplace")):
        choice = replace(choice, confidence=None)  # which has nothing to draw from, or no rule to go with
    return replace(choice, fit=fit)


def text(value: Any, name: str) -> str:
    """A short text, or an error with the field's name."""
    if not isinstance(value, str) or not 0 < len(value) <= MOST_TEXT:
        raise InputError(f"{name} must be a text of 1 to {MOST_TEXT} characters")
    return value


def _pair(value: object) -> tuple[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise InputError("'pair' must be null, for every pair, or a list of two secrets")
    first, second = (text(secret, "each secret of 'pair'") for secret in value)
    if first == second:
        raise InputError("a secret cannot be hidden from itself: choose two different ones")
    return first, second


def _names(value: object, name: str, *, least: int, most: int, of: str = "columns") -> tuple[str, ...]:
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise InputError(f"{name} must be a list of {least} to {most} {of}")
    names = tuple(text(one, f"each of {name}") for one in value)
    if len(set(names)) < len(names):
        raise InputError(f"{name} has one of its {of} twice")
    return names


def _lists(value: object, columns: tuple[str, ...]) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    """The lists of values by column, each as it was typed; an empty one is read from the rows."""
    if not isinstance(value, Mapping):
        raise InputError("'lists' must be an object with the list of each column as a text")
    found = []
    for name, typed in value.items():
        if name not in columns:
            raise InputError("'lists' has a list for a column that is not published")
        if not isinstance(typed, str) or len(typed) > MOST_LIST:
            raise InputError(
                f"a list of values takes at most {MOST_LIST:,} characters here; give a longer one to the "
                "command below, with --domain FILE"
            )
        if values := as_list(typed):
            found.append((name, values))
    return tuple(found)


_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?")


def as_list(typed: str) -> tuple[Value, ...]:
    """The values that a person typed with commas between them: numbers where all of them are.

    >>> as_list("20, 40,60.5"), as_list('north, "a, b"'), as_list("01, 02"), as_list("")
    ((20, 40, 60.5), ('north', 'a, b'), ('01', '02'), ())
    """
    (fields,) = csv.reader([" ".join(typed.splitlines())], skipinitialspace=True)
    parts = tuple(part.strip() for part in fields if part.strip())
    if all(map(_NUMBER.fullmatch, parts)):
        return tuple(float(part) if "." in part else int(part) for part in parts)
    return parts


def _other(value: object) -> str | None:
    return None if value in (None, "") else text(value, "'other'")


def _truth(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false")
    return value


def _one_of(value: object, known: tuple[str, ...], name: str) -> str:
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}")
    return value


def _mechanism(value: object) -> str:
    # Others' mechanisms are looked up in every package that is installed here: not for each step of a slider.
    if isinstance(value, str) and is_ours(value):
        return value
    return _one_of(value, tuple(list_mechanisms()), "'mechanism'")


def _between(value: object, limits: tuple[float, float], name: str) -> float:
    low, high = limits
    accepted = f"a number from {low:g} to {high:g}"
    number = real(name, value, accepted)
    if not low <= number <= high:
        raise InputError(f"{name} must be {accepted}, got {number:g}")
    return number
