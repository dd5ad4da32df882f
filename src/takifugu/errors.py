"""Errors and other messages. Each says what is wrong and what to do about it, in the words of whoever reads it.

Nothing that computes knows whether a person sits at Python, at a command line or before the page. A message names an
argument as `{arg:preserve=None}`, and each interface says that in its own way when the sentence is shown.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from string import Formatter
from typing import Protocol


class Interface(Protocol):
    """How a person at some interface gives what a message asks for."""

    @property
    def name(self) -> str:
        """What templates call it: 'python', 'command' or 'page'."""

    def argument(self, name: str, value: str | None) -> str:
        """An argument with its value as Python writes it: '' where any may be meant, None where the name stands alone.

        >>> PYTHON.argument("preserve", "None"), PYTHON.argument("keep", ""), PYTHON.argument("keep", None)
        ('preserve=None', 'keep=', 'keep')
        """

    def reading(self, name: str, value: str) -> str:
        """A field of `Reading` with its value: what is known of a file.

        >>> PYTHON.reading("sep", "';'")
        "reading=Reading(sep=';')"
        """


class _Python:
    name = "python"

    def argument(self, name: str, value: str | None) -> str:
        return name if value is None else f"{name}={value}"

    def reading(self, name: str, value: str) -> str:
        return f"reading=Reading({name}={value})"


PYTHON: Interface = _Python()


class Sayable(Protocol):
    """What is said to people: a message, an error, a diagnostic."""

    def said(self, interface: Interface = ...) -> str:
        """The sentence in the words of an interface."""


class Message:
    """A sentence that is not said yet: a template and the values that go into it.

    Templates are those of `str.format`, every field by its name or number, and can say more:

    - `{arg:preserve=None}` names an argument of the call, and `{reading:sep=';'}` what is known of a file;
    - `{rows:rows}` and the other `FORMATS` put numbers and names into words, `{share:%.1f}` a share in percent;
    - `{apart:?stands apart|is frequent}` chooses by whether a value is true, and
      `{form:@whole→a count|real→a number|text}` by what it is, the last where it is nothing else;
    - `{to:@command→type it|give it}` chooses by the interface.

    A value that is a message itself, a diagnostic or an error, is said in the same words, and so is a list of them
    with the format `sentences`.

    >>> few = Message("{rows:rows}: ask for {arg:confidence=0.95}", rows=3)
    >>> str(few)
    '3 rows: ask for confidence=0.95'
    >>> str(Message("{0!r} is none: leave {arg:order} out{why:?, {why}|}", "up", why=""))
    "'up' is none: leave order out"
    """

    __slots__ = ("_values", "template")

    def __init__(self, template: str, *values: object, **parameters: object) -> None:
        """Keep the template and what goes into it."""
        self.template = template
        self._values: dict[str, object] = dict(zip(map(str, range(len(values))), values, strict=True)) | parameters

    def said(self, interface: Interface = PYTHON) -> str:
        """The sentence in the words of an interface.

        Args:
            interface: how arguments are named there.

        Raises:
            KeyError: where the template names what the message does not have.
        """
        return said(self.template, self._values, interface)

    def __str__(self) -> str:
        """The sentence in the words of Python."""
        return self.said()

    def __repr__(self) -> str:
        """The class and the sentence."""
        return f"Message({str(self)!r})"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Errors cross between processes, and their messages with them."""
        return _message, (self.template, self._values)


def _message(template: str, values: Mapping[str, object]) -> Message:
    made = Message(template)
    made._values = dict(values)
    return made


def said(template: str, values: Mapping[str, object], interface: Interface = PYTHON) -> str:
    """A template with its values in the words of an interface; see `Message`."""
    parts: list[str] = []
    for literal, field, spec, conversion in Formatter().parse(template):
        parts.append(literal)
        if field in ("arg", "reading"):
            name, given, value = said(spec or "", values, interface).partition("=")
            if field == "arg":
                parts.append(interface.argument(name, value if given else None))
            else:
                parts.append(interface.reading(name, value))
        elif field is not None:
            put = interface.name if field == "to" else values[field]
            parts.append(_put(put, spec or "", conversion, values, interface))
    return "".join(parts)


