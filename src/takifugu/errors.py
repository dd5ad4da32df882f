"""Every error Takifugu raises on purpose. Each message says what is wrong and what to do about it."""


class TakifuguError(Exception):
    """The base of all errors raised by Takifugu."""


class InputError(TakifuguError, ValueError):
    """What was given cannot be used; the message says what is accepted."""


class MechanismError(InputError):
    """The mechanism asked for does not apply to these priors; the message names those that do."""


class CalibrationError(TakifuguError):
    """No noise could be shown to meet the budget; nothing should be released."""


class NoAnswerError(CalibrationError):
    """The mechanism asked for has no channel that keeps the promise; the message names those that do."""


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


class FindingWarning(UserWarning):
    """Something about the table or the priors that may make a promise worth less than it looks; see `findings`."""
