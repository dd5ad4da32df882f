"""The best channel as a mechanism: its options, its defaults, what it refuses, and mechanisms of other people."""

import dataclasses
import importlib.metadata
import math
from fractions import Fraction
from typing import ClassVar

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.channels.gaussian import GaussianNoise
from takifugu.errors import CalibrationError, InputError, MechanismError, NoAnswerError
from takifugu.mechanisms.base import Additive, Found, Mechanism, label_of, list_mechanisms
from takifugu.mechanisms.least_noise import Exact
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.problems.guarantee import Odds, Renyi
from takifugu.problems.problem import Place

NUMBERS = {"a": tk.Finite([1, 2, 3, 4], [9, 6, 3, 2]), "b": tk.Finite([1, 2, 3, 4], [2, 3, 6, 9])}
LABELS = {"a": tk.Finite(["x", "y", "z"], [5, 3, 2]), "b": tk.Finite(["x", "y", "z"], [1, 4, 5])}


def published(channel, law):
    """P K in rational numbers, by other code than the channel's own."""
    total = sum(map(Fraction, law.weights.tolist()))
    place = {value: k for k, value in enumerate(channel.inputs)}
    out = [Fraction(0)] * len(channel.outputs)
    for value, weight in zip(law.values, law.weights.tolist(), strict=True):
        for y, count in enumerate(channel.counts[place[value]].tolist()):
            out[y] += Fraction(weight) / total * Fraction(count, channel.denominator)
    return out


def is_kept(channel, laws, guarantee):
    """Whether every pair is within the promise both ways, in rationals and 60 digits."""
    for a in laws:
        for b in laws:
            p, q = published(channel, laws[a]), published(channel, laws[b])
            odds = guarantee.most_odds
            if odds is not None and any(
                x > Fraction(odds) * (1 + Fraction(1, 2**50)) * y for x, y in zip(p, q, strict=True)
            ):
                return False
            if math.isfinite(guarantee.alpha):
                with mp.workdps(60):
                    alpha = mp.mpf(guarantee.alpha)
                    if any(x > 0 and y == 0 for x, y in zip(p, q, strict=True)):
                        return False
                    terms = [
                        (mp.mpf(x.numerator) / x.denominator) ** alpha
                        * (mp.mpf(y.numerator) / y.denominator) ** (1 - alpha)
                        for x, y in zip(p, q, strict=True)
                        if x > 0
                    ]
                    if mp.log(mp.fsum(terms)) / (alpha - 1) > guarantee.epsilon:
                        return False
    return True


def test_the_kind_of_law_chooses_the_mechanism():
    normals = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}
    assert tk.calibrate(normals, alpha=2, epsilon=1).mechanism == "exact"
    found = tk.calibrate(LABELS, alpha=2, epsilon=0.3)
    assert (found.mechanism, type(found.channel)) == ("optimal", FiniteChannel)
    with pytest.raises(AttributeError, match="FiniteChannel has no theta"):
        _ = found.theta
    with pytest.raises(MechanismError, match="'optimal' is for laws on finite lists"):
        tk.calibrate(normals, alpha=2, epsilon=1, mechanism="optimal")
    with pytest.raises(MechanismError, match="'exact' adds noise to numbers on the line"):
        tk.calibrate(LABELS, alpha=2, epsilon=1, mechanism="exact")
    with pytest.raises(MechanismError, match="Gaussian noise bounds the odds at no size"):
        tk.calibrate(normals, odds=3, mechanism="exact")
    assert tk.calibrate(normals, odds=3).mechanism == "laplace"


