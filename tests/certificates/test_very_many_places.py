"""Certificates of very many pairs: most are proved all at once, and none that is beyond the budget."""

import dataclasses
import math

import numpy as np
import pytest

import takifugu as tk
from how_many import some_of
from takifugu import strict_json
from takifugu.channels import DiscreteLaplaceNoise, GaussianNoise, LaplaceNoise
from takifugu.divergences.laplace_odds import decide_odds_after_laplace, odds_after_laplace
from takifugu.divergences.laplace_renyi import (
    cleared_after_laplace,
    cleared_renyi_after_laplace,
    renyi_after_laplace,
)


def some_laws(rng, count):
    """Points, normals, mixtures of both, some alike, some far away."""
    laws, offset, scale = [], rng.choice([0.0, 1e3, 1e8]), 10.0 ** rng.uniform(-3, 3)
    for _ in range(count):
        size = rng.integers(1, 4)
        stds = rng.uniform(0.2, 2.0, size) * (rng.random(size) < rng.choice([0.0, 0.5, 1.0]))
        means = rng.integers(-3, 4, size) * 0.5
        laws.append(tk.Mixture(rng.dirichlet(np.ones(size)), offset + scale * means, scale * stds))
    return [*laws, laws[0]], scale


@pytest.mark.parametrize("seed", range(some_of(60)))
def test_what_is_cleared_is_proved_for_each_pair_too(seed):
    rng = np.random.default_rng(seed)
    laws, scale = some_laws(rng, 5)
    b, epsilon = scale * rng.uniform(0.5, 4.0), rng.uniform(0.1, 3.0)
    cleared = cleared_after_laplace(laws, scale=b, epsilon=epsilon)
    assert cleared.diagonal().all()
    for i, j in zip(*np.nonzero(cleared), strict=True):
        assert decide_odds_after_laplace(laws[i], laws[j], scale=b, epsilon=epsilon).holds
    for i, j in zip(*np.nonzero(~cleared), strict=True):  # nor is much left to prove
        assert odds_after_laplace(laws[i], laws[j], scale=b) > 0.99 * epsilon - 1e-9


@pytest.mark.parametrize("seed", range(some_of(40)))
def test_what_is_cleared_of_a_finite_order_is_proved_for_each_pair_too(seed):
    rng = np.random.default_rng(seed)
    laws, scale = some_laws(rng, 3)
    b, epsilon, alpha = scale * rng.uniform(0.5, 4.0), rng.uniform(0.1, 3.0), rng.choice([1.01, 1.5, 2.0, 3.0, 16.0])
    cleared = cleared_renyi_after_laplace(laws, alpha=alpha, scale=b, epsilon=epsilon)
    assert cleared.diagonal().all()
    for i, p in enumerate(laws):
        for j, q in enumerate(laws):
            loss = renyi_after_laplace(p, q, alpha=alpha, scale=b)
            assert loss <= epsilon * (1 + 1e-9) or not cleared[i, j]
            if alpha <= 3 and len(laws) ** 2 < 200:
                assert cleared[i, j] or loss > 0.9 * epsilon or alpha < 1.5  # nor is much left to prove


@pytest.mark.parametrize("beside", [1 + 1e-12, 1 - 1e-12])
def test_a_pair_a_hair_from_the_budget_is_left_to_its_own_proof(beside):
    laws = [tk.Mixture.gaussian(0, 1), tk.Mixture.gaussian(1, 1), tk.Mixture.gaussian(0.2, 1)]
    cleared = cleared_after_laplace(laws, scale=2.0, epsilon=0.5 * beside)
    assert cleared.tolist() == [[True, False, True], [False, True, True], [True, True, True]]


def test_points_alone_are_compared_at_the_points_and_nowhere_else():
    laws = [tk.Mixture.empirical([0, 0, 1]), tk.Mixture.empirical([0, 1, 1]), tk.Mixture.empirical([0, 0, 0, 1, 1])]
    least = tk.calibrate(dict(enumerate(laws)), odds=1.5).channel.scale
    assert cleared_after_laplace(laws, scale=least * 1.001, epsilon=math.log(1.5)).all()


@pytest.fixture
def many(monkeypatch):
    """A file holds no more than 25 losses."""
    monkeypatch.setattr(strict_json, "MOST_LOSSES", 25)


