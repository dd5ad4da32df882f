"""Findings that cannot wait until somebody looks: shown as warnings, where the call stands that they came from."""

import sys
import warnings
from collections.abc import Iterable

from takifugu.errors import FindingWarning
from takifugu.problems.findings.base import Finding

_US = __name__.partition(".")[0]


def frames_within() -> int:
    """How many calls of the library lie between the caller and whoever called it from outside: a `stacklevel`."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _US:
        depth, frame = depth + 1, frame.f_back
    return depth


def show(findings: Iterable[Finding]) -> None:
    """Warn of the findings that are warnings; for functions that others call, at their end.

    Python shows a warning once for each line of code that it comes from. A call from within the library is silent:
    the command line, the explorer and reports tell findings in their own way, and whoever calls on behalf of somebody
    else shows them itself.
    """
    caller = sys._getframe(2).f_globals.get("__name__", "")
    if caller.partition(".")[0] == _US:
        return
    for finding in findings:
        if finding.level == "warning":
            warnings.warn(str(finding), FindingWarning, stacklevel=3)


def show_ahead(findings: Iterable[Finding]) -> None:
    """Warn of findings that need not wait for the end of the work, from however deep, where the call outside stands."""
    for finding in findings:
        warnings.warn(str(finding), FindingWarning, stacklevel=frames_within())
