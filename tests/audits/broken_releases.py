"""Releases with a known fault, and honest ones beside them: each is a published table, its truth and a calibration.

Two secrets; every fault leaves the calibration as it is, so that the promise is what it was.
"""

from functools import cache

import numpy as np
import pandas as pd

import takifugu as tk
from takifugu.channels.finite import FiniteChannel

LAWS = {"a": tk.Mixture.gaussian(0.0, 1.0), "b": tk.Mixture.gaussian(2.0, 1.0)}
# Labels whose laws differ a little in the bulk and much at the two ends.
SHARES = {"a": [0.30, 0.25, 0.20, 0.15, 0.08, 0.02], "b": [0.02, 0.08, 0.15, 0.20, 0.25, 0.30]}
LABELS = ["u", "v", "w", "x", "y", "z"]


@cache
def gaussian():
    return tk.calibrate(LAWS, alpha=2, epsilon=1)


@cache
def finite():
    priors = {s: tk.Finite(LABELS, shares) for s, shares in SHARES.items()}
    return tk.calibrate(priors, odds=3)


def people(rng, rows):
    s = rng.choice(["a", "b"], rows)
    return pd.DataFrame({"s": s, "x": np.where(s == "a", 0.0, 2.0) + rng.normal(0, 1, rows)})


def labelled(rng, rows):
    s = rng.choice(["a", "b"], rows)
    u = rng.random(rows)
    cuts = np.where((s == "a")[:, None], np.cumsum(SHARES["a"])[None, :], np.cumsum(SHARES["b"])[None, :])
    return pd.DataFrame({"s": s, "x": np.array(LABELS)[(u[:, None] > cuts[:, :-1]).sum(axis=1)]})


def drawn(rng, channel, values):
    u = rng.random(len(values))
    rows = channel.matrix[channel.positions(values)].cumsum(axis=1)
    return np.array(channel.outputs)[(u[:, None] > rows[:, :-1]).sum(axis=1)]


def honest(rng, rows):
    t = people(rng, rows)
    return pd.DataFrame({"x": t.x + rng.normal(0, gaussian().theta, rows)}), t, gaussian()


def honest_labels(rng, rows):
    t = labelled(rng, rows)
    return pd.DataFrame({"x": drawn(rng, finite().channel, t.x)}), t, finite()


def honest_extra_columns(rng, rows):
    """Beside the calibrated column, one that has nothing to do with the secret, with noise of its own."""
    published, t, calibration = honest(rng, rows)
    t["other"] = rng.normal(0, 0.1, rows)
    published["other"] = t.other + rng.normal(0, calibration.theta, rows)
    return published, t, calibration


def reused_noise(rng, rows):
    t = people(rng, rows)
    return pd.DataFrame({"x": t.x + rng.normal(0, gaussian().theta)}), t, gaussian()


def half_the_noise(rng, rows):
    t = people(rng, rows)
    return pd.DataFrame({"x": t.x + rng.normal(0, gaussian().theta / 2, rows)}), t, gaussian()


def kept_column(rng, rows):
    """A column that was not calibrated tells the secret in seven of eight rows."""
    published, t, calibration = honest(rng, rows)
    t["club"] = np.where(rng.random(rows) < 0.875, np.where(t.s == "a", "red", "blue"), "green")
    published["club"] = t.club
    return published, t, calibration


def telling_order(rng, rows):
    published, t, calibration = honest(rng, rows)
    order = np.argsort(t.s.to_numpy(), kind="stable")
    return published.iloc[order].reset_index(drop=True), t.iloc[order].reset_index(drop=True), calibration


def surviving_digits(rng, rows):
    """Values of either secret come with decimals of their own, and the noise is made of whole numbers."""
    t = people(rng, rows)
    t["x"] = np.floor(t.x) + np.where(t.s == "a", 0.25, 0.5)
    return pd.DataFrame({"x": t.x + np.rint(rng.normal(0, gaussian().theta, rows))}), t, gaussian()


def one_seed_for_two_columns(rng, rows):
    """The second column holds nearly nothing but the noise of the first."""
    t = people(rng, rows)
    t["other"] = rng.normal(0, 0.1, rows)
    noise = rng.normal(0, gaussian().theta, rows)
    return pd.DataFrame({"x": t.x + noise, "other": t.other + noise}), t, gaussian()


def permuted_channel(rng, rows):
    """The rows of the channel's table in another order: rare values are changed as common ones should be."""
    t, channel = labelled(rng, rows), finite().channel
    wrong = FiniteChannel(channel.inputs, channel.outputs, np.roll(channel.counts, 3, axis=0))
    return pd.DataFrame({"x": drawn(rng, wrong, t.x)}), t, finite()


@cache
def lopsided():
    """A rare secret and nothing to be kept: the channel empties the values that the rare secret likes."""
    priors = {s: tk.Finite(LABELS, np.multiply(SHARES[s], size)) for s, size in (("a", 9_000), ("b", 1_000))}
    return tk.calibrate(priors, odds=3, keep=None)


def transposed_channel(rng, rows):
    """Columns of the table taken for its rows; what they lack to 1 goes to the last value, as a careless draw does."""
    t, channel = labelled(rng, rows), lopsided().channel
    cumulative = channel.matrix.T[channel.positions(t.x)].cumsum(axis=1)
    places = (rng.random(rows)[:, None] > cumulative[:, :-1]).sum(axis=1)
    return pd.DataFrame({"x": np.array(channel.outputs)[places]}), t, lopsided()


def unchanged(rng, rows):
    t = labelled(rng, rows)
    return t[["x"]], t, finite()


HONEST = (honest, honest_labels, honest_extra_columns)
# Each fault with the number of rows at which it is caught in 95 of 100 releases or more (benchmarks/audit_power.py).
BROKEN = {
    reused_noise: 2_000,
    half_the_noise: 6_000,
    kept_column: 1_000,
    telling_order: 1_000,
    surviving_digits: 1_000,
    one_seed_for_two_columns: 2_000,
    permuted_channel: 3_000,
    transposed_channel: 2_000,
    unchanged: 2_000,
}


@cache  # an audit takes a second, and several tests look at the same one
def audited(make, rows, seed):
    rng = np.random.default_rng(seed)
    return tk.audit(*make(rng, rows), secret="s", seed=seed)
