import json
import math
import pickle
import subprocess
import sys

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu import Calibration, InputError, Mixture, calibrate, sweep
from takifugu.channels.gaussian import GaussianNoise
from takifugu.errors import NoAnswerError
from takifugu.problems.guarantee import HockeyStick, Renyi

A, B, C = Mixture.gaussian(0, 1), Mixture.gaussian(2, 1.5), Mixture([0.3, 0.7], [0, 4], [1, 0.5])

UNDER_ODDS = ("laplace", "wasserstein-laplace", "kantorovich", "kantorovich-relaxed")
ADDITIVE = [n for n in tk.list_mechanisms() if n not in ("wasserstein", *UNDER_ODDS, "optimal", "shaped")]


def test_tells_its_whole_story():
    result = calibrate({"a": A, "b": B, "c": C}, alpha=3, epsilon=1)
    assert result.variance == result.theta**2
    assert (result.alpha, result.epsilon, result.mechanism, result.guarantee) == (3.0, 1.0, "exact", Renyi(3, 1))
    assert set(result.losses) == {(x, y) for x in "abc" for y in "abc" if x != y}
    assert result.pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    assert result.losses[result.worst_pair] == max(result.losses.values())
    assert result.losses[result.worst_pair] == pytest.approx(1.0, rel=1e-9)
    assert max(result.losses.values()) <= 1.0
    assert result.priors == {"a": A, "b": B, "c": C}
    assert f"θ = {result.theta:.6g}" in str(result)


def test_is_frozen_hashable_and_picklable():
    result = calibrate({"a": A, "b": B}, alpha=3, epsilon=1)
    with pytest.raises(AttributeError):
        result.theta = 0.0
    assert pickle.loads(pickle.dumps(result)) == result
    assert hash(result) == hash(calibrate({"a": A, "b": B}, alpha=3, epsilon=1))


@pytest.mark.parametrize("pairs", [None, [("a", "c")]])
def test_goes_through_json_without_losing_a_bit(pairs):
    result = calibrate([{"a": A, "b": B, "c": C}, {"a": B, "b": A, "c": C}], alpha=2.5, epsilon=0.3, pairs=pairs)
    again = Calibration.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again == result
    assert again.losses[result.worst_pair] == result.losses[result.worst_pair]


def test_what_is_no_calibration_is_refused():
    with pytest.raises(InputError, match="not a calibration"):
        Calibration.from_dict({"theta": 1.0})


def test_the_worst_belief_counts():
    mild, strong = {"a": A, "b": Mixture.gaussian(0.1, 1)}, {"a": A, "b": B}
    alone = calibrate(strong, alpha=3, epsilon=1)
    assert calibrate([mild, strong], alpha=3, epsilon=1).theta == pytest.approx(alone.theta, rel=1e-9)
    assert calibrate([strong, mild], alpha=3, epsilon=1).theta == pytest.approx(alone.theta, rel=1e-9)
    assert len(calibrate([mild, strong], alpha=3, epsilon=1).priors) == 2


def test_both_directions_are_protected():
    narrow, wide = Mixture.gaussian(0, 1), Mixture.gaussian(0, 3)
    forth = calibrate({"n": narrow, "w": wide}, alpha=2, epsilon=0.1, pairs=[("n", "w")])
    back = calibrate({"n": narrow, "w": wide}, alpha=2, epsilon=0.1, pairs=[("w", "n")])
    assert forth.theta == pytest.approx(back.theta, rel=1e-9)
    assert forth.worst_pair == back.worst_pair == ("w", "n")


@pytest.mark.parametrize("mechanism", ADDITIVE)
def test_every_mechanism_answers(mechanism):
    result = calibrate({"a": A, "b": B}, alpha=3, epsilon=1, mechanism=mechanism)
    assert result.mechanism == mechanism
    assert result.theta >= calibrate({"a": A, "b": B}, alpha=3, epsilon=1).theta * (1 - 1e-9)
    assert isinstance(str(result), str)


def test_a_mechanism_without_an_answer_refuses_by_name():
    with pytest.raises(NoAnswerError, match=r"no finite noise satisfies 'wasserstein' for 'a'.*'exact'"):
        calibrate({"a": A, "b": B}, alpha=3, epsilon=1, mechanism="wasserstein")


def test_no_noise_for_priors_that_agree():
    for mechanism in (*ADDITIVE, "wasserstein"):
        result = calibrate({"a": A, "b": Mixture.gaussian(0, 1)}, alpha=3, epsilon=1e-9, mechanism=mechanism)
        assert result.theta == 0.0
        assert "No noise is needed" in str(result)


def test_sweep_has_a_row_for_every_combination():
    table = sweep({"a": A, "b": B}, alpha=[2, 3], epsilon=[0.5, 1], mechanism=["exact", "closed-form"])
    assert list(table.columns) == ["alpha", "epsilon", "mechanism", "theta", "variance", "worst_pair"]
    assert len(table) == 8
    one = table[(table.alpha == 3) & (table.epsilon == 0.5) & (table.mechanism == "closed-form")].iloc[0]
    assert one.theta == calibrate({"a": A, "b": B}, alpha=3, epsilon=0.5, mechanism="closed-form").theta


