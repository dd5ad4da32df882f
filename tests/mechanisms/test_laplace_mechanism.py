import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu import LaplaceNoise, Mixture
from takifugu.channels import WHOLE
from takifugu.cli import main
from takifugu.errors import BudgetError, CertificationError, InputError, MechanismError
from takifugu.mechanisms.least_noise import least_size
from takifugu.problems import Place, Problem, Renyi

NORMALS = {"a": Mixture.gaussian(0, 2), "b": Mixture.gaussian(0.5, 1)}
POINTS = {"a": Mixture([0.5, 0.5], [0, 1], [0, 0]), "b": Mixture([0.8, 0.2], [0, 1], [0, 0])}


def of_counts(weights):
    return Mixture(list(weights.values()), list(weights), [0] * len(weights))


def table(rows=400):
    rng = np.random.default_rng(1)
    secret = rng.choice(["a", "b"], rows)
    return pd.DataFrame({"s": secret, "x": (rng.normal(0, 2, rows) + (secret == "b")).round(1)})


@pytest.fixture(scope="module")
def column():
    return tk.calibrate(tk.fit_priors(table(), secret="s", query=tk.Raw("x")), odds=3)


@pytest.mark.parametrize(
    ("laws", "epsilon", "truth"),
    [
        (POINTS, 0.3, 1.081512213946),
        (
            {"a": of_counts({0: 0.2, 1: 0.5, 3: 0.3}), "b": of_counts({0: 0.4, 1: 0.4, 4: 0.2})},
            1,
            0.9519977464323,
        ),
        (NORMALS, 0.5, 2.302775637732),
        (NORMALS, 0.03, 29.09770339678),
    ],
)
def test_known_answers(laws, epsilon, truth):
    for turned in (laws, dict(reversed(laws.items()))):
        found = tk.calibrate(turned, odds=math.exp(epsilon))
        assert found.mechanism == "laplace"
        assert truth * (1 - 1e-12) <= found.channel.scale <= truth * (1 + 1e-9)
        assert found.meets_budget()
    by_order = tk.calibrate(laws, alpha=math.inf, epsilon=epsilon)
    assert (by_order.mechanism, by_order.guarantee) == ("laplace", Renyi(math.inf, epsilon))
    assert by_order.channel.scale == pytest.approx(truth, rel=1e-9)


def test_the_known_answer_on_a_dataset():
    adult = tk.datasets.load("adult")
    shares = {s: adult.loc[adult.race == s, "education-num"].value_counts(normalize=True) for s in ("White", "Other")}
    found = tk.calibrate({s: of_counts(one.to_dict()) for s, one in shares.items()}, odds=math.e)
    assert 2.01382374686 * (1 - 1e-11) <= found.channel.scale <= 2.01382374686 * (1 + 1e-9)


def test_a_certificate_verifies_and_a_billionth_less_does_not():
    found = tk.calibrate(NORMALS, odds=math.exp(0.5))
    proved = tk.certify(found)
    tk.verify(proved)
    state = json.loads(json.dumps(proved.to_dict()))
    tk.verify(type(proved).from_dict(state))
    less = json.loads(json.dumps(found.to_dict()))
    less["channel"]["scale"] = found.channel.scale * (1 - 1e-9)
    with pytest.raises(InputError, match="the file was changed"):
        tk.Calibration.from_dict(less)
    weaker = replace(found, channel=LaplaceNoise(found.channel.scale * (1 - 1e-9)))
    assert not weaker.meets_budget()
    with pytest.raises(CertificationError, match="not proved to be within"):
        tk.certify(weaker)


def test_it_comes_back_from_json():
    found = tk.calibrate(POINTS, odds=2)
    assert tk.Calibration.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    for bad in (-1, "1", None):
        state = json.loads(json.dumps(found.to_dict()))
        state["channel"]["scale"] = bad
        with pytest.raises(InputError):
            tk.Calibration.from_dict(state)
    assert "Laplace noise of scale b =" in str(found)


def test_every_belief_and_every_pair_is_within_the_factor():
    mild = {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(0.2, 1)}
    strong = {"a": Mixture.gaussian(0, 1), "b": Mixture([0.5, 0.5], [0, 2], [1, 0])}
    alone = tk.calibrate(strong, odds=2).channel.scale
    for beliefs in ([mild, strong], [strong, mild]):
        found = tk.calibrate(beliefs, odds=2)
        assert found.channel.scale == pytest.approx(alone, rel=1e-9)
        for laws in beliefs:
            for p, q in ((laws["a"], laws["b"]), (laws["b"], laws["a"])):
                assert tk.max_divergence(p, q, noise=found.channel) <= math.log(2) * (1 + 1e-12)


def test_laws_that_agree_need_no_noise():
    found = tk.calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(0, 1)}, odds=2)
    assert found.channel == LaplaceNoise(0.0)
    assert "No noise is needed" in str(found)
    tk.verify(tk.certify(found))
    points = tk.calibrate({"a": POINTS["a"], "b": POINTS["b"]}, odds=3)  # ln 2.5 at most as they are
    assert points.channel.scale == 0
    tk.verify(tk.certify(points))


def test_a_law_that_less_noise_than_floats_can_tell_would_do_for():
    """The first direction needs hardly any noise, and a search for the least once ran into numbers below all floats."""
    laws = {"a": Mixture.gaussian(0, 1), "b": Mixture([0.5, 0.5], [0, 5], [1, 3])}
    found = tk.calibrate(laws, odds=3)
    assert found.meets_budget()
    place = Place(belief=0, first=0, second=1)
    assert least_size(Problem.of(laws), place, tk.Odds(3), LaplaceNoise(1.0), 0.0) < found.channel.scale


