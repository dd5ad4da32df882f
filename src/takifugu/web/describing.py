"""The page and a table: questions, checked field by field, and what may be secret, published, or looks odd."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from takifugu._validation import integer, real
from takifugu.errors import PYTHON, InputError, Sayable
from takifugu.mechanisms import is_ours, list_mechanisms
from takifugu.problems import Diagnostic
from takifugu.queries import KINDS, MOST_NUMBERS, Proposal, betrayals_of, proposed, suspected_code
from takifugu.tables import AWKWARD, BySecret, ColumnFacts, Reading, Table, is_free_text, look

# How a file is to be read, as the page asks for it; and what is told about it in the words of the page.

_HERE = "“How the file is read”"
_NOTHING = "none"  # between groups of digits; an empty text leaves it to the reader
_HEADERS = {"": None, "names": True, "record": False}
_CODES = ("na", "sentinels")
_CELLS = (*_CODES, "tidy", "merge")
_TIDY = {"": False, "yes": True}
_LINES = ("decimal", "thousands", "header", "skip")
FIELDS = {  # what can be said of a file of each kind
    "text": ("sep", "encoding", *_LINES, *_CELLS),
    "excel": ("sheet", *_LINES, *_CELLS),
    "parquet": _CELLS,
}
_EVERY = tuple(dict.fromkeys(name for names in FIELDS.values() for name in names))


def read_reading(data: object) -> tuple[str, dict[str, str]]:
    """The table to read again, and what is said of its form; an empty text leaves a decision to the reader."""
    if not isinstance(data, Mapping) or "table" not in data or not set(data) <= {"table", *_EVERY}:
        raise InputError(f"the question must be a JSON object with 'table' and some of {', '.join(map(repr, _EVERY))}")
    asked = {name: data[name] for name in _EVERY if name in data}
    for name, value in asked.items():
        if not isinstance(value, str) or len(value) > MOST_TEXT:
            raise InputError(f"'{name}' must be a text of at most {MOST_TEXT} characters")
    as_asked(Reading(), asked)
    return text(data["table"], "'table'"), asked


def as_asked(before: Reading, asked: Mapping[str, str]) -> Reading:
    """The reading with what is asked for. A field that says what it said before keeps what was meant by it.

    >>> made = as_asked(Reading(sentinels=("9,9",), skip=2), {"sep": ";", "sentinels": '"9,9"', "skip": ""})
    >>> made.sep, made.sentinels, made.skip
    (';', ('9,9',), None)
    >>> as_asked(Reading(), {"sentinels": '999, "stay, in days=-1"'}).sentinels
    ('999', 'stay, in days=-1')
    """
    said = _texts(before)
    return replace(before, **{name: _meant(name, value) for name, value in asked.items() if value != said[name]})


def shown(reading: Reading, kind: str) -> dict[str, str]:
    """What was said of a file's form, as the page's fields hold it: those that a file of this kind has.

    >>> shown(Reading(header=True, sentinels=(999, "age=-1")), "parquet")
    {'na': '', 'sentinels': '999, age=-1', 'tidy': '', 'merge': ''}
    """
    said = _texts(reading)
    return {name: said[name] for name in FIELDS[kind]}


def _texts(reading: Reading) -> dict[str, str]:
    given: dict[str, Any] = {name: getattr(reading, name) for name in _EVERY}
    given["header"] = next(word for word, meant in _HEADERS.items() if meant is reading.header)
    given["thousands"] = _NOTHING if reading.thousands == "" else reading.thousands
    given |= {name: in_commas(given[name] or ()) for name in _CODES}
    given["tidy"] = "yes" if reading.tidy else ""
    given["merge"] = "; ".join(f"{into}={in_commas(of)}" for into, of in reading.merges)
    return {name: "" if value is None else str(value) for name, value in given.items()}


def in_commas(values: Iterable[object]) -> str:
    """Codes, texts or labels in one field; what holds a comma stands in double quotes."""
    return ", ".join(quoted(str(one)) for one in values)


def quoted(value: str) -> str:
    """A code or a text as a field of the page holds it among others."""
    doubled = value.replace('"', '""')
    return f'"{doubled}"' if {",", ";"} & {*value} or value.startswith('"') else value


def _meant(name: str, value: str) -> Any:
    if name in ("tidy", "header"):
        words: Mapping[str, Any] = _TIDY if name == "tidy" else _HEADERS
        if value not in words:
            raise InputError(f"{name!r} must be one of {', '.join(map(repr, words))}")
        return words[value]
    if name == "merge":  # a semicolon in quotes is one of a label's own
        parts = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', " ".join(value.splitlines()))
        return tuple(part.strip() for part in parts if part.strip())
    if name in _CODES:
        # As on the command line: what holds a comma stands in double quotes.
        (fields,) = csv.reader([" ".join(value.splitlines())], skipinitialspace=True)
        codes = tuple(part.strip() for part in fields if part.strip())
        return codes or (None if name == "na" else ())
    if not value:
        return None
    if name == "skip":
        if not value.isdecimal() or len(value) > 6:
            raise InputError("the lines above the header must be a whole number, 0 or more")
        return int(value)
    return "" if (name, value) == ("thousands", _NOTHING) else value


class Page:
    """The words of the page: what is known of a file is said in a box, and no more is asked for by name."""

    name = "page"

    def argument(self, name: str, value: str | None) -> str:
        """As in Python, which the page shows too."""
        return PYTHON.argument(name, value)

    def reading(self, name: str, value: str) -> str:
        """Where the page asks for it."""
        return _HERE


def on_page(message: Sayable | str) -> str:
    """What a message, an error or a sentence that names arguments of Python says in the words of the page.

    >>> on_page("column 'ward' says 'NA' in 3 rows, read as missing: give reading=Reading(na=[...]) to change that")
    "column 'ward' says 'NA' in 3 rows, read as missing: “How the file is read” can change that"
    """
    sentence = message if isinstance(message, str) else message.said(Page())
    sentence = re.sub(r"give reading=Reading\(sentinels=\['([^']*)='\]\)", rf"write \1= under {_HERE}", sentence)
    sentence = re.sub(r"give reading=Reading\(sentinels=\[.*?\]\)", f"say so under {_HERE}", sentence)
    sentence = re.sub(r"give reading=Reading\(decimal=.*?\) to be sure", f"name it under {_HERE} to be sure", sentence)
    sentence = re.sub(r"give reading=Reading\(.*?\) to change that", f"{_HERE} can change that", sentence)
    sentence = re.sub(r"give sep=.*?, or leave sep out", f"name that one under {_HERE}, or none", sentence)
    sentence = re.sub(
        r"a joint channel, Row\(.*\), costs far less", "“A table”, one joint channel, costs far less", sentence
    )
    for python, shown in _PHRASES.items():
        sentence = sentence.replace(python, shown)
    return sentence


_PHRASES = {
    "give reading=Reading(tidy=True)": f"say so under {_HERE}",
    "or name another separator (sep=)": f"or name another separator under {_HERE}",
    "say how many lines stand above the header (skip=)": f"say under {_HERE} how many lines stand above the header",
    "say header=False if it is a record, header=True if these are the names": f"say which it is under {_HERE}",
    "say header=False if its first line is a record": f"say under {_HERE} that its first line is a record",
    "say how many lines to skip, with skip=, or name the separator, with sep=": "say how many lines to skip, or name "
    f"the separator, under {_HERE}",
    "name another encoding (encoding=)": f"name another encoding under {_HERE}",
    "or name its encoding if it is a text in UTF-16": f"or name its encoding under {_HERE} if it is a text in UTF-16",
    "merge rare secrets or leave them out (leave_out=)": "merge rare values of the secret, or leave them out",
    "give coarser lists (domain=)": "give coarser “Lists of values”",
    "or ask for assurance='band', which needs no model and costs more": "or give the command or the Python below "
    "--assurance band (assurance='band'), which needs no model and costs more",
    "leave it out, with Reading(leave_out=[...]) in publish or by naming the others in `secrets`": (
        "leave it out, or hide a pair without it"
    ),
    "with confidence=0.95 it would be for the population too": "“The guarantee holds” can include the population",
    "ask for confidence=0.95, merge it with another secret, from which it is then not hidden, or take the risk with "
    "fit_priors(..., few='allow')": "hide another pair, merge it with another secret in the table, from which it is "
    "then not hidden, or publish a table for the population",
}


MOST_SECRETS = 60  # a column with more distinct values is not offered as a secret
MOST_COLUMNS = 400
_LISTED = ("whole numbers", "numbers", "truth", "labels")  # what a list of values can be made of
_MOST_LABELS = 1_000


def looked_at(table: Table) -> tuple[ColumnFacts, ...]:
    """The facts of every column of a table that is not too wide for the page."""
    if len(table.columns) > MOST_COLUMNS:
        raise InputError(f"{table.name} has {len(table.columns)} columns; the explorer takes {MOST_COLUMNS}")
    return look(table)


def described(table: Table, facts: Sequence[ColumnFacts], *, own: bool = True) -> dict[str, Any]:
    """The columns that can be secrets, numbers to add noise to, and values to publish from a list.

    What looks like an identifier is named apart: it is never what the page opens with, nor are notes and amounts in
    text. None of those that can be secrets is proposed: which one is, nobody but its holder knows.
    A table that is not one's `own` is read as it is.
    """
    secrets = [one for one in facts if 2 <= one.distinct <= MOST_SECRETS and _can_be_secret(table, one)]
    if not secrets:
        columns = f"none of its {len(facts)} columns has" if len(facts) > 1 else "its one column does not have"
        # A likely reason is how it was read: a sheet of notes before the one with the table, or another separator.
        read = [one.sentence for one in table.findings if one.code == "read-as"]
        decided = "".join(f". {sentence[0].upper()}{sentence[1:]}" for sentence in read)
        raise InputError(
            f"{table.name} has no column that could be a secret: {columns} between 2 and {MOST_SECRETS} values{decided}"
        )
    identifiers = [one.name for one in facts if one.is_identifier]
    lists = [one.name for one in facts if one.kind in _LISTED and (one.is_number or 1 < one.distinct <= _MOST_LABELS)]
    awkward = [one.name for one in facts if is_free_text(one) or one.form in AWKWARD]
    suspected = _suspected(facts)
    return {
        "secrets": [one.name for one in secrets],
        "numbers": _last(table.numeric, identifiers),
        "lists": _last(_last(lists, awkward), identifiers),
        "identifiers": identifiers,
        "findings": [on_page(one) for one in table.findings] + [_suspicion(one, own=own) for one in suspected],
        "suspects": [quoted(one["sentinel"]) for one in suspected if one.code != "far-value"],
    }


def _suspected(facts: Iterable[ColumnFacts]) -> list[Diagnostic]:
    """Codes that stand far from the rest of their column."""
    return [suspected_code(one.name, suspect) for one in facts for suspect in one.suspects if suspect.apart]


def _suspicion(finding: Diagnostic, *, own: bool) -> str:
    told = on_page(finding)
    return told if own else told.partition(": if it does")[0]


def _can_be_secret(table: Table, facts: ColumnFacts) -> bool:
    try:
        table.secret(facts.name)
    except InputError:
        return False
    return True


def _last(columns: list[str], unwanted: list[str]) -> list[str]:
    return sorted(columns, key=lambda name: name in unwanted)


# Which column the page opens with: one that most rows have, from a short list, and not among those that tell most.

_MISSING = 0.1  # of the rows: what more of them lack says little of most
_LOOKED_AT = 12  # columns that are held against the secret: each is a pass over the table


def first_column(table: Table, secret: str, facts: Sequence[ColumnFacts], offered: Sequence[str]) -> str | None:
    """The column to publish that a table is opened with, in the order of the table; None where none can be.

    Of those that are best filled in and have short lists, the half that tells more of the secret is passed over: a
    column that gives it away needs so much change that nothing can be seen of how a guarantee works.
    """
    lists: dict[str, Proposal] = {}
    shortcomings: dict[str, tuple[bool, ...]] = {}
    for one in facts:
        if one.name == secret or one.name not in offered or one.is_identifier or one.distinct < 2:
            continue
        try:
            proposal = proposed(one)
        except InputError:  # labels that look alike: they are refused when they are published
            continue
        if proposal is not None:
            lists[one.name] = proposal
            shortcomings[one.name] = _shortcomings(one)
    least = min(shortcomings.values(), default=())
    good = [name for name, found in shortcomings.items() if found == least][:_LOOKED_AT]
    if len(good) < 2:
        return next(iter(good), None)
    try:
        telling = _telling(table, secret, {one.name for one in facts if one.is_number}, {n: lists[n] for n in good})
    except InputError:  # a secret of which nothing can be counted: what is asked for next says why
        return good[0]
    quieter = sorted(good, key=lambda name: telling[name])[: (len(good) + 1) // 2]
    return next(name for name in good if name in quieter)


def _shortcomings(one: ColumnFacts) -> tuple[bool, ...]:
    """The worst first: rows that lack it stay out, a code for missing values widens its list, and so do many values."""
    return (
        one.missing > _MISSING * (one.rows + one.missing),
        any(suspect.apart for suspect in one.suspects),
        one.distinct > MOST_NUMBERS,
    )


def _telling(table: Table, secret: str, numbers: set[str], lists: dict[str, Proposal]) -> dict[str, float]:
    """How often the best guess from each column is right, for the pair that it tells apart most easily."""
    told = betrayals_of(BySecret(table, secret, [name for name in lists if name in numbers]), lists)
    return {name: told[name].best_guess if name in told else 0.5 for name in lists}


# One question to the explorer, checked field by field: nothing reaches the mathematics that was not offered.


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
