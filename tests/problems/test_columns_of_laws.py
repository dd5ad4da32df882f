"""Laws of some columns of a row, against sums by hand."""

import pytest

import takifugu as tk
from takifugu.errors import InputError
from takifugu.problems.problem import Problem, of_columns


@pytest.fixture(scope="module")
def problem():
    table = {
        "secret": ["a"] * 6 + ["b"] * 6,
        "x": [3, 1, 1, 2, 2, 2, 3, 3, 1, 2, 3, 1],
        "y": ["u", "v"] * 6,
        "z": [True, False, False] * 4,
    }
    import pandas as pd

    frame = pd.DataFrame(table)
    return Problem.of(tk.fit_priors(frame, secret="secret", query=tk.Row("x", "y", "z"))), frame


def test_weights_and_counts_are_added_up(problem):
    whole, frame = problem
    for columns in (("x",), ("y",), ("z", "x"), ("x", "y", "z")):
        found = of_columns(whole, columns)
        assert found.answer.columns == columns
        assert found.answer.drawn == columns
        assert found.pairs == whole.pairs
        assert len(found.answer.domain) == len(columns)
        for secret, law in found.beliefs[0].items():
            rows = frame[frame.secret == secret]
            for value, weight in zip(law.values, law.weights, strict=True):
                entries = value if isinstance(value, tuple) else (value,)
                alike = rows
                for name, entry in zip(columns, entries, strict=True):
                    alike = alike[alike[name] == entry]
                assert weight == len(alike)
            counts, pseudo = found.beliefs[0].counted[secret]
            assert counts.tolist() == law.weights.tolist()
            assert pseudo.sum() == pytest.approx(1)
    assert of_columns(whole, ("x",)).beliefs[0]["a"].values == (1, 2, 3)


def test_what_came_before_is_part_of_the_answer(problem):
    whole, _ = problem
    later = of_columns(whole, ("z", "x"), before=("z",))
    assert (later.answer.before, later.answer.drawn) == (("z",), ("x",))
    assert later.answer.words == "a published row of x (after z)"


@pytest.mark.parametrize(
    ("columns", "before", "says"),
    [
        ((), (), "one at least"),
        (("x",), ("x",), "one at least"),
        (("x", "y"), ("y",), "must come first"),
        (("x", "q"), (), "'q' is not among"),
        (("x", "x"), (), "named twice"),
    ],
)
def test_other_columns_are_refused(problem, columns, before, says):
    with pytest.raises(InputError, match=says):
        of_columns(problem[0], columns, before=before)


def test_priors_without_columns_are_refused():
    by_hand = {"a": tk.Finite([1, 2], [1, 2]), "b": tk.Finite([1, 2], [2, 1])}
    with pytest.raises(InputError, match="whole rows alone"):
        of_columns(Problem.of(by_hand), ("x",))
