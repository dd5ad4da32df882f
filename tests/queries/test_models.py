"""Gaussian processes and Bayesian networks: known answers, determinism, and training that falls short."""

import math
from importlib import util

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.errors import InputError, MechanismError
from takifugu.problems.diagnostics import Diagnostic

CASES = [tk.datasets.about(name) for name in tk.datasets.names()]
QUICK = {"steps": 1_500, "max_rows": 200, "progress": False}
# A network compiles for ten seconds for each number of columns: all are trained on two. One table has no others.
TWO = {
    "adult": ["age", "hours-per-week"],
    "heart": ["age", "thalach"],
    "student-mat": ["G1", "G2"],
    "student-por": ["G1", "G2"],
}


@pytest.fixture(scope="module")
def line() -> pd.DataFrame:
    """A noisy straight line for each of two secrets: at x = 1 the answer is N(5, 0.5²) or N(-1, 0.5²)."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=400)
    s = np.repeat(["up", "down"], 200)
    y = np.where(s == "up", 3 + 2 * x, 1 - 2 * x) + 0.5 * rng.normal(size=400)
    return pd.DataFrame({"s": s, "x": x, "unrelated": rng.normal(size=400), "y": y})


@pytest.mark.parametrize("query", [tk.GP("y", at={"x": 1.0}), tk.BNN("y", at={"x": 1.0}, steps=4_000)])
def test_the_prediction_is_right_and_has_the_observation_noise(line, query):
    found = tk.fit_priors(line, secret="s", query=query)
    for secret, answer in (("up", 5.0), ("down", -1.0)):
        assert found[secret].mean == pytest.approx(answer, abs=0.25)
        assert math.sqrt(found[secret].variance) == pytest.approx(0.5, rel=0.15)
    assert not found.findings


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("query", ["gp", "bnn"])
def test_every_dataset(case, query):
    data, secrets = tk.datasets.load(case.name), list(case.pair)
    model = tk.GP(case.answer, max_rows=100, restarts=0)
    if query == "bnn":
        features = TWO[case.name]
        if case.name == "heart":
            data, features = data[[case.secret, case.answer, *features]], None  # all it has
        model = tk.BNN(case.answer, features=features, **QUICK)
    found = tk.fit_priors(data, secret=case.secret, query=model, secrets=secrets)
    assert list(found) == secrets
    for secret, prior in found.items():
        answers = data.loc[data[case.secret] == secret, case.answer]
        assert prior.is_gaussian
        assert abs(prior.mean - answers.mean()) < 2 * answers.std()
        assert 0.05 * answers.std() < prior.stds[0] < 2 * answers.std()


@pytest.mark.parametrize("query", [tk.GP("oldpeak"), tk.BNN("oldpeak", **QUICK)], ids=["gp", "bnn"])
def test_the_same_seed_gives_the_same_priors(query):
    data = tk.datasets.load("heart")[["slope", "oldpeak", *TWO["heart"]]]
    first, second = (tk.fit_priors(data, secret="slope", query=query, secrets=[3]) for _ in range(2))
    assert first == second


def test_a_secret_does_not_hang_on_the_others():
    data = tk.datasets.load("heart")
    query = tk.GP("oldpeak", restarts=0)
    alone = tk.fit_priors(data, secret="slope", query=query, secrets=[3])
    together = tk.fit_priors(data, secret="slope", query=query, secrets=[1, 3])
    assert alone[3] == together[3]


def test_the_gaussian_process_is_the_textbook_one(line):
    """The predictive normal by plain linear algebra (Rasmussen and Williams, Alg. 2.1)."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    up = line[line["s"] == "up"][["x", "y"]]
    found = tk.fit_priors(line, secret="s", query=tk.GP("y", features=["x"], at=[1.0], restarts=0), secrets=["up"])[
        "up"
    ]
    x, y = (up["x"] - up["x"].mean()) / up["x"].std(ddof=0), (up["y"] - up["y"].mean()) / up["y"].std(ddof=0)
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(1.0, (1e-2, 1e4)) + WhiteKernel(0.5, (1e-6, 1e2))
    learned = GaussianProcessRegressor(kernel).fit(x.to_numpy()[:, None], y).kernel_
    size, length, noise = learned.k1.k1.constant_value, learned.k1.k2.length_scale, learned.k2.noise_level
    at = (1.0 - up["x"].mean()) / up["x"].std(ddof=0)
    cross = size * np.exp(-0.5 * ((x.to_numpy() - at) / length) ** 2)
    gram = size * np.exp(-0.5 * ((x.to_numpy()[:, None] - x.to_numpy()) / length) ** 2) + noise * np.eye(len(x))
    mean = cross @ np.linalg.solve(gram, y)
    variance = size + noise - cross @ np.linalg.solve(gram, cross)
    assert found.mean == pytest.approx(up["y"].mean() + up["y"].std(ddof=0) * mean, rel=1e-3)
    assert found.stds[0] == pytest.approx(up["y"].std(ddof=0) * math.sqrt(variance), rel=1e-3)