@pytest.mark.parametrize(
    "promise", [{"odds": 1.5}, {"alpha": 3, "epsilon": 0.1}, {"alpha": 1.5, "epsilon": 0.2, "odds": 1.7}]
)
@pytest.mark.parametrize("laws", [NUMBERS, LABELS], ids=["numbers", "labels"])
@pytest.mark.parametrize("keep", ["marginal", "mean", None])
def test_every_promise_is_kept_with_a_proven_gap(promise, laws, keep):
    if keep == "mean" and laws is LABELS:
        with pytest.raises(InputError, match="numbers"):
            tk.calibrate(laws, **promise, preserve=keep)
        return
    found = tk.calibrate(laws, **promise, preserve=keep)
    assert is_kept(found.channel, laws, found.guarantee)
    assert found.meets_budget()
    assert found.lower_bound <= found.error <= found.lower_bound * 1.002 + 1e-9
    shares = sum(np.array([float(x) for x in published(found.channel, law)]) for law in laws.values()) / 2
    pooled = sum(law.weights for law in laws.values()) / 40 if laws is NUMBERS else None
    if keep == "marginal" and pooled is not None:
        assert shares == pytest.approx(pooled, abs=1e-4)
    if keep == "mean":
        assert shares @ [1, 2, 3, 4] == pytest.approx(pooled @ [1, 2, 3, 4], abs=1e-4)


def test_losses_by_name_and_as_a_matrix():
    x = np.array([1.0, 2, 3, 4])
    gaps = np.abs(x[:, None] - x)
    for name, matrix in (("square", gaps**2), ("absolute", gaps), ("change", 1 - np.eye(4))):
        named, given = (tk.calibrate(NUMBERS, odds=1.5, utility=tk.Utility(loss=loss)) for loss in (name, matrix))
        assert named.error == pytest.approx(given.error, rel=1e-9)
        assert named.channel == given.channel
    free = tk.calibrate(NUMBERS, odds=1.5, utility=tk.Utility(loss=np.zeros((4, 4))))
    assert free.error == 0
    tilted = gaps**2 + 10 * (x[None, :] > x[:, None])  # to publish too much is worse than too little
    down = tk.calibrate(NUMBERS, odds=1.5, preserve=None, utility=tk.Utility(loss=tilted))
    rows = down.channel.matrix
    assert np.triu(rows, 1).sum() < np.tril(rows, -1).sum()
    default = tk.calibrate(LABELS, odds=1.5)
    mass = sum(law.weights for law in LABELS.values())
    assert default.error == pytest.approx(default.channel.share_changed(mass))


def test_the_radius_covers_every_prior_within_it():
    radius, rng = 0.05, np.random.default_rng(2)
    found = tk.calibrate(NUMBERS, odds=1.8, radius=radius)
    assert found.error > tk.calibrate(NUMBERS, odds=1.8).error
    for _ in range(40):
        near = {}
        for secret, law in NUMBERS.items():
            p = law.probabilities.copy()
            i, j = rng.choice(4, 2, replace=False)
            moved = min(radius, p[i]) * (1 - 1e-12)
            p[i] -= moved
            p[j] += moved
            near[secret] = tk.Finite(law.values, p)
        assert is_kept(found.channel, near, found.guarantee)
    each = tk.calibrate(NUMBERS, odds=1.8, radius=[0.05, 0.0])
    assert each.error < found.error


