"""Vectors published: one about a group, tables of them, files; and what the ledger makes of repeats."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.channels.vector_noise import LinearRelease, fits
from takifugu.releases.ledger import Ledger
from takifugu.releases.plan import InsecureReleaseWarning
from vector_problems import gaussian_loss, random_laws

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"group": ["a", "b"] * 100, "x": RNG.normal(size=200), "y": 10 * RNG.normal(size=200)})
TABLE.loc[TABLE.group == "b", ["x", "y"]] += [0.3, 4.0]
MEANS = tk.calibrate(tk.fit_priors(TABLE, secret="group", query=tk.Mean(["x", "y"])), alpha=2, epsilon=1)
ROWS = tk.calibrate(
    tk.fit_priors(TABLE, secret="group", query=tk.Raw(["x", "y"], prior="gaussian")), alpha=2, epsilon=1
)
BY_HAND = tk.calibrate(random_laws(np.random.default_rng(1), 2, 2), alpha=2, epsilon=1)


def means(group="a"):
    return TABLE[TABLE.group == group][["x", "y"]].mean()


# ---- one vector about a group


def test_a_mean_of_several_columns_is_one_vector():
    published = tk.release(means().to_numpy(), MEANS)
    assert published.shape == (2,)
    assert np.array_equal(published.covariance, MEANS.channel.covariance)
    assert math.isnan(published.theta)
    assert "covariance=" in repr(published)
    again = pickle.loads(pickle.dumps(published))
    assert np.array_equal(again.covariance, published.covariance)
    series = tk.release(means(), MEANS)
    assert list(series.index) == ["x", "y"]
    assert tk.release([float(v) for v in means()], MEANS).shape == (2,)


def test_the_noise_of_a_mean_is_that_which_was_calibrated():
    with pytest.warns(InsecureReleaseWarning):
        seeded = [tk.release(means().to_numpy(), MEANS, insecure_seed=k) for k in range(3)]
    assert all(s.insecure for s in seeded)
    draws = MEANS.channel.draw(np.tile(means().to_numpy(), (4_000, 1)))
    gaps = (draws - means().to_numpy()) @ np.linalg.inv(np.linalg.cholesky(MEANS.channel.covariance)).T
    assert np.abs(gaps.mean(axis=0)).max() < 0.15
    assert np.allclose(np.cov(gaps.T), np.eye(2), atol=0.2)


@pytest.mark.parametrize(
    "values",
    [[[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]], [1.0], [1.0, 2.0, 3.0], 1.0, [], [[1.0], [2.0]]],
)
def test_anything_but_one_vector_of_a_group_is_refused(values):
    with pytest.raises(tk.InputError, match="one vector of 2 numbers"):
        tk.release(values, MEANS)


def test_a_table_and_numbers_in_another_order_are_refused_for_a_group():
    with pytest.raises(tk.InputError, match=r"one vector about a group.*Row\('x', 'y'\)"):
        tk.release(TABLE, MEANS)
    with pytest.raises(tk.InputError, match="labelled y, x"):
        tk.release(means()[["y", "x"]], MEANS)
    with pytest.raises(tk.InputError, match="could not have produced"):
        tk.release([1e6, 0.0], MEANS)
    with pytest.raises(tk.InputError, match=r"finite|missing|NaN|number"):
        tk.release([math.nan, 0.0], MEANS)


# ---- tables and files of vectors


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, lambda t: pl.DataFrame(t).lazy()])
def test_a_table_of_several_columns(library):
    table = library(TABLE.assign(kept=range(200)).to_dict(orient="list"))
    published = tk.release(table, ROWS, keep=["kept"], order="keep")
    frame = published.collect() if hasattr(published, "collect") else published
    assert list(frame.columns) == ["x", "y", "kept"]
    both = np.column_stack([frame["x"], frame["y"]])
    assert both.shape == (200, 2)
    assert np.isclose(both, TABLE[["x", "y"]]).mean() < 0.05
    assert list(frame["kept"]) == list(range(200))


def test_arrays_of_rows_need_their_secrets():
    rows = TABLE[["x", "y"]].to_numpy()
    with pytest.raises(tk.InputError, match="secret is missing"):
        tk.release(rows, ROWS)
    published = tk.release(rows, ROWS, secret=TABLE.group)
    assert published.shape == rows.shape
    strangers = ["z", *TABLE.group[1:]]
    with pytest.raises(tk.InputError, match="outside the calibrated pairs"):
        tk.release(rows, ROWS, secret=strangers)
    assert tk.release(rows, ROWS, secret=strangers, others="drop").shape == (199, 2)
    with pytest.raises(tk.InputError, match="vectors of 2 numbers"):
        tk.release(rows[0], ROWS, secret=["a", "b"])
    with pytest.raises(tk.InputError, match="vectors of 2 numbers"):
        tk.release(TABLE.x, ROWS, secret=TABLE.group)
    assert tk.release(np.empty((0, 2)), ROWS, secret=[]).shape == (0, 2)


def test_priors_by_hand_take_the_columns_in_their_order():
    published = tk.release(TABLE, BY_HAND, column=["y", "x"], secret="group", others="release", order="keep")
    assert list(published.columns) == ["x", "y"]
    swapped = tk.release(
        TABLE.rename(columns={"x": "y", "y": "x"}), BY_HAND, column=["x", "y"], others="release", order="keep"
    )
    deviations = np.sqrt(np.diagonal(BY_HAND.channel.covariance))
    for table, columns in ((published - TABLE[["x", "y"]], ["y", "x"]), (swapped, None)):
        if columns is not None:
            assert np.allclose(table[columns].std(), deviations, rtol=0.4)
    assert tk.release([0.0, 0.0], BY_HAND, order="keep").unchecked
    assert tk.release(np.zeros((3, 2)), BY_HAND, order="keep").shape == (3, 2)
    for column in ("x", ["x"], ["x", "y", "group2"]):
        with pytest.raises(tk.InputError):
            tk.release(TABLE, BY_HAND, column=column, others="release", order="keep")
    with pytest.raises(tk.InputError, match="different columns"):
        tk.release(TABLE, BY_HAND, column=["x", "x"], others="release", order="keep")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_of_vectors(tmp_path, suffix):
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    TABLE.to_csv(source, index=False) if suffix == ".csv" else TABLE.to_parquet(source)
    done = tk.release_file(source, target, ROWS, ledger=tmp_path / "l.db")
    read = pd.read_csv if suffix == ".csv" else pd.read_parquet
    published = read(target)
    assert list(published.columns) == ["x", "y"]
    assert done.rows == 200
    assert np.isclose(published, TABLE[["x", "y"]]).mean() < 0.05
    with pytest.raises(tk.BudgetError, match="spent"):
        tk.release_file(source, tmp_path / f"again{suffix}", ROWS, ledger=tmp_path / "l.db")
    assert not (tmp_path / f"again{suffix}").exists()
    # the same rows in memory are the same answer
    with pytest.raises(tk.BudgetError, match="spent"):
        tk.release(TABLE, ROWS, ledger=tmp_path / "l.db")


def test_what_is_for_one_column_is_refused_in_words():
    for option in ({"theta": 1e9}, {"utility": tk.Utility(granularity=0.5)}, {"clip": (0, 1)}, {"round_to": 1}):
        with pytest.raises(tk.InputError, match=r"is for one column|covariance of their noise"):
            tk.release(means().to_numpy(), MEANS, **option)
    line = tk.calibrate({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}, alpha=2, epsilon=1)
    with pytest.raises(tk.InputError, match="theta must be"):
        tk.release([1.0], line, theta=[[1.0]])
    gappy = TABLE.assign(y=[math.nan, *TABLE.y[1:]])
    with pytest.raises(tk.InputError):
        tk.release(gappy, ROWS)


def test_more_noise_may_be_asked_for_and_less_may_not():
    sigma = MEANS.channel.covariance
    more = tk.release(means().to_numpy(), MEANS, theta=2 * sigma)
    assert np.array_equal(more.covariance, 2 * sigma)
    lopsided = 2 * sigma
    lopsided = lopsided - (np.linalg.eigvalsh(sigma)[-1] * 1.01) * np.outer(*[np.linalg.eigh(sigma)[1][:, -1]] * 2)
    lopsided = 0.5 * (lopsided + lopsided.T)
    for less in (sigma * (1 - 2**-50), lopsided, np.eye(2) * 1e-9):
        with pytest.raises(tk.BudgetError, match="less noise"):
            tk.release(means().to_numpy(), MEANS, theta=less)
    for wrong in ([[1.0]], [[1.0, 2.0], [2.0, 1.0]], "much", 3.0, [[math.nan, 0], [0, 1]]):
        with pytest.raises(tk.InputError):
            tk.release(means().to_numpy(), MEANS, theta=wrong)


def test_predictions_at_several_points_are_one_vector():
    points = [{"x": 0.0}, {"x": 0.5}, {"x": 2.0}]
    query = tk.GP("y", features=["x"], at=points, max_rows=40, restarts=0)
    found = tk.calibrate(tk.fit_priors(TABLE, secret="group", query=query), alpha=2, epsilon=1)
    assert (found.answer.query, found.answer.columns) == ("gp", ("y",))
    assert tk.release(found.beliefs[0]["a"].sample(1, seed=0)[0], found).shape == (3,)
    with pytest.raises(tk.InputError, match="one vector of 3 numbers"):
        tk.release([1.0], found)


def test_rows_from_a_list_come_back_as_rows():
    table = TABLE.assign(x=TABLE.x.round().clip(-1, 1), y=(TABLE.y > 0).map({True: "up", False: "down"}))
    priors = tk.fit_priors(table, secret="group", query=tk.Row("x", "y"))
    found = tk.calibrate(priors, odds=2)
    rows = list(zip(table.x.tolist(), table.y.tolist(), strict=True))
    published = tk.release(rows, found, secret=table.group)
    assert len(published) == 200
    assert set(published) <= set(found.channel.outputs)
    with pytest.raises(tk.InputError, match="rows of x, y"):
        tk.release(table.x.tolist(), found, secret=table.group)


def test_no_rows_are_left():
    rows, strangers = TABLE[["x", "y"]].to_numpy(), ["z"] * 200
    assert tk.release(rows, ROWS, secret=strangers, others="drop").shape == (0, 2)


# ---- the ledger


def exact(matrix):
    return [[Fraction(float(x)) for x in row] for row in matrix]


def inverse(m):
    (a, b), (c, d) = m
    det = a * d - b * c
    return [[d / det, -b / det], [-c / det, a / det]]


def total_precision(covariances):
    each = [inverse(exact(c)) for c in covariances]
    return [[sum(p[i][j] for p in each) for j in range(2)] for i in range(2)]


def within(covariances, budget) -> bool:
    """Whether precisions of 2 by 2 matrices fit, in fractions: trace and determinant of what is left."""
    whole, spent = inverse(exact(budget)), total_precision(covariances)
    left = [[whole[i][j] - spent[i][j] for j in range(2)] for i in range(2)]
    return left[0][0] >= 0 and left[1][1] >= 0 and left[0][0] * left[1][1] >= left[0][1] * left[1][0]


def test_a_vector_is_published_again_while_precisions_fit(tmp_path):
    ledger, values = Ledger(tmp_path / "l.db"), means().to_numpy()
    sigma = MEANS.channel.covariance
    assert ledger.loss(MEANS) == 0.0
    assert ledger.loss_after(MEANS) == pytest.approx(MEANS.loss, rel=1e-9)
    tk.release(values, MEANS, theta=2 * sigma, ledger=ledger)
    account = ledger.account()
    assert (account.releases, account.is_finite) == (1, False)
    assert account.fraction_spent == pytest.approx(0.5)
    assert np.allclose(account.next_covariance, 2 * sigma)
    with pytest.raises(tk.BudgetError, match="next_covariance"):
        tk.release(values, MEANS, ledger=ledger)
    tk.release(values, MEANS, theta=[[8 * sigma[0, 0], 0], [0, 8 * sigma[1, 1]]], ledger=ledger)
    tk.release(values, MEANS, theta=ledger.account().next_covariance, ledger=ledger)
    account = ledger.account()
    assert account.releases == 3
    assert account.fraction_spent == pytest.approx(1.0)
    assert ledger.loss(MEANS) <= MEANS.epsilon
    assert ledger.loss(MEANS) == pytest.approx(MEANS.loss, rel=1e-6)
    with pytest.raises(tk.BudgetError, match="spent"):
        tk.release(values, MEANS, theta=1e6 * sigma, ledger=ledger)
    assert ledger.account() == account


def test_a_budget_of_its_own_and_a_calibration_of_another_shape(tmp_path):
    priors = MEANS.problem
    half = tk.calibrate(priors, alpha=2, epsilon=0.4, options={"shape": "diagonal"})
    ledger = Ledger(tmp_path / "l.db", budget=MEANS)
    tk.release(means().to_numpy(), half, ledger=ledger)
    spent = [half.channel.covariance]
    assert np.array_equal(ledger.account().covariance, MEANS.channel.covariance)
    for _ in range(20):
        try:
            tk.release(means().to_numpy(), half, ledger=ledger)
        except tk.BudgetError:
            assert not within([*spent, half.channel.covariance], MEANS.channel.covariance)
            break
        spent.append(half.channel.covariance)
        assert within(spent, MEANS.channel.covariance)
    else:
        raise AssertionError("the budget was never spent")
    assert ledger.loss(half) <= MEANS.epsilon


def test_other_answers_and_other_kinds_do_not_compose(tmp_path):
    ledger = Ledger(tmp_path / "l.db")
    sigma = MEANS.channel.covariance
    tk.release(means().to_numpy(), MEANS, theta=4 * sigma, ledger=ledger)
    with pytest.raises(tk.CompositionError, match=r"another answer .* publish the first answer again"):
        tk.release(means("b").to_numpy(), MEANS, theta=4 * sigma, ledger=ledger)
    one = tk.calibrate(tk.fit_priors(TABLE, secret="group", query=tk.Mean("x")), alpha=2, epsilon=1)
    with pytest.raises(tk.CompositionError):
        tk.release([float(means()["x"])], one, ledger=ledger)
    assert ledger.account().releases == 1


@settings(max_examples=some_of(40))
@given(seed=st.integers(0, 10**6), count=st.integers(1, 6))
def test_whatever_the_ledger_accepts_fits_in_fractions(seed, count):
    rng = np.random.default_rng(seed)

    def covariance(scale):
        x = rng.normal(size=(2, 3)) * 10.0 ** rng.uniform(-1, 1, size=(2, 1))
        c = scale * x @ x.T
        return 0.5 * (c + c.T)

    budget, spent = covariance(1.0), []
    for _ in range(count):
        one = covariance(10.0 ** rng.uniform(0, 2))
        both = [*spent, one]
        allowed = fits([LinearRelease.of(c) for c in both], budget=budget)
        assert allowed == within(both, budget)
        if allowed:
            spent = both


def test_two_releases_tell_as_much_as_one_with_their_precisions():
    p, q = BY_HAND.beliefs[0].values()
    first, second = (
        2 * BY_HAND.channel.covariance,
        np.diag([3.0, 5.0]) @ np.diag(np.diagonal(BY_HAND.channel.covariance)),
    )
    together = np.linalg.inv(np.linalg.inv(first) + np.linalg.inv(second))
    stack = np.block([[first, np.zeros((2, 2))], [np.zeros((2, 2)), second]])

    def twice(law):
        return tk.VectorMixture.gaussian(np.tile(law.means[0], 2), np.tile(law.covariances[0], (2, 2)))

    assert gaussian_loss(twice(p), twice(q), stack, alpha=2.0) == pytest.approx(
        float(gaussian_loss(p, q, together, alpha=2.0)), rel=1e-9
    )
