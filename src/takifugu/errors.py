"""Every error Takifugu raises on purpose. Each message says what is wrong and what to do about it."""

from collections.abc import Iterable
from difflib import get_close_matches

from takifugu.messages import PYTHON, Interface, Message


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
