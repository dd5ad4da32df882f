"""The main job in one call: a table in, a table out that keeps a secret, with its proof, its report and its ledger."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from takifugu.calibration import Calibration, calibrate
from takifugu.certificates import ChannelCertificate, certify
from takifugu.certificates.document import Certificate
from takifugu.errors import InputError
from takifugu.estimates import Estimates
from takifugu.estimates.description import described
from takifugu.problems.findings import Finding
from takifugu.problems.guarantee import asked_for
from takifugu.problems.pairs import Pair
from takifugu.queries.binned import Binned
from takifugu.queries.others import checked_names, named_alone, same_domain
from takifugu.queries.priors import Beliefs, fit_priors
from takifugu.queries.row import Row
from takifugu.releases.doors.dispatch import release
from takifugu.releases.doors.frames import as_frame
from takifugu.releases.ledger import Ledger
from takifugu.releases.order import Orders
from takifugu.releases.shuffling import RowsShuffled
from takifugu.reports.publication import Publication, told
from takifugu.tables.reading import Reading
from takifugu.tables.rows import complete_rows
from takifugu.tables.table import Table, listed, match_secret, plain

Step = Callable[[str], None]

ODDS = 3.0
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Published:
    """What was published, and all that goes with it. Only `table` is for the public; see `private`.

    >>> import takifugu as tk
    >>> pupils = tk.datasets.load("student-por")
    >>> made = tk.publish(pupils, secret="schoolsup", columns=["G3"], odds=3)
    >>> list(made.table.columns), made.calibration.guarantee.most_odds.__round__(6)
    (['G3'], 3.0)
    """

    table: Any = field(repr=False)
    calibration: Calibration = field(repr=False)
    certificate: Certificate | ChannelCertificate = field(repr=False)
    findings: tuple[Finding, ...] = field(repr=False)

    @property
    def summary(self) -> Publication:
        """What was hidden from whom, what changed, and what an adversary can still guess, in figures."""
        return told(self.calibration)

    @property
    def estimate(self) -> Estimates:
        """What the published table still says: `mean`, `histogram`, `regression` and `bounds`, with standard errors.

        Analysts have the same from the public papers alone: see `takifugu.estimate`.
        """
        return Estimates(self.table, described(self.calibration), None, None)

    def __str__(self) -> str:
        """One page of plain words."""
        return "\n".join(self.summary.sentences)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one HTML file. It describes the priors: keep it private."""
        from takifugu.reports.writing import report

        report(self.calibration, path, certificate=self.certificate)


def calibrated(
    table: Any,
    *,
    secret: str | Sequence[str],
    columns: Sequence[str],
    odds: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    best_guess: float | None = None,
    error: float | None = None,
    confidence: float | None = CONFIDENCE,
    known: Sequence[str | Binned] | None = None,
    beliefs: Mapping[str, Any] | None = None,
    own: bool = True,
    per_cell: Sequence[str] = (),
    pairs: Iterable[Pair] | None = None,
    secrets: Iterable[Any] | None = None,
    leave_out: Sequence[Any] = (),
    domain: Any = None,
    other: Any = None,
    reading: Reading | None = None,
    keep_shares: bool = False,
    seed: int = 0,
    step: Step = lambda what: None,
    **options: Any,
) -> Calibration:
    """The calibration that `publish` makes: rows of the columns, through the best channel, for the population."""
    if isinstance(columns, str):
        raise InputError(f"columns must be a list of columns, got the text {columns!r}: write [{columns!r}]")
    promise = odds_by_default(odds=odds, alpha=alpha, epsilon=epsilon, best_guess=best_guess, error=error)
    if leave_out:
        secrets = _without(leave_out, table, secret, reading, secrets is not None or pairs is not None)
    query = Row(*columns, domain=domain, other=other)
    step("Counting what goes with each secret")
    asked: dict[str, Any] = {"secret": secret, "query": query, "secrets": secrets, "known": known, "reading": reading}
    if per_cell:
        if beliefs or not own:
            raise InputError("per_cell and beliefs do not go together: publish without one of them")
        if left := [one for one in known or () if one not in per_cell]:
            raise InputError(
                f"with per_cell what is known is published too, and {str(left[0])!r} is not: keep it as well"
            )
        priors = fit_priors(table, **(asked | {"known": list(per_cell)}), per_cell=True)
    else:
        priors = fit_priors(table, **asked, beliefs=beliefs) if own else _of_others(beliefs, asked)
    if pairs is not None:
        pairs = [(_named(a, priors), _named(b, priors)) for a, b in pairs]
    step("Finding the channel that changes least")
    return calibrate(
        priors,
        **promise,
        step=step,
        confidence=confidence,
        pairs=pairs,
        seed=seed,
        keep="marginal" if keep_shares else None,
        **options,
    )


