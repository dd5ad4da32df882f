import math
import os
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounded_normal import RoundedNormal

from how_many import some_of
from takifugu.channels import default_granularity
from takifugu.channels.rounded_draws import BITS, rounded_gaussian
from takifugu.channels.sampling import InsecureSeededBits, OsBits
from takifugu.errors import InputError, TakifuguError

UNLIKELY = 1e-5
MILLIONS = some_of(10**7)


def tally(oracle: RoundedNormal, x: float, total: int, **options) -> np.ndarray:
    """Counts of `total` draws, a million at a time."""
    counts = np.zeros(len(oracle.values), dtype=np.int64)
    for start in range(0, total, 10**6):
        values = np.full(min(10**6, total - start), x)
        counts += oracle.counts(rounded_gaussian(values, **options))
    return counts


class Script:
    """Bits written down in advance; whatever is read beyond them comes from a seed."""

    def __init__(self, *parts: bytes) -> None:
        self.parts, self.rest, self.reads = list(parts), InsecureSeededBits(1), 0

    def read(self, count: int) -> bytes:
        self.reads += 1
        if self.parts:
            part = self.parts.pop(0)
            assert len(part) == count
            return part
        return self.rest.read(count)


def word(size: int, *, negative: bool = False) -> bytes:
    return (~size if negative else size).to_bytes(4, "little", signed=True)


class Forbidden:
    def read(self, count: int) -> bytes:
        raise AssertionError(f"{count} bytes were drawn")


# ---- the distribution


@pytest.mark.parametrize(
    ("theta", "shift", "granularity"),
    [
        (1.0, 0.0, None),
        (0.7, 0.3, None),
        (1.0, 0.11, 0.5),
        (1.0, 0.5, 1.0),
        (0.3, 0.2, 1.0),
        (1e-300, 0.0, None),
        (1e-300, 1e15, None),
        (1.7e-320, 2.0, None),
        (1e300, -3.3, None),
        (1e290, 1e15, None),
        (math.pi, 1e15, None),
        (1.0, -1e9, 2.0**-13),
    ],
)
def test_millions_of_draws_have_the_exact_distribution(theta, shift, granularity):
    x = shift * theta
    oracle = RoundedNormal(x, theta, granularity or default_granularity(theta))
    counts = tally(oracle, x, MILLIONS, theta=theta, granularity=granularity, source=InsecureSeededBits(20260101))
    assert oracle.chi_square(counts) > UNLIKELY
    assert oracle.kolmogorov(counts) > UNLIKELY


@pytest.mark.parametrize(("theta", "x"), [(1.0, 0.3), (1e-300, 1e-285), (1e300, 0.0)])
def test_ball_arithmetic_alone_has_the_exact_distribution(theta, x):
    oracle = RoundedNormal(x, theta, default_granularity(theta))
    counts = tally(oracle, x, some_of(100_000), theta=theta, source=InsecureSeededBits(5), exact_only=True)
    assert oracle.chi_square(counts) > UNLIKELY
    assert oracle.kolmogorov(counts) > UNLIKELY


def test_the_operating_systems_bits_have_the_exact_distribution():
    oracle = RoundedNormal(0.3, 1.0, 2.0**-10)
    counts = tally(oracle, 0.3, 10**6, theta=1.0)
    assert oracle.chi_square(counts) > 1e-9
    assert oracle.kolmogorov(counts) > 1e-9


def test_the_oracle_notices_noise_that_is_too_small():
    oracle = RoundedNormal(0.0, 1.0, 2.0**-10)
    counts = tally(oracle, 0.0, 10**6, theta=0.98, granularity=2.0**-10, source=InsecureSeededBits(2))
    assert oracle.chi_square(counts) < UNLIKELY
    assert oracle.kolmogorov(counts) < UNLIKELY


def test_draws_are_independent_of_their_neighbours():
    y = rounded_gaussian(np.zeros(10**6), theta=1.0, source=InsecureSeededBits(9))
    for lag in (1, 2, 16_384):
        assert abs(np.mean(y[:-lag] * y[lag:])) < 5e-3
        assert abs(np.mean(np.abs(y[:-lag] * y[lag:])) - 2 / math.pi) < 5e-3


