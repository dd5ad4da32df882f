"""An order that was stated to be random and is not is contradicted; one that was drawn is not."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from broken_releases import SORTED, audited, honest, ordered
from scipy.stats import hypergeom

import takifugu as tk
from how_many import some_of
from takifugu.audits import attacks as features
from takifugu.audits.attacks import _varies, order_tells
from takifugu.audits.rows import Column, Rows
from takifugu.releases import exponents, stretches

SEEDS = range(some_of(3))


@pytest.mark.parametrize("make", SORTED, ids=lambda make: make.__name__)
def test_an_order_that_is_stated_falsely_is_contradicted(make):
    for seed in SEEDS:
        found = ordered(make, seed, keep=True)
        assert found.contradicted
        assert found.order is not None
        assert found.order["chance"] < 5e-4
        assert "the order of the rows is not random" in found.order.sentence


@pytest.mark.parametrize("make", SORTED, ids=lambda make: make.__name__)
def test_the_same_tables_are_not_once_they_were_shuffled(make):
    for seed in SEEDS:
        found = ordered(make, seed, keep=False)
        assert found.order is None
        assert not found.contradicted


def rows_of(secrets, x=None, place=None):
    n = len(secrets)
    published = {"x": Column.of([0] * n if x is None else x)}
    return Rows(
        published, {}, np.array(secrets, dtype=object), np.arange(n) * 1.0 if place is None else place, (), ("x",)
    )


def test_a_random_order_is_refuted_as_rarely_as_it_says():
    """At a level that can be counted: the share of random orders that are refuted, with room for chance."""
    rng, chance, rounds = np.random.default_rng(3), 0.3, 200
    secrets = np.repeat(["a", "b"], [70, 30])
    found = 0
    for seed in range(rounds):
        x = rng.integers(0, 3, 100) + (secrets == "b")  # the value tells, the place does not
        mixed = rng.permutation(100)
        found += (
            order_tells(rows_of(secrets[mixed], x[mixed].tolist()), ("a", "b"), chance=chance, seed=seed) is not None
        )
    assert found <= chance * rounds + 3 * math.sqrt(rounds * chance * (1 - chance))


@pytest.mark.parametrize(("rows", "first", "held"), [(10, 4, 5), (30, 3, 8), (200, 150, 64)])
def test_chance_is_no_more_than_it_says(rows, first, held):
    share = first / rows
    hits = np.arange(max(0, held - (rows - first)), min(held, first) + 1)
    bound = np.exp(-exponents(hits.astype(float), held, share))
    law = hypergeom(rows, first, held)
    tails = np.where(hits / held > share, law.sf(hits - 1), law.cdf(hits))
    assert (tails <= bound * (1 + 1e-9)).all()


def test_the_variation_of_parts_alarms_as_rarely_as_it_says():
    """Orders of 64 rows, at a level that can be counted: a permutation test is as frequent as its level, no more."""
    rng, chance, rounds = np.random.default_rng(4), 0.1, 1_000
    is_first = np.arange(64) < 20
    found = sum(_varies(rng.permutation(is_first), chance, seed) is not None for seed in range(rounds))
    assert found <= chance * rounds + 4 * math.sqrt(rounds * chance * (1 - chance))
    assert _varies(is_first, 1e-3, 0) is not None
    assert _varies(is_first[:6], 0.5, 0) is None
    assert _varies(is_first, 1e-9, 0) is None  # more orders than can be simulated
    assert _varies(np.ones(64, np.bool_), 0.5, 0) is None


def test_zones_that_differ_a_little_each_are_seen_together():
    """Of seven values none is far from the others, and a file sorted by them was missed by stretches alone."""
    a, b = [199, 230, 168, 265, 46, 127, 238], [53, 163, 159, 59, 81, 33, 136]
    rng = np.random.default_rng(0)
    zones = [rng.permutation(np.arange(n + m) < n) for n, m in zip(a, b, strict=True)]
    assert _varies(np.concatenate(zones), 1e-4, 0) is not None


def test_every_order_of_a_few_rows_is_counted():
    """All 10 choose 4 arrangements: how many have a stretch beyond each exponent, beside the union bound."""
    seen = []
    for places in combinations(range(10), 4):
        is_first = np.zeros(10, np.bool_)
        is_first[list(places)] = True
        sets = list(stretches(is_first))
        seen.append(max(one.exponent for one in sets))
    for exponent in np.unique(seen):
        assert (
            np.mean(np.array(seen) >= exponent - 1e-12) <= 2 * sum(one.of for one in sets) * math.exp(-exponent) + 1e-12
        )


def test_no_row_s_own_value_is_smoothed_into_its_place():
    rng = np.random.default_rng(1)
    x, known = rng.normal(size=300), rng.permutation(300)[:150]
    before = features.order_scores(rows_of(["a"] * 300, x.tolist()), known)
    for row in (int(known[0]), int(np.setdiff1d(np.arange(300), known)[0])):
        moved = x.copy()
        moved[row] += 1e3
        after = features.order_scores(rows_of(["a"] * 300, moved.tolist()), known)
        assert np.allclose(after[row], before[row])
        others = np.delete(np.arange(300), row)
        assert np.allclose(after[others], before[others]) is (row not in known)


def test_an_order_of_rows_that_are_beside_the_wrong_truth_says_nothing():
    rng = np.random.default_rng(2)
    truth = pd.DataFrame({"s": np.repeat(["a", "b"], 400), "x": np.repeat([0, 3], 400) + rng.integers(0, 4, 800)})
    calibration = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Row("x")), odds=2)
    found = tk.audit(tk.release(truth, calibration), truth, calibration)
    assert found.misplaced is not None
    assert found.order is None
    assert not found.contradicted
    made = tk.publish(truth, secret="s", columns=["x"], odds=2, confidence=None)
    where = np.argsort(made._positions)  # as rows would stand that nobody had shuffled
    kept = tk.audit(made.table.iloc[where].reset_index(drop=True), truth, made.calibration)
    assert kept.contradicted
    assert kept.order is not None


def test_noise_beside_the_wrong_truth_settles_nothing():
    published, truth, calibration = honest(np.random.default_rng(8), 600)
    mixed = published.sample(frac=1, random_state=1).reset_index(drop=True)
    found = tk.audit(mixed, truth, calibration, secret="s")
    assert str(found).startswith("Nothing follows from this audit")
    assert audited(honest, 400, 1).misplaced is None
