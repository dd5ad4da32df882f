"""Enclosures against mpmath, closed forms and exact sums; decisions at and around the truth."""

import math
from fractions import Fraction

import mpmath as mp
import mpmath_oracle as oracle
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.divergences import renyi_divergence
from takifugu.divergences.certified import Decision, decide, enclose
from takifugu.divergences.numerics.balls import Effort, Enclosure
from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture

RTOL = 1e-12


def random_mixture(rng, size, *, spread=2.0, narrow=0.4, wide=1.5):
    weights = rng.dirichlet(np.ones(size))
    return Mixture(weights, rng.normal(0, spread, size), rng.uniform(narrow, wide, size))


def holds_truth(found: Enclosure, truth, slack=1e-13) -> bool:
    """The truth is itself known to `slack`, relatively; the enclosure must be tight as well as right."""
    room = abs(truth) * mp.mpf(slack)
    return found.lower - room <= truth <= found.upper + room and found.width <= 2 * RTOL * found.upper


stds = st.floats(0.05, 20)
means = st.floats(-30, 30)
orders = st.one_of(st.sampled_from([1.1, 2.0, 3.0, 64.0, 100.0]), st.floats(1.001, 60))


class TestOneComponentEach:
    @given(st.tuples(means, stds), st.tuples(means, stds), orders, st.floats(0, 10))
    @settings(max_examples=some_of(150), deadline=None)
    def test_agrees_with_the_formula_in_eighty_digits(self, one, other, alpha, theta):
        truth = oracle.gaussian(one, other, alpha, theta)
        found = enclose(Mixture.gaussian(*one), Mixture.gaussian(*other), alpha=alpha, theta=theta)
        if truth == mp.inf:
            assert found == Enclosure(math.inf, math.inf)
        else:
            assert found.lower - 1e-70 <= truth <= found.upper + 1e-70  # the formula's own rounding
            assert found.width <= max(RTOL * found.lower, math.ulp(found.lower))

    @pytest.mark.parametrize("gap", [1e-3, 1e-8, 2**-52])
    def test_keeps_its_accuracy_when_variances_are_nearly_equal(self, gap):
        found = enclose(Mixture.gaussian(0, 1), Mixture.gaussian(0, 1 + gap), alpha=3.7, theta=0.1)
        truth = oracle.gaussian((0, 1), (0, 1 + gap), 3.7, 0.1, digits=200)
        assert found.lower <= truth <= found.upper
        assert found.width <= RTOL * found.lower

    def test_a_rational_divergence_is_exact_and_equality_is_decided(self):
        p, q = Mixture.gaussian(0, 1), Mixture.gaussian(1, 1)
        assert enclose(p, q, alpha=2, theta=0) == Enclosure(1.0, 1.0)
        assert decide(p, q, alpha=2, epsilon=1.0, theta=0).holds is True
        assert decide(p, q, alpha=2, epsilon=math.nextafter(1.0, 0), theta=0).holds is False

    def test_the_weights_are_those_after_division_by_their_exact_sum(self):
        lopsided = Mixture([1 - 2**-51], [0.0], [1.0])
        assert enclose(lopsided, Mixture.gaussian(1, 1), alpha=2, theta=0) == Enclosure(1.0, 1.0)

    def test_components_that_are_the_same_are_one(self):
        twice = Mixture([0.3, 0.3, 0.4, 0.0], [1, 1, 1, 50], [2, 2, 2, 90])
        assert enclose(twice, Mixture.gaussian(0, 2), alpha=2, theta=0) == Enclosure(0.25, 0.25)

    @pytest.mark.parametrize("variance_ratio", [2.0, 2.0000001])
    def test_outside_the_domain_it_is_infinite(self, variance_ratio):
        p, q = Mixture.gaussian(0, math.sqrt(variance_ratio) * 3), Mixture.gaussian(5, 3)
        found = enclose(p, q, alpha=2.0000001, theta=0)
        assert found == Enclosure(math.inf, math.inf)
        assert decide(p, q, alpha=2.0000001, epsilon=1e300, theta=0).holds is False