def test_agrees_with_the_discrete_gaussian_of_opendp():
    import opendp.prelude as dp
    from scipy.stats import ks_2samp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    theirs = np.array(dp.m.make_gaussian(*space, scale=1024.0)([0] * 20_000))
    ours = rounded_gaussian(np.zeros(10**6), theta=1024.0, granularity=1.0)
    assert ks_2samp(theirs, ours).pvalue > 1e-9
    assert abs(theirs.std() / ours.std() - 1) < 0.04


# ---- the two paths


@pytest.mark.parametrize("granularity_over_theta", [2.0**-39, 2.0**-22, 2.0**-10, 0.25, 4.0, 2.0**39])
@pytest.mark.parametrize("theta", [1e-300, 0.8, 1e280])
def test_both_paths_give_the_same_values_bit_for_bit(theta, granularity_over_theta):
    granularity = 2.0 ** math.floor(math.log2(theta)) * granularity_over_theta
    x = np.random.default_rng(0).normal(size=600) * theta * np.repeat([1e-20, 1.0, 1e15], 200)
    x[::7] = np.rint(x[::7] / granularity) * granularity + granularity / 2  # on the boundary
    fast, slow = InsecureSeededBits(4), InsecureSeededBits(4)
    a = rounded_gaussian(x, theta=theta, granularity=granularity, source=fast)
    b = rounded_gaussian(x, theta=theta, granularity=granularity, source=slow, exact_only=True)
    assert a.tobytes() == b.tobytes()
    assert fast.read(16) == slow.read(16)  # neither drew a bit that the other did not


def test_both_paths_agree_on_many_draws():
    x = np.random.default_rng(1).normal(size=60_000) * 100
    a = rounded_gaussian(x, theta=1.3, source=InsecureSeededBits(6))
    b = rounded_gaussian(x, theta=1.3, source=InsecureSeededBits(6), exact_only=True)
    assert a.tobytes() == b.tobytes()


floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-(2.0**1000), max_value=2.0**1000)


@settings(max_examples=some_of(300), deadline=None)
@given(
    x=floats,
    theta=st.floats(min_value=5e-324, max_value=2.0**1000),
    size=st.integers(0, 2**BITS - 1),
    negative=st.booleans(),
)
def test_any_finite_input_is_rounded_as_the_quantile_says(x, theta, size, negative):
    first = word(size, negative=negative)
    rest = bytes(range(100, 108))
    fast = rounded_gaussian([x], theta=theta, source=Script(first, rest))
    slow = rounded_gaussian([x], theta=theta, source=Script(first, rest), exact_only=True)
    assert fast.tobytes() == slow.tobytes()
    assert fast[0] == quantile_oracle(x, theta, size, negative, rest)


def quantile_oracle(x, theta, size, negative, rest):
    """The rounded sum by mpmath's quantile, with all the bits known in advance."""
    with mpmath.workdps(700):
        u = (mpmath.mpf(size) + mpmath.mpf(int.from_bytes(rest, "big")) / 2**64) / 2**BITS
        n = mpmath.sqrt(2) * mpmath_erfcinv(u)
        granularity = mpmath.mpf(default_granularity(theta))
        y = (mpmath.mpf(x) + mpmath.mpf(theta) * (-n if negative else n)) / granularity
        multiple = int(mpmath.floor(y + mpmath.mpf(1) / 2))
    up, down = default_granularity(theta).as_integer_ratio()
    return multiple * up / down


def mpmath_erfcinv(u):
    with mpmath.workdps(60):
        if u > 0.5:
            return mpmath.erfinv(1 - u)
        guess = mpmath.sqrt(-mpmath.log(u))
        return mpmath.findroot(lambda t: mpmath.log(mpmath.erfc(t)) - mpmath.log(u), guess)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("k", [0, 3, 1000, 5000])
def test_a_straddled_boundary_is_settled_by_the_next_bits(k, negative):
    edge = (k + 0.5) / 1024
    with mpmath.workdps(60):
        level = mpmath.erfc(mpmath.mpf(edge) / mpmath.sqrt(2)) * 2**BITS
        size = int(level)
        inside = int((level - size) * 2**64)  # the next 64 bits of the boundary itself
    outcomes = []
    for following in (inside - 1, inside + 1):
        source = Script(word(size, negative=negative), following.to_bytes(8, "big"))
        outcomes.append(abs(rounded_gaussian([0.0], theta=1.0, source=source)[0]) * 1024)
        assert source.reads == 2
    assert outcomes == [k + 1, k]  # a smaller uniform is a larger draw
    source = Script(word(size, negative=negative), inside.to_bytes(8, "big"))
    rounded_gaussian([0.0], theta=1.0, source=source)
    assert source.reads == 3  # still astride after 95 bits: 64 more are drawn


