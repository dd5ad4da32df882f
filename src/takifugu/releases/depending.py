"""`depend`: what differentially private releases, anybody's, tell of the records of a chain, and a ledger of them.

Of the releases no rows are known here, only what they cost. They add up, and what the records tell of one another is
paid once, however many there are (proofs/dependence.md, claims 3 and 4).
"""

import datetime
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from takifugu import _validation as check
from takifugu import strict_json
from takifugu.dependence import Chains, Cost, Influence, MarkovQuilt, chain_to
from takifugu.errors import BudgetError, CompositionError, InputError
from takifugu.releases.ledger_file import INFLUENCE, LedgerFile


def depend(
    chain: Chains | Sequence[Chains],
    length: int,
    *,
    dp_epsilon: float | None = None,
    rho: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    ledger: str | os.PathLike[str] | None = None,
) -> Influence:
    """What releases that are differentially private tell of the state at any one time, if times depend on one another.

    Nothing is published here: bring what OpenDP, Tumult or anybody else's library says that a release cost.

    Args:
        chain: how the records of a person depend on one another: a `MarkovChain`, a `ChainBox`, or several, of which
            the worst counts. It must not come from the people who are published; one that `MarkovChain.fit` made of
            others is held for people drawn like them.
        length: the number of records of a person, one for each time.
        dp_epsilon: ε of the release, for *replacing one record* of one person at one time; twice the ε of adding or
            removing one.
        rho: in place of it the ρ of zero-concentrated differential privacy, with `alpha`.
        alpha: the order of the Rényi guarantee that ρ becomes.
        epsilon: the most that all releases in the ledger may tell together; one that would tell more is refused.
        ledger: a file that remembers what the releases about these records cost. It has no other use.

    Returns:
        What all releases tell together, with `epsilon`, `guarantee`, `influence` (what the other times tell, paid
        once), and `save`, whose file `verify` proves again.

    Raises:
        BudgetError: where `epsilon` would be exceeded; nothing is written down.
        CompositionError: where the ledger is about another chain, or another measure of cost.

    >>> from takifugu import MarkovChain
    >>> chain = MarkovChain([[0.8, 0.2], [0.4, 0.6]])
    >>> once, twice = depend(chain, 96, dp_epsilon=0.25), depend(chain, 96, dp_epsilon=0.5)
    >>> round(once.epsilon, 3), round(twice.epsilon, 3)  # twice is less than 2 · 1.623
    (1.623, 2.404)
    """
    if (dp_epsilon is None) == (rho is None):
        raise InputError("give one of dp_epsilon and rho: what the release cost")
    if (rho is None) != (alpha is None):
        raise InputError("rho needs alpha, the order at which it is bounded, and dp_epsilon takes none")
    unit = "dp_epsilon" if rho is None else "rho"
    paid = check.above(unit, dp_epsilon if rho is None else rho, 0)
    order = None if alpha is None else check.order(alpha)
    most = None if epsilon is None else check.budget(epsilon)
    quilts = MarkovQuilt(chain, length)
    if ledger is None:
        return _within(Influence(quilts, _cost(unit, [paid]), order).prove(), most)
    terms = {"chains": _digest(quilts), "length": length, "alpha": order, "unit": unit, "most": most}
    file = LedgerFile(Path(ledger), of_influence=True)
    with file.writing() as writer:
        before = writer.contents.entries
        if before:
            first = before[0]
            if most is None:
                terms["most"] = most = first["most"]
            if any(first[name] != value for name, value in terms.items()):
                raise CompositionError(
                    f"the ledger {file.path} was opened with another chain, length, order, budget or measure of cost, "
                    f"and this is no release about the same records as it knows them: nothing was written down. Give "
                    f"all chains that are to be held possible at the first release"
                )
        spent = [float.fromhex(entry["paid"]) for entry in before]
        found = _within(Influence(quilts, _cost(unit, [*spent, paid]), order).prove(), most)
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        writer.append({"kind": INFLUENCE, **terms, "paid": paid.hex(), "at": at})
    return found


def _cost(unit: str, spent: Sequence[float]) -> Cost:
    return Cost(epsilons=tuple(spent)) if unit == "dp_epsilon" else Cost(rhos=tuple(spent))


def _within(found: Influence, most: float | None) -> Influence:
    if most is not None and not found.epsilon <= most:
        raise BudgetError(
            f"all releases together would tell epsilon = {found.epsilon:g} of the state at a time, above {most:g}: "
            f"nothing was written down, and the release should not be made"
        )
    return found


def _digest(quilts: MarkovQuilt) -> str:
    return hashlib.sha256(strict_json.canonical([chain_to(one) for one in quilts.chains])).hexdigest()
