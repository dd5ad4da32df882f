"""What there is to say about a finite channel."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.listed import ListChannel
from takifugu.channels.sentences import named
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.table import table_of
from takifugu.reports.alternatives import Cost, at_finite_order, gaussian_noise, replaced_at_random
from takifugu.reports.columns import ColumnFacts, column_facts
from takifugu.reports.common import Facts, question_of
from takifugu.reports.few_rows import is_shown
from takifugu.reports.losses import belief_losses, pair_losses
from takifugu.reports.most_telling import most_telling, worst_odds


@dataclass(frozen=True)
class LawFacts:
    """One secret's law, under the belief that binds: its mean and spread where it is about numbers.

    Of a secret of too few rows nothing but their number is told.
    """

    name: str
    rows: int | None
    mean: float | None
    std: float | None
    commonest: str | None
    share: float | None


@dataclass(frozen=True, kw_only=True)
class ChannelFacts(Facts):
    """One calibration of a finite channel.

    `error` and `lower_bound` are in the units of `loss_name`, which is "square", "absolute", "change", "columns" (the
    losses of several columns added up) or "matrix".
    """

    secrets: tuple[LawFacts, ...] = field(repr=False)
    columns: tuple[ColumnFacts, ...] = field(repr=False)
    values: int
    loss_name: str
    error: float
    lower_bound: float | None
    share_changed: float
    worst_odds: float
    costs: tuple[Cost, ...] = ()

    @property
    def channel(self) -> ListChannel:
        """The channel itself."""
        return _channel(self.calibration)

    @property
    def keeps(self) -> str | None:
        """What the channel was asked to leave as it is on average."""
        kept: str | None = dict(self.calibration.options).get("keep")
        return kept

    @property
    def gap(self) -> float | None:
        """By which share of its error the channel may be worse than the best; None where no bound is known."""
        if self.lower_bound is None:
            return None
        return 0.0 if self.error <= 0 else max(0.0, 1.0 - self.lower_bound / self.error)

    def to_dict(self) -> dict[str, Any]:
        """See `Facts.to_dict`."""
        return super().to_dict() | {
            "values": self.values,
            "error": self.error,
            "error_of": self.loss_name,
            "lower_bound": self.lower_bound,
            "share_changed": self.share_changed,
            "worst_odds": None if math.isinf(self.worst_odds) else self.worst_odds,
            "columns": [column.to_dict() for column in self.columns],
            "secrets": [{"name": s.name, "rows": s.rows, "mean": s.mean, "std": s.std} for s in self.secrets],
            "costs": [
                {"label": c.label, "promise": c.promise, "error": c.error, "changed": c.changed, "weaker": c.is_weaker}
                for c in self.costs
            ],
        }


def channel_facts(
    calibration: Calibration, *, question: str | None, compare: bool, certificate_sha256: str | None
) -> ChannelFacts:
    """The facts of a finite channel. `compare=False` leaves out what other ways would have cost."""
    channel, problem = _channel(calibration), calibration.problem
    mass = _shares(table_of(problem).mass)
    p, q = problem.ends(calibration.place)
    belief = calibration.beliefs[calibration.place.belief]
    answer = calibration.answer
    columns = column_facts(
        channel,
        mass,
        (_shares(channel.weights_of(p)), _shares(channel.weights_of(q))),
        None if answer is None else answer.columns,
    )
    return ChannelFacts(
        question=question_of(calibration) if question is None else question,
        calibration=calibration,
        loss=calibration.loss,
        secrets=tuple(_secret(name, belief[name], belief.rows.get(name)) for name in calibration.pairs.secrets),
        columns=columns,
        values=len(channel.inputs),
        loss_name=_loss_name(calibration, columns),
        error=calibration.error,
        lower_bound=calibration.lower_bound,
        share_changed=channel.share_changed(mass),
        worst_odds=worst_odds(calibration, channel),
        costs=_costs(calibration, channel, columns, mass) if compare else (),
        adversary=most_telling(calibration),
        pair_losses=pair_losses(calibration),
        beliefs=belief_losses(calibration),
        findings=calibration.findings,
        certificate_sha256=certificate_sha256,
    )


def _channel(calibration: Calibration) -> ListChannel:
    if not isinstance(calibration.channel, ListChannel):
        raise InputError(f"a {type(calibration.channel).__name__} is told in another way")
    return calibration.channel


def _shares(weights: Array) -> Array:
    scaled = weights / weights.max()  # weights near the largest float have no sum
    shares: Array = scaled / scaled.sum()
    return shares


def _secret(name: Hashable, law: Any, rows: int | None) -> LawFacts:
    if not is_shown(rows):
        return LawFacts(str(name), rows, None, None, None, None)
    most = int(np.argmax(law.weights))
    mean, std = (law.mean, law.std) if law.is_numeric else (None, None)
    return LawFacts(str(name), rows, mean, std, named(law.values[most]), float(law.probabilities[most]))


def _loss_name(calibration: Calibration, columns: tuple[ColumnFacts, ...]) -> str:
    asked = dict(calibration.options).get("loss")
    if asked is not None and not isinstance(asked, str):
        return "matrix"
    if len(columns) > 1:
        return "columns"
    return asked or ("square" if columns[0].is_numeric else "change")


def _costs(
    calibration: Calibration, channel: ListChannel, columns: tuple[ColumnFacts, ...], mass: Array
) -> tuple[Cost, ...]:
    only = columns[0] if len(columns) == 1 else None
    own = Cost(
        "This channel",
        str(calibration.guarantee),
        None if only is None else only.error,
        channel.share_changed(mass),
        is_chosen=True,
    )
    noises = [gaussian_noise(calibration, column, k) for k, column in enumerate(columns) if column.is_numeric]
    weaker = at_finite_order(calibration, channel, mass) if noises else None
    if only is None:  # that a column alone needs no noise says nothing about the row
        noises = [noise for noise in noises if noise is not None and noise.error]
    return tuple(c for c in (own, replaced_at_random(calibration, channel), weaker, *noises) if c is not None)
