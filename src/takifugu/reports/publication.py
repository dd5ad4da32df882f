"""What publishing a table through a finite channel did, in figures and in plain words."""

import math
from dataclasses import dataclass

import numpy as np

from takifugu.calibration import Calibration
from takifugu.channels.finite import FiniteChannel
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.mechanisms.optimal.mechanism import table_of
from takifugu.problems.guarantee import Renyi
from takifugu.reports.text import clean, number, percent

_USELESS = 0.5  # of the rows changed: what is published is then mostly noise


@dataclass(frozen=True)
class ColumnChange:
    """What became of one column: the share of cells changed, and for numbers the error beside their spread."""

    name: str
    changed: float
    error: float | None
    spread: float | None


@dataclass(frozen=True)
class Publication:
    """The figures of one publication; `guess_*` are chances of guessing right between two secrets, 0.5 blind luck."""

    calibration: Calibration
    columns: tuple[ColumnChange, ...]
    rows_changed: float
    gone: int
    worst_odds: float
    guess_before: float
    guess_after: float
    pair: tuple[str, str]

    @property
    def sentences(self) -> tuple[str, ...]:
        """One page of plain words."""
        answer, evidence = self.calibration.answer, self.calibration.evidence
        secret = "the secret" if answer is None else " and ".join(map(repr, answer.secret))
        a, b = self.pair
        lines = [self._promise(secret)]
        if evidence is not None:
            lines.append(f"That is for the population, not only for these rows: {evidence.sentence}.")
        else:
            lines.append("That is for who believes these rows' own shares, and says nothing about who knows better.")
        for column in self.columns:
            error = ""
            if column.error is not None and column.spread:
                error = f"; it is off by about {number(column.error, 2)}, beside a spread of {number(column.spread, 3)}"
            lines.append(f"{clean(column.name)}: {percent(column.changed)} of the cells were changed{error}.")
        if self.gone:
            lines.append(
                f"{self.gone} of the values that the columns may take {'is' if self.gone == 1 else 'are'} published no "
                f"more; to keep the share of every value as it was, at the price of more changes, ask to keep shares."
            )
        if self.rows_changed > _USELESS:
            lines.append(
                f"{percent(self.rows_changed)} of the rows say something else than the truth: little of use is left. "
                f"The fewest rows of a secret decide what can be promised: merge rare secrets, publish fewer columns, "
                f"give coarser domains, or allow larger odds."
            )
        lines.append(
            f"The pair hardest to hide is {clean(a)} and {clean(b)}. From one published row the best possible guess "
            f"between them is right with a chance of {percent(self.guess_after)}; from the true row it would be "
            f"{percent(self.guess_before)}, and blind luck is 50 %."
        )
        return tuple(lines)

    def _promise(self, secret: str) -> str:
        guarantee = self.calibration.guarantee
        if isinstance(guarantee, Renyi) and guarantee.most_odds is not None:
            more = "" if math.isinf(guarantee.alpha) else f", and each pair is within {guarantee}"
            return (
                f"Nothing published moves anyone's odds between two values of {secret} by more than a factor of "
                f"{number(guarantee.most_odds, 4)}{more}."
            )
        return f"Every pair of values of {secret} is hidden within {guarantee}."


def told(calibration: Calibration) -> Publication:
    """The figures of a calibration through a finite channel."""
    channel, problem = calibration.channel, calibration.problem
    if not isinstance(channel, FiniteChannel):
        raise InputError("a publication is told of a finite channel")
    table = table_of(problem)
    p, q = problem.ends(calibration.place)
    names = ("value",) if calibration.answer is None else calibration.answer.columns
    a, b = problem.names(calibration.place)
    return Publication(
        calibration,
        tuple(_column(channel, table.mass, place, name) for place, name in enumerate(names)),
        channel.share_changed(table.mass),
        sum(_gone(channel, place) for place in range(len(names))),
        channel.worst_odds(*(law for number in range(len(problem.beliefs)) for law in problem.laws(number))),
        _guess(p, q),
        _guess(channel.apply(p), channel.apply(q)),
        (str(a), str(b)),
    )


def _gone(channel: FiniteChannel, place: int) -> int:
    """How many values of a column no row is published with."""
    used = (channel.counts.sum(axis=0) > 0).tolist()
    values = [value[place] if isinstance(value, tuple) else value for value in channel.outputs]
    return len(set(values)) - len({value for value, is_used in zip(values, used, strict=True) if is_used})


def _guess(p: Finite, q: Finite) -> float:
    """The best possible guess between two equally likely secrets: 1/2 + TV/2."""
    values = dict.fromkeys((*p.values, *q.values))
    return 0.5 + 0.25 * float(sum(abs(p.probability(v) - q.probability(v)) for v in values))


def _column(channel: FiniteChannel, mass: np.ndarray, place: int, name: str) -> ColumnChange:
    inputs, outputs = (
        [value[place] if isinstance(value, tuple) else value for value in side]
        for side in (channel.inputs, channel.outputs)
    )
    shares = mass / mass.sum()
    distinct = {value: k for k, value in enumerate(dict.fromkeys([*inputs, *outputs]))}
    x, y = (np.array([distinct[value] for value in side]) for side in (inputs, outputs))
    changed = float(shares @ (channel.matrix * (x[:, None] != y[None, :])).sum(axis=1))
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in (*inputs, *outputs)):
        return ColumnChange(name, changed, None, None)
    u, v = np.array(inputs, dtype=np.float64), np.array(outputs, dtype=np.float64)
    error = math.sqrt(float(shares @ (channel.matrix * (u[:, None] - v[None, :]) ** 2).sum(axis=1)))
    return ColumnChange(name, changed, error, math.sqrt(float(shares @ (u - shares @ u) ** 2)))