def test_training_that_stops_early_says_so(line, monkeypatch):
    found = tk.fit_priors(line, secret="s", query=tk.BNN("y", steps=300), secrets=["up"])
    (remark,) = found.findings
    assert remark.code == "not-converged"
    assert "still falling after 300 steps: allow more steps" in remark.sentence

    import scipy.optimize

    real = scipy.optimize.minimize
    monkeypatch.setattr(scipy.optimize, "minimize", lambda *a, **k: real(*a, **k, options={"maxiter": 1}))
    found = tk.fit_priors(line, secret="s", query=tk.GP("y"), secrets=["up"])
    (remark,) = found.findings
    assert "the Gaussian process of secret 'up' did not converge" in remark.sentence


def test_a_large_secret_is_trained_on_a_sample(line):
    found = tk.fit_priors(line, secret="s", query=tk.GP("y", max_rows=60, restarts=0), secrets=["up"])
    assert Diagnostic("subsampled", secret="up", rows=200, used=60) in found.findings


def test_a_constant_target_is_a_point(line):
    line = line.assign(y=np.where(line["s"] == "up", 7.0, line["y"]))
    found = tk.fit_priors(line, secret="s", query=tk.GP("y", restarts=0))
    assert found["up"] == tk.Mixture.gaussian(7.0, 0.0)
    assert Diagnostic("constant", secret="up", column="y", value=7.0) in found.findings


def test_a_point_far_outside_the_data_still_gets_an_answer(line):
    for query in (tk.GP("y", at={"x": 1e6}, restarts=0), tk.BNN("y", at={"x": 1e6}, **QUICK)):
        prior = tk.fit_priors(line, secret="s", query=query, secrets=["up"])["up"]
        assert math.isfinite(prior.mean)
        assert prior.stds[0] > 0.4


def test_a_missing_extra_is_named(line, monkeypatch):
    monkeypatch.setattr("takifugu.queries.models.find_spec", lambda name: None)
    with pytest.raises(tk.MissingExtraError, match=r"pip install 'takifugu\[bnn\]'") as caught:
        tk.fit_priors(line, secret="s", query=tk.BNN("y"))
    assert isinstance(caught.value, ImportError)
    assert util.find_spec("numpyro") is not None


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tk.GP("y", features="x"), r"features must be a list of columns, such as \['age'\]; got 'x'"),
        (lambda: tk.GP("y", features=[]), "features must be a list"),
        (lambda: tk.GP("y", max_rows=1), "max_rows must be a whole number, 2 or more"),
        (lambda: tk.BNN("y", steps=0), "steps must be a whole number, 100 or more"),
        (lambda: tk.BNN("y", hidden=0), "hidden must be a whole number, 1 or more"),
        (lambda: tk.BNN("y", seed=-1), "seed must be a whole number, 0 or more"),
    ],
)
def test_bad_options_are_told_at_once(make, sentence):
    with pytest.raises(tk.InputError, match=sentence):
        make()


