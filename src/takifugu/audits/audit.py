"""The owner, who has the truth, attacks a release."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from takifugu._validation import Array, integer, real
from takifugu.audits.attackers import MOST_TAUGHT, boosted, unprotected
from takifugu.audits.bounds import best_wager, lower_bound
from takifugu.audits.cells import known_columns
from takifugu.audits.checking import look
from takifugu.audits.choosing import Task, chosen_pairs, chosen_tasks
from takifugu.audits.dividing import Parts, halves
from takifugu.audits.findings import MoreNoise, MovedRows, NotThroughChannel
from takifugu.audits.guessing import curve, guess
from takifugu.audits.order import SHARE, order_tells
from takifugu.audits.result import Attack, Audit, Guess
from takifugu.audits.rows import Rows, read_rows
from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.problems.guarantee import Renyi
from takifugu.problems.pairs import Pair
from takifugu.tables.reading import Reading


def audit(
    published: object,
    truth: object,
    calibration: Calibration,
    *,
    secret: str | None = None,
    keys: Sequence[str] | str | None = None,
    positions: object = None,
    seed: int = 0,
    level: float = 0.05,
    reading: Reading | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """Attack what was published, and say what an adversary could have learned from it.

    Half of the rows teach the learners, the rest test them: an adversary who knows the priors, logistic regression,
    gradient boosting and nearest neighbours, on all published columns at once, on their digits and on the order of the
    rows. Each attack gives a best guess and a lower bound on the loss; all bounds hold at once with probability
    1 − `level` over rows that are independent given the secret (proofs/audit.md). That no attack succeeds proves
    nothing: for a proof see `takifugu.certify`.

    Args:
        published: the table that went out, or a column of it; any kind of table that Takifugu reads. Several that went
            out about the same people, row beside row in one order, are given as a tuple and attacked together.
        truth: the table it was made from, with the column of secrets.
        calibration: what was promised.
        secret: the column of secrets in `truth`; needed for priors made by hand. Of several columns of secrets, the
            one to attack; by default each in turn.
        keys: the columns that say which published row is whose. Without them and `positions`, row k is row k.
        positions: the private key of a shuffled publication, as `release` and `Published.save_positions` write it (a
            path), or its content. `Published.audit` needs none.
        seed: of the division of the rows and of the learners.
        level: the probability, at most, that any bound is wrong: of a false alarm.
        reading: what is known of the form of `truth`, where it is a file. What meant a missing value when the priors
            were fitted does so here, unless other sentinels or texts are named.
        progress: called with the number of attacks done and of all.
    """
    guarantee = _promise(calibration)
    level = real("level", level, "a probability between 0 and 0.5")
    if not 0 < level < 0.5:
        raise InputError(f"level must be a probability between 0 and 0.5, got {level!r}")
    seed = integer("seed", seed, least=0)
    own = () if calibration.answer is None else calibration.answer.secret
    if secret is None and len(own) > 1:
        part = level / len(own)  # of the chance of a false alarm
        each = [
            _audited(published, truth, calibration, guarantee, one, keys, positions, seed, part, reading, progress)
            for one in own
        ]
        return Audit(
            guarantee=guarantee,
            attacks=tuple(attack for one in each for attack in one.attacks),
            confidence=1 - level,
            findings=tuple(dict.fromkeys(finding for one in each for finding in one.findings)),
            before=tuple(guess for one in each for guess in one.before),
            rows=max(one.rows for one in each),
        )
    return _audited(published, truth, calibration, guarantee, secret, keys, positions, seed, level, reading, progress)


def _audited(
    published: Any,
    truth: Any,
    calibration: Calibration,
    guarantee: Renyi,
    secret: str | None,
    keys: Sequence[str] | str | None,
    positions: Any,
    seed: int,
    level: float,
    reading: Any,
    progress: Callable[[int, int], None] | None,
) -> Audit:
    """The attacks on one column's secrets."""
    rows = read_rows(published, truth, calibration, secret=secret, keys=keys, positions=positions, reading=reading)
    known = known_columns(calibration.problem)
    pairs, findings = chosen_pairs(rows, calibration)
    findings += look(rows, calibration, pairs, known)
    tasks = chosen_tasks(rows, calibration, pairs, known, findings)
    spent = SHARE * level
    if not any(isinstance(one, NotThroughChannel | MovedRows | MoreNoise) for one in findings):
        told = (order_tells(rows, pair, chance=spent / len(pairs), seed=seed) for pair in pairs)
        findings += [one for one in told if one is not None]
    level -= spent
    risk = level / (2 * len(tasks) * len(_limits(guarantee)))
    attacks = []
    for done, task in enumerate(tasks):
        if progress is not None:
            progress(done, len(tasks))
        attacks.append(_attack(task, rows, calibration, risk=risk, level=level / len(tasks), seed=seed))
    if progress is not None:
        progress(len(tasks), len(tasks))
    return Audit(
        guarantee=guarantee,
        attacks=tuple(attacks),
        confidence=1 - level - spent,
        findings=tuple(findings),
        before=tuple(_before(rows, pairs, level=level / len(pairs), seed=seed)),
        rows=len(rows),
    )


