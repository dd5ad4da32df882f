"""Finite orders between many values: beside the program of all moves, mpmath, and any multipliers there are."""

import itertools
import json
import math
from dataclasses import replace
from unittest.mock import patch

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.errors import CertificationError, InputError
from takifugu.laws import Finite
from takifugu.mechanisms.optimal import mechanism
from takifugu.mechanisms.optimal.column_generation import Prices
from takifugu.mechanisms.optimal.finite_problem import table_of
from takifugu.mechanisms.optimal.mechanism import Optimal, _cells
from takifugu.mechanisms.optimal.tangent_cuts import FiniteOrder, Touching
from takifugu.problems import Problem, asked_for

ROWS = list(itertools.product(range(4), "pqr"))
ORDERS = st.sampled_from([(2.0, 0.5), (4.0, 1.0), (1.3, 0.4), (20.0, 1.0), (3.0, 1e-3)])
BESIDE = st.sampled_from([None, 2.0, 6.0])
KEEP = st.sampled_from([None, "marginal"])
BY_COLUMNS, BY_PROGRAM = (Optimal(solver=solver, keep=None) for solver in ("columns", "program"))


def problem_of(seed, *, secrets=2, shape=1.0, rows=ROWS, pairs=None):
    rng = np.random.default_rng(seed)
    laws = {s: Finite(rows, rng.dirichlet(np.full(len(rows), shape)) * 50) for s in range(secrets)}
    return Problem.of(laws, pairs)


@st.composite
def problems(draw):
    secrets = draw(st.integers(2, 4))
    pairs = draw(st.sampled_from([None, [(0, 1)], [(0, k) for k in range(1, secrets)]]))
    return problem_of(
        draw(st.integers(0, 10_000)), secrets=secrets, shape=draw(st.sampled_from([0.1, 1.0, 5.0])), pairs=pairs
    )


@settings(max_examples=some_of(25))
@given(problems(), ORDERS, BESIDE, KEEP)
def test_the_cost_is_that_of_the_program_of_all_moves(problem, order, odds, keep):
    asked = asked_for(alpha=order[0], epsilon=order[1], odds=odds)
    found, best = (replace(rule, keep=keep).find(problem, asked) for rule in (BY_COLUMNS, BY_PROGRAM))
    cost, least = (BY_PROGRAM.cost(problem, one.channel) for one in (found, best))
    assert cost <= 1.006 * least + 1e-4  # of the budget, and of the cost, two parts in a thousand are spared
    assert 0.995 * best.lower_bound - 1e-5 <= found.lower_bound <= least * (1 + 1e-9)
    assert found.lower_bound <= cost
    if keep == "marginal":
        mass = table_of(problem).mass / table_of(problem).mass.sum()
        place = [found.channel.inputs.index(value) for value in found.channel.outputs]
        spread = np.zeros(len(mass))
        spread[place] = found.channel.through(mass[None, :])[0]
        assert np.abs(spread - mass).sum() <= 1e-6


def test_a_solver_that_loses_its_way_begins_anew():
    laws = np.random.default_rng(207)
    laws.integers(2, 5), laws.integers(6), laws.integers(3)
    rows = list(itertools.product(range(5), "pqrs"))
    problem = Problem.of({s: Finite(rows, laws.dirichlet(np.full(len(rows), 0.1)) * 100) for s in range(2)})
    found = BY_COLUMNS.find(problem, asked_for(alpha=9.0, epsilon=1.0))
    assert found.lower_bound <= BY_COLUMNS.cost(problem, found.channel) <= 1.005 * found.lower_bound


