"""The rounded Gaussian beside NumPy's normal and OpenDP's exact sampler, at the same granularity, in one run.

OpenDP draws a discrete Gaussian on the multiples of 2^k, one value after another, with exact integers; k is set to our
granularity, a thousandth of θ. NumPy's addition is no peer in safety, only a mark for speed: the low digits of its sums
tell the value. The limit is reading random bits (8 bytes a value) and one look into a table of the normal's quantiles.
"""

import math
import time
from collections.abc import Callable

import numpy as np

THETA = 1.3


def run(count: int = 10**6, peer_count: int = 5_000) -> None:
    """Print nanoseconds a value for each, and the ratios."""
    import opendp.prelude as dp

    from takifugu.channels import default_granularity
    from takifugu.channels.rounded_draws import NORMAL, rounded_gaussian, table_of

    dp.enable_features("contrib")
    k = round(math.log2(default_granularity(THETA)))
    x = np.random.default_rng(0).normal(size=count) * 50
    floats = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=peer_count), dp.l2_distance(T=float)
    integers = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    on_floats = dp.m.make_gaussian(*floats, scale=THETA, k=k)
    on_integers = dp.m.make_gaussian(*integers, scale=THETA * 2.0**-k)
    few, few_integers = x[:peer_count].tolist(), np.rint(x[:peer_count] * 2.0**-k).astype(int).tolist()
    rng = np.random.default_rng(1)

    start = time.perf_counter()
    table_of.cache_clear()
    table_of(NORMAL)
    table = time.perf_counter() - start
    ours = seconds_per_value(lambda: rounded_gaussian(x, theta=THETA), count)
    naive = seconds_per_value(lambda: x + rng.normal(scale=THETA, size=count), count)
    print(f"takifugu {ours * 1e9:.0f} ns a value (and {table:.2f} s once in a process for its table)")
    print(f"NumPy's x + normal, which is not safe to publish: {naive * 1e9:.0f} ns; ratio {naive / ours:.2f}")
    for name, job in (("floats", lambda: on_floats(few)), ("integers", lambda: on_integers(few_integers))):
        theirs = seconds_per_value(job, peer_count, repeats=3)
        print(f"OpenDP on {name}, k = {k}: {theirs * 1e9:,.0f} ns; ratio {theirs / ours:,.0f}")


def seconds_per_value(job: Callable[[], object], count: int, repeats: int = 5) -> float:
    """The best of a few runs, in processor time, divided by the number of values."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        job()
        best = min(best, time.process_time() - start)
    return best / count


if __name__ == "__main__":
    run()
