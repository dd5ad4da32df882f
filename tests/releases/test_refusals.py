"""What a hostile or a hurried caller might try."""

import dataclasses
import json
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pytest

import takifugu as tk
from takifugu.channels.gaussian import GaussianNoise

PRIORS = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(5, 1)}
CALIBRATION = tk.calibrate(PRIORS, alpha=2, epsilon=1)


def test_many_answers_do_not_pass_for_one(tmp_path):
    with pytest.raises(tk.InputError, match="one column"):
        tk.release(np.ones((3, 1000)), CALIBRATION, ledger=tmp_path / "ledger.db")


@pytest.mark.parametrize("theta", [0.0, 1e-9, CALIBRATION.theta * (1 - 1e-9)])
@pytest.mark.parametrize("mechanism", ["exact", "closed-form", "wasserstein-approx"])
def test_a_calibration_that_was_changed_is_refused(theta, mechanism):
    honest = tk.calibrate(PRIORS, alpha=2, epsilon=1, mechanism=mechanism)
    weaker = {"adversary": tk.Adversary(weaker="allow" if mechanism == "wasserstein-approx" else "refuse")}
    tk.release([1.0, 2.0], honest, **weaker)
    changed = dataclasses.replace(honest, channel=GaussianNoise(min(theta, honest.theta * (1 - 1e-9))))
    with pytest.raises(tk.CalibrationError, match="does not meet the budget"):
        tk.release([1.0, 2.0], changed, **weaker)


@pytest.mark.parametrize(
    "change",
    [
        {"mechanism": "no such name!"},
        {"mechanism": ["?"]},
        {"guarantee": "approximate"},
        {"worst_pair": ["a", "z"]},
        {"options": {"a": [1]}},
        {"theta": "1"},
        {"theta": 2 * CALIBRATION.theta},
        {"epsilon": 7.0},
        {"place": [0, 0, 0]},
        {"place": [1, 0, 1]},
        {"version": 1},
        {"format": "takifugu-certificate"},
        {"unheard": 1},
        {"channel": {"kind": "laplace", "theta": 1.0}},
        {"channel": {"kind": "gaussian", "theta": -1.0}},
        {"guarantee": {"kind": "approximate", "alpha": 2.0, "epsilon": 1.0, "delta": 0.1}},
        {"options": {"delta": 0.1}},
        {"options": []},
        {"losses": []},
        {"losses": "none"},
        {"losses": [{"pair": ["a", "b"], "loss": 0.5}, {"pair": ["b", "a"], "loss": 0.5}]},
        {"losses": CALIBRATION.to_dict()["losses"][::-1]},
        {"losses": [{"pair": ["a", "b"], "loss": None}, {"pair": ["b", "a"], "loss": None}]},
    ],
)
def test_a_damaged_file_is_no_calibration(change):
    data = json.loads(json.dumps(CALIBRATION.to_dict())) | change
    with pytest.raises(tk.InputError):
        tk.Calibration.from_dict(data)


def test_a_place_that_is_not_the_worst_is_no_calibration_s():
    laws = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(5, 1), "c": tk.Mixture.gaussian(1, 1)}
    made = tk.calibrate(laws, alpha=2, epsilon=1)
    assert tk.Calibration.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    mild = json.loads(json.dumps(made.to_dict())) | {"place": [0, 0, 2], "worst_pair": ["a", "c"]}
    with pytest.raises(tk.InputError, match="'place' is not where this calibration is closest to its limit"):
        tk.Calibration.from_dict(mild)


@pytest.mark.parametrize("options", [{"unbiased": "no"}, {"unbiased": 1}, {"diagonal": "x"}, {"diagonal": 2.0}])
def test_options_of_a_channel_of_another_type_are_no_calibration_s(options):
    laws = {"a": tk.Finite(["x", "y"], [3, 1]), "b": tk.Finite(["x", "y"], [1, 3])}
    data = json.loads(json.dumps(tk.calibrate(laws, odds=2).to_dict()))
    assert tk.Calibration.from_dict(data).channel.outputs == ("x", "y")
    data["options"] |= options
    with pytest.raises(tk.InputError, match="must be"):
        tk.Calibration.from_dict(data)


def test_an_infinite_loss_has_a_form_in_the_file(tmp_path):
    laws = {"a": tk.Mixture.gaussian(0, 3), "b": tk.Mixture.gaussian(0, 0.1)}
    made = tk.calibrate(laws, alpha=8, epsilon=1, mechanism="wasserstein-approx", delta=0.4)
    assert max(made.losses.values()) == np.inf
    made.save(tmp_path / "calibration.json")
    assert tk.Calibration.load(tmp_path / "calibration.json") == made


def test_a_secret_that_stands_twice_is_refused():
    data = CALIBRATION.to_dict()
    data["problem"]["secrets"][1] = data["problem"]["secrets"][0]
    with pytest.raises(tk.InputError, match="twice"):
        tk.Calibration.from_dict(data)


def test_a_secret_in_no_pair_is_not_published_by_the_transformer():
    X, y = np.repeat([[0.0], [1.0], [5.0], [6.0], [1e6], [1e6 + 1]], 5, axis=0), np.repeat(list("aabbcc"), 5)
    with pytest.raises(tk.InputError, match="'c'"):
        tk.ReleaseTransformer(prior="gaussian", pairs=[("a", "b")]).fit(X, secret=y)


