import math

import mpmath as mp
import numpy as np
import pytest

from random_priors import budget, gaussian_pair
from takifugu import MechanismError, Mixture, calibrate
from takifugu.mechanisms.closed_form import closed_form, envelope


def paper_formula(gap, std_p, std_q, alpha, epsilon):
    """Theorem 3.5 as printed, in fifty digits."""
    with mp.workdps(50):
        gap, s, t, a, e = (mp.mpf(float(x)) for x in (gap, std_p, std_q, alpha, epsilon))
        first = gap**2 - 2 * e * (t**2 - s**2)
        root = mp.sqrt(first**2 + 8 * e * (t**2 - s**2) ** 2 / (a - 1))
        return max(mp.mpf(0), a / (4 * e) * (first + root) - s**2)


def test_closed_form_is_the_formula_of_the_paper_rounded_up():
    rng = np.random.default_rng(0)
    for _ in range(2_000):
        (p, q), (alpha, epsilon) = gaussian_pair(rng), budget(rng)
        args = float(p.means[0] - q.means[0]), float(p.stds[0]), float(q.stds[0])
        found, truth = closed_form(*args, alpha=alpha, epsilon=epsilon), paper_formula(*args, alpha, epsilon)
        assert truth <= found <= truth + mp.mpf("1e-12") * (truth + args[1] ** 2)


def test_envelope_is_the_least_closed_form_over_larger_orders():
    rng = np.random.default_rng(1)
    for _ in range(60):
        (p, q), (alpha, epsilon) = gaussian_pair(rng), budget(rng)
        args = float(p.means[0] - q.means[0]), float(p.stds[0]), float(q.stds[0])
        found = envelope(*args, alpha=alpha, epsilon=epsilon)
        beyond = np.geomspace(1, 1e9, 400)  # α' − 1 over α − 1
        values = [closed_form(*args, alpha=1 + (alpha - 1) * x, epsilon=epsilon) for x in beyond.tolist()]
        best = int(np.argmin(values))
        around = np.geomspace(beyond[max(best - 1, 0)], beyond[min(best + 1, 399)], 60)  # and closer about the least
        values += [closed_form(*args, alpha=1 + (alpha - 1) * x, epsilon=epsilon) for x in around.tolist()]
        sampled = min(values)
        unit = found + args[1] ** 2
        assert found <= sampled + 1e-11 * unit
        assert found >= sampled - 1e-4 * unit  # the grid of orders is coarse


def test_envelope_reaches_infinite_order():
    # a + c <= 0: the closed form falls all the way, to δ²/|a| − σ²
    value = envelope(0.0, 1.0, 3.0, alpha=1.1, epsilon=4.0)
    assert value == pytest.approx(max(0.0, 64 / (2 * 4 * 8) - 1), abs=1e-9)


@pytest.mark.parametrize("name", ["closed-form", "closed-form-envelope"])
def test_a_mixture_is_refused_with_the_mechanisms_that_would_do(name):
    priors = {"a": Mixture([0.5, 0.5], [0, 3], [1, 1]), "b": Mixture.gaussian(0, 1)}
    with pytest.raises(MechanismError, match=r"2 components: use 'exact'.*or 'gmm-transport'"):
        calibrate(priors, alpha=2, epsilon=1, mechanism=name)


def test_a_mixture_that_is_one_gaussian_is_taken():
    priors = {"a": Mixture([0.5, 0.5, 0.0], [1, 1, 9], [2, 2, 1]), "b": Mixture.gaussian(0, 1)}
    assert math.isfinite(calibrate(priors, alpha=2, epsilon=1, mechanism="closed-form").theta)