def test_a_sweep_shows_where_a_mechanism_has_no_answer():
    table = sweep({"a": A, "b": B}, alpha=3, epsilon=1, mechanism="wasserstein")
    assert table.theta.tolist() == [math.inf]
    assert table.worst_pair.tolist() == [None]


@settings(max_examples=some_of(25))
@given(st.floats(1.05, 64), st.floats(0.001, 8))
def test_what_is_calibrated_can_be_certified(alpha, epsilon):
    result = calibrate({"a": A, "b": B, "c": C}, alpha=alpha, epsilon=epsilon)
    tk.verify(tk.certify(result))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1}, "alpha must be a finite number above 1, got 1"),
        ({"alpha": math.nan}, "alpha must be a finite number above 1, got nan"),
        ({"alpha": "3"}, "alpha must be a finite number above 1, got '3' of type str"),
        ({"epsilon": 0}, "epsilon must be a finite number above 0, got 0"),
        ({"epsilon": -1}, "epsilon must be a finite number above 0"),
        ({"epsilon": math.inf}, "epsilon must be a finite number above 0, got inf"),
        ({"priors": {}}, "priors is empty"),
        ({"priors": []}, "priors is empty"),
        ({"priors": {"a": A}}, r"at least two secrets are needed.*\['a'\]: take a secret of more than one value"),
        ({"priors": {"a": A, "b": 3.0}}, "the prior of 'b' must be a Mixture, got float"),
        ({"priors": A}, "priors must be a mapping from secret to Mixture"),
        ({"priors": "ab"}, "priors must be a mapping from secret to Mixture"),
        ({"priors": [{"a": A, "b": B}, {"a": A, "c": B}]}, r"the same secrets.*\['b', 'c'\]"),
        ({"priors": [A, B]}, "each belief must be a mapping"),
        ({"pairs": [("a", "z")]}, "'z' in pairs is not one of the secrets: 'a', 'b'"),
        ({"pairs": [("a", "a")]}, "cannot be hidden from itself"),
        ({"pairs": [("a", "b", "b")]}, "must hold two secrets"),
        ({"pairs": "ab"}, "must be a list of pairs"),
        ({"pairs": ["ab"]}, "must hold two secrets"),
        ({"pairs": []}, "pairs is empty"),
        ({"mechanism": "magic"}, "there is no mechanism 'magic'; there are 'exact', 'laplace', 'closed-form'"),
        ({"mechanism": 3}, "mechanism must be a name or an object like .*; int has no 'name'"),
        ({"alpha": None}, "alpha is missing: a guarantee has both, and epsilon was given; or give odds alone$"),
        ({"epsilon": None}, "epsilon is missing: a guarantee has both, and alpha was given; or give odds alone$"),
        ({"alpha": None, "epsilon": None}, "the guarantee is missing: give alpha and epsilon, or odds$"),
        ({"odds": 3, "mechanism": "exact"}, "Gaussian noise bounds the odds at no size"),
        ({"alpha": math.inf, "mechanism": "exact"}, "Gaussian noise bounds the odds at no size"),
        ({"mechanism": "laplace", "noise": "gaussian"}, "noise and mechanism both name"),
        ({"noise": "cauchy"}, "noise must be 'gaussian', 'laplace' or 'auto'"),
        ({"odds": 1}, "odds must be a finite number above 1, got 1"),
        ({"delta": 0.1}, "alpha and delta are of two guarantees"),
        ({"mechanism": "wasserstein-approx", "options": {"theta": 1}}, "has no option 'theta': it takes only delta"),
        ({"mechanism": "exact", "preserve": "mean"}, "'exact' has no option 'preserve': it takes none"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"priors": {"a": A, "b": B}, "alpha": 2, "epsilon": 1} | change
    with pytest.raises(InputError, match=message):
        calibrate(arguments.pop("priors"), **arguments)


def test_errors_are_value_errors_of_ours():
    assert issubclass(InputError, ValueError)
    assert issubclass(InputError, tk.TakifuguError)


def test_import_is_light():
    code = "import sys, takifugu; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    heavy = {"scipy", "pandas", "matplotlib", "sklearn", "flint", "duckdb", "narwhals", "jax", "ot", "click", "rich"}
    assert not loaded & heavy


