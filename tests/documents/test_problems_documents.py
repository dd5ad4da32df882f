"""The one JSON form of laws, answers, promises, channels and calibrations: there and back, or a sentence."""

import copy
import json
import math
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu import strict_json as form
from takifugu.channels import channel_from_state
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.channels.gaussian import GaussianNoise
from takifugu.errors import InputError
from takifugu.laws.lattice import Lattice
from takifugu.laws.vector_mixture import law_from_state
from takifugu.problems import nouns as documents
from takifugu.problems.answer import Answer, Choices
from takifugu.problems.problem import Belief, Pairs, Problem
from when_asked import WhenAsked

DAMAGED = some_of(150)


def through_json(content):
    return json.loads(json.dumps(content, allow_nan=False))


FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
WEIGHTS = st.floats(1e-300, 1e300)
SCALARS = st.one_of(st.integers(-(2**52), 2**52), FLOATS, st.sampled_from(["p", "q", "r"]))


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=6, unique=True), st.data())
def test_finite_laws_keep_every_bit(values, data):
    weights = [data.draw(WEIGHTS) for _ in values]
    law = tk.Finite(values, weights)
    assert law_from_state(through_json(law.to_state()), "law", form.Room()) == law


@pytest.mark.parametrize(
    "law",
    [
        tk.Finite(["a", "b"], [0, 3]),
        tk.Finite([True, False], [1, 2]),
        tk.Finite([("a", 1, True), ("b", 2.5, False)], [1, 2]),
        tk.Finite([0.1, -3, 1e-300], [0.1, 0.2, 5e-324]),
        tk.Finite(np.arange(3), np.array([1, 2, 3])),
        tk.Mixture.gaussian(0.1, 3.3),
        tk.Mixture([0.25, 0.75], [-1e149, 2.0], [0.0, 1e-300]),
        tk.Mixture.empirical([1, 1, 2, 5]),
    ],
    ids=repr,
)
def test_every_law_comes_back(law):
    assert law_from_state(through_json(law.to_state()), "law", form.Room()) == law


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"values": [1], "weights": []},
        {"values": [], "weights": []},
        {"values": [1], "weights": [-1]},
        {"values": [1], "weights": [0]},
        {"values": [1, "1"], "weights": [1, 1]},
        {"values": [[1], 2], "weights": [1, 1]},
        {"values": [[]], "weights": [1]},
        {"values": [[[1]]], "weights": [1]},
        {"values": [None], "weights": [1]},
        {"values": [2**60], "weights": [1]},
        {"values": [1], "weights": [True]},
        {"values": [1], "weights": [10**400]},
        {"values": [1], "weights": [1], "more": 1},
        {"weights": [1.0], "means": [0.0], "stds": [-1.0]},
        {"weights": [0.5], "means": [0.0], "stds": [1.0]},
        {"weights": [1.0], "means": [0.0, 1.0], "stds": [1.0]},
    ],
)
def test_what_is_no_law_is_told(content):
    with pytest.raises(InputError, match="law"):
        law_from_state(content, "law", form.Room())


def test_a_file_has_room_for_so_many_numbers():
    with pytest.raises(InputError, match="must have 1 to 2 entries"):
        law_from_state({"values": [1, 2, 3], "weights": [1, 1, 1]}, "law", form.Room(2))


@pytest.mark.parametrize(
    "channel",
    [
        GaussianNoise(0.0),
        GaussianNoise(1 / 3),
        FiniteChannel(("a", "b"), ("a",), [[4], [4]]),
        FiniteChannel(((1, "a"), (2, "b")), ((1, "a"), (2, "b")), [[2**61, 2**61], [0, 2**62]]),
        FiniteChannel.identity([True, False]),
    ],
    ids=repr,
)
def test_every_channel_comes_back(channel):
    assert channel_from_state(through_json(channel.to_state())) == channel