class TestMixtures:
    @given(st.integers(0, 10**6), st.integers(1, 3), st.integers(2, 3), orders, st.floats(0, 3))
    @settings(max_examples=some_of(25), deadline=None)
    def test_agrees_with_mpmath(self, seed, k, n, alpha, theta):
        rng = np.random.default_rng(seed)
        p, q = random_mixture(rng, k), random_mixture(rng, n)
        largest_p, largest_q = (mixture.stds.max() ** 2 + theta**2 for mixture in (p, q))
        margin = alpha * largest_q - (alpha - 1) * largest_p
        assume(abs(margin) > 0.05 * largest_q)  # nearer the edge the oracle would need too wide a grid
        found = enclose(p, q, alpha=alpha, theta=theta)
        if margin < 0:
            assert found == Enclosure(math.inf, math.inf)
        else:
            assert holds_truth(found, oracle.divergence(oracle.parts(p), oracle.parts(q), alpha, theta))

    @pytest.mark.parametrize("alpha", [1.1, 2.5, 64.0])
    def test_forty_atoms_after_noise(self, alpha):
        rng = np.random.default_rng(3)
        p = Mixture.empirical(np.arange(40), rng.integers(1, 50, 40))
        q = Mixture.empirical(np.arange(40) + 0.25, rng.integers(1, 50, 40))
        found = enclose(p, q, alpha=alpha, theta=4.0)
        truth = oracle.divergence(oracle.parts(p), oracle.parts(q), alpha, 4.0)
        assert holds_truth(found, truth)

    def test_narrow_components_beside_wide_ones(self):
        p = Mixture([0.5, 0.5], [0.0, 1.0], [1.0, 1e-2])
        q = Mixture([0.5, 0.5], [0.0, 0.3], [1.1, 1e-2])
        found = enclose(p, q, alpha=2.5, theta=0)
        assert holds_truth(found, oracle.divergence(oracle.parts(p), oracle.parts(q), 2.5, 0))

    @pytest.mark.parametrize("width", [1e-4, 1e-8, 1e-15])
    def test_very_narrow_components_have_a_limit(self, width):
        # As the width goes to 0 the narrow bell of p alone decides: with height h it adds about
        # ∫ (N_narrow/2)^α q(1)^(1-α), and the rest is a fixed number that drowns.
        p = Mixture([0.5, 0.5], [0.0, 1.0], [1.0, width])
        q = Mixture([0.5, 0.5], [0.0, 0.3], [1.1, width])
        found = enclose(p, q, alpha=3, theta=0)
        with mp.workdps(30):
            narrow = mp.mpf(2) ** -3 / (2 * mp.pi * mp.mpf(width) ** 2) / mp.sqrt(3)
            leading = narrow * (mp.npdf(1, 0, mp.mpf(1.1)) / 2) ** -2
            assert abs(mp.log(leading) / 2 - found.lower) < 20 * width
        assert found.width <= RTOL * found.lower

    def test_components_sixty_standard_deviations_apart(self):
        p, q = Mixture([0.5, 0.5], [0, 1], [1, 1]), Mixture([0.5, 0.5], [60, 61], [1.1, 0.9])
        found = enclose(p, q, alpha=100, theta=0.5)
        truth = oracle.divergence(oracle.parts(p), oracle.parts(q), 100, 0.5)
        assert holds_truth(found, truth)

    @pytest.mark.parametrize("margin", [1e-3, 1e-5, 1e-7, 1e-10])
    def test_near_the_edge_of_the_domain_the_far_mass_is_found(self, margin):
        # The widest bells dominate: the divergence is that of the two of them plus what their weights add.
        alpha, v = 2.5, 2.0
        s = (alpha - 1) / alpha * v * (1 + margin)
        p = Mixture([0.3, 0.7], [0, 1], [math.sqrt(v), 0.5])
        q = Mixture([0.6, 0.4], [0.5, 1], [math.sqrt(s), 0.4])
        found = enclose(p, q, alpha=alpha, theta=0)
        with mp.workdps(60):
            weights = (mp.mpf(alpha) * mp.log(mp.mpf(0.3)) + (1 - mp.mpf(alpha)) * mp.log(mp.mpf(0.6))) / (
                mp.mpf(alpha) - 1
            )
            truth = weights + oracle.gaussian((0, math.sqrt(v)), (0.5, math.sqrt(s)), alpha, 0)
            assert abs(truth - found.lower) <= 1e-12 * truth

    def test_mass_beyond_every_tilted_centre_is_found(self):
        # Far to the left a component of q of almost the same width outweighs the widest, until they cross
        # near -420: the integrand grows up to there, although no pair of components has its centre there.
        p = Mixture.gaussian(0.98526, 0.876156)
        q = Mixture([0.364881, 0.519903, 0.115216], [1.46282, 0.7516, -0.692467], [0.493049, 0.431721, 0.487665])
        found = enclose(p, q, alpha=2, theta=0.53258)
        truth = oracle.divergence(oracle.parts(p), oracle.parts(q), 2, 0.53258)
        assert 20 < truth < 30
        assert holds_truth(found, truth)

    def test_a_crude_tail_does_not_spoil_the_bound(self):
        # A widest component of q with weight 1e-9 makes the tail's constant enormous.
        p = Mixture([0.999, 0.001], [0, 0.5], [1.0, 1.2])
        q = Mixture([1 - 1e-9, 1e-9], [0.2, 0.0], [1.15, 1.3])
        found = enclose(p, q, alpha=10, theta=0)
        assert holds_truth(found, oracle.divergence(oracle.parts(p), oracle.parts(q), 10, 0))

    def test_nearly_identical_mixtures_keep_relative_accuracy(self):
        weights, at = [0.2, 0.5, 0.3], np.array([0.0, 1.0, 2.5])
        p, q = Mixture(weights, at, [1.0] * 3), Mixture(weights, at + 1e-9, [1.0] * 3)
        found = enclose(p, q, alpha=2.5, theta=1.0)
        truth = oracle.divergence(oracle.parts(p), oracle.parts(q), 2.5, 1.0, digits=60, finer=2)
        assert found.lower <= truth * (1 + mp.mpf(1e-13))
        assert found.upper >= truth * (1 - mp.mpf(1e-13))
        assert 0 < found.width <= RTOL * found.lower

    def test_a_mixture_from_itself_is_zero(self):
        p = Mixture([0.25, 0.75], [0, 3], [1, 2])
        assert enclose(p, p, alpha=7.3, theta=0.1) == Enclosure(0.0, 0.0)
        assert decide(p, p, alpha=7.3, epsilon=1e-300, theta=0.1).holds is True

    @given(st.integers(0, 10**6), st.floats(1.05, 40), st.floats(0.3, 3))
    @settings(max_examples=15, deadline=None)
    def test_more_noise_is_never_more_loss_and_a_higher_order_never_less(self, seed, alpha, theta):
        rng = np.random.default_rng(seed)
        p, q = random_mixture(rng, 3), random_mixture(rng, 4)
        here = enclose(p, q, alpha=alpha, theta=theta)
        assert enclose(p, q, alpha=alpha, theta=theta * 1.3).lower <= here.upper
        assert enclose(p, q, alpha=alpha + 0.5, theta=theta).upper >= here.lower

    @given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), orders, st.floats(0.5, 4))
    @settings(max_examples=some_of(60), deadline=None)
    def test_the_float64_divergence_is_in_or_beside_the_enclosure(self, seed, k, n, alpha, theta):
        rng = np.random.default_rng(seed)
        p, q = random_mixture(rng, k), random_mixture(rng, n)
        found, plain = enclose(p, q, alpha=alpha, theta=theta), renyi_divergence(p, q, alpha=alpha, theta=theta)
        assert found.lower * (1 - 1e-10) <= plain <= found.upper * (1 + 1e-10)

    @given(st.integers(0, 10**6), st.integers(-40, 40), st.sampled_from([-1000.0, 0.5, 4096.0]))
    @settings(max_examples=15, deadline=None)
    def test_units_and_origin_do_not_matter(self, seed, scale, shift):
        rng = np.random.default_rng(seed)
        p, q = (Mixture(rng.dirichlet(np.ones(3)), rng.integers(-9, 9, 3), rng.integers(1, 5, 3)) for _ in range(2))
        unit = 2.0**scale

        def move(mixture):
            return Mixture(mixture.weights, (mixture.means + shift) * unit, mixture.stds * unit)

        here = enclose(p, q, alpha=1.7, theta=4)
        there = enclose(move(p), move(q), alpha=1.7, theta=4 * unit)
        assert here.lower <= there.upper
        assert there.lower <= here.upper


