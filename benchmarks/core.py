"""Calibrating many pairs at once against what a user would write: a root finder in a loop over pairs."""

import math
import subprocess
import sys
import time

import numpy as np
from scipy.optimize import brentq

from takifugu import Mixture, calibrate
from takifugu.mechanisms.additive.exact import Exact

ALPHA, EPSILON = 3.0, 1.0


def run() -> None:
    """Print the time per directed pair of each way and the ratio."""
    gaussians()
    mixtures()
    memory()
    importing()


def gaussians(count: int = 2_000, sample: int = 2_000) -> None:
    rng = np.random.default_rng(0)
    means, stds = rng.normal(0, 1, count), rng.uniform(0.5, 1.5, count)
    priors = {i: Mixture.gaussian(m, s) for i, (m, s) in enumerate(zip(means, stds, strict=True))}
    calibrate({0: priors[0], 1: priors[1]}, alpha=ALPHA, epsilon=EPSILON)  # imports
    seconds, result = timed(lambda: calibrate(priors, alpha=ALPHA, epsilon=EPSILON))
    pairs = [(int(i), int(j)) for i, j in rng.integers(0, count, (sample, 2)) if i != j]
    loop, _ = timed(lambda: [with_brentq(means[i], stds[i], means[j], stds[j]) for i, j in pairs])
    report(f"{count:,} Gaussian secrets, θ = {result.theta:.4f}", seconds / count**2, "brentq", loop / len(pairs))


def with_brentq(mean_i: float, std_i: float, mean_j: float, std_j: float) -> float:
    """The least variance for one direction, as a careful user would find it with SciPy."""
    gap, a, b = (mean_i - mean_j) ** 2, std_i**2, std_j**2
    edge = max(0.0, (ALPHA - 1) * a - ALPHA * b)

    def excess(z: float) -> float:
        S = z + (1 - ALPHA) * a + ALPHA * b
        logs = math.log(S) - (1 - ALPHA) * math.log(z + a) - ALPHA * math.log(z + b)
        return ALPHA * gap / (2 * S) + logs / (2 * (1 - ALPHA)) - EPSILON

    if edge == 0 and excess(0.0) <= 0:
        return 0.0
    low, high = edge + 1e-12, edge + 1.0
    if excess(low) <= 0:
        return low
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, low, high, xtol=1e-12))


def mixtures(count: int = 300, sample: int = 60) -> None:
    rng = np.random.default_rng(1)
    priors = {
        i: Mixture(rng.dirichlet(np.full(4, 3.0)), rng.normal(0, 1, 4), rng.uniform(0.3, 1, 4)) for i in range(count)
    }
    seconds, result = timed(lambda: calibrate(priors, alpha=ALPHA, epsilon=EPSILON))
    pairs = [(int(i), int(j)) for i, j in rng.integers(0, count, (sample, 2)) if i != j]
    rule = Exact()
    loop, _ = timed(lambda: [rule.least_variance(priors[i], priors[j], alpha=ALPHA, epsilon=EPSILON) for i, j in pairs])
    title = f"{count:,} four-component secrets, θ = {result.theta:.4f}"
    report(title, seconds / count**2, "pair by pair", loop / len(pairs))


def memory(count: int = 20_000) -> None:
    code = (
        "import numpy as np, resource; from takifugu import Mixture, calibrate; rng = np.random.default_rng(0);"
        f"priors = {{i: Mixture.gaussian(*x) for i, x in enumerate(rng.uniform(0.5, 1.5, ({count}, 2)))}};"
        "calibrate(priors, alpha=3, epsilon=1);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peak = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    print(f"{count:,} Gaussian secrets ({count**2:,} directed pairs): {peak / 1024:.0f} MB at the peak")


def importing() -> None:
    def start(code: str) -> float:
        times = []
        for _ in range(5):
            before = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - before)
        return min(times)

    bare, ours, numpy = start("pass"), start("import takifugu"), start("import numpy")
    print(f"import takifugu {ours - bare:.3f} s, of which numpy {numpy - bare:.3f} s")


def timed(work):
    start = time.process_time()  # of this process alone: the machine may be busy with other things
    result = work()
    return time.process_time() - start, result


def report(title: str, ours: float, peer: str, theirs: float) -> None:
    print(
        f"{title}: {ours * 1e9:,.0f} ns a pair; {peer} {theirs * 1e6:,.1f} µs a pair; {theirs / ours:,.0f} times faster"
    )
