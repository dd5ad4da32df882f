"""The mean of a group, published from its table: the number that its priors are about, and nothing else."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import takifugu as tk
from takifugu.releases.plan import InsecureReleaseWarning

RNG = np.random.default_rng(4)
TABLE = pd.DataFrame(
    {
        "programme": RNG.choice(["none", "help"], 300, p=[0.7, 0.3]),
        "mark": RNG.integers(0, 21, 300).astype(float),
        "absences": RNG.poisson(4.0, 300),
    }
)
TABLE.loc[5:20, "mark"] = np.nan
HELPED = TABLE[TABLE.programme == "help"]


def calibrated(column="mark", secret="programme", table=TABLE, **more):
    return tk.calibrate(tk.fit_priors(table, secret=secret, query=tk.Mean(column, **more)), alpha=2, epsilon=1)


MARK, BOTH = calibrated(), calibrated(["mark", "absences"])


def seeded(values, calibration, **options):
    with pytest.warns(InsecureReleaseWarning):
        return tk.release(values, calibration, insecure_seed=7, **options)


@pytest.mark.parametrize("kind", [lambda table: table, pl.from_pandas, lambda table: pl.from_pandas(table).lazy()])
def test_it_is_the_mean_that_the_priors_took(kind):
    mean = tk.fit_priors(TABLE, secret="programme", query=tk.Mean("mark"))["help"].mean
    assert mean == pytest.approx(HELPED.mark.mean(), rel=1e-12)
    assert seeded(kind(TABLE), MARK, of="help").tolist() == seeded([mean], MARK).tolist()
    vector = HELPED.dropna()[["mark", "absences"]].mean()  # over rows that have both
    assert seeded(kind(TABLE), BOTH, of="help").tolist() == pytest.approx(seeded(vector.to_numpy(), BOTH).tolist())


def test_sentinels_and_cuts_mean_what_they_meant(tmp_path):
    TABLE.assign(mark=TABLE.mark.fillna(99)).to_csv(tmp_path / "marks.csv", index=False)
    priors = tk.fit_priors(
        tmp_path / "marks.csv",
        secret="absences:4",
        query=tk.Mean("mark"),
        reading=tk.tables.reading.Reading(sentinels=(99,)),
    )
    calibration = tk.calibrate(priors, alpha=2, epsilon=0.01)
    low = next(iter(priors))
    again = seeded(pd.read_csv(tmp_path / "marks.csv"), calibration, of=low)
    assert again.tolist() == seeded([priors[low].mean], calibration).tolist()


def test_what_is_no_group_of_the_calibration_is_refused():
    for values, calibration, options, why in (
        (TABLE, MARK, {"of": "neither"}, "that this calibration hides, 'help', 'none'; got 'neither'"),
        (TABLE, MARK, {}, "value of 'programme' whose mean is to be published with of="),
        (TABLE, MARK, {"of": "help", "keep": ["absences"]}, "name the group alone"),
        (TABLE, MARK, {"of": "help", "column": "absences"}, "name the group alone"),
        ([11.0], MARK, {"of": "help"}, "cannot be read as a table|table must be|is no table"),
        (TABLE, calibrated(by="half", table=TABLE.assign(half=TABLE.index % 2)), {"of": "help"}, "published means"),
        (TABLE.drop(columns="mark"), MARK, {"of": "help"}, "no column 'mark'"),
    ):
        with pytest.raises(tk.InputError, match=why):
            tk.release(values, calibration, **options)
    rows = tk.calibrate(tk.fit_priors(TABLE, secret="programme", query=tk.Raw("absences")), alpha=2, epsilon=1)
    by_hand = tk.calibrate({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}, alpha=2, epsilon=1)
    for calibration in (rows, by_hand):
        with pytest.raises(tk.InputError, match="`of` names the group whose mean is published"):
            tk.release(TABLE, calibration, of="help")


def test_a_group_that_is_another_now_is_refused():
    changed = TABLE.assign(mark=TABLE.mark + 20.0 * (TABLE.programme == "help"))
    for calibration in (MARK, BOTH):
        with pytest.raises(tk.InputError, match=r"far from where the priors.*Nothing was released") as caught:
            tk.release(changed, calibration, of="help")
        assert not any(character.isdigit() for character in str(caught.value))
        assert len(tk.release(TABLE, calibration, of="help", adversary=tk.Adversary(drift="allow"))) == len(
            calibration.answer.columns
        )


def test_both_groups_are_not_published(tmp_path):
    ledger = tmp_path / "means.ledger"
    tk.release(TABLE, MARK, of="help", ledger=ledger)
    with pytest.raises(tk.CompositionError, match="Nothing was released"):
        tk.release(TABLE, MARK, of="none", ledger=ledger)


def test_a_group_in_no_pair_is_not_published(tmp_path):
    table = pd.DataFrame({"s": np.repeat(["a", "b", "c"], 100), "v": RNG.normal(size=300)})
    table.loc[table.s == "c", "v"] += 1_000
    priors = tk.fit_priors(table, secret="s", query=tk.Mean("v"))
    calibration = tk.calibrate(priors, alpha=2, epsilon=0.1, pairs=[("a", "b")])
    with pytest.raises(tk.InputError, match="one of the secrets that this calibration hides, 'a', 'b'; got 'c'"):
        tk.release(table, calibration, of="c")
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(tk.InputError, match="that this calibration hides"):
        tk.release_file(tmp_path / "t.csv", tmp_path / "o.csv", calibration, of="c")
    for wrong in ({"secret": table.s}, {"secret": table.s.to_numpy()}, {"column": np.array(["v", "s"])}):
        with pytest.raises(tk.InputError, match="name the group alone"):
            tk.release(table, calibration, of="a", **wrong)
    with pytest.raises(tk.InputError, match="of must be"):
        tk.release(table, calibration, of=np.array(["a", "b"]))
    with pytest.raises(tk.InputError, match="missing must be"):
        tk.release(table, calibration, of="a", reading=tk.Reading(missing="bogus"))
