"""Calibrations side by side: every order, budget and mechanism."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from takifugu import _validation as check
from takifugu.calibration.calibrating import Priors, calibrated
from takifugu.calibration.kinds import default_mechanism
from takifugu.calibration.population import Population
from takifugu.calibration.result import Calibration
from takifugu.channels.listed import ListChannel
from takifugu.errors import InputError, NoAnswerError
from takifugu.laws.finite import Finite
from takifugu.mechanisms.optimal.table import table_of
from takifugu.problems.guarantee import asked_for
from takifugu.problems.pairs import Pair
from takifugu.problems.problem import Problem

if TYPE_CHECKING:
    import pandas as pd


def sweep(
    priors: Priors,
    *,
    alphas: Iterable[float] = (),
    epsilons: Iterable[float] = (),
    odds: Iterable[float] = (),
    mechanisms: Iterable[str] | None = None,
    pairs: Iterable[Pair] | None = None,
    confidence: float | None = None,
    assurance: str | None = None,
    seed: int = 0,
) -> "pd.DataFrame":
    """Calibrate at every combination: a row each, with alpha, epsilon, mechanism, theta, variance and worst_pair.

    `mechanisms` are by default the one that `calibrate` would take.

    A mechanism that has no answer has an infinite theta in its row, and no worst pair. Where the channel is no noise on
    numbers there is no theta, and NaN stands in its place; a channel between values of a list has `error`, the expected
    loss of a published value, and `changed`, the share of values published as another. `odds` are promises of their own
    for such lists, each a row of infinite order. `confidence`, `assurance` and `seed` are those of `calibrate`; the
    draws of a confidence are made once for all rows, and what is said with it is said of each row alone: of one that is
    chosen among many it is less sure (`calibrate(error=...)` chooses and keeps its confidence).

    >>> from takifugu import Mixture
    >>> table = sweep(
    ...     {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alphas=[2], epsilons=[0.5, 1]
    ... )
    >>> table.variance.round(6).tolist()
    [7.0, 3.0]
    """
    import pandas as pd

    if isinstance(mechanisms, str):
        mechanisms = (mechanisms,)
    problem = Problem.of(priors, None if pairs is None else list(pairs))
    mechanisms = [default_mechanism(problem)] if mechanisms is None else mechanisms
    population = Population(confidence, assurance, seed)
    orders, budgets = (
        [check.order(a) for a in _several(alphas)],
        [check.budget(e) for e in _several(epsilons)],
    )
    factors = _several(odds)
    if bool(orders) != bool(budgets) or not (orders or factors):
        raise InputError("give alphas and epsilons, odds, or all of them: there is nothing to calibrate at")
    promises = [asked_for(alpha=alpha, epsilon=epsilon, odds=None) for alpha in orders for epsilon in budgets]
    promises += [asked_for(alpha=None, epsilon=None, odds=most) for most in factors]
    rows: list[tuple[Any, ...]] = []
    for name in mechanisms:
        for asked in promises:
            here = (asked.alpha, asked.epsilon, name)
            try:
                rows.append((*here, *_figures(calibrated(priors, problem, asked, name, population, {}))))
            except NoAnswerError:
                rows.append((*here, math.inf, math.inf, None, math.nan, math.nan))
    columns = ["alpha", "epsilon", "mechanism", "theta", "variance", "worst_pair"]
    found = pd.DataFrame(rows, columns=[*columns, "error", "changed"])
    return found if isinstance(problem.laws(0)[0], Finite) else found[columns]


def _figures(one: Calibration) -> tuple[Any, ...]:
    noise = (getattr(one, figure, math.nan) for figure in ("theta", "variance"))
    if not isinstance(one.channel, ListChannel):
        return (*noise, one.worst_pair, math.nan, math.nan)
    return (*noise, one.worst_pair, one.error, one.channel.share_changed(table_of(one.problem).mass))


def _several(values: Any) -> list[Any]:
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
