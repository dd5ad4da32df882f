"""How long the explorer takes to answer one step of a slider, asked over HTTP as the page does."""

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

LIMITS = {"gaussian": 0.1, "mixture": 0.5}  # seconds; longer does not feel like following
STEPS = 15


def run() -> None:
    """Print the median and the slowest answer by dataset, prior and slider; every step is a value not asked before."""
    command = [sys.executable, "-m", "takifugu", "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            port, token = next(found.groups() for line in process.stdout or () if (found := _ADDRESS.search(line)))
            load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
            print(f"{os.cpu_count()} cores, load {load:.1f}")
            connection = HTTPConnection("127.0.0.1", int(port))
            for name in datasets.names():
                for prior in LIMITS:
                    _measure(connection, token, name, prior, process.pid)
        finally:
            process.send_signal(signal.SIGINT)


_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)")


def _measure(connection: HTTPConnection, token: str, name: str, prior: str, pid: int) -> None:
    about = datasets.about(name)
    question = {
        "table": name,
        "secret": about.secret,
        "pair": [str(secret) for secret in about.pair],
        "query": "raw",
        "columns": [about.answer],
        "prior": prior,
        "mechanism": "exact",
        "alpha": 3.0,
        "epsilon": 1.0,
    }
    first = _timed(connection, token, question)
    for slider, low, high in (("epsilon", 0.1, 5.0), ("alpha", 1.3, 20.0)):
        steps = [low * (high / low) ** (k / STEPS) for k in range(STEPS)]
        busy = _cpu(pid)
        times = [_timed(connection, token, question | {slider: value}) for value in steps]
        busy = (_cpu(pid) - busy) / STEPS
        middle, worst = statistics.median(times), max(times)
        verdict = "within" if worst <= LIMITS[prior] else "median within" if middle <= LIMITS[prior] else "BEYOND"
        print(
            f"{name:12s} {prior:9s} {slider:8s} median {1e3 * middle:4.0f} ms, slowest {1e3 * worst:4.0f} ms: "
            f"{verdict} {1e3 * LIMITS[prior]:.0f} ms; processor {1e3 * busy:.0f} ms; first, with its fit, "
            f"{1e3 * first:.0f} ms",
            flush=True,
        )


def _cpu(pid: int) -> float:
    """Processor seconds of a process, which a busy machine does not stretch; not a number where nobody tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
