"""The owner, who has the truth, attacks a release."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array, integer, real
from takifugu.audits.all_other_rows import known_rows
from takifugu.audits.attacks import (
    MOST_TAUGHT,
    SHARE,
    Attacker,
    Parts,
    Places,
    boosted,
    halves,
    informed,
    knowing,
    learning,
    order_tells,
    unprotected,
)
from takifugu.audits.outcome import (
    FEW_AUDITED,
    MISPLACED,
    Attack,
    Audit,
    Guess,
    best_wager,
    lower_bound,
    share_interval,
)
from takifugu.audits.rows import Rows, listed_rows, read_rows
from takifugu.calibration import Calibration
from takifugu.channels import ListChannel, Noise
from takifugu.errors import InputError
from takifugu.laws import key
from takifugu.mechanisms import worst
from takifugu.problems import (
    OWN_ROWS,
    Diagnostic,
    Guarantee,
    Pair,
    Problem,
    Renyi,
    RenyiDivergence,
)
from takifugu.tables import Reading, cell_in_words, cut_named

# The rows that a belief is about: those of the cell of what the adversary knows that its label names.


class Cell(NamedTuple):
    """Rows of which the adversary knows the same, and how many columns that is about."""

    rows: Places
    known: int


def known_columns(problem: Problem) -> tuple[str, ...]:
    """The names of the columns that the adversary may know."""
    known = () if problem.answer is None else problem.answer.known
    return tuple(one if (cut := cut_named(one)) is None else cut.column for one in known)


def rows_of_beliefs(problem: Problem, rows: Rows) -> dict[int, Cell]:
    """For each belief the rows it is about; a belief that is about no cell is about all rows.

    A belief whose cell cannot be found in the truth is left out: nothing is said about it. Of the two beliefs about a
    cell the second is too, as it is about the same rows.

    Args:
        problem: whose beliefs say what an adversary may know.
        rows: what was published beside what is true.

    Returns:
        The places of the rows, by the number of the belief.
    """
    known = () if problem.answer is None else problem.answer.known
    everyone = Cell(np.arange(len(rows)), 0)
    if not known:
        return dict.fromkeys(range(len(problem.beliefs)), everyone)
    told = [_told(one, rows) for one in known]
    found: dict[str, Cell] = {"": everyone}
    for size in range(1, len(told) + 1):
        for subset in combinations([column for column in told if column is not None], size):
            labels = np.array([", ".join(parts) for parts in zip(*subset, strict=True)])
            for label in np.unique(labels):
                found[str(label)] = Cell(np.flatnonzero(labels == label), size)
    return {place: found[belief.label] for place, belief in enumerate(problem.beliefs) if belief.label in found}


def _told(one: str, rows: Rows) -> list[str] | None:
    """Each row's part of a label, as `queries.side_information` writes it; None where truth lacks the column."""
    column = rows.truth.get(one)
    return None if column is None else [cell_in_words(one, value) for value in column.labels.tolist()]


# A look at the publication before it is attacked: does it go with the calibration and with the truth?

_SURELY = 6.0  # standard deviations


def look(rows: Rows, calibration: Calibration, pairs: list[Pair], known: tuple[str, ...]) -> list[Diagnostic]:
    """What stands out without any attack.

    Args:
        rows: what was published beside what is true.
        calibration: what the publication was made with.
        pairs: the pairs that are looked at.
        known: the columns that an adversary may know.

    Returns:
        Remarks: a secret that was published, a column that tells it, values that left unchanged.
    """
    found: list[Diagnostic] = []
    secret = () if calibration.answer is None else calibration.answer.secret
    found += [Diagnostic("secret-published", column=name) for name in secret if name in rows.published]
    added = tuple(name for name in rows.added if name not in known and name not in secret)
    if added and rows.answer:  # else nobody knows which of them is covered
        found.append(Diagnostic("not-covered", columns=added))
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        if (count := len(rows.of(name))) < FEW_AUDITED:
            found.append(Diagnostic("few-rows-audited", secret=name, rows=count))
    if not rows.answer or any(name not in rows.truth for name in rows.answer):
        return found
    if all(rows.published[name].agrees(rows.truth[name]).all() for name in rows.answer):
        found.append(Diagnostic("published-as-is", columns=rows.answer))
    channel = calibration.channel
    if channel.publishes == "number":
        found += _noise(rows, calibration, channel.as_noise())
    if channel.publishes == "values":
        found += _channel(rows, calibration, channel.as_list())
    return found


