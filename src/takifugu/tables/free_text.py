"""Whether the texts of a column are what people wrote, and no list that was there before them."""

from collections.abc import Collection

from takifugu.tables.inspect import ColumnFacts

_MOST_LABELS = 30  # that a column may have, however rare: wards, trades, towns
_FEW = 10  # rows that share a label: fewer, and it says as much of them as a note
_MOST = 0.5  # of the labels


def is_free_text(facts: ColumnFacts) -> bool:
    """Whether a column has many labels, most of which few rows share; what names people has a name of its own.

    >>> notes = {f"complains of headache, {k}": 3 for k in range(200)}
    >>> is_free_text(ColumnFacts("note", "labels", 600, 0, 200, labels=notes))
    True
    >>> is_free_text(ColumnFacts("state", "labels", 5_000, 0, 50, labels={f"state {k}": 100 for k in range(50)}))
    False
    """
    if facts.kind != "labels" or facts.is_identifier or facts.form is not None or facts.distinct <= _MOST_LABELS:
        return False
    if facts.labels is None:  # too many to be counted one by one
        return facts.rows < _FEW * facts.distinct
    return few_share(facts.labels.values())


def few_share(tallies: Collection[float]) -> bool:
    """Whether most labels, of many, are those of few rows; `tallies` are the rows of each."""
    return len(tallies) > _MOST_LABELS and sum(rows < _FEW for rows in tallies) > _MOST * len(tallies)
