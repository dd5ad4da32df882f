"""What a finding is: a typed remark that says its own sentence."""

import re
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal


@dataclass(frozen=True)
class Finding:
    """One remark. `level` is 'warning' where the priors may be worth less than they look."""

    level: ClassVar[Literal["note", "warning"]] = "note"
    says: ClassVar[str] = ""  # the sentence, with the names of fields where their values go

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
        return self.says.format(**vars(self))

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
    ('1 row', '1200 rows')
    """
    return f"{number} row{'' if number == 1 else 's'}"


def were(number: int) -> str:
    """The verb that goes with a number."""
    return "was" if number == 1 else "were"
