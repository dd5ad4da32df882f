"""Releases with a known fault, and honest ones beside them: each is a published table, its truth and a calibration.

Two secrets; every fault leaves the calibration as it is, so that the promise is what it was.
"""

import warnings
from functools import cache

import numpy as np
import pandas as pd

import takifugu as tk
from takifugu.channels.finite_channel import FiniteChannel

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
    return tk.calibrate(priors, odds=3, preserve=None)


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


def in_order(t, rng, *, keep):
    """A table published as it stands, or shuffled with the positions that an owner has; its truth and calibration."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a seed is for tests, secrets may be rare, and laws alike enough
        calibration = tk.calibrate(tk.fit_priors(t, secret="s", query=tk.Row("x")), odds=3)
        how = {"insecure_seed": int(rng.integers(2**31)), "utility": tk.Utility(allow_no_noise=True)}
        mixed = np.random.default_rng(0).permutation(len(t))  # no order that plainly tells is released
        published = tk.release(t.iloc[mixed], calibration, order="keep", **how)
        published = published.iloc[np.argsort(mixed)].reset_index(drop=True)
    if keep:
        return published, t, calibration, None
    positions = rng.permutation(len(t))
    return published.iloc[positions].reset_index(drop=True), t, calibration, positions


def sorted_by_value(rng):
    """The file of the report: `b` alone has an eighth value, in 15 rows, and they stand at the end."""
    a, b = [143, 143, 143, 143, 143, 143, 142, 0], [20, 19, 19, 19, 19, 19, 20, 15]
    x = np.concatenate([np.repeat(np.arange(8), a), np.repeat(np.arange(8), b)])
    t = pd.DataFrame({"s": np.repeat(["a", "b"], [sum(a), sum(b)]), "x": x})
    return t.iloc[rng.permutation(len(t))].sort_values("x", kind="stable", ignore_index=True)


def sorted_by_age(rng):
    """A third column goes with the value, and the value with the secret; the file is sorted by it."""
    t = labelled_numbers(rng, 3_000)
    return t.assign(age=40 + 4 * t.x + rng.normal(0, 8, len(t))).sort_values("age", ignore_index=True)


def sorted_by_date(rng):
    """The value drifts over the year."""
    t = labelled_numbers(rng, 3_000)
    day = np.clip(np.rint(30 * t.x + rng.normal(150, 45, len(t))), 1, 365)
    return t.assign(day=day).sort_values("day", ignore_index=True)


def labelled_numbers(rng, rows):
    t = labelled(rng, rows)
    return t.assign(x=t.x.map(LABELS.index))


def a_random_sorted_table(rng):
    """Two secrets, one of them rare, and three to eight values, one of which moves the odds by more than 3."""
    while True:
        rows, values = int(rng.integers(600, 3_000)), int(rng.integers(3, 9))
        laws = rng.dirichlet(np.full(values, rng.uniform(0.5, 2)), size=2)
        s = (rng.random(rows) < rng.uniform(0.1, 0.5)).astype(int)
        x = (rng.random(rows)[:, None] > laws[s].cumsum(axis=1)[:, :-1]).sum(axis=1)
        counts = np.array([np.bincount(x[s == k], minlength=values) for k in (0, 1)]) + 1.0
        odds = np.log(counts / counts.sum(axis=1, keepdims=True))
        if np.abs(odds[0] - odds[1])[counts.sum(axis=0) > 30].max(initial=0) > np.log(3):
            return pd.DataFrame({"s": np.array(["a", "b"])[s], "x": x}).sort_values("x", ignore_index=True)


SORTED = (sorted_by_value, sorted_by_age, sorted_by_date, a_random_sorted_table)


def ordered(make, seed, *, keep):
    rng = np.random.default_rng(seed)
    published, truth, calibration, positions = in_order(make(rng), rng, keep=keep)
    return tk.audit(published, truth, calibration, positions=positions, seed=seed)


def the_same_people_twice(seed):
    """Two publications of the same rows: each keeps its odds of 2, and line by line they move odds by nearly 4."""
    chance = np.random.default_rng(50 + seed)
    secret = chance.integers(0, 2, 6_000)
    truth = pd.DataFrame({"s": np.where(secret, "a", "b"), "x": np.where(chance.random(6_000) < 0.97, secret, 2)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a seed is for tests
        calibration = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Row("x")), odds=2)
        first, second = (tk.release(truth, calibration, order="keep", insecure_seed=1_000 * k + seed) for k in (1, 2))
    return first, second, truth, calibration


@cache  # an audit takes a second, and several tests look at the same one
def audited(make, rows, seed):
    rng = np.random.default_rng(seed)
    return tk.audit(*make(rng, rows), secret="s", seed=seed)
