"""Fresh problems like those that data give: the finished channel against Clarabel's optimum, through cvxpy.

`python -m benchmarks.optimal_peers 100 7` (how many, seed): samples of 2 to 5 groups on up to 40 values, α from 1.5 to
8, ε from 0.05 to 3, `keep=None`. What is compared is what a user gets: the channel of `calibrate`, repaired and proved,
and the loss that it states. Where Clarabel gives up, our own proved bound stands in for the optimum.
"""

import math
import sys
import warnings
from typing import Any

import numpy as np

import takifugu as tk
from benchmarks.optimal import with_cvxpy
from takifugu.mechanisms.optimal.program import Program

ALLOWED = 1e-3


def problem(rng: np.random.Generator) -> tuple[dict[str, tk.Finite], dict[str, Any]]:
    """Counts of people per value, for groups whose laws are alike but not the same; numbers, or labels."""
    size, groups = int(rng.integers(4, 41)), int(rng.integers(2, 6))
    numbers = np.sort(rng.choice(np.arange(120), size, replace=False)).astype(float)
    base = rng.dirichlet(np.full(size, rng.choice([0.5, 1.0, 4.0])))
    lean = (numbers - numbers.mean()) / numbers.std()
    is_numeric = rng.random() < 0.7
    values = numbers.tolist() if is_numeric else [f"label {k}" for k in range(size)]
    laws = {}
    for group in range(groups):
        tilted = base * np.exp(rng.normal(0, 0.6) * lean + rng.normal(0, 0.3, size))
        counts = rng.multinomial(int(rng.integers(60, 5000)), tilted / tilted.sum())
        laws[f"group {group}"] = tk.Finite(values, counts.astype(float))
    asked = {
        "alpha": float(np.exp(rng.uniform(math.log(1.5), math.log(8)))),
        "epsilon": float(np.exp(rng.uniform(math.log(0.05), math.log(3)))),
        "preserve": None,
        "utility": tk.Utility(loss=str(rng.choice(["square", "absolute", "change"])) if is_numeric else "change"),
    }
    return laws, asked


def optimum(program: Program) -> float:
    """What Clarabel finds; not a number where it fails."""
    import cvxpy as cp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": what is below our proof is not taken
        try:
            return with_cvxpy(program)
        except cp.error.SolverError:
            return math.nan


def run(count: int = 20, seed: int = 0) -> None:
    """Print each problem that is more than a tenth of the allowance off, then a summary."""
    above, gave_up, free = [], 0, 0
    for k in range(count):
        laws, asked = problem(np.random.default_rng([seed, k]))
        found = tk.calibrate(laws, **asked)
        if found.error == 0:
            free += 1
            continue
        theirs = optimum(found._program)
        if math.isnan(theirs) or theirs < found.lower_bound * (1 - 1e-4):  # below what is proved: not an optimum
            gave_up += 1
            theirs = found.lower_bound
        above.append(found.error / theirs - 1)
        if above[-1] > ALLOWED / 10:
            print(f"{k}: {len(laws)} groups, {found.channel.matrix.shape}, {asked}: {above[-1]:.1e} above", flush=True)
        if (k + 1) % 10 == 0:
            print(f"after {k + 1}: worst {max(above):.1e} above, Clarabel gave up {gave_up} times", flush=True)
    within = sum(one <= ALLOWED for one in above)
    print(
        f"{within} of {len(above)} within 0.1 % of the optimum, worst {max(above):.1e}, median {np.median(above):.1e}; "
        f"{free} needed no change; Clarabel gave up on {gave_up}, where our bound stands in"
    )


if __name__ == "__main__":
    run(*(int(argument) for argument in sys.argv[1:3]))
