"""One mean for each department, as one vector: priors, noise, release, certificate, report, and what is refused."""

import math

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.errors import InputError


def people(rows=300, seed=4):
    rng = np.random.default_rng(seed)
    secret = rng.choice(["x", "y"], rows)
    place = rng.choice(["A", "B", "C"], rows)
    pay = 10 + 2 * (place == "B") + (secret == "y") * (place == "C") + rng.normal(size=rows)
    return pd.DataFrame({"s": secret, "place": place, "pay": pay, "age": 40 + rng.normal(size=rows) + pay})


def test_each_group_has_its_own_mean_and_standard_error():
    table = people()
    priors = tk.fit_priors(table, secret="s", query=tk.Mean("pay", by="place"))
    assert priors.answer.columns == ("pay of A", "pay of B", "pay of C")
    for name, law in priors.items():
        mine = table[table["s"] == name].groupby("place")["pay"]
        np.testing.assert_allclose(law.means[0], mine.mean().to_numpy(), rtol=1e-12)
        np.testing.assert_allclose(law.covariances[0], np.diag(mine.var(ddof=1) / mine.count()), rtol=1e-9, atol=1e-15)
        assert priors.rows[name] == mine.count().min()


def test_several_columns_make_a_block_for_each_group():
    table = people()
    priors = tk.fit_priors(table, secret="s", query=tk.Mean(["pay", "age"], by="place"))
    assert priors.answer.columns[:3] == ("pay of A", "age of A", "pay of B")
    law = priors["x"]
    here = table[(table["s"] == "x") & (table["place"] == "B")][["pay", "age"]]
    np.testing.assert_allclose(law.covariances[0][2:4, 2:4], here.cov() / len(here), rtol=1e-9)
    assert not law.covariances[0][:2, 2:].any()


def test_it_is_calibrated_released_certified_and_reported(tmp_path):
    table = people()
    priors = tk.fit_priors(table, secret="s", query=tk.Mean("pay", by="place"))
    made = tk.calibrate(priors, alpha=3, epsilon=1)
    assert made.mechanism == "shaped"
    answer = table[table["s"] == "y"].groupby("place")["pay"].mean().add_prefix("pay of ")
    ledger = tk.Ledger(tmp_path / "people.ledger", new=True)
    published = tk.release(answer, made, ledger=ledger)
    assert list(published.index) == list(answer.index)
    assert np.isfinite(published).all()
    made.save(tmp_path / "calibration.json")
    again = tk.Calibration.load(tmp_path / "calibration.json")
    tk.certify(again).save(tmp_path / "certificate.json")
    assert tk.verify(tmp_path / "certificate.json").calibration.answer == made.answer
    tk.report(made, tmp_path / "report.html")
    assert "pay of A" in (tmp_path / "report.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="labelled"):
        tk.release(answer.iloc[::-1], made, ledger=ledger)
    with pytest.raises(tk.TakifuguError, match="a Row of what is averaged"):
        tk.release(table, made)


def test_the_noise_is_enough_by_the_formula_of_one_axis_after_another():
    """Independent groups: the loss of the vector is that of a Gaussian, here by the determinant formula."""
    priors = tk.fit_priors(people(), secret="s", query=tk.Mean("pay", by="place"))
    made = tk.calibrate(priors, alpha=3, epsilon=1)
    noise = made.channel.covariance
    for a, b in (("x", "y"), ("y", "x")):
        p, q = priors[a], priors[b]
        c, d = p.covariances[0] + noise, q.covariances[0] + noise
        m = 3 * d - 2 * c
        gap = p.means[0] - q.means[0]
        logs = [np.linalg.slogdet(one)[1] for one in (m, c, d)]
        loss = 1.5 * gap @ np.linalg.solve(m, gap) - (logs[0] + 2 * logs[1] - 3 * logs[2]) / 4
        assert loss <= 1 + 1e-9


def test_what_cannot_be_done_is_said():
    table = people()
    with pytest.raises(InputError, match="another column"):
        tk.fit_priors(table, secret="s", query=tk.Mean("pay", by="s"))
    with pytest.raises(InputError, match="another column"):
        tk.fit_priors(table, secret="s", query=tk.Mean("pay", by="pay"))
    with pytest.raises(InputError, match="by must be"):
        tk.Mean("pay", by=["place"])
    lacking = table[(table["s"] == "x") | (table["place"] != "C")]
    with pytest.raises(InputError, match="'y' has fewer than 2 rows in 'C' of 'place'"):
        tk.fit_priors(lacking, secret="s", query=tk.Mean("pay", by="place"))
    gone = table.assign(s=np.where(table.index % 9 == 0, "z", table["s"]))
    gone["place"] = gone["place"].where(gone["s"] != "z")  # a secret without any group does not vanish
    with pytest.raises(InputError, match="'z' has fewer than 2 rows in 'A', 'B', 'C' of 'place'"):
        tk.fit_priors(gone, secret="s", query=tk.Mean("pay", by="place"))
    at = np.arange(404)
    many = pd.DataFrame({"s": at // 101 % 2, "place": at % 101, "pay": at % 7})
    with pytest.raises(InputError, match=r"101 groups of 'place'.*100"):
        tk.fit_priors(many, secret="s", query=tk.Mean("pay", by="place"))
    priors = tk.fit_priors(table, secret="s", query=tk.Mean("pay", by="place"))
    with pytest.raises(tk.TakifuguError, match="one mean for each group"):
        tk.calibrate(priors, alpha=3, epsilon=1, confidence=0.95)
    assert math.isfinite(tk.calibrate(priors, alpha=3, epsilon=1).error)


def test_rows_without_a_group_or_a_value_are_left_out():
    table = people()
    hole = table.copy()
    hole.loc[:4, "place"] = None
    hole.loc[5:9, "pay"] = np.nan
    left = tk.fit_priors(hole, secret="s", query=tk.Mean("pay", by="place"))
    whole = tk.fit_priors(table.iloc[10:], secret="s", query=tk.Mean("pay", by="place"))
    for name in whole:
        np.testing.assert_allclose(left[name].means, whole[name].means, rtol=1e-12)