def _promise(calibration: Any) -> Renyi:
    if not isinstance(calibration, Calibration):
        raise InputError(
            f"an audit needs the Calibration of the release, got {type(calibration).__name__}: read its file with "
            f"Calibration.load"
        )
    if not isinstance(calibration.guarantee, Renyi):
        raise InputError(
            f"{calibration.mechanism!r} promises {calibration.guarantee}, which says nothing about a share of the "
            f"cases: no attack on rows can contradict it. Audit a calibration by 'exact' or 'optimal'"
        )
    return calibration.guarantee


def _limits(guarantee: Renyi) -> list[float]:
    """The orders at which something was promised."""
    return [guarantee.alpha] if guarantee.odds is None else [guarantee.alpha, np.inf]


def _attack(task: Task, rows: Rows, calibration: Calibration, *, risk: float, level: float, seed: int) -> Attack:
    guarantee = calibration.guarantee
    first, second = halves(rows, task.pair, seed, among=task.rows)
    learns = task.attacker.learns
    if learns:
        scores = _learned(task.attacker.score, rows, first, second, seed)
    else:
        belief = calibration.beliefs[task.belief]
        scores = task.attacker.score(rows, belief[task.pair[0]], belief[task.pair[1]])
    tuned = scores[first.tune], scores[second.tune]
    tested = scores[first.tested(learns)], scores[second.tested(learns)]
    bounds = []
    for alpha in _limits(guarantee):  # type: ignore[arg-type]
        ways = ((tuned, tested, 1.0), (tuned[::-1], tested[::-1], -1.0))
        bounds.append(max(_bound(*way, alpha=alpha, risk=risk) for way in ways))
    return Attack(
        attacker=task.attacker.name,
        sees=task.attacker.sees,
        pair=task.pair,
        where=f" where {label}" if (label := calibration.beliefs[task.belief].label) else "",
        rows=(len(tested[0]), len(tested[1])),
        guess=guess(tuned, tested, level),
        lower_bound=bounds[0],
        odds_bound=bounds[1] if len(bounds) > 1 else None,
        roc=curve(*tested),
    )


def _bound(tuned: tuple[Array, ...], tested: tuple[Array, ...], sign: float, *, alpha: float, risk: float) -> float:
    wager, _ = best_wager(
        sign * tuned[0], sign * tuned[1], alpha=alpha, risk=risk, rows=(len(tested[0]), len(tested[1]))
    )
    return lower_bound(wager, sign * tested[0], sign * tested[1], risk=risk)


def _learned(score: Callable[..., Array], rows: Rows, first: Parts, second: Parts, seed: int) -> Array:
    """The scores of the rows that are not taught; 0 elsewhere, where nobody looks."""
    a, b = first.teach, second.teach
    if len(a) + len(b) > MOST_TAUGHT:  # of a rare secret every row is shown
        rare = min(len(a), len(b), MOST_TAUGHT // 2)
        a, b = a[: max(rare, MOST_TAUGHT - len(b))], b[: max(rare, MOST_TAUGHT - len(a))]
    taught = np.concatenate([a, b])
    is_first = np.concatenate([np.ones(len(a), np.intp), np.zeros(len(b), np.intp)])
    asked = np.concatenate([first.tune, second.tune, first.test, second.test])
    scores = np.zeros(len(rows))
    scores[asked] = score(taught, is_first, asked, seed)
    return scores


def _before(rows: Rows, pairs: list[Pair], *, level: float, seed: int) -> list[tuple[Pair, Guess]]:
    """How well a learner guesses from the truth."""
    shown = unprotected(rows)
    if shown is None:
        return []
    found = []
    for pair in pairs:
        first, second = halves(rows, pair, seed)
        scores = _learned(lambda *given: boosted(shown, *given), rows, first, second, seed)
        tuned, tested = (scores[first.tune], scores[second.tune]), (scores[first.test], scores[second.test])
        found.append((pair, guess(tuned, tested, level)))
    return found