class TestEdgeOfTheDomain:
    """α·V_q = (α-1)·V_p exactly: with α = 25/16, variances 25 and 9."""

    ALPHA = 25 / 16

    def test_two_normals_diverge(self):
        found = enclose(Mixture.gaussian(0, 5), Mixture.gaussian(0, 3), alpha=self.ALPHA, theta=0)
        assert found == Enclosure(math.inf, math.inf)

    def test_it_diverges_where_p_reaches_as_far_as_q(self):
        p = Mixture([0.5, 0.5], [0, 1], [5, 5])
        q = Mixture([0.5, 0.5], [-1, 1], [3, 3])
        assert enclose(p, q, alpha=self.ALPHA, theta=0) == Enclosure(math.inf, math.inf)

    def test_it_converges_where_q_spans_p(self):
        p = Mixture([0.3, 0.7], [0, 1], [5, 0.5])
        q = Mixture([0.3, 0.3, 0.4], [-1, 1, 1], [3, 3, 0.4])
        found = enclose(p, q, alpha=self.ALPHA, theta=0)
        with mp.workdps(30):
            a = mp.mpf(self.ALPHA)

            def f(y):
                big = mp.mpf(0.3) * mp.npdf(y, 0, 5) + mp.mpf(0.7) * mp.npdf(y, 1, 0.5)
                small = mp.mpf(0.3) * (mp.npdf(y, -1, 3) + mp.npdf(y, 1, 3)) + mp.mpf(0.4) * mp.npdf(y, 1, 0.4)
                return big**a * small ** (1 - a)

            cuts = [-2000, -800, -300, -120, -50, -20, -8, -3, -1, 0, 0.5, 1, 1.5, 2, 4, 8, 20, 50]
            truth = mp.log(mp.quad(f, [*cuts, 120, 300, 800, 2000])) / (a - 1)
        assert holds_truth(found, truth)


