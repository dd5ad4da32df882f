"""Labels that differ in capitals or stray blanks alone, as they do where many hands fill in a form."""

from collections.abc import Iterable, Mapping

from takifugu.tables.table import Secret


def alike(labels: Iterable[Secret]) -> list[tuple[str, ...]]:
    """The groups of labels that read the same, each in order.

    >>> alike(["yes", "no", "Yes", "NO ", "unknown"])
    [('NO ', 'no'), ('Yes', 'yes')]
    """
    groups: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            groups.setdefault(" ".join(label.split()).casefold(), []).append(label)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)


def shared(groups: Iterable[tuple[str, ...]], labels: Mapping[Secret, int], rows: int) -> tuple[str, ...]:
    """The first group each of whose labels stands in so many rows, and may be called by its name; else none.

    >>> shared([("NO ", "no"), ("Yes", "yes")], {"NO ": 1, "no": 40, "Yes": 12, "yes": 30}, 10)
    ('Yes', 'yes')
    """
    return next((group for group in groups if all(labels[label] >= rows for label in group)), ())