def test_every_public_name_is_there():
    for name in tk.__all__:
        assert getattr(tk, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tk.nothing  # noqa: B018


def test_a_sweep_with_confidence_is_its_calibrations_one_by_one():
    counts = {"no": [4, 9, 30, 40, 20, 6, 1], "yes": [1, 2, 6, 9, 8, 5, 2]}
    table = pd.DataFrame([(s, x) for s, tallies in counts.items() for x, n in enumerate(tallies) for _ in range(n)])
    priors = tk.fit_priors(table.set_axis(["s", "x"], axis=1), secret="s", query=tk.Raw("x", bounds=(0, 8), step=1))
    asked = {"confidence": 0.9, "adversary": tk.Adversary(seed=3)}
    found = sweep(priors, alpha=[2, 4], epsilon=[0.3, 1, 2], **asked)
    for row in found.itertuples():
        one = calibrate(priors, alpha=row.alpha, epsilon=row.epsilon, **asked)
        assert row.theta == pytest.approx(one.theta, rel=1e-6)
        assert one.evidence.holds(one.problem, GaussianNoise(row.theta), one.guarantee)
    plain = sweep(priors, alpha=[2, 4], epsilon=[0.3, 1, 2])
    assert (found.theta >= plain.theta).all()
    proved = sweep(priors, alpha=[2], epsilon=[1], assurance="band")
    assert proved.theta[0] > plain.theta[1]
    with pytest.raises(InputError, match="confidence must be"):
        sweep(priors, alpha=[2], epsilon=[1], confidence=95)


def test_odds_are_swept_from_any_iterable():
    laws = {"a": tk.Finite(["p", "q"], [30, 20]), "b": tk.Finite(["p", "q"], [10, 40])}
    found = sweep(laws, odds=(most for most in (1.5, 2.0)))
    assert found["alpha"].tolist() == [math.inf, math.inf]
    assert found["error"].tolist() == pytest.approx([tk.calibrate(laws, odds=most).error for most in (1.5, 2.0)])
    with pytest.raises(tk.InputError, match="nothing to calibrate at"):
        sweep(laws, alpha=[2])


@pytest.mark.parametrize("asked", [{"epsilon": 1, "delta": 1e-3}, {"guarantee": tk.Approximate(1, 1e-3)}])
def test_a_guarantee_that_a_mechanism_does_not_know_is_refused_in_words(asked):
    with pytest.raises(tk.MechanismError, match=r"\(ε, δ\) = \(1, 0.001\)"):
        tk.calibrate({"a": A, "b": B}, mechanism="gmm-transport", **asked)


TWO = {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(1, 2), "c": Mixture([0.5, 0.5], [-1, 1], [1, 0.5])}


@pytest.mark.parametrize(
    "asked", [{"alpha": 8, "epsilon": 0.5}, {"alpha": 2, "epsilon": 1, "mechanism": "laplace"}, {"odds": 2}]
)
def test_the_approximate_guarantee_that_is_kept_is_the_least_that_calibrate_proves(asked):
    made = calibrate(TWO, **asked)
    kept = made.approximate(1e-4)
    assert kept.exact <= kept.by_order <= kept.guaranteed * (1 + 1e-6) or "odds" in asked
    # More noise of the kind is post-processing: what keeps (ε, δ) exactly is found as this very noise again.
    mechanism = {"GaussianNoise": "exact", "LaplaceNoise": "laplace"}[type(made.channel).__name__]
    again = calibrate(TWO, epsilon=kept.exact, delta=1e-4, mechanism=mechanism)
    assert again.channel.std == pytest.approx(made.channel.std, rel=1e-6)
    for place in made.problem.places():
        assert made.channel.loss(*made.problem.ends(place), HockeyStick(kept.exact)) <= 1e-4 * (1 + 1e-9)


def test_a_conversion_through_one_order_is_no_less_than_the_best_of_all_orders():
    made = calibrate(TWO, alpha=3, epsilon=0.5)
    kept = made.approximate(1e-5)
    curve = made.privacy_curve(tuple(made.pairs.secrets[k] for k in (kept.place.first, kept.place.second)))
    for alpha in (1.5, 3.0, 5.0, 8.0, 20.0, 60.0):
        bound = Renyi(alpha, curve.divergence(alpha)) if math.isfinite(curve.divergence(alpha)) else None
        if bound is not None:
            assert bound.bound_on(HockeyStick(kept.by_order)) >= 1e-5 * (1 - 1e-4)
    with pytest.raises(InputError, match="delta must be"):
        made.approximate(0.0)


def test_a_sweep_over_shares_is_its_calibrations_one_by_one():
    table = sweep(TWO, alpha=2, epsilon=[0.5, 1], delta=[1e-5, 1e-3], mechanism=["exact", "laplace"])
    assert len(table) == 12
    assert table["alpha"].isna().sum() == 8
    for row in table.itertuples():
        short = {"alpha": row.alpha} if math.isnan(row.delta) else {"delta": row.delta}
        made = calibrate(TWO, epsilon=row.epsilon, mechanism=row.mechanism, **short)
        assert (row.variance, row.worst_pair) == (made.variance, made.worst_pair)
        assert row.std == pytest.approx(made.channel.std)
    assert "delta" not in sweep(TWO, alpha=2, epsilon=1)
    assert "delta" in table.to_latex()
    with pytest.raises(InputError, match="give alpha and epsilon, epsilon and delta, odds"):
        sweep(TWO, delta=1e-5)
    with pytest.raises(InputError, match="delta must be"):
        sweep(TWO, epsilon=1, delta=1)
