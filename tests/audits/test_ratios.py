"""What an adversary who knows the priors computes, against densities of other libraries."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import takifugu as tk
from takifugu.audits.attacks import knowing, through
from takifugu.audits.rows import Column, Rows
from takifugu.channels import FiniteChannel, GaussianNoise
from takifugu.channels.noise import log_density


def rows_of(**columns):
    read = {name: Column.of(values) for name, values in columns.items()}
    count = len(next(iter(read.values())).labels)
    return Rows(read, read, np.array(["a"] * count, dtype=object), np.arange(count * 1.0), (), tuple(columns))


def test_a_log_density_on_the_line():
    law = tk.Mixture([0.3, 0.7], [0.0, 4.0], [1.0, 0.0])
    x = np.array([[-3.0], [0.5], [4.0], [60.0]])
    ours = log_density(law, x, np.array([[0.25]])) - 0.5 * np.log(2 * np.pi)
    assert ours[:3] == pytest.approx(np.log(law.with_noise(0.5).pdf(x[:3, 0])), rel=1e-12)
    assert ours[3] == pytest.approx(
        np.log(0.3) - 0.5 * np.log(2 * np.pi * 1.25) - 3600 / 2.5
    )  # no float has this density


def test_a_log_density_in_the_plane():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    law = tk.VectorMixture([0.4, 0.6], [[0, 0], [1, 2]], [np.eye(2), [[1, 0.3], [0.3, 0.5]]])
    points = np.random.default_rng(0).normal(0, 2, (50, 2))
    parts = zip(law.weights, law.means, law.covariances, strict=True)
    exact = sum(w * multivariate_normal(m, c + covariance).pdf(points) for w, m, c in parts)
    assert log_density(law, points, covariance) - np.log(2 * np.pi) == pytest.approx(np.log(exact), rel=1e-10)


def test_a_ratio_of_bells_is_a_line():
    p, q = tk.Mixture.gaussian(0, 1), tk.Mixture.gaussian(2, 1)
    scores = through(GaussianNoise(3.0**0.5))(rows_of(x=[0.0, 1.0, 3.0, np.nan, 1e6, np.inf]), p, q)
    assert scores.tolist() == [0.5, 0.0, -1.0, 0.5, -12.0, 0.0]  # beyond reach nothing is said


def test_a_ratio_through_a_channel():
    channel = FiniteChannel(("u", "v"), ("u", "v"), [[3, 1], [1, 3]])
    p, q = tk.Finite(["u", "v"], [1.0, 0.0]), tk.Finite(["u", "v"], [0.0, 1.0])
    rows = rows_of(x=["u", "v", "other"])
    assert through(channel)(rows, p, q).tolist() == [1.1, -1.1, 0.0]
    assert through(channel, weaker=True)(rows, p, q).tolist() == [12.0, -12.0, 0.0]


def test_rows_of_several_columns_are_looked_up_as_rows():
    values = [(1, "u"), (2, "v")]
    p, q = tk.Finite(values, [0.9, 0.1]), tk.Finite(values, [0.1, 0.9])
    channel = FiniteChannel.identity(values)
    scores = through(channel, weaker=True)(
        rows_of(n=[1.0, 2.0, 2.0], l=["u", "v", "u"]), p, q
    )  # a file may write 1 as 1.0
    assert scores.tolist() == [2.2, -2.2, 0.0]


def test_noise_on_labels_has_no_ratio():
    calibration = tk.calibrate({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
    assert knowing(calibration, rows_of(x=["u", "v"])) == []
    assert len(knowing(calibration, rows_of(x=[1.0, 2.0]))) == 2
