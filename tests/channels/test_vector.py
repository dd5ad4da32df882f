import pickle
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.channels import default_granularity
from takifugu.channels.sampling import InsecureSeededBits
from takifugu.channels.vector_noise import GaussianVector, LinearRelease, fits, worth
from takifugu.divergences.vectors import gaussian_vector_divergence
from takifugu.divergences.vectors_proved import exact_matrix, is_semidefinite
from takifugu.errors import InputError
from takifugu.laws.vector_mixture import VectorMixture

seeds = st.integers(0, 2**32 - 1)


def random_covariance(rng, d, spread=2.0):
    x = rng.normal(size=(d, d + 1))
    x[:, 0] *= 10 ** rng.uniform(0, spread)
    unit = 10 ** rng.uniform(-6, 6, d)
    c = x @ x.T * np.outer(unit, unit)
    return 0.5 * (c + c.T)


@given(seed=seeds)
@settings(max_examples=some_of(60), deadline=None)
def test_what_is_drawn_is_at_least_what_is_stated(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    channel = GaussianVector(random_covariance(rng, d))
    effective = channel._scheme.effective()
    assert is_semidefinite(effective - exact_matrix(channel.covariance))
    relative = np.diagonal(channel.effective) / np.diagonal(channel.covariance)
    assert relative.max() <= 1.001
    rows = channel._scheme.rows
    for i, row in enumerate(rows):
        assert row[i] == 1 << channel._scheme.bits
        assert not any(row[i + 1 :])


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_both_paths_give_the_same_values_bit_for_bit(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    channel = GaussianVector(random_covariance(rng, d))
    x = rng.normal(size=(20, d)) * np.sqrt(np.diagonal(channel.covariance)) * 10 ** rng.uniform(-3, 3)
    fast = channel.draw(x, source=InsecureSeededBits(seed))
    slow = channel.draw(x, source=InsecureSeededBits(seed), exact_only=True)
    assert fast.tobytes() == slow.tobytes()


def test_every_value_is_the_one_its_bits_say():
    """Fractions and mpmath, step by step: no code of the channel but its table of U and θ."""
    rng = np.random.default_rng(4)
    channel = GaussianVector(random_covariance(rng, 3))
    scheme = channel._scheme
    x = rng.normal(size=(200, 3)) * np.sqrt(np.diagonal(channel.covariance)) * 3
    x[0], x[1], x[2] = 0.0, 1e-300, 1e12
    published = channel.draw(x, source=InsecureSeededBits(9))
    stream = InsecureSeededBits(9)
    words = [np.frombuffer(stream.read(4 * len(x)), dtype="<i4") for _ in range(3)]
    U = [[Fraction(entry, 1 << scheme.bits) for entry in row] for row in scheme.rows]
    for n in range(len(x)):
        scaled = [Fraction(float(v)) / Fraction(2) ** e for v, e in zip(x[n], scheme.exponents, strict=True)]
        z = []
        for k in range(3):
            grid = Fraction(default_granularity(scheme.thetas[k]))
            word = int(words[k][n])
            sign, size = (-1, -word - 1) if word < 0 else (1, word)
            with mp.workdps(40):
                q = mp.sqrt(2) * mp.erfinv(1 - (mp.mpf(size) + mp.mpf("0.5")) / 2**31)
                turned = sum(U[k][j] * scaled[j] for j in range(3))
                place = (mp.mpf(turned.numerator) / turned.denominator + sign * scheme.thetas[k] * q) / float(grid)
            z.append(int(mp.nint(place)) * grid)
        y = []
        for k in range(3):
            y.append(z[k] - sum(U[k][j] * y[j] for j in range(k)))
        expected = [float(value * Fraction(2) ** e) for value, e in zip(y, scheme.exponents, strict=True)]
        # The bits not drawn decide a draw that lies within 2⁻³¹ of an edge: one value in a million.
        assert published[n].tolist() == expected


def test_the_covariance_of_many_draws_is_the_effective_one():
    channel = GaussianVector([[4.0, 1.9, 0.0], [1.9, 1.0, 0.1], [0.0, 0.1, 9.0]])
    draws = channel.draw(np.tile([1.0, -2.0, 3.0], (40_000, 1)), source=InsecureSeededBits(1))
    np.testing.assert_allclose(draws.mean(axis=0), [1, -2, 3], atol=0.06)
    # five standard errors of a covariance from 40,000 draws
    scale = np.sqrt(np.outer(np.diagonal(channel.effective), np.diagonal(channel.effective)))
    assert (np.abs(np.cov(draws.T) - channel.effective) <= 5 * np.sqrt(2 / 40_000) * scale).all()


def test_inputs_of_any_size_leave_no_trace_but_their_sum():
    channel = GaussianVector(np.eye(2))
    for x in ([0.0, -0.0], [5e-324, 1e-310], [1e300, -1e300], [1e16, 1.0]):
        y = channel.draw(x, source=InsecureSeededBits(2))
        assert np.isfinite(y).all()
        assert not np.signbit(y[y == 0]).any()
    near = [channel.draw([v, 0.0], source=InsecureSeededBits(3)).tobytes() for v in (0.0, 5e-324, -1e-200)]
    assert len(set(near)) == 1
    assert channel.draw(np.empty((0, 2))).shape == (0, 2)
    assert channel.draw([1.0, 2.0]).shape == (2,)


def test_equal_hashable_picklable_and_read_only():
    channel = GaussianVector([[1.0, 0.5], [0.5, 2.0]])
    again = pickle.loads(pickle.dumps(channel))
    assert again == channel
    assert hash(again) == hash(channel)
    assert channel != GaussianVector(np.eye(2))
    with pytest.raises(ValueError, match="read-only"):
        channel.covariance[0, 0] = 0.0
    law = VectorMixture.gaussian([0, 0], np.eye(2))
    assert channel.apply(law).covariance[0, 0] == 2.0
    np.testing.assert_allclose(channel.precision() @ channel.covariance, np.eye(2), atol=1e-12)


@pytest.mark.parametrize(
    ("covariance", "words"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], "positive definite"),
        ([[1.0, 2.0], [2.0, 1.0]], "smallest eigenvalue is -1"),
        ([[1.0, 0.0], [0.5, 1.0]], "symmetric"),
        ([[1.0, 0.0]], "square"),
        ([[0.0, 0.0], [0.0, 1.0]], "positive definite"),
        ([[np.nan, 0.0], [0.0, 1.0]], "covariance"),
        ("text", "covariance"),
    ],
)
def test_no_covariance_is_refused_in_a_sentence(covariance, words):
    with pytest.raises(InputError, match=words):
        GaussianVector(covariance)


