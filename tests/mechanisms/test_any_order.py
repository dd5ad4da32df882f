"""The answer with confidence is the same for any order of secrets, rows and columns."""

import numpy as np
import pandas as pd
import pytest

import takifugu as tk

CASES = {
    "student, three other columns": (
        "student-mat",
        ["sex", "failures", "famsup"],
        "higher",
        {"odds": 5, "preserve": None},
    ),
    "adult, two columns": ("adult", ["relationship", "sex"], "income", {"odds": 3}),
    "adult, of its races": ("adult", ["sex", "income"], "race", {"odds": 2}),
    "student, two columns": ("student-por", ["failures", "studytime"], "schoolsup", {"odds": 3}),
    "student, grades": ("student-por", ["sex", "G3"], "schoolsup", {"odds": 4}),
    "student, three columns": ("student-por", ["studytime", "failures", "sex"], "schoolsup", {"odds": 3}),
    "student, two secrets": ("student-por", ["studytime", "sex"], ["schoolsup", "school"], {"odds": 5}),
    "student, an order": ("student-mat", ["studytime", "Mjob"], "higher", {"alpha": 3, "epsilon": 0.5}),
    "student, nothing kept": ("student-mat", ["health", "famsup"], "sex", {"odds": 3, "preserve": None}),
    "heart": ("heart", ["thal", "cp"], "sex", {"odds": 3}),
    "heart, three secrets": ("heart", ["sex", "fbs"], "slope", {"odds": 3}),
}


@pytest.mark.parametrize("case", CASES)
def test_no_order_changes_what_is_paid(case):
    data, columns, secret, asked = CASES[case]
    table = tk.datasets.load(data)
    found = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        rows = table.sample(frac=1, random_state=seed) if seed else table
        names = rng.permutation(columns).tolist() if seed else columns
        names = names if seed == 0 or names != columns else columns[::-1]
        by = secret if isinstance(secret, str) or seed == 0 else secret[::-1]
        only = None
        if isinstance(secret, str):
            only = sorted(pd.unique(table[secret].dropna()).tolist(), key=str, reverse=bool(seed))
        priors = tk.fit_priors(rows, secret=by, secrets=only, query=tk.Row(*names), few="allow")
        made = tk.calibrate(priors, confidence=0.9, **asked)
        assert made.evidence.holds(made.problem, made.channel, made.guarantee)
        found.append((made.error, made.evidence.draws, made.evidence.seed))
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_weights_of_columns_go_with_them():
    table, errors = tk.datasets.load("student-por"), []
    for columns in (["failures", "studytime"], ["studytime", "failures"]):
        query = tk.Row(*columns, loss={"failures": 1.0, "studytime": 0.2})
        priors = tk.fit_priors(table, secret="schoolsup", query=query)
        made = tk.calibrate(priors, odds=3, confidence=0.9)
        assert made.evidence.holds(made.problem, made.channel, made.guarantee)
        errors.append(made.error)
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)


def test_moves_that_are_forbidden_go_with_columns():
    table, found = tk.datasets.load("student-por"), []
    for columns in (["failures", "sex"], ["sex", "failures"]):
        one, other = (0, "F"), (2, "M")
        move = (one, other) if columns[0] == "failures" else (one[::-1], other[::-1])
        priors = tk.fit_priors(table, secret="schoolsup", query=tk.Row(*columns))
        made = tk.calibrate(priors, odds=4, confidence=0.9, preserve=None, options={"forbidden": [move]})
        channel = made.channel.as_list().as_table()
        where = [channel.inputs.index(move[0]), channel.outputs.index(move[1])]
        assert channel.counts[where[0], where[1]] == 0
        assert dict(made.options)["forbidden"] == (move,)
        found.append(made.error)
    assert found[0] == pytest.approx(found[1], rel=1e-9)
