"""How long the search for a channel takes, beside what is said before it begins.

Columns of the census that hide something, as `takifugu publish` would, and counts of rows made up. The estimate follows
from the sizes alone: values, secrets, beliefs, the kind of guarantee, and whether confidence is asked for. Both are
processor time on one core, and the ratio is the estimate over the time. Those outside of one half to two are marked;
of what takes under a second nothing is said to anybody, and nothing is marked. Each case runs in a process of its own,
which is ended after a minute.

The powers behind the estimate were fitted to these cases. Of eight others six were within a factor of two, and two at
.47 and .49; searches with confidence were then taken to last an eighth longer, and four fresh cases were at .65, .95,
1.77 and .44 (50 values and 8 secrets: of seven and eight secrets too little is said). There is no peer: solvers say how
far they are, and none how long they will take.
"""

import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import takifugu as tk
from takifugu._work import listening
from takifugu.dependence import Count, MarkovChain
from takifugu.mechanisms import Size
from takifugu.publishing import Asked, calibrated

MOST = 60  # seconds of a case
_SAID = 1.0
_PROMISES = {"odds": {"odds": 3.0}, "order": {"alpha": 2.0, "epsilon": 0.5}}
E, M, W, O, R, S, C = (
    *("education-num", "marital-status", "workclass", "occupation"),
    *("relationship", "sex", "race"),
)


class Case(NamedTuple):
    """What is measured: its name, and the search."""

    name: str
    search: Callable[[], object]


def of_census(columns: tuple[str, ...], secret: str, promise: str, confidence: float | None, **by: object) -> Case:
    """Columns of the census that hide one."""
    beside = f" from who knows {', '.join(by['known'])}" if "known" in by else ""
    sure = "" if confidence is None else f" at {confidence:.0%}"
    of = "odds of 3" if promise == "odds" else "order 2, ε .5"
    asked = Asked(
        secret,
        list(columns),
        **_PROMISES[promise],
        confidence=confidence,
        adversary=tk.Adversary(**by),
    )
    return Case(f"{' × '.join(columns)} hiding {secret}{beside}, {of}{sure}", lambda: calibrated(CENSUS, asked))


def of_counts(values: int, secrets: int, confidence: float | None) -> Case:
    """Counts of two thousand rows for each secret, alike and not the same."""
    rng = np.random.default_rng(0)
    usual = rng.dirichlet(np.full(values, 2.0))
    shares = [0.5 * usual + 0.5 * rng.dirichlet(np.full(values, 5.0)) for _ in range(secrets)]
    laws = {f"s{k}": tk.Finite(range(values), 1 + rng.multinomial(2_000, share)) for k, share in enumerate(shares)}
    sure = "" if confidence is None else f" at {confidence:.0%}"
    return Case(f"counts made up, odds of 1.5{sure}", lambda: tk.calibrate(laws, odds=1.5, confidence=confidence))


def of_chain(times: int) -> Case:
    """The times of a chain, each a belief."""
    beliefs = MarkovChain([[0.8, 0.2], [0.4, 0.6]]).priors(times, Count(1))
    return Case(f"{times} times of a chain, odds of 1.5", lambda: tk.calibrate(beliefs, odds=1.5))


def of_private_counts(columns: tuple[str, ...], secret: str) -> Case:
    """Private counts of the census, and what is calibrated for them."""
    lists = {name: sorted(CENSUS[name].dropna().unique().tolist()) for name in (secret, *columns)}
    asked = Asked(secret, list(columns), odds=20.0, confidence=None, domain=lists, private_fit=1.0)
    return Case(f"{' × '.join(columns)} hiding {secret}, private fit", lambda: calibrated(CENSUS, asked))


CENSUS = tk.datasets.load("adult")
SHAPES = (
    ((E,), C),
    ((E,), W),
    ((E, M), S),
    ((E, M), C),
    ((E, S), M),
    ((O, E), S),
    ((O, E), C),
    ((E, M, C), "income"),
    ((W, E, M), "income"),
    ((W, E, M, C), "income"),
    ((W, E, M, R, "income"), S),
    ((W, E, M, C), R),
    ((W, E, O, S), "income"),
    ((W, E, O, S), C),
    ((W, E, O, S), M),
)


def cases() -> list[Case]:
    """All of them, those of a kind together."""
    found = [
        of_census(columns, secret, promise, confidence)
        for promise in _PROMISES
        for confidence in (None, 0.95)
        for columns, secret in SHAPES
        if promise == "odds" or len(columns) < 3
    ]
    found += [of_census((E,), S, "odds", one, known=("race",)) for one in (None, 0.95)]
    found += [of_counts(values, secrets, None) for values, secrets in ((50, 12), (50, 100), (50, 1_000), (400, 3))]
    found += [of_counts(36, 60, 0.95), of_counts(100, 30, 0.95)]
    found += [of_chain(10), of_chain(100)]
    return [*found, of_private_counts((E,), S), of_private_counts((E, M), S)]


def measured(case: Case) -> dict[str, Any]:
    """The seconds that a search took, and its size."""
    began: list[float] = []

    sizes: list[Size] = []
    of = Size.of

    def look(*asked: object) -> Size:
        sizes.append(of(*asked))
        return sizes[-1]

    with (
        patch.object(Size, "of", look),
        listening(lambda _: None, steps=lambda _: None, expecting=lambda _: began.append(time.process_time())),
    ):
        try:
            case.search()
            ended = "ended"
        except tk.TakifuguError as error:
            ended = f"refused: {error}"[:80]
    seconds = time.process_time() - began[0]
    return {"seconds": seconds, "ended": ended, "size": sizes[-1]}


def apart(case: Case) -> dict[str, Any] | None:
    """The same in a process that is forked for it; None where it takes too long."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST, MOST))
        with os.fdopen(there, "w") as file:
            json.dump(measured(case), file)
        os._exit(0)
    os.close(there)
    with os.fdopen(here) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def _line(case: Case, size: Size, seconds: float, mark: str) -> str:
    beliefs = "" if size.beliefs == 1 else f", {size.beliefs} beliefs"
    how = ", by columns" if size.by_columns else ""
    of = f"{size.values:,} values, {size.secrets} secrets{beliefs}{how}"
    ratio = size.seconds / seconds
    return f"{case.name} ({of}): {size.seconds:.2f} s expected, {seconds:.2f} s, ratio {ratio:.2f}{mark}"


def run(chosen: tuple[int, ...] = ()) -> None:
    """Print the estimate and the time of each case, and how many are within a factor of two."""
    warnings.simplefilter("ignore")
    within = said = 0
    every = cases()
    for number in chosen or range(len(every)):
        case = every[number]
        found = apart(case)
        if found is None:
            print(f"{case.name}: not within {MOST} s", flush=True)
            continue
        seconds, expected = found["seconds"], Size(*found["size"]).seconds
        is_said, ratio = max(seconds, expected) >= _SAID, expected / seconds
        is_within = 0.5 <= ratio <= 2
        within, said = within + (is_said and is_within), said + is_said
        mark = "" if is_within or not is_said else ", outside"
        print(_line(case, Size(*found["size"]), seconds, mark), flush=True)
    print(f"{within} of {said} of a second or more are within a factor of two")


if __name__ == "__main__":
    run(tuple(map(int, sys.argv[1:])))