def test_forbidden_moves_and_a_promised_diagonal():
    found = tk.calibrate(NUMBERS, odds=3, preserve=None, utility=tk.Utility(forbidden=[(1, 4), (4, 1)]))
    assert found.channel.counts[0, 3] == found.channel.counts[3, 0] == 0
    assert is_kept(found.channel, NUMBERS, found.guarantee)
    stays = tk.calibrate(NUMBERS, odds=2, preserve=None, utility=tk.Utility(diagonal=0.7))
    mass = sum(law.weights for law in NUMBERS.values())
    assert stays.channel.share_changed(mass) <= 0.3 + 1e-3
    with pytest.raises(MechanismError, match=r"diagonal=0\.99 .* at most 0\.\d+"):
        tk.calibrate(NUMBERS, odds=1.2, preserve=None, utility=tk.Utility(diagonal=0.99))
    with pytest.raises(MechanismError, match="unbiased"):
        tk.calibrate(NUMBERS, odds=1.2, utility=tk.Utility(unbiased=True))
    gentle = {"a": tk.Finite([1, 2, 3], [5, 4, 3]), "b": tk.Finite([1, 2, 3], [4, 4, 4])}
    right = tk.calibrate(gentle, odds=1.35, preserve=None, utility=tk.Utility(unbiased=True))
    assert right.channel.matrix @ [1, 2, 3] == pytest.approx([1, 2, 3], abs=0.02)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"keep": "all"}, 'preserve must be "marginal"'),
        ({"loss": "squre"}, "loss must be one of"),
        ({"loss": [[math.nan] * 3] * 3}, "finite"),
        ({"loss": [[-1.0] * 3] * 3}, "0 or more"),
        ({"loss": [[1.0] * 3, [1.0] * 2]}, "every row as long"),
        ({"loss": [[1.0] * 2] * 3}, "a column for each of the 3"),
        ({"loss": 7}, "loss must be"),
        ({"loss": "square"}, "for numbers, and these values are labels"),
        ({"radius": 1.0}, "from 0 to below 1"),
        ({"radius": -0.1}, "from 0 to below 1"),
        ({"radius": math.nan}, "from 0 to below 1"),
        ({"radius": [0.1]}, "one for each of the 2 secrets"),
        ({"forbidden": [1]}, "list of pairs"),
        ({"forbidden": [("x", "q")]}, "'q', which is not among"),
        ({"forbidden": [("x", "x"), ("x", "y"), ("x", "z")]}, "x|forbid"),
        ({"diagonal": 2}, "between 0 and 1"),
        ({"diagonal": "most"}, "between 0 and 1"),
        ({"unbiased": True}, "numbers"),
        ({"shape": "full"}, "'optimal' has no option 'shape'"),
    ],
)
def test_bad_options_are_told(options, says):
    with pytest.raises(tk.TakifuguError, match=says):
        tk.calibrate(LABELS, odds=2, options=options)


@pytest.mark.parametrize(
    ("promise", "says"),
    [
        ({}, "the guarantee is missing"),
        ({"alpha": 2}, "epsilon is missing"),
        ({"epsilon": 2}, "alpha is missing"),
        ({"alpha": 0.5, "epsilon": 1}, "alpha must be a finite number above 1"),
        ({"alpha": 1, "epsilon": 1}, "alpha must be a finite number above 1"),
        ({"alpha": 2, "epsilon": 0}, "epsilon must be"),
        ({"odds": 1}, "odds must be a finite number above 1"),
        ({"odds": 0.5}, "odds must be a finite number above 1"),
        ({"odds": math.nan}, "odds must be"),
        ({"alpha": math.inf, "epsilon": 1, "odds": 2}, "leave odds out"),
    ],
)
def test_bad_promises_are_told(promise, says):
    with pytest.raises(InputError, match=says):
        tk.calibrate(LABELS, **promise)


def test_lists_that_are_odd():
    """One value only, values that one law lacks, weights of zero, look-alikes, and far too many values."""
    single = tk.calibrate({"a": tk.Finite(["x"], [3]), "b": tk.Finite(["x"], [5])}, odds=1.01)
    assert (single.error, single.channel.counts.shape) == (0, (1, 1))
    apart = {"a": tk.Finite(["x"], [1]), "b": tk.Finite(["y"], [1])}
    found = tk.calibrate(apart, odds=2, preserve=None)
    assert is_kept(found.channel, apart, found.guarantee)
    zero = {"a": tk.Finite([1, 2, 3], [1, 0, 1]), "b": tk.Finite([1, 2, 3], [0, 0, 2])}
    assert is_kept(tk.calibrate(zero, odds=2).channel, zero, Odds(2))
    with pytest.raises(InputError, match="look alike"):
        tk.calibrate({"a": tk.Finite([1, 2], [1, 1]), "b": tk.Finite(["1", "2"], [1, 1])}, odds=2)
    many = tk.Finite(range(100_000), np.ones(100_000))
    with pytest.raises(InputError, match=r"100,000 distinct values.*coarser domain"):
        tk.calibrate({"a": many, "b": many}, odds=2)