def _without(leave_out: Sequence[Any], table: Any, secret: Any, reading: Reading | None, named: bool) -> list[Any]:
    """The secrets that are hidden where some are left out."""
    if isinstance(leave_out, str):
        raise InputError(f"leave_out must be a list of secrets, got the text {leave_out!r}: write [{leave_out!r}]")
    if named or not isinstance(secret, str):
        raise InputError("leave_out is for one secret of which every other value is hidden: name the pairs instead")
    return Table(table, reading).secrets_but(secret, leave_out)


def odds_by_default(**promise: float | None) -> dict[str, Any]:
    """The promise as it was asked for, odds of 3 where it was not; what is no promise is refused before any work.

    >>> odds_by_default(odds=None, alpha=None, epsilon=None, best_guess=None, error=None)["odds"]
    3.0
    """
    given = {name for name, value in promise.items() if value is not None}
    if not given:
        return promise | {"odds": ODDS}
    if not given & {"best_guess", "error"}:
        asked_for(alpha=promise["alpha"], epsilon=promise["epsilon"], odds=promise["odds"])
    return promise


def _of_others(beliefs: Mapping[str, Any] | None, asked: dict[str, Any]) -> Any:
    """The priors of other tables alone: nothing that follows from them tells anything about one's own rows."""
    if not beliefs:
        raise InputError("own=False leaves no priors: give those of another table, beliefs={'last year': table}")
    (name, first), *rest = checked_names(beliefs).items()
    try:
        fitted = first if isinstance(first, Mapping | Beliefs) else fit_priors(first, **asked)
    except InputError as error:
        raise InputError(f"the belief {name!r} cannot be used: {error}") from None
    answer = getattr(fitted, "answer", None)
    if answer is None:
        raise InputError(f"the belief {name!r} does not say what it is about: fit it with Row(...), or keep own=True")
    others = {
        other: given if isinstance(given, Mapping | Beliefs) else fit_priors(given, **again)
        for again in [asked | {"query": same_domain(asked["query"], answer), "secrets": _secrets(fitted, asked)}]
        for other, given in rest
    }
    return named_alone(name, fitted, others)


def _secrets(fitted: Any, asked: dict[str, Any]) -> list[Any] | None:
    if not isinstance(asked["secret"], str):
        return None
    return list(fitted if isinstance(fitted, Mapping) else fitted[0])


def _named(given: Any, priors: Any) -> Any:
    """The secret that a text or a number stands for."""
    known = priors if isinstance(priors, Mapping) else priors[0]
    found = match_secret(given, known)
    if found is None:
        raise InputError(f"{given!r} in pairs is not one of the secrets: {listed(known)}")
    return found


