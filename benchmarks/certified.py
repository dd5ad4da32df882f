"""The certified enclosure of a divergence beside the float64 divergence of the same pair.

The peer is this package's quadrature in float64, which has twelve digits and no proof. The limit is a call of Python
for each point at which Arb's integration asks for the integrand, and one exponential of balls for each component
there: about a microsecond each. For many pairs at once see `scale`.
"""

import time
from collections.abc import Callable

import numpy as np

from takifugu import Mixture, renyi_divergence
from takifugu.divergences.certified import enclose

SIZES = (1, 5, 16, 40)
ORDERS = (2.0, 2.5, 16.0)
THETA = 2.0


def run() -> None:
    """Print, for each number of components, the time of each and their ratio (medians over pairs and orders)."""
    print("certified divergence, relative width 1e-12: time, and ratio to float64")
    print(f"{'pair':>22} {'float64':>10} {'certified':>10} {'ratio':>7} {'widest':>8}")
    for size in SIZES:
        for name, pair in (("mixture", mixtures(size)), ("empirical", atoms(size))):
            plain, proved, width = measure(*pair)
            print(
                f"{f'{name} {size}×{size}':>22} {plain * 1e3:8.2f}ms {proved * 1e3:8.2f}ms "
                f"{proved / plain:7.1f} {width:8.0e}"
            )


def mixtures(size: int) -> tuple[Mixture, Mixture]:
    rng = np.random.default_rng(size)
    p, q = (
        Mixture(rng.dirichlet(np.ones(size)), rng.normal(0, 2, size), rng.uniform(0.4, 1.2, size)) for _ in range(2)
    )
    return p, q


def atoms(size: int) -> tuple[Mixture, Mixture]:
    rng = np.random.default_rng(size)
    p, q = (Mixture.empirical(np.arange(size) * 0.5 + k, rng.integers(1, 99, size)) for k in range(2))
    return p, q


def measure(p: Mixture, q: Mixture) -> tuple[float, float, float]:
    plain, proved, widths = [], [], []
    for alpha in ORDERS:
        plain.append(best(lambda alpha=alpha: renyi_divergence(p, q, alpha=alpha, theta=THETA)))
        proved.append(best(lambda alpha=alpha: enclose(p, q, alpha=alpha, theta=THETA)))
        found = enclose(p, q, alpha=alpha, theta=THETA)
        widths.append(found.width / found.lower)
    return float(np.median(plain)), float(np.median(proved)), max(widths)


def best(work: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    run()
