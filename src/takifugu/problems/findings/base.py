"""What a finding is: a typed remark that says its own sentence."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from string import Formatter
from typing import Any, ClassVar, Literal


@dataclass(frozen=True)
class Finding:
    """One remark. `level` is 'warning' where the priors may be worth less than they look.

    `says` is its sentence, with the names of fields where their values go; beside the formats of numbers there are
    those of `_WORDS`, as in `{rows:rows}` or `{columns:some}`. What has more to decide has a `sentence` of its own.
    """

    level: ClassVar[Literal["note", "warning"]] = "note"
    says: ClassVar[str] = ""

    @property
    def kind(self) -> str:
        """A name for machines.

        >>> Remark("all is well").kind
        'remark'
        """
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(self).__name__).lower()

    @property
    def sentence(self) -> str:
        """The remark in words."""
        return _SENTENCES.vformat(self.says, (), vars(self))

    def __str__(self) -> str:
        """The sentence."""
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Fields, kind, level and sentence, ready for JSON."""
        return {"kind": self.kind, "level": self.level, **asdict(self), "sentence": self.sentence}


@dataclass(frozen=True)
class Remark(Finding):
    """A finding as a file tells it: the words, without the type that made them."""

    says = "{text}"
    text: str


@dataclass(frozen=True)
class Caution(Remark):
    """The same of a warning."""

    level = "warning"


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


_WORDS: dict[str, Callable[[Any], str]] = {
    "rows": rows_of,
    "were": lambda number: "was" if number == 1 else "were",
    "plural": lambda number: "" if number == 1 else "s",
    "singular": lambda number: "s" if number == 1 else "",
    "percent": lambda share: f"{100 * share:.0f} %",
    "bare": ", ".join,
    "either": lambda names: " or ".join(map(repr, names)),
    "some": some,
    "any": lambda names: some(names, last="or"),
}


class _Sentences(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        in_words = _WORDS.get(format_spec)
        return format(value, format_spec) if in_words is None else in_words(value)


_SENTENCES = _Sentences()
