"""Estimates from published tables: right on average, with errors that are as large as they say, or refused."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.channels.gaussian import GaussianNoise
from takifugu.channels.vector_noise import GaussianVector
from takifugu.errors import InputError
from takifugu.estimates import scores as inverting
from takifugu.estimates.estimating import Estimates
from takifugu.estimates.scores import Description, NotDeterminedError, described

RUNS, ROWS = 400, 300


def invertible(values, stay=0.7):
    """Randomized response over 2**20."""
    count = len(values)
    other = int((1 - stay) / (count - 1) * 2**20)
    counts = np.full((count, count), other)
    np.fill_diagonal(counts, 2**20 - other * (count - 1))
    return FiniteChannel(tuple(values), tuple(values), counts)


def through(channel, rows, rng):
    """Published rows, drawn by numpy from the channel's matrix."""
    place = {value: k for k, value in enumerate(channel.inputs)}
    steps = channel.matrix.cumsum(axis=1)
    at = (steps[[place[row] for row in rows]] < rng.random(len(rows))[:, None]).sum(axis=1)
    return [channel.outputs[k] for k in at]


def covered(found, truth, errors):
    """The share of 95 % intervals that hold the truth, and how far the mean is off in its own standard errors."""
    found, errors = np.asarray(found), np.asarray(errors)
    inside = np.abs(found - truth) <= 1.959964 * errors
    return inside.mean(), (found.mean() - np.mean(truth)) / (found.std() / math.sqrt(len(found)))


def test_a_mean_through_an_inverted_channel_is_unbiased_and_its_intervals_cover():
    rng = np.random.default_rng(1)
    channel = invertible((0, 1, 2, 5))
    law = np.array([0.4, 0.3, 0.2, 0.1])
    truth, values, errors, own, parts, shares = law @ [0, 1, 2, 5], [], [], [], [], []
    for _ in range(RUNS):
        true = rng.choice([0, 1, 2, 5], ROWS, p=law).tolist()
        table = pl.DataFrame({"x": through(channel, true, rng)})
        told = tk.estimate(table, channel)
        found = told.mean("x")
        values.append(found.value)
        errors.append(found.error)
        own.append(np.mean(true))
        parts.append(found.from_channel)
        shares.append(told.histogram("x").shares[5].value)
    for target, spread in ((truth, errors), (np.array(own), parts)):  # the population, and the table itself
        share, off = covered(values, target, spread)
        assert 0.92 <= share <= 0.98
        assert abs(off) < 4
    assert np.mean(shares) == pytest.approx(0.1, abs=4 * np.std(shares) / math.sqrt(RUNS))
    assert np.std(values) == pytest.approx(np.mean(errors), rel=0.1)


def test_slopes_through_an_inverted_channel_with_a_kept_column():
    rng = np.random.default_rng(2)
    values = list(itertools.product((0, 1, 2), ("a", "b")))
    channel = invertible(values, stay=0.8)
    found, errors = [], []
    for _ in range(120):
        x, w = rng.integers(0, 3, 600), rng.normal(size=600)
        label = np.where(rng.random(600) < 0.3 + 0.2 * x, "a", "b").tolist()
        outcome = 1 + 2 * x - w + 3 * (np.array(label) == "b") + rng.normal(size=600)
        changed = through(channel, list(zip(x.tolist(), label, strict=True)), rng)
        table = pd.DataFrame(
            {"x": [row[0] for row in changed], "kind": [row[1] for row in changed], "w": w, "y": outcome}
        )
        line = tk.estimate(table, channel, columns=["x", "kind"]).regression("y", on=["x", "kind", "w"])
        found.append([line[name].value for name in ("(intercept)", "x", "kind = b", "w")])
        errors.append([line[name].error for name in ("(intercept)", "x", "kind = b", "w")])
    for k, truth in enumerate((1, 2, 3, -1)):
        share, off = covered(np.array(found)[:, k], truth, np.array(errors)[:, k])
        assert 0.89 <= share <= 0.99
        assert abs(off) < 4