@pytest.mark.parametrize(
    "content",
    [
        None,
        {"kind": "laplace"},
        {"kind": "gaussian", "theta": -1},
        {"kind": "gaussian", "theta": None},
        {"kind": "gaussian", "theta": 1, "seed": 0},
        {"kind": "finite", "inputs": ["a"], "outputs": ["a"], "counts": [[3]]},
        {"kind": "finite", "inputs": ["a"], "outputs": ["a"], "counts": [[4, 0]]},
        {"kind": "finite", "inputs": ["a"], "outputs": ["a", "b"], "counts": [[4]]},
        {"kind": "finite", "inputs": ["a", "b"], "outputs": ["a", "b"], "counts": [[4, 0], [4]]},
        {"kind": "finite", "inputs": ["a", "b"], "outputs": ["a", "b"], "counts": [[4, 0], [1, 1]]},
        {"kind": "finite", "inputs": ["a"], "outputs": ["a"], "counts": [[4.0]]},
        {"kind": "finite", "inputs": ["a"], "outputs": ["a"], "counts": [[-4]]},
        {"kind": "finite", "inputs": ["a", "a"], "outputs": ["a"], "counts": [[4], [4]]},
        {"kind": "finite", "inputs": [], "outputs": ["a"], "counts": []},
        {"kind": "finite", "inputs": ["a"], "outputs": [None], "counts": [[4]]},
    ],
)
def test_what_is_no_channel_is_told(content):
    with pytest.raises(InputError):
        channel_from_state(content)


ANSWERS = [
    None,
    Answer("mean", ("cost",), ("s",)),
    Answer("raw", ("x",), ("s",), domain=Lattice(0, 20, 0.5), step=0.5, is_read=True),
    Answer("raw", ("x",), ("s",), known=("sex", "age [30, 45)"), domain=Lattice.logarithmic(1, 100, 0.5), step=0.5),
    Answer("row", ("x", "w"), ("s",), domain=(Choices((1, 2.5), is_read=True), Choices(("A", "B"), other="B"))),
    Answer("row", ("t",), ("s", "u"), domain=(Choices((False, True)),)),
]


def problem(answer, laws=None):
    laws = laws or {"yes": tk.Finite([1, 2], [3, 1]), "no": tk.Finite([1, 2], [1, 1]), 3: tk.Finite([2], [9])}
    counted = {"yes": (np.array([3.0, 1.0]), np.array([0.5, 0.5]))}
    beliefs = (Belief(laws, label="sex = f", counted=counted, rows={"yes": 4}), Belief(laws))
    return Problem(beliefs, Pairs(laws, [("yes", "no"), ("no", 3)]), answer)


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_every_answer_and_problem_comes_back(answer):
    before = problem(answer)
    after = documents.problem_from(through_json(documents.problem_to(before)))
    assert after == before
    assert after.answer == answer
    assert [belief.label for belief in after.beliefs] == ["sex = f", ""]
    counts, pseudo = after.beliefs[0].counted["yes"]
    assert (counts.tolist(), pseudo.tolist()) == ([3, 1], [0.5, 0.5])
    assert list(after.pairs) == list(before.pairs)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": []},
        {"secret": []},
        {"columns": [1]},
        {"query": "Raw!"},
        {"step": -1},
        {"is_read": None},
        {"domain": {"kind": "lattice", "low": 0, "high": 10, "step": 3, "transform": None}},
        {"domain": {"kind": "lattice", "low": 0, "high": 10, "step": 1, "transform": "exp"}},
        {"domain": {"kind": "lattice", "low": 0, "high": 10, "step": 1, "transform": [1]}},
        {"domain": {"kind": "lattice", "low": 0, "high": 10, "step": 1}},
        {"domain": {"kind": "torus"}},
        {"domain": {"kind": "choices", "columns": [{"values": [1, 2], "other": None, "is_read": False}]}},
        {"domain": {"kind": "choices", "columns": [{"values": [1, 1], "other": None, "is_read": False}] * 2}},
        {"domain": {"kind": "choices", "columns": [{"values": [1], "other": 7, "is_read": False}] * 2}},
        {"domain": {"kind": "choices", "columns": [{"values": [[[1]]], "other": None, "is_read": False}] * 2}},
        {"domain": {"kind": "choices", "columns": [{"values": [], "other": None, "is_read": False}] * 2}},
        {"unheard": 1},
    ],
)
def test_an_answer_that_was_changed_is_told(change):
    content = through_json(documents.problem_to(problem(ANSWERS[4])))
    content["answer"] |= change
    with pytest.raises(InputError):
        documents.problem_from(content)


