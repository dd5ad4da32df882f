"""Noise for series: what it loses to adversaries found by regression, and known figures."""

import math
import warnings

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from takifugu.channels import GaussianVector
from takifugu.dependence.series import SeriesCalibration
from takifugu.dependence.spectra import AR, Circle, Profiles, _cell_above, _dual, least_spectrum, weights
from takifugu.problems import RenyiDivergence

LEAST = {0.9: 2.108, 0.97: 3.241, 0.99: 4.563}  # of αΔ²/2ε: the variance in long series, primal and dual


def carried(phi, n, t, known):
    """By how much each of n times moves with the one at t for who knows others: by regression, in many digits."""
    rest = [k for k in range(n) if k not in (t, *known)]
    given_these = [t, *known]
    with mpmath.workdps(40):
        gram = mpmath.matrix([[mpmath.mpf(phi) ** abs(a - b) for b in given_these] for a in given_these])
        profile = np.zeros(n)
        profile[t] = 1
        for k in rest:
            row = mpmath.matrix([[mpmath.mpf(phi) ** abs(k - b) for b in given_these]])
            profile[k] = float((row * gram**-1)[0, 0])
    return profile


@pytest.fixture(scope="module")
def found():
    return {phi: tk.calibrate(tk.Series(24, 1.0, tk.AR(up_to=phi)), alpha=3, epsilon=1) for phi in LEAST}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([0.9, 0.97, 0.99]), st.data())
def test_nobody_of_the_class_learns_more_whatever_is_known(found, up_to, data):
    covariance = found[up_to].channel.covariance(n := data.draw(st.integers(2, 24)))
    t = data.draw(st.integers(0, n - 1))
    known = [k for k in data.draw(st.sets(st.integers(0, n - 1))) if k != t]
    phi = data.draw(st.one_of(st.just(up_to), st.floats(0.001, up_to)))
    k = carried(phi, n, t, known)
    loss = 1.5 * float(k @ np.linalg.solve(covariance, k))
    assert loss <= 1 + 1e-9


@pytest.mark.parametrize("up_to", LEAST)
def test_the_class_costs_little_more_than_its_least(up_to):
    made = tk.calibrate(tk.Series(96, 1.0, tk.AR(up_to=up_to)), alpha=3, epsilon=1)
    assert made.channel.variance <= 1.02 * 1.5 * LEAST[up_to]
    assert made.channel.variance <= 1.01 * made.lower_bound
    assert made.losses["whom the guarantee is about"] <= 1
    assert made.losses["who knows all other times"] <= 1
    assert made.losses["who knows all but 2 times in a row"] <= made.losses["who knows all but 8 times in a row"] <= 1
    longer = next(loss for who, loss in made.losses.items() if "believes" in who)
    assert longer > 1  # what is told of it, and not promised


def test_two_profiles_on_a_circle_have_a_known_least_variance():
    powers = np.array([np.ones(33), np.abs(np.fft.rfft(0.9 ** np.minimum(np.arange(64), 64 - np.arange(64)))) ** 2])
    _, spectrum, bound = _dual(powers, weights(64), np.ones(2))
    assert bound == pytest.approx(1.55197475750, abs=1e-9)
    assert weights(64) @ spectrum == pytest.approx(1.55197475750, abs=1e-8)
    profile = [0.9**h for h in range(1, 32)]
    circle, least = least_spectrum(Profiles(profile, [0.0] * 31), 32)
    assert circle.variance == pytest.approx(1.55197475750, rel=5e-3)
    assert least <= circle.variance


def test_a_normal_series_loses_what_is_known_and_less_than_its_profile():
    K = 0.9 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    k = K[:, 2]
    rest = K - np.outer(k, k)
    p, q = tk.VectorMixture.gaussian(np.zeros(5), rest), tk.VectorMixture.gaussian(k, rest)
    noise = 2 * np.eye(5)
    loss = GaussianVector(noise).loss(p, q, RenyiDivergence(3.0))
    assert loss == pytest.approx(2.56396579086581, rel=1e-9)
    assert loss <= 1.5 * k @ np.linalg.solve(noise, k)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.1, 5), min_size=5, max_size=5), st.floats(0.01, 4), st.integers(2, 4))
