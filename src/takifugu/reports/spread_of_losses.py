"""The section on every other pair and belief: a matrix of losses, and the beliefs closest to the limit."""

from dataclasses import dataclass

import numpy as np

from takifugu.reports.blocks import columns, paragraphs, scroll, section, table
from takifugu.reports.common import Facts
from takifugu.reports.heatmap import WIDTH, heat_map
from takifugu.reports.text import clean, number


def spread_of_losses(facts: Facts) -> str:
    """Nothing where there is one pair and one belief, or too many to be looked at."""
    sides = [side for side in (_pairs(facts), _beliefs(facts)) if side]
    if not sides:
        return ""
    return section("others", "How close the others come", columns(*sides) if len(sides) > 1 else sides[0])


@dataclass(frozen=True)
class LossMatrix:
    """The loss of every pair as a picture, and what to say about it."""

    words: str
    chart: str


def loss_matrix(facts: Facts, *, width: int = WIDTH) -> LossMatrix | None:
    """Nothing where there is one pair, or there are too many to be looked at."""
    found = facts.pair_losses
    if found is None or not np.isfinite(found.losses).any():
        return None
    count = len(facts.calibration.pairs)
    left = f" {found.left_out:,} secrets whose pairs lose less are left out." if found.left_out else ""
    under = f" where {clean(facts.belief)}" if facts.belief else ""
    told = (
        f"the loss of each of {count:,} pairs{under}, the secret of the row against that of the column, in percent of "
        f"the limit ε = {number(facts.epsilon)}.{left}"
    )
    names = [clean(name) for name in found.names]
    a, b = (clean(name) for name in facts.worst_pair)
    chart = heat_map(
        found.losses / facts.epsilon,
        names,
        names,
        texts=lambda i, j: f"{100 * float(found.losses[i, j]) / facts.epsilon:.0f}",
        name="tk-losses",
        title="The loss of every pair of secrets",
        description=f"The largest is {number(facts.loss)}, of {a} against {b}.",
        is_numeric=False,
        x_label="against",
        y_label="",
        width=width,
    )
    return LossMatrix(told, chart)


def _pairs(facts: Facts) -> str:
    matrix = loss_matrix(facts)
    return "" if matrix is None else paragraphs(f"T{matrix.words[1:]}") + matrix.chart


def _beliefs(facts: Facts) -> str:
    if not facts.beliefs:
        return ""
    count = len(facts.calibration.beliefs)
    told = (
        f"The promise holds for each of {count:,} beliefs that an adversary may start from. The one closest to the "
        f"limit is “{clean(facts.belief, 120)}”."
    )
    rows = [(one.label, " / ".join(clean(name, 24) for name in one.pair), number(one.loss)) for one in facts.beliefs]
    caption = "The beliefs closest to the limit" if len(rows) < count else "The beliefs"
    return paragraphs(told) + scroll(caption, table(caption, ("Known", "Worst pair", "Loss"), rows, chosen=0))