def publish(
    table: Any,
    *,
    secret: str | Sequence[str],
    columns: Sequence[str],
    odds: float | None = None,
    confidence: float | None = CONFIDENCE,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    keep: Sequence[str] = (),
    others: str = "error",
    order: str = "auto",
    allow_no_noise: bool = False,
    insecure_seed: int | None = None,
    per_cell: bool = False,
    step: Step = lambda what: None,
    **options: Any,
) -> Published:
    """Publish columns of a table so that nothing published moves the odds of anyone's secret by more than a factor.

    Counts what goes with each secret, finds the channel that changes the values least among all that keep the promise,
    proves it, and draws. Nothing leaves unless all of it succeeds.

    Args:
        table: a path, or a table of any dataframe library, as for `fit_priors`.
        secret: the column to hide, or several.
        columns: the columns to publish, together in one row.
        odds: the factor, 3 by default; or give `alpha` and `epsilon`, `best_guess` or `error`, as for `calibrate`.
        confidence: the promise is for the population: see `calibrate`. None promises it for the sample alone.
        ledger: a `Ledger`, or the path of one: it lets these records out once.
        keep: columns to hand over as they are.
        others: as for `release`; "drop" where secrets are left out.
        order: the rows keep their order unless it plainly tells the secret, and are shuffled then ("auto"); "shuffle"
            gives it up in any case, and "keep" refuses. To `audit` shuffled rows, keep columns that say which row is
            whose.
        allow_no_noise: publish without a warning where nothing had to be changed.
        insecure_seed: for tests alone.
        per_cell: make the promise to who has read the kept columns, one block of the channel for each of their cells,
            which changes less. What these columns tell by themselves is then not hidden, and a finding says it.
        step: called with what is being done, before it is done.
        **options: `alpha`, `epsilon`, `best_guess`, `error`, `known`, `pairs`, `secrets`, `leave_out` (secrets too rare
            to be hidden, whose rows are not published), `domain`, `other`, `reading`, `seed`, `grid`; `beliefs`, what
            others may believe, other tables by name, and `own=False`, which takes these alone, so that nothing tells
            anything about one's own rows; options of the mechanism "optimal" such as `loss`; and `keep_shares`: True
            keeps the share of each published value what it was among the true ones, which changes more of them.
    """
    if isinstance(keep, str):
        raise InputError(f"keep must be a list of columns, got the text {keep!r}: write [{keep!r}]")
    if ledger is not None and isinstance(table, str | os.PathLike):
        ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        ledger.watch(table)
    # Whoever reads the kept columns knows them: two harmless columns may tell the secret together.
    options["known"] = known_with(options.get("known"), keep)
    if options.get("leave_out") and others == "error":
        others = "drop"
    if per_cell:
        if not keep:
            raise InputError("per_cell is about kept columns, and none is kept: name them with keep")
        options, keep = options | {"per_cell": list(keep)}, ()  # they are published through the channel, unchanged
    made = calibrated(table, secret=secret, columns=columns, odds=odds, confidence=confidence, step=step, **options)
    step("Proving that it keeps the promise")
    certificate = certify(made)
    step("Drawing what is published")
    source = _frame(table, made, options.get("reading"), keep)
    if order == "auto" and _tells(source, made):
        order = "shuffle"
    published = release(
        source,
        made,
        ledger=ledger,
        keep=keep,
        others=others,
        order=order,
        allow_no_noise=allow_no_noise,
        insecure_seed=insecure_seed,
    )
    about_order = [RowsShuffled(len(published))] if order == "shuffle" and hasattr(published, "__len__") else []
    return Published(published, made, certificate, (*made.findings, *about_order))


def known_with(known: Sequence[str | Binned] | None, keep: Sequence[str]) -> list[str | Binned] | None:
    """What the adversary knows, the kept columns among it.

    >>> known_with(["sex"], ["ward", "sex"]), known_with(None, [])
    (['sex', 'ward'], None)
    """
    found = [*(known or ()), *(name for name in keep if name not in (known or ()))]
    return found or None


def _frame(table: Any, made: Calibration, reading: Reading | None, keep: Sequence[str]) -> Any:
    """The rows to publish; those without a needed value are left out, as was counted."""
    answer = made.answer
    needed = [] if answer is None else [*answer.columns, *answer.secret]
    return complete_rows(table, needed=needed, columns=[*needed, *keep], reading=reading)


def _tells(source: Any, made: Calibration) -> bool:
    """Whether the order of the rows is seen to tell the secret."""
    import narwhals as nw

    frame = as_frame(source)
    if made.answer is None or not isinstance(frame, nw.DataFrame):  # a lazy table has no order of its own
        return False
    orders = Orders(made.answer.secret)
    for name in made.answer.secret:
        orders.look(name, [plain(secret) for secret in frame[name].to_list()])
    return orders.told(made) is not None


def ledger_beside(path: str | os.PathLike[str]) -> Path:
    """Where the ledger of a table lies: beside it, under its name.

    >>> ledger_beside("data/people.csv").as_posix()
    'data/people.ledger'
    """
    where = Path(path)
    stem = where.name
    for suffix in reversed(where.suffixes):
        if suffix.lower() in (".csv", ".tsv", ".txt", ".gz", ".zst", ".parquet", ".pq", ".xlsx"):
            stem = stem.removesuffix(suffix)
    return where.with_name(f"{stem or where.name}.ledger")
