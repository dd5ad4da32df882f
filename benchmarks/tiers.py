"""What the project's own tests cost: the quick tier for every day, and all of them.

Processor time of pytest and everything it starts and waits for, on as many processes as there are cores. Nobody waits
for Spark's Java, which takes some 80 s more. There is no peer: the figure is for those who work on the package.
"""

import os
import re
import subprocess
import sys
import time


def run() -> None:
    """Print the time of each tier, and how many tests it runs."""
    for name, chosen in (("quick", ["-m", "not slow", "tests"]), ("all", [])):
        before, start = os.times(), time.perf_counter()
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
        print(
            f"{name}: {count:,} tests {verdict}, {seconds:.0f} s of processor time, {time.perf_counter() - start:.0f} s"
        )
        for line in re.findall(r"^(?:FAILED|ERROR) \S+", done.stdout, re.MULTILINE):
            print(line)


if __name__ == "__main__":
    run()
