"""Asking backwards: which promise allows no better guess than this, and which is the strongest that costs no more."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu._work import step
from takifugu.calibration.result import Calibration
from takifugu.errors import CalibrationError, InputError, MechanismError, NoAnswerError
from takifugu.laws import columns, key, number
from takifugu.problems import (
    Diagnostic,
    Guarantee,
    Problem,
    Renyi,
    guarantee_asked,
    promise_of_guess,
    recommended_alpha,
)

if TYPE_CHECKING:
    from takifugu.channels import ListChannel

_ERROR = "a number above 0, such as 0.2 for a fifth of the spread"
_FIRST = math.log(3)  # the budget that the search begins at
_LEAST, _MOST = 1e-3, 24.0  # below, nothing is told; above, everything is
_CLOSE = 1.02  # the search ends when a budget that is enough and one that is not lie this close
HALVINGS = 5  # of the chance that draws pass what they should not: 32 promises are tried at most
HALVINGS_OF_ALL = 10  # the same where all are judged by the same draws: of all promises that may be come to, 924
_ALIKE = 1e-6  # what rounding may do to an error that should fall as the budget grows


def require_one_way(problem: Problem, guarantee: Guarantee | None = None, **promise: float | None) -> None:
    """Refuse a guarantee that is asked for in two ways, and what is none, before any work.

    Args:
        problem: the priors and pairs.
        guarantee: as it was given, or None.
        promise: the short forms, and `error` or `best_guess`, by name.

    Raises:
        InputError: that names the two arguments which mean the same thing, or the number that is out of range.
    """
    given = {name for name, value in promise.items() if value is not None}
    backwards = [name for name in ("error", "best_guess") if name in given]
    if guarantee is not None and backwards:
        raise InputError(f"{backwards[0]} takes the place of the guarantee: leave it out, or leave the guarantee out")
    if "error" in given and given & {"best_guess", "epsilon", "odds", "delta"}:
        raise InputError("error takes the place of odds, epsilon and best_guess: leave them out, or leave error out")
    if "error" in given:
        _require_share(promise["error"], problem.space != "values")
    if not given & {"error", "best_guess"}:
        guarantee_asked(
            guarantee,
            alpha=promise["alpha"],
            epsilon=promise["epsilon"],
            odds=promise["odds"],
            delta=promise.get("delta"),
            of_noise=problem.space == "vector",
        )


def _require_share(error: float | None, noise: bool) -> None:
    """Refuse what is no error, and of values from a list one above 1: it asks for nothing, so nothing would be left."""
    most = check.real("error", error, _ERROR)
    if most <= 0:
        raise InputError(f"error must be {_ERROR}, got {error!r}")
    if most > 1 and not noise:
        raise InputError(
            f"error must be {_ERROR}, and at most 1 for values from a list, got {error!r}: {most:g} % is written "
            f"{most / 100:g}"
        )


def promise_asked(
    problem: Problem,
    guarantee: Guarantee | None = None,
    *,
    alpha: float | None,
    epsilon: float | None,
    odds: float | None,
    best_guess: float | None,
    delta: float | None = None,
) -> Guarantee:
    """The guarantee that the arguments name together.

    Args:
        problem: the priors and pairs, for the order of a guarantee that a best guess stands for.
        guarantee: as it was given, or None.
        alpha: the Rényi order.
        epsilon: the budget.
        odds: the factor.
        best_guess: the probability of a right guess that is allowed, in place of a budget.
        delta: of (ε, δ).

    Returns:
        One guarantee.
    """
    if best_guess is None:
        return guarantee_asked(guarantee, alpha=alpha, epsilon=epsilon, odds=odds, delta=delta)
    if epsilon is not None or odds is not None or delta is not None:
        raise InputError("best_guess takes the place of odds and epsilon: leave them out, or leave best_guess out")
    return promise_of_guess(best_guess, alpha=default_order(problem) if alpha is None else alpha)


def default_order(problem: Problem) -> float:
    """The order of a guarantee that was calibrated to a target: bounded odds where a channel can keep them.

    Args:
        problem: whose answers are numbers, vectors or values of a list.

    Returns:
        Infinity for a list; for noise the order that `recommended_alpha` gives for as many values.
    """
    if problem.space == "values":
        return math.inf
    return recommended_alpha(values_published(problem))


def values_published(problem: Problem) -> int:
    """How many values go out: one for each row, or one for each group; 1 where nobody has said."""
    answer, rows = problem.answer, problem.beliefs[0].rows
    if answer is None:
        return 1
    return max(1, sum(rows.values())) if answer.is_of_rows else len(problem.pairs.secrets)


def relative_error(calibration: Calibration) -> float:
    """How far off a published value is, beside the spread of the true ones; of several columns the worst.

    For numbers it is the root of the mean square error over the standard deviation of everybody's true values; for
    labels, the share of people whose label is published as another.

    Args:
        calibration: the calibration.

    Returns:
        0 for what is published as it is, 1 where the noise is as wide as the data.

    >>> from takifugu import Mixture, calibrate
    >>> found = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
    >>> round(relative_error(found), 6)  # the root of 3 over that of 1 + 1
    1.224745
    """
    from takifugu.mechanisms import table_of

    channel, problem = calibration.channel, calibration.problem
    if channel.publishes == "values":
        return max(_of_columns(channel.as_list(), table_of(problem).mass))
    deviations = np.sqrt(np.diagonal(channel.noise_covariance))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(deviations > 0, deviations / _spread(problem), 0.0).max())


def _of_columns(channel: "ListChannel", mass: Array) -> list[float]:
    """The error of each column, from the moves of the channel and the losses between the values of the column."""
    from takifugu.mechanisms import column_loss

    sources, targets, shares = channel.entries
    found = []
    for true, published in zip(columns(channel.inputs), columns(channel.outputs), strict=True):
        values = {key(value): value for value in (*true, *published)}
        place = {name: k for k, name in enumerate(values)}
        here, there = (np.array([place[key(value)] for value in side]) for side in (true, published))
        share = np.zeros(len(values))
        np.add.at(share, here, mass)
        lost = column_loss(None, list(values.values()), list(values.values()), share, relative=True)
        moved = lost[here[sources], there[targets]] * shares
        total = float((mass / mass.sum())[sources] @ moved)
        found.append(math.sqrt(total) if all(map(number, values.values())) else total)
    return found


def _spread(problem: Problem) -> Array:
    """The standard deviation of the answer over everybody, on each axis: within the secrets and between them."""
    belief, secrets = problem.beliefs[0], problem.pairs.secrets
    counted = all(belief.rows.get(secret) for secret in secrets)
    weights = np.array([belief.rows[secret] if counted else 1 for secret in secrets], dtype=np.float64)
    laws = problem.laws(0)
    means = np.array([np.atleast_1d(law.mean) for law in laws])
    within = np.array([law.deviations**2 for law in laws])
    shares = weights / weights.sum()
    centre = shares @ means
    spread: Array = np.sqrt(shares @ (within + (means - centre) ** 2))
    return spread


def strongest(calibrated: Callable[[Guarantee, int], Calibration], *, alpha: float, error: float) -> Calibration:
    """The calibration of the least budget, to two per cent, whose error beside the spread is at most this.

    The best channel's error falls as the budget grows, since what was allowed stays allowed; with Monte Carlo evidence
    or another mechanism it may falter, and then a finding says so. What is returned was seen to err no more.

    One is chosen of those tried, and what was tried before steers the choice. So `calibrated`, which is given the
    number of the try, must judge each by draws of its own, HALVINGS more strictly: the chance that any of 2ʰ passes
    wrongly is then what it is for one. Where there are no more draws, it is HALVINGS_OF_ALL (proofs/population.md).

    Args:
        calibrated: makes the calibration of a guarantee; its second argument is the number of the try.
        alpha: the order, infinite for odds.
        error: the most error beside the spread of the true values.
        step: hears how far the search is.

    Returns:
        The best that was tried, with a finding where the search ended before it was as close as it wants.

    Raises:
        NoAnswerError: where no guarantee that was tried has so small an error.
    """
    most = float(error)
    tried: dict[float, float] = {}
    low, high, epsilon = 0.0, math.inf, _FIRST
    best, refusal = None, None
    while high > low * _CLOSE and high > _LEAST and low < _MOST and len(tried) < 2**HALVINGS:
        promise = Renyi(alpha, epsilon)
        try:
            made = calibrated(promise, len(tried))
            tried[epsilon] = relative_error(made)
            step(f"Trying {promise}: off by {tried[epsilon]:.3g} of the spread, {most:g} is asked for")
        except (CalibrationError, MechanismError) as refused:
            made, refusal, tried[epsilon] = None, refused, math.inf
            step(f"Trying {promise}: it cannot be kept")
        if made is not None and tried[epsilon] <= most:
            best, high = made, epsilon
        else:
            low = epsilon
        epsilon = high / 2 if low == 0 else min(2 * low, _MOST) if math.isinf(high) else math.sqrt(low * high)
    if best is None:
        if refusal is not None and all(map(math.isinf, tried.values())):
            raise refusal
        raise NoAnswerError(
            f"no guarantee was found whose channel errs at most {most:g} of the spread; the weakest that was tried, "
            f"{Renyi(alpha, max(tried))}, errs {tried[max(tried)]:.3g}. Allow a larger error, give a finer domain, "
            f"publish fewer columns, or merge rare secrets, which are then not hidden from one another"
        )
    errors = [tried[one] for one in sorted(tried)]
    falls = all(a >= b * (1 - _ALIKE) for a, b in pairwise(errors))
    finding = Diagnostic(
        "error-asked", asked=most, error=tried[high], promise=str(best.total), tried=len(tried), falls=falls
    )
    return best.with_finding(finding)
