"""What a calibration and a release cost as they grow: in values, in secrets, in beliefs and in rows.

![Processor time against the number of values, of secrets, of beliefs and of rows, beside peers that do the same work;
both axes in powers, where a slope is an exponent](images/curve.svg){ width=480 }

Every problem is to bound the odds by 1.5 at the least squared loss. With lists of values the peers are HiGHS and
Clarabel (through cvxpy), given the linear program as one writes it down, a row for every pair and output, with the
shares of the values preserved; ours solves with the rows that can bind, repairs what comes out to whole numbers and
proves it. Where every value is a secret of its own, libqif solves for the same channel. Rows are a release of two
columns of the census from Parquet to Parquet, with a ledger; OpenDP draws randomised response over as many values,
one call a value. The exponent is the slope of the last three sizes. What limits each: in values and secrets the
pivots of the linear program, in beliefs the rows that bind, in rows the two readings of the file and the shuffle.
"""

import math
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import takifugu as tk
from benchmarks.rows import COLUMNS, SECRET, make, opendp
from benchmarks.scale import every_pair_on_a_list
from takifugu.reports.svg import PICTURE_WIDTH, Panel, Picture, Scale, legend, stacked

PICTURE = Path(__file__).parents[1] / "docs/images/curve.svg"
ODDS = 1.5
VALUES, SECRETS, BELIEFS, ROWS = (
    (12, 25, 50, 100, 200, 400, 800),
    (2, 5, 12, 25, 50),
    (1, 4, 16, 64, 256),
    (100_000, 1_000_000, 3_000_000),
)
POINTS, DRAWS = (8, 16, 32, 48), (10_000, 30_000)
LONGEST = 20.0  # seconds: what is likely to take longer, if the time grows with the cube, is not asked

Ways = dict[str, dict[int, float]]  # for each way the seconds of each size


def run(picture: Path = PICTURE) -> None:
    """Print seconds and exponents, and draw them."""
    grow: dict[str, Callable[[], Ways]] = {
        "values (3 secrets)": lambda: grown(VALUES, lambda n: tables(3, n), calibrate, HiGHS=highs, Clarabel=clarabel),
        "values, each a secret of its own": lambda: grown(POINTS, points, calibrate, libqif=libqif),
        "secrets (50 values)": lambda: grown(
            SECRETS, lambda n: tables(n, 50), calibrate, HiGHS=highs, Clarabel=clarabel
        ),
        "beliefs (2 secrets, 50 values)": lambda: grown(BELIEFS, beliefs, calibrate),
        "rows": rows,
    }
    pictures = []
    for name, measure in grow.items():
        print(name)
        ways = measure()
        for way, seconds in ways.items():
            told = ", ".join(f"{size:,}: {one:.3g} s" for size, one in seconds.items())
            print(f"  {way}: {told}; exponent {exponent(seconds):.1f}", flush=True)
        pictures.append(drawn(name, ways, len(pictures)))
    stacked(pictures).save(picture)


def tables(secrets: int, values: int) -> dict[str, tk.Finite]:
    """Counts of two thousand rows for each secret, alike and not the same."""
    rng = np.random.default_rng(0)
    usual = rng.dirichlet(np.full(values, 2.0))
    shares = [0.5 * usual + 0.5 * rng.dirichlet(np.full(values, 5.0)) for _ in range(secrets)]
    return {f"s{k}": tk.Finite(range(values), 1 + rng.multinomial(2_000, share)) for k, share in enumerate(shares)}


def points(values: int) -> dict[str, tk.Finite]:
    """Every value a secret: whoever has the secret has the value."""
    return {f"s{k}": tk.Finite(range(values), np.eye(values)[k]) for k in range(values)}


def beliefs(count: int) -> dict[str, dict[str, tk.Finite]]:
    """One belief, and others a little apart from it."""
    rng, usual = np.random.default_rng(1), tables(2, 50)
    apart = [
        {name: tk.Finite(law.values, law.weights * rng.uniform(0.8, 1.2, 50)) for name, law in usual.items()}
        for _ in range(count - 1)
    ]
    return {"": usual} | {f"other {k}": laws for k, laws in enumerate(apart)}


def calibrate(problem: dict[str, tk.Finite] | dict[str, dict[str, tk.Finite]]) -> None:
    first = next(iter(problem.values()))
    if isinstance(first, tk.Finite):
        tk.calibrate(problem, odds=ODDS, **({"preserve": None} if len(first.values) == len(problem) else {}))
        return
    others = dict(problem)
    tk.calibrate(others.pop(""), odds=ODDS, adversary=tk.Adversary(beliefs=others or None))


