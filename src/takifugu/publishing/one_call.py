"""The main job in one call: a table in, a table out that keeps a secret, with its proof, its report and its ledger."""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from takifugu._validation import no_cells, no_text, one_of
from takifugu.calibration import Calibration
from takifugu.certificates import certify
from takifugu.problems.asking_findings import OrderKept
from takifugu.problems.findings import Finding
from takifugu.problems.findings.shown import show, show_ahead
from takifugu.problems.pairs import Pair
from takifugu.published import Published
from takifugu.publishing.calibrating import CONFIDENCE, Step, calibrated, odds_by_default
from takifugu.publishing.recognising import People, to_publish
from takifugu.releases.doors.dispatch import refuse_lazy, released
from takifugu.releases.doors.frames import as_frame, collected
from takifugu.releases.drift import DRIFTS
from takifugu.releases.joint_account import JointAccount
from takifugu.releases.ledger import Ledger
from takifugu.releases.ledger_file import require_place
from takifugu.releases.plan import Plan
from takifugu.releases.secret_rows import OTHERS, OthersLeftOut
from takifugu.releases.shuffling import ORDERS
from takifugu.tables.reading import Reading
from takifugu.tables.rows import complete_rows
from takifugu.tables.table import Table


def publish(
    table: object,
    *,
    secret: str | Sequence[str],
    columns: Sequence[str],
    odds: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    best_guess: float | None = None,
    error: float | None = None,
    confidence: float | None = CONFIDENCE,
    assurance: str | None = None,
    pairs: Iterable[Pair] | None = None,
    secrets: Iterable[Hashable] | None = None,
    leave_out: Sequence[Hashable] = (),
    known: Sequence[str] | None = None,
    beliefs: Mapping[str, object] | None = None,
    own: bool = True,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    id: str | None = None,
    only_new: bool = False,
    new_people: bool = False,
    repeats: str = "refuse",
    later: Sequence[str] = (),
    spend: float | None = None,
    keep: Sequence[str] = (),
    others: str = "error",
    order: str = "shuffle",
    drift: str = "refuse",
    allow_no_noise: bool = False,
    insecure_seed: int | None = None,
    domain: Mapping[str, Sequence[object]] | Sequence[object] | None = None,
    other: object = None,
    keep_shares: bool = False,
    loss: object = None,
    diagonal: float | None = None,
    forbidden: Sequence[tuple[object, object]] | None = None,
    unbiased: bool | None = None,
    radius: float | Sequence[float] | None = None,
    reading: Reading | None = None,
    seed: int = 0,
    step: Step = lambda what: None,
) -> Published:
    """Publish columns of a table so that nothing published moves the odds of anyone's secret by more than a factor.

    Counts what goes with each secret, finds the channel that changes the values least among all that keep the promise,
    proves it, and draws. Nothing leaves unless all of it succeeds.

    Args:
        table: a path, or a table of any dataframe library, as for `fit_priors`.
        secret: the column to hide, or several.
        columns: the columns to publish, together in one row.
        odds: the factor, 3 by default; or give `alpha` and `epsilon`, `best_guess` or `error`, as for `calibrate`.
        alpha: see `odds`.
        epsilon: see `odds`.
        best_guess: see `odds`.
        error: see `odds`.
        confidence: the promise is for the population: see `calibrate`. None promises it for the sample alone.
        assurance: "band" proves that, as for `calibrate`.
        pairs: the pairs of secrets to hide from one another; every pair by default.
        secrets: the values of the secret to hide; all by default.
        leave_out: secrets too rare to be hidden, whose rows are not published.
        known: columns that the adversary may know, as for `fit_priors`.
        beliefs: what others may believe, as for `fit_priors`: other tables by name.
        own: False takes the priors of `beliefs` alone, so that nothing tells anything about one's own rows.
        later: further columns of the same people that may be published later on, each by another call with the same
            ledger: everything together then keeps the promise. Columns published together cost less.
        spend: the share of the promise that is spent on `columns` where others are to follow; by default it is divided
            evenly.
        ledger: a `Ledger`, or the path of one: it lets each record out once, or each column of an account once.
        id: a column that tells people apart, by which the ledger knows records; by default all that is read of a row.
            It is not published. An id that repeats is refused: the guarantee is about one row, and so about one person
            only where everybody has one.
        only_new: leave out the records that the ledger knows; without an id, of a table to which rows were appended.
        new_people: your word that nobody was published before, where the ledger cannot see that; it is written down.
        repeats: "independent" is your word that the rows of one person are independent of one another given the secret.
        keep: columns to hand over as they are.
        others: as for `release`; "drop" where secrets are left out.
        order: the rows are shuffled, since where a row stands may tell its secret; `audit` of what is returned knows
            which row is which all the same. "keep" is your own statement that their order is random already, as where
            you shuffled the table yourself to join columns published in turn: report and certificate repeat it.
        drift: as for `release`: rows that tell the secret more plainly than others' priors say, where `own=False` takes
            these alone, are refused, or allowed.
        allow_no_noise: publish without a warning where nothing had to be changed.
        insecure_seed: for tests alone.
        domain: the list of values of each column, as for `Row`; what is not given is read from the table.
        other: what a label on no list becomes, as for `Row`.
        keep_shares: True keeps the share of each published value what it was among the true ones, which changes more of
            them.
        loss: what is lost least: "square", "absolute" or "change", or a matrix, as for the mechanism "optimal".
        diagonal: at least this share of the values stays as it is.
        forbidden: pairs of a true value and a published one that it never becomes.
        unbiased: True publishes every number right on average.
        radius: the promise holds for every prior within this total variation of those given.
        reading: how the table is to be read: see `Reading`. The tables of `beliefs` are read in the same way.
        seed: of the draws behind the confidence.
        step: called with what is being done, before it is done.
    """
    import narwhals as nw

    named = {"secret": secret, "columns": columns, "known": known, "keep": keep, "later": later}
    for name, given in named.items():
        no_cells(name, given)
    no_text("keep", keep, "columns")
    keep = tuple(keep)
    for name, word, words in (("others", others, OTHERS), ("order", order, ORDERS), ("drift", drift, DRIFTS)):
        one_of(name, word, words)  # `release` would say so too, when all the work is done
    people = People(id, only_new, new_people, repeats)
    book = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
    if book is not None:
        book = book.about(people.id, new_people=people.new_people)
        require_place(book.path)
    if leave_out and others == "error":
        others = "drop"
    odds_by_default(odds=odds, alpha=alpha, epsilon=epsilon, best_guess=best_guess, error=error)
    if isinstance(table, str | os.PathLike):
        table = Table(table, reading)  # once: to decide how every cell is read takes a look at them all
    table, is_lazy = _made_once(table)
    _refuse_late(table, has_ledger=book is not None, is_seeded=insecure_seed is not None)
    read = [*columns, *later, *([secret] if isinstance(secret, str) else secret), *keep, *(known or ())]
    step("Looking whether these records were published before")
    table, of_people = to_publish(table, book, people, read=read, answer=columns, reading=reading)
    told: list[Finding] = []

    def ahead(findings: Sequence[Finding]) -> None:
        told.extend(findings)
        show_ahead(findings)

    made = calibrated(
        table,
        secret=secret,
        columns=columns,
        odds=odds,
        alpha=alpha,
        epsilon=epsilon,
        best_guess=best_guess,
        error=error,
        confidence=confidence,
        assurance=assurance,
        pairs=pairs,
        secrets=secrets,
        leave_out=leave_out,
        known=known,
        beliefs=beliefs,
        own=own,
        ledger=book,
        later=later,
        spend=spend,
        keep=keep,
        others=others,
        domain=domain,
        other=other,
        keep_shares=keep_shares,
        loss=loss,
        diagonal=diagonal,
        forbidden=forbidden,
        unbiased=unbiased,
        radius=radius,
        reading=reading,
        seed=seed,
        step=step,
        beforehand=ahead,
    )
    if order == "keep":
        made = made.with_finding(OrderKept())
    for finding in of_people:
        made = made.with_finding(finding)
    step("Proving that it keeps the promise")
    certificate = certify(made)
    step("Drawing what is published")
    account = None if book is None else book.account()
    also = account.columns if isinstance(account, JointAccount) else ()
    drops = getattr(reading, "missing", "drop") == "drop"
    source = _frame(table, made, reading, also=also, keep=[*keep, *_known_by(table, book, read)])
    if isinstance(table, Table):
        table.require_unchanged()  # its rows are in memory now
    frame = as_frame(source)
    plan = Plan.of(
        made,
        ledger=book,
        order=order,
        drift=drift,
        allow_no_noise=allow_no_noise,
        insecure_seed=insecure_seed,
    )
    published, places = released(
        source,
        plan,
        keep=keep,
        others=others,
        missing="drop" if isinstance(frame, nw.LazyFrame) and drops else "refuse",  # of others they are gone already
    )
    of_rows: list[Finding] = []
    if isinstance(frame, nw.DataFrame) and len(published) < len(frame):
        of_rows.append(OthersLeftOut(len(frame) - len(published)))
    show(one for one in made.findings if one not in told)
    published = published.lazy() if is_lazy else published
    return Published(published, made, certificate, (*made.findings, *of_rows), places)