def test_what_it_cannot_do_is_refused_by_name():
    with pytest.raises(MechanismError, match="use 'laplace'"):
        tk.calibrate(NORMALS, odds=3, mechanism="exact")
    finite = {"a": tk.Finite(["x", "y"], [1, 2]), "b": tk.Finite(["x", "y"], [2, 1])}
    with pytest.raises(MechanismError, match="numbers on the line"):
        tk.calibrate(finite, odds=3, mechanism="laplace")


def test_a_sweep_has_a_row_for_each_factor():
    rows = tk.sweep(NORMALS, odds=[2, 3], alpha=2, epsilon=1)
    assert rows.mechanism.tolist() == ["exact", "laplace", "laplace"]
    assert rows.variance[1] == pytest.approx(tk.calibrate(NORMALS, odds=2).variance, rel=1e-12)
    assert math.isnan(rows.theta[1])


def test_a_column_is_released_audited_and_estimated(column, tmp_path):
    rows = table()
    out = tk.release(rows, column, secret="s", column="x", order="keep")
    published = out["x"].to_numpy()
    spread = float(np.std(published - rows["x"].to_numpy()))
    assert spread == pytest.approx(column.channel.std, rel=0.25)
    rows["y"] = published
    found = tk.audit(rows[["y"]].rename(columns={"y": "x"}), rows[["s", "x"]], column)
    assert "No attack contradicts" in str(found)
    mean = tk.estimate(rows[["y"]].rename(columns={"y": "x"}), column, columns="x").mean("x")
    assert abs(mean.value - rows["x"].mean()) < 6 * column.channel.std / 20
    assert "Laplace noise of scale b" in tk.report(column)
    assert column.plot() is not None


def test_releases_of_one_answer_add_their_rates(tmp_path):
    priors = tk.fit_priors(table(), secret="s", query=tk.Mean("x"))
    budget, less = tk.calibrate(priors, odds=3), tk.calibrate(priors, odds=1.5)
    gaussian = tk.calibrate(priors, alpha=3, epsilon=1)
    ledger = tk.Ledger(tmp_path / "l.db", budget=budget)
    values = float(table().query("s == 'a'").x.mean())

    def same():
        return ledger.recognise_values(np.array([values]))

    first = ledger.charge(same(), less, count=1, granularity=2.0**-10)
    assert (first.kind, first.releases) == ("laplace", 1)
    assert first.spent == LaplaceNoise.share(less.channel.scale, budget=budget.channel.scale) < WHOLE
    rest = first.next_theta
    assert 1 / rest == pytest.approx(1 / budget.channel.scale - 1 / less.channel.scale, rel=1e-9)
    with pytest.raises(BudgetError, match="allows scale="):
        ledger.charge(same(), budget, through=LaplaceNoise(math.nextafter(rest, 0)), count=1, granularity=2.0**-10)
    with pytest.raises(Exception, match=r"[Nn]othing was released"):
        ledger.charge(
            same(), gaussian, through=tk.GaussianNoise(max(gaussian.theta, 10.0)), count=1, granularity=2.0**-10
        )
    assert ledger.charge(same(), budget, through=LaplaceNoise(rest), count=1, granularity=2.0**-10).spent <= WHOLE


def test_from_the_command_line(tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    out = str(tmp_path / "c.json")
    run = CliRunner().invoke(
        main,
        ["calibrate", str(tmp_path / "t.csv"), "--secret", "s", "--query", "mean:x", "--odds", "3", "-o", out],
        catch_exceptions=False,
    )
    assert run.exit_code == 0, run.output
    assert "Laplace" in run.output
    made = tk.Calibration.from_dict(json.loads((tmp_path / "c.json").read_text()))
    same = tk.calibrate(tk.fit_priors(table(), secret="s", query=tk.Mean("x")), odds=3)
    assert made.channel.scale == pytest.approx(same.channel.scale, rel=1e-12)
    refused = CliRunner().invoke(
        main,
        [
            "calibrate",
            str(tmp_path / "t.csv"),
            "--secret",
            "s",
            "--query",
            "mean:x",
            "--odds",
            "3",
            "--mechanism",
            "exact",
        ],
    )
    assert refused.exit_code == 2
    assert "--mechanism laplace" in refused.output


@pytest.mark.parametrize(
    ("p", "q", "most"),
    [
        (tk.Mixture.gaussian(0, 1), tk.Mixture.gaussian(1e-9, 1), 0.04),  # no proof ends with the least noise of all
        (tk.Mixture.empirical([0, 1], [0.75, 0.25]), tk.Mixture.empirical([0, 1], [0.25, 0.75]), 0.05),  # odds of 3
    ],
)
def test_next_to_no_noise_is_found_too(p, q, most):
    made = tk.calibrate({"a": p, "b": q}, odds=3)
    assert 0 < made.channel.scale <= most
    assert made.meets_budget()


def test_the_mean_of_a_second_group_does_not_leave(tmp_path):
    """Whoever the people are: both numbers together tell which group is which, with odds of nine for three."""
    people = table()
    priors = tk.fit_priors(people, secret="s", query=tk.Mean("x"))
    made = tk.calibrate(priors, odds=3)
    ledger = tmp_path / "means.ledger"
    tk.release(people, made, of="a", ledger=ledger)
    for new_people in (False, True):
        with pytest.raises(tk.CompositionError, match=r"(?i)nothing was released"):
            tk.release(people, made, of="b", ledger=tk.Ledger(ledger, new_people=new_people))
