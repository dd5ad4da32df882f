"""A look at the publication before it is attacked: does it go with the calibration and with the truth?"""

import math

import numpy as np

from takifugu.audits.findings import (
    FEW_AUDITED,
    FewRowsAudited,
    LessNoise,
    MoreNoise,
    MovedRows,
    NotCovered,
    NotThroughChannel,
    PublishedAsIs,
    SecretPublished,
)
from takifugu.audits.rows import Rows
from takifugu.calibration import Calibration
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.errors import InputError
from takifugu.laws.lattice import Lattice
from takifugu.laws.values import key
from takifugu.problems.findings import Finding
from takifugu.problems.pairs import Pair

_SURELY = 6.0  # standard deviations


def look(rows: Rows, calibration: Calibration, pairs: list[Pair], known: tuple[str, ...]) -> list[Finding]:
    """What stands out without any attack."""
    found: list[Finding] = []
    secret = () if calibration.answer is None else calibration.answer.secret
    found += [SecretPublished(name) for name in secret if name in rows.published]
    added = tuple(name for name in rows.added if name not in known and name not in secret)
    if added and rows.answer:  # else nobody knows which of them is covered
        found.append(NotCovered(added))
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        if (count := len(rows.of(name))) < FEW_AUDITED:
            found.append(FewRowsAudited(name, count))
    if not rows.answer or any(name not in rows.truth for name in rows.answer):
        return found
    if all(rows.published[name].agrees(rows.truth[name]).all() for name in rows.answer):
        found.append(PublishedAsIs(rows.answer))
    if isinstance(calibration.channel, GaussianNoise):
        found += _noise(rows, calibration, calibration.channel.theta)
    if isinstance(calibration.channel, ListChannel):
        found += _channel(rows, calibration, calibration.channel)
    return found


def _noise(rows: Rows, calibration: Calibration, theta: float) -> list[Finding]:
    name = rows.answer[0]
    y, x = rows.published[name].numbers, rows.truth[name].numbers
    if y is None or x is None or theta == 0 or len(rows) < 20:
        return []
    domain = None if calibration.answer is None else calibration.answer.domain
    gaps = y - (domain.snap(x) if isinstance(domain, Lattice) else x)
    spread = float(np.nanstd(gaps))
    # The spread of n normal draws is θ(1 ± 1/√2n).
    room = _SURELY / math.sqrt(2 * len(rows))
    if abs(spread / theta - 1) <= room:
        return []
    return [(LessNoise if spread < theta else MoreNoise)(spread, theta)]


def _channel(rows: Rows, calibration: Calibration, channel: ListChannel) -> list[Finding]:
    domain = None if calibration.answer is None else calibration.answer.domain
    columns = [rows.truth[name] for name in rows.answer]
    try:
        if isinstance(domain, tuple):
            true = [
                np.array(one.values, dtype=object)[
                    one.places(c.labels if c.numbers is None else c.numbers, name)
                ].tolist()
                for one, c, name in zip(domain, columns, rows.answer, strict=True)
            ]
        else:
            true = [column.labels.tolist() for column in columns]
    except InputError:  # the truth has values that the domain does not: the attacks tell what comes of it
        return []
    out = [rows.published[name].labels.tolist() for name in rows.answer]
    inputs, outputs = ({key(value): i for i, value in enumerate(side)} for side in (channel.inputs, channel.outputs))
    sources, targets, _ = channel.entries
    moves = set(zip(sources.tolist(), targets.tolist(), strict=True))
    places = [(inputs.get(key(x)), outputs.get(key(y))) for x, y in zip(_entries(true), _entries(out), strict=True)]
    wrong = sum(x is not None and (y is None or (x, y) not in moves) for x, y in places)
    if wrong:
        return [NotThroughChannel(wrong, len(rows))]
    own = [outputs.get(key(value)) for value in channel.inputs]
    stay = channel.kept / channel.denominator
    shares = np.array([stay[x] for x, _ in places if x is not None])
    stayed = sum(x is not None and y == own[x] for x, y in places)
    # Each row stays as it is with its own probability: the number that did is off by a few standard deviations at most.
    if stayed < shares.sum() - _SURELY * math.sqrt(float((shares * (1 - shares)).sum())):
        return [MovedRows(stayed / len(rows), float(shares.mean()))]
    return []


def _entries(columns: list[list[object]]) -> list[object]:
    return list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))