@pytest.mark.parametrize("x", [[1.0], [[1.0, 2.0, 3.0]], [[np.nan, 0.0]], [[["a", "b"]]], np.zeros((2, 2, 2))])
def test_what_is_no_vector_is_refused_before_a_draw(x):
    class Untouched:
        def read(self, count):
            raise AssertionError("a bit was drawn")

    with pytest.raises(InputError):
        GaussianVector(np.eye(2)).draw(x, source=Untouched())


@given(seed=seeds)
@settings(max_examples=some_of(25), deadline=None)
def test_releases_together_tell_what_one_of_their_precision_tells(seed):
    """The joint law of two releases against the one that is worth them: an oracle of twice the dimension."""
    rng = np.random.default_rng(seed)
    d, alpha = 2, 2.0
    first, second = (random_covariance(rng, d, 0.5) for _ in range(2))
    unit = 1 / np.sqrt(np.diagonal(first))
    first, second = first * np.outer(unit, unit), second * np.outer(1, 1) / np.abs(second).max() + 0.1 * np.eye(d)
    A = rng.normal(size=(d, d))
    x, y = rng.normal(size=(2, d, d + 1))
    lead, follow = x @ x.T, x @ x.T + 0.1 * y @ y.T
    gap = rng.normal(size=d)
    both = np.vstack([np.eye(d), A])
    noise = np.block([[first, np.zeros((d, d))], [np.zeros((d, d)), second]])
    together = gaussian_vector_divergence(
        both @ gap, both @ lead @ both.T, both @ follow @ both.T, alpha=alpha, covariance=noise
    )
    one = worth([LinearRelease.of(first), LinearRelease.of(second, A)])
    assert together == pytest.approx(
        gaussian_vector_divergence(gap, lead, follow, alpha=alpha, covariance=0.5 * (one + one.T)), rel=1e-6
    )


