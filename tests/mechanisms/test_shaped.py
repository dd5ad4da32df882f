import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu import VectorMixture, calibrate
from takifugu.divergences.vectors_proved import prove_vectors
from takifugu.errors import InputError
from takifugu.mechanisms.shaped import shaped_noise
from takifugu.mechanisms.shaped_barrier import Places, Shape, _Barrier


def random_laws(rng, secrets, d, *, equal=False, components=1):
    shared = rng.normal(size=(d, 2 * d))
    laws = []
    for _ in range(secrets):
        x = shared + (0.0 if equal else 0.4) * rng.normal(size=(components, d, 2 * d))
        x = np.broadcast_to(x, (components, d, 2 * d))
        unit = np.arange(1.0, d + 1)
        covariances = x @ x.transpose(0, 2, 1) / (2 * d) * np.outer(unit, unit)
        means = rng.normal(size=(components, d)) * unit
        laws.append(VectorMixture(rng.dirichlet(np.full(components, 3.0)), means, covariances))
    return laws


def test_equal_covariances_agree_with_a_semidefinite_program():
    import cvxpy as cp

    for seed, (secrets, d, alpha, epsilon) in enumerate([(2, 2, 1.5, 0.1), (4, 3, 3.0, 0.5), (3, 6, 20.0, 2.0)]):
        laws = random_laws(np.random.default_rng(seed), secrets, d, equal=True)
        found = shaped_noise([laws], alpha=alpha, epsilon=epsilon, weights=np.ones(d), floor=0.05)
        sigma = cp.Variable((d, d), symmetric=True)
        pooled = np.mean([law.covariance for law in laws], axis=0)
        spread = np.var([law.mean for law in laws], axis=0)
        least = np.diag(0.05**2 * (np.diagonal(pooled) + spread))
        within = [sigma >> least]
        for i in range(secrets):
            for j in range(i):
                gap = (laws[i].mean - laws[j].mean)[:, None]
                block = cp.bmat([[laws[0].covariance + sigma, gap], [gap.T, np.array([[2 * epsilon / alpha]])]])
                within.append(block >> 0)
        program = cp.Problem(cp.Minimize(cp.trace(sigma)), within)
        program.solve(solver=cp.CLARABEL)
        assert np.trace(found.covariance) == pytest.approx(program.value, rel=1e-3)


def test_one_pair_with_equal_covariances_has_its_closed_form():
    rng = np.random.default_rng(5)
    laws = random_laws(rng, 2, 4, equal=True)
    found = shaped_noise([laws], alpha=3.0, epsilon=0.2, weights=np.ones(4), floor=1e-3)
    gap = laws[0].mean - laws[1].mean
    values = np.linalg.eigvalsh(3.0 / 0.4 * np.outer(gap, gap) - laws[0].covariance)
    assert np.trace(found.covariance) == pytest.approx(values[values > 0].sum(), rel=1e-3)


@given(
    seed=st.integers(0, 2**32 - 1),
    alpha=st.sampled_from([1.1, 2.0, 16.0]),
    epsilon=st.sampled_from([0.05, 0.5, 3.0]),
)
@settings(max_examples=some_of(6), deadline=None)
def test_every_place_is_proved_and_no_simple_shape_is_cheaper(seed, alpha, epsilon):
    rng = np.random.default_rng(seed)
    secrets, d = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    laws = random_laws(rng, secrets, d, components=2 if d == 2 else 1)
    found = shaped_noise([laws], alpha=alpha, epsilon=epsilon)
    for place in found.places:
        decision = prove_vectors(
            laws[place.first], laws[place.second], alpha=alpha, epsilon=epsilon, covariance=found.covariance
        )
        assert decision.holds
    assert found.cost <= min(found.compared.values()) * (1 + 1e-6)
    assert set(found.compared) == {"equal", "whitened", "diagonal", "full"}
    spread = np.sqrt(
        np.diagonal(sum(law.covariance for law in laws) / secrets) + np.var([m.mean for m in laws], axis=0)
    )
    least = np.linalg.eigvalsh(found.covariance / np.outer(spread, spread))[0]
    assert least >= 0.05**2 * (1 - 1e-9)


def test_shapes_are_what_they_say():
    laws = random_laws(np.random.default_rng(0), 3, 3)
    costs = {}
    for shape in ("full", "diagonal", "equal"):
        found = shaped_noise([laws], alpha=2.0, epsilon=0.5, shape=shape, prove=False)
        costs[shape] = found.cost
        assert not found.proved
        if shape != "full":
            assert np.count_nonzero(found.covariance - np.diag(np.diagonal(found.covariance))) == 0
    assert costs["full"] < costs["diagonal"] < costs["equal"]