def _noise(rows: Rows, calibration: Calibration, channel: Noise) -> list[Diagnostic]:
    name = rows.answer[0]
    y, x, theta = rows.published[name].numbers, rows.truth[name].numbers, channel.std
    if y is None or x is None or theta == 0 or len(rows) < 20:
        return []
    lattice = None if calibration.answer is None else calibration.answer.lattice
    gaps = y - (x if lattice is None else lattice.snap(x))
    spread = float(np.nanstd(gaps))
    # The spread of n draws is θ(1 ± √(k + 2)/2√n), k the excess kurtosis: 0 of normal noise, 3 of Laplace noise.
    room = _SURELY / math.sqrt(2 * len(rows)) * math.sqrt(1.0 + channel.excess_kurtosis / 2)
    if abs(spread / theta - 1) <= room:
        return []
    return [Diagnostic("less-noise" if spread < theta else "more-noise", spread=spread, theta=theta)]


def _channel(rows: Rows, calibration: Calibration, channel: ListChannel) -> list[Diagnostic]:
    try:
        true, out = listed_rows(rows, calibration)
    except InputError:  # the truth has values that the domain does not: the attacks tell what comes of it
        return []
    inputs, outputs = ({key(value): i for i, value in enumerate(side)} for side in (channel.inputs, channel.outputs))
    sources, targets, _ = channel.entries
    moves = set(zip(sources.tolist(), targets.tolist(), strict=True))
    places = [(inputs.get(key(x)), outputs.get(key(y))) for x, y in zip(true, out, strict=True)]
    wrong = sum(x is not None and (y is None or (x, y) not in moves) for x, y in places)
    if wrong:
        return [Diagnostic("not-through-channel", rows=wrong, of=len(rows))]
    own = [outputs.get(key(value)) for value in channel.inputs]
    stay = channel.kept / channel.denominator
    shares = np.array([stay[x] for x, _ in places if x is not None])
    stayed = sum(x is not None and y == own[x] for x, y in places)
    # Each row stays as it is with its own probability: the number that did is off by a few standard deviations at most.
    if stayed < shares.sum() - _SURELY * math.sqrt(float((shares * (1 - shares)).sum())):
        return [Diagnostic("moved-rows", share=stayed / len(rows), expected=float(shares.mean()))]
    return []


# Which attacks are made: who is set on which pair, among which rows.

LEAST_ROWS = 20  # of a secret: with fewer there is nothing to learn from and to test on
_MOST_PAIRS = 10
_MOST_BELIEFS = 6


@dataclass(frozen=True)
class Task:
    """An attacker to be set on a pair, among the rows of one belief."""

    attacker: Attacker
    pair: Pair
    belief: int
    rows: Places


def chosen_pairs(rows: Rows, calibration: Calibration) -> tuple[list[Pair], list[Diagnostic]]:
    """The pairs with rows enough, and of many those with most; chosen without a look at what was published.

    Args:
        rows: what was published beside what is true.
        calibration: whose pairs they are.

    Returns:
        The pairs, and remarks on those that are left out.
    """
    counts = {secret: len(rows.of(secret)) for secret in calibration.pairs.secrets}
    every = len(calibration.pairs)
    large = [pair for pair in calibration.pairs if min(counts[name] for name in pair) >= LEAST_ROWS]
    findings: list[Diagnostic] = []
    if not large:
        raise InputError(
            f"no pair of calibrated secrets has {LEAST_ROWS} published rows of each: there are too few to attack"
        )
    if len(large) < every:
        findings.append(Diagnostic("pairs-left-out", attacked=len(large), pairs=every, least=LEAST_ROWS))
    if len(large) > _MOST_PAIRS:
        binding = set(calibration.worst_pair)
        large.sort(key=lambda pair: (set(pair) != binding, -min(counts[name] for name in pair)))
        large = large[:_MOST_PAIRS]
        findings.append(Diagnostic("pairs-left-out", attacked=len(large), pairs=every, least=None))
    return large, findings