def test_beliefs_count_together():
    other = {"a": NUMBERS["b"], "b": tk.Finite([1, 2, 3, 4], [1, 1, 1, 17])}
    found = tk.calibrate([NUMBERS, other], odds=1.7)
    for belief in (NUMBERS, other):
        assert is_kept(found.channel, belief, found.guarantee)
    assert found.place.belief in (0, 1)
    assert found.error >= tk.calibrate(NUMBERS, odds=1.7).error * (1 - 1e-3)


@settings(max_examples=some_of(25))
@given(
    st.integers(2, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 30), min_size=n, max_size=n).filter(any), min_size=2, max_size=3)
    ),
    st.sampled_from([{"odds": 1.05}, {"odds": 4.0}, {"alpha": 1.2, "epsilon": 0.05}, {"alpha": 20.0, "epsilon": 1.0}]),
    st.sampled_from(["marginal", None]),
)
def test_any_counts_get_a_channel_that_keeps_the_promise(counts, promise, keep):
    laws = {k: tk.Finite(range(len(row)), row) for k, row in enumerate(counts)}
    found = tk.calibrate(laws, **promise, preserve=keep)
    assert is_kept(found.channel, laws, found.guarantee)
    assert found.lower_bound <= found.error * (1 + 1e-9) + 1e-12


# ---- mechanisms of other people


@dataclasses.dataclass(frozen=True)
class Careless(Additive):
    """Gives the same noise to everyone."""

    name: ClassVar[str] = "careless"
    label: ClassVar[str] = "Careless"
    summary: ClassVar[str] = "The same noise for everyone."

    variance: float = 1e-6

    def least_variance(self, p, q, *, alpha, epsilon, floor=0.0):
        return self.variance if math.isnan(self.variance) else max(floor, self.variance)


def same(channel):
    """A mechanism that publishes through a channel that was made elsewhere."""

    @dataclasses.dataclass(frozen=True)
    class Same(Mechanism):
        name: ClassVar[str] = "same"
        label: ClassVar[str] = "Same"
        summary: ClassVar[str] = "A channel from elsewhere."

        anything: object = None

        def find(self, problem, asked):
            return Found(channel, Place(0, 1, 0), 99.0, "trust me")

    return Same


NORMALS = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(2, 1.5), "c": tk.Mixture.gaussian(1, 1)}


def test_too_little_noise_is_corrected_and_said():
    exact = tk.calibrate(NORMALS, alpha=2, epsilon=0.5)
    found = tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism=Careless())
    assert found.theta == pytest.approx(exact.theta)
    assert found.theta >= exact.theta * (1 - 1e-9)
    assert (found.mechanism, dict(found.options)) == ("careless", {"variance": 1e-6})
    assert "not one of Takifugu's own: the exact divergence was checked" in str(found)
    assert tk.certify(found).theta == found.theta
    assert tk.Calibration.from_dict(found.to_dict()) == found
    more = tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism=Careless(1e4))
    assert more.theta == 100
    with pytest.raises(NoAnswerError, match="no finite noise satisfies 'careless'"):
        tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism=Careless(math.inf))
    with pytest.raises(CalibrationError, match="no number"):
        tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism=Careless(math.nan))


def test_a_channel_from_elsewhere_is_proved_or_refused():
    good = FiniteChannel.constant(("x", "y", "z"), tk.Finite(["x", "y"], [1, 3]))
    found = tk.calibrate(LABELS, odds=2, mechanism=same(good)())
    assert found.channel == good
    assert (found.lower_bound, found.optimality) == (None, None)  # nobody's word is taken for what is best
    assert tk.verify(tk.certify(found)).lower_bound is None
    with pytest.raises(CalibrationError, match="not proved to keep odds within a factor of 2"):
        tk.calibrate(LABELS, odds=2, mechanism=same(FiniteChannel.identity(("x", "y", "z")))())
    with pytest.raises(CalibrationError, match="not proved"):
        tk.calibrate(LABELS, odds=2, mechanism=same(FiniteChannel.constant(("x", "z", "y"), LABELS["a"]))())
    with pytest.raises(CalibrationError, match="which these laws do not go through"):
        tk.calibrate(NORMALS, alpha=2, epsilon=1, mechanism=same(good)())
    odd = tk.calibrate(LABELS, odds=2, mechanism=same(good)(object()))
    with pytest.raises(InputError, match="has no form in a file"):
        odd.to_dict()


