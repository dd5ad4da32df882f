"""Calibrating many secrets at once, beside what a user would write in a few lines of NumPy and one root finder.

The peers are quick and not careful: they take every pair at one noise after another on arrays, find the root of the
largest loss less ε with SciPy's `brentq`, and trust their grid and their rounding. They agree here because the grid was
chosen for these priors: half as wide it gives 2 % too little noise, twice as wide it overflows. The limit of theirs is
one logarithm (normals) or one multiplication and addition (mixtures, a matrix product) for each pair, point and step;
ours looks at few pairs, since most cannot bind, and spends its time on checking what it found.
"""

import subprocess
import sys
import time

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from takifugu import Mixture, calibrate
from takifugu._validation import Array

ALPHA, EPSILON = 3.0, 1.0


def run() -> None:
    """Print the processor time of each way, and the ratio."""
    calibrate({0: Mixture.gaussian(0, 1), 1: Mixture([0.5, 0.5], [0, 1], [1, 1])}, alpha=ALPHA, epsilon=EPSILON)
    for count in (100, 1_000):
        gaussians(count)
    for count in (30, 300):
        mixtures(count)
    memory()
    importing()


def gaussians(count: int) -> None:
    rng = np.random.default_rng(0)
    means, stds = rng.normal(0, 1, count), rng.uniform(0.5, 1.5, count)
    priors = {i: Mixture.gaussian(m, s) for i, (m, s) in enumerate(zip(means, stds, strict=True))}
    ours, result = timed(lambda: calibrate(priors, alpha=ALPHA, epsilon=EPSILON))
    theirs, theta = timed(lambda: normals_with_numpy(means, stds))
    report(f"{count:,} normal secrets", ours, result.theta, "NumPy and brentq", theirs, theta)


def normals_with_numpy(means: Array, stds: Array) -> float:
    """Every pair by the formula for two normals."""
    gap, a, b = (means[:, None] - means) ** 2, stds[:, None] ** 2, stds[None, :] ** 2

    def excess(z: float) -> float:
        margin = z + (1 - ALPHA) * a + ALPHA * b
        logs = np.log(margin) - (1 - ALPHA) * np.log(z + a) - ALPHA * np.log(z + b)
        return float((ALPHA * gap / (2 * margin) + logs / (2 * (1 - ALPHA))).max()) - EPSILON

    low = max(0.0, float(((ALPHA - 1) * a - ALPHA * b).max())) + 1e-9
    return float(brentq(excess, low, low + 1e3, xtol=1e-12)) ** 0.5


def mixtures(count: int) -> None:
    rng = np.random.default_rng(1)
    laws = [(rng.dirichlet(np.full(4, 3.0)), rng.normal(0, 1, 4), rng.uniform(0.3, 1, 4)) for _ in range(count)]
    priors = {i: Mixture(*law) for i, law in enumerate(laws)}
    ours, result = timed(lambda: calibrate(priors, alpha=ALPHA, epsilon=EPSILON))
    theirs, theta = timed(lambda: mixtures_with_numpy(*(np.array(part) for part in zip(*laws, strict=True))))
    report(f"{count:,} secrets of four bells", ours, result.theta, "NumPy and brentq", theirs, theta)


def mixtures_with_numpy(weights: Array, means: Array, stds: Array) -> float:
    """Every pair on one grid of 2,000 points: the sums over the grid are one product of matrices."""
    x = np.linspace(-30, 30, 2_000)

    def excess(z: float) -> float:
        spread = np.sqrt(stds**2 + z)[..., None]
        bells = -0.5 * ((x - means[..., None]) / spread) ** 2 - np.log(spread * np.sqrt(2 * np.pi))
        logs = logsumexp(bells + np.log(weights)[..., None], axis=1)
        return (
            float(np.log((np.exp(ALPHA * logs) @ np.exp((1 - ALPHA) * logs).T * (x[1] - x[0])).max())) / (ALPHA - 1)
            - EPSILON
        )

    return float(brentq(excess, 1.5, 20.0, xtol=1e-9)) ** 0.5


def memory(count: int = 20_000) -> None:
    # VmHWM and not ru_maxrss, which a child takes over from its parent.
    code = (
        "import numpy as np; from takifugu import Mixture, calibrate; rng = np.random.default_rng(0);"
        f"priors = {{i: Mixture.gaussian(*x) for i, x in enumerate(rng.uniform(0.5, 1.5, ({count}, 2)))}};"
        "calibrate(priors, alpha=3, epsilon=1);"
        "print(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1])"
    )
    peak = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    print(f"{count:,} normal secrets ({count**2:,} directed pairs): {peak / 1024:.0f} MB at the peak")


def importing() -> None:
    """What a program waits for before its first answer."""
    first = "m = takifugu.Mixture.gaussian; takifugu.calibrate({0: m(0, 1), 1: m(1, 2)}, alpha=3, epsilon=1)"
    bare, numpy, ours, answered, scipy = (
        started(code)
        for code in (
            "pass",
            "import numpy",
            "import takifugu",
            f"import takifugu; {first}",
            "import numpy, scipy.optimize, scipy.special",
        )
    )
    print(
        f"import takifugu {ours - bare:.3f} s beside import numpy {numpy - bare:.3f} s; up to the first calibration "
        f"{answered - bare:.3f} s beside importing numpy and SciPy's root finder {scipy - bare:.3f} s"
    )


def started(code: str) -> float:
    """Processor time of a fresh process, the least of five."""
    script = f"import time\n{code}\nprint(time.process_time())"
    return min(
        float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
        for _ in range(5)
    )


def timed(work):
    start = time.process_time()  # of this process alone: the machine may be busy with other things
    result = work()
    return time.process_time() - start, result


def report(title: str, ours: float, theta: float, peer: str, theirs: float, their_theta: float) -> None:
    print(
        f"{title}: {ours * 1e3:,.1f} ms, θ = {theta:.6f}; {peer} {theirs * 1e3:,.1f} ms, θ = {their_theta:.6f}; "
        f"{theirs / ours:,.1f} times"
    )
