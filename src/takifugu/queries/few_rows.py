"""What there is to say about the rows behind a prior, and how many it needs."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.problems.findings import FewRows, Finding, LeftOutTells, NoSecret, NoValue, ScarceRows
from takifugu.problems.problem import Problem
from takifugu.tables.overview import Overview
from takifugu.tables.table import Secret

FEW = 100  # rows below which a secret's prior is called uncertain
_NO_CHANCE = 4.0  # standard deviations between two shares: chance makes such a difference once in 30,000 times
_WORTH = 1.25  # times as often: less than that tells nobody much
SCARCE = 5  # rows below which a prior is used only with confidence, or where the caller allows it


def require_rows(priors: Any, *, confidence: float | None) -> None:
    """Refuse priors that rest on a handful of rows, unless draws from their posterior make up for it.

    `priors` is anything that `calibrate` takes; only what `fit_priors` made knows its rows.
    """
    if isinstance(priors, Problem):  # made from priors that were looked at before
        return
    beliefs: Iterable[Any] = [priors] if isinstance(priors, Mapping) else priors
    for belief in beliefs:
        scarce = getattr(belief, "scarce", ())
        if scarce and confidence is None:
            raise InputError(
                f"secret {scarce[0]!r} has only {belief.rows[scarce[0]]} rows, fewer than {SCARCE}: ask for "
                f"confidence=0.95, merge it with another secret, or take the risk with fit_priors(..., few='allow')"
            )


def about_rows(secret: str, columns: tuple[str, ...], seen: Overview) -> list[Finding]:
    """What every query has to say about the rows it found."""
    found: list[Finding] = []
    if seen.without_secret:
        found.append(NoSecret(secret, seen.without_secret))
    missing = sum(extent.rows - extent.valid for extent in seen.extents.values())
    if missing:
        found.append(NoValue(columns, missing))
    found.extend(FewRows(name, e.valid) for name, e in seen.extents.items() if e.valid < FEW)
    return found


def about_left_out(rows: Mapping[Secret, tuple[int, int]]) -> Iterable[LeftOutTells]:
    """Whether secrets lack a value so differently often that it is not chance; `rows` are those lacking one, and all.

    >>> [one.often for one in about_left_out({"a": (40, 100), "b": (3, 900)})]
    ['a']
    >>> [*about_left_out({"a": (2, 9), "b": (1, 9)})]
    []
    >>> [one.often for one in about_left_out({"a": (1, 1), "b": (300, 900)})]
    ['a']
    """
    often, seldom = (
        sorted(rows, key=lambda name: rows[name][0] / max(rows[name][1], 1), reverse=turned)[0]
        for turned in (True, False)
    )
    (lacking, of_one), (fewer, of_other) = rows[often], rows[seldom]
    if not of_one or not of_other or not lacking:
        return
    share, other = lacking / of_one, fewer / of_other
    pooled = (lacking + fewer + 1) / (of_one + of_other + 2)
    apart = math.sqrt(pooled * (1 - pooled) * (1 / of_one + 1 / of_other))
    # Where all rows of a secret are left out, whoever is missing may have it, however few they are.
    if share == 1 > other or (share - other > _NO_CHANCE * apart and share > _WORTH * other):
        yield LeftOutTells(often, share, seldom, other)


def about_scarce(name: Secret, counts: Array) -> Iterable[ScarceRows]:
    """What few rows cost: the distance of counts from the truth that chance alone makes, E|Δ| ≈ √(2p(1−p)/πn)."""
    rows = float(counts.sum())
    if rows < SCARCE:
        p = (counts + 0.5) / (rows + 0.5 * len(counts))
        distance = 0.5 * float((2 * p * (1 - p) / (math.pi * rows)).clip(min=0) ** 0.5 @ (p > 0))
        yield ScarceRows(name, int(rows), min(1.0, distance))


def check_roles(secret: str, answer: str) -> None:
    """The secret itself cannot be the answer."""
    if secret == answer:
        raise InputError(f"column {answer!r} is both the secret and the answer: publishing it tells the secret")
