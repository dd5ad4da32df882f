"""Channels with a local price: against a linear program written down by hand, and exact ratios of their rows."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import takifugu as tk
from how_many import some_of
from takifugu.channels import FiniteChannel, GaussianNoise
from takifugu.problems import MaxDivergence, Renyi, RenyiDivergence

LAWS = {"a": tk.Finite([0, 1, 2, 3], [4, 3, 2, 1]), "b": tk.Finite([0, 1, 2, 3], [1, 1, 3, 5])}


def adult():
    table = tk.datasets.load("adult")
    shares = {s: table.loc[table.race == s, "education-num"].value_counts(normalize=True) for s in ("White", "Other")}
    return {s: tk.Finite(*map(list, zip(*sorted(one.items()), strict=True))) for s, one in shares.items()}


def by_hand(laws, epsilon, price):
    """The least mean square error: every row of the program written down."""
    p, q = (np.array(law.weights) / law.weights.sum() for law in laws.values())
    values, n = np.array(laws["a"].values, float), len(p)
    mass = np.array(laws["a"].weights) + np.array(laws["b"].weights)
    cost = ((mass / mass.sum())[:, None] * (values[:, None] - values) ** 2).ravel()
    rows = []
    for y in range(n):
        for one, other, factor in [(p, q, epsilon), (q, p, epsilon)] + [
            (np.eye(n)[x], np.eye(n)[z], price) for x in range(n) for z in range(n) if x != z
        ]:
            row = np.zeros((n, n))
            row[:, y] = one - math.exp(factor) * other
            rows.append(row.ravel())
    sums = np.kron(np.eye(n), np.ones(n))
    return linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(n)).fun


@pytest.mark.parametrize(("price", "error"), [(None, 0.506), (8, 0.590), (5, 1.06), (3, 1.90)])
def test_what_it_costs_on_a_column(price, error):
    made = tk.calibrate(adult(), odds=math.e, preserve=None, utility=tk.Utility(local_price=price))
    assert math.sqrt(made.error) == pytest.approx(error, abs=0.006)
    assert made.error * (1 - 1e-4) <= made.lower_bound <= made.error


@settings(max_examples=some_of(25), deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=5), st.floats(0.3, 4.0))
def test_it_costs_as_much_as_a_program_written_by_hand(weights, price):
    values = list(range(len(weights)))
    laws = {name: tk.Finite(values, [one[k] for one in weights]) for k, name in enumerate("ab")}
    made = tk.calibrate(laws, odds=1.5, preserve=None, utility=tk.Utility(local_price=price))
    assert made.error == pytest.approx(by_hand(laws, math.log(1.5), price), rel=1e-4, abs=1e-6)
    counts = np.asarray(made.channel.counts, dtype=object)
    worst = max(Fraction(max(one), min(one)) for one in counts.T if max(one))
    assert worst <= Fraction(math.exp(price)) * (1 + Fraction(1, 2**50))
    assert math.log(worst) <= made.channel.local_loss(MaxDivergence()) <= price * (1 + 1e-12)


def test_it_is_certified_and_read_back(tmp_path):
    made = tk.calibrate(LAWS, odds=2, utility=tk.Utility(local_price=3))
    tk.verify(tk.certify(made))
    made.save(tmp_path / "calibration.json")
    assert tk.Calibration.load(tmp_path / "calibration.json") == made
    assert dict(made.options)["local_price"] == 3.0
    kept = np.asarray(made.channel.matrix)
    mass = sum(np.array(law.weights) for law in LAWS.values())
    assert mass / mass.sum() @ kept == pytest.approx(mass / mass.sum(), abs=1e-8)


def test_the_local_loss_of_finite_order_bounds_that_of_any_two_rows():
    channel = FiniteChannel((0, 1, 2), (0, 1, 2), [[6, 1, 1], [1, 6, 1], [2, 2, 4]])
    rows = np.asarray(channel.matrix)
    for alpha in (1.5, 2.0, 8.0, math.inf):
        most = max(
            tk.renyi_divergence(tk.Finite([0, 1, 2], p), tk.Finite([0, 1, 2], q), alpha=alpha)
            for p in rows
            for q in rows
        )
        assert most <= channel.local_loss(Renyi(alpha, 1).divergence)
    assert channel.local_loss(MaxDivergence()) == pytest.approx(math.log(6), rel=1e-12)
    assert GaussianNoise(1.0).local_loss(RenyiDivergence(2.0)) == math.inf
    assert FiniteChannel((0, 1), (0, 1), [[8, 0], [4, 4]]).local_loss(RenyiDivergence(2.0)) == math.inf
    assert FiniteChannel((0, 1), (0, 1), [[4, 4], [4, 4]]).local_loss(RenyiDivergence(2.0)) == 0.0


@pytest.mark.parametrize("wrong", [0, -1, math.inf, "x"])
def test_a_price_that_is_none_is_refused(wrong):
    with pytest.raises(tk.InputError):
        tk.calibrate(LAWS, odds=2, utility=tk.Utility(local_price=wrong))


def test_what_it_does_not_go_with_is_refused_by_name():
    for asked in ({"alpha": 2, "epsilon": 1}, {"alpha": 2, "epsilon": 1, "odds": 5}):
        with pytest.raises(tk.MechanismError, match="local_price is known beside bounded odds alone"):
            tk.calibrate(LAWS, **asked, utility=tk.Utility(local_price=3))
    with pytest.raises(tk.InputError, match="knows no local_price=3"):
        tk.calibrate(LAWS, odds=2, utility=tk.Utility(local_price=3), options={"solver": "columns"})
    with pytest.raises(tk.MechanismError, match="up to 200 values"):
        tk.calibrate(
            {s: tk.Finite(range(201), np.ones(201) + k) for k, s in enumerate("ab")},
            odds=2,
            utility=tk.Utility(local_price=3),
        )


def test_confidence_keeps_it_and_a_band_refuses_it():
    rng = np.random.default_rng(0)
    secret = rng.choice(["a", "b"], 600)
    rows = pd.DataFrame({"s": secret, "x": np.clip(rng.poisson(2 + (secret == "b")), 0, 5)})
    priors = tk.fit_priors(rows, secret="s", query=tk.Row("x", domain=list(range(6))))
    made = tk.calibrate(priors, odds=2, confidence=0.9, utility=tk.Utility(local_price=3))
    assert made.channel.local_loss(MaxDivergence()) <= 3 * (1 + 1e-12)
    assert made.error >= tk.calibrate(priors, odds=2, utility=tk.Utility(local_price=3)).error
    with pytest.raises(tk.MechanismError, match="assurance='band' knows no local_price"):
        tk.calibrate(priors, odds=2, assurance="band", utility=tk.Utility(local_price=3))