def test_the_far_tail_is_reached():
    zeros = [bytes(4)] + [bytes(8)] * 20  # 31 + 1280 zero bits, a chance of 2^-1311
    y = rounded_gaussian([0.0], theta=1.0, source=Script(*zeros))[0]
    assert 42.0 < y < 43.5
    with mpmath.workdps(40):
        assert mpmath.mpf(2) ** -1376 < mpmath.erfc(y / mpmath.sqrt(2)) < mpmath.mpf(2) ** -1310


def test_what_no_float_can_hold_is_the_largest_float():
    """A draw of 130 deviations, which takes 12,000 zero bits in a row, is the only way there."""
    zeros = [word(0, negative=True)] + [bytes(8)] * 192
    y = rounded_gaussian([0.0], theta=0.99 * 2.0**1017, source=Script(*zeros))[0]
    assert y == -sys.float_info.max


# ---- the leak


def finest_scale(y: np.ndarray) -> float:
    """The share of outputs near zero that are multiples of 2^-53."""
    near = y[np.abs(y) < 0.1]
    return float(np.mean(near * 2.0**53 == np.rint(near * 2.0**53)))


def test_naive_addition_tells_two_inputs_apart_and_this_does_not():
    rng = np.random.default_rng(0)
    zero, one = rng.normal(size=200_000), 1.0 + rng.normal(size=200_000)
    assert finest_scale(one) == 1.0  # the addend leaves its own spacing on the sum ...
    assert finest_scale(zero) < 0.2  # ... which a single output is likely to betray
    ours = [rounded_gaussian(np.full(200_000, x), theta=1.0) for x in (0.0, 1.0)]
    assert finest_scale(ours[0]) == finest_scale(ours[1]) == 1.0
    reachable = [set(y[np.abs(y - 0.5) < 0.25].tolist()) for y in ours]
    assert reachable[0] == reachable[1]  # each of 511 values was seen from both inputs
    assert len(reachable[0]) == 511


def test_an_input_between_two_multiples_reaches_the_same_outputs():
    ours = [rounded_gaussian(np.full(200_000, x), theta=1.0, granularity=2.0**-6) for x in (0.0, math.pi / 1e3)]
    assert set(ours[0][np.abs(ours[0]) < 1]) == set(ours[1][np.abs(ours[1]) < 1])


def test_no_negative_zero_comes_out():
    for theta in (0.0, 1.0):
        y = rounded_gaussian(np.tile([-0.0, -1e-9, 0.0], 2000), theta=theta, granularity=4.0)
        assert (y == 0).any()
        assert not np.signbit(y[y == 0]).any()
    assert not np.signbit(rounded_gaussian([-0.0], theta=0.0)).any()


# ---- the interface


def test_every_value_is_a_multiple_of_the_granularity():
    x = np.random.default_rng(3).normal(size=10_000)
    y = rounded_gaussian(x, theta=3.0)
    assert np.array_equal(np.rint(y / default_granularity(3.0)) * default_granularity(3.0), y)


def test_shapes_and_types_are_kept_apart_from_the_input():
    for x in (
        np.zeros((3, 4, 5)),
        np.zeros((4, 3), order="F")[::2],
        np.float32(3),
        [1, 2, 3],
        np.zeros((0, 2)),
    ):
        y = rounded_gaussian(x, theta=1.0)
        assert y.shape == np.shape(x)
        assert y.dtype == np.float64
    x = np.arange(5.0)
    for theta in (0.0, 1.0):
        y = rounded_gaussian(x, theta=theta)
        assert not np.shares_memory(x, y)
    assert np.array_equal(x, np.arange(5.0))


def test_without_noise_the_values_come_back():
    x = np.array([0.1, -2.7, 5e-324, 1e300])
    assert np.array_equal(rounded_gaussian(x, theta=0.0, source=Forbidden()), x)
    rounded = rounded_gaussian(x, theta=0, granularity=0.5, source=Forbidden())
    assert np.array_equal(rounded, [0.0, -2.5, 0.0, 1e300])


