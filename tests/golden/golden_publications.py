"""Publications with fixed seeds, from dataframes and from files: the table, the summary, and what is said of it."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import takifugu as tk

from .asked import codes, of_calibration, or_refusal
from .golden_releases import SEED, folder, of_account, of_table, people, pupils
from .harness import Family, Seen

PUBLICATIONS = Family("publications")

SCHOOL = {"secret": "schoolsup", "confidence": 0.8}
RACES = [("White", "Black"), ("White", "Asian-Pac-Islander"), ("Black", "Asian-Pac-Islander")]
CENSUS = {"secret": "race", "pairs": RACES, "confidence": 0.8}
DROPPED = {"reading": tk.Reading(leave_out="others")}


@cache
def clinic() -> pd.DataFrame:
    """A table made up with a fixed seed: numbers, labels, holes, and a column that goes with the secret."""
    rng = np.random.default_rng(7)
    ill = rng.random(900) < 0.4
    return pd.DataFrame(
        {
            "diagnosis": np.where(ill, "flu", "none"),
            "stay": rng.integers(1, 6, 900) + ill,
            "ward": np.where(rng.random(900) < np.where(ill, 0.6, 0.45), "A", "B"),
            "age": rng.integers(18, 90, 900),
            "sex": np.where(rng.random(900) < 0.5, "f", "m"),
        }
    )


def of_published(made: Any) -> Seen:
    """All that comes back: the table, the figures of the summary, the calibration, and the public paper's keys."""
    summary = made.summary
    figures, words = of_calibration(made.calibration)
    columns = {
        one.name: {
            name: getattr(one, name)
            for name in ("share_changed", "histogram_shift", "error", "spread", "correlation", "mean_shift")
        }
        for one in summary.columns
    }
    between = [summary.adversary.before_between, summary.adversary.after_between]
    names = ("rows_changed", "gone", "worst_odds", "guess_before", "guess_after")
    return {
        "table": of_table(made.table),
        "summary": {"columns": columns, **{name: getattr(summary, name) for name in names}, "between": between},
        "calibration": figures,
        "findings": codes(made.findings),
        "public": sorted(made.certificate.redacted().to_dict()),
        "verified": tk.verify(made.certificate) == made.certificate,
    }, [*summary.sentences, *summary.details, *map(str, made.findings), *words]


def published(table: Callable[[], Any], **options: Any) -> Callable[[], Seen]:
    """A case: a publication of a table in memory."""
    return lambda: or_refusal(lambda: tk.publish(table(), **{"insecure_seed": SEED, **options}), of_published)


def from_file(write: Callable[[Path], Path], *several: dict[str, Any]) -> Callable[[], Seen]:
    """A case: publications of a file one after the other, with one ledger beside it."""

    def run() -> Seen:
        steps, words = [], []
        with folder() as place:
            source = write(place)
            for number, options in enumerate(several):
                figures, said = or_refusal(
                    lambda number=number, options=options: tk.publish(
                        source, ledger=place / "one.ledger", insecure_seed=SEED + number, **options
                    ),
                    of_published,
                )
                account = of_account(tk.Ledger(place / "one.ledger")) if (place / "one.ledger").exists() else None
                steps.append({**figures, "account": account})
                words += [one.replace(str(place), "FOLDER") for one in said]
        return {"steps": steps}, words

    return run


def csv(table: Callable[[], pd.DataFrame], **options: Any) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        table().to_csv(place / "them.csv", index=False, **options)
        return place / "them.csv"

    return write


def parquet(table: Callable[[], pd.DataFrame]) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        table().to_parquet(place / "them.parquet")
        return place / "them.parquet"

    return write


ILL = {"secret": "diagnosis", "confidence": 0.8}
add = PUBLICATIONS.add
add("pupils", published(pupils, columns=["failures"], odds=3, **SCHOOL))
add("pupils, odds 1.3", published(pupils, columns=["failures", "studytime"], odds=1.3, **SCHOOL))
add("pupils, no confidence", published(pupils, columns=["failures"], odds=1.2, **{**SCHOOL, "confidence": None}))
add(
    "pupils, nothing kept",
    published(pupils, columns=["failures"], odds=1.2, utility=tk.Utility(preserve=None), **SCHOOL),
)
add("pupils, a budget", published(pupils, columns=["failures"], alpha=4, epsilon=0.05, **SCHOOL))
add("pupils, best guess", published(pupils, columns=["studytime"], adversary=tk.Adversary(best_guess=0.55), **SCHOOL))
add("pupils, shuffled", published(pupils, columns=["failures"], odds=1.5, order="shuffle", **SCHOOL))
add("pupils, order kept", published(pupils, columns=["failures"], odds=1.5, order="keep", **SCHOOL))
add("clinic", published(clinic, columns=["stay", "ward"], odds=2, **ILL))
add("clinic, sex is known", published(clinic, columns=["stay"], odds=2, adversary=tk.Adversary(known=["sex"]), **ILL))
add("clinic, sex is kept", published(clinic, columns=["stay"], odds=2, keep=["sex"], **ILL))
add("clinic, a list given", published(clinic, columns=["stay"], domain={"stay": [1, 3, 5]}, odds=1.5, **ILL))
add("clinic, ages in bins", published(clinic, columns=[tk.binned("age", [40, 60])], odds=1.5, **ILL))
add("clinic, band", published(clinic, columns=["ward"], odds=3, adversary=tk.Adversary(assurance="band"), **ILL))
add("clinic, a column twice", published(clinic, columns=["stay", "stay"], **ILL))
add("clinic, the secret itself", published(clinic, columns=["diagnosis"], **ILL))
add("clinic, no such column", published(clinic, columns=["stays"], **ILL))
add(
    "clinic, two guarantees", published(clinic, columns=["stay"], odds=2, adversary=tk.Adversary(best_guess=0.6), **ILL)
)
add("census", published(people, columns=["marital-status"], odds=2, **CENSUS, **DROPPED))
add("census, others refused", published(people, columns=["sex"], odds=2, **CENSUS))
once = {"columns": ["stay"], "odds": 2, **ILL}
add("clinic, CSV, once and again", from_file(csv(clinic), once, once))
add("clinic, semicolons", from_file(csv(clinic, sep=";", decimal=","), {**once, "columns": ["ward"]}))
add("clinic, Parquet, once and another column", from_file(parquet(clinic), once, {**once, "columns": ["ward"]}))
