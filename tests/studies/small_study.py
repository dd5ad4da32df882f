"""A study small enough to run again and again: every figure, two budgets, models of twenty rows."""

from dataclasses import replace

import takifugu as tk
from takifugu.datasets import about
from takifugu.paper import study as fits
from takifugu.paper.settings import Plan, query_of

EPSILONS = (0.5, 5.0)


def small_plan(*figures):
    return replace(Plan.of(only=figures, quick=True), epsilons=EPSILONS)


def small_models(monkeypatch):
    """Both kinds of models as Gaussian processes of twenty rows."""

    def query(setting, *, quick):
        if setting.query in ("gp", "bnn"):
            seed = 0 if setting.query == "gp" else 1
            return tk.GP(about(setting.dataset).answer, max_rows=20, restarts=0, seed=seed)
        return query_of(setting, quick=quick)

    monkeypatch.setattr(fits, "query_of", query)
