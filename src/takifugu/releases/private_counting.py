"""`private_counts`: from rows to counts with noise, drawn once and written down; and a calibration from them alone."""

import os
from collections.abc import Mapping, Sequence

from takifugu.channels import BitSource, OsBits
from takifugu.errors import InputError
from takifugu.queries import Cells, PrivateCounts
from takifugu.releases.frames import batches
from takifugu.releases.ledger import Ledger
from takifugu.releases.ledgers_nearby import refuse_known_elsewhere
from takifugu.releases.records import Recognition, most_alike, require_id
from takifugu.tables import Reading, Table


def private_counts(
    table: object,
    *,
    secret: str,
    columns: Sequence[str] | str,
    domain: Mapping[str, Sequence[object]],
    epsilon: float,
    other: object = None,
    id: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    reading: Reading | None = None,
) -> PrivateCounts:
    """Count every secret with every value of public lists, and add noise that makes the counts private, once.

    What is made of the counts alone tells no more than they do: an adversary who knows every other row of the table
    moves the odds between two secrets of the last one by e^epsilon at most from the counts, and by e^epsilon·F from
    everything that is published through a channel of odds F. `calibrate(counts, odds=3)` asks for the total.

    Args:
        table: as for `fit_priors`.
        secret: the column to hide.
        columns: the columns to publish, together in one row.
        domain: the public list of the secret and of each column, which must not come from these rows. Numbers go to the
            nearest; every row must have its secret and its labels on the lists.
        epsilon: what the counts may cost, such as 0.2: more noise for less.
        other: what a label that is on no list becomes, as for `Row`.
        id: a column that tells people apart: one with two rows is refused, since the guarantee is about one row.
        ledger: a `Ledger`, or the path of one. It remembers whose counts were drawn: fresh noise about the same people
            would cost epsilon again, and is refused.
        reading: as for `fit_priors`.

    Returns:
        Priors for `calibrate` and `fit_priors`, with `save`; the file may be public, with the number of rows.

    Raises:
        InputError: for lists that are missing, and rows whose secret or labels are on none.
        PublishedOnceError: where counts of some of these people were drawn before.

    >>> import takifugu as tk
    >>> heart = tk.datasets.load("heart")
    >>> lists = {"slope": [1, 2, 3], "oldpeak": [0, 1, 2, 3, 4]}
    >>> private_counts(heart, secret="slope", columns=["oldpeak"], domain=lists, epsilon=1)
    <private counts of oldpeak for 3 secrets, epsilon = 1, 303 rows>
    """
    cells = Cells.of(secret, columns, domain, other, epsilon, None if reading is None else reading.spelling)
    return counted_once(table, cells, id=id, ledger=ledger, reading=reading, source=OsBits())


def counted_once(
    table: object,
    cells: Cells,
    *,
    id: str | None,
    ledger: Ledger | str | os.PathLike[str] | None,
    reading: Reading | None,
    source: BitSource,
) -> PrivateCounts:
    """The counts, once the people are seen to have one row each, and the ledger, if there is one, has them."""
    opened = Table(table, reading)
    counts = cells.count(opened)
    book = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
    seen: Recognition | None = None
    if book is not None:
        book = book.about(id)
        seen = book.recognise([cells.secret, *cells.columns], opened.columns, cells.columns)
    elif id is not None:
        seen = Recognition(b"for this look alone", require_id(id, opened.columns))
    if seen is not None:
        is_file = isinstance(table, str | os.PathLike | Table)
        for rows in batches(opened if is_file else table, reading, seen.columns):
            seen.look(rows)
        if is_file:
            opened.require_unchanged()
        if seen.own.is_id and most_alike(seen.in_order(seen.own)) > 1:
            raise InputError(
                f"a person has several rows by {seen.own.words}, and private counts are about one row each: what the "
                f"rows of a person tell together may be anything. Make one row of each person, with the columns of all "
                f"their rows side by side"
            )
    refuse_known_elsewhere(opened, book, [cells.secret, *cells.columns])
    if book is not None and seen is not None:
        book.charge_counts(seen, cells.epsilon)  # before any noise is drawn: nothing leaves unpaid
    return PrivateCounts.with_noise(cells, counts, source)