def test_errors_in_variables_take_the_noise_off():
    rng = np.random.default_rng(3)
    slopes, errors, means, spreads, plain = [], [], [], [], []
    for _ in range(RUNS):
        x, w = rng.normal(5, 2, 500), rng.normal(size=500)
        y = 1 + 0.5 * x + w + rng.normal(size=500)
        noisy = x + rng.normal(0, 1.5, 500)
        table = pl.DataFrame({"x": noisy, "w": w, "y": y})
        told = tk.estimate(table, GaussianNoise(1.5), columns="x")
        line = told.regression("y", on=["x", "w"])
        slopes.append(line["x"].value)
        errors.append(line["x"].error)
        mean = told.mean("x")
        means.append(mean.value)
        spreads.append(mean.error)
        assert mean.from_channel == pytest.approx(1.5 / math.sqrt(500))
        plain.append(np.polyfit(noisy, y, 1)[0])
    share, off = covered(slopes, 0.5, errors)
    assert 0.92 <= share <= 0.98
    assert abs(np.mean(slopes) - 0.5) < 0.01
    assert np.mean(plain) < 0.4  # what everybody gets who does not take it off
    share, off = covered(means, 5, spreads)
    assert 0.92 <= share <= 0.98
    assert abs(off) < 4


def test_plain_estimates_are_right_where_shares_are_kept():
    rng = np.random.default_rng(4)
    pupils = tk.datasets.load("student-por")[["schoolsup", "G3", "studytime"]]
    priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Row("studytime", "G3"))
    made = tk.calibrate(priors, odds=3, preserve="marginal")
    public = tk.certify(made).redacted()
    assert public.content["keeps"] == "marginal"
    true = list(zip(pupils["studytime"].tolist(), pupils["G3"].tolist(), strict=True))
    mean, slope = pupils["G3"].mean(), np.polyfit(pupils["studytime"], pupils["G3"], 1)[0]
    found = {"mean": [], "slope": [], "share": []}
    for _ in range(200):
        rows = through(made.channel, true, rng)
        told = tk.estimate(pl.DataFrame(rows, schema=["studytime", "G3"], orient="row"), made)
        found["mean"].append(told.mean("G3"))
        found["slope"].append(told.regression("G3", on="studytime")["studytime"])
        found["share"].append(told.histogram("studytime").shares[2])
    for name, truth in (("mean", mean), ("slope", slope), ("share", (pupils["studytime"] == 2).mean())):
        values = [one.value for one in found[name]]
        share, off = covered(values, truth, [one.from_channel for one in found[name]])
        assert 0.9 <= share <= 0.99, name
        assert abs(off) < 4, name
        assert np.std(values) == pytest.approx(np.mean([one.from_channel for one in found[name]]), rel=0.2)
        assert all(one.from_channel < one.error for one in found[name])
    table = pd.DataFrame(rows, columns=["studytime", "G3"]).assign(w=1.0)
    with pytest.raises(InputError, match="leave that column out"):
        tk.estimate(table, public).regression("G3", on="w")


def merging():
    """0 and 1 are published alike; 2 mostly as itself."""
    return FiniteChannel((0, 1, 2), (0, 1, 2), [[4, 4, 0], [4, 4, 0], [1, 0, 7]])


def test_estimates_say_what_they_are_from():
    table = tk.datasets.load("student-por")
    made = tk.publish(table, secret="schoolsup", columns=["G3"], confidence=None)
    said = repr(tk.estimate(made.table, made.certificate.redacted()))
    assert said == "<estimates from 649 rows of 'G3': .mean, .histogram, .bounds, .regression>"