def test_a_file_is_charged_before_a_value_is_drawn(tmp_path, monkeypatch):
    from takifugu.releases.plan import Plan

    source, ledger = tmp_path / "in.csv", tk.Ledger(tmp_path / "ledger.db")
    source.write_text("s,v\na,1\nb,2\n")
    seen = []

    def noised(self, values):
        seen.append(ledger.account())
        raise KeyboardInterrupt

    monkeypatch.setattr(Plan, "drawn", noised)
    with pytest.raises(KeyboardInterrupt):
        tk.release_file(source, tmp_path / "out.csv", CALIBRATION, column="v", secret="s", ledger=ledger)
    assert seen[0] is not None
    assert sorted(p.name for p in tmp_path.glob("*out*")) + sorted(p.name for p in tmp_path.glob(".*partial")) == []


def test_a_file_that_changes_between_the_readings_is_not_published(tmp_path, monkeypatch):
    from takifugu.releases.plan import Plan

    monkeypatch.setattr("takifugu.tables.text_file._MOST_KEPT", 0)  # as of a large file, which is read anew
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("s,v\na,1\nb,2\n")
    charge = Plan.charge

    def charge_and_change(self, answer, count):
        charge(self, answer, count)
        source.write_text("s,v\na,1\nb,3\n")

    monkeypatch.setattr(Plan, "charge", charge_and_change)
    with pytest.raises(tk.InputError, match="changed while it was read"):
        tk.release_file(source, target, CALIBRATION, column="v", secret="s", ledger=tmp_path / "ledger.db")
    assert not target.exists()


def test_a_kept_column_that_changes_between_the_readings_is_held_against_the_secret_again(tmp_path, monkeypatch):
    from takifugu.releases.plan import Plan

    monkeypatch.setattr("takifugu.tables.text_file._MOST_KEPT", 0)  # as of a large file, which is read anew
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = [("a", 1, "x"), ("b", 2, "y"), ("a", 1, "y"), ("b", 2, "x")]
    source.write_text("s,v,k\n" + "".join(f"{s},{v},{k}\n" for s, v, k in rows))
    charge = Plan.charge

    def charge_and_change(self, answer, count):
        charge(self, answer, count)
        source.write_text("s,v,k\n" + "".join(f"{s},{v},{s.upper()}\n" for s, v, _ in rows))

    monkeypatch.setattr(Plan, "charge", charge_and_change)
    with pytest.raises(tk.InputError, match="'k', which was to be kept, says in every row"):
        tk.release_file(source, target, CALIBRATION, column="v", secret="s", keep=["k"])
    assert not target.exists()


@pytest.mark.parametrize("secrets", [[["a"], "b"], [("a", ["b"]), "b"], [{"a": 1}, "b"]], ids=["list", "tuple", "dict"])
def test_a_secret_that_cannot_be_hashed_is_nobody_s(secrets):
    with pytest.raises(tk.InputError, match="1 of 2 rows have a secret outside"):
        tk.release([1.0, 2.0], CALIBRATION, secret=secrets)
    with pytest.raises(tk.InputError, match="is not one of the secrets"):
        tk.calibrate(PRIORS, alpha=2, epsilon=1, pairs=[tuple(secrets)])
    frame = pd.DataFrame({"s": secrets, "v": [1.0, 2.0], "k": ["x", "x"]})
    made = tk.release(frame, CALIBRATION, column="v", secret="s", keep=["k"], others="release")
    assert list(made.columns) == ["v", "k"]


@pytest.mark.parametrize(
    ("clip", "step", "ends"),
    [((0.5, 2.5), 1, (1, 2)), ((-0.5, 10.2), 1, (0, 10)), ((0.3, 0.7), 0.1, (0.3, 0.7)), ((1, 5), 2, (2, 4))],
)
def test_the_ends_of_clip_are_multiples_of_round_to(clip, step, ends):
    values = np.linspace(-50, 50, 101)
    made = tk.release(values, CALIBRATION, clip=clip, round_to=step)
    assert (made.min(), made.max()) == ends
    table = tk.release(pd.DataFrame({"v": values}), CALIBRATION, column="v", others="release", clip=clip, round_to=step)
    assert table["v"].dtype.kind == ("i" if float(step).is_integer() else "f")
    assert (table["v"].min(), table["v"].max()) == ends


def test_ends_of_clip_with_no_step_between_them_are_refused():
    with pytest.raises(tk.InputError, match=r"clip=\(0.2, 0.8\) leaves no multiple of round_to=1"):
        tk.release([1.0], CALIBRATION, clip=(0.2, 0.8), round_to=1)


RARE = "of one person"


ODD = {
    "labels": lambda: pl.Series("v", ["common", RARE], pl.Enum(["common", RARE])),
    "structures": lambda: pl.Series("v", [{RARE: 1}, {RARE: 2}]),
    "objects": lambda: pl.Series("v", [[1], RARE], pl.Object),
    "128 bits": lambda: pl.Series("v", [1, 2**100], pl.Int128),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_type_that_cannot_be_published_is_refused_without_what_it_holds(kind):
    if kind == "128 bits" and not hasattr(pl, "Int128"):
        pytest.skip("this polars knows no integers of 128 bits")
    frame = pl.DataFrame({"s": ["a", "b"]}).with_columns(ODD[kind]())
    finite = tk.calibrate({"a": tk.Finite([1, 2], [1, 2]), "b": tk.Finite([1, 2], [2, 1])}, odds=1.5)
    acts = [
        lambda: tk.release(frame, CALIBRATION, column="v", others="release"),
        lambda: tk.release(frame, finite, column="v", others="release"),
        lambda: tk.fit_priors(frame, secret="s", query=tk.Row("v")),
        lambda: tk.fit_priors(frame, secret="s", query=tk.Raw("v")),
    ]
    for act in acts:
        with pytest.raises(tk.InputError) as refused:
            act()
        told = "".join(traceback.format_exception(refused.value, chain=True))
        assert f"'{RARE}'" not in told
        assert str(2**100) not in told
