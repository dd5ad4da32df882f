"""How much of a budget a release takes, in integers that only ever round against the one who spends.

Releases of one answer with noise θ₁, θ₂, … tell as much as one release with 1/θ² = Σ 1/θᵢ²
(`proofs/ledger.md`). A budget that allows the noise θ therefore has room while Σ θ²/θᵢ² ≤ 1, and θ²/θᵢ² is
the share that a release takes.
"""

import math

from takifugu.errors import InputError

WHOLE = 2**128  # shares are counted in 2^-128 of the budget, rounded up


def share(theta: float, *, budget: float) -> int:
    """The share of a budget of noise `budget` that a release with noise `theta` takes, rounded up.

    >>> share(2.0, budget=1.0) == WHOLE // 4
    True
    """
    if budget == 0:
        return 0  # nothing needs hiding: the answer itself may be published
    if theta == 0:
        raise InputError("theta is 0: an answer without noise takes more than any budget holds")
    up, down = float(budget).as_integer_ratio()
    own_up, own_down = float(theta).as_integer_ratio()
    numerator, denominator = (up * own_down) ** 2 * WHOLE, (down * own_up) ** 2
    return -(-numerator // denominator)


def least_theta(left: int, *, budget: float) -> float:
    """The least noise whose share fits into what is left; infinite where nothing is.

    >>> least_theta(WHOLE // 4, budget=1.0)
    2.0
    """
    if budget == 0:
        return 0.0
    if left <= 0:
        return math.inf
    theta = budget * math.sqrt(WHOLE / left)
    while not math.isinf(theta) and share(theta, budget=budget) > left:
        theta = math.nextafter(theta, math.inf)
    while share(below := math.nextafter(theta, 0.0), budget=budget) <= left:
        theta = below
    return theta


def effective_theta(spent: int, *, budget: float) -> float:
    """The noise of the one release that would tell as much, rounded down; infinite before the first.

    >>> effective_theta(WHOLE // 4, budget=1.0)
    2.0
    """
    if budget == 0:
        return 0.0
    if spent <= 0:
        return math.inf
    theta = budget * math.sqrt(WHOLE / spent)
    while not math.isinf(theta) and share(theta, budget=budget) < spent:
        theta = math.nextafter(theta, 0.0)
    return theta
