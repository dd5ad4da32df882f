"""The two pages on channels in the documentation, written with every number, table and picture in them.

`python -m studies.channel_pages docs` computes both and writes docs/side-by-side.md, docs/usefulness.md and
their pictures in docs/images. What was computed is kept as `takifugu reproduce` keeps it.
"""

import argparse
import sys
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from studies import side_by_side, usefulness
from studies.channel_figures import errors_by_budget, histograms, usefulness_by_budget
from studies.side_by_side import BY_KEY, LINES, Found, reduction
from studies.usefulness import BESIDE, Measure, column_of, ways
from takifugu.atomic import write_text
from takifugu.datasets import about
from takifugu.paper.cache import Cache, default_folder
from takifugu.paper.figures import lay_out, look, require_matplotlib
from takifugu.paper.settings import FULL, HEADLINE, TITLES
from takifugu.paper.study import Tell

PAPER = ("adult", "heart", "student-mat")
SHOWN = 0.5  # the budget of the tables and of the histograms
_PRIORS = {"empirical": "values as counted", "mixture": "fitted mixture", "gaussian": "fitted Gaussian"}
_WAYS = {
    "Gaussian noise": "Gaussian noise",
    "randomized response": "k-ary randomized response",
    "best": "`optimal`, `keep=None`",
    "best, mean kept": '`optimal`, `keep="mean"`',
    "best, histogram kept": '`optimal`, `keep="marginal"`',
}


def side_by_side_page(found: list[Found]) -> str:
    """The page on all mechanisms and the best channel."""
    datasets = tuple(dict.fromkeys(one.dataset for one in found))
    paper = tuple(name for name in PAPER if name in datasets)
    epsilons = sorted({one.epsilon for one in found})
    shown = min(epsilons, key=lambda e: abs(e - SHOWN))
    at = {(one.dataset, one.line): one for one in found if one.epsilon == shown}
    titles = [TITLES[name] for name in datasets]
    heads = ["Mechanism", "Priors"]
    rows = []
    for line in LINES:
        over = reduction(found, line.key, datasets=paper)
        own = (reduction(found, line.key, datasets=(name,)).mean for name in datasets)
        figures = map(_percent, (over.mean, over.inclusive, over.squared, *own))
        rows.append([_name(line.key), _PRIORS[line.prior], *figures])
    errors = [
        [_name(key), _PRIORS[line.prior], *(_number(at[name, key].error) for name in datasets)]
        for key, line in BY_KEY.items()
    ]
    errors.append(["the mean, of everybody", "", *(_number(_spread(name)) for name in datasets)])
    bounds = [["no channel between these values", *(_number(at[name, "optimal"].bound) for name in datasets)]]
    best, kept = (reduction(found, key, datasets=paper) for key in ("optimal", "optimal-kept"))
    return _filled(
        "side-by-side.md",
        budgets=len(epsilons),
        least=f"{epsilons[0]:g}",
        most=f"{epsilons[-1]:g}",
        certified=sum(BY_KEY[one.line].is_channel for one in found),
        paper=", ".join(TITLES[name] for name in paper),
        reductions=_table([*heads, "Mean", "Unchanged as 100 %", "Of the square", *titles], rows),
        best=_percent(best.mean),
        kept=_percent(kept.mean),
        settings=best.settings,
        smallest=_percent(best.least),
        free=best.free,
        shown=f"{shown:g}",
        errors=_table([*heads, *titles], errors),
        bounds=_table(["Off by less", *titles], bounds),
    )


def usefulness_page(found: list[Measure]) -> str:
    """The page on what an analyst still finds."""
    datasets = dict.fromkeys(one.dataset for one in found)
    shown = min({one.epsilon for one in found}, key=lambda e: abs(e - SHOWN))
    tables = []
    for name in datasets:
        column, answer = column_of(name), about(name).answer
        mean, spread = float(column.shares @ column.values), _spread(name)
        rows = [_measured(one) for one in found if (one.dataset, one.epsilon) == (name, shown)]
        rows.append(["the mean, of everybody", _number(spread), "0", "–", "–", "0 %"])
        tables.append(
            f"### {TITLES[name]}: {answer}\n\n{len(column.place):,} rows, mean {mean:.4g}, standard deviation "
            f"{spread:.3g}; the slope is that of {BESIDE[name]} on {answer}.\n\n"
            + _table(["Published by", "A value off by", "Mean", "Quantiles", "Histogram", "Slope"], rows)
        )
    return _filled("usefulness.md", shown=f"{shown:g}", tables="\n\n".join(tables))


def _spread(dataset: str) -> float:
    """How far off the column's mean is, said of everybody."""
    column = column_of(dataset)
    mean = column.shares @ column.values
    return float(np.sqrt(column.shares @ (column.values - mean) ** 2))


def _measured(one: Measure) -> list[str]:
    name = _WAYS[one.way] + (", corrected" if one.corrected else "")
    off = ("" if one.error is None else _number(one.error), _number(one.mean), _number(one.quantiles))
    return [name, *off, _percent(one.histogram), f"{one.slope:.0%}".replace("%", " %")]


def _filled(name: str, **parts: Any) -> str:
    return Template((Path(__file__).parent / name).read_text(encoding="utf-8")).substitute(parts)


def _name(key: str) -> str:
    word, *rest = BY_KEY[key].label.split(" ", 1)
    return f"`{word.rstrip(',')}`" + ("," if word.endswith(",") else "") + (f" {rest[0]}" if rest else "")


def _percent(value: float) -> str:
    return f"{value:.1%}".replace("%", " %").replace("-", "−")


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return "0" if value == 0 else f"{value:.4f}" if value < 0.01 else f"{value:.3f}" if value < 1 else f"{value:.2f}"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(
    folder: Path,
    cache: Cache,
    *,
    epsilons: tuple[float, ...] = FULL,
    budgets: tuple[float, ...] = HEADLINE,
    datasets: tuple[str, ...] = side_by_side.DATASETS,
    most_draws: int = 100,
    tell: Tell = lambda done, total, what: None,
) -> None:
    """Compute both studies and write their pages and pictures."""
    require_matplotlib()
    compared = side_by_side.measured(cache, datasets=datasets, epsilons=epsilons, tell=tell)
    useful = usefulness.measured(cache, datasets=datasets, epsilons=budgets, tell=tell, most_draws=most_draws)
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    columns = [(name, column, ways(column, SHOWN)) for name in datasets for column in [column_of(name)]]
    _save(errors_by_budget(compared, datasets), images / "side-by-side.png")
    _save(histograms(columns), images / "usefulness-histograms.png")
    _save(usefulness_by_budget(useful, datasets), images / "usefulness.png")
    write_text(side_by_side_page(compared), folder / "side-by-side.md")
    write_text(usefulness_page(useful), folder / "usefulness.md")


def _save(figure: Any, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with look():
        figure.set_dpi(180)
        pixels = FigureCanvasAgg(figure)
        lay_out(figure)
        pixels.print_png(path, metadata={"Software": None})


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write the pages on channels in the documentation.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, default=default_folder())
    given = parser.parse_args()

    def tell(done: int, total: int, what: str) -> None:
        print(f"[{done}/{total}] {what}", file=sys.stderr)

    write(given.folder, Cache(given.cache), tell=tell)


if __name__ == "__main__":
    main()
