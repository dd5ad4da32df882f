"""What the paper's numbers become when the promise is meant for the population: one column, four kinds of promise.

RAW on each dataset at α = 3: for the sample's own counts, with 95 % confidence, proved by bands, and with confidence
for an adversary who may know a few more columns of the person. Beside them the paper's mechanism and the baseline.
"""

import csv
import hashlib
import io
from dataclasses import asdict, dataclass
from html import escape
from importlib.resources import files
from typing import Any

import takifugu as tk
from takifugu.datasets import about, load, path
from takifugu.paper.cache import Cache, code_digest
from takifugu.paper.settings import ORDER

EPSILONS = (0.5, 1.0, 2.0)
LEVEL = 0.95
_CODE = ("calibration", "mechanisms", "divergences", "laws", "queries", "tables", "paper/becoming.py")
_KNOWN: dict[str, list[Any]] = {
    "adult": ["sex", tk.binned("age", [30, 45, 60])],
    "heart": ["sex", tk.binned("age", [55])],
    "student-mat": ["sex", "school"],
    "student-por": ["sex", "school"],
}
HEADS = ("Dataset", "ε", "GWM", "Paper", "Counts", "Confidence", "Band", "Cells, confidence", "Closest cell")


@dataclass(frozen=True)
class Becoming:
    """The noise of one column at one budget, by what is promised; and the cell closest to the limit."""

    dataset: str
    epsilon: float
    gwm: float
    paper: float
    counts: float
    confidence: float
    band: float
    cells: float
    beliefs: int
    closest: str


def becoming(dataset: str, cache: Cache, epsilons: tuple[float, ...] = EPSILONS) -> list[Becoming]:
    """The rows of one dataset, from the cache or computed now."""
    inputs = {
        "kind": "becoming",
        "data": hashlib.sha256(path(dataset).read_bytes()).hexdigest(),
        "dataset": dataset,
        "known": repr(_KNOWN[dataset]),
        "epsilons": list(epsilons),
        "code": code_digest(*_CODE),
    }
    return [Becoming(**row) for row in cache.get(inputs, lambda: [asdict(row) for row in _computed(dataset, epsilons)])]


def _computed(dataset: str, epsilons: tuple[float, ...]) -> list[Becoming]:
    entry, table = about(dataset), load(dataset)

    def fit(query: Any, **more: Any) -> Any:
        return tk.fit_priors(table, secret=entry.secret, query=query, secrets=entry.pair, **more)

    def noise(priors: Any, mechanism: str = "exact", **more: Any) -> list[float]:
        found = tk.sweep(priors, alpha=[ORDER], epsilon=epsilons, mechanism=mechanism, **more)
        return [float(theta) for theta in found["theta"]]

    counts, cells = fit(tk.Raw(entry.answer)), fit(tk.Raw(entry.answer), known=_KNOWN[dataset])
    known = [tk.calibrate(cells, alpha=ORDER, epsilon=e, confidence=LEVEL) for e in epsilons]
    columns = {
        "gwm": noise(fit(tk.Raw(entry.answer, prior="empirical")), "wasserstein"),
        "paper": noise(fit(tk.Raw(entry.answer, prior="mixture", step=0)), "gmm-transport"),
        "counts": noise(counts),
        "confidence": noise(counts, confidence=LEVEL),
        "band": noise(counts, assurance="band"),
        "cells": [one.theta for one in known],
    }
    return [
        Becoming(
            dataset=dataset,
            epsilon=epsilon,
            beliefs=len(cells),
            closest=one.beliefs[one.place.belief].label or "nothing known",
            **{name: thetas[k] for name, thetas in columns.items()},
        )
        for k, (epsilon, one) in enumerate(zip(epsilons, known, strict=True))
    ]


def cells_of(row: Becoming) -> list[str]:
    """A row for people."""
    figures = (row.gwm, row.paper, row.counts, row.confidence, row.band, row.cells)
    return [row.dataset, f"{row.epsilon:g}", *(f"{x:.2f}" for x in figures), row.closest]


def as_csv(rows: list[Becoming]) -> str:
    """All figures in full."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(Becoming.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


def becoming_page(rows: list[Becoming]) -> str:
    """One page that needs nothing else."""
    style = files("takifugu.paper").joinpath("page.css").read_text(encoding="utf-8")
    head = "".join(f"<th>{escape(name)}</th>" for name in HEADS)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells_of(row)) + "</tr>" for row in rows)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>What the paper’s numbers become</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        "<h1>What the paper’s numbers become</h1>\n"
        "<p>The noise θ for RAW at α = 3. GWM is on the empirical support, <i>paper</i> is Theorem 4.1 with fitted "
        "mixtures. The others are exact: for the counts of the sample; with 95 % confidence for the population, on "
        "Monte Carlo evidence; proved for the population by bands at 95 %; and with confidence for an adversary who "
        "may "
        "know a few more columns of the person. The cell named is the one closest to the limit by its own counts.</p>\n"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>\n'
        "</main>\n</body>\n</html>\n"
    )
