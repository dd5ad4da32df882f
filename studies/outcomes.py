"""What samples of known truths led to, gathered, told as a table and drawn: for noise and for channels alike."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

Task = TypeVar("Task")

_STYLES: dict[str, dict[str, Any]] = {
    "plug-in": {"color": "#666666", "linestyle": (0, (1, 1.4)), "marker": "^", "markerfacecolor": "white"},
    "confidence": {"color": "#0072B2", "linestyle": "-", "marker": "o", "markersize": 6},
    "band": {"color": "#D55E00", "linestyle": (0, (4, 1.6)), "marker": "D", "markerfacecolor": "white"},
    "no cells, confidence": {"color": "#009E73", "linestyle": (0, (6, 1.4, 1.4, 1.4)), "marker": "v"},
}


@dataclass(frozen=True)
class Outcome:
    """What one sample led to: the cost of each method (noise or error), and whether the truth is beyond the guarantee.

    `budget` is the ε or the odds that were guaranteed.
    """

    truth: str
    budget: float
    cost: dict[str, float]
    above: dict[str, bool]


def shares(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], tuple[int, int, float]]:
    """Per truth and method: samples beyond the guarantee, samples, and the median cost."""
    table: dict[tuple[str, str], list[tuple[bool, float]]] = {}
    for one in outcomes:
        for method, cost in one.cost.items():
            for truth in (one.truth, "all"):
                table.setdefault((truth, method), []).append((one.above[method], cost))
    return {
        key: (sum(above for above, _ in seen), len(seen), float(np.median([cost for _, cost in seen])))
        for key, seen in table.items()
    }


def gathered(job: Callable[[Task], Outcome], tasks: Sequence[Task], *, workers: int) -> list[Outcome]:
    """The outcome of every task, by so many processes."""
    if workers == 1:
        return [job(task) for task in tasks]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(job, tasks, chunksize=4))


def tell_shares(outcomes: Iterable[Outcome], say: Callable[[str], None], *, cost: str) -> None:
    """How often each truth was beyond the guarantee, and what each method cost; all truths together last."""
    say(f"{'truth':18}{'method':24}{'beyond':>8}{'samples':>9}{'share':>8}{f'median {cost}':>14}")
    for (truth, method), (above, count, middle) in sorted(
        shares(outcomes).items(), key=lambda item: item[0][0] == "all"
    ):
        say(f"{truth:18}{method:24}{above:>8}{count:>9}{100 * above / count:>7.1f}%{middle:>14.4g}")


def draw_shares(outcomes: Sequence[Outcome], path: Path, *, cost: str, budget: str) -> None:
    """Against the budget: what each method costs in the middle, and how often the population is beyond it."""
    from takifugu.paper.figures import canvas, look

    budgets = sorted({one.budget for one in outcomes})
    with look():
        figure, axes = canvas(2, 1, width=3.6, height=1.9)  # one above the other: a phone shows both
        for method in outcomes[0].cost:
            here = [shares(one for one in outcomes if one.budget == b)["all", method] for b in budgets]
            axes[0, 0].plot(budgets, [middle for _, _, middle in here], label=method, **_STYLES[method])
            axes[1, 0].plot(budgets, [100 * above / count for above, count, _ in here], **_STYLES[method])
        axes[0, 0].set_ylabel(f"median {cost}")
        axes[1, 0].set_ylabel("beyond the guarantee, %")
        axes[1, 0].set_xlabel(budget)
        for axis in axes.flat:
            axis.set_xscale("log")
            axis.set_xticks(budgets, [f"{b:g}" for b in budgets])
            axis.minorticks_off()
            axis.set_ylim(bottom=-0.06 * axis.get_ylim()[1])  # so that lines at zero are seen above the frame
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figure.savefig(path, dpi=200, metadata={"Software": None} if path.suffix == ".png" else None)


def arguments(about: str) -> argparse.ArgumentParser:
    """What the command lines of both studies take."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--cells", type=int, choices=(8, 50))
    parser.add_argument("--interaction", type=float, default=0.5, help="how far a cell moves each secret on its own")
    parser.add_argument("--first", type=int, default=0, help="the number, and the seed, of the first sample")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--picture", type=Path, help="draw cost and share against the budget into this .png or .svg")
    return parser
