"""Draws from a finite channel beside numpy's `Generator.choice`, row by row, as a user would write it.

Numpy's draws come from a fast generator that is not for secrets, and its probabilities are float64; ours come from the
operating system's bits and are exact. Most of our time is the operating system's.
"""

import os
import time
from collections.abc import Callable

import numpy as np

COUNT = 10**6
SHAPES = ((16, 16), (40, 40), (200, 200), (1000, 1000))


def run() -> None:
    """Print nanoseconds a value for each size, the ratio, and how long the look-ups and the proof take."""
    for n, m in SHAPES:
        draws(n, m)
    finding()
    proving()


def draws(n: int, m: int) -> None:
    from takifugu.channels.finite_channel import FiniteChannel, whole_rows
    from takifugu.channels.sampling import InsecureSeededBits

    rng = np.random.default_rng(0)
    channel = FiniteChannel(range(n), range(m), whole_rows(rng.dirichlet(np.full(m, 0.2), n)))
    rows = rng.integers(0, n, COUNT)
    table = best(lambda: FiniteChannel(range(n), range(m), channel.counts).draw(rows[:1]), 1, repeats=2)
    channel.draw(rows[:1])
    ours = best(lambda: channel.draw(rows), COUNT)
    same_bits = best(lambda: channel.draw(rows, InsecureSeededBits(1)), COUNT)
    bits = best(lambda: [os.urandom(4 * 16_384) for _ in range(COUNT // 16_384)], COUNT)
    theirs = best(lambda: by_choice(channel.matrix, rows, rng), COUNT, repeats=2)
    print(
        f"{n}×{m}: {ours:,.0f} ns a value ({1e3 / ours:,.0f} million a second), {bits:,.0f} of them the system's bits; "
        f"choice row by row {theirs:,.0f} ns; {theirs / ours:,.1f} times faster ({theirs / same_bits:,.1f} times with "
        f"numpy's own bits); the table takes {table / 1e6:,.1f} ms, once"
    )


def by_choice(matrix: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One call of `choice` for all the values of each row."""
    drawn = np.empty(len(rows), dtype=np.int64)
    order = np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[order], np.arange(len(matrix) + 1))
    for x, row in enumerate(matrix):
        part = order[ends[x] : ends[x + 1]]
        drawn[part] = rng.choice(len(row), size=len(part), p=row)
    return drawn


def finding() -> None:
    """From values to published values, look-up included."""
    from takifugu.channels.finite_channel import FiniteChannel
    from takifugu.channels.listed import Positions

    rng = np.random.default_rng(1)
    labels = [f"occupation {i}" for i in range(40)]
    pairs = [(age, label) for age in range(25) for label in labels]
    places = rng.integers(0, 40, COUNT)
    texts = np.array(labels, dtype=object)[places]
    columns = [rng.integers(0, 25, COUNT), texts]
    numbers, words = (FiniteChannel.identity(inputs) for inputs in (range(40), labels))
    places_of = Positions(pairs)
    print(
        f"published, look-up included: numbers {best(lambda: numbers.publish(places), COUNT):,.0f} ns a value, texts "
        f"{best(lambda: words.publish(texts), COUNT):,.0f} ns; places of rows of two columns "
        f"{best(lambda: places_of.of_columns(columns), COUNT):,.0f} ns"
    )


def proving() -> None:
    """The exact proof of one channel, as the repair and a certificate ask for it."""
    from takifugu.channels.finite_channel import whole_rows
    from takifugu.mechanisms.optimal.finite_problem import Promise

    rng = np.random.default_rng(2)
    for n, laws in ((40, 5), (200, 2), (30, 20), (1000, 2)):
        counts = whole_rows(0.1 * np.eye(n) + 0.9 * rng.dirichlet(np.full(n, 2.0)))
        pairs = [(i, j) for i in range(laws) for j in range(laws) if i != j]
        promise = Promise(laws=rng.dirichlet(np.full(n, 3.0), laws), pairs=pairs, alpha=3.0, epsilon=1.0)
        seconds = best(lambda: promise.is_kept(counts), 1, repeats=2) / 1e9  # noqa: B023  # called at once
        print(f"proof of {n}×{n} for {len(pairs)} directed pairs: {seconds:,.3f} s")


def best(job: Callable[[], object], count: int, repeats: int = 5) -> float:
    """Nanoseconds of the best of a few runs, divided by the number of values."""
    times = []
    for _ in range(repeats):
        start = time.process_time_ns()  # of this process alone: the machine may be busy with other things
        job()
        times.append(time.process_time_ns() - start)
    return min(times) / count