@settings(max_examples=some_of(40))
@given(
    problems(),
    ORDERS,
    BESIDE,
    KEEP,
    st.integers(0, 1000),
    st.sampled_from([1e-6, 1e-2, 1.0, 1e3, 1e300]),
)
def test_whatever_the_multipliers_the_bound_is_true(problem, order, odds, keep, seed, size):
    asked = asked_for(alpha=order[0], epsilon=order[1], odds=odds)
    table, rng = table_of(problem), np.random.default_rng(seed)
    n, pairs = len(ROWS), len(table.pairs)
    touching = Touching(size * rng.gamma(0.5, size=pairs), np.exp(rng.normal(size=(pairs, n)) * rng.choice([0.1, 9])))
    rule = replace(BY_COLUMNS, keep=keep)
    members = len(mechanism._order_program(rule, problem, asked).members)
    prices = Prices(size * rng.normal(size=(members, n)), size * rng.normal(size=n if keep else 0), touching=touching)
    best = replace(BY_PROGRAM, keep=keep).find(problem, asked)
    assert 0 <= rule.proved_bound(problem, asked, prices) <= BY_PROGRAM.cost(problem, best.channel) * (1 + 1e-9)


def exact_bound(problem, asked, prices, laws):
    """Of weights and ratios alone, in 60 digits and from its statement alone."""
    table = table_of(problem)
    alpha, cells = mp.mpf(asked.alpha), _cells(None, None, problem, None)
    scale = 1 / mp.expm1((alpha - 1) * mp.mpf(asked.epsilon))
    shares = [[mp.mpf(w) / mp.fsum(map(mp.mpf, law)) for w in law] for law in laws]
    whole = [mp.fsum(mp.mpf(law[x]) for law in laws) for x in range(len(ROWS))]
    mass = [one / mp.fsum(whole) for one in whole]
    weights, ratios = prices.touching
    total = -mp.fsum(map(mp.mpf, weights.tolist()))
    for x in range(len(ROWS)):
        found = []
        for y in range(len(ROWS)):
            cost = mass[x] * mp.fsum(
                mp.mpf(float(t[c[x], c[y]])) for c, t in zip(cells.codes, cells.tables, strict=True)
            )
            for (i, j), weight, ratio in zip(table.pairs, weights.tolist(), ratios[:, y].tolist(), strict=True):
                r = mp.mpf(ratio)
                cost += mp.mpf(weight) * scale * alpha * (r ** (alpha - 1) - 1) * shares[i][x]
                cost -= mp.mpf(weight) * scale * (alpha - 1) * (r**alpha - 1) * shares[j][x]
            found.append(cost)
        total += min(found)
    return max(total, mp.mpf(0))


@settings(max_examples=some_of(15))
@given(st.integers(0, 10_000), ORDERS, st.sampled_from([1e-3, 1.0, 30.0]))
def test_rounding_never_raises_the_bound(seed, order, size):
    rng = np.random.default_rng(seed)
    laws = rng.gamma(1.0, size=(3, len(ROWS)))
    problem = Problem.of({s: Finite(ROWS, law) for s, law in enumerate(laws)})
    asked = asked_for(alpha=order[0], epsilon=order[1])
    best = BY_COLUMNS.find(problem, asked).optimality
    weights = best.touching.weights * np.exp(0.01 * size * rng.normal(size=6))
    ratios = best.touching.ratios * np.exp(0.001 * size * rng.normal(size=(6, len(ROWS))))
    prices = replace(best, touching=Touching(weights, ratios))
    claimed = BY_COLUMNS.proved_bound(problem, asked, prices)
    with mp.workdps(60):
        exact = exact_bound(problem, asked, prices, laws.tolist())
    assert claimed <= exact
    assert claimed == pytest.approx(float(exact), rel=1e-9, abs=1e-10)