@pytest.mark.parametrize(
    ("x", "options", "says"),
    [
        ([1.0, math.nan], {"theta": 1.0}, "finite, got nan at position 1"),
        ([[1.0], [math.inf]], {"theta": 1.0}, "finite, got inf at position 1"),
        ([math.nan], {"theta": 0.0}, "finite"),
        (["a"], {"theta": 1.0}, "must be numbers"),
        ([True], {"theta": 1.0}, "must be numbers"),
        ([[1.0], [1.0, 2.0]], {"theta": 1.0}, "do not form an array"),
        (np.ma.masked_invalid([1.0, np.nan]), {"theta": 1.0}, "masked"),
        ([1.0], {"theta": -1.0}, "theta must be"),
        ([1.0], {"theta": math.nan}, "theta must be"),
        ([1.0], {"theta": math.inf}, "theta must be"),
        ([1.7e308], {"theta": 1.0}, "could overflow"),
        ([0.0], {"theta": 1e308}, "could overflow"),
        ([1e308], {"theta": 0.0, "granularity": 1.0}, "could overflow"),
        ([1.0], {"theta": 1.0, "granularity": 0.1}, "power of two"),
        ([1.0], {"theta": 1.0, "granularity": 0.0}, "power of two"),
        ([1.0], {"theta": 1.0, "granularity": -0.5}, "power of two"),
        ([1.0], {"theta": 1.0, "granularity": math.inf}, "power of two"),
        ([1.0], {"theta": 1.0, "granularity": 2.0**-41}, "too far from theta"),
        ([1.0], {"theta": 1.0, "granularity": 2.0**41}, "too far from theta"),
        ([1.0], {"theta": 1e-320, "granularity": 2.0**1000}, "too far from theta"),
        ([1.0], {"theta": 1e300, "granularity": 2.0**-1074}, "too far from theta"),
    ],
)
def test_what_cannot_be_released_is_refused_before_a_bit_is_drawn(x, options, says):
    with pytest.raises(InputError, match=says):
        rounded_gaussian(x, source=Forbidden(), **options)


def test_the_callers_floating_point_settings_do_not_matter():
    with np.errstate(all="raise"):
        y = rounded_gaussian([1e300, 5e-324], theta=1e-310)
    assert y[0] == 1e300


@pytest.mark.parametrize("theta", [5e-324, 1e-310, 1e-300, 0.3, 1.0, 1024.0, 1e300])
def test_the_default_granularity_is_a_thousandth_of_theta(theta):
    granularity = default_granularity(theta)
    assert math.frexp(granularity)[0] == 0.5
    assert theta / 2048 < granularity <= theta / 1024 or granularity == 5e-324
    with pytest.raises(InputError, match="theta is 0"):
        default_granularity(0.0)


def test_processes_that_fork_do_not_share_their_noise():
    x = np.zeros(50)
    rounded_gaussian(x, theta=1.0)  # the table is built and the source has been used
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, rounded_gaussian(x, theta=1.0).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 400) != rounded_gaussian(x, theta=1.0).tobytes()
    os.close(reader)
    os.close(writer)


class Short:
    """Gives four bytes, whatever is asked for."""

    def read(self, count: int) -> bytes:
        return bytes(4)


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [1.0]])
def test_a_source_that_runs_dry_is_an_error(values):
    with pytest.raises(TakifuguError, match=r"gave 4 bytes where (12|8)"):
        rounded_gaussian(values, theta=1.0, source=Short())


def test_the_type_of_theta_does_not_matter():
    for theta in (2, np.float32(2), np.int64(2)):
        for exact_only in (False, True):
            y = rounded_gaussian(np.arange(50), theta=theta, source=InsecureSeededBits(1), exact_only=exact_only)
            assert np.array_equal(y, rounded_gaussian(np.arange(50), theta=2.0, source=InsecureSeededBits(1)))


def test_seeds_are_checked_and_repeat():
    for seed in (-1, 1.5, True, None):
        with pytest.raises(InputError, match="insecure seed"):
            InsecureSeededBits(seed)
    assert len(OsBits().read(7)) == 7
    assert repr(OsBits()) == "OsBits()"
