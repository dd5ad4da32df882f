"""That numbers of many values are rounded to a list first, which a channel's own figures leave out."""

from collections.abc import Iterable

from takifugu.problems.findings import DomainRead, Finding
from takifugu.reports.text import clean, listed, number


def rounded(findings: Iterable[Finding]) -> dict[str, str]:
    """The columns whose list is one of bins, each with how far these lie apart, for a sentence.

    >>> rounded([DomainRead("age", 51, 20.0), DomainRead("ward", 3, None)])
    {'age': '20'}
    """
    return {
        clean(one.column): number(one.step) for one in findings if isinstance(one, DomainRead) and one.step is not None
    }


def besides(findings: Iterable[Finding]) -> str:
    """What a share of changed values leaves out, after it; nothing where nothing is rounded.

    >>> besides([DomainRead("age", 51, 20.0)]), besides([DomainRead("age", 51, 20.0), DomainRead("ward", 3, None)])
    (', besides rounding to steps of 20', ', besides rounding age to steps of 20')
    """
    findings = tuple(findings)
    found = rounded(findings)
    if not found:
        return ""
    if sum(isinstance(one, DomainRead) for one in findings) == 1:  # whose values are meant is clear
        return f", besides rounding to steps of {next(iter(found.values()))}"
    return f", besides rounding {listed([f'{name} to steps of {step}' for name, step in found.items()])}"


def in_steps(findings: Iterable[Finding]) -> str | None:
    """What is rounded, as a sentence; None where nothing is.

    >>> in_steps([DomainRead("age", 51, 20.0)])
    'age is published in steps of 20: each value is rounded to the nearest of them before anything else.'
    """
    found = rounded(findings)
    if not found:
        return None
    told = listed([f"{name} is published in steps of {step}" for name, step in found.items()])
    return f"{told}: each value is rounded to the nearest of them before anything else."