@settings(max_examples=some_of(60))
@given(ORDERS, st.floats(-6, 6), st.floats(-6, 6), st.floats(-20, 0))
def test_planes_touch_from_below(order, log, at, small):
    laws = FiniteOrder(*order, ((0, 1),))
    q = math.exp(small)
    p, ratio = q * math.exp(log), math.exp(at)
    with mp.workdps(60):
        a, b, alpha = mp.mpf(p), mp.mpf(q), mp.mpf(order[0])
        power = a**alpha * b ** (1 - alpha)
        exact = (power - alpha * a + (alpha - 1) * b) / mp.expm1((alpha - 1) * mp.mpf(order[1]))
        planes = Touching(np.ones(1), np.array([[ratio]])).proved_prices(laws)
        assert mp.fsum(mp.mpf(slope) * one for slope, one in zip(planes[:, 0].tolist(), (a, b), strict=True)) <= exact
        at_its_own = Touching(np.ones(1), np.array([[p / q]])).proved_prices(laws)
        touched = mp.fsum(mp.mpf(slope) * one for slope, one in zip(at_its_own[:, 0].tolist(), (a, b), strict=True))
        size = float(power / mp.expm1((alpha - 1) * mp.mpf(order[1]))) + abs(float(exact))
        assert float(exact - touched) <= 1e-12 * size + 1e-300
        used = laws.used(np.array([[p]]), np.array([[q]]))[0, 0]
        if p / q < 0.999 * laws.steepest:
            assert used == pytest.approx(float(exact), rel=1e-6, abs=1e-9 * q)
        else:
            assert used <= float(exact) * (1 + 1e-9)


@pytest.mark.parametrize("order", [(2.0, 0.5), (1.1, 3.0), (64.0, 1.0), (3.0, 1e-4), (500.0, 1.2)])
def test_the_contrast_is_that_of_a_yes_or_no_at_the_budget(order):
    c = mp.mpf(FiniteOrder(*order, ((0, 1), (1, 0))).contrast)
    alpha = mp.mpf(order[0])
    p, q = mp.exp(c) / (1 + mp.exp(c)), 1 / (1 + mp.exp(c))
    divergence = mp.log(p**alpha * q ** (1 - alpha) + q**alpha * p ** (1 - alpha)) / (alpha - 1)
    assert float(divergence) == pytest.approx(order[1], rel=1e-6)


MANY = list(itertools.product(range(20), range(15)))


@pytest.mark.parametrize(("order", "odds"), [((2.0, 0.5), None), ((4.0, 1.0), 2.0)])
@pytest.mark.parametrize("keep", [None, "marginal"])
def test_levels_lead_to_a_channel_that_is_proved_good(order, odds, keep):
    problem = problem_of(5, rows=MANY, shape=0.5)
    asked = asked_for(alpha=order[0], epsilon=order[1], odds=odds)
    rule = replace(BY_COLUMNS, keep=keep)
    found = rule.find(problem, asked)
    assert rule.is_kept(problem, asked, found.channel)
    assert found.lower_bound <= rule.cost(problem, found.channel) <= 1.005 * found.lower_bound


def test_it_costs_less_than_odds_that_are_let_out_until_the_divergence_is_there():
    problem, asked = problem_of(3, rows=MANY, shape=0.5), asked_for(alpha=2.0, epsilon=0.5)
    found = BY_COLUMNS.find(problem, asked)
    with patch.object(mechanism, "searched_whole", lambda *_, **__: None):
        loosened = BY_COLUMNS.find(problem, asked)
    assert loosened.lower_bound is None
    assert BY_COLUMNS.is_kept(problem, asked, loosened.channel)
    assert BY_COLUMNS.cost(problem, found.channel) < 0.95 * BY_COLUMNS.cost(problem, loosened.channel)


def test_what_is_over_the_budget_is_mixed_with_what_tells_less():
    problem, asked = problem_of(2, shape=0.5), asked_for(alpha=2.0, epsilon=0.3)
    good = BY_COLUMNS.find(problem, asked)
    with patch("takifugu.mechanisms.optimal.tangent_cuts._SPARED", -0.05):
        found = BY_COLUMNS.find(problem, asked)
    assert BY_COLUMNS.is_kept(problem, asked, found.channel)
    assert BY_COLUMNS.cost(problem, good.channel) < BY_COLUMNS.cost(problem, found.channel)
    assert found.lower_bound <= BY_COLUMNS.cost(problem, good.channel)