class TestPointMasses:
    def test_exact_sums(self):
        p, q = Mixture.empirical([0, 1, 1, 1]), Mixture.empirical([0, 0, 1, 2])
        # Σ p² / q = (1/4)²/(1/2) + (3/4)²/(1/4)
        truth = mp.log(mp.mpf(1) / 8 + mp.mpf(9) / 4)
        assert holds_truth(enclose(p, q, alpha=2, theta=0), truth)

    def test_a_point_that_only_p_has_is_infinite_and_one_that_only_q_has_is_not(self):
        wide, slim = Mixture.empirical([0, 1, 2]), Mixture.empirical([0, 1])
        assert enclose(wide, slim, alpha=2, theta=0) == Enclosure(math.inf, math.inf)
        found = enclose(slim, wide, alpha=2, theta=0)
        assert holds_truth(found, mp.log(mp.mpf(3) / 2), slack=1e-15)

    def test_points_and_bells_together(self):
        p = Mixture([0.25, 0.75], [0, 0], [0, 1])
        q = Mixture([0.5, 0.25, 0.25], [0, 9, 1], [0, 0, 2])
        found = enclose(p, q, alpha=3, theta=0)
        bell = mp.mpf(0.75) ** 3 / mp.mpf(0.25) ** 2 * mp.exp(2 * oracle.gaussian((0, 1), (1, 2), 3, 0))
        truth = mp.log(mp.mpf(0.25) ** 3 / mp.mpf(0.5) ** 2 + bell) / 2
        assert holds_truth(found, truth)

    def test_several_bells_beside_points(self):
        p = Mixture([0.25, 0.35, 0.4], [0, 0, 1], [0, 1, 0.5])
        q = Mixture([0.5, 0.25, 0.25], [0, 1, 2], [0, 2, 1])
        found = enclose(p, q, alpha=2, theta=0)
        whole = oracle.divergence([(0.35, 0, 1), (0.4, 1, 0.5)], [(0.25, 1, 2), (0.25, 2, 1)], 2, 0)
        bells = mp.mpf(0.75) ** 2 / mp.mpf(0.5) * mp.exp(whole)
        assert holds_truth(found, mp.log(mp.mpf(0.25) ** 2 / mp.mpf(0.5) + bells), slack=1e-12)

    def test_bells_against_points_alone_are_infinite(self):
        found = enclose(Mixture.gaussian(0, 1), Mixture.empirical([0, 1]), alpha=2, theta=0)
        assert found == Enclosure(math.inf, math.inf)
        found = enclose(Mixture.empirical([0]), Mixture([0.5, 0.5], [0, 0], [0, 1]), alpha=2, theta=0)
        assert holds_truth(found, mp.log(2))