def test_norms_are_never_below_those_of_balls(spectrum, rate, length):
    circle, rows = Circle(np.array(spectrum), 8), AR(0.99).ways(rate, length)
    bounds = circle.norms(rows, rows)
    with mpmath.workdps(30):
        inverse = [
            mpmath.fsum(
                w / mpmath.mpf(x) * mpmath.cos(2 * mpmath.pi * f * h / 8)
                for f, (x, w) in enumerate(zip(spectrum, [0.125, 0.25, 0.25, 0.25, 0.125], strict=True))
            )
            for h in range(8)
        ]
        for a, before in enumerate(rows):
            for b, after in enumerate(rows):
                around = [mpmath.mpf(0)] * 8
                around[0] = mpmath.mpf(1)
                for h, x in enumerate(after, 1):
                    around[h] += mpmath.mpf(x)
                for h, x in enumerate(before, 1):
                    around[-h] += mpmath.mpf(x)
                exact = mpmath.fsum(around[i] * around[j] * inverse[(i - j) % 8] for i in range(8) for j in range(8))
                assert exact <= bounds[a, b] <= exact * (1 + 1e-9) + 1e-9


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 8), st.integers(1, 30), st.integers(1, 30))
def test_profiles_bend_no_more_than_is_said(rate, lag, further):
    reach = lag + further

    def profile(v):
        s = mpmath.exp(v)
        return mpmath.sinh(s * (reach - lag)) / mpmath.sinh(s * reach)

    with mpmath.workdps(40):
        bend = abs(mpmath.diff(profile, mpmath.log(rate), 2))
        x = rate * lag
        assert bend <= mpmath.exp(-x) * max(x**2, 1.25 * x)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.005, 8), st.integers(2, 40), st.floats(0, 1), st.data())
def test_profiles_between_two_memories_are_near_the_line_between_them(rate, length, share, data):
    step, beyond = _cell_above(rate, length, 1.0)
    between = AR(0.999).ways(rate * step**share, length)
    low, high = AR(0.999).ways(rate, length), AR(0.999).ways(rate * step, length)
    n = min(between.shape[1], low.shape[1], high.shape[1])
    row = data.draw(st.integers(0, n)) - 1  # the last is the free one
    line = (1 - share) * low[row, :n] + share * high[row, :n]
    assert math.sqrt(2) * float(np.linalg.norm(between[row, :n] - line)) <= beyond + 1e-12


def test_covariances_are_those_of_a_circle_and_drawn_as_they_are(found):
    channel = found[0.97].channel
    full = channel.covariance(24)
    assert np.allclose(full, full.T)
    assert np.allclose(channel.covariance(5), full[:5, :5], rtol=1e-12)
    assert np.linalg.eigvalsh(full).min() >= channel.spectrum.min() * (1 - 1e-9)
    drawn = channel.draw(np.zeros((4000, 24)))
    assert np.allclose(np.cov(drawn.T), full, atol=0.6)
    assert len(channel.spectrum) == 25
    assert channel.variance == pytest.approx(float(weights(48) @ channel.spectrum), rel=1e-9)


def test_a_mean_moves_by_the_sum_of_a_profile():
    made = tk.calibrate(tk.Series(12, 2.0, tk.AR(up_to=0.9), answer="mean"), alpha=2, epsilon=0.5)
    worst = max(carried(0.9, 12, t, []).sum() for t in range(12)) / 12
    theta_squared = 2 * 2.0**2 / (2 * 0.5)
    assert made.variance == pytest.approx(theta_squared * worst**2, rel=1e-6)
    total = tk.calibrate(tk.Series(12, 2.0, tk.AR(up_to=0.9), answer="total"), alpha=2, epsilon=0.5)
    assert total.variance == pytest.approx(144 * made.variance, rel=1e-6)
    signs = tk.Series(4, 1.0, tk.Profiles([0.5, -0.9, 0.1]), answer="total")
    assert signs.reach() == pytest.approx(2.0, rel=1e-6)  # cut off after the first on both sides


