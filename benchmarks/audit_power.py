"""How often an audit catches each broken release, and how often it alarms on honest ones.

The peers are the honest releases: an audit that caught more by alarming there would be worth nothing. The limit is the
training of the attackers.

`python -m benchmarks.audit_power 200` repeats each 200 times (about half an hour); the tests repeat each a few times.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "audits"))

from broken_releases import BROKEN, HONEST, SORTED, audited, ordered, the_same_people_twice

import takifugu as tk


def study(repetitions: int, only: list[str]) -> None:
    print(f"  {'release':28}{'rows':>7}{'caught':>9}{'bound':>8}{'guess':>8}{'seconds':>9}")
    for make, rows in {**dict.fromkeys(HONEST, 4_000), **BROKEN}.items():
        if only and make.__name__ not in only:
            continue
        begin = time.process_time()
        found = [audited.__wrapped__(make, rows, seed) for seed in range(repetitions)]
        spent = (time.process_time() - begin) / repetitions
        caught = sum(one.contradicted for one in found)
        bound, guess = (
            float(np.median([getattr(one, name) for one in found])) for name in ("lower_bound", "best_guess")
        )
        print(
            f"  {make.__name__:28}{rows:>7,}{caught:>5}/{repetitions:<3}{bound:>8.3f}{guess:>8.3f}{spent:>9.2f}",
            flush=True,
        )


def orders(repetitions: int, only: list[str]) -> None:
    """Files in an order that goes with the value, stated to be random; and the same ones shuffled."""
    print(f"  {'order':28}{'as it was':>12}{'shuffled':>12}")
    for make in SORTED:
        if only and make.__name__ not in only:
            continue
        caught = [sum(ordered(make, seed, keep=keep).contradicted for seed in range(repetitions)) for keep in (1, 0)]
        print(f"  {make.__name__:28}{''.join(f'{one:>8}/{repetitions:<3}' for one in caught)}", flush=True)


def joined(repetitions: int, only: list[str]) -> None:
    """The same people published twice: both tables joined line by line, and each alone."""
    if only and the_same_people_twice.__name__ not in only:
        return
    caught = alone = 0
    for seed in range(repetitions):
        first, second, truth, calibration = the_same_people_twice(seed)
        caught += tk.audit((first, second), truth, calibration, seed=seed).contradicted
        alone += sum(tk.audit(one, truth, calibration, seed=seed).contradicted for one in (first, second))
    print(
        f"  the same people twice: {caught}/{repetitions} joined, {alone}/{2 * repetitions} of each alone", flush=True
    )


def run() -> None:
    study(5, [])
    orders(5, [])
    joined(5, [])


if __name__ == "__main__":
    for part in (study, orders, joined):
        part(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2:])
