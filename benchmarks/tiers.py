"""What the project's own tests cost: the quick tier for every day, and all of them.

Processor time of pytest and everything it starts and waits for, on as many processes as there are cores. Nobody waits
for Spark's Java, which takes some 80 s more. There is no peer: the figure is for those who work on the package. The
same tests differ by an eighth from one hour of a shared machine to another, and the same work takes a core longer
while others are busy too, so a fixed loop is timed beside them: alone, and on all cores at once.
"""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np


def run() -> None:
    """Print the time of each tier, and how many tests it runs."""
    for name, chosen in (("quick", ["-m", "not slow", "tests"]), ("all", [])):
        loops, before, start = _fixed_loops(), os.times(), time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile", *chosen],
            capture_output=True,
            text=True,
            check=False,
        )
        after = os.times()
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        count = "".join(re.findall(r"^[.sxFE]+", done.stdout, re.MULTILINE)).count(".")
        verdict = "passed" if done.returncode == 0 else "FAILED"
        waited = time.perf_counter() - start
        print(f"{name}: {count:,} tests {verdict}, {seconds:.0f} s of processor time, {waited:.0f} s")
        for when, (alone, together) in (("before", loops), ("after", _fixed_loops())):
            print(f"  a fixed loop {when}: {alone:.2f} s alone, {together:.2f} s on each of all cores at once")
        for line in re.findall(r"^(?:FAILED|ERROR) \S+", done.stdout, re.MULTILINE):
            print(line)


def _fixed_loops() -> tuple[float, float]:
    """How fast the machine is just now: the processor time of some Python and some NumPy, alone and on every core."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as cores:
        (alone,) = cores.map(_fixed_loop, [0])
        together = list(cores.map(_fixed_loop, range(os.cpu_count() or 1)))
    return alone, max(together)


def _fixed_loop(_: int) -> float:
    values = np.linspace(-5.0, 5.0, 200_000)
    start, total = time.process_time(), 0.0
    for k in range(6_000_000):
        total += k * k % 7
    for _ in range(150):
        total += float(np.exp(values).sum())
    return time.process_time() - start


if __name__ == "__main__":
    run()