def priors(kind):
    rng = np.random.default_rng(1)
    if kind == "normals":
        return {i: tk.Mixture.gaussian(rng.normal(), rng.uniform(0.5, 1.5)) for i in range(7)}
    return {i: tk.Mixture(rng.dirichlet([3, 3]), rng.normal(0, 1, 2), rng.uniform(0.5, 1, 2)) for i in range(6)}


ASKED = [{"odds": 3}, {"alpha": 2, "epsilon": 0.5}, {"epsilon": 1, "delta": 1e-3}]


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("kind", ["normals", "mixtures"])
@pytest.mark.parametrize("asked", ASKED, ids=["odds", "renyi", "delta"])
def test_a_certificate_of_more_losses_than_a_file_holds_is_of_all_pairs(kind, asked, tmp_path):
    calibration = tk.calibrate(priors(kind), **asked)
    certificate = tk.certify(calibration)
    assert certificate.losses == ()
    certificate.save(tmp_path / "c.json")
    assert tk.verify(tmp_path / "c.json") == certificate
    assert "keeps 21 pairs" in certificate.claim if kind == "normals" else "keeps 15 pairs" in certificate.claim
    noise = calibration.channel
    less = noise.resized(noise.size * (1 - 1e-4))
    false = dataclasses.replace(certificate, calibration=dataclasses.replace(calibration, channel=less))
    with pytest.raises(tk.CertificationError, match="is not proved"):
        tk.verify(false)


@pytest.mark.usefixtures("many")
def test_of_pairs_that_are_not_all_each_is_proved():
    laws = priors("normals") | {7: tk.Mixture.gaussian(40, 1)}  # a corner that is hidden from nobody but 6
    pairs = [(i, j) for i in range(7) for j in range(i)] + [(6, 7)]
    calibration = tk.calibrate(laws, alpha=2, epsilon=0.5, pairs=pairs[:-1])
    assert tk.verify(tk.certify(calibration))
    false = tk.calibrate(laws, alpha=2, epsilon=0.5, pairs=pairs)
    less = dataclasses.replace(tk.certify(false), calibration=dataclasses.replace(false, channel=calibration.channel))
    with pytest.raises(tk.CertificationError, match="6"):
        tk.verify(less)


@pytest.mark.usefixtures("many")
def test_losses_are_left_out_where_there_are_too_many_and_nowhere_else(monkeypatch, tmp_path):
    certificate = tk.certify(tk.calibrate(priors("normals"), odds=3))
    state = certificate.to_dict()
    assert state["losses"] is None
    monkeypatch.setattr(strict_json, "MOST_LOSSES", 100)
    with pytest.raises(tk.InputError, match="'losses' must list each loss"):
        tk.certificates.ChannelCertificate.from_dict(state)


def test_another_kind_of_noise_clears_nothing_at_once():
    laws = list(priors("normals").values())
    assert not GaussianNoise(1.0).cleared(laws, tk.Renyi(2, 1).divergence, 1.0).any()
    assert not LaplaceNoise(0.0).cleared(laws, tk.Odds(3).divergence, 1.0).any()


@pytest.mark.parametrize("seed", range(some_of(30)))
def test_what_is_cleared_on_a_lattice_is_proved_for_each_pair_too(seed):
    rng = np.random.default_rng(seed)
    step = float(rng.choice([0.1, 1.0, 0.25]))
    laws = [tk.Mixture(rng.dirichlet(np.ones(4)), 3 + step * np.arange(4), np.zeros(4)) for _ in range(5)]
    noise = DiscreteLaplaceNoise(step * rng.uniform(0.5, 4.0), step=step, offset=3.0)
    epsilon, of = rng.uniform(0.1, 2.0), tk.Odds(3).divergence
    cleared = noise.cleared(laws, of, epsilon)
    for i, p in enumerate(laws):
        for j, q in enumerate(laws):
            holds = noise.decide(p, q, of, epsilon).holds
            assert holds or not cleared[i, j]
            assert cleared[i, j] or not holds or noise.loss(p, q, of) > epsilon * (1 - 1e-9)


@pytest.mark.parametrize("asked", [{"odds": 3}, {"alpha": 2, "epsilon": 0.5}])
def test_a_limit_that_the_first_look_meets_is_a_refusal_as_any_other(asked):
    laws = {k: tk.Mixture.gaussian(k / 3, 1 + k / 10) for k in range(4)}
    certificate = tk.certify(tk.calibrate(laws, mechanism="laplace", **asked))
    with pytest.raises(tk.CertificationError, match="the limit of 10 evaluations"):
        tk.verify(certificate, limit=10)