def float_divergence(p, q, alpha, theta):
    """A trapezoidal sum in floats: good to about 1e-12, and quick enough to search with."""
    v, s = p.stds**2 + theta**2, q.stds**2 + theta**2
    ends = oracle.window(
        list(zip(p.weights, p.means, v, strict=True)), list(zip(q.weights, q.means, s, strict=True)), alpha
    )
    low, high = (float(end) for end in ends)
    narrow = math.sqrt(min(v.min(), s.min(), 1 / (alpha / v.min() - (alpha - 1) / s.max()))) / 8
    y, step = np.linspace(low, high, max(1000, int((high - low) / narrow)), retstep=True)

    def log_density(mixture, variances):
        logs = np.log(mixture.weights / np.sqrt(2 * np.pi * variances))
        return np.logaddexp.reduce(logs - (y[:, None] - mixture.means) ** 2 / (2 * variances), axis=1)

    logs = alpha * log_density(p, v) - (alpha - 1) * log_density(q, s)
    top = logs.max()
    return (top + math.log(step * np.exp(logs - top).sum())) / (alpha - 1)


class TestDecisions:
    @given(st.integers(0, 10**6), st.sampled_from([1.1, 2.0, 2.5, 8.0, 64.0]), st.floats(0.1, 5))
    @settings(max_examples=some_of(20), deadline=None)
    def test_too_little_noise_is_never_proved_enough(self, seed, alpha, epsilon):
        rng = np.random.default_rng(seed)
        p, q = random_mixture(rng, rng.integers(1, 4)), random_mixture(rng, rng.integers(1, 4))
        gap = (alpha - 1) * p.stds.max() ** 2 - alpha * q.stds.max() ** 2
        low, high = max(0.0, 1.01 * gap) + 1e-3, 1e4
        if float_divergence(p, q, alpha, math.sqrt(low)) <= epsilon:
            return
        for _ in range(50):
            middle = 0.5 * (low + high)
            enough = float_divergence(p, q, alpha, math.sqrt(middle)) <= epsilon
            low, high = (low, middle) if enough else (middle, high)
        total = high + max(p.variance, q.variance)
        below, above = high - 1e-6 * total, high + 1e-6 * total
        if below > 0:
            assert decide(p, q, alpha=alpha, epsilon=epsilon, theta=math.sqrt(below)).holds is False
        assert decide(p, q, alpha=alpha, epsilon=epsilon, theta=math.sqrt(above)).holds is True

    def test_a_budget_one_part_in_a_trillion_away_is_decided(self):
        rng = np.random.default_rng(8)
        p, q = random_mixture(rng, 4), random_mixture(rng, 5)
        found = enclose(p, q, alpha=3.3, theta=2, rtol=1e-15)
        assert decide(p, q, alpha=3.3, epsilon=found.upper * (1 + 1e-12), theta=2).holds is True
        verdict = decide(p, q, alpha=3.3, epsilon=found.lower * (1 - 1e-12), theta=2)
        assert verdict.holds is False
        assert verdict.reason.startswith("refuted")

    def test_what_is_proved_is_within_the_budget(self):
        p, q = Mixture([0.5, 0.5], [0, 1], [1, 1]), Mixture.gaussian(2, 1.2)
        epsilon = enclose(p, q, alpha=2, theta=1, rtol=1e-15).upper
        verdict = decide(p, q, alpha=2, epsilon=epsilon, theta=1)
        assert verdict.holds is True
        assert verdict.enclosure.upper <= epsilon

    @pytest.mark.parametrize(
        ("p", "q", "alpha"),
        [
            (Mixture([0.5, 0.5], [0, 1e300], [1e300, 1e-300]), Mixture.gaussian(0, 1.1e300), 2.5),
            (Mixture([0.5, 0.5], [0, 1], [1, 1e-300]), Mixture([0.5, 0.5], [0, 1], [1, 1e300]), 2.5),
            (Mixture([0.5, 0.5], [0, 1], [1, 0.5]), Mixture([0.5, 0.5], [0, 1], [1.2, 0.4]), 1e12),
        ],
    )
    def test_hostile_scales_are_decided_or_said_to_be_undecided(self, p, q, alpha):
        verdict = decide(p, q, alpha=alpha, epsilon=1.0, theta=0, effort=Effort(1_000_000))
        assert isinstance(verdict, Decision)
        assert verdict.holds is not True or verdict.enclosure.upper <= 1.0
        assert verdict.reason.split(":")[0] in {"proved", "refuted", "undecided"}

    def test_a_limit_on_work_gives_a_reason(self):
        rng = np.random.default_rng(1)
        p, q = random_mixture(rng, 5), random_mixture(rng, 5)
        verdict = decide(p, q, alpha=2.5, epsilon=1.0, theta=3, effort=Effort(300))
        assert verdict.holds is None
        assert "undecided" in verdict.reason
        assert "limit of 300" in verdict.reason

    def test_effort_is_shared(self):
        rng = np.random.default_rng(1)
        p, q = random_mixture(rng, 5), random_mixture(rng, 5)
        effort = Effort(50_000)
        verdicts = [decide(p, q, alpha=2.5, epsilon=1.0, theta=3, effort=effort).holds for _ in range(20)]
        assert verdicts[0] is True
        assert verdicts[-1] is None

    def test_too_many_components_are_refused_before_memory_runs_out(self):
        at = np.arange(3000.0)
        p, q = Mixture.empirical(at), Mixture.empirical(at + 0.5)
        verdict = decide(p, q, alpha=2.5, epsilon=1.0, theta=3)
        assert verdict.holds is None
        assert "6000 components" in verdict.reason
        assert enclose(p, q, alpha=2.5, theta=3) == Enclosure(0.0, math.inf)

    @pytest.mark.parametrize(
        "wrong", [{"alpha": 1.0}, {"epsilon": 0.0}, {"theta": -1.0}, {"theta": math.nan}, {"alpha": "2"}]
    )
    def test_arguments_are_checked(self, wrong):
        given = {"alpha": 2.0, "epsilon": 1.0, "theta": 0.5} | wrong
        with pytest.raises(InputError):
            decide(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), **given)

    def test_rtol_is_checked(self):
        with pytest.raises(InputError, match="rtol"):
            enclose(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=2, theta=0, rtol=0)


