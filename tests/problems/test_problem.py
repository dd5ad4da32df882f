"""Problems: beliefs, pairs, and the places where a loss is measured."""

import copy
import math
import pickle
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.errors import InputError
from takifugu.problems.problem import Belief, Place, Problem, beliefs_from

LAWS = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1), "c": tk.Mixture.gaussian(3, 1)}
FINITE = {"a": tk.Finite([1, 2], [1, 2]), "b": tk.Finite([1, 2], [2, 1])}


def test_every_pair_in_both_directions_under_every_belief():
    problem = Problem.of([LAWS, Belief(LAWS, label="sex = f")], [("a", "b"), ("c", "b")])
    places = list(problem.places())
    assert len(places) == len(set(places)) == problem.size == 8
    names = {(place.belief, *problem.names(place)) for place in places}
    assert names == {(k, *pair) for k in (0, 1) for pair in (("a", "b"), ("b", "a"), ("c", "b"), ("b", "c"))}
    for place in places:
        assert problem.ends(place) == tuple(LAWS[name] for name in problem.names(place))
    assert problem.laws(1) == [LAWS[secret] for secret in problem.pairs.secrets]


def test_places_are_told_in_words():
    one, several = Problem.of(LAWS), Problem.of([LAWS, Belief(LAWS, label="sex = f")])
    first = Place(0, 0, 1)
    assert one.words(first) == "'a' against 'b'"
    assert several.words(first) == "'a' against 'b' under belief 1 of 2"
    assert several.words(Place(1, 0, 1)) == "'a' against 'b' where sex = f"


def test_a_problem_is_taken_as_it_is_or_with_other_pairs():
    problem = Problem.of(LAWS)
    assert Problem.of(problem) is problem
    fewer = Problem.of(problem, [("a", "c")])
    assert list(fewer.pairs) == [("a", "c")]
    assert fewer.beliefs == problem.beliefs
    assert Problem.of(LAWS) == problem
    assert hash(Problem.of(LAWS)) == hash(problem)
    assert problem != fewer


def test_what_laws_rest_on_does_not_make_beliefs_differ():
    plain, told = Belief(LAWS), Belief(LAWS, label="2024", rows={"a": 5}, counted={"a": ((), ())})
    assert plain == told == LAWS
    assert hash(plain) == hash(told)
    assert repr(plain) == repr(LAWS)


@pytest.mark.parametrize(
    ("priors", "says"),
    [
        (None, "must be a mapping"),
        ("ab", "must be a mapping"),
        (LAWS["a"], "must be a mapping"),
        (FINITE["a"], "must be a mapping"),
        ([], "priors is empty"),
        ({}, "priors is empty"),
        ([LAWS, 3], "each belief must be a mapping"),
        ({"a": 1, "b": 2}, "must be a Mixture"),
        ([LAWS, {"a": LAWS["a"], "b": LAWS["b"]}], "same secrets; not in all of them: .'c'"),
        ({"a": LAWS["a"], "b": FINITE["b"]}, "all laws must be of one kind"),
        ([FINITE, {"a": LAWS["a"], "b": LAWS["b"]}], "all laws must be of one kind"),
        ({math.nan: LAWS["a"], 1.0: LAWS["b"]}, "can be named"),
        ({"a": tk.Mixture.gaussian(1e200, 1), "b": LAWS["b"]}, "use a larger unit"),
    ],
)
def test_what_are_no_beliefs_is_told(priors, says):
    with pytest.raises(InputError, match=says):
        beliefs_from(priors)


def _arrays(held):
    """Every array that can be reached from an object, with the name it is reached by."""
    waiting, seen = [("calibration", held)], set()
    while waiting:
        name, one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            yield name, one
        elif isinstance(one, Mapping):
            waiting += [(f"{name}[{key!r}]", part) for key, part in one.items()]
        elif isinstance(one, tuple | list):
            waiting += [(f"{name}[{k}]", part) for k, part in enumerate(one)]
        if type(one).__module__.startswith("takifugu"):
            names = [*getattr(one, "__dict__", ()), *getattr(type(one), "__slots__", ())]
            waiting += [(f"{name}.{key}", getattr(one, key)) for key in names if hasattr(one, key)]


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (tk.Raw("x", bounds=(0, 6), step=1), {"alpha": 3, "epsilon": 1}),
        (tk.Row("x"), {"odds": 3}),
        (tk.Row("x", "z"), {"odds": 3, "options": {"solver": "columns"}}),
    ],
)
def test_nothing_that_a_promise_rests_on_can_be_changed_afterwards(query, asked):
    rng = np.random.default_rng(3)
    secret = rng.choice(["a", "b"], 400)
    table = pd.DataFrame({"s": secret, "x": rng.integers(0, 6, 400) + (secret == "a"), "z": rng.integers(0, 2, 400)})
    priors = tk.fit_priors(table, secret="s", query=query)
    made = tk.calibrate(priors, confidence=0.9, **asked)
    assert made.meets_budget()
    before = {name: array.copy() for name, array in _arrays(made)}
    for counts in priors.counts.values():
        counts *= 1000  # as if the population were known, once the evidence is there
    for again in (made, copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again.meets_budget()
        held = {
            name: array for name, array in _arrays(again) if ".optimality" not in name and ".histograms" not in name
        }
        assert [name for name, array in held.items() if array.flags.writeable] == []
        assert all(np.array_equal(array, before[name]) for name, array in held.items() if name in before)