def few_rows(smoothing=None):
    people = pd.DataFrame({"s": ["a", "b"] * 30, "x": [0, 1, 2, 2, 1] * 12, "w": list("ABCB") * 15})
    priors = tk.fit_priors(people, secret="s", query=tk.Row("x", "w", smoothing=smoothing))
    return through_json(documents.problem_to(Problem.of(priors, None)))


@pytest.mark.parametrize("rows", [3.0, 1e9])
def test_pseudo_counts_that_no_law_starts_from_are_told(rows):
    """Beside true laws and counts they would make every draw the same, and evidence of draws empty."""
    content = few_rows()
    documents.problem_from(content)
    held = content["beliefs"][0]["counted"][0]
    held["pseudo"] = [rows / len(held["pseudo"])] * len(held["pseudo"])
    with pytest.raises(InputError, match="counted is not what its laws rest on"):
        documents.problem_from(content)


def test_rows_that_were_added_to_a_law_are_in_it():
    content = few_rows(smoothing=200)
    assert documents.problem_from(content).beliefs[0].counted["a"][1].sum() > 100
    held = content["beliefs"][0]["counted"][0]
    held["pseudo"] = [9.0 * one for one in held["counts"]]
    with pytest.raises(InputError, match="counted is not what its laws rest on"):
        documents.problem_from(content)


def test_on_a_lattice_few_rows_are_added():
    people = pd.DataFrame({"s": ["a", "b"] * 30, "x": [0, 1, 2, 2, 1] * 12})
    priors = tk.fit_priors(people, secret="s", query=tk.Raw("x", bounds=(0, 3), step=1))
    content = through_json(documents.problem_to(Problem.of(priors, None)))
    documents.problem_from(content)
    held = content["beliefs"][0]["counted"][0]
    held["pseudo"] = [1e6 * one for one in held["counts"]]
    with pytest.raises(InputError, match="counted is not what its laws rest on"):
        documents.problem_from(content)


@pytest.mark.parametrize("prior", ["counts", "empirical", "gaussian", "mixture"])
def test_counts_on_a_lattice_are_those_of_the_law_beside_them(prior):
    """With those of another secret beside a law of its own, all draws would say that nothing has to be hidden."""
    people = pd.DataFrame({"s": ["a", "b"] * 60, "x": [0, 1, 1, 4, 2, 3, 1, 4, 0, 4, 2, 2] * 10})
    priors = tk.fit_priors(people, secret="s", query=tk.Raw("x", prior=prior, bounds=(0, 5), step=1))
    content = through_json(documents.problem_to(Problem.of(priors, None)))
    assert documents.problem_from(content).beliefs[0].rows == {"a": 60, "b": 60}
    mine, other = content["beliefs"][0]["counted"]
    content["beliefs"][0]["counted"] = [mine, mine]
    with pytest.raises(InputError, match="counted is not what its laws rest on"):
        documents.problem_from(content)
    content["beliefs"][0]["counted"] = [mine, other | {"pseudo": mine["pseudo"]}]
    with pytest.raises(InputError, match="counted is not what its laws rest on"):
        documents.problem_from(content)


def test_counts_of_cells_on_a_lattice_are_those_of_their_laws():
    people = pd.DataFrame({"s": ["a", "b"] * 30, "x": [0, 1, 2, 2, 1] * 12, "k": list("uvw") * 20})
    priors = tk.fit_priors(people, secret="s", query=tk.Raw("x", bounds=(0, 3), step=1), known=["k"])
    content = through_json(documents.problem_to(Problem.of(priors, None)))
    documents.problem_from(content)
    cell = content["beliefs"][1]
    cell["counted"][0]["counts"] = cell["counted"][0]["counts"][::-1]
    with pytest.raises(InputError, match="counted is not what its laws rest on"):
        documents.problem_from(content)


def test_without_its_pseudo_row_a_law_is_told():
    """Its draws would hold what nobody was seen with for impossible."""
    content = few_rows()
    held = content["beliefs"][0]["counted"][0]
    held["pseudo"] = [1e-3 * one for one in held["pseudo"]]
    with pytest.raises(InputError, match="counted is not what its laws rest on"):
        documents.problem_from(content)


RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "s": ["a", "b"] * 60,
        "x": RNG.integers(0, 5, 120) + [0, 1] * 60,
        "w": list("AAB") * 40,
        "k": list("uuvv") * 30,
    }
)


def of(query, *, known=None, **asked):
    return lambda: tk.calibrate(tk.fit_priors(TABLE, secret="s", query=query, known=known), **asked)


CALIBRATIONS = WhenAsked(
    {
        "exact on a grid": of(tk.Raw("x", bounds=(0, 5), step=1), alpha=2, epsilon=0.5),
        "exact for an adversary who knows more": of(tk.Raw("x"), known=["k"], alpha=2, epsilon=0.5),
        "closed form": of(tk.Mean("x"), alpha=2, epsilon=0.5, mechanism="closed-form"),
        "rows": of(tk.Row("x", "w"), odds=3),
        "rows with confidence": of(tk.Row("x"), alpha=3, epsilon=0.4, odds=2, confidence=0.8),
        "weaker guarantee": lambda: tk.calibrate(
            {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(3, 1)},
            alpha=2,
            epsilon=1,
            mechanism="wasserstein-approx",
            delta=0.1,
        ),
    }
)


@pytest.mark.parametrize("value", [1.4, 1e308, "1"])
@pytest.mark.parametrize("query", [tk.Row("x"), tk.Row("x", "w")])
def test_lists_hold_every_value_of_the_laws(query, value):
    """A value that is not on its list would go into the channel as the nearest one that is."""
    made = of(query, odds=3)()
    content = through_json(made.to_dict())
    assert tk.Calibration.from_dict(content) == made
    values = content["problem"]["answer"]["domain"]["columns"][0]["values"]
    values[values.index(1)] = value
    with pytest.raises(InputError):
        tk.Calibration.from_dict(content)


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_every_calibration_comes_back(name, tmp_path):
    path, calibration = tmp_path / "c.json", CALIBRATIONS[name]
    calibration.save(path)
    assert path.stat().st_mode & 0o077 == 0
    again = tk.Calibration.load(path)
    assert again == calibration
    assert again.meets_budget()
    assert again.evidence == calibration.evidence
    assert [str(f) for f in again.findings] == [str(f) for f in calibration.findings]
    assert again.to_dict().keys() == calibration.to_dict().keys()
    first, second = (through_json(c.to_dict()) for c in (again, calibration))
    for content in (first, second):
        content["problem"].pop("findings")  # their words come back, not the types that made them
    assert first == second


JUNK = [None, True, 0, -1, 0.5, 1e308, 10**30, 10**500, "", "x", [], {}, [[]], {"a": 1}, [1.0], math.pi, "\ud800"]


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


@pytest.mark.parametrize(("which", "name"), list(enumerate(CALIBRATIONS)))
def test_damaged_calibrations_are_refused_in_a_sentence_or_usable(which, name):
    honest = through_json(CALIBRATIONS[name].to_dict())
    spots = [path for path in places(honest) if path]
    rng, told = random.Random(which), []
    for _ in range(DAMAGED):
        content = copy.deepcopy(honest)
        path = rng.choice(spots)
        holder = content
        for key in path[:-1]:
            holder = holder[key]
        if rng.random() < 0.3:
            del holder[path[-1]]
        else:
            holder[path[-1]] = copy.deepcopy(rng.choice(JUNK))
        try:
            tk.Calibration.from_dict(content)
        except InputError as error:
            told.append(str(error))
    assert len(told) > 0.4 * DAMAGED
    assert all(sentence and "\n" not in sentence for sentence in told)


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_figures_for_readers_are_those_of_the_rest(name):
    calibration = CALIBRATIONS[name]
    honest = through_json(calibration.to_dict())
    for key, value in (("error", honest["error"] + 0.01), ("epsilon", 9.0), ("pairs", [["a", "a"]])):
        with pytest.raises(InputError, match=f"'{key}' is not that of the calibration"):
            tk.Calibration.from_dict(honest | {key: value})
    near = honest | {"error": honest["error"] * (1 + 1e-13)}  # another machine adds up in another order
    assert tk.Calibration.from_dict(near) == calibration
