"""A first-order method for bounded odds on thousands of cells, on the processor or on a graphics card.

`python -m benchmarks.first_order 400 numpy`, `python -m benchmarks.first_order 10000 cupy 32000`. The linear program is
the channel's own, written in the joint shares J(x, y) = m(x) K(y|x), whose coefficients are all about 1. The method is
the primal-dual gradient method with diagonal steps, averages and restarts. Its answer is a channel (rows divided by
their sums, a constant row mixed in where an output's odds are too far apart) and a bound below every channel (the inner
minimum at its multipliers), so the gap that is printed is true however far the method has come. It is a measurement and
no part of the package: docs/benchmarks.md says why.
"""

import sys
import time
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

ODDS = 3.0
PRINTED = (250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)


def problem(cells: int) -> tuple[Any, Any, Any]:
    """Two numbers on a square lattice, two secrets: the laws, their pool, and the loss relative to the variances."""
    side = round(cells**0.5)
    axis = np.arange(side) / side
    x, y = (part.ravel() for part in np.meshgrid(axis, axis, indexing="ij"))
    laws = np.stack(
        [
            np.exp(-0.5 * (((x - a) / 0.22) ** 2 + ((y - b - c * (x - a)) / 0.2) ** 2)) + 1e-3
            for a, b, c in ((0.45, 0.5, 0.3), (0.55, 0.45, -0.2))
        ]
    )
    laws /= laws.sum(axis=1, keepdims=True)
    mass = laws.mean(axis=0)
    loss = np.zeros((cells, cells))
    for column in (x, y):
        spread = mass @ (column - mass @ column) ** 2
        loss += (column[:, None] - column[None, :]) ** 2 / spread / 2
    return laws, mass, loss


def solve(laws: Any, mass: Any, loss: Any, *, steps: int, xp: ModuleType) -> tuple[float, float]:
    """Run the method; print and return the loss of a channel that holds and the bound below every channel."""
    laws, mass, loss = (xp.asarray(part) for part in (laws, mass, loss))
    promises = xp.stack([laws[0] - ODDS * laws[1], laws[1] - ODDS * laws[0]]) / mass  # of J, one row a direction
    cells = mass.size
    joint = xp.outer(mass, mass)  # the constant channel, which every promise allows
    odds_price, row_price = xp.zeros((2, cells)), xp.zeros(cells)
    weights = xp.abs(promises)
    down = 1.0 / (1.0 + weights.sum(axis=0))[:, None]  # steps after Pock and Chambolle: one over the sums of entries
    up_odds, up_row = 1.0 / weights.sum(axis=1)[:, None], 1.0 / cells
    balance, best_above, best_below, start = 0.01 / cells, np.inf, 0.0, time.perf_counter()
    averages, taken = [joint.copy(), odds_price.copy(), row_price.copy()], 0
    anchor = (joint.copy(), odds_price.copy(), row_price.copy())
    restart_at = 64
    for step in range(1, steps + 1):
        ahead = promises.T @ odds_price
        ahead += loss
        ahead += row_price[:, None]
        ahead *= -balance * down
        ahead += joint
        xp.maximum(ahead, 0.0, out=ahead)  # the new J
        joint *= -1.0
        joint += ahead
        joint += ahead  # 2·new − old
        odds_price = xp.maximum(odds_price + up_odds / balance * (promises @ joint), 0.0)
        row_price = row_price + up_row / balance * (joint.sum(axis=1) - mass)
        joint = ahead
        taken += 1
        for mean, now in zip(averages, (joint, odds_price, row_price), strict=True):
            mean += (now - mean) / taken
        if step in PRINTED or step == steps:
            for part, prices in ((averages[0], averages[1]), (joint, odds_price)):
                best_above = min(best_above, held(part, laws, mass, loss, xp))
                best_below = max(best_below, below(prices, promises, mass, loss, xp))
            gap = (best_above - best_below) / best_above
            print(
                f"{cells:,} cells, step {step:,}: {time.perf_counter() - start:.1f} s, loss {best_above:.6f}, "
                f"no channel below {best_below:.6f}, gap {gap:.2%}",
                flush=True,
            )
        if taken >= restart_at:  # from the average, with primal and dual steps balanced by how far each went
            moved = float(xp.linalg.norm((averages[0] - anchor[0]) / xp.sqrt(down)))
            priced = float(
                xp.sqrt(
                    (((averages[1] - anchor[1]) ** 2) / up_odds).sum() + ((averages[2] - anchor[2]) ** 2).sum() / up_row
                )
            )
            if moved > 0 and priced > 0:
                balance = float(np.exp(0.5 * np.log(moved / priced) + 0.5 * np.log(balance)))
            joint, odds_price, row_price = (part.copy() for part in averages)
            anchor, taken = (joint.copy(), odds_price.copy(), row_price.copy()), 0
            restart_at = min(restart_at * 2, 4_096)
    return best_above, best_below


def held(joint: Any, laws: Any, mass: Any, loss: Any, xp: ModuleType) -> float:
    """The loss of the channel that J stands for, with a constant row mixed in so that the odds hold."""
    sums = joint.sum(axis=1, keepdims=True)
    scale = xp.where(sums > 0, mass[:, None] / xp.where(sums > 0, sums, 1.0), 0.0)
    published = (laws / mass * scale[:, 0]) @ joint
    over = xp.maximum(published[0] - ODDS * published[1], published[1] - ODDS * published[0])
    short = xp.maximum(over, 0.0) / (ODDS - 1)  # what both sides must gain at an output for its odds to hold
    missing = float(short.sum())
    constant = float(short @ (mass @ loss))  # of a constant row with those shares, times their sum
    return (float(((joint * loss).sum(axis=1) * scale[:, 0]).sum()) + constant) / (1 + missing)


def below(prices: Any, promises: Any, mass: Any, loss: Any, xp: ModuleType) -> float:
    """What no channel can do better than: the least of the bracket for each input."""
    return float(mass @ (loss + promises.T @ prices).min(axis=1))


if __name__ == "__main__":
    size, backend, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 8_000
    solve(*problem(size), steps=count, xp=import_module(backend))
