"""Gaussian vectors against 50 digits: `python -m benchmarks vector_divergence`.

The peer is the formula in mpmath with 50 digits: what is compared is accuracy. Where float64 cannot tell enough digits
the divergence is taken in balls, which is where the time goes.
"""

import sys
import time
from pathlib import Path

import numpy as np

from takifugu.divergences.vectors import _DOUBT, _in_floats, gaussian_vector_divergence

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "divergences"))
CASES = 10_000


def run(cases: int = CASES) -> None:
    from vector_oracle import random_case, truth

    rng = np.random.default_rng(0)
    worst, below, infinite, wrong, in_floats, spent = 0.0, 0.0, 0, 0, 0, 0.0
    for _ in range(cases):
        gap, lead, follow, alpha, noise = random_case(rng)
        start = time.process_time()
        value = gaussian_vector_divergence(gap, lead, follow, alpha=alpha, covariance=noise)
        spent += time.process_time() - start
        in_floats += bool(_in_floats(gap[None], lead[None], follow[None], alpha, noise)[1][0] <= _DOUBT)
        expected = truth(gap, lead, follow, alpha, noise)
        if expected == np.inf or np.isinf(value):
            infinite += 1
            wrong += not (expected == np.inf and np.isinf(value))
            continue
        error = float((value - expected) / expected) if expected else float(value)
        worst, below = max(worst, abs(error)), min(below, error)
    print(
        f"{cases:,} random pairs: largest relative error {worst:.1e}, largest shortfall {-below:.1e}; {infinite:,} "
        f"infinite, {wrong} of them wrongly or missed; {in_floats / cases:.0%} in float64; "
        f"{spent / cases * 1e6:.0f} µs each"
    )