def test_what_is_not_determined_is_refused_and_bounded():
    rng = np.random.default_rng(5)
    channel = merging()
    hits = 0
    for _ in range(40):
        true = rng.choice([0, 1, 2], 400, p=[0.2, 0.5, 0.3])
        told = tk.estimate(pd.DataFrame({"x": through(channel, true.tolist(), rng)}), channel)
        with pytest.raises(NotDeterminedError, match="apart in 2 ways"):
            told.mean("x")
        low, high = told.bounds("x").low, told.bounds("x").high
        hits += low <= 1.1 <= high
        assert 0.35 < low < high < 1.6  # and not only what is true of any law
        shares = told.histogram("x")
        assert shares.shares[0] is None
        assert shares.shares[2].value == pytest.approx(0.3, abs=0.12)
        assert "not determined" in str(shares)
    assert hits >= 38
    assert told.condition == math.inf


matrices = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 20), min_size=n, max_size=n), min_size=n, max_size=n)
)


@settings(max_examples=some_of(80), deadline=None)
@given(matrices, st.integers(0, 10**6))
def test_bounds_hold_every_law_that_fits(rows, seed):
    matrix = np.array(rows, dtype=np.float64) + 1e-9
    matrix /= matrix.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    law, f = rng.dirichlet(np.ones(len(matrix))), rng.normal(size=len(matrix))
    counts = np.round(1e6 * law @ matrix)  # as good as the expectation: well within every interval
    low, high = inverting.bounds(matrix, f, counts, 0.95)
    assert low - 1e-9 <= law @ f <= high + 1e-9
    scores = inverting.scores(matrix, f)
    if scores is not None:
        assert matrix @ scores == pytest.approx(f, abs=1e-6)


def test_where_the_channel_is_withheld_errors_are_bounds():
    pupils = tk.datasets.load("student-por")
    hide = {"secret": "schoolsup", "columns": ["studytime"], "odds": 1.2, "confidence": None}
    kept = tk.publish(pupils, **hide)  # the channel was fitted to these rows
    public = kept.certificate.redacted()
    assert "counts" not in public.content["channel"]
    outside, own = tk.estimate(kept.table, public), kept.estimate
    assert outside.mean("studytime").value == own.mean("studytime").value
    assert outside.mean("studytime").error > own.mean("studytime").error
    assert outside.histogram("studytime").shares[2].from_channel > own.histogram("studytime").shares[2].from_channel
    with pytest.raises(NotDeterminedError, match="preserved marginal"):
        tk.estimate(kept.table, tk.publish(pupils, **hide, utility=tk.Utility(preserve=None)).certificate.redacted())


def test_the_public_papers_are_enough(tmp_path):
    pupils = tk.datasets.load("student-por")
    hide = {"secret": "schoolsup", "columns": ["studytime"], "odds": 1.2, "confidence": None}
    made = tk.publish(pupils, **hide, domain=[1, 2, 3, 4])
    made.table.to_csv(tmp_path / "published.csv", index=False)
    made.certificate.redacted().save(tmp_path / "public.json")
    told = tk.estimate(tmp_path / "published.csv", tmp_path / "public.json").mean("studytime")
    ours = made.estimate.mean("studytime")
    assert (told.value, told.error >= ours.error) == (ours.value, True)
    assert abs(ours.value - pupils["studytime"].mean()) < 7 * ours.from_channel
    # The probabilities of another table's channel are public: analysts can do what the owner can.
    half = pupils.iloc[::2]
    alone = tk.publish(
        half, **hide, domain=[1, 2, 3, 4], adversary=tk.Adversary(beliefs={"others": pupils.iloc[1::2]}, own=False)
    )
    public = tk.estimate(alone.table, alone.certificate.redacted())
    assert public.bounds("studytime") == alone.estimate.bounds("studytime")
    assert public.condition == alone.estimate.condition
    noise = tk.calibrate(
        tk.fit_priors(pupils, secret="schoolsup", query=tk.Raw("G3", prior="gaussian")), alpha=8, epsilon=1
    )
    tk.certify(noise).redacted().save(tmp_path / "noise.json")
    out = tk.release(pupils[["schoolsup", "G3"]], noise)
    found = tk.estimate(out, tmp_path / "noise.json", columns="G3")
    assert abs(found.mean("G3").value - pupils["G3"].mean()) < 7 * found.mean("G3").error