def test_the_working_precision_is_given_back():
    from flint import ctx

    before = ctx.prec
    rng = np.random.default_rng(2)
    enclose(random_mixture(rng, 2), random_mixture(rng, 2), alpha=2.2, theta=2)
    assert ctx.prec == before


def test_the_weights_of_a_mixture_need_not_sum_to_one_in_floats():
    weights = [0.1] * 10  # their exact sum is a little more than 1
    total = sum(Fraction(w) for w in weights)
    assert total != 1
    p = Mixture([*weights[:3], 0.7], [0, 1, 2, 3], [1, 1, 1, 1])
    q = Mixture([0.7, *weights[:3]], [0, 1, 2, 3], [1, 1, 1, 1])
    truth = oracle.divergence(oracle.parts(p), oracle.parts(q), 2, 0.5, digits=40)
    found = enclose(p, q, alpha=2, theta=0.5, rtol=1e-15)
    assert found.lower * (1 - 1e-16) <= truth <= found.upper * (1 + 1e-16)


@pytest.mark.parametrize("far", [1e10, 1e12, -1e16])
@pytest.mark.parametrize("theta", [0.0, 1.0])
def test_clusters_far_apart_lose_what_each_loses(far, theta):
    """Where clusters do not meet the integral is the sum of theirs: here two quotients of weights and one of laws."""
    code = 0.3
    p = Mixture([0.3, 0.5, 0.2], [0, 5, far], [1, 2, code])
    q = Mixture([0.4, 0.2, 0.4], [1, 4, far], [2, 2.5, code])
    alone = [Mixture(law.weights[:2] / law.weights[:2].sum(), law.means[:2], law.stds[:2]) for law in (p, q)]
    near = enclose(*alone, alpha=2.5, theta=theta)
    shares = [law.weights[:2].sum() for law in (p, q)]
    total = sum(a**2.5 * b**-1.5 * math.exp(1.5 * d) for a, b, d in ((*shares, near.upper), (0.2, 0.4, 0.0)))
    found = enclose(p, q, alpha=2.5, theta=theta)
    assert found.lower == pytest.approx(math.log(total) / 1.5, rel=1e-9)
    assert found.upper == pytest.approx(found.lower, rel=1e-9)
    assert renyi_divergence(p, q, alpha=2.5, theta=theta) == pytest.approx(found.upper, rel=1e-9)
