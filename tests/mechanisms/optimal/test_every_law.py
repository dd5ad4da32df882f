"""A promise for every law within bounds: no law within them loses more, another solver finds the same, truths hold."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.divergences.discrete import finite_divergence as divergence
from takifugu.laws.bounds import UNIT, Bounds, shares_of
from takifugu.mechanisms.assurance import ProvedBand as Band
from takifugu.mechanisms.assurance import every_law
from takifugu.mechanisms.optimal.bounded import EveryLaw
from takifugu.problems.guarantee import Odds, Renyi
from takifugu.problems.problem import Problem


def promise_of(counts, *, ordered=True, alpha=2.0, epsilon=1.0, odds=None):
    bounds = tuple(Bounds.of_counts(c, level=0.9, laws=2, ordered=ordered) for c in counts)
    shares = np.array([np.array(c) / sum(c) for c in counts])
    order = np.arange(len(counts[0]))
    return EveryLaw(
        bounds=bounds, shares=shares, order=order, pairs=((0, 1), (1, 0)), alpha=alpha, epsilon=epsilon, odds=odds
    )


@settings(max_examples=some_of(40), deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=2, max_size=5),
    st.booleans(),
    st.sampled_from([1.5, 3.0, math.inf]),
    st.integers(0, 2**32 - 1),
)
def test_no_law_within_the_bounds_loses_more(seen, ordered, alpha, seed):
    rng = np.random.default_rng(seed)
    counts = list(zip(*seen, strict=True))
    size = len(counts[0])
    matrix = rng.dirichlet(np.full(size, 0.5), size)
    channel = FiniteChannel(tuple(range(size)), tuple(range(size)), _whole(matrix))
    promise = promise_of(counts, ordered=ordered, alpha=alpha)
    above, below = promise.envelopes(channel.matrix)
    # Laws at the corners of the bounds, in random directions, and mixtures of them: exact, in whole numbers.
    corners = [one.extreme(rng.standard_normal((size, 12)), largest=True) for one in promise.bounds]
    laws = [np.vstack([shares_of(c), rng.dirichlet(np.ones(12), 12) @ shares_of(c)]) for c in corners]
    for k, law in enumerate(laws):
        published = law @ channel.matrix
        assert (published <= above[k] + 1e-12).all()
        assert (published >= below[k] - 1e-12).all()
    worst = max(
        float(divergence(laws[i][:, None] @ channel.matrix, laws[j][None] @ channel.matrix, alpha=alpha).max())
        for i, j in promise.pairs
    )
    limit = worst * (1 - 1e-9)
    if limit > 1e-6:  # a promise that one of these laws breaks is never proved
        assert not replace(promise, epsilon=limit).is_kept(channel.counts)
    bound = max(float(divergence(above[i], below[j], alpha=alpha)) for i, j in promise.pairs)
    if 1e-6 < bound < math.inf:
        assert replace(promise, epsilon=bound * (1 + 1e-9) + 1e-12).is_kept(channel.counts)
        assert not replace(promise, epsilon=bound * (1 - 1e-6)).is_kept(channel.counts)


def _whole(matrix):
    counts = np.floor(matrix * 2**20).astype(np.int64)
    counts[:, 0] += 2**20 - counts.sum(axis=1)
    return counts


def test_odds_are_compared_in_whole_numbers():
    promise = promise_of([[5, 5], [5, 5]], ordered=False, epsilon=5.0, odds=Fraction(3))
    channel = np.array([[3, 1], [1, 3]])
    most, least = (Fraction(int(side[1]), UNIT) for side in (promise.bounds[0].upper, promise.bounds[0].lower))
    exact = (1 + 2 * most) / (1 + 2 * least)  # the law that publishes an output most often, and the one that does least
    assert replace(promise, odds=exact).is_kept(channel)
    assert not replace(promise, odds=exact - Fraction(1, 2**40)).is_kept(channel)


def _problem(seed, size=5, rows=(300, 80), labels=False):
    rng = np.random.default_rng(seed)
    values = [f"v{k}" for k in range(size)] if labels else list(rng.permutation(size).astype(float))
    laws = rng.dirichlet(np.full(size, 3.0), 2)
    counts = [rng.multinomial(n, law) + (np.arange(size) == 0) for n, law in zip(rows, laws, strict=True)]
    return {s: tk.Finite(values, c) for s, c in zip("ab", counts, strict=True)}


@pytest.mark.parametrize(("alpha", "epsilon"), [(2.0, 0.4), (5.0, 1.5), (math.inf, math.log(2))])
@pytest.mark.parametrize("labels", [False, True], ids=["numbers", "labels"])
def test_another_solver_finds_the_same(alpha, epsilon, labels):
    """The same program as a user of cvxpy would write it, but for the base of a column, which may be any number."""
    import cvxpy as cp

    priors = _problem(3, labels=labels)
    made = tk.calibrate(priors, alpha=alpha, epsilon=epsilon, assurance="band", preserve=None)
    problem = Problem.of(priors, None)
    counts = [priors[s].weights for s in "ab"]
    promise = every_law(problem, Renyi(alpha, epsilon), counts, level=0.95, laws=2)
    values = np.array(range(5) if labels else priors["a"].values, dtype=float)
    pooled = sum(counts) / sum(map(sum, counts))
    loss = 1.0 - np.eye(5) if labels else (values[:, None] - values) ** 2
    k, over, under = (cp.Variable((5, 5), nonneg=True) for _ in range(3))
    rise, fall = (cp.Variable((4, 5), nonneg=True) for _ in range(2))
    base = cp.Variable((5, 5))
    wishes = [cp.sum(k, axis=1) == 1, k[promise.order] == base + over - under, base[:-1] - base[1:] == rise - fall]
    if labels:
        wishes += [rise == 0, fall == 0]

    def end(one, names):
        high, low, above, below = (shares_of(getattr(one, name)) for name in names)
        return base[-1] + high @ over - low @ under + above[:-1] @ rise - below[:-1] @ fall

    most = [end(one, ("upper", "lower", "above", "below")) for one in promise.bounds]
    least = [end(one, ("lower", "upper", "below", "above")) for one in promise.bounds]
    for i, j in ((0, 1), (1, 0)):
        if math.isinf(alpha):
            wishes.append(most[i] <= math.exp(epsilon) * least[j])
        else:
            t = cp.Variable(5)
            scaled = most[i] * math.exp(-(alpha - 1) * epsilon / alpha)
            wishes += [cp.PowCone3D(t, least[j], scaled, np.full(5, 1 / alpha)), cp.sum(t) <= 1]
    goal = cp.Problem(cp.Minimize(cp.sum(cp.multiply(pooled[:, None] * loss, k))), wishes)
    goal.solve(solver=cp.CLARABEL)
    assert made.error == pytest.approx(goal.value, rel=2e-2)
    assert made.error <= tk.calibrate(priors, alpha=alpha, epsilon=epsilon, assurance="band").error * (1 + 1e-6)


@pytest.mark.parametrize("labels", [False, True], ids=["numbers", "labels"])
def test_known_truths_are_kept(labels):
    rng = np.random.default_rng(5)
    values = ["p", "q", "r", "s"] if labels else [0.0, 1.0, 2.0, 3.0]
    for _ in range(8):
        truth = rng.dirichlet(np.full(4, 2.0), 2)
        rows = [rng.multinomial(n, law) for n, law in zip((400, 60), truth, strict=True)]
        if not all(c.any() for c in rows):
            continue
        channel = tk.calibrate(
            {s: tk.Finite(values, c) for s, c in zip("ab", rows, strict=True)}, odds=3, assurance="band"
        ).channel
        p, q = channel.through(truth)
        assert (p <= 3 * q).all()
        assert (q <= 3 * p).all()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"s": np.repeat(["a", "b"], [300, 100])})
    frame["x"] = np.clip(np.rint(rng.normal(np.where(frame.s == "a", 3, 3.5), 1.2)), 0, 6)
    return frame


def fitted(table):
    return tk.fit_priors(table, secret="s", query=tk.Row("x", domain={"x": list(range(8))}))


def test_the_certificate_proves_it_again_and_no_other_channel(table, tmp_path):
    made = tk.calibrate(fitted(table), odds=3, assurance="band")
    certificate = tk.certify(made)
    certificate.save(tmp_path / "c.json")
    assert tk.verify(tmp_path / "c.json").calibration.evidence == made.evidence == Band(0.95, made.evidence.without)
    assert made.error > made.evidence.without
    naked = tk.calibrate(fitted(table), odds=3)
    with pytest.raises(tk.CertificationError, match="about the population does not hold"):
        tk.certify(replace(naked, evidence=made.evidence))
    # A level that was not asked for is not proved by what was.
    with pytest.raises(tk.CertificationError, match="about the population does not hold"):
        tk.certify(replace(made, evidence=Band(0.999, made.evidence.without)))


def test_wishes_and_a_radius(table):
    priors = fitted(table)
    plain = tk.calibrate(priors, odds=3, assurance="band", preserve=None)
    wide = tk.calibrate(priors, odds=3, assurance="band", preserve=None, radius=0.3)
    assert wide.error > plain.error
    assert dict(wide.options)["radius"] == 0.3
    assert tk.verify(tk.certify(wide)).calibration == wide
    held = tk.calibrate(priors, odds=3, assurance="band", preserve=None, utility=tk.Utility(forbidden=[(0, 7)]))
    assert held.channel.matrix[0, 7] == 0
    both = tk.calibrate(priors, alpha=3, epsilon=0.8, odds=4, assurance="band")
    assert both.evidence.holds(both.problem, both.channel, Renyi(3, 0.8) & Odds(4))
    with pytest.raises(tk.MechanismError, match="every law that the rows allow"):
        tk.calibrate(priors, odds=1.5, assurance="band", preserve=None, utility=tk.Utility(unbiased=True))


def test_what_is_no_promise():
    with pytest.raises(tk.InputError, match="whole numbers"):
        tk.calibrate({"a": tk.Finite([0, 1], [5, 5]), "b": tk.Finite([0, 1], [0.5, 0.5])}, odds=3, assurance="band")
    with pytest.raises(tk.InputError, match="pair of bounds"):
        replace(promise_of([[5, 5], [5, 5]]), pairs=())
    with pytest.raises(tk.InputError, match="each input once"):
        replace(promise_of([[5, 5], [5, 5]]), order=np.array([0, 0]))
    with pytest.raises(tk.InputError, match="alpha and epsilon"):
        promise_of([[5, 5], [5, 5]], epsilon=math.inf)
