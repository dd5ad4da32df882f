"""The best channel: our solver beside cvxpy + Clarabel as a user would write the program, n = 16 to 400.

The peer solves the same convex program with power cones, at its default accuracy; its answer is not repaired or proved,
ours is. With bounded odds for every prior within a radius, of which confidence tries several, it is a linear program,
and the peer is HiGHS with the rows as we would write them for it. The limit of ours is one factorisation for each
output in every step: from 400 to 1,000 values the time grows nearly with the cube of their number.
"""

import math
import time

import numpy as np

from takifugu.mechanisms.optimal.linear_program import linear
from takifugu.mechanisms.optimal.program import Program, allowed_moves
from takifugu.mechanisms.optimal.solving import solve

SIZES = (16, 32, 64, 100, 200, 400)
LARGEST_FOR_CVXPY = 400
LARGE = 1000
WITHIN_A_RADIUS = ((100, 2), (150, 2), (150, 8), (200, 2))  # values and secrets


def run() -> None:
    """Print, for each size, median and worst processor time of both over three problems, and the proven gap."""
    print("best channel, two secrets both ways, α = 3, square loss; processor time, median / worst of three")
    print(f"{'n':>6} {'ours':>17} {'cvxpy + Clarabel':>19} {'ratio':>6} {'our gap':>8} {'costs differ by':>15}")
    for n in (*SIZES, LARGE):
        programs = [problem(n, seed) for seed in range(3 if n <= 200 else 1)]
        ours, theirs, gaps, apart = [], [], [], []
        for program in programs:
            found, seconds = timed(lambda program=program: solve(program))
            ours.append(seconds)
            gaps.append(found.gap)
            if n <= LARGEST_FOR_CVXPY:
                value, seconds = timed(lambda program=program: with_cvxpy(program))
                theirs.append(seconds)
                apart.append(abs(value / found.value - 1.0))
        line = f"{n:>6} {np.median(ours):7.2f} / {max(ours):5.2f} s "
        if theirs:
            line += f"{np.median(theirs):8.2f} / {max(theirs):6.2f} s {np.median(theirs) / np.median(ours):6.1f} "
        else:
            line += f"{'-':>19} {'-':>6} "
        print(line + f"{max(gaps):8.0e} " + (f"{max(apart):15.0e}" if apart else f"{'-':>15}"), flush=True)
    within_a_radius()


def within_a_radius() -> None:
    """Print what one program of a search for confidence takes us, and what it takes HiGHS."""
    print("odds within 3 for every prior within 0.05 of the laws; processor time")
    for n, secrets in WITHIN_A_RADIUS:
        rng = np.random.default_rng(n)
        usual = rng.dirichlet(np.full(n, 0.7))
        laws = 0.6 * usual + 0.4 * rng.dirichlet(np.full(n, 0.7), size=secrets)
        program = Program(
            laws=laws,
            constraints=tuple((i, j) for i in range(secrets) for j in range(secrets) if i != j),
            alpha=math.inf,
            epsilon=math.log(3.0),
            mass=laws.sum(axis=0),
            loss=(np.arange(n)[:, None] - np.arange(n)) ** 2 / n**2,
            radius=np.full(secrets, 0.05),
        )
        found, ours = timed(lambda program=program: solve(program))
        peer, theirs = timed(lambda program=program: linear(program, allowed_moves(program), seconds=600.0))
        line = f"{n:>6} values, {secrets} secrets: {ours:.2f} s, gap {found.gap:.0e}; HiGHS {theirs:.2f} s"
        cheaper = "" if peer is None else f", {1 - program.value(peer.matrix) / found.value:.0e} cheaper, not proved"
        print(line + cheaper + f"; {theirs / ours:.1f} times", flush=True)


def problem(n: int, seed: int) -> Program:
    rng = np.random.default_rng(seed)
    x = np.arange(n, dtype=np.float64)
    laws = np.array([np.exp(-0.5 * ((x - n * at) / (n * 0.15)) ** 2) * rng.uniform(0.7, 1.3, n) for at in (0.4, 0.5)])
    return Program(
        laws=laws,
        constraints=((0, 1), (1, 0)),
        alpha=3.0,
        epsilon=0.2,
        mass=laws.sum(axis=0),
        loss=(x[:, None] - x) ** 2 / n**2,
    )


def with_cvxpy(program: Program) -> float:
    import cvxpy as cp

    n, m = program.size
    channel = cp.Variable((n, m), nonneg=True)
    published = program.shares @ channel
    limits = [cp.sum(channel, axis=1) == 1]
    for i, j in program.constraints:
        parts = cp.Variable(m)
        scaled = published[i] * math.exp(-program.log_budget / program.alpha)
        limits += [cp.PowCone3D(parts, published[j], scaled, np.full(m, 1 / program.alpha)), cp.sum(parts) <= 1]
    task = cp.Problem(cp.Minimize(cp.sum(cp.multiply(program.cost, channel))), limits)
    task.solve(solver=cp.CLARABEL)
    return float(task.value) if task.value is not None else math.nan


def timed(work):
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


if __name__ == "__main__":
    run()
