"""What `inspect` says of one column: what stands in the way of publishing it, and the advice in a few words."""

from collections.abc import Iterable

import numpy as np

from takifugu.problems.column_findings import FreeText, LabelsAlike, MostlyEmpty, TailAhead
from takifugu.problems.findings import Finding
from takifugu.problems.inspection_findings import (
    BeyondNumbers,
    LooksLikeDates,
    LooksLikeIdentifier,
    ManyLabels,
    NumbersInText,
    SuspectedWord,
)
from takifugu.queries.about import heavy_tail, read_alike
from takifugu.queries.betrayal import Betrayal
from takifugu.tables.free_text import is_free_text
from takifugu.tables.inspect import MOST_LABELS, ColumnFacts
from takifugu.tables.suspects import Suspect, words_among_numbers

_ADVICE = {
    "dates": "publish an age or a year instead",
    "nothing": "empty",
    "something else": "no numbers, labels or truth values",
}


def remarks(one: ColumnFacts, dropped: tuple[Suspect, ...], *, is_secret: bool) -> Iterable[Finding]:
    """What there is to say of a column, with the suspects that are `dropped` left out."""
    if one.is_identifier:
        yield LooksLikeIdentifier(one.name, one.distinct, one.rows)
    elif one.kind == "dates":
        yield LooksLikeDates(one.name)
    elif one.labels is not None and (words := words_among_numbers(one.labels)):
        yield from (SuspectedWord(one.name, word, one.labels[word]) for word in words)
    elif one.form is not None:
        yield NumbersInText(one.name, one.form)
    elif is_free_text(one) and not is_secret:  # secrets of few rows have a remark of their own
        yield FreeText(one.name, one.distinct)
    elif one.kind == "labels" and one.distinct > MOST_LABELS:
        yield ManyLabels(one.name, one.distinct)
    elif one.is_number and one.numbers is None:
        yield BeyondNumbers(one.name)
    elif one.numbers is not None:
        kept = ~np.isin(one.numbers.values, [suspect.value for suspect in dropped])
        if kept.any():
            tails = heavy_tail(one.name, one.numbers.values[kept], one.numbers.counts[kept])
            yield from (TailAhead(**vars(tail)) for tail in tails)


def emptiness(one: ColumnFacts, without: int = 0) -> Iterable[MostlyEmpty]:
    """Whether most rows leave a column empty, `without` of which are not among those looked at."""
    missing, rows = one.missing + without, one.rows + one.missing + without
    if one.rows and 2 * missing > rows:
        yield MostlyEmpty(one.name, missing, rows)


def look_alike(one: ColumnFacts) -> Iterable[LabelsAlike]:
    """Labels that read the same, where a column of labels has any."""
    if one.labels is None or one.kind != "labels" or one.is_identifier or one.form is not None or is_free_text(one):
        return
    yield from read_alike(one.name, one.labels)


def advice(one: ColumnFacts, is_listed: bool, told: Betrayal | None) -> str:
    """What to do with a column, for which there is a list of values or none, and which tells so much of the secret."""
    reasons = {
        "identifier: never publish": one.is_identifier,
        _ADVICE.get(one.kind, ""): one.kind in _ADVICE,
        "the same in every row": one.distinct == 1,
        "numbers in text: convert first": one.form is not None,
        "free text: do not publish": is_free_text(one),
        "tells the secret: leave it out": told is not None and told.outright,
        "publishable": is_listed,
    }
    return next((words for words, holds in reasons.items() if holds), "cannot be published as it is")