def _put(value: object, spec: str, conversion: str | None, values: Mapping[str, object], interface: Interface) -> str:
    if spec[:1] in ("?", "@"):
        return said(_chosen(value, spec), values, interface)
    if conversion == "r":
        return repr(value)
    if spec.startswith("%"):
        return f"{100 * value:{spec[1:]}} %"  # type: ignore[operator]
    if spec == "sentences":
        return ". ".join(one.said(interface) for one in value)  # type: ignore[attr-defined]
    if spec in FORMATS:
        return FORMATS[spec](value)
    sentence = getattr(value, "said", None)
    return format(value, spec) if sentence is None else str(sentence(interface))


def _chosen(value: object, spec: str) -> str:
    *cases, other = _cases(spec)
    if spec.startswith("?"):
        return cases[0] if value else other
    return dict(case.split("→", 1) for case in cases).get(str(value), other)


def _cases(spec: str) -> list[str]:
    """What stands between bars, but for those within braces."""
    depth, found = 0, [""]
    for letter in spec[1:]:
        depth += (letter == "{") - (letter == "}")
        if letter == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def fields_of(template: str) -> tuple[set[str], set[str]]:
    """The values that a template names, and the arguments that it asks for, whichever of its parts is said.

    >>> sorted(fields_of("{rows:rows}{why:?, {why}|}: leave {arg:order} out")[0])
    ['rows', 'why']
    >>> fields_of("leave {arg:order} out, or give {arg:seed=}")[1] == {"order", "seed"}
    True
    """
    named: set[str] = set()
    arguments: set[str] = set()
    for _, field, spec, _ in Formatter().parse(template):
        if field is None:
            continue
        if field == "arg":
            arguments.add((spec or "").partition("=")[0])
        elif field not in ("reading", "to"):
            named.add(field)
        inside = fields_of("".join(_cases(f" {spec}")) if spec else "")
        named |= inside[0]
        arguments |= inside[1]
    return named, arguments


# Numbers and names in words.


def rows_of(number: int) -> str:
    """A number of rows for a sentence.

    >>> rows_of(1), rows_of(1_200)
    ('1 row', '1,200 rows')
    """
    return f"{number:,} row{'' if number == 1 else 's'}"


def some(names: Sequence[str], *, last: str = "and") -> str:
    """The first four names of columns, and how many more there are.

    >>> some(["age", "ward"]), some(["age", "ward"], last="or"), some(list("abcdef"))
    ("'age', 'ward'", "'age' or 'ward'", "'a', 'b', 'c', 'd' and 2 more")
    """
    shown = list(map(repr, names[:4]))
    if len(names) > 4:
        return f"{', '.join(shown)} {last} {len(names) - 4} more"
    return ", ".join(shown) if last == "and" else f" {last} ".join(shown)


def _quoted(names: Sequence[object]) -> str:
    return ", ".join(map(repr, names))