def test_beliefs_and_pairs_are_all_kept():
    rng = np.random.default_rng(1)
    beliefs = [random_laws(rng, 3, 2) for _ in range(2)]
    alone = [shaped_noise([belief], alpha=2.0, epsilon=0.5, weights=np.ones(2), prove=False) for belief in beliefs]
    both = shaped_noise(beliefs, alpha=2.0, epsilon=0.5, weights=np.ones(2), prove=False)
    assert both.cost >= max(each.cost for each in alone) * (1 - 1e-3)
    assert len(both.places) == 12
    assert both.binding in both.places
    one = shaped_noise(beliefs, alpha=2.0, epsilon=0.5, pairs=[(0, 2)], weights=np.ones(2), prove=False)
    assert {(place.first, place.second) for place in one.places} == {(0, 2), (2, 0)}
    assert one.cost <= both.cost * (1 + 1e-3)


def test_derivatives_of_the_barrier_agree_with_differences():
    rng = np.random.default_rng(2)
    for components in (1, 2):
        places = Places([random_laws(rng, 2, 2, components=components)], [(0, 1)])
        sigma = np.array([[30.0, 4.0], [4.0, 40.0]])
        terms = places.coupled(sigma, alpha=2.0)
        barrier = _Barrier(terms, Shape.full(2), np.eye(2), 0.01 * np.eye(2), 2.0, 3.0)
        y = barrier.shape.coordinates(sigma)
        gradient, hessian = barrier._derivatives(y, 0.7)
        for a, step in enumerate(1e-4 * np.eye(3)):
            up, down = barrier._value(y + step, 0.7), barrier._value(y - step, 0.7)
            assert (up - down) / 2e-4 == pytest.approx(gradient[a], rel=1e-5, abs=1e-7)
            rise = barrier._derivatives(y + step, 0.7)[0] - barrier._derivatives(y - step, 0.7)[0]
            np.testing.assert_allclose(rise / 2e-4, hessian[a], rtol=1e-4, atol=1e-7)


def test_laws_that_agree_need_the_floor_alone():
    law = random_laws(np.random.default_rng(0), 1, 2)[0]
    found = shaped_noise([[law, law]], alpha=2.0, epsilon=0.5)
    assert found.binding is None
    assert math.isclose(found.cost, 2 * 0.05**2, rel_tol=1e-9)


def test_a_column_that_tells_the_secret_and_one_twice_are_hidden_too():
    telling = [VectorMixture.gaussian([k, 0.0], [[0.0, 0.0], [0.0, 1.0]]) for k in (0.0, 1.0)]
    assert max(shaped_noise([telling], alpha=2.0, epsilon=0.5).losses) <= 0.5
    twice = [VectorMixture.gaussian([k, k], [[1.0, 1.0], [1.0, 1.0]]) for k in (0.0, 1.0)]
    assert max(shaped_noise([twice], alpha=2.0, epsilon=0.1).losses) <= 0.1


GOOD = VectorMixture.gaussian([0, 0], np.eye(2))


@pytest.mark.parametrize(
    ("beliefs", "options", "words"),
    [
        ([[GOOD, VectorMixture.gaussian([0], [[1]])]], {}, "same numbers"),
        ([[GOOD]], {}, "at least two"),
        ([[GOOD, "x"]], {}, "VectorMixture"),
        ([[GOOD, GOOD]], {"shape": "round"}, "shape must be one of"),
        ([[GOOD, GOOD]], {"floor": 0.0}, "singular"),
        ([[GOOD, GOOD]], {"pairs": [(0, 0)]}, "two different positions"),
        ([[GOOD, GOOD]], {"weights": [1.0]}, "each of the 2 axes"),
        ([[GOOD, GOOD]], {"weights": [1.0, -1.0]}, "eigenvalue"),
        ([[VectorMixture.gaussian([0, 5], [[1, 0], [0, 0]])] * 2], {}, "axis 1 is the same number"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(beliefs, options, words):
    with pytest.raises(InputError, match=words):
        shaped_noise(beliefs, alpha=2.0, epsilon=0.5, **options)


def test_a_coupling_that_comes_down_to_one_term_keeps_its_weight():
    """Where all components but one are too narrow at some noise, a place alone must lose what it loses among all."""
    wide = VectorMixture.gaussian([10.09, 14.11], [[9.11, 9.04], [9.04, 15.8]])
    several = VectorMixture(
        [0.3, 0.4, 0.3],
        [[11.17, 18.03], [10.17, 13.98], [10.1, 10.84]],
        [[[8.85, 8.33], [8.33, 8.87]], [[8.71, 7.61], [7.61, 8.96]], [[8.02, 7.73], [7.73, 8.11]]],
    )
    places = Places([[wide, several]], [(0, 1)])
    for scale in (0.3, 1.0, 4.0, 10.0):
        covariance = scale * np.eye(2)
        whole = places.coupled(covariance, alpha=2.0).losses(covariance, alpha=2.0)
        for place in range(2):
            alone = places.coupled(covariance, alpha=2.0, chosen=np.array([place]))
            assert alone.losses(covariance, alpha=2.0) == pytest.approx(whole[place : place + 1])
    assert calibrate({"a": wide, "b": several}, alpha=2, epsilon=1).meets_budget()