def test_vectors_without_public_correlations():
    rng = np.random.default_rng(6)
    x = rng.multivariate_normal([0, 0], [[2, 1], [1, 2]], 4_000)
    covariance = np.array([[1, 0.6], [0.6, 1]])
    table = pd.DataFrame(x + rng.multivariate_normal([0, 0], covariance, 4_000), columns=["a", "b"])
    own = tk.estimate(table, GaussianVector(covariance))
    assert own.regression("a", on="b")["b"].value == pytest.approx(0.5, abs=0.1)
    told = Estimates(table, Description("vector", 2, axes=(GaussianNoise(1.0),) * 2), None, None)
    assert told.mean("a").error > 0
    with pytest.raises(NotDeterminedError, match="not public"):
        told.regression("a", on="b")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tk.estimate(pd.DataFrame({"x": [0, 1]}), 3), "public certificate"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0, 1], "y": [0, 1]}), merging()), "name them with columns"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0, 1]}), merging(), columns="z"), "no column 'z'"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0, 9]}), merging()), "not among .* Give the published table"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0]}), merging()), "fewer than two rows"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0.0, None, 1]}), merging()), "another table"),
        (lambda: tk.estimate(pd.DataFrame({"x": ["a", "b"]}), invertible("ab")).mean("x"), "holds labels"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0.0, 1.0]}), GaussianNoise(1)).histogram("x"), "from a list"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0.0, 1.0]}), GaussianNoise(1)).bounds("x"), "finite channel"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0, 1]}), merging()).bounds("x", level=2), "level must be"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0, 1]}), merging()).regression("x", on="x"), "not the outcome"),
        (lambda: tk.estimate(pd.DataFrame({"x": [0, 1]}), merging()).mean("y"), "no column 'y'"),
        (
            lambda: tk.estimate(
                pd.DataFrame({"x": [0.0, 1, 2], "y": [1.0, 2, 2]}), GaussianNoise(9), columns="x"
            ).regression("y", on="x"),
            "no line is determined",
        ),
    ],
)
def test_refusals_are_sentences(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_a_file_of_another_kind_is_called_so(tmp_path):
    (tmp_path / "c.json").write_text('{"format": "takifugu-certificate", "version": 2}')
    with pytest.raises(InputError, match=r"c\.json' is something else: estimates need the public certificate"):
        tk.estimate(pd.DataFrame({"x": [0, 1]}), tmp_path / "c.json")


def test_a_release_with_known_cells_says_what_it_keeps():
    pupils = tk.datasets.load("student-por")
    made = tk.publish(
        pupils,
        secret="schoolsup",
        columns=["studytime"],
        adversary=tk.Adversary(known=["sex"]),
        confidence=None,
        odds=2,
    )
    assert described(made.calibration).keeps in ("marginal", None)


def noisy_mean(true, theta, step, rng, **ends):
    noisy = true + rng.normal(0, theta, len(true))
    noisy = np.rint(noisy / step) * step if step else noisy
    table = pd.DataFrame({"x": noisy.clip(**ends) if ends else noisy})
    return tk.estimate(table, GaussianNoise(theta)).mean("x").value


@pytest.mark.parametrize("ends", [{"min": 0}, {"max": 3}])
@pytest.mark.parametrize("step", [0, 0.5, 1.0])
def test_what_was_clipped_after_the_noise_is_refused(step, ends):
    rng = np.random.default_rng(0)
    with pytest.raises(NotDeterminedError, match="'x' pile up at an end"):
        noisy_mean(rng.choice(4, 400, p=[0.6, 0.2, 0.1, 0.1]), 2.0, step, rng, **ends)


@pytest.mark.parametrize("step", [0, 0.5, 1.0, 3.0])
def test_what_was_not_clipped_is_not_taken_for_it(step):
    rng = np.random.default_rng(0)
    for true in (rng.choice([0.0, 60.0], 400), np.zeros(400), rng.exponential(4, 400)):
        for theta in (0.1, 2.0):
            assert noisy_mean(true, theta, step, rng) == pytest.approx(true.mean(), abs=5 * theta / 20 + step / 2)
