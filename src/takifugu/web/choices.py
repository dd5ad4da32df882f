"""One question to the explorer, checked field by field: nothing reaches the mathematics that was not offered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from takifugu._validation import real
from takifugu.errors import InputError
from takifugu.mechanisms import list_mechanisms
from takifugu.queries.raw import KINDS

ALPHAS = (1.01, 256.0)
EPSILONS = (0.001, 100.0)
QUERIES = ("raw", "mean", "gp", "bnn")
MOST_TEXT = 200  # characters of a column's or a secret's name

_FIELDS = {"table", "secret", "pair", "query", "column", "prior", "mechanism", "alpha", "epsilon", "train"}


@dataclass(frozen=True)
class Fit:
    """What a prior is fitted to: all of a question that does not change while a slider moves."""

    table: str
    secret: str
    pair: tuple[str, str]
    query: str
    column: str
    prior: str


@dataclass(frozen=True)
class Choice:
    """Everything that is chosen on the page."""

    fit: Fit
    mechanism: str
    alpha: float
    epsilon: float
    train: bool


def read_choice(data: Any) -> Choice:
    """The question in a request's body, or an `InputError` that names the field that is wrong.

    Whether the columns and secrets are there is for the table to say.
    """
    if not isinstance(data, Mapping):
        raise InputError("a question is a JSON object with the choices made on the page")
    if unknown := sorted(str(key)[:MOST_TEXT] for key in set(data) - _FIELDS):
        raise InputError(f"a question has no field {unknown[0]!r}")
    pair = data.get("pair")
    if not isinstance(pair, list) or len(pair) != 2:
        raise InputError("'pair' must be a list of two secrets")
    first, second = (text(secret, "each secret of 'pair'") for secret in pair)
    if first == second:
        raise InputError("a secret cannot be hidden from itself: choose two different ones")
    train = data.get("train", False)
    if not isinstance(train, bool):
        raise InputError("'train' must be true or false")
    return Choice(
        fit=Fit(
            table=text(data.get("table"), "'table'"),
            secret=text(data.get("secret"), "'secret'"),
            pair=(first, second),
            query=_one_of(data.get("query"), QUERIES, "'query'"),
            column=text(data.get("column"), "'column'"),
            prior=_one_of(data.get("prior"), KINDS, "'prior'"),
        ),
        mechanism=_one_of(data.get("mechanism"), tuple(list_mechanisms()), "'mechanism'"),
        alpha=_between(data.get("alpha"), ALPHAS, "alpha"),
        epsilon=_between(data.get("epsilon"), EPSILONS, "epsilon"),
        train=train,
    )


def text(value: Any, name: str) -> str:
    """A short text, or an error with the field's name."""
    if not isinstance(value, str) or not 0 < len(value) <= MOST_TEXT:
        raise InputError(f"{name} must be a text of 1 to {MOST_TEXT} characters")
    return value


def _one_of(value: Any, known: tuple[str, ...], name: str) -> str:
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}")
    return value


def _between(value: Any, limits: tuple[float, float], name: str) -> float:
    low, high = limits
    accepted = f"a number from {low:g} to {high:g}"
    number = real(name, value, accepted)
    if not low <= number <= high:
        raise InputError(f"{name} must be {accepted}, got {number:g}")
    return number