def _made_once(table: Any) -> tuple[Any, bool]:
    """A lazy table of Polars collected, and whether it was one: read for every count, it might be another each time.

    So might a table of Spark's, which then is made where it lies.
    """
    import narwhals as nw

    frame = None if isinstance(table, Table) else as_frame(table)
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_pyspark():
        from takifugu.releases.doors.spark import made_once

        return made_once(table), False
    if not isinstance(frame, nw.LazyFrame) or not frame.implementation.is_polars():
        return table, False
    return collected(frame).to_native(), True


def _refuse_late(table: Any, *, has_ledger: bool, is_seeded: bool) -> None:
    """Refuse before the search for a channel what `release` would refuse of a lazy table after it."""
    import narwhals as nw

    frame = None if isinstance(table, Table) else as_frame(table)
    if not isinstance(frame, nw.LazyFrame):
        return
    refuse_lazy(frame)
    from takifugu.releases.doors.spark import refuse_of_spark

    refuse_of_spark(has_ledger=has_ledger, is_seeded=is_seeded)


def _known_by(table: Any, ledger: Ledger | None, read: Sequence[str]) -> Sequence[str]:
    """The columns by which the ledger knows the rows of a file; a table in memory has them all."""
    return ledger.recognise(read, table.columns).columns if ledger is not None and isinstance(table, Table) else ()


def _frame(table: Any, made: Calibration, reading: Reading | None, *, also: Sequence[str], keep: Sequence[str]) -> Any:
    """The rows to publish; those without a needed value are left out, as was counted.

    `also` are the columns that are published before or after these: the joint law is about rows that have them all.
    """
    answer = made.answer
    needed = [] if answer is None else list(dict.fromkeys([*answer.columns, *also, *answer.secret]))
    return complete_rows(table, needed=needed, columns=[*needed, *keep], reading=reading)
