"""Proven gaps over many random problems: `python -m benchmarks.optimal_campaign 0 1000` (first and last seed).

n from 5 to 100, 2 to 6 secrets, α from 1.1 to 64 and ∞, ε from 0.01 to 5; laws of three shapes, three losses.
"""

import math
import sys
import time

import numpy as np

from takifugu.errors import TakifuguError
from takifugu.mechanisms.optimal.program import Program, violation
from takifugu.mechanisms.optimal.solving import solve

ALLOWED = 1e-3


def problem(seed: int) -> Program:
    rng = np.random.default_rng(seed)
    n, secrets = int(rng.integers(5, 101)), int(rng.integers(2, 7))
    values = np.arange(n, dtype=np.float64)
    shape = rng.integers(3)
    if shape == 0:
        laws = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 5.0])), secrets)
    elif shape == 1:
        centres, widths = rng.uniform(0, n, (secrets, 1)), rng.uniform(0.1, 0.5, (secrets, 1)) * n
        laws = np.exp(-0.5 * ((values - centres) / widths) ** 2) + 1e-12
    else:
        laws = rng.multinomial(int(rng.integers(20, 2000)), rng.dirichlet(np.ones(n)), secrets).astype(np.float64)
    losses = ((values[:, None] - values) ** 2, np.abs(values[:, None] - values), 1.0 - np.eye(n))
    return Program(
        laws=laws,
        constraints=tuple((i, j) for i in range(secrets) for j in range(secrets) if i != j),
        mass=(laws / laws.sum(axis=1, keepdims=True)).mean(axis=0),
        loss=losses[rng.integers(3)],
        alpha=math.inf if rng.random() < 0.15 else float(np.exp(rng.uniform(math.log(1.1), math.log(64)))),
        epsilon=float(np.exp(rng.uniform(math.log(0.01), math.log(5)))),
    )


def run(first: int = 0, last: int = 100) -> None:
    """Solve the problems of seeds first to last, print the worst as they come, and a summary."""
    gaps, times, methods, failures = [], [], [], 0
    for seed in range(first, last):
        program = problem(seed)
        start = time.process_time()
        try:
            found = solve(program)
        except TakifuguError as error:
            failures += 1
            print(f"seed {seed}: {error}", flush=True)
            continue
        times.append(time.process_time() - start)
        gaps.append(found.gap)
        methods.append(found.method)
        broken = violation(program, found.matrix)
        if found.gap > ALLOWED / 10 or broken > 0:
            print(
                f"seed {seed}: n {program.size[0]}, {len(program.laws)} secrets, α {program.alpha:.3g}, "
                f"ε {program.epsilon:.3g}: gap {found.gap:.1e}, over by {broken:.0e}, cost {found.value:.3g}",
                flush=True,
            )
    gap, seconds = np.array(gaps), np.array(times)
    print(f"{gap.size} solved, {failures} failed; {', '.join(f'{methods.count(m)} {m}' for m in sorted(set(methods)))}")
    for limit in (1e-3, 1e-4, 1e-5, 1e-6):
        print(f"gap ≤ {limit:.0e}: {np.mean(gap <= limit):.2%}")
    print(
        f"worst gap {gap.max():.1e}; processor time: median {np.median(seconds):.3f} s, mean {seconds.mean():.3f} s, "
    )
    print(f"90 % within {np.quantile(seconds, 0.9):.3f} s, longest {seconds.max():.2f} s")


if __name__ == "__main__":
    run(*(int(argument) for argument in sys.argv[1:3]))