def test_who_inherits_from_ours_is_not_trusted_for_it():
    @dataclasses.dataclass(frozen=True)
    class Lazy(Exact):
        name: ClassVar[str] = "lazy"

        def find(self, problem, asked):
            return Found(GaussianNoise(1e-3), Place(0, 0, 2))

    @dataclasses.dataclass(frozen=True)
    class Idle(Optimal):
        name: ClassVar[str] = "idle"

        def find(self, problem, asked):
            return Found(FiniteChannel.identity(("x", "y", "z")))

    exact = tk.calibrate(NORMALS, alpha=2, epsilon=0.5)
    assert tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism=Lazy()).theta >= exact.theta * (1 - 1e-9)
    with pytest.raises(CalibrationError, match="not proved"):
        tk.calibrate(LABELS, odds=2, mechanism=Idle())


def test_who_promises_more_than_was_asked_is_held_to_it():
    @dataclasses.dataclass(frozen=True)
    class Boastful(Careless):
        name: ClassVar[str] = "boastful"

        def promise(self, asked):
            return Renyi(asked.alpha, asked.epsilon / 100)

    found = tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism=Boastful())
    assert found.epsilon == 0.005
    assert found.meets_budget()


@pytest.mark.parametrize("less", [Renyi(2, 20.0), Renyi(1.5, 0.5)], ids=["budget", "order"])
def test_who_promises_less_than_was_asked_is_refused(less):
    @dataclasses.dataclass(frozen=True)
    class Modest(Careless):
        name: ClassVar[str] = "modest"

        def promise(self, asked):
            return less

    with pytest.raises(CalibrationError, match="which is less than"):
        tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism=Modest())


def test_what_is_no_mechanism_is_told():
    with pytest.raises(InputError, match="has no 'name'"):
        tk.calibrate(NORMALS, alpha=2, epsilon=1, mechanism=object())
    with pytest.raises(InputError, match="give the options to the mechanism itself"):
        tk.calibrate(NORMALS, alpha=2, epsilon=1, mechanism=Careless(), options={"variance": 2})

    class Strange(Careless):
        name: ClassVar[str] = "My Rule"

    class Ours(Careless):
        name: ClassVar[str] = "exact"

    class Empty(Careless):
        def find(self, problem, asked):
            return None

    with pytest.raises(InputError, match="lower-case letters, digits and hyphens"):
        tk.calibrate(NORMALS, alpha=2, epsilon=1, mechanism=Strange())
    with pytest.raises(InputError, match="'exact' is the name of a mechanism of Takifugu's"):
        tk.calibrate(NORMALS, alpha=2, epsilon=1, mechanism=Ours())
    with pytest.raises(CalibrationError, match="gave a NoneType where a Found"):
        tk.calibrate(NORMALS, alpha=2, epsilon=1, mechanism=Empty())


class Entry:
    """An entry point as an installed package would have it."""

    def __init__(self, name, loaded):
        self.name, self.loaded = name, loaded

    def load(self):
        return self.loaded


def test_installed_mechanisms_are_found_by_name(monkeypatch):
    entries = [Entry("careless", Careless)]
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda *, group: entries if group == "takifugu.mechanisms" else []
    )
    assert list_mechanisms()["careless"] == "The same noise for everyone."
    assert label_of("careless") == "Careless"
    found = tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism="careless", options={"variance": 1e4})
    assert found.theta == 100
    with pytest.raises(InputError, match=r"no option 'varianse'"):
        tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism="careless", options={"varianse": 1e4})
    for wrong in (Entry("other", Careless), Entry("exact", Exact)):
        entries[:] = [wrong]
        with pytest.raises(InputError, match="must have the name of its mechanism, and none of Takifugu's"):
            list_mechanisms()
    entries.clear()
    assert label_of("careless") == "careless"
    with pytest.raises(InputError, match="no mechanism 'careless'"):
        tk.calibrate(NORMALS, alpha=2, epsilon=0.5, mechanism="careless")


