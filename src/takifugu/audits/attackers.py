"""Who attacks: an adversary who knows the priors, and learners who know nothing but some of the rows.

An attacker turns every row into a score, the larger the more it looks like the first secret of a pair than like the
second: a guess at ln(p/q). `takifugu.audits.bounds` makes a bound of any score, so none of this is trusted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.audits import features
from takifugu.audits.features import Places
from takifugu.audits.learners import boosting, logistic, neighbours, sharp
from takifugu.audits.ratios import through_noise, through_table
from takifugu.audits.result import ORDER
from takifugu.audits.rows import Rows
from takifugu.calibration import Calibration
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.channels.vector.noise import GaussianVector
from takifugu.errors import InputError

MOST_TAUGHT = 20_000  # rows that a learner is shown


@dataclass(frozen=True)
class Attacker:
    """A name, what it looks at, and whether it has to be taught."""

    name: str
    sees: str
    learns: bool
    score: Callable[..., Array]


def knowing(calibration: Calibration, rows: Rows) -> list[Attacker]:
    """Likelihood ratios of the calibration's own priors, through its channel and through a weaker one."""
    channel, sees = calibration.channel, ", ".join(rows.answer)
    if not rows.answer:
        return []
    if isinstance(channel, ListChannel):
        ways = [("priors", through_table(channel)), ("priors, unchanged values", through_table(None))]
    elif all(rows.published[name].numbers is not None for name in rows.answer):
        noise = _covariance(channel, len(rows.answer))
        if noise is None:
            return []
        ways = [("priors", through_noise(noise)), ("priors, half the noise", through_noise(0.25 * noise))]
    else:
        return []
    return [Attacker(name, sees, learns=False, score=score) for name, score in ways]


def _covariance(channel: Any, columns: int) -> Array | None:
    """The covariance of Gaussian noise on this many columns; None where there is none, or no such noise."""
    if isinstance(channel, GaussianNoise):
        return np.array([[channel.variance]]) if columns == 1 and channel.theta > 0 else None
    if isinstance(channel, GaussianVector):
        return channel.covariance if channel.dimension == columns else None
    raise InputError(f"no attack is known on what went through a {type(channel).__name__}")


def learning(rows: Rows, known: tuple[str, ...]) -> list[Attacker]:
    """Learners of everything published but `known`, of the columns calibrated, of traces, and of the order of rows."""
    everything = [
        name
        for name in rows.published
        if name not in known and (name not in rows.keys or rows.published[name].numbers is not None)
    ]
    seen = ", ".join(everything)
    own = list(rows.answer)

    def shown(names: list[str]) -> Callable[[Places], Array]:
        return lambda taught: features.values(rows, names, taught)

    def traces(taught: Places) -> Array:
        return features.traces(rows, everything, taught)

    def order(taught: Places) -> Array:
        return features.order(rows, taught)

    found = [
        Attacker("logistic regression", seen, learns=True, score=_taught(logistic, shown(everything))),
        Attacker("gradient boosting", seen, learns=True, score=_taught(boosting, shown(everything))),
        Attacker("nearest neighbours", seen, learns=True, score=_taught(neighbours, shown(everything))),
        Attacker("traces", f"digits and repeats of {seen}", learns=True, score=_taught(boosting, traces)),
        Attacker(
            ORDER,
            "the order of the rows, and the values around each place",
            learns=True,
            score=_taught(boosting, order),
        ),
    ]
    if own and set(own) != set(everything):
        calibrated = ", ".join(own)
        found.append(Attacker("gradient boosting", calibrated, learns=True, score=_taught(boosting, shown(own))))
    return found


def informed(rows: Rows, known: tuple[str, ...]) -> list[Attacker]:
    """A learner who is also shown the known columns that were published: to be tested within their cells only."""
    shown = [name for name in known if name in rows.published]
    if not shown:
        return []
    names = [*dict.fromkeys([*rows.answer, *rows.added])]

    def view(taught: Places) -> Array:
        return features.values(rows, names, taught)

    return [Attacker("gradient boosting", ", ".join(names), learns=True, score=_taught(boosting, view))]


def unprotected(rows: Rows) -> Array | None:
    """The true values of the calibrated columns as a learner would see them; None where truth does not have them."""
    if not rows.answer or any(name not in rows.truth for name in rows.answer):
        return None
    everyone = np.arange(len(rows))
    return np.concatenate([features.encoded(rows.truth[name], everyone) for name in rows.answer], axis=1)


def boosted(shown: Array, taught: Places, is_first: Places, asked: Places, seed: int) -> Array:
    """Scores of gradient boosting for some rows, taught by others."""
    return sharp(boosting(shown[taught], is_first, shown[asked], seed))


def _taught(
    learner: Callable[[Array, Places, Array, int], Array], view: Callable[[Places], Array]
) -> Callable[[Places, Places, Places, int], Array]:
    def score(taught: Places, is_first: Places, asked: Places, seed: int) -> Array:
        shown = view(taught)
        if not shown.shape[1]:
            return np.zeros(len(asked))
        return sharp(learner(shown[taught], is_first, shown[asked], seed))

    return score
