import math

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu import LaplaceNoise, Mixture
from takifugu.errors import MechanismError, NoAnswerError
from takifugu.mechanisms.coupled_laplace import KantorovichRelaxed

NAMES = ["wasserstein-laplace", "kantorovich", "kantorovich-relaxed"]


def of_column(name):
    about, table = tk.datasets.about(name), tk.datasets.load(name)
    return {
        secret: Mixture.empirical(table.loc[table[about.secret] == secret, about.answer].astype(float))
        for secret in about.pair
    }


@pytest.mark.parametrize(
    ("name", "wasserstein", "relaxed", "exact"),
    [("adult", 7.07, 5.89, 2.85), ("student-mat", 8.49, 7.07, 3.63), ("heart", 6.22, 6.13, 3.81)],
)
def test_what_they_cost_beside_the_least_noise(name, wasserstein, relaxed, exact):
    """Standard deviations at ε = 1, as the papers' conditions give them."""
    rows = tk.sweep(of_column(name), odds=math.e, mechanism=[*NAMES, "laplace"])
    found = dict(zip(rows.mechanism, rows.variance**0.5, strict=True))
    assert found["wasserstein-laplace"] == found["kantorovich"] == pytest.approx(wasserstein, abs=0.006)
    assert found["kantorovich-relaxed"] == pytest.approx(relaxed, abs=0.006)
    step = {"heart": 0.1}.get(name, 1.0)  # on which discrete noise of the same scale needs less
    discrete = step / math.sinh(step / (math.sqrt(2) * exact)) / math.sqrt(2)
    assert found["laplace"] == pytest.approx(discrete, abs=0.006)
    assert found["laplace"] < exact + 0.006


def relaxed_by_transport(p, q, epsilon):
    """The same condition from a plan of POT's, its scale found by bisection."""
    plan = ot.emd_1d(p.means, q.means, p.weights, q.weights, metric="euclidean", dense=True)
    gaps = np.abs(p.means[:, None] - q.means)
    given_q = plan / plan.sum(axis=0)
    low, high = math.log(1e-6), math.log(1e6)
    for _ in range(100):
        middle = 0.5 * (low + high)
        with np.errstate(over="ignore", invalid="ignore"):
            costs = np.where(given_q > 0, given_q * np.exp(gaps / math.exp(middle)), 0.0).sum(axis=0)
        low, high = (low, middle) if (costs <= math.exp(epsilon)).all() else (middle, high)
    return math.exp(high)


@st.composite
def points(draw):
    places = draw(st.lists(st.integers(-20, 20), min_size=1, max_size=6, unique=True))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(places), max_size=len(places)))
    return Mixture.empirical(sorted(places), np.array(weights)[np.argsort(places)])


@settings(max_examples=some_of(60), deadline=None)
@given(points(), points(), st.sampled_from([0.1, 1.0, 3.0]))
def test_each_is_enough_and_the_relaxed_one_asks_for_no_more(p, q, epsilon):
    laws = {"a": p, "b": q}
    scales = [tk.calibrate(laws, odds=math.exp(epsilon), mechanism=name).channel.scale for name in NAMES]
    least = tk.calibrate(laws, odds=math.exp(epsilon)).channel.scale
    assert scales[0] == scales[1] >= scales[2] >= least * (1 - 1e-12)
    for one, other in ((p, q), (q, p)):
        if p.simplified() == q.simplified():
            continue
        assert tk.max_divergence(one, other, noise=LaplaceNoise(scales[2])) <= epsilon * (1 + 1e-12)
        expected = relaxed_by_transport(one.simplified(), other.simplified(), epsilon)
        found = KantorovichRelaxed().least_scale(one, other, epsilon=epsilon)
        assert expected * (1 - 1e-9) <= found <= expected * (1 + 1e-9) or found <= 1e-5


def test_with_a_density_each_point_has_one_partner():
    laws = {"a": Mixture([0.5, 0.5], [0, 3], [1, 1]), "b": Mixture([0.3, 0.7], [0, 3], [1, 1])}
    first, _, relaxed = (tk.calibrate(laws, odds=2, mechanism=name) for name in NAMES)
    assert first.channel == relaxed.channel
    assert first.channel.scale > 2 * tk.calibrate(laws, odds=2).channel.scale
    tk.verify(tk.certify(first))
    assert tk.Calibration.from_dict(first.to_dict()) == first


@pytest.mark.parametrize("name", NAMES)
def test_where_there_is_no_answer_it_is_refused_by_name(name):
    unequal = {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(0, 1.01)}
    with pytest.raises(
        NoAnswerError, match=r"equal quantiles of the two laws lie arbitrarily far apart\. Use 'laplace'"
    ):
        tk.calibrate(unequal, odds=3, mechanism=name)
    assert tk.sweep(unequal, odds=3, mechanism=[name, "laplace"]).variance.tolist()[0] == math.inf
    with pytest.raises(MechanismError, match=f"'{name}' is a rule for bounded odds"):
        tk.calibrate(unequal, alpha=2, epsilon=1, mechanism=name)
    labels = {"a": tk.Finite(["x", "y"], [1, 2]), "b": tk.Finite(["x", "y"], [2, 1])}
    with pytest.raises(MechanismError, match="numbers on the line"):
        tk.calibrate(labels, odds=3, mechanism=name)
    numbers = {"a": tk.Finite([0, 1], [1, 2]), "b": tk.Finite([0, 1], [2, 1])}
    assert tk.calibrate(numbers, odds=1.5, mechanism=name).channel.scale > 0