def test_the_bound_never_contradicts_the_channel():
    """The exact condition for a radius is a hair wider than the program's, and rounding may miss a kept mean."""
    laws = {
        "a": tk.Finite([0.5, 1.0, 3.0], [0.2, 0.5, 0.3]),
        "b": tk.Finite([0.5, 1.0, 3.0], [1e-6, 1.0, 1e-6]),
        "c": tk.Finite([0.5, 1.0, 3.0], [3, 1, 9]),
    }
    for wish in ({"radius": 0.08}, {"radius": 0.3}, {"keep": "mean"}, {"keep": "marginal", "radius": 0.02}):
        found = tk.calibrate(laws, alpha=2, epsilon=0.024, options={"keep": None} | wish)
        assert found.lower_bound <= found.error
        tk.verify(tk.certify(found))


def test_the_nearest_promise_that_would_do_is_named_in_the_words_it_was_asked_in():
    laws = {"a": tk.Finite([1, 2, 3], [5, 3, 2]), "b": tk.Finite([1, 2, 3], [1, 4, 8])}
    for wish in ({"unbiased": True, "keep": None}, {"forbidden": [(1, 2), (1, 3)]}, {"unbiased": True}):
        with pytest.raises(MechanismError, match="one is known from odds=") as error:
            tk.calibrate(laws, odds=1.05, options=wish)
        enough = float(str(error.value).split("odds=")[1].split(" ")[0])
        tk.calibrate(laws, odds=enough, options=wish)
        with pytest.raises(MechanismError):
            tk.calibrate(laws, odds=1 + 0.9 * (enough - 1), options=wish)
    with pytest.raises(MechanismError, match=r"one is known from epsilon=[0-9.]+ and odds=[0-9.]+ on"):
        tk.calibrate(laws, alpha=3, epsilon=0.3, odds=1.5, utility=tk.Utility(unbiased=True))
    with pytest.raises(InputError, match="unbiased must be True or False"):
        tk.calibrate(laws, odds=3, utility=tk.Utility(unbiased="yes"))


def test_weights_of_columns_are_the_matrix_they_stand_for():
    rows = [(a, b) for a in (0, 1, 5) for b in "xy"]
    laws = {s: tk.Finite(rows, np.arange(1, 7) + 3 * k * np.arange(6)) for k, s in enumerate("ab")}
    mass = np.sum([law.weights for law in laws.values()], axis=0)
    n, shares = np.array([a for a, _ in rows], dtype=float), mass / mass.sum()
    numbers = np.subtract.outer(n, n) ** 2 / (shares @ (n - shares @ n) ** 2)
    labels = np.not_equal.outer([b for _, b in rows], [b for _, b in rows])
    by_weights = tk.calibrate(laws, odds=1.3, preserve=None, utility=tk.Utility(weights=[2, 0.5]))
    by_matrix = tk.calibrate(laws, odds=1.3, preserve=None, utility=tk.Utility(loss=2 * numbers + 0.5 * labels))
    assert by_weights.error == pytest.approx(by_matrix.error, rel=1e-9)
    assert by_weights.lower_bound == pytest.approx(by_matrix.lower_bound, rel=1e-9)
    assert tk.certify(by_weights).lower_bound == by_weights.lower_bound
    with pytest.raises(InputError, match="weights"):
        tk.calibrate(laws, odds=1.3, utility=tk.Utility(weights=[1, 1], loss=np.eye(6)))
    with pytest.raises(InputError, match="weights"):
        tk.calibrate(laws, odds=1.3, utility=tk.Utility(weights=[1]))