def test_the_secret_is_not_the_target(line):
    with pytest.raises(tk.InputError, match="both the secret and the answer"):
        tk.fit_priors(line, secret="y", query=tk.GP("y"))


def test_a_process_keeps_draws_of_what_it_does_not_know():
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, 60)
    table = pd.DataFrame({"s": ["a", "b"] * 30, "x": x, "y": 2 * x + np.tile([0.0, 1.0], 30) + rng.normal(0, 0.5, 60)})
    priors = tk.fit_priors(table, secret="s", query=tk.GP("y", features=["x"], draws=40))
    for name, (means, stds) in priors.drawn.items():
        law = priors[name]
        assert means.shape == stds.shape == (40,)
        assert (stds > 0).all()
        assert abs(means.mean() - law.means[0]) < law.stds[0]
        # By the law of total variance the draws together are about as wide as the prediction.
        assert math.hypot(means.std(), math.sqrt((stds**2).mean())) == pytest.approx(law.stds[0], rel=0.5)
    plain = tk.calibrate(priors, alpha=2, epsilon=0.5)
    found = tk.calibrate(priors, alpha=2, epsilon=0.5, confidence=0.9, adversary=tk.Adversary(seed=1))
    assert found.theta > plain.theta
    assert found.evidence.holds(found.problem, found.channel, found.guarantee)
    again = tk.Calibration.from_dict(found.to_dict())
    assert again.meets_budget()
    with pytest.raises(InputError, match="fit it with draws=59"):
        tk.calibrate(priors, alpha=2, epsilon=0.5, confidence=0.95)
    bare = tk.fit_priors(table, secret="s", query=tk.GP("y", features=["x"]))
    with pytest.raises(MechanismError, match=r"GP\('y', draws=59\)"):
        tk.calibrate(bare, alpha=2, epsilon=0.5, confidence=0.95)


@pytest.mark.skipif(util.find_spec("numpyro") is None, reason="needs the extra bnn")
def test_what_fills_a_table_up_trains_no_network(line, monkeypatch):
    from takifugu.queries import models

    query = tk.BNN("y", steps=300, progress=False)
    plain = tk.fit_priors(line, secret="s", query=query)
    padded = models._padded

    def with_rubbish(sample):
        inputs, answers, real = padded(sample)
        inputs[~real], answers[~real] = 17.0, -400.0
        assert real.sum() == len(sample.answers) < len(real)
        return inputs, answers, real

    monkeypatch.setattr(models, "_padded", with_rubbish)
    assert tk.fit_priors(line, secret="s", query=query) == plain


@pytest.mark.skipif(util.find_spec("numpyro") is None, reason="needs the extra bnn")
def test_a_network_keeps_some_of_its_networks(line):
    priors = tk.fit_priors(line, secret="s", query=tk.BNN("y", steps=600, progress=False))
    for name, (means, stds) in priors.drawn.items():
        assert len(means) == 500
        assert math.hypot(means.std(), math.sqrt((stds**2).mean())) == pytest.approx(priors[name].stds[0], rel=0.1)
    found = tk.calibrate(priors, alpha=2, epsilon=1, confidence=0.9)
    assert found.theta >= tk.calibrate(priors, alpha=2, epsilon=1).theta
    assert found.evidence.holds(found.problem, found.channel, found.guarantee)
    with pytest.raises(InputError, match="draws must be"):
        tk.BNN("y", draws=5_000)


def two_groups(rng, gap=1.0, rows=100):
    s, x = np.repeat(["a", "b"], rows), rng.normal(size=2 * rows)
    return pd.DataFrame({"s": s, "x": x, "y": 0.3 * x + rng.normal(size=2 * rows) + gap * (s == "b")})


