"""The calibration behind `publish`: rows of columns, through the best channel, for the population."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from takifugu._validation import no_cells, no_text
from takifugu.calibration import Calibration, calibrate
from takifugu.errors import InputError
from takifugu.problems.findings import Finding
from takifugu.problems.guarantee import asked_for
from takifugu.problems.pairs import Pair
from takifugu.problems.population_findings import CellTells
from takifugu.queries.about import require_no_codes
from takifugu.queries.as_they_are import refuse_notes, told_by_kept
from takifugu.queries.others_alone import priors_asked_for
from takifugu.queries.row import Row
from takifugu.queries.several_rows import several_rows
from takifugu.queries.work import about
from takifugu.releases.in_turn import ODDS, in_turn, named_pairs
from takifugu.releases.inside import require_inside
from takifugu.releases.ledger import Ledger
from takifugu.releases.secret_rows import protected_secrets
from takifugu.tables.missing import with_secrets
from takifugu.tables.reading import Reading
from takifugu.tables.table import Table

Step = Callable[[str], None]
Warn = Callable[[Sequence[Finding]], None]

CONFIDENCE = 0.95


def calibrated(
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
    known: Sequence[str] | None = None,
    beliefs: Mapping[str, object] | None = None,
    own: bool = True,
    keep: Sequence[str] = (),
    pairs: Iterable[Pair] | None = None,
    secrets: Iterable[Hashable] | None = None,
    leave_out: Sequence[Hashable] = (),
    others: str = "error",
    domain: Any = None,
    other: Any = None,
    reading: Reading | None = None,
    keep_shares: bool = False,
    seed: int = 0,
    step: Step = lambda what: None,
    beforehand: Warn = lambda findings: None,
    ledger: Ledger | None = None,
    later: Sequence[str] = (),
    spend: float | None = None,
    assurance: str | None = None,
    loss: Any = None,
    diagonal: float | None = None,
    forbidden: Sequence[tuple[Any, Any]] | None = None,
    unbiased: bool | None = None,
    radius: Any = None,
) -> Calibration:
    """The calibration that `publish` makes: rows of the columns, through the best channel, for the population.

    Whoever reads the kept columns knows them, so they are among what is known: two harmless ones may tell the secret
    together. What they tell by themselves is a finding. With `others="error"` rows of secrets that are not hidden are
    refused before the search for the channel, as `release` would refuse them after it. `beforehand` is told, before the
    search too, what may be reason enough not to wait for it: a column of dates, a code for what is missing.
    """
    no_text("columns", columns, "columns")
    no_text("known", known, "columns")
    for name, given in {"secret": secret, "columns": columns, "later": later, "known": known}.items():
        no_cells(name, given)
    if both := next((name for name in keep if name in (*columns, *later)), None):
        raise InputError(f"column {both!r} is in both columns and keep: it leaves changed or as it is, not both ways")
    if both := next((name for name in keep if name in _names(secret)), None):
        raise InputError(
            f"column {both!r} is the secret, and cannot leave beside what hides it: leave it out of `keep`"
        )
    wishes = {"loss": loss, "diagonal": diagonal, "forbidden": forbidden, "unbiased": unbiased, "radius": radius}
    options = {name: value for name, value in wishes.items() if value is not None}
    promise = odds_by_default(odds=odds, alpha=alpha, epsilon=epsilon, best_guess=best_guess, error=error)
    if leave_out:
        secrets = _without(leave_out, table, secret, reading, secrets is not None or pairs is not None)
    pairs = None if pairs is None else list(pairs)
    secrets = secrets if secrets is None or isinstance(secrets, str) else list(secrets)
    hidden = secrets if pairs is None else [one for pair in pairs for one in pair]

    def require_hidden(found: Iterable[Any], *, typed: bool = False) -> None:
        if others == "error":
            require_inside(Table(table, reading), _names(secret), [*columns, *later], found, typed=typed)

    if hidden is not None:
        require_hidden(hidden, typed=True)
    source = Table(table, reading)
    if keep:
        refuse_notes(source, keep)
    lists = Row(*columns, *later, domain=domain).domain
    looked_at = [*_names(secret), *columns, *later, *keep, *(known or ())]
    require_no_codes(with_secrets(source, _names(secret)), looked_at, lists)
    known = known_with(known, keep)
    turn = in_turn(
        table,
        ledger,
        secret=secret,
        columns=columns,
        later=later,
        spend=spend,
        odds=odds,
        confidence=confidence,
        keep_shares=keep_shares,
        seed=seed,
        step=step,
        beforehand=lambda findings: beforehand(_warnings(findings)),
        reading=reading,
        terms={"alpha": alpha, "epsilon": epsilon, "known": known, "pairs": pairs, "secrets": secrets}
        | {
            "domain": domain,
            "other": other,
            "beliefs": beliefs,
            "own": None if own else False,
            "best_guess": best_guess,
            "error": error,
            "assurance": assurance,
        }
        | options,
    )
    if turn is not None:
        require_hidden(protected_secrets(turn))
        people = several_rows(Table(table, reading), _names(secret))
        return _told(turn, table, keep, reading, own=own, people=people)
    query = Row(*columns, domain=domain, other=other)
    step("Counting what goes with each secret")
    asked: dict[str, Any] = {"secret": secret, "query": query, "secrets": secrets, "known": known, "reading": reading}
    priors = priors_asked_for(table, asked, beliefs=beliefs, own=own)
    pairs = None if pairs is None else named_pairs(pairs, priors)
    if not own:  # there may be secrets that others do not know
        require_hidden((priors if isinstance(priors, Mapping) else priors[0]) if hidden is None else hidden)
    people = several_rows(Table(table, reading), _names(secret))
    beforehand(_warnings([*priors.findings, *people]))
    step(_long_step(priors, columns))
    made = calibrate(
        priors,
        **promise,
        step=step,
        confidence=confidence,
        assurance=assurance,
        pairs=pairs,
        seed=seed,
        keep="marginal" if keep_shares else None,
        **options,
    )
    return _told(made, table, keep, reading, own=own, people=people)


def _names(secret: str | Sequence[str]) -> list[str]:
    return [secret] if isinstance(secret, str) else list(secret)


def _warnings(findings: Iterable[Finding]) -> list[Finding]:
    return [one for one in findings if one.level == "warning"]


def _long_step(priors: Any, columns: Sequence[str]) -> str:
    """What is done now, with how long it may take, and what would make it quicker."""
    what = "Finding the channel that changes least"
    beliefs = [priors] if isinstance(priors, Mapping) else list(priors)
    values, secrets = max(len(law.values) for one in beliefs for law in one.values()), len(beliefs[0])
    if (time := about(values, secrets)) is None:
        return what
    of = "values" if len(columns) == 1 else f"combinations of {len(columns)} columns"
    fewer = "" if len(columns) == 1 else " or fewer columns"
    return f"{what}, for {values:,} {of} and {secrets} secrets: {time}; coarser lists{fewer} are quicker"


def _told(
    made: Calibration,
    table: Any,
    keep: Sequence[str],
    reading: Reading | None,
    *,
    own: bool,
    people: Sequence[Finding],
) -> Calibration:
    """The calibration, with what columns that leave as they are tell by themselves, and of people with several rows."""
    source, secrets = Table(table, reading), () if made.answer is None else made.answer.secret
    for finding in people:
        made = made.with_finding(finding)
    if not keep:
        return made
    # Nothing counted on these rows may stand in what follows from other people's.
    kept = told_by_kept(source, secrets, keep, made.pairs.secrets) if own else CellTells(tuple(keep))
    return made.with_finding(kept)


def _without(leave_out: Sequence[Any], table: Any, secret: Any, reading: Reading | None, named: bool) -> list[Any]:
    """The secrets that are hidden where some are left out."""
    no_text("leave_out", leave_out, "secrets")
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


def known_with(known: Sequence[str] | None, keep: Sequence[str]) -> list[str] | None:
    """What the adversary knows, the kept columns among it.

    >>> known_with(["sex"], ["ward", "sex"]), known_with(None, [])
    (['sex', 'ward'], None)
    """
    found = [*(known or ()), *(name for name in keep if name not in (known or ()))]
    return found or None