def highs(laws: dict[str, tk.Finite]) -> None:
    every_pair_on_a_list(np.array([law.weights for law in laws.values()]), ODDS)


def clarabel(laws: dict[str, tk.Finite]) -> None:
    """The same program through cvxpy."""
    import cvxpy as cp

    weights = np.array([law.weights for law in laws.values()])
    secrets, n = weights.shape
    mass, values = weights.sum(axis=0) / weights.sum(), np.arange(n)
    channel = cp.Variable((n, n), nonneg=True)
    published = (weights / weights.sum(axis=1, keepdims=True)) @ channel
    limits = [cp.sum(channel, axis=1) == 1, mass @ channel == mass]
    limits += [published[i] <= ODDS * published[j] for i in range(secrets) for j in range(secrets) if i != j]
    cost = mass[:, None] * (values[:, None] - values) ** 2
    cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, channel))), limits).solve(solver=cp.CLARABEL)


def libqif(laws: dict[str, tk.Finite]) -> None:
    """The best channel whose rows are within the odds of one another, under even weights."""
    import qif

    n = len(laws)
    apart = math.log(ODDS)
    qif.mechanism.d_privacy.min_loss_given_d(
        qif.probab.uniform(n), n, lambda a, b: 0.0 if a == b else apart, lambda x, y: float((x - y) ** 2)
    )


def grown(sizes: tuple[int, ...], problem: Callable, ours: Callable, **peers: Callable) -> Ways:
    """The seconds of each way at each size, until one takes too long."""
    ways: Ways = {}
    for name, way in {"Takifugu": ours, **peers}.items():
        ways[name] = {}
        way(problem(sizes[0]))  # imports are not counted
        for size in sizes:
            last = max(ways[name], default=size)
            if ways[name].get(last, 0.0) * (size / last) ** 3 > LONGEST:
                break
            made = problem(size)
            start = time.process_time()
            way(made)
            ways[name][size] = time.process_time() - start
    return ways


def rows() -> Ways:
    """Releases of tables of so many rows, and draws of a peer."""
    ways: Ways = {"Takifugu": {}, "OpenDP": {}}
    opendp(1)  # imports are not counted
    for size in ROWS:
        with tempfile.TemporaryDirectory(prefix="takifugu-bench-") as folder:
            source = make(Path(folder), size)[0]
            made = tk.calibrate(tk.fit_priors(source, secret=SECRET, query=tk.Row(*COLUMNS)), odds=ODDS)
            start = time.process_time()
            tk.release_file(source, Path(folder) / "out.parquet", made, ledger=Path(folder) / "l.ledger")
            ways["Takifugu"][size] = time.process_time() - start
    for size in DRAWS:
        start = time.process_time()
        opendp(size)
        ways["OpenDP"][size] = time.process_time() - start
    return ways


def exponent(seconds: Mapping[int, float]) -> float:
    """The slope of the last three sizes."""
    sizes = list(seconds)[-3:]
    if len(sizes) < 2:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log([max(seconds[size], 1e-4) for size in sizes]), 1)[0])


def drawn(name: str, ways: Ways, place: int) -> Picture:
    """One panel: time against size, on scales where a power is a straight line."""
    sizes = [size for seconds in ways.values() for size in seconds]
    times = [max(one, 1e-3) for seconds in ways.values() for one in seconds.values()]
    x = Scale(min(sizes), max(sizes), 56, PICTURE_WIDTH - 14, is_log=True)
    y = Scale(min(times) / 1.5, max(times) * 1.5, 190, 34, is_log=True)
    panel = Panel(x, y)
    panel.axes(x_label=name, y_label="processor seconds")
    labels = []
    for index, (way, seconds) in enumerate(ways.items()):
        panel.curve(np.array(list(seconds)), np.array([max(one, 1e-3) for one in seconds.values()]), index)
        labels.append((index, f"{way} (exponent {exponent(seconds):.1f})"))
    parts, high = legend(labels, 56, 250, PICTURE_WIDTH - 70)
    said = "; ".join(f"{way}: exponent {exponent(seconds):.1f}" for way, seconds in ways.items())
    return Picture(
        f"tk-curve-{place}",
        f"Time against {name}",
        f"{name}: {said}.",
        PICTURE_WIDTH,
        250 + high,
        [*panel.parts, *parts],
    )


if __name__ == "__main__":
    run()
