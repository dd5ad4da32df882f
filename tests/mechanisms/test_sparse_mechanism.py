"""Sparse channels: judged by fractions and mpmath that share no code with them, and against the best of all."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.errors import InputError, MechanismError
from takifugu.laws.finite import Finite
from takifugu.mechanisms.optimal.column_generation import Moves, groups_of
from takifugu.mechanisms.optimal.finite_problem import Promise
from takifugu.mechanisms.optimal.repair import repaired_moves

ROWS = [(a, b) for a in range(5) for b in "pqrs"]


def exact_outputs(channel, law):
    """What a law publishes, from the lists in the file alone."""
    total = sum(Fraction(w) for w in law.weights.tolist())
    place = {value: Fraction(w) / total for value, w in zip(law.values, law.weights.tolist(), strict=True)}
    published = [Fraction(0)] * len(channel.outputs)
    for x, value in enumerate(channel.inputs):
        for k in range(int(channel.starts[x]), int(channel.starts[x + 1])):
            published[int(channel.targets[k])] += place.get(value, 0) * Fraction(
                int(channel.counts[k]), channel.denominator
            )
    assert sum(published) == 1
    return published


def is_within(channel, p, q, guarantee):
    """Whether the promise is kept for p against q, in 40 digits."""
    a, b = exact_outputs(channel, p), exact_outputs(channel, q)
    if any(x > 0 and y == 0 for x, y in zip(a, b, strict=True)):
        return False
    with mp.workdps(40):
        ratio = max(mp.mpf(x.numerator * y.denominator) / (x.denominator * y.numerator) for x, y in zip(a, b) if x)  # noqa: B905
        if math.isinf(guarantee.alpha):
            return ratio <= mp.exp(mp.mpf(guarantee.epsilon))
        if guarantee.odds_beside is not None and ratio > mp.mpf(guarantee.odds_beside):
            return False
        alpha = mp.mpf(guarantee.alpha)
        total = mp.fsum(
            (mp.mpf(x.numerator) / x.denominator) ** alpha * (mp.mpf(y.numerator) / y.denominator) ** (1 - alpha)
            for x, y in zip(a, b, strict=True)
            if x
        )
        return mp.log(total) / (alpha - 1) <= mp.mpf(guarantee.epsilon)


@st.composite
def random_problems(draw):
    secrets = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    shape = draw(st.sampled_from([0.1, 1.0, 5.0]))  # with 0.1 most rows belong to one secret alone
    laws = {s: Finite(ROWS, rng.dirichlet(np.full(len(ROWS), shape)) * 100) for s in range(secrets)}
    promise = draw(
        st.sampled_from([{"odds": 1.5}, {"odds": 3}, {"alpha": 2.0, "epsilon": 0.3}, {"alpha": 9.0, "epsilon": 1.0}])
    )
    pairs = draw(st.sampled_from([None, [(0, 1)]]))
    return laws, promise, pairs


@settings(max_examples=some_of(25))
@given(random_problems())
def test_the_promise_is_kept(problem):
    laws, promise, pairs = problem
    found = tk.calibrate(laws, **promise, pairs=pairs, options={"solver": "columns", "rounds": 2})
    for a, b in found.pairs.directed():
        assert is_within(found.channel, laws[a], laws[b], found.guarantee)
    assert found.meets_budget()


@settings(max_examples=some_of(10))
@given(random_problems())
def test_it_comes_close_to_the_best_of_all(problem):
    laws, _, pairs = problem
    best = tk.calibrate(laws, odds=3, pairs=pairs, preserve=None)
    found = tk.calibrate(laws, odds=3, pairs=pairs, options={"solver": "columns"})
    assert best.lower_bound * (1 - 1e-9) <= found.error <= 1.002 * best.error + 1e-4


def test_both_promises_at_once_are_kept():
    rng = np.random.default_rng(5)
    laws = {s: Finite(ROWS, rng.dirichlet(np.full(len(ROWS), 0.5)) * 100) for s in "ab"}
    found = tk.calibrate(laws, alpha=2, epsilon=0.4, odds=2, options={"solver": "columns", "rounds": 2})
    assert is_within(found.channel, laws["a"], laws["b"], found.guarantee)
    assert is_within(found.channel, laws["b"], laws["a"], found.guarantee)
    strict = tk.calibrate(laws, odds=math.exp(0.4), options={"solver": "columns", "rounds": 2})
    assert found.error < strict.error  # a divergence within 0.4 allows more than odds within e^0.4


@given(st.integers(0, 10_000), st.sampled_from([1.0001, 2.0, 50.0]))
@settings(max_examples=some_of(20))
def test_whatever_the_search_returns_is_repaired(seed, odds):
    rng = np.random.default_rng(seed)
    n = 12
    laws = rng.dirichlet(np.full(n, 0.3), size=3)
    sources = np.sort(np.concatenate([np.arange(n), rng.integers(0, n, 20)]))
    both = np.unique(sources * n + rng.integers(0, n, len(sources)))
    sources, targets = both // n, both % n
    shares = rng.uniform(1e-12, 1, len(sources)) ** rng.choice([1, 8])
    moves = Moves(sources, targets, shares / np.bincount(sources, weights=shares)[sources])
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    promise = Promise(laws=laws, pairs=pairs, odds=Fraction(odds))
    channel = repaired_moves(moves, tuple(range(n)), promise, odds=Fraction(odds))
    assert channel is not None
    for i, j in pairs:
        p, q = (exact_outputs(channel, Finite(range(n), laws[k])) for k in (i, j))
        assert all(a <= Fraction(odds) * b for a, b in zip(p, q, strict=True))


@pytest.mark.parametrize("epsilon", [1e-14, 1e-9, 1e-5])
def test_a_budget_of_next_to_nothing_is_kept(epsilon):
    laws = {s: Finite(ROWS, np.arange(1, 21) + 3 * k) for k, s in enumerate("ab")}
    for alpha in (math.inf, 2.0):
        found = tk.calibrate(laws, alpha=alpha, epsilon=epsilon, options={"solver": "columns", "rounds": 1})
        assert is_within(found.channel, laws["a"], laws["b"], found.guarantee)


def test_groups_cover_exactly_the_pairs_that_are_asked_for():
    star = [(0, 1), (1, 0), (0, 2), (2, 0)]
    assert groups_of(star) == ((0, 1), (0, 2))
    two = [(0, 1), (1, 0), (3, 4), (4, 3), (3, 5), (5, 3), (4, 5), (5, 4)]
    assert groups_of(two) == ((0, 1), (3, 4, 5))


@pytest.fixture
def small_limit(monkeypatch):
    """Twenty values count as too many for the best channel."""
    monkeypatch.setattr("takifugu.mechanisms.optimal.mechanism.MOST_VALUES", 10)


def people(rows=600, seed=0):
    """A table in which two columns go with the secret."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    secret = rng.choice(["x", "y"], rows)
    a = np.clip(rng.poisson(np.where(secret == "x", 2, 3)), 0, 4)
    return pd.DataFrame({"s": secret, "a": a, "b": rng.choice(list("pqrs"), rows)})


