"""Runs alone, in an environment that has anonymeter and sdmetrics and not Takifugu: CSV files in, a line of JSON each.

    python verdict.py table.csv another.csv

A file has the columns s (a secret), truth, published, and half: someone knows the secrets of half 0 and attacks half
1 by what was published. It is this way round because what is published does not hold the secret itself.
"""

import json
import sys
import warnings
from typing import Any

ATTACKS = 800
SEED = 0


def inference_risk(known: Any, attacked: Any) -> dict[str, float]:
    """Anonymeter's inference attack; its control attacks the same rows with what was published dealt out at random."""
    import numpy as np
    from anonymeter.evaluators import InferenceEvaluator

    np.random.seed(SEED)  # noqa: NPY002 - anonymeter draws its targets from the global generator
    dealt = attacked["published"].sample(frac=1, random_state=SEED).to_numpy()
    judge = InferenceEvaluator(
        ori=attacked[["published", "s"]],
        syn=known[["published", "s"]],
        control=attacked[["published", "s"]].assign(published=dealt),
        aux_cols=["published"],
        secret="s",
        n_attacks=min(ATTACKS, len(attacked)),
    )
    judge.evaluate(n_jobs=1)
    found, risk = judge.results(), judge.risk()
    return {
        "right": float(found.attack_rate.value),
        "right_without": float(found.control_rate.value),
        "risk": float(risk.value),
        "risk_low": float(risk.ci[0]),
        "risk_high": float(risk.ci[1]),
    }


def disclosure(known: Any, attacked: Any, *, is_number: bool) -> dict[str, float]:
    """The disclosure protection of sdmetrics: 1 is a blind guess, less is worse."""
    from sdmetrics.single_table import DisclosureProtection

    found = DisclosureProtection.compute_breakdown(
        attacked[["published", "s"]],
        known[["published", "s"]],
        known_column_names=["published"],
        sensitive_column_names=["s"],
        continuous_column_names=["published"] if is_number else None,
    )
    return {"protection": float(found["score"])}


def quality(table: Any, *, is_number: bool) -> dict[str, float]:
    """How much the published column is shaped like the true one, by sdmetrics: 1 is the same."""
    from sdmetrics.single_column import KSComplement, TVComplement

    measure = KSComplement if is_number else TVComplement
    return {"shape": float(measure.compute(table["truth"], table["published"]))}


def judged(path: str) -> dict[str, float]:
    """All verdicts on one file."""
    import pandas as pd

    table = pd.read_csv(path)
    is_number = table["truth"].dtype.kind in "if"
    known, attacked = (table[table["half"] == half].reset_index(drop=True) for half in (0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that are not ours
        return {
            **inference_risk(known, attacked),
            **disclosure(known, attacked, is_number=is_number),
            **quality(table, is_number=is_number),
        }


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps(judged(path)), flush=True)