def chosen_tasks(
    rows: Rows, calibration: Calibration, pairs: list[Pair], known: tuple[str, ...], findings: list[Diagnostic]
) -> list[Task]:
    """Everyone who knows the priors under each belief; learners on all rows and in the cells of what is known."""
    problem = calibration.problem
    cells = rows_of_beliefs(problem, rows)
    labels = [belief.label for belief in problem.beliefs]
    first = {labels[0], labels[calibration.place.belief].removesuffix(OWN_ROWS)}
    chosen = sorted(cells, key=lambda b: (labels[b] not in first, -len(cells[b].rows)))[:_MOST_BELIEFS]
    every = sum(not label.endswith(OWN_ROWS) for label in labels)
    if len(chosen) < every:
        findings.append(Diagnostic("cells-left-out", attacked=len(chosen), beliefs=every))
    ratios, learners = knowing(calibration, rows), learning(rows, known)
    if not ratios:
        findings.append(Diagnostic("no-priors-attack"))
    tasks = []
    for pair in pairs:
        tasks += [Task(one, pair, 0, np.arange(len(rows))) for one in learners]
        for belief in sorted(chosen):
            here, depth = cells[belief]
            if min(int((rows.secrets[here] == name).sum()) for name in pair) < LEAST_ROWS:
                continue
            tasks += [Task(one, pair, belief, here) for one in ratios]
            if depth == len(known) > 0:  # with fewer columns known, those shown would tell more than is assumed
                tasks += [Task(one, pair, belief, here) for one in informed(rows, known)]
    if not tasks:
        raise InputError(
            f"no cell of {', '.join(map(repr, known))} has {LEAST_ROWS} published rows of each secret of a pair: there "
            f"are too few to attack, or the true table lacks these columns"
        )
    return tasks


# How often a score guesses right, with an exact interval, and the curve of what it finds against what it mistakes.

_CURVE = 60  # points of a curve


def guess(tuned: tuple[Array, Array], tested: tuple[Array, Array], level: float) -> Guess:
    """The share of right guesses at the threshold that did best on the rows for choosing.

    Args:
        tuned: the scores of rows of both secrets by which the threshold is chosen.
        tested: those of other rows, on which it is judged.
        level: the confidence of the interval.

    Returns:
        The share of right guesses where both secrets are equally frequent, and an interval for it.
    """
    cuts = np.unique(np.concatenate(tuned))
    hits = [_above(tuned[0], cuts), _above(tuned[1], cuts)]
    cut = float(cuts[int(np.argmax(hits[0] - hits[1]))])
    right = int((tested[0] >= cut).sum()), int((tested[1] < cut).sum())
    shares = [hit / len(scores) for hit, scores in zip(right, tested, strict=True)]
    # Both intervals hold but for `level`, so half their sum holds half the sum of what they hold.
    ends = [share_interval(hit, len(part), risk=level / 2) for hit, part in zip(right, tested, strict=True)]
    return Guess(sum(shares) / 2, low=(ends[0][0] + ends[1][0]) / 2, high=(ends[0][1] + ends[1][1]) / 2)


def _above(scores: Array, cuts: Array) -> Array:
    return 1.0 - np.searchsorted(np.sort(scores), cuts, side="left") / len(scores)


