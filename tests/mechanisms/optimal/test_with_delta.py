"""(ε, δ) on a list, against a linear program over all events and excesses in fractions, which share no code with it."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import takifugu as tk
from how_many import some_of
from takifugu.divergences import Masses, decide_excess
from takifugu.errors import CertificationError, InputError, MechanismError, TakifuguError
from takifugu.mechanisms import Optimal
from takifugu.mechanisms.optimal.with_delta import Multipliers

pytestmark = pytest.mark.filterwarnings("ignore:delta =")


def oracle(laws, mass, loss, parts, *, odds=None, marginal=False, diagonal=None, forbidden=()):
    """The least cost: no slack, but for every pair and every event a row P(E) − e^ε Q(E) ≤ δ."""
    n, m = loss.shape
    rows, limits = [], []
    for p, q in itertools.permutations(laws, 2):
        for epsilon, delta in parts:
            for event in itertools.product([0, 1], repeat=m):
                rows.append(np.outer(p - math.exp(epsilon) * q, event).ravel())
                limits.append(delta)
        if odds is not None:
            for y in range(m):
                rows.append(np.outer(p - odds * q, np.eye(m)[y]).ravel())
                limits.append(0.0)
    if diagonal is not None:
        rows.append(-np.diag(mass).ravel())
        limits.append(-diagonal)
    equal = [np.outer(np.eye(n)[x], np.ones(m)).ravel() for x in range(n)]
    equal_to = [1.0] * n
    if marginal:
        equal += [np.outer(mass, np.eye(m)[y]).ravel() for y in range(m)]
        equal_to += mass.tolist()
    bounds = [(0, 0 if (x, y) in forbidden else 1) for x in range(n) for y in range(m)]
    found = linprog(
        (mass[:, None] * loss).ravel(),
        A_ub=np.array(rows),
        b_ub=limits,
        A_eq=np.array(equal),
        b_eq=equal_to,
        bounds=bounds,
    )
    return found.fun if found.status == 0 else None


def excess(p, q, epsilon):
    """The largest P(E) − e^ε Q(E) over all events, by going through them."""
    factor = Fraction(math.exp(epsilon))
    return max(
        sum((a - factor * b for a, b, inside in zip(p, q, event, strict=True) if inside), Fraction(0))
        for event in itertools.product([False, True], repeat=len(p))
    )


def problem_of(seed, size=None):
    rng = np.random.default_rng(seed)
    n = size or int(rng.integers(2, 5))
    weights = rng.integers(1, 12, size=(int(rng.integers(2, 4)), n))
    laws = weights / weights.sum(axis=1, keepdims=True)
    named = {f"s{k}": tk.Finite(list(range(n)), row.astype(float)) for k, row in enumerate(weights)}
    x = np.arange(n, dtype=float)
    mass = weights.sum(axis=0) / weights.sum()
    parts = [(float(rng.choice([0.0, 0.2, 0.7, 1.5])), float(rng.choice([1e-6, 0.01, 0.1])))]
    return named, laws, mass, (x[:, None] - x) ** 2, parts


def guarantee(parts, odds=None):
    whole = tk.Odds(odds) if odds is not None else None
    for part in parts:
        one = tk.Approximate(*part)
        whole = one if whole is None else whole & one
    return whole


@pytest.mark.parametrize("seed", range(some_of(60)))
def test_it_costs_what_a_program_over_all_events_costs(seed):
    named, laws, mass, loss, parts = problem_of(seed)
    wishes = [
        {"keep": None},
        {"keep": "marginal"},
        {"keep": None, "diagonal": 0.6},
        {"keep": None, "forbidden": [(0, 1)]},
    ][seed % 4]
    odds = 3.0 if seed % 3 == 0 else None
    if seed % 5 == 0:
        parts = [*parts, (parts[0][0] + 0.4, parts[0][1] / 3)]
    least = oracle(
        laws,
        mass,
        loss,
        parts,
        odds=odds,
        marginal=wishes["keep"] == "marginal",
        diagonal=wishes.get("diagonal"),
        forbidden=wishes.get("forbidden", ()),
    )
    asked = guarantee(parts, odds)
    try:
        made = tk.calibrate(named, asked, mechanism="optimal", options=wishes)
    except TakifuguError:
        assert least is None or wishes.get("forbidden") or wishes.get("diagonal")
        return
    assert made.lower_bound <= least * (1 + 1e-9) + 1e-12
    assert made.lower_bound == pytest.approx(least, rel=2e-4, abs=1e-7)
    cost = float((mass[:, None] * loss * made.channel.matrix).sum())
    assert cost >= made.lower_bound * (1 - 1e-9)
    assert cost <= least * (1 + 1e-3) + 1e-6
    assert made.meets_budget()
    tk.verify(tk.certify(made))
    counts = [[Fraction(int(c), int(sum(row))) for c in row] for row in made.channel.counts.tolist()]
    exact = [
        [Fraction(w) / Fraction(sum(law.weights.tolist())) for w in law.weights.tolist()] for law in named.values()
    ]
    published = [
        [sum(w * row[y] for w, row in zip(law, counts, strict=True)) for y in range(len(mass))] for law in exact
    ]
    for p, q in itertools.permutations(published, 2):
        for epsilon, delta in parts:
            assert excess(p, q, epsilon) <= Fraction(delta) * (1 + Fraction(1, 10**12)) + Fraction(1, 10**15)
        if odds is not None:
            assert all(a <= Fraction(odds) * (1 + Fraction(1, 10**12)) * b for a, b in zip(p, q, strict=True))


@given(st.data())
@settings(max_examples=some_of(300), deadline=None)
def test_any_multipliers_prove_a_bound_that_is_true(data):
    named, laws, mass, loss, parts = problem_of(data.draw(st.integers(0, 40)))
    asked, wishes = guarantee(parts), {"keep": data.draw(st.sampled_from([None, "marginal"]))}
    made = tk.calibrate(named, asked, mechanism="optimal", options=wishes)
    least = oracle(laws, mass, loss, parts, marginal=wishes["keep"] == "marginal")
    shaken = json.loads(json.dumps(made.optimality.to_json()))
    factor = data.draw(st.floats(0.0, 3.0))
    noise = data.draw(st.floats(0.0, 0.5))
    shaken["slack"] = np.abs(np.array(shaken["slack"]) * factor + noise).tolist()
    shaken["kept"] = (np.array(shaken["kept"]) * factor - noise).tolist()
    assert _rule(made).proved_bound(made.problem, asked, Multipliers.from_json(shaken)) <= least * (1 + 1e-9) + 1e-12


def _rule(made):
    return Optimal(**dict(made.options))


weights = st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(any)


@given(weights, weights, st.sampled_from([0.0, 0.1, 1.0]), st.floats(1e-4, 0.9))
def test_an_excess_is_decided_as_fractions_say(p, q, epsilon, delta):
    found = decide_excess(Masses(tuple(p), sum(p)), Masses(tuple(q), sum(q)), epsilon=epsilon, delta=delta)
    first, second = ([Fraction(w, sum(side)) for w in side] for side in (p, q))
    exact = excess(first, second, epsilon)
    if abs(float(exact) - delta) > 1e-12:
        assert found.holds is (exact <= Fraction(delta))
        assert found.enclosure.lower - 1e-13 <= float(exact) <= found.enclosure.upper + 1e-13


def test_less_is_refused_and_files_come_back():
    named, *_ = problem_of(3, size=4)
    made = tk.calibrate(named, tk.Approximate(0.5, 0.02))
    assert made.mechanism == "optimal"
    assert tk.Calibration.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    proved = tk.certify(made)
    tk.verify(type(proved).from_dict(json.loads(json.dumps(proved.to_dict()))))
    stricter = replace(made, guarantee=tk.Approximate(0.5, 0.0199), lower_bound=None, optimality=None)
    assert not stricter.meets_budget()
    with pytest.raises(CertificationError):
        tk.certify(stricter)
    with pytest.raises(CertificationError, match="is not proved"):
        tk.certify(replace(made, lower_bound=made.lower_bound * 1.01))
    damaged = made.optimality.to_json()
    for bad in ({**damaged, "slack": [[[-1.0] * 4] * 6]}, {**damaged, "diagonal": 1.0}, {**damaged, "kept": [0.0]}):
        with pytest.raises(InputError):
            _rule(made).proved_bound(made.problem, made.guarantee, Multipliers.from_json(bad))


def table(rows=600):
    rng = np.random.default_rng(8)
    secret = rng.choice(["a", "b"], rows)
    return pd.DataFrame({"s": secret, "x": rng.integers(0, 4, rows) + (secret == "b") * rng.integers(0, 3, rows)})


def test_a_column_is_published_with_its_warning(tmp_path):
    rows = table()
    priors = tk.fit_priors(rows, secret="s", query=tk.Row("x", domain=list(range(6))))
    with pytest.warns(tk.DiagnosticWarning, match=r"one published value in 50 give its secret away, of these 600 rows"):
        made = tk.calibrate(priors, epsilon=0.5, delta=0.02)
    (told,) = [one for one in made.findings if one.code == "delta-spent"]
    assert (told["rows"], told["expected"]) == (600, 12.0)
    assert told["odds"] > math.exp(0.5)
    assert told["values"]
    with pytest.warns(tk.DiagnosticWarning, match="by a factor of up to"):
        joined = tk.calibrate(priors, tk.Approximate(0.5, 0.02) & tk.Odds(3))
    assert joined.privacy_curve(("a", "b")).odds_quantile(0.9999) <= 3 * (1 + 1e-9)
    out = tk.release(rows, made, secret="s", ledger=tmp_path / "l.db", order="keep")
    with pytest.raises(TakifuguError, match=r"[Nn]othing was released"):
        tk.release(rows, made, secret="s", ledger=tmp_path / "l.db")
    published = rows.assign(x=out["x"].to_numpy())[["x"]]
    assert "No attack contradicts" in str(tk.audit(published, rows, made))
    assert tk.estimate(published, made).mean("x").value == pytest.approx(rows["x"].mean(), abs=0.6)
    for one in (made, joined):
        page = tk.report(one)
        assert "bounds no odds" in page
        assert "and not for the population" in page
        assert "confidence=0.95" not in page
        assert one.plot() is not None


def test_what_is_not_known_with_delta_is_refused_by_name():
    priors = tk.fit_priors(table(), secret="s", query=tk.Row("x", domain=list(range(6))))
    asked = tk.Approximate(0.5, 0.02)
    for more, words in [
        ({"radius": 0.01}, "radius"),
        ({"options": {"local_price": 1.0}}, "local_price"),
        ({"options": {"solver": "columns"}}, "solver"),
        ({"confidence": 0.9}, "confidence"),
        ({"assurance": "band"}, "assurance"),
    ]:
        with pytest.raises(MechanismError, match=words):
            tk.calibrate(priors, asked, **more)
    with pytest.raises(MechanismError, match="alone or beside odds"):
        tk.calibrate(priors, tk.Renyi(2, 0.5) & asked)


def test_infinite_odds_are_named():
    made = tk.calibrate(
        {"a": tk.Finite([0, 1], [9, 1]), "b": tk.Finite([0, 2], [9, 1])}, epsilon=0.1, delta=0.11, preserve=None
    )
    (told,) = [one for one in made.findings if one.code == "delta-spent"]
    assert told["odds"] > 1e6
    assert "1" in told["values"].split(", ")
