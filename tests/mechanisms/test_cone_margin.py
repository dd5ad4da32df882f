"""The margin by cones: what it is worth, what it refuses, and that no order of names changes the answer."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from takifugu.errors import CalibrationError
from takifugu.mechanisms import cone_margin, evidence
from takifugu.mechanisms.cone_margin import Cones, has_cones, spreads
from takifugu.mechanisms.draws import drawn_laws
from takifugu.mechanisms.evidence import in_order, put_back
from takifugu.mechanisms.optimal.finite_problem import promise_of, table_of
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.optimal.second_order import Solved
from takifugu.problems import Problem, asked_for

ODDS = asked_for(odds=3)


def _laws(values: int, secrets: int, seed: int = 0, rows: int = 3_000) -> dict[str, tk.Finite]:
    rng = np.random.default_rng(seed)
    usual = rng.dirichlet(np.full(values, 0.7))
    laws = {}
    for k in range(secrets):
        law = 0.6 * usual + 0.4 * rng.dirichlet(np.full(values, 0.7))
        laws["abcdef"[k]] = tk.Finite([f"v{x:02}" for x in range(values)], rng.multinomial(rows // (k + 1), law))
    return laws


def _problem(values: int = 30, secrets: int = 2, seed: int = 0) -> Problem:
    return Problem.of(_laws(values, secrets, seed))


@pytest.mark.parametrize(
    "options",
    [
        {"radius": 0.01},
        {"unbiased": True},
        {"diagonal": 0.1},
        {"local_price": 5.0},
        {"forbidden": (("v00", "v01"),)},
        {"solver": "columns", "keep": "marginal"},
        {"solver": "columns", "caution": 1.0},
    ],
)
def test_it_says_what_it_does_not_know(options):
    problem = _problem()
    assert has_cones(Optimal().settled(problem), problem, ODDS)
    assert not has_cones(Optimal(**options).settled(problem), problem, ODDS)


def test_it_is_for_bounded_odds_of_a_size_that_is_solved_for():
    problem = _problem()
    assert not has_cones(Optimal().settled(problem), problem, asked_for(alpha=3, epsilon=0.5))
    assert not has_cones(Optimal().settled(problem), problem, asked_for(alpha=3, epsilon=0.5, odds=3))
    many = Problem.of({s: tk.Finite(range(1_500), np.full(1_500, 9)) for s in "ab"})
    assert not has_cones(Optimal(keep=None).settled(many), many, ODDS)


def test_spreads_are_the_variances_of_draws():
    problem = _problem(6, 2)
    k = np.array([1.0, 0.0, 0.3, 0.8, 0.1, 0.0])
    d = spreads(problem)
    formula = d @ k**2 - (d @ k) ** 2 / d.sum(axis=1)
    drawn = drawn_laws(problem, 20_000, 5)[0, 1:] @ k
    assert drawn.var(axis=0) == pytest.approx(formula, rel=0.05)


@pytest.mark.parametrize("keep", [None, "marginal"])
def test_more_deviations_cost_more_and_break_less(keep):
    problem = _problem(40)
    rule = Optimal(keep=keep).settled(problem)
    cones, laws = Cones(rule, problem, ODDS), drawn_laws(problem, 200, 1)
    few = cones.at(2.0)
    broken = cones.needed(few.channel.as_list(), laws) > 2.0
    more = cones.at(4.0)
    assert (cones.needed(more.channel.as_list(), laws) > 4.0).sum() < broken.sum()
    assert rule.cost(problem, few.channel) < rule.cost(problem, more.channel)
    for found in (few, more):
        assert promise_of(problem, ODDS).is_kept(found.channel.as_list().as_table().counts)


def _rows(count: int, seed: int = 0, secrets: str = "ab") -> Problem:
    """Combinations of three columns, most of them rare."""
    rng = np.random.default_rng(seed)
    values = sorted({(int(a), "uvwxyz"[b], int(c)) for a, b, c in rng.integers(0, (12, 6, 8), (count, 3))})
    usual = rng.dirichlet(np.full(len(values), 0.3))
    laws = {}
    for k, secret in enumerate(secrets):
        law = 0.7 * usual + 0.3 * rng.dirichlet(np.full(len(values), 0.3))
        laws[secret] = tk.Finite(values, rng.multinomial(9_000 // (k + 1), law))
    return Problem.of(laws)


def test_by_columns_few_outputs_are_enough_and_the_channel_is_proved():
    problem = _rows(500)
    rule = Optimal(solver="columns").settled(problem)
    assert has_cones(rule, problem, ODDS)
    cones, laws = Cones(rule, problem, ODDS), drawn_laws(problem, 200, 1)
    few = cones.at(2.0)
    broken = cones.needed(few.channel.as_list(), laws) > 2.0
    more = cones.at(4.0)
    assert (cones.needed(more.channel.as_list(), laws) > 4.0).sum() < broken.sum()
    assert rule.cost(problem, few.channel) < rule.cost(problem, more.channel)
    for found in (few, more):
        assert found.channel.kind == "sparse"
        assert promise_of(problem, ODDS).is_kept_by(found.channel.as_list())
        assert found.lower_bound is None


def test_by_columns_cones_cost_less_than_caution(monkeypatch):
    problem = _rows(500)
    made = tk.calibrate(problem, odds=3, confidence=0.9, options={"solver": "columns"})
    monkeypatch.setattr(evidence, "has_cones", lambda *_: False)
    before = tk.calibrate(problem, odds=3, confidence=0.9, options={"solver": "columns"})
    assert made.error < 0.9 * before.error
    for one in (made, before):
        assert one.evidence.holds(one.problem, one.channel, one.guarantee)


@pytest.mark.parametrize(("outputs", "is_cautious"), [(60, False), (12, True)])
def test_by_columns_many_secrets_have_the_cheaper_margin_in_any_order(monkeypatch, outputs, is_cautious):
    laws = dict(_rows(80, secrets="abcd").beliefs[0])
    asked = {"odds": 3, "confidence": 0.9, "options": {"solver": "columns"}}
    monkeypatch.setattr(cone_margin, "_MOST_OUTPUTS", outputs)
    made = tk.calibrate(laws, **asked)
    assert (dict(made.options)["caution"] > 0) == is_cautious
    other = tk.calibrate({name: laws[name] for name in "dbca"}, **asked)
    assert other.error == pytest.approx(made.error, rel=1e-6)
    assert made.evidence.holds(made.problem, made.channel, made.guarantee)


def test_by_columns_caution_stands_in_where_no_cone_is_found(monkeypatch):
    monkeypatch.setattr(cone_margin, "with_margin", lambda *_, **__: None)
    made = tk.calibrate(_rows(300), odds=3, confidence=0.9, options={"solver": "columns"})
    assert dict(made.options)["caution"] > 0
    assert made.evidence.holds(made.problem, made.channel, made.guarantee)


def test_by_columns_nonsense_becomes_a_poor_channel_and_never_an_unsafe_one(monkeypatch):
    problem = _rows(300)
    rng = np.random.default_rng(0)

    def wrong(margined: object, *_: object, **__: object) -> Solved:
        size = margined.program.size
        return Solved(rng.dirichlet(np.full(size[1], 0.05), size[0]), 1.0, 0.0, 1, np.ones((2, size[1])))

    monkeypatch.setattr(cone_margin, "with_margin", wrong)
    channel = Cones(Optimal(solver="columns").settled(problem), problem, ODDS).at(3.0).channel.as_list()
    assert promise_of(problem, ODDS).is_kept_by(channel)


def test_by_columns_values_of_a_group_do_the_same_and_the_channel_is_proved_for_each(monkeypatch):
    monkeypatch.setattr(cone_margin, "_MOST_GROUPS", 120)
    problem = _rows(400)
    rule = Optimal(solver="columns").settled(problem)
    cones = Cones(rule, problem, ODDS)
    group, count = cones._group, int(cones._group.max()) + 1
    assert 1 < count <= 120 < len(table_of(problem).values)
    made = cones.at(3.0).channel.as_list()
    assert promise_of(problem, ODDS).is_kept_by(made)
    sources, targets, shares = made.entries
    matrix = np.zeros((len(group), len(made.outputs)))
    matrix[sources, targets] = shares
    for one in range(count):
        rows = matrix[group == one]
        assert rows == pytest.approx(np.broadcast_to(rows[0], rows.shape), abs=1e-5)


def test_a_program_between_groups_is_that_of_channels_that_do_the_same_in_each():
    problem = _rows(300)
    rule, table = Optimal(solver="columns").settled(problem), table_of(problem)
    everything = np.arange(len(table.values))
    outputs = rule.covering(problem, 9)
    group = rule.alike(problem, ODDS, 60)
    whole, less = (rule.program_to(problem, ODDS, outputs, one) for one in (everything, group))
    matrix = np.random.default_rng(0).dirichlet(np.ones(9), size=less.size[0])
    assert less.mass @ (matrix * less.loss).sum(axis=1) == pytest.approx(
        whole.mass @ (matrix[group] * whole.loss).sum(axis=1)
    )
    assert less.laws @ matrix == pytest.approx(whole.laws @ matrix[group])
    spread = spreads(problem)
    together = np.stack([np.bincount(group, weights=law) for law in spread])
    assert together @ matrix**2 == pytest.approx(spread @ matrix[group] ** 2)


def test_as_many_groups_as_values_are_the_values():
    problem = _rows(50)
    rule, size = Optimal(solver="columns").settled(problem), len(table_of(problem).values)
    assert rule.alike(problem, ODDS, size).tolist() == list(range(size))
    assert int(rule.alike(problem, ODDS, size - 1).max()) < size - 1


def test_what_a_draw_needs_is_a_sum_over_it(monkeypatch):
    monkeypatch.setattr(cone_margin, "_LEAST_EVEN", 1.0)
    monkeypatch.setattr(cone_margin, "_MOST_EVEN", 1.0)
    problem = _problem(10)
    rule = Optimal(keep=None).settled(problem)
    cones, laws = Cones(rule, problem, ODDS), drawn_laws(problem, 20, 1)
    channel = cones.at(2.0).channel.as_list()
    matrix, needed = channel.as_table().matrix, np.zeros(21)
    rows = np.array([[seen + extra for seen, extra in zip(*both, strict=True)] for both in _counts(problem)])
    for i, j in ((0, 1), (1, 0)):
        for y in range(10):
            k, variance = matrix[:, y], 0.0
            for law, weight in ((rows[i], 1.0), (rows[j], 9.0)):
                p = law / law.sum()
                variance += weight * (p @ k**2 - (p @ k) ** 2) / (law.sum() + 1)
            if variance > 0:
                over = laws[0, :, i] @ k - 3 * (laws[0, :, j] @ k)
                needed = np.maximum(needed, 2.0 + over / math.sqrt(variance))
    assert cones.needed(channel, laws) == pytest.approx(needed, rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_what_is_spent_unevenly_is_found_again(data):
    size = data.draw(st.integers(1, 6))
    worth = np.array(data.draw(st.lists(st.floats(0, 1e3), min_size=size, max_size=size)))
    saved = cone_margin.savings(worth)
    assert np.isfinite(saved).all()
    factor = data.draw(st.floats(0.5, 9.0))
    spent = cone_margin.uneven(saved, factor)
    assert (spent >= 0.7 * factor * (1 - 1e-12)).all()
    assert (spent <= 1.5 * factor * (1 + 1e-12)).all()
    # The least factor that is enough for all is the one that was spent.
    assert cone_margin.even_of(spent, saved).max() == pytest.approx(factor, rel=1e-6) or (spent <= 0.7 * factor).all()
    more = cone_margin.uneven(saved, factor * 1.01)
    assert (more > spent).all()


def test_deviations_are_spent_where_they_cost_little():
    """Beside a search over how a level is spent on two outputs whose deviations cost 1 and 20."""
    worth = np.array([1.0, 20.0])
    level = math.erfc(3.5 / math.sqrt(2))
    saved = cone_margin.savings(worth)
    tail = np.vectorize(lambda z: math.erfc(z / math.sqrt(2)) / 2)
    grid = np.linspace(3.3, 5.0, 4_000)
    factor = grid[np.argmax([tail(cone_margin.uneven(saved, f)).sum() <= level for f in grid])]
    ours = worth @ cone_margin.uneven(saved, factor)
    rest = level - tail(grid)
    other = np.array([np.interp(-math.log(max(r, 1e-300)), -np.log(tail(grid)), grid) for r in rest])
    best = np.where(rest > tail(5.0), worth[0] * other + worth[1] * grid, math.inf).min()
    even = grid[np.argmax(2 * tail(grid) <= level)] * worth.sum()
    assert ours == pytest.approx(best, rel=3e-3)
    assert ours < even


def test_of_many_values_no_output_is_given_fewer_deviations_than_a_normal_one():
    skew = np.array([-3.0, 0.0, 0.4, 9.0])
    assert cone_margin.bent(skew, 4.0, least=0.6) == pytest.approx([0.6, 1.0, 1.25, 2.5])
    assert cone_margin.bent(skew, 4.0, least=1.0) == pytest.approx([1.0, 1.0, 1.25, 2.5])
    few, many = (Cones(Optimal(keep="marginal").settled(one), one, ODDS) for one in (_problem(64), _problem(65)))
    assert (few._least_bent, many._least_bent) == (0.6, 1.0)


def _counts(problem: Problem) -> list[tuple[np.ndarray, np.ndarray]]:
    from takifugu.mechanisms.draws import posterior

    return [tuple(posterior(problem)[0][secret]) for secret in problem.pairs.secrets]


@pytest.mark.parametrize("keep", [None, "marginal"])
def test_the_answer_is_the_same_in_any_order(keep):
    laws, costs = _laws(70, 3, rows=6_000), []
    rng = np.random.default_rng(3)
    for order in list(permutations(laws))[::2]:
        shuffled = {}
        for secret in order:
            law, where = laws[secret], rng.permutation(70)
            shuffled[secret] = tk.Finite([law.values[k] for k in where], [law.weights[k] for k in where])
        made = tk.calibrate(shuffled, odds=3, confidence=0.9, preserve=keep)
        assert made.evidence.holds(made.problem, made.channel, made.guarantee)
        costs.append((made.error, made.evidence.seed, made.evidence.draws))
    for error, *draws in costs[1:]:
        assert error == pytest.approx(costs[0][0], rel=1e-9)
        assert tuple(draws) == costs[0][1:]


def test_small_tables_have_one_answer_in_any_order_too():
    laws = _laws(7, 2)
    ways = [laws, dict(reversed(list(laws.items())))]
    one, other = (tk.calibrate(way, odds=3, confidence=0.9) for way in ways)
    assert other.error == pytest.approx(one.error, rel=1e-9)
    assert other.lower_bound == pytest.approx(one.lower_bound, rel=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_problem_in_order_is_the_same_problem(data):
    seed = data.draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    names = data.draw(st.permutations(["z", "a", 3, True]))
    values = data.draw(st.permutations(["x", "y", 0.5, 2, False]))
    laws = {s: tk.Finite(values, rng.integers(1, 50, len(values))) for s in names}
    problem = Problem.of(laws, [(names[0], names[1]), (names[3], names[1])])
    ordered = in_order(problem)
    assert in_order(ordered) is ordered
    assert {frozenset(pair) for pair in ordered.pairs} == {frozenset(pair) for pair in problem.pairs}
    for secret in names:
        one, other = problem.beliefs[0][secret], ordered.beliefs[0][secret]
        assert dict(zip(map(repr, one.values), one.weights, strict=True)) == dict(
            zip(map(repr, other.values), other.weights, strict=True)
        )
    # What is drawn for a secret and a value is the same, wherever they stand.
    mine, theirs = drawn_laws(problem, 3, seed), drawn_laws(ordered, 3, seed)
    here, there = ([repr(v) for v in table_of(one).values] for one in (problem, ordered))
    for secret in names:
        a, b = problem.pairs.secrets.index(secret), ordered.pairs.secrets.index(secret)
        for value in here:
            assert (mine[:, :, a, here.index(value)] == theirs[:, :, b, there.index(value)]).all()
    channel = Optimal(keep=None).find(ordered, ODDS).channel.as_list().as_table()
    back = put_back(channel, problem, ordered)
    assert [repr(v) for v in back.inputs] == here
    assert promise_of(problem, ODDS).is_kept(back.counts)


@pytest.mark.parametrize("answer", [None, "nonsense"])
def test_where_no_cone_is_found_a_radius_is_tried(monkeypatch, answer):
    problem = _problem(70)

    def fails(margined: object, *_: object, **__: object) -> Solved | None:
        return None if answer is None else Solved(np.full((70, 70), math.nan), math.nan, math.nan, 1, np.ones((2, 70)))

    monkeypatch.setattr(cone_margin, "with_margin", fails)
    with pytest.raises(CalibrationError, match="no channel was found"):
        Cones(Optimal().settled(problem), problem, ODDS).at(3.0)
    made = tk.calibrate(problem, odds=3, confidence=0.9)
    assert np.any(dict(made.options)["radius"])
    assert made.evidence.holds(made.problem, made.channel, made.guarantee)


def test_a_matrix_of_nonsense_becomes_a_poor_channel_and_never_an_unsafe_one(monkeypatch):
    problem = _problem(70)
    rng = np.random.default_rng(0)

    def wrong(margined: object, *_: object, **__: object) -> Solved:
        return Solved(rng.dirichlet(np.full(70, 0.05), 70), 1.0, 0.0, 1, np.ones((2, 70)))

    monkeypatch.setattr(cone_margin, "with_margin", wrong)
    rule = Optimal(keep="marginal").settled(problem)
    channel = Cones(rule, problem, ODDS).at(3.0).channel.as_list().as_table()
    assert promise_of(problem, ODDS).is_kept(channel.counts)
