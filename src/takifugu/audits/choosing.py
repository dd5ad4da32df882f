"""Which attacks are made: who is set on which pair, among which rows."""

from dataclasses import dataclass

import numpy as np

from takifugu.audits.attackers import Attacker, informed, knowing, learning
from takifugu.audits.cells import rows_of_beliefs
from takifugu.audits.features import Places
from takifugu.audits.findings import CellsLeftOut, NoPriorsAttack, PairsLeftOut
from takifugu.audits.rows import Rows
from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.problems.beliefs import OWN_ROWS
from takifugu.problems.findings import Finding
from takifugu.problems.pairs import Pair

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


def chosen_pairs(rows: Rows, calibration: Calibration) -> tuple[list[Pair], list[Finding]]:
    """The pairs with rows enough, and of many those with most; chosen without a look at what was published."""
    counts = {secret: len(rows.of(secret)) for secret in calibration.pairs.secrets}
    every = len(calibration.pairs)
    large = [pair for pair in calibration.pairs if min(counts[name] for name in pair) >= LEAST_ROWS]
    findings: list[Finding] = []
    if not large:
        raise InputError(
            f"no pair of calibrated secrets has {LEAST_ROWS} published rows of each: there are too few to attack"
        )
    if len(large) < every:
        findings.append(PairsLeftOut(len(large), every, f"the others have a secret with fewer than {LEAST_ROWS} rows"))
    if len(large) > _MOST_PAIRS:
        binding = set(calibration.worst_pair)
        large.sort(key=lambda pair: (set(pair) != binding, -min(counts[name] for name in pair)))
        large = large[:_MOST_PAIRS]
        findings.append(PairsLeftOut(len(large), every, "those with most rows, and the one that binds"))
    return large, findings


def chosen_tasks(
    rows: Rows, calibration: Calibration, pairs: list[Pair], known: tuple[str, ...], findings: list[Finding]
) -> list[Task]:
    """Everyone who knows the priors under each belief; learners on all rows and in the cells of what is known."""
    problem = calibration.problem
    cells = rows_of_beliefs(problem, rows)
    labels = [belief.label for belief in problem.beliefs]
    first = {labels[0], labels[calibration.place.belief].removesuffix(OWN_ROWS)}
    chosen = sorted(cells, key=lambda b: (labels[b] not in first, -len(cells[b].rows)))[:_MOST_BELIEFS]
    every = sum(not label.endswith(OWN_ROWS) for label in labels)
    if len(chosen) < every:
        findings.append(CellsLeftOut(len(chosen), every))
    ratios, learners = knowing(calibration, rows), learning(rows, known)
    if not ratios:
        findings.append(NoPriorsAttack())
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