def _listed(names: Sequence[object]) -> str:
    """The first six, and how many more there are."""
    return _quoted(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _groups(groups: Sequence[tuple[object, int]]) -> str:
    """Groups with their rows: the first six, and how many more there are."""
    named = ", ".join(f"{name!r} ({rows_of(rows)})" for name, rows in groups[:6])
    return named + (f" and {len(groups) - 6} more" if len(groups) > 6 else "")


def _added(added: Sequence[tuple[object, int, float, str]]) -> str:
    """Rows that were added to those of each secret, and the shape of the law they are from: the first eight."""
    shapes = {"independent": "columns taken as independent", "tree": "each column taken to depend on one other"}
    each = (
        f"{_digits(rows, 3)} to the {own:,} of {secret!r} ({shapes[shape]})" for secret, own, rows, shape in added[:8]
    )
    return "; ".join(each) + (f"; and so on for {len(added) - 8} more" if len(added) > 8 else "")


def _digits(number: float, digits: int) -> str:
    """So many digits of a number, with no exponent."""
    return f"{float(f'{number:.{digits}g}'):,.12g}"


FORMATS: Mapping[str, Callable[..., str]] = {
    "rows": rows_of,
    "were": lambda number: "was" if number == 1 else "were",
    "plural": lambda number: "" if number == 1 else "s",
    "singular": lambda number: "s" if number == 1 else "",
    "bare": ", ".join,
    "commas": ",".join,
    "quoted": _quoted,
    "listed": _listed,
    "either": lambda names: " or ".join(map(repr, names)),
    "some": some,
    "any": lambda names: some(names, last="or"),
    "groups": _groups,
    "are": lambda things: "is" if len(things) == 1 else "are",
    "first": lambda things: repr(things[0]),
    "two digits": lambda number: _digits(number, 2),
    "added": _added,
    "separator": lambda mark: {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}.get(mark, repr(mark)),
}


# Every error that Takifugu raises on purpose.


class TakifuguError(Exception):
    """The base of all errors raised by Takifugu.

    Its message is a text, or a `Message`, which each interface says in its own words.
    """

    def said(self, interface: Interface = PYTHON) -> str:
        """What is wrong, in the words of an interface.

        >>> InputError(Message("give {arg:ledger}")).said()
        'give ledger'
        """
        message = self.args[0] if self.args else ""
        return message.said(interface) if isinstance(message, Message) else str(self)


class InputError(TakifuguError, ValueError):
    """What was given cannot be used; the message says what is accepted."""


class MechanismError(InputError):
    """The mechanism asked for does not apply to these priors; the message names those that do."""


class CalibrationError(TakifuguError):
    """No noise could be shown to meet the budget; nothing should be released."""


class NoAnswerError(CalibrationError):
    """The mechanism asked for has no channel that keeps the guarantee; the message names those that do."""


class CertificationError(TakifuguError):
    """A claim could not be proved, or was refuted."""


class MissingExtraError(TakifuguError, ImportError):
    """An optional part is not installed; the message names the extra that brings it."""


class LedgerError(TakifuguError):
    """The ledger could not be read or written, so nothing was released."""


class BudgetError(LedgerError):
    """The release would exceed the budget; the message says how much noise would still fit."""


class CompositionError(LedgerError):
    """The release does not compose with an earlier one about the same records."""


class PublishedOnceError(BudgetError, CompositionError):
    """These records left through a channel from a list before: neither the same answer nor another may follow."""


class DiagnosticWarning(UserWarning):
    """Something about the table or the priors that may make a guarantee worth less than it looks; see `findings`."""


# Names that were not found, and the one that was probably meant.


def suggestion(name: object, known: Iterable[object]) -> str:
    """' Did you mean …?' with the known name nearest to `name`, or nothing where none is near.

    >>> suggestion("educaton", ["education", "age"])
    " Did you mean 'education'?"
    >>> suggestion("zzz", ["education", "age"])
    ''
    """
    by_folded = {str(k).casefold(): k for k in known}
    near = get_close_matches(str(name).casefold(), list(by_folded), n=1, cutoff=0.5)
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""


def no_column(table: str, name: object, columns: Iterable[object], *, which: str = "") -> str:
    """That a table lacks a column, with the one that was probably meant and those there are; `which` tells more of it.

    >>> no_column("truth", "educaton", ["education", "age"], which=", named in keys")
    "truth has no column 'educaton', named in keys. Did you mean 'education'? Its columns are education, age"
    """
    there = list(map(str, columns))
    return f"{table} has no column {name!r}{which}.{suggestion(name, there)} Its columns are {', '.join(there)}"
