"""D_α after Laplace noise against an integral with thirty digits, and what must hold of it whatever the laws."""

import math

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takifugu.divergences import (
    decide_renyi_after_laplace,
    enclose_renyi_after_laplace,
    odds_after_laplace,
    renyi_after_laplace,
)
from takifugu.divergences.numerics.balls import Effort
from takifugu.laws import Mixture

CASES = {
    "points": (Mixture([0.5, 0.5], [0, 1], [0, 0]), Mixture([0.8, 0.2], [0, 1], [0, 0]), 3.0, 0.5),
    "far points": (Mixture.gaussian(0, 0), Mixture.gaussian(40, 0), 1.5, 2.0),
    "normals": (Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), 3.0, 1.0),
    "two widths": (Mixture.gaussian(0, 2), Mixture.gaussian(0.5, 1), 8.0, 0.7),
    "mixtures": (Mixture([0.3, 0.7], [0, 3], [1, 0.2]), Mixture([0.5, 0.5], [0, 4], [0.5, 1.5]), 2.5, 1.3),
    "points and normals": (Mixture([0.3, 0.4, 0.3], [0, 3, 1], [1, 0.2, 0]), Mixture.gaussian(1, 2), 32.0, 1.3),
    "narrow": (Mixture.gaussian(0, 1e-3), Mixture.gaussian(0.5, 2e-3), 2.0, 1.0),
    "nearly alike": (Mixture.gaussian(0, 1), Mixture.gaussian(1e-5, 1), 2.0, 1.0),
}


def density(law, scale):
    u = 1 / mp.mpf(scale)
    parts = [tuple(map(mp.mpf, one)) for one in zip(law.weights, law.means, law.stds, strict=True)]
    whole = sum(w for w, _, _ in parts)

    def at(y):
        total = mp.mpf(0)
        for w, m, s in parts:
            gap = y - m
            if s == 0:
                total += w * mp.exp(-u * abs(gap))
            else:
                bend = mp.exp(u * u * s * s / 2)
                below, above = mp.ncdf(gap / s - u * s), mp.ncdf(-gap / s - u * s)
                total += w * bend * (mp.exp(-u * gap) * below + mp.exp(u * gap) * above)
        return total * u / (2 * whole)

    return at


def oracle(p, q, alpha, scale):
    with mp.workdps(30):
        first, second, a = density(p, scale), density(q, scale), mp.mpf(alpha)
        steps = (-8, -4, -2, -1, 0, 1, 2, 4, 8)
        cuts = sorted({float(x) for law in (p, q) for k in steps for x in law.means + k * law.stds})
        total = mp.quad(lambda y: first(y) ** a * second(y) ** (1 - a), [-mp.inf, *map(mp.mpf, cuts), mp.inf])
        return mp.log(total) / (a - 1)


@pytest.mark.parametrize("name", CASES)
def test_an_integral_with_thirty_digits_agrees(name):
    p, q, alpha, scale = CASES[name]
    truth = oracle(p, q, alpha, scale)
    found = enclose_renyi_after_laplace(p, q, alpha=alpha, scale=scale)
    assert found.lower * (1 - 1e-14) <= truth <= found.upper * (1 + 1e-14)  # the oracle has its own last digits
    assert found.width <= 1e-11 * found.upper
    assert renyi_after_laplace(p, q, alpha=alpha, scale=scale) == pytest.approx(float(truth), rel=1e-11)


def test_two_points_have_a_formula():
    for gap, alpha, scale in ((1.0, 2.0, 1.0), (3.0, 5.0, 0.7), (0.1, 1.5, 4.0)):
        t = gap / scale
        whole = alpha / (2 * alpha - 1) * math.exp((alpha - 1) * t) + (alpha - 1) / (2 * alpha - 1) * math.exp(
            -alpha * t
        )
        found = renyi_after_laplace(Mixture.gaussian(0, 0), Mixture.gaussian(gap, 0), alpha=alpha, scale=scale)
        assert found == pytest.approx(math.log(whole) / (alpha - 1), rel=1e-12)


laws = st.integers(1, 3).flatmap(
    lambda n: st.builds(
        lambda w, m, s: Mixture([x / math.fsum(w) for x in w], m, s),
        st.lists(st.floats(0.05, 1), min_size=n, max_size=n),
        st.lists(st.floats(-5, 5), min_size=n, max_size=n),
        st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]), min_size=n, max_size=n),
    )
)


@settings(max_examples=12, deadline=None)
@given(laws, laws, st.sampled_from([1.1, 2.0, 3.0, 16.0]), st.floats(0.3, 5))
def test_floats_lie_in_the_enclosure_and_rise_with_the_order_to_the_odds(p, q, alpha, scale):
    value = renyi_after_laplace(p, q, alpha=alpha, scale=scale)
    found = enclose_renyi_after_laplace(p, q, alpha=alpha, scale=scale)
    assert found.lower - 1e-11 <= value <= found.upper + 1e-11
    assert value <= renyi_after_laplace(p, q, alpha=2 * alpha, scale=scale) + 1e-11
    assert value <= odds_after_laplace(p, q, scale=scale) + 1e-11
    assert renyi_after_laplace(p, q, alpha=alpha, scale=1.5 * scale) <= value + 1e-11


def test_a_decision_is_proved_either_way_or_not_at_all():
    p, q, alpha, scale = CASES["mixtures"]
    value = renyi_after_laplace(p, q, alpha=alpha, scale=scale)
    claim = {"alpha": alpha, "scale": scale}
    assert decide_renyi_after_laplace(p, q, epsilon=value * (1 + 1e-12), **claim).holds is True
    assert decide_renyi_after_laplace(p, q, epsilon=value * (1 - 1e-12), **claim).holds is False
    assert decide_renyi_after_laplace(p, q, epsilon=value, effort=Effort(5), **claim).holds is None
    assert decide_renyi_after_laplace(p, p, epsilon=1e-9, **claim).holds is True


def test_laws_too_far_apart_for_a_grid_have_the_odds_as_a_bound():
    p, q = Mixture.gaussian(0, 0), Mixture.gaussian(1e6, 0)
    assert renyi_after_laplace(p, q, alpha=2, scale=1.0) == odds_after_laplace(p, q, scale=1.0)