def curve(first: Array, second: Array) -> tuple[tuple[float, float], ...]:
    """The shares of the second secret's rows and of the first's at or above each of some thresholds.

    Args:
        first: scores of rows of the first secret.
        second: those of the second.

    Returns:
        Points of the receiver operating characteristic, from (0, 0) to (1, 1).
    """
    cuts = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0, 1, _CURVE)))[::-1]
    points = zip(_above(second, cuts).tolist(), _above(first, cuts).tolist(), strict=True)
    return ((0.0, 0.0), *points, (1.0, 1.0))


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
    all_other_rows: bool = False,
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
        calibration: what was guaranteed.
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
        all_other_rows: also ask by how much the odds of anybody's secret move for an adversary who knows every other
            row, and fits the channel again for each row that the last person may have: exactly, so of small tables
            alone. A channel that was fitted to these rows guarantees nothing against them.

    Returns:
        All attacks, with bounds on what each shows; `contradicted` says whether one of them refutes the guarantee.

    Raises:
        InputError: where the two tables do not belong together, or the calibration is of no rows.

    >>> import takifugu as tk
    >>> heart = tk.datasets.load("heart")
    >>> priors = tk.fit_priors(heart, secret="sex", query=tk.Row("slope", domain=[1, 2, 3]))
    >>> calibration = tk.calibrate(priors, odds=1.1)
    >>> published = tk.release(heart, calibration, order="keep")
    >>> audit(published, heart, calibration, level=1e-6).contradicted
    False
    """
    guarantee = _promise(calibration)
    level = real("level", level, "a probability between 0 and 0.5")
    if not 0 < level < 0.5:
        raise InputError(f"level must be a probability between 0 and 0.5, got {level!r}")
    seed = integer("seed", seed, least=0)
    own = () if calibration.answer is None else calibration.answer.secret
    if secret is None and len(own) > 1:
        if all_other_rows:
            raise InputError("who knows all other rows is asked about one secret, and this calibration has several")
        part = level / len(own)  # of the chance of a false alarm
        tables = (
            read_rows(published, truth, calibration, secret=one, keys=keys, positions=positions, reading=reading)
            for one in own
        )
        each = [_audited(rows, calibration, guarantee, seed, part, progress) for rows in tables]
        return Audit(
            guarantee=guarantee,
            attacks=tuple(attack for one in each for attack in one.attacks),
            confidence=1 - level,
            findings=tuple(dict.fromkeys(finding for one in each for finding in one.findings)),
            before=tuple(guess for one in each for guess in one.before),
            rows=max(one.rows for one in each),
        )
    rows = read_rows(published, truth, calibration, secret=secret, keys=keys, positions=positions, reading=reading)
    if not all_other_rows:
        return _audited(rows, calibration, guarantee, seed, level, progress)
    known = known_rows(rows, calibration)
    if not any(min(len(rows.of(name)) for name in pair) >= LEAST_ROWS for pair in calibration.pairs):
        return Audit(guarantee, (), confidence=1.0, findings=(), rows=len(rows), known_rows=known)
    return replace(_audited(rows, calibration, guarantee, seed, level, progress), known_rows=known)


def _audited(
    rows: Rows,
    calibration: Calibration,
    guarantee: Guarantee,
    seed: int,
    level: float,
    progress: Callable[[int, int], None] | None,
) -> Audit:
    """The attacks on one column's secrets."""
    known = known_columns(calibration.problem)
    pairs, findings = chosen_pairs(rows, calibration)
    findings += look(rows, calibration, pairs, known)
    tasks = chosen_tasks(rows, calibration, pairs, known, findings)
    spent = SHARE * level
    if not any(one.code in MISPLACED for one in findings):
        told = (order_tells(rows, pair, chance=spent / len(pairs), seed=seed) for pair in pairs)
        findings += [one for one in told if one is not None]
    level -= spent
    risk = level / (2 * len(tasks) * len(_limits(guarantee)))
    attacks = []
    for done, task in enumerate(tasks):
        if progress is not None:
            progress(done, len(tasks))
        attacks.append(_attack(task, rows, calibration, guarantee, risk=risk, level=level / len(tasks), seed=seed))
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


def _promise(calibration: object) -> Guarantee:
    if not isinstance(calibration, Calibration):
        raise InputError(
            f"an audit needs the Calibration of the release, got {type(calibration).__name__}: read its file with "
            f"Calibration.load"
        )
    if not calibration.guarantee.is_provable:
        raise InputError(
            f"{calibration.mechanism!r} guarantees {calibration.guarantee}, which says nothing about a share of the "
            f"cases: no attack on rows can contradict it. Audit a calibration by 'exact' or 'optimal'"
        )
    return audited(calibration)


def audited(calibration: Calibration) -> Guarantee:
    """What an attack may contradict: the guarantee, or the order 2 at which the channel keeps it where it has none.

    An attack bounds a Rényi divergence from below, and of a δ it says nothing; but what the channel tells of these laws
    at an order follows from it.

    Args:
        calibration: what the publication was made with.

    Returns:
        A guarantee that has an order.
    """
    guarantee, channel = calibration.guarantee, calibration.channel
    if hasattr(guarantee, "alpha"):
        return guarantee
    if not channel.knows(RenyiDivergence):
        raise InputError(f"nothing is known of finite orders after {channel.describe()}: no attack can contradict it")
    return Renyi(_ORDER, worst(calibration.problem, channel, RenyiDivergence(_ORDER)).loss * (1 + _ROOM))


_ORDER, _ROOM = 2.0, 1e-9


def _limits(guarantee: Guarantee) -> list[float]:
    """The orders at which something was guaranteed."""
    return [guarantee.alpha] if guarantee.odds_beside is None else [guarantee.alpha, np.inf]


def _attack(
    task: Task, rows: Rows, calibration: Calibration, guarantee: Guarantee, *, risk: float, level: float, seed: int
) -> Attack:
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
    for alpha in _limits(guarantee):
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
