"""Secrets of the whole table, against every table counted one by one and sums of whole numbers."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main
from takifugu.dependence import Count
from takifugu.errors import BudgetError, InputError, MechanismError
from takifugu.queries.share import _BITS, Powers, Rows, Total, laws_on_a_range, spacing
from takifugu.releases.plan import InsecureReleaseWarning

WITH, WITHOUT = {0: 3, 2: 5, 3: 1}, {0: 2, 1: 7}


def table(rows=40, seed=3):
    rng = np.random.default_rng(seed)
    kind = np.array(["F", "M"])[(np.arange(rows) % 3 == 0).astype(int)]
    x = rng.integers(0, 5, rows) + (kind == "F")
    return pd.DataFrame({"sex": kind, "x": x, "label": np.where(x > 2, "high", "low")})


def by_hand(with_it, without, k, n):
    """The law of a total, in fractions: k rows of one kind and n − k of the other, each with all its values."""
    law = {0: Fraction(1)}
    for counts in [with_it] * k + [without] * (n - k):
        whole = sum(counts.values())
        after = {}
        for (total, p), (x, times) in product(law.items(), counts.items()):
            after[total + x] = after.get(total + x, 0) + p * Fraction(times, whole)
        law = after
    return law


def as_dict(law):
    return dict(zip(law.means.tolist(), law.weights.tolist(), strict=True))


@pytest.mark.parametrize("number", ["fixed", "drawn"])
def test_the_laws_are_those_of_every_table_counted_one_by_one(number):
    n = 18
    rows = Rows(WITH, WITHOUT, Fraction(0), Fraction(1))
    assert rows.count == n
    share, k = 0.3, 5
    (total,) = rows.totals([share], {share: k} if number == "fixed" else {})
    (law,) = laws_on_a_range(rows, [total], mean=False)
    if number == "fixed":
        truth = by_hand(WITH, WITHOUT, k, n)
    else:
        s = Fraction(3, 10)
        truth = {}
        for have in range(n + 1):
            chance = math.comb(n, have) * s**have * (1 - s) ** (n - have)
            for x, p in by_hand(WITH, WITHOUT, have, n).items():
                truth[x] = truth.get(x, 0) + chance * p
    found = as_dict(law)
    assert found.keys() <= truth.keys()
    for x, p in truth.items():
        if min(found) < x < max(found):
            assert abs(Fraction(found[x]) / p - 1) < Fraction(1, 1 << 51)
    assert sum((p for x, p in truth.items() if x > max(found) or x < min(found)), Fraction(0)) <= Fraction(1, 1 << 69)


def test_what_is_lost_to_rounding_is_counted():
    """Every probability lies between what is held and that plus all that is lost."""
    one = Total.of({0: Fraction(1, 3), 1: Fraction(1, 7), 4: Fraction(11, 21)})
    many = Powers(one).of(13)
    truth = by_hand({0: 7, 1: 3, 4: 11}, {}, 13, 13)
    lost = (1 << _BITS) - sum(many.numbers)
    assert 0 < lost < 1 << 20
    for k, mass in enumerate(many.numbers, start=many.first):
        exact = truth.get(k, Fraction(0)) * (1 << _BITS)
        assert mass <= exact <= mass + lost


def test_what_lies_beyond_the_range_counts_as_its_end():
    rows = Rows({0: 50, 1: 50}, {0: 100, 1: 50}, Fraction(0), Fraction(1))
    totals = rows.totals([0.2, 0.4], {0.2: 50, 0.4: 100})
    laws = laws_on_a_range(rows, totals, mean=False)
    low, high = min(law.means.min() for law in laws), max(law.means.max() for law in laws)
    assert 0 < low < high < 250
    for law, k in zip(laws, (50, 100), strict=True):
        truth = by_hand({0: 50, 1: 50}, {0: 100, 1: 50}, k, 250)
        beyond = sum((p for x, p in truth.items() if x >= high), Fraction(0))
        if beyond > Fraction(1, 1 << 200):
            assert abs(Fraction(as_dict(law)[high]) / beyond - 1) < Fraction(1, 1 << 50)
        assert math.fsum(law.weights.tolist()) == pytest.approx(1, abs=1e-15)


def largest_log_ratio(p, q, b):
    """In fifty digits, at every point: between them and beyond the ratio is monotone."""
    import mpmath

    with mpmath.workdps(50):
        u = 1 / mpmath.mpf(b)
        weights = [{x: mpmath.mpf(w.numerator) / w.denominator for x, w in law.items()} for law in (p, q)]

        def density(law, y):
            return mpmath.fsum(w * mpmath.exp(-u * abs(x - y)) for x, w in law.items())

        return max(abs(mpmath.log(density(weights[0], y) / density(weights[1], y))) for y in {*p, *q})


def test_the_least_scale_is_that_of_whole_numbers():
    priors = tk.fit_priors(table(), secret=tk.Share("sex", "F", [0.25, 0.75]), query=Count("high", column="label"))
    seen = table()
    high = (seen.label == "high").to_numpy()
    kinds = [{int(x): int(((seen.sex == s) & (high == x)).sum()) for x in (False, True)} for s in "FM"]
    p, q = (by_hand(*kinds, k, 40) for k in (10, 30))
    calibration = tk.calibrate(priors, odds=2)
    assert largest_log_ratio(p, q, calibration.channel.scale) <= math.log(2) * (1 + 1e-14)
    assert largest_log_ratio(p, q, calibration.channel.scale * (1 - 1e-9)) > math.log(2)
    assert tk.verify(tk.certify(calibration)).calibration.channel == calibration.channel


def test_the_figure_of_the_marks():
    marks = tk.datasets.load("student-mat")
    priors = tk.fit_priors(marks, secret=tk.Share("sex", "F", [0.3, 0.5]), query=tk.Mean("G3"))
    calibration = tk.calibrate(priors, tk.Odds(math.e))
    assert calibration.mechanism == "laplace"
    assert calibration.channel.std == pytest.approx(0.2737320767, rel=1e-9)
    told = [str(one) for one in priors.findings if one.code == "share-of-rows"]
    assert told == [
        "a share of 0.3 of 395 rows is taken as 118 of them",
        "a share of 0.5 of 395 rows is taken as 198 of them",
    ]


def test_whoever_is_unsure_within_a_band_learns_no_more():
    shares = [0.2, 0.25, 0.6, 0.65]
    secret = tk.Share("sex", "F", shares, apart=0.3)
    assert secret.pairs == [(0.2, 0.6), (0.2, 0.65), (0.25, 0.6), (0.25, 0.65)]
    priors = tk.fit_priors(table(), secret=secret, query=tk.Mean("x"))
    calibration = tk.calibrate(priors, odds=3)
    assert set(calibration.pairs) == set(secret.pairs)
    rng = np.random.default_rng(0)
    for _ in range(5):
        low, high = (
            tk.Mixture(
                np.concatenate([a * priors[one].weights, (1 - a) * priors[other].weights]),
                np.concatenate([priors[one].means, priors[other].means]),
                np.zeros(len(priors[one]) + len(priors[other])),
            )
            for a, (one, other) in zip(rng.random(2), [(0.2, 0.25), (0.6, 0.65)], strict=True)
        )
        for p, q in ((low, high), (high, low)):
            assert tk.max_divergence(p, q, noise=calibration.channel) <= math.log(3) + 1e-12


@pytest.mark.filterwarnings("ignore::takifugu.errors.DiagnosticWarning")
def test_a_mean_added_up_in_another_order_is_the_same():
    frame = table().assign(x=lambda t: (t.x * 0.1).round(1))
    priors = tk.fit_priors(frame, secret=tk.Share("sex", "F", [0.25, 0.75]), query=tk.Mean("x"))
    calibration = tk.calibrate(priors, odds=3)
    orders = frame, [float(frame.x.to_numpy()[::-1].sum() / len(frame))], [frame.x.mean()]
    made = []
    for values in orders:
        with pytest.warns(InsecureReleaseWarning):
            made.append(tk.release(values, calibration, insecure_seed=5).tolist())
    assert made[0] == made[1] == made[2]
    with pytest.raises(InputError, match="could not have produced"):
        tk.release([frame.x.mean() + 1e-4], calibration)
    with pytest.raises(InputError, match="2 values"):
        tk.release([0.1, 0.2], calibration)


@pytest.mark.filterwarnings("ignore::takifugu.errors.DiagnosticWarning")
def test_a_ledger_lets_it_out_once_and_no_other_number_of_the_table(tmp_path):
    priors = tk.fit_priors(table(), secret=tk.Share("sex", "F", [0.25, 0.75]), query=tk.Mean("x"))
    calibration = tk.calibrate(priors, odds=3)
    ledger = tk.Ledger(tmp_path / "l", new=True)
    tk.release(table(), calibration, ledger=ledger)
    with pytest.raises(BudgetError):
        tk.release(table(), calibration, ledger=ledger)
    other = tk.fit_priors(table(), secret=tk.Share("sex", "F", [0.25, 0.75]), query=Count("high", column="label"))
    with pytest.raises(tk.TakifuguError):
        tk.release(table(), tk.calibrate(other, odds=3), ledger=ledger)


@pytest.mark.filterwarnings("ignore::takifugu.errors.DiagnosticWarning")
def test_gaussian_noise_keeps_a_renyi_guarantee():
    priors = tk.fit_priors(table(), secret=tk.Share("sex", "F", [0.1, 0.9]), query=tk.Mean("x"))
    calibration = tk.calibrate(priors, alpha=2, epsilon=0.05)
    assert calibration.mechanism == "exact"
    assert calibration.theta > 0
    tk.certify(calibration)


@pytest.mark.filterwarnings("ignore::takifugu.errors.DiagnosticWarning")
def test_what_makes_no_sense_is_refused_by_name():
    share = tk.Share("sex", "F", [0.25, 0.75])
    with pytest.raises(InputError, match="one number about all its rows"):
        tk.fit_priors(table(), secret=share, query=tk.Raw("x"))
    with pytest.raises(InputError, match="give a Share"):
        tk.fit_priors(table(), secret="sex", query=Count("high", column="label"))
    with pytest.raises(InputError, match="known is about"):
        tk.fit_priors(table(), secret=share, query=tk.Mean("x"), known=["label"])
    with pytest.raises(InputError, match="no row has 'X'"):
        tk.fit_priors(table(), secret=tk.Share("sex", "X", [0.25, 0.75]), query=tk.Mean("x"))
    with pytest.raises(InputError, match="both the secret and the answer"):
        tk.fit_priors(table(), secret=share, query=Count("F", column="sex"))
    with pytest.raises(InputError, match="same number of rows"):
        tk.fit_priors(table(), secret=tk.Share("sex", "F", [0.25, 0.251]), query=tk.Mean("x"))
    frame = table().assign(x=np.random.default_rng(0).random(40))
    with pytest.raises(InputError, match="share no step"):
        tk.fit_priors(frame, secret=share, query=tk.Mean("x"))
    with pytest.raises(InputError, match="nothing would be hidden"):
        tk.Share("sex", "F", [0.25, 0.75], apart=0.6)
    with pytest.raises(InputError, match="two or more different numbers"):
        tk.Share("sex", "F", [0.3])
    priors = tk.fit_priors(table(), secret=share, query=tk.Mean("x"))
    with pytest.raises(MechanismError, match="leave them out"):
        tk.calibrate(priors, alpha=2, epsilon=0.1, confidence=0.95)
    calibration = tk.calibrate(priors, odds=3)
    with pytest.raises(InputError, match="one number about the whole table"):
        tk.audit(table(), table(), calibration)
    with pytest.raises(InputError, match="leave it out"):
        tk.release(table(), calibration, of="F")


def test_a_step_is_found_in_decimals():
    assert spacing("x", [Fraction("0.1"), Fraction("0.3"), Fraction("0.6")]) == (Fraction(1, 10), Fraction(1, 10))


def test_the_command_line_does_the_same(tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    asked = ["--secret", "sex", "--share", "F=0.25,0.75", "--query", "mean:x", "--odds", "3", "--json"]
    done = CliRunner().invoke(main, ["calibrate", str(tmp_path / "t.csv"), *asked])
    assert done.exit_code == 0, done.output
    (tmp_path / "c.json").write_text(done.stdout)
    out = ["release", str(tmp_path / "t.csv"), str(tmp_path / "o.csv"), "--calibration", str(tmp_path / "c.json")]
    done = CliRunner().invoke(main, [*out, "--ledger", str(tmp_path / "l"), "--new-ledger"])
    assert done.exit_code == 0, done.output
    assert "one number" in done.output
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 2
    assert tk.Calibration.load(tmp_path / "c.json").channel.scale == pytest.approx(
        tk.calibrate(
            tk.fit_priors(table(), secret=tk.Share("sex", "F", [0.25, 0.75]), query=tk.Mean("x")), odds=3
        ).channel.scale
    )
