"""The channel that is fitted to no data (proofs/data-free.md): closed forms, every belief, and a public proof."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk


def found(domain, odds=3, **options):
    return tk.calibrate(tk.Row("x", domain=domain), odds=odds, mechanism="data-free", **options)


@pytest.mark.parametrize("values", [2, 3, 5, 9])
@pytest.mark.parametrize("odds", [2, 3, 10])
def test_of_labels_it_is_randomised_response(values, odds):
    made = found([f"v{k}" for k in range(values)], odds)
    stays = Fraction(odds, odds + values - 1)
    assert made.error == pytest.approx(float(1 - stays), abs=1e-6)
    assert made.lower_bound == pytest.approx(float(1 - stays), abs=1e-6)
    counts = [[int(n) for n in row] for row in made.channel.counts]
    assert all(a <= odds * b for column in zip(*counts, strict=True) for a in column for b in column)


def test_of_numbers_no_channel_of_a_family_in_the_literature_errs_less():
    """Randomised response and a staircase around the true value are both allowed, and both err more."""
    values, odds = np.arange(7.0), 3.0
    made, gaps = found(values.tolist(), odds), (values[:, None] - values[None, :]) ** 2
    response = np.full((7, 7), 1 / (odds + 6)) + np.eye(7) * (odds - 1) / (odds + 6)
    stairs = np.where(np.abs(values[:, None] - values[None, :]) <= 1, odds, 1.0)
    stairs /= stairs.sum(axis=1, keepdims=True)
    most = (stairs.max(axis=0) / stairs.min(axis=0)).max()
    assert made.error < (response * gaps).sum() / 7
    assert most > odds  # uneven rows: the staircase has to be weakened before it may be compared
    constant = np.full((7, 7), 1 / 7)
    weak = next(
        mixed
        for share in np.linspace(0, 1, 101)
        if ((mixed := (1 - share) * stairs + share * constant).max(axis=0) <= odds * mixed.min(axis=0)).all()
    )
    assert made.error < (weak * gaps).sum() / 7
    assert made.lower_bound <= made.error <= made.lower_bound * (1 + 1e-6)


CHANNEL = found([0, 1, 2, 3, 4]).channel


@settings(max_examples=100)
@given(st.lists(st.integers(0, 9), min_size=5, max_size=5), st.lists(st.integers(0, 9), min_size=5, max_size=5))
def test_it_keeps_the_odds_of_any_two_beliefs(first, second):
    if not any(first) or not any(second):
        return
    counts = [[int(n) for n in row] for row in CHANNEL.counts]
    p, q = (
        [sum(Fraction(w, sum(law)) * row[y] for w, row in zip(law, counts, strict=True)) for y in range(5)]
        for law in (first, second)
    )
    assert all(a <= 3 * b for a, b in zip(p, q, strict=True))


def test_anybody_can_prove_it_from_the_public_file(tmp_path):
    made = tk.calibrate(tk.Row("x", "w", domain={"x": [0, 1, 2], "w": ["A", "B"]}), odds=3, mechanism="data-free")
    assert made.total == made.guarantee == tk.Odds(3)
    tk.certify(made).published().save(tmp_path / "published-certificate.json")
    assert tk.verify(tmp_path / "published-certificate.json").calibration.channel == made.channel


def test_rows_are_published_through_it_whatever_they_are_and_need_no_secret():
    rows = pd.DataFrame({"ill": ["no"] * 40 + ["yes"] * 40, "x": [0] * 40 + [4] * 40})
    published = tk.release(rows, found([0, 1, 2, 3, 4]))
    assert list(published.columns) == ["x"]
    assert len(published) == 80


@pytest.mark.parametrize(
    ("priors", "told"),
    [
        (tk.Row("x"), "public lists"),
        (tk.Row("x", domain=range(200)), "at least|2 to 128"),
        ({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}, "finite lists"),
    ],
)
def test_what_is_no_public_list_is_refused(priors, told):
    with pytest.raises(tk.TakifuguError, match=told):
        tk.calibrate(priors, odds=3, mechanism="data-free")


def test_priors_of_rows_are_refused_and_weights_made_by_hand_are_taken():
    rows = pd.DataFrame({"ill": ["no", "yes"] * 30, "x": [0, 1, 2] * 20})
    priors = tk.fit_priors(rows, secret="ill", query=tk.Row("x", domain=[0, 1, 2]))
    with pytest.raises(tk.MechanismError, match="fitted to no rows"):
        tk.calibrate(priors, odds=3, mechanism="data-free")
    with pytest.raises(tk.InputError, match="every belief"):
        found([0, 1], adversary=tk.Adversary(beliefs={"last year": priors}))
    weighed = tk.calibrate({"any": tk.Finite([0, 1, 2], [8, 1, 1])}, odds=3, mechanism="data-free")
    evenly = found([0, 1, 2]).channel
    assert weighed.channel.matrix[0, 0] > evenly.matrix[0, 0]