def test_a_budget_is_spent_to_the_last_bit_and_no_further():
    budget = np.array([[0.3, 0.1], [0.1, 0.7]])
    whole = LinearRelease.of(budget)
    assert fits([whole], budget=budget)
    assert not fits([LinearRelease.of(budget * (1 - 2**-50))], budget=budget)
    half = LinearRelease.of(2 * budget)
    assert fits([half, half], budget=budget)
    assert not fits([half, LinearRelease.of(1.999 * budget)], budget=budget)
    assert not fits([whole, LinearRelease.of(1e6 * budget)], budget=budget)
    # What is left of an axis of variance 0.3 is half of its precision: twice its variance fits, and no less.
    assert fits([half, LinearRelease.of([[0.6]], [[1.0, 0.0]])], budget=budget)
    assert not fits([half, LinearRelease.of([[0.6 * 0.999]], [[1.0, 0.0]])], budget=budget)


def test_releases_of_other_vectors_do_not_compose():
    with pytest.raises(InputError, match="does not compose"):
        fits([LinearRelease.of(np.eye(3))], budget=np.eye(2))
    with pytest.raises(InputError, match="untold"):
        worth([LinearRelease.of([[1.0]], [[1.0, 0.0]])])
    with pytest.raises(InputError, match="a row for each"):
        LinearRelease.of(np.eye(2), [[1.0, 0.0, 0.0]])


def test_a_matrix_that_only_floats_take_for_definite_is_no_noise():
    """Its determinant is −10⁻¹⁷: the inverse has a negative direction, which would give budget back."""
    # The products of (−2, −2)/3, (−2, 1)/3 and (0, 1)/3, rounded: three vectors in a plane.
    thirds = np.array(
        [
            [0.8888888888888888, 0.22222222222222218, -0.2222222222222222],
            [0.22222222222222218, 0.5555555555555555, 0.1111111111111111],
            [-0.2222222222222222, 0.1111111111111111, 0.1111111111111111],
        ]
    )
    assert np.linalg.eigvalsh(thirds)[0] > -1e-15
    assert exact_matrix(thirds).det() < 0
    np.linalg.cholesky(thirds)  # which is what floats go by
    for refused in (
        lambda: GaussianVector(64 * thirds),
        lambda: fits([LinearRelease(64 * thirds)], budget=np.eye(3)),
        lambda: fits([], budget=64 * thirds),
        lambda: worth([LinearRelease(64 * thirds)]),
    ):
        with pytest.raises(InputError, match="positive definite"):
            refused()


@given(seed=seeds)
@settings(max_examples=some_of(40), deadline=None)
def test_what_is_next_to_singular_never_gives_budget_back(seed):
    """Matrices of a rank too few, but for rounding: refused, or counted as the release of almost no noise it is."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 6))
    x = rng.integers(-3, 4, size=(d, d - 1)) / int(rng.integers(1, 8))
    try:
        release = LinearRelease.of(x @ x.T)
        accepted = fits([release], budget=np.eye(d) * 2.0**-20)
    except InputError:
        return
    assert not accepted
