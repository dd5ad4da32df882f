"""`private_counts`: from rows to counts with noise, drawn once and written down; and a calibration from them alone."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from takifugu.calibration import Calibration, calibrate
from takifugu.channels import BitSource, OsBits
from takifugu.errors import InputError, TakifuguError
from takifugu.messages import Message
from takifugu.problems import Guarantee, Pair, Spelling, asked_for, channel_guarantee, promise_of_guess
from takifugu.queries import Cells, PrivateCounts, Row, named_pairs
from takifugu.releases.frames import as_frame
from takifugu.releases.ledger import Ledger
from takifugu.releases.ledgers_nearby import refuse_known_elsewhere
from takifugu.releases.records import Recognition, most_alike, require_id
from takifugu.tables import Reading, Table, as_read, match_secret, stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    import narwhals as nw


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
        for rows in _batches(table, opened, reading, seen.columns):
            seen.look(rows)
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


def _batches(
    table: object, opened: Table, reading: Reading | None, columns: Sequence[str]
) -> "Iterator[nw.DataFrame[Any]]":
    if isinstance(table, str | os.PathLike | Table):
        yield from stream(opened, columns)
        opened.require_unchanged()
    else:
        frame: Any = as_frame(table)
        yield frame if reading is None else as_read(frame, reading)


# Both steps of a private fit: counts, and a channel that is made of them.


def privately_calibrated(
    table: object,
    private_fit: float | PrivateCounts,
    *,
    asked: Mapping[str, Any],
    promise: Mapping[str, Any],
    options: Mapping[str, Any],
    pairs: Iterable[Pair] | None,
    id: str | None,
    ledger: Ledger | None,
    reading: Reading | None,
    source: BitSource | None = None,
    drawn: Callable[[PrivateCounts], None] = lambda counts: None,
) -> Calibration:
    """A calibration of private counts with this epsilon, or of these that were drawn before.

    Whatever can be refused is refused before any noise is drawn; afterwards the counts are paid for. They are handed to
    `drawn` before anything is made of them: whoever saves them there can try again for nothing.

    Args:
        table: the rows.
        private_fit: epsilon, or the counts.
        asked: secret, columns, domain and other, as for `private_counts`.
        promise: the guarantee of counts and channel together, as for `calibrate`.
        options: further ones for `calibrate`.
        pairs: the pairs of secrets to hide from one another; every secret on the list must be in one.
        id: as for `private_counts`.
        ledger: as for `private_counts`.
        reading: as for `fit_priors`.
        source: of the noise; the system's by default.
        drawn: called with the counts.
    """
    pairs = None if pairs is None else [tuple(pair) for pair in pairs]
    if isinstance(private_fit, PrivateCounts):
        counts = private_fit.about(asked["secret"], Row(*asked["columns"]))
        _require_hidden(counts.cells, pairs)
    else:
        spelling = None if reading is None else reading.spelling
        cells = Cells.of(asked["secret"], asked["columns"], asked["domain"], asked["other"], private_fit, spelling)
        _require_hidden(cells, pairs)
        if promise.get("error") is None:  # before any noise: whether anything is left for the channel
            channel_guarantee(_total(**promise), cells.epsilon)
        source = OsBits() if source is None else source
        counts = counted_once(table, cells, id=id, ledger=ledger, reading=reading, source=source)
    drawn(counts)
    try:
        hidden = None if pairs is None else named_pairs(pairs, counts)
        return calibrate(counts, **promise, pairs=hidden, **options)
    except TakifuguError as error:
        if ledger is not None and counts is not private_fit:
            error.add_note(_PAID)
        raise


def _total(
    *, alpha: Any = None, epsilon: object = None, odds: object = None, best_guess: Any = None, error: None = None
) -> Guarantee:
    if best_guess is not None:
        return promise_of_guess(best_guess, alpha=alpha)
    return asked_for(alpha=alpha, epsilon=epsilon, odds=odds)


_AS_USUAL = {"others": "error", "order": "shuffle", "repeats": "refuse", "own": True}


def refuse_beside_private_counts(private_fit: object, given: Mapping[str, object]) -> None:
    """Refuse what would follow from the rows in another way, or tell the adversary more than a belief is about."""
    if private_fit is None:
        return
    for name, value in given.items():
        if value != _AS_USUAL.get(name) and (value or name in _AS_USUAL):
            raise InputError(
                Message(
                    "{arg:{name}} does not go with {arg:private_fit}: nothing but the private counts may follow from "
                    "the rows, each of which is one person's, on the lists, and published in random order. "
                    "{rare:?Merge secrets that are too rare with others ({reading:merge=}), for how many rows are left "
                    "out would tell of them|Leave one of the two out}",
                    name=name,
                    rare=name in ("leave_out", "secrets"),
                )
            )


def _require_hidden(cells: Cells, pairs: Sequence[Pair] | None) -> None:
    """Refuse pairs without one of the secrets: its rows would be left out, and how many there are would be told."""
    if pairs is None:
        return
    label = (Spelling() if cells.spelling is None else cells.spelling).label
    named = {match_secret(label(one), cells.secrets) for pair in pairs for one in pair}
    if lacking := [one for one in cells.secrets if one not in named]:
        raise InputError(
            f"{lacking[0]!r} is on the list of {cells.secret!r} and in none of the pairs, and with a private fit no "
            f"row is left out, since how many there are would tell of them: name it in a pair, or leave pairs out"
        )


_PAID = (
    "The private counts were drawn, and the ledger has them: fresh ones of the same people would cost their epsilon "
    "again. To be able to try again, draw them with takifugu.private_counts, save them, and give them as private_fit"
)