def test_noise_that_is_not_enough_is_refused(found, tmp_path):
    made = found[0.9]
    made.save(path := tmp_path / "series.json")
    again = SeriesCalibration.load(path)
    assert np.array_equal(again.channel.spectrum, made.channel.spectrum)
    text = path.read_text().replace('"up_to": 0.9', '"up_to": 0.91').replace('"up_to":0.9,', '"up_to":0.91,')
    text = text.replace('"up_to":0.9}', '"up_to":0.91}')
    assert text != path.read_text()
    path.write_text(text)
    with pytest.raises(tk.CalibrationError, match="not proved"):
        SeriesCalibration.load(path)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tk.AR(up_to=1.0), "never forgets"),
        (lambda: tk.AR(up_to=-0.1), "from 0 to below 1"),
        (lambda: tk.Series(0, 1.0), "length"),
        (lambda: tk.Series(4, 0.0), "within"),
        (lambda: tk.Series(10_000, 1.0), "coarser"),
        (lambda: tk.Series(4, 1.0, known="some"), "known"),
        (lambda: tk.Series(4, 1.0, tk.Profiles([0.5, 0.2, 0.1]), known="nothing"), "leave known out"),
        (lambda: tk.Series(4, 1.0, memory=0.9), "memory must be"),
        (lambda: tk.calibrate(tk.Series(9, 1.0, tk.Profiles([0.5])), alpha=2, epsilon=1), "an entry for each"),
        (lambda: tk.calibrate(tk.Series(4, 1.0), odds=3), "finite order"),
        (lambda: tk.calibrate(tk.Series(4, 1.0), alpha=math.inf, epsilon=1), "finite order|alpha"),
        (lambda: tk.calibrate(tk.Series(4, 1.0), epsilon=1, delta=1e-5), "finite order"),
        (lambda: tk.calibrate(tk.Series(4, 1.0), alpha=2, epsilon=1, mechanism="exact"), "leave mechanism out"),
    ],
)
def test_what_no_noise_is_enough_for_is_refused(call, words):
    with pytest.raises((tk.InputError, tk.MechanismError), match=words):
        call()


@pytest.fixture
def people():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "who": np.repeat(["b", "a", "c"], 24),
            "when": np.tile(pd.date_range("2024-01-01", periods=24, freq="h"), 3),
            "steps": rng.normal(size=72),
        }
    ).sample(frac=1, random_state=1)


def test_a_table_of_people_is_published_in_time(found, people):
    made = tk.release(people, found[0.97], value="steps", time="when", by="who")
    assert made["who"].tolist() == ["a"] * 24 + ["b"] * 24 + ["c"] * 24
    assert made["when"].is_monotonic_increasing is False
    truth = people.sort_values(["who", "when"])
    errors = made["steps"].to_numpy() - truth["steps"].to_numpy()
    assert 0.2 < errors.std() / math.sqrt(found[0.97].variance) < 3
    mean = tk.calibrate(tk.Series(24, 1.0, answer="mean"), alpha=3, epsilon=1)
    assert len(tk.release(people, mean, value="steps", time="when", by="who")) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seeded = tk.release(people, found[0.97], value="steps", time="when", by="who", insecure_seed=1)
    assert not any(name == "steps" for name in seeded.columns)


def test_gaps_and_times_that_stand_twice_are_refused(found, people):
    made, short = found[0.97], tk.calibrate(tk.Series(12, 1.0), alpha=3, epsilon=1)
    named = {"value": "steps", "time": "when", "by": "who"}
    inside = people.sort_values(["who", "when"]).reset_index(drop=True)
    for table, calibration, words in (
        (inside.drop(index=5), made, "without gaps"),
        (pd.concat([people, people.head(1)]), made, "stands twice"),
        (people.assign(steps=np.where(people["steps"] > 2, np.nan, people["steps"])), made, "without a value|missing"),
        (people, short, "12 at most"),
        (people.rename(columns={"when": "at"}), made, "no column 'when'"),
        (people.assign(when="x"), made, "numbers or dates"),
    ):
        with pytest.raises(tk.InputError, match=words):
            tk.release(table, calibration, **named)
    with pytest.raises(tk.InputError, match="no ledger"):
        tk.release(people, made, ledger="x.sqlite", **named)
    mean = tk.calibrate(tk.Series(25, 1.0, answer="mean"), alpha=3, epsilon=1)
    with pytest.raises(tk.InputError, match="counts for more"):
        tk.release(people, mean, **named)


def test_a_calibration_is_its_own_certificate(found, tmp_path):
    made = next(iter(found.values())) if isinstance(found, dict) else found
    made.save(tmp_path / "series.json")
    proved = tk.verify(tmp_path / "series.json")
    assert proved.claim == made.claim
    assert "keeps two values of one time" in proved.claim
    with pytest.raises(tk.InputError, match="its own certificate"):
        tk.certify(made)
