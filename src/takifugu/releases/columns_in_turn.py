"""Publishing a table's columns one after another: the account is opened with the first, and the others follow it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from takifugu._validation import no_text
from takifugu.calibration import Calibration
from takifugu.errors import CompositionError, InputError
from takifugu.problems import Diagnostic, Pair
from takifugu.queries import Priors, Row, fit_priors
from takifugu.releases.joint_account import JointAccount
from takifugu.releases.ledger import Ledger
from takifugu.tables import Reading, listed, match_secret

ODDS = 3.0  # what is promised where nothing else is asked for


def in_turn(
    table: object,
    ledger: Ledger | None,
    *,
    secret: str | Sequence[str],
    columns: Sequence[str],
    later: Sequence[str],
    spend: float | None,
    odds: float | None,
    confidence: float | None,
    keep_shares: bool,
    seed: int,
    step: Callable[[str], None],
    beforehand: Callable[[Sequence[Diagnostic]], None],
    terms: dict[str, object],
    reading: Reading | None,
) -> Calibration | None:
    """The calibration of columns that others follow, or that follow others; None where neither is the case.

    `terms` are all other arguments of `publish`, None or empty where they were not given. They hold when an account is
    opened; afterwards they are settled.
    """
    no_text("later", later, "columns")
    account = None if ledger is None else ledger.account()
    # One that was opened by a try that came to nothing is there too, until it is opened anew with other columns.
    if isinstance(account, JointAccount) and (account.published or not later):
        _require_same_terms(account, secret=secret, odds=odds, later=later, terms=terms)
        step("Counting whether the table is what it was")
        _require_same_table(account, table, reading)
    elif later:
        step("Counting what goes with each secret, all columns at once")
        account = _opened(
            table, ledger, (*columns, *later), secret, odds, confidence, seed, {**terms, "reading": reading}
        )
        beforehand(account.problem.findings)
    elif spend is not None:
        raise InputError("spend is the share of an account for several columns: name the others with later")
    else:
        return None
    step("Finding the channel that changes least")
    return account.calibrate(*columns, spend=spend, keep_shares=keep_shares)


def _opened(
    table: object,
    ledger: Ledger | None,
    columns: Sequence[str],
    secret: str | Sequence[str],
    odds: float | None,
    confidence: float | None,
    seed: int,
    terms: dict[str, Any],
) -> JointAccount:
    """An account for all the columns, with the joint law of the table."""
    if ledger is None:
        raise InputError("columns that are published later need a ledger that remembers the first: give ledger")
    query = Row(*columns, domain=terms.pop("domain"), other=terms.pop("other"))
    fitting = {name: terms.pop(name) for name in ("known", "secrets", "reading", "beliefs")}
    chosen = terms.pop("pairs")
    for name, value in terms.items():
        if value is not None:
            raise InputError(f"columns that are published later are guaranteed odds alone: leave {name} out")
    priors = fit_priors(table, secret=secret, query=query, **fitting)
    pairs = None if chosen is None else named_pairs(chosen, priors)
    return ledger.open(priors, odds=ODDS if odds is None else odds, pairs=pairs, confidence=confidence, seed=seed)


def named_pairs(pairs: Iterable[Pair], priors: object) -> list[Pair]:
    """The pairs of secrets that texts or numbers stand for."""
    return [(_named(a, priors), _named(b, priors)) for a, b in pairs]


def _named(given: object, priors: Any) -> object:
    known = priors if isinstance(priors, Mapping) else priors[0]
    found = match_secret(given, known)
    if found is None:
        raise InputError(f"{given!r} in pairs is not one of the secrets: {listed(known)}")
    return found


def _require_same_terms(
    account: JointAccount,
    *,
    secret: str | Sequence[str],
    odds: float | None,
    later: Sequence[str],
    terms: dict[str, Any],
) -> None:
    """Refuse terms that are not those the account was opened with; what is None was not asked for."""
    problem = account.problem
    answer = problem.answer
    secrets = (secret,) if isinstance(secret, str) else tuple(secret)
    if answer is None or secrets != answer.secret:
        raise CompositionError(
            f"the account of these records hides another secret than {', '.join(secrets)}. Nothing was published"
        )
    if odds is not None and not math.isclose(odds, account.odds, rel_tol=1e-9):
        raise CompositionError(
            f"the account of these records was opened for odds within a factor of {account.odds:g}, and not "
            f"{odds:g}. Nothing was published; leave odds out"
        )
    known = {str(one) for one in terms.get("known") or ()}
    given = {name: value for name, value in terms.items() if name not in ("known", "pairs", "secrets")}
    settled = [name for name, value in given.items() if value is not None]
    settled += ["known"] if known - set(answer.known) else []
    settled += ["later"] if set(later) - set(account.left) else []
    if terms.get("pairs") is not None and set(map(frozenset, named_pairs(terms["pairs"], problem.beliefs[0]))) != {
        frozenset(pair) for pair in problem.pairs
    }:
        settled.append("pairs")
    if settled:
        raise CompositionError(
            f"{settled[0]} was settled when the account of these records was opened, and this differs: leave it "
            f"out. Nothing was published"
        )


def _require_same_table(account: JointAccount, table: object, reading: Reading | None) -> None:
    """Count once more: a table that changed has another joint law, and the account's promise is not about it."""
    problem = account.problem
    answer = problem.answer
    if answer is None or not answer.lists:
        raise InputError("the account names no columns: open it with the priors of Row")
    lists = dict(zip(answer.columns, answer.lists, strict=True))
    query = Row(
        *answer.columns,
        domain={name: one.values for name, one in lists.items()},
        other={name: one.other for name, one in lists.items()},
    )
    one = len(answer.secret) == 1
    found = fit_priors(
        table,
        secret=answer.secret[0] if one else list(answer.secret),
        query=query,
        secrets=problem.pairs.secrets if one else None,
        known=list(answer.known) or None,
        reading=reading,
    )
    # What others believe came from tables of their own; the cells of what is known are of this one, as is the whole.
    laws = {belief.label: dict(belief) for belief in problem.beliefs}
    if any(laws.get(one.label) != dict(one) for one in ([found] if isinstance(found, Priors) else found)):
        raise CompositionError(
            "the table has changed since the account of these records was opened: its joint law is about other "
            "rows. Nothing was published"
        )