def test_it_is_chosen_saved_certified_and_released(small_limit, tmp_path):
    table = people()
    priors = tk.fit_priors(table, secret="s", query=tk.Row("a", "b"))
    found = tk.calibrate(priors, odds=2)
    assert (found.mechanism, dict(found.options)["solver"]) == ("optimal", "columns")
    assert any("columns" in one.sentence for one in found.findings)
    assert 0 < found.lower_bound <= found.error
    found.save(tmp_path / "calibration.json")
    again = tk.Calibration.load(tmp_path / "calibration.json")
    assert again.channel == found.channel
    assert again.meets_budget()
    assert again.error == pytest.approx(found.error, rel=1e-12)
    tk.certify(found).save(tmp_path / "certificate.json")
    assert tk.verify(tmp_path / "certificate.json").calibration.channel == found.channel
    published = tk.release(table, found, utility=tk.Utility(allow_no_noise=True))
    assert set(map(tuple, published.itertuples(index=False))) <= set(found.channel.outputs)
    tk.report(found, tmp_path / "report.html")
    assert "rows" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert found._repr_html_()
    assert not tk.audit(published, table, found).contradicted


def test_a_changed_file_is_not_released(small_limit, tmp_path):
    found = tk.calibrate(tk.fit_priors(people(), secret="s", query=tk.Row("a", "b")), odds=1.2)
    data = found.essentials()
    n = len(data["channel"]["inputs"])
    data["channel"] |= {
        "outputs": data["channel"]["inputs"],
        "starts": list(range(n + 1)),
        "targets": list(range(n)),
        "counts": [1 << 60] * n,
    }
    forged = tk.Calibration.from_essentials(data)
    assert not forged.meets_budget()
    with pytest.raises(tk.TakifuguError):
        tk.certify(forged)


def test_confidence_withstands_its_draws(small_limit):
    found = tk.calibrate(tk.fit_priors(people(), secret="s", query=tk.Row("a", "b")), odds=3, confidence=0.9)
    assert found.evidence.holds(found.problem, found.channel, found.guarantee)
    assert dict(found.options)["caution"] == 0  # cones do not need it
    assert found.error > found.evidence.without


def test_options_that_are_not_for_so_many_values(small_limit):
    laws = {s: Finite(ROWS, np.arange(1, 21) + 3 * k) for k, s in enumerate("ab")}
    wishes = ({"keep": "mean"}, {"unbiased": True}, {"radius": 0.1}, {"forbidden": [(ROWS[0], ROWS[1])]})
    for wrong in (*wishes, {"diagonal": 0.1}, {"loss": [[1.0]]}):
        for solver in ("columns", "auto"):
            with pytest.raises(InputError, match="knows no"):
                tk.calibrate(laws, odds=2, options={"solver": solver, **wrong})
    for wrong in ({"rounds": 0}, {"caution": -1}, {"weights": [1]}, {"weights": [1, -1]}):
        with pytest.raises(InputError):
            tk.calibrate(laws, odds=2, options={"solver": "columns", **wrong})
    for strange in ({"rounds": 2}, {"caution": 1.0}):
        with pytest.raises(InputError, match="knows no"):
            tk.calibrate(laws, odds=2, options={"solver": "program", **strange})
    with pytest.raises(InputError, match="solver must be"):
        tk.calibrate(laws, odds=2, options={"solver": "simplex"})
    with pytest.raises(MechanismError, match="band"):
        tk.calibrate(laws, odds=2, assurance="band")
    with pytest.raises(InputError, match="solver='columns'"):
        tk.calibrate(laws, odds=2, mechanism="optimal", options={"solver": "program"})
    with pytest.raises(InputError, match="solver='columns'"):
        tk.calibrate(laws, odds=2, mechanism="sparse")
    first, second = (
        tk.calibrate(laws, odds=1.1, utility=tk.Utility(weights=w), options={"solver": "columns"})
        for w in ([1, 0], [0, 1])
    )
    both = tk.calibrate(laws, odds=1.1, options={"solver": "columns"})
    assert first.error + second.error < both.error + 1e-9  # each keeps one column alone, which is easier
