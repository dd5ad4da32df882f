"""One question to the explorer, checked field by field: nothing reaches the mathematics that was not offered."""

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
CONFIDENCES = (0.9, 0.95, 0.99)
QUERIES = ("row", "raw", "mean", "gp", "bnn")
SEVERAL = ("row", "raw", "mean")  # of which several columns can be published together
PROMISES = ("odds", "renyi")
MOST_TEXT = 200  # characters of a column's or a secret's name
MOST_TOGETHER = 6  # columns that are published together
MOST_KNOWN = 4  # columns that the adversary may know: each doubles the subsets that are looked at

_FIELDS = {
    *("table", "secret", "pair", "query", "columns", "known", "prior", "mechanism"),
    *("promise", "odds", "alpha", "epsilon", "confidence", "train", "narrow", "page", "turn"),
}


@dataclass(frozen=True)
class Fit:
    """What priors are fitted to: all of a question that does not change while a slider moves.

    A `pair` of None stands for every pair.
    """

    table: str
    secret: str
    pair: tuple[str, str] | None
    query: str
    columns: tuple[str, ...]
    known: tuple[str, ...] = ()
    prior: str | None = None

    @property
    def column(self) -> str:
        """The one column of an answer that noise is added to."""
        return self.columns[0]

    @property
    def is_vector(self) -> bool:
        """Whether noise is added to several numbers as one vector."""
        return self.query != "row" and len(self.columns) > 1

    @property
    def secrets(self) -> tuple[str, str] | None:
        """The secrets that priors are fitted for; None for all."""
        return self.pair


@dataclass(frozen=True)
class Choice:
    """Everything that is chosen on the page and makes a difference to the answer: two that are equal have one."""

    fit: Fit
    mechanism: str
    alpha: float | None
    epsilon: float | None
    odds: float | None
    confidence: float | None

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
    )
    mechanism = _mechanism(data.get("mechanism"))
    promise = _one_of(data.get("promise", "renyi"), PROMISES, "'promise'")
    confidence = data.get("confidence")
    if confidence is not None and (isinstance(confidence, bool) or confidence not in CONFIDENCES):
        raise InputError(f"'confidence' must be null or one of {', '.join(map(str, CONFIDENCES))}")
    numbers = {
        "alpha": _between(data.get("alpha"), ALPHAS, "alpha"),
        "epsilon": _between(data.get("epsilon"), EPSILONS, "epsilon"),
        "odds": _between(data.get("odds", 3), ODDS, "odds"),
    }
    return Question(
        choice=_settled(Choice(fit, mechanism, **numbers, confidence=confidence), by_odds=promise == "odds"),
        page=text(data.get("page", "page"), "'page'"),
        turn=integer("turn", data.get("turn", 0), least=0),
        train=_truth(data.get("train", False), "'train'"),
        narrow=_truth(data.get("narrow", False), "'narrow'"),
    )


def _settled(choice: Choice, *, by_odds: bool) -> Choice:
    """The choice without what makes no difference: a prediction is normal whatever the kind of prior, say."""
    if choice.is_listed:
        choice = replace(choice, fit=replace(choice.fit, prior=None), mechanism="optimal")
        return replace(choice, alpha=None, epsilon=None) if by_odds else replace(choice, odds=None)
    fit = choice.fit if choice.fit.query == "raw" else replace(choice.fit, known=(), prior=None)
    if fit.is_vector:
        choice = replace(choice, mechanism="shaped")  # the one that is for vectors
    rule = "shaped" if fit.is_vector else "exact"
    if not (fit.query == "mean" or (fit.query == "raw" and fit.prior == "counts")) or choice.mechanism != rule:
        choice = replace(choice, confidence=None)  # which has nothing to draw from, or no rule to go with
    return replace(choice, fit=fit, odds=None)


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


def _names(value: object, name: str, *, least: int, most: int) -> tuple[str, ...]:
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise InputError(f"{name} must be a list of {least} to {most} columns")
    names = tuple(text(one, f"each of {name}") for one in value)
    if len(set(names)) < len(names):
        raise InputError(f"{name} has a column twice")
    return names


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
