"""Columns one after another, beside one channel for all: `python -m benchmarks.chains`.

Columns of the Adult data, race White hidden from Black, odds within 3, the rows' own laws with rows added as
`studies.rows` does. After the k-th of d columns everything published keeps the odds within 3^(k/d). A
*product* draws each column from its own value alone; a *chain* also looks at what was published of the same person. The
joint channel draws all at once. Costs are sums over columns: of numbers the square error over the variance, of labels
the share changed. In floats: what is compared is how much the ways could give, and nothing is released by them.
"""

import math
import sys
import time
import warnings
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack
from studies.rows import SETTINGS, Setting

from takifugu._validation import Array
from takifugu.calibration import calibrate
from takifugu.datasets import load
from takifugu.mechanisms.optimal.finite_problem import column_loss
from takifugu.queries.fitting import fit_priors

ODDS = 3.0


def best_channels(after: Array, mass: Array, loss: Array, odds: float, *, apart: bool) -> tuple[Array, float]:
    """Channels for one column, and their cost: one for each thing published before, or one for all of them.

    after: laws by things published before by entries of the column, with the chance of what came before
    mass: the same for everybody together, things by entries
    """
    things, size = mass.shape
    if apart:
        made = [best_channels(after[:, [h]], mass[[h]], loss, odds, apart=False) for h in range(things)]
        return np.concatenate([one for one, _ in made]), math.fsum(cost for _, cost in made)
    blocks = []
    for i, j in ((0, 1), (1, 0)):
        part = after[i] - odds * after[j]  # of each thing: Σ_x part(x) K(y|x) ≤ 0 for every output y
        part = part / np.maximum(np.abs(part).max(axis=1, keepdims=True), 1e-300)
        for y in range(size):
            columns = np.arange(size) * size + y
            entries = (part.ravel(), (np.repeat(np.arange(things), size), np.tile(columns, things)))
            blocks.append(csr_array(entries, shape=(things, size * size)))
    rows = csr_array((np.ones(size * size), (np.repeat(np.arange(size), size), np.arange(size * size))))
    price = mass.sum(axis=0)[:, None] * loss
    unit = max(float(price.max()), 1e-300)
    limits = np.zeros(2 * size * things)
    below = vstack(blocks, format="csr")
    found = linprog(price.ravel() / unit, A_ub=below, b_ub=limits, A_eq=rows, b_eq=np.ones(size), method="highs")
    if found.x is None:
        raise RuntimeError(f"no channel was found: {found.message}")
    return np.asarray(found.x).reshape(1, size, size), unit * float(found.fun)


def in_turn(values: list[tuple[Any, ...]], laws: Array, mass: Array, *, apart: bool) -> float:
    """The cost of all columns, one after another."""
    width, told = len(values[0]), np.ones((len(values), 1))  # chances of what was published, given the row
    total = 0.0
    for k in range(width):
        entries = sorted({row[k] for row in values}, key=lambda entry: (isinstance(entry, str), entry))
        place = np.array([entries.index(row[k]) for row in values])
        share = np.bincount(place, weights=mass, minlength=len(entries))
        loss = column_loss(None, entries, entries, share, relative=True)
        at = np.eye(len(entries))[place]  # rows by entries
        after = np.stack([(told * law[:, None]).T @ at for law in laws])
        odds = ODDS ** ((k + 1) / width)
        channels, cost = best_channels(after, (told * mass[:, None]).T @ at, loss, odds, apart=apart)
        total += cost
        if k + 1 < width:
            drawn = np.moveaxis(channels[:, place], 0, 1)  # rows by things (or one) by outputs
            told = (told[:, :, None] * np.maximum(drawn, 0.0)).reshape(len(values), -1)
            told = told[:, told.any(axis=0)]
    return total


def run(most: int = 3) -> None:
    """Two and three columns, and five where asked for."""
    warnings.simplefilter("ignore")
    chosen: list[Setting] = [one for one in SETTINGS if one.dataset == "adult" and len(one.columns) <= most]
    for setting in chosen:
        priors = fit_priors(load("adult"), secret=setting.secret, query=setting.query, secrets=setting.pair)
        joint = calibrate(priors, odds=ODDS, options={"solver": "columns"})
        (values,) = {law.values for law in priors.values()}
        laws = np.stack([law.probabilities for law in priors.values()])
        weights = np.sum([law.weights for law in priors.values()], axis=0)
        told = [f"joint {joint.error:.4f} (none below {joint.lower_bound or 0:.4f})"]
        for name, apart in (("chain", True), ("product", False)):
            start = time.process_time()
            cost = in_turn(list(values), laws, weights / weights.sum(), apart=apart)
            told.append(f"{name} {cost:.4f} ({time.process_time() - start:.0f} s)")
        print(f"{', '.join(setting.columns)}: {'; '.join(told)}", flush=True)


if __name__ == "__main__":
    run(*map(int, sys.argv[1:2]))
