"""Confidence for the means of several columns: the posterior against SciPy, and what the evidence is held to."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import invwishart

import takifugu as tk
from takifugu.channels.vector_noise import GaussianVector
from takifugu.divergences.vectors import gaussian_vector_divergence
from takifugu.errors import CalibrationError, CertificationError, InputError, MechanismError
from takifugu.mechanisms.confidence import vector_mean_draws
from takifugu.mechanisms.evidence import Confidence

COVARIANCE = np.array([[2.0, 0.6], [0.6, 0.5]])


def people(rows=400, seed=0, columns=2):
    rng = np.random.default_rng(seed)
    secret = rng.random(rows) < 0.4
    frame = pd.DataFrame(rng.normal(size=(rows, columns)), columns=[f"c{k}" for k in range(columns)])
    frame["c0"] += 0.5 * secret + 0.5 * frame["c1"]
    frame["secret"] = np.where(secret, "a", "b")
    return frame


@pytest.fixture(scope="module")
def calibration():
    priors = tk.fit_priors(people(), secret="secret", query=tk.Mean(["c0", "c1"]))
    return tk.calibrate(priors, alpha=2, epsilon=0.5, confidence=0.8)


def test_draws_have_the_moments_of_the_posterior():
    rows, count = 12, 5_000
    law = tk.VectorMixture.gaussian([1.0, -1.0], COVARIANCE / rows)
    drawn = vector_mean_draws(law, rows, count, [0, 0, 0])
    # Σ ~ inverse Wishart with n − 1 degrees of freedom around (n − 1) C: SciPy's, sample by sample and on average.
    theirs = invwishart(df=rows - 1, scale=(rows - 1) * COVARIANCE)
    ours = rows * np.array([one.covariances[0] for one in drawn])
    assert np.allclose(ours.mean(axis=0), theirs.mean(), rtol=0.08, atol=0.04)
    sample = theirs.rvs(count, random_state=1)
    for share in (0.1, 0.5, 0.9):
        for of in (lambda m: m[:, 0, 0], lambda m: m[:, 0, 1] / np.sqrt(m[:, 0, 0] * m[:, 1, 1]), np.linalg.det):
            assert np.quantile(of(ours), share) == pytest.approx(np.quantile(of(sample), share), rel=0.12, abs=0.04)
    means = np.array([one.means[0] for one in drawn])
    assert np.allclose(means.mean(axis=0), [1.0, -1.0], atol=0.04)
    assert np.allclose(np.cov(means.T), theirs.mean() / rows, rtol=0.12, atol=0.02)


def test_one_column_draws_what_the_draws_for_one_column_are():
    law = tk.VectorMixture.gaussian([3.0], [[0.25]])
    drawn = vector_mean_draws(law, 30, 5_000, [1, 0, 0])
    variances = np.array([one.covariances[0][0, 0] for one in drawn])
    chi = 29 * 0.25 / variances
    assert chi.mean() == pytest.approx(29, rel=0.02)
    assert chi.var() == pytest.approx(58, rel=0.12)


def test_noise_is_enough_for_the_centre_and_all_draws(calibration):
    evidence, problem = calibration.evidence, calibration.problem
    assert (evidence.level, evidence.draws) == (0.8, 8)
    assert evidence.holds(problem, calibration.channel, calibration.guarantee)
    belief = problem.beliefs[0]
    drawn = {s: vector_mean_draws(belief[s], belief.rows[s], 8, [0, 0, k]) for k, s in enumerate(problem.pairs.secrets)}
    worst = max(
        gaussian_vector_divergence(
            p.means[0] - q.means[0],
            p.covariances[0],
            q.covariances[0],
            alpha=2.0,
            covariance=calibration.channel.covariance,
        )
        for a, b in problem.pairs.directed()
        for p, q in zip(drawn[a], drawn[b], strict=True)
    )
    assert 0.45 < worst <= 0.5  # and not much more than that
    without = tk.calibrate(problem, alpha=2, epsilon=0.5)
    assert evidence.without == pytest.approx(without.error)
    assert calibration.error > without.error
    assert tk.verify(tk.certify(calibration)).calibration == calibration
    assert "Monte Carlo evidence" in tk.report(calibration)


def test_a_file_with_less_noise_or_false_evidence_is_refused(calibration, tmp_path):
    calibration.save(tmp_path / "c.json")
    assert tk.Calibration.load(tmp_path / "c.json") == calibration
    plain = tk.calibrate(calibration.problem, alpha=2, epsilon=0.5)
    false = replace(plain, evidence=calibration.evidence)
    assert plain.meets_budget()
    assert not false.meets_budget()
    with pytest.raises(CalibrationError, match="does not meet"):
        tk.release([0.0, 0.0], false)
    with pytest.raises(CertificationError, match="population"):
        tk.certify(false)
    assert tk.release([0.0, 0.0], calibration).shape == (2,)


def test_many_pairs_scale_the_shape_of_the_centre():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"c0": rng.normal(size=900), "c1": rng.normal(size=900), "secret": np.arange(900) % 8})
    priors = tk.fit_priors(frame, secret="secret", query=tk.Mean(["c0", "c1"]))
    made = tk.calibrate(priors, alpha=2, epsilon=1, confidence=0.5, adversary=tk.Adversary(seed=4))
    centre = tk.calibrate(priors, alpha=2, epsilon=1)
    assert (made.evidence.draws, made.evidence.seed) == (1, 4)
    ratio = made.channel.covariance / centre.channel.covariance
    if (len(priors) * (len(priors) - 1)) > 100:
        assert np.allclose(ratio, ratio[0, 0])
    assert made.meets_budget()


def test_what_has_no_posterior_here_is_said():
    law = tk.VectorMixture.gaussian([0.0, 0.0], COVARIANCE)
    for rows in (0, 1, 2):
        with pytest.raises(InputError, match="more than 2 rows"):
            vector_mean_draws(law, rows, 1, [0])
    with pytest.raises(InputError, match="one normal"):
        vector_mean_draws(tk.VectorMixture.empirical([[0, 0], [1, 1]]), 50, 1, [0])
    by_hand = {"a": law, "b": tk.VectorMixture.gaussian([1.0, 0.0], COVARIANCE)}
    with pytest.raises(MechanismError, match="means and predictions of 'shaped'"):
        tk.calibrate(by_hand, alpha=2, epsilon=1, confidence=0.8)
    priors = tk.fit_priors(people(), secret="secret", query=tk.Raw(["c0", "c1"], prior="gaussian"))
    with pytest.raises(MechanismError, match="means and predictions of 'shaped'"):
        tk.calibrate(priors, alpha=2, epsilon=1, confidence=0.8)


def test_a_constant_column_keeps_its_point_and_so_is_no_evidence():
    frame = people(60)
    frame.loc[frame["secret"] == "a", "c1"] = 1.0
    priors = tk.fit_priors(frame, secret="secret", query=tk.Mean(["c0", "c1"]))
    assert {float(law.means[0, 1]) for law in vector_mean_draws(priors["a"], priors.rows["a"], 20, [0])} == {1.0}
    made = tk.calibrate(priors, alpha=2, epsilon=0.5)
    assert made.meets_budget()
    assert math.isfinite(made.error)
    with pytest.raises(MechanismError, match="rows with secret 'a' are all alike"):
        tk.calibrate(priors, alpha=2, epsilon=0.5, confidence=0.5)
    with pytest.raises(MechanismError, match="rows with secret 'a' are all alike"):
        Confidence(0.5, 1, 0, 0.0).holds(made.problem, GaussianVector(1e6 * np.eye(2)), made.guarantee)


@pytest.fixture(scope="module")
def lines():
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, 60)
    frame = pd.DataFrame({"s": ["a", "b"] * 30, "x": x, "y": 2 * x + np.tile([0.0, 1.0], 30) + rng.normal(0, 0.5, 60)})
    return tk.fit_priors(frame, secret="s", query=tk.GP("y", features=["x"], at=[[0.0], [0.1], [2.0]], draws=40))


def test_a_process_keeps_joint_draws(lines):
    for name, (means, stds) in lines.drawn.items():
        assert means.shape == (40, 3)
        assert stds.shape == (40,)
        law = lines[name]
        # Total variance, and what one smooth function has in common at two near inputs and not at a far one.
        spread = np.cov(means.T) + (stds**2).mean() * np.eye(3)
        assert np.allclose(np.diag(spread), np.diag(law.covariances[0]), rtol=0.6)
        together = np.corrcoef(means.T)
        assert together[0, 1] > 0.9 > together[0, 2]


def test_predictions_at_several_inputs_withstand_their_draws(lines, tmp_path):
    plain = tk.calibrate(lines, alpha=2, epsilon=0.5)
    made = tk.calibrate(lines, alpha=2, epsilon=0.5, confidence=0.9, adversary=tk.Adversary(seed=3))
    assert made.error > plain.error
    evidence, problem = made.evidence, made.problem
    assert (evidence.draws, evidence.seed) == (22, 3)
    belief = problem.beliefs[0]
    chosen = {s: np.random.default_rng([3, 0, k]).permutation(40)[:22] for k, s in enumerate(problem.pairs.secrets)}
    worst = max(
        gaussian_vector_divergence(
            belief.drawn[a][0][i] - belief.drawn[b][0][j],
            belief.drawn[a][1][i] ** 2 * np.eye(3),
            belief.drawn[b][1][j] ** 2 * np.eye(3),
            alpha=2.0,
            covariance=made.channel.covariance,
        )
        for a, b in problem.pairs.directed()
        for i, j in zip(chosen[a], chosen[b], strict=True)
    )
    assert 0.45 < worst <= 0.5
    certificate = tk.certify(made)
    certificate.save(tmp_path / "c.json")
    assert tk.verify(tmp_path / "c.json").calibration == made
    with pytest.raises(CertificationError, match="population"):
        tk.certify(replace(plain, evidence=evidence))
    # As many draws as judge, and none for the shape: the centre's shape is scaled.
    few = Confidence(0.95, 40, 0, 0.0)
    assert few.holds(problem, GaussianVector(1e4 * np.eye(3)), made.guarantee)
    with pytest.raises(InputError, match="fit it with draws=59"):
        tk.calibrate(lines, alpha=2, epsilon=0.5, confidence=0.95)


def test_draws_of_another_size_are_refused(lines):
    saved = tk.calibrate(lines, alpha=2, epsilon=0.5, confidence=0.9).to_dict()
    drawn = saved["problem"]["beliefs"][0]["drawn"][0]
    for bad, said in (
        ({"means": [row[:2] for row in drawn["means"]]}, "as many numbers as its laws"),
        ({"means": [*drawn["means"][:-1], [1.0]]}, "rows of one length"),
        ({"stds": drawn["means"]}, "0 or more|as many means"),
    ):
        saved["problem"]["beliefs"][0]["drawn"][0] = drawn | bad
        with pytest.raises(InputError, match=said):
            tk.Calibration.from_dict(saved)


def test_a_model_without_draws_says_how_to_make_them():
    frame = people(60)
    priors = tk.fit_priors(frame, secret="secret", query=tk.GP("c0", features=["c1"], at=[[0.0], [1.0]], restarts=0))
    with pytest.raises(MechanismError, match=r"GP\('c0', draws=59\)"):
        tk.calibrate(priors, alpha=2, epsilon=0.5, confidence=0.8)
