"""The rounded Gaussian beside numpy's normal and OpenDP's exact sampler, in one run."""

import time
from collections.abc import Callable

import numpy as np


def seconds_per_value(job: Callable[[], object], count: int, repeats: int = 5) -> float:
    """The best of a few runs, divided by the number of values."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        best = min(best, time.perf_counter() - start)
    return best / count


def run(count: int = 10**6, peer_count: int = 5_000) -> dict[str, float]:
    """Nanoseconds a value for each, and the ratios."""
    import opendp.prelude as dp

    from takifugu.channels.gaussian.normal_table import normal_table
    from takifugu.channels.gaussian.sampler import rounded_gaussian

    dp.enable_features("contrib", "idealized-numerics")
    x = np.random.default_rng(0).normal(size=count) * 50
    floats = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    integers = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    on_floats = dp.m.make_gaussian(*floats, scale=1.3)
    on_integers = dp.m.make_gaussian(*integers, scale=1331.2)
    few, few_integers = x[:peer_count].tolist(), np.rint(x[:peer_count] * 1024).astype(int).tolist()
    rng = np.random.default_rng(1)

    start = time.perf_counter()
    normal_table.cache_clear()
    normal_table()
    table = time.perf_counter() - start
    ours = seconds_per_value(lambda: rounded_gaussian(x, theta=1.3), count)
    naive = seconds_per_value(lambda: x + rng.normal(scale=1.3, size=count), count)
    opendp = seconds_per_value(lambda: on_floats(few), peer_count, repeats=3)
    opendp_integers = seconds_per_value(lambda: on_integers(few_integers), peer_count, repeats=3)
    return {
        "takifugu, ns a value": ours * 1e9,
        "numpy (unsafe), ns a value": naive * 1e9,
        "OpenDP on floats, ns a value": opendp * 1e9,
        "OpenDP on integers, ns a value": opendp_integers * 1e9,
        "times OpenDP's throughput on floats": opendp / ours,
        "times OpenDP's throughput on integers": opendp_integers / ours,
        "times numpy's throughput": naive / ours,
        "building the table, once in a process, seconds": table,
    }


if __name__ == "__main__":
    for name, figure in run().items():
        print(f"{figure:14,.2f}  {name}")
