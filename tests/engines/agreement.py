"""What it means that two engines agree."""

from typing import Any

import pandas as pd

import takifugu as tk
from takifugu.queries.priors import Priors

QUERIES = {
    "mixture": ("group", tk.Raw("age", max_components=2)),
    "mixture of money": ("group", tk.Raw("income", max_components=2)),
    "empirical": ("level", tk.Raw("years-in-town", prior="empirical")),
    "gaussian": ("level", tk.Raw("score", prior="gaussian")),
    "mean": ("group", tk.Mean("income")),
    "process": ("group", tk.GP("score", features=["age", "income"], max_rows=80, restarts=0)),
}


def all_priors(table: Any) -> dict[str, Priors]:
    return {name: tk.fit_priors(table, secret=secret, query=query) for name, (secret, query) in QUERIES.items()}


def agree(one: dict[str, Priors], other: dict[str, Priors]) -> None:
    """The same secrets, priors equal to rounding, and the same remarks."""
    for name in QUERIES:
        assert list(one[name]) == list(other[name]), name
        assert one[name].rows == other[name].rows, name
        kinds = [[(f.code, getattr(f, "rows", None)) for f in priors[name].findings] for priors in (one, other)]
        assert kinds[0] == kinds[1], name
        # The process climbs its likelihood from a point that one engine's mean row may round differently.
        tolerance = 1e-6 if name == "process" else 1e-9
        for secret, prior in one[name].items():
            twin = other[name][secret]
            for part in ("weights", "means", "stds"):
                pd.testing.assert_series_equal(
                    pd.Series(getattr(prior, part)),
                    pd.Series(getattr(twin, part)),
                    rtol=tolerance,
                    atol=1e-12,
                    obj=f"{name}, {secret}, {part}",
                )
