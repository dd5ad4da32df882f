"""How long the explorer takes to answer one step of a slider, asked over HTTP as the page does.

Seconds of the clock on a machine whose load is printed, and processor time beside them. There is no peer: the mark is
what still feels like following, a tenth of a second for a formula, half a second for an integral or a solver, three
for fifty-nine draws. The limit is the calibration itself, and the other work of the machine.
"""

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from takifugu import datasets

# Seconds; longer does not feel like following.
LIMITS = {"gaussian": 0.1, "mixture": 0.5, "list": 0.5, "list 95 %": 3.0}
STEPS = 15
SLIDERS = {"epsilon": (0.1, 5.0), "alpha": (1.3, 20.0), "odds": (1.3, 20.0)}


def run() -> None:
    """Print the median and the slowest answer by dataset, kind and slider; every step is a value not asked before.

    "gaussian" and "mixture" are noise under these priors; "list" is the best channel under bounded odds.
    """
    command = [sys.executable, "-m", "takifugu", "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            port, token = next(found.groups() for line in process.stdout or () if (found := _ADDRESS.search(line)))
            load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
            print(f"{os.cpu_count()} cores, load {load:.1f}")
            connection = HTTPConnection("127.0.0.1", int(port))
            for name in datasets.names():
                for kind in LIMITS:
                    _measure(connection, token, name, kind, process.pid)
        finally:
            process.send_signal(signal.SIGINT)


_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)")


def _measure(connection: HTTPConnection, token: str, name: str, kind: str, pid: int) -> None:
    about = datasets.about(name)
    listed = kind.startswith("list")
    question = {
        "table": name,
        "secret": about.secret,
        "pair": [str(secret) for secret in about.pair],
        "query": "row" if listed else "raw",
        "columns": [about.answer],
        "prior": "mixture" if listed else kind,
        "promise": "odds" if listed else "renyi",
        "confidence": 0.95 if kind == "list 95 %" else None,
        "mechanism": "exact",
        "alpha": 3.0,
        "epsilon": 1.0,
    }
    first = _timed(connection, token, question)
    for slider in ("odds",) if listed else ("epsilon", "alpha"):
        low, high = SLIDERS[slider]
        steps = [low * (high / low) ** (k / STEPS) for k in range(STEPS)]
        busy = _cpu(pid)
        times = [_timed(connection, token, question | {slider: value}) for value in steps]
        busy = (_cpu(pid) - busy) / STEPS
        middle, worst = statistics.median(times), max(times)
        verdict = "within" if worst <= LIMITS[kind] else "median within" if middle <= LIMITS[kind] else "BEYOND"
        print(
            f"{name:12s} {kind:9s} {slider:8s} median {1e3 * middle:4.0f} ms, slowest {1e3 * worst:4.0f} ms: "
            f"{verdict} {1e3 * LIMITS[kind]:.0f} ms; processor {1e3 * busy:.0f} ms; first, with its fit, "
            f"{1e3 * first:.0f} ms",
            flush=True,
        )


def _cpu(pid: int) -> float:
    """Processor seconds of a process and its workers, which a busy machine does not stretch; NaN where nobody tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        workers = [one for file in Path(f"/proc/{pid}/task").glob("*/children") for one in file.read_text().split()]
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(_cpu(int(one)) for one in workers)


def _timed(connection: HTTPConnection, token: str, question: dict[str, Any]) -> float:
    headers = {
        "Content-Type": "application/json",
        "Origin": f"http://127.0.0.1:{connection.port}",
        "X-Takifugu-Token": token,
    }
    start = time.perf_counter()
    connection.request("POST", "/api/answer", json.dumps(question), headers)
    answer = json.loads(connection.getresponse().read())
    seconds = time.perf_counter() - start
    if "theta" not in answer:
        raise RuntimeError(f"no answer: {answer}")
    return seconds


if __name__ == "__main__":
    run()