def test_the_mean_of_a_prediction_gets_the_noise_that_tables_call_for():
    """What a model says spreads over tables of one population as its prior says, and not as people do."""
    rng = np.random.default_rng(1)
    said = {"features": ["x"], "at": {"x": 0.0}, "restarts": 0, "observation": False}
    priors = [tk.fit_priors(two_groups(rng), secret="s", query=tk.GP("y", **said)) for _ in range(40)]
    means = {name: np.array([one[name].mean for one in priors]) for name in "ab"}
    for name in "ab":
        assert means[name].std() == pytest.approx(np.mean([one[name].std for one in priors]), rel=0.35)
    calibration = tk.calibrate(priors[0], alpha=3, epsilon=1)
    # The loss of the normals that tables really give, whose means this one table missed by about a standard error.
    variance = calibration.theta**2 + 0.5 * (means["a"].var() + means["b"].var())
    assert 3 * (means["a"].mean() - means["b"].mean()) ** 2 / (2 * variance) < 2.0
    assert len(tk.release([priors[0]["a"].mean], calibration)) == 1


@pytest.mark.parametrize("model", [tk.GP, tk.BNN])
def test_a_mean_is_not_published_with_the_noise_of_an_observation(line, model):
    given = {"features": ["x", "unrelated"], "at": {"x": 1.0}} | ({"restarts": 0} if model is tk.GP else QUICK)
    whole = tk.fit_priors(line, secret="s", query=model("y", **given))
    function = tk.fit_priors(line, secret="s", query=model("y", **given, observation=False))
    for name in ("up", "down"):
        assert function[name].mean == whole[name].mean
        assert 0 < function[name].std < 0.4 * whole[name].std
    assert function.answer.words.startswith("the mean of a")
    calibration = tk.calibrate(whole, alpha=3, epsilon=1)
    with pytest.raises(InputError, match="observation=False"):
        tk.release([whole["up"].mean], calibration)
    assert len(tk.release(whole["up"].sample(1, seed=1), calibration)) == 1
    stricter = tk.calibrate(function, alpha=3, epsilon=1)
    assert stricter.theta > calibration.theta
    assert len(tk.release([function["up"].mean], stricter)) == 1
    with pytest.raises(MechanismError, match="not for the mean"):
        tk.calibrate(function, alpha=3, epsilon=1, confidence=0.95)


def test_means_at_several_inputs_are_the_function_alone(line, tmp_path):
    given = {"features": ["x"], "at": [{"x": 0.0}, {"x": 1.0}, {"x": 1.0}], "restarts": 0}
    whole, function = (
        tk.fit_priors(line, secret="s", query=tk.GP("y", **given, observation=seen)) for seen in (True, False)
    )
    for name in ("up", "down"):
        noise = np.diagonal(whole[name].covariance - function[name].covariance)
        assert noise == pytest.approx(np.full(3, noise[0]))
        assert np.linalg.eigvalsh(function[name].covariance).min() > -1e-12
        assert function[name].covariance[1, 2] == pytest.approx(function[name].covariance[1, 1])
    calibration = tk.calibrate(whole, alpha=3, epsilon=1)
    with pytest.raises(InputError, match="observation=False"):
        tk.release(whole["up"].mean, calibration)
    stricter = tk.calibrate(function, alpha=3, epsilon=1)
    stricter.save(tmp_path / "mean.json")
    assert tk.Calibration.load(tmp_path / "mean.json") == stricter
    assert len(tk.release(function["up"].mean, stricter)) == 3


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_a_process_does_not_hang_on_the_unit_of_its_columns(line, size):
    query = tk.GP("y", features=["x"], at={"x": 1.0})
    plain = tk.fit_priors(line, secret="s", query=query)
    target = tk.fit_priors(line.assign(y=line.y * size), secret="s", query=query)
    feature = tk.GP("y", features=["x"], at={"x": size})
    for found, unit in ((target, size), (tk.fit_priors(line.assign(x=line.x * size), secret="s", query=feature), 1)):
        for secret, law in plain.items():
            assert found[secret].means[0] / unit == pytest.approx(law.means[0], rel=1e-4)
            assert found[secret].stds[0] / unit == pytest.approx(law.stds[0], rel=1e-4)