@pytest.mark.parametrize("epsilon", [1e-13, 1e-7, 1e-4, 20.0, 5_000.0])
def test_budgets_that_floats_cannot_cut_are_kept_all_the_same(epsilon):
    problem, asked = problem_of(1), asked_for(alpha=3.0, epsilon=epsilon)
    found = BY_COLUMNS.find(problem, asked)
    assert BY_COLUMNS.is_kept(problem, asked, found.channel)


@pytest.fixture(scope="module")
def calibration():
    laws = dict(problem_of(4, secrets=3).beliefs[0].items())
    return tk.calibrate(laws, alpha=2, epsilon=0.3, odds=4, preserve="marginal", options={"solver": "columns"})


def test_the_bound_is_certified_from_its_file(calibration, tmp_path):
    tk.certify(calibration).save(tmp_path / "certificate.json")
    text = (tmp_path / "certificate.json").read_text()
    proved = tk.verify(tmp_path / "certificate.json")
    assert proved.lower_bound == calibration.lower_bound > 0.99 * calibration.error
    assert '"ratios"' in text
    with pytest.raises(CertificationError, match="not proved"):
        tk.certify(replace(calibration, lower_bound=calibration.error))


def test_multipliers_of_another_kind_are_refused(calibration):
    proof = json.loads(json.dumps(calibration.optimality.to_json()))
    asked, problem = calibration.guarantee, calibration.problem
    rule = Optimal(**dict(calibration.options))
    assert rule.proved_bound(problem, asked, Prices.from_json(proof)) >= calibration.lower_bound
    for changed in ({"weights": [-1.0] * 6}, {"weights": [1.0]}, {"ratios": [[0.0] * 12] * 6}, {"ratios": [[1.0]]}):
        with pytest.raises(InputError, match=r"weights|ratios"):
            rule.proved_bound(problem, asked, Prices.from_json(proof | changed))
    for missing in ("weights", "ratios"):
        with pytest.raises(InputError, match="hold exactly"):
            Prices.from_json({name: value for name, value in proof.items() if name != missing})
    with pytest.raises(InputError, match="finite order"):
        rule.proved_bound(problem, asked, replace(calibration.optimality, touching=None))
    with pytest.raises(InputError, match="finite order"):
        rule.proved_bound(problem, asked_for(odds=2), calibration.optimality)


def test_the_same_is_found_again():
    problem, asked = problem_of(8, secrets=3), asked_for(alpha=2.0, epsilon=0.5)
    assert BY_COLUMNS.find(problem, asked).channel == BY_COLUMNS.find(problem, asked).channel


@pytest.mark.parametrize("odds", [None, 3.0])
def test_confidence_at_a_finite_order_is_by_deviations_in_hand(odds):
    import pandas as pd

    rng = np.random.default_rng(0)
    secret = rng.choice(["x", "y"], 800)
    a = np.clip(rng.poisson(np.where(secret == "x", 2, 3)), 0, 4)
    priors = tk.fit_priors(
        pd.DataFrame({"s": secret, "a": a, "b": rng.choice(list("pqr"), 800)}), secret="s", query=tk.Row("a", "b")
    )
    asked = {"alpha": 2.0, "epsilon": 0.2} | ({} if odds is None else {"odds": odds})
    found = tk.calibrate(priors, **asked, confidence=0.9, options={"solver": "columns"})
    # No cones are known for an order: every output keeps deviations in hand, which is proved for the sample's laws,
    # is no lower bound, and costs more than cuts for the sample alone; fresh draws judge it.
    assert dict(found.options)["caution"] > 0
    assert found.lower_bound is None
    assert found.meets_budget()
    assert found.evidence.holds(found.problem, found.channel, found.guarantee)
    assert found.evidence.without < found.error
