"""Many secrets, high orders and proofs of whole families, each beside the way it was done before, in one run.

The peer is this package with nothing left out: every pair bounded in turn, one quadrature a pair, one proof after
another. The limit for normals is reading the priors (a few dozen of a million can bind; of a circle, a few runs); for
mixtures one exponential for each component and point, and one product of matrices for each noise looked at; for proofs
a few microseconds a pair of normals, and for a pair of mixtures a bound on its tails and a product of balls for each
point of a grid that all pairs share. Shared out among processes, so few proofs wait longer for the processes to start.
For lists the peer is HiGHS, given the linear program as one writes it down, with a row for every pair and output; ours
has rows for the pairs that can bind, and repairs and proves what comes out. The last part sets what a report costs
beside the fit and the calibration that it reports: its floor is twenty looks at all pairs for one curve, and the
quantiles of two mixtures that the baselines ask for.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.core import timed
from takifugu import Finite, Mixture, Raw, Row, calibrate, certify, datasets, fit_priors, report, verify
from takifugu.divergences.certified import decide, settle
from takifugu.divergences.mixtures import divergence
from takifugu.divergences.numerics.balls import Effort, Enclosure
from takifugu.mechanisms.least_noise import Exact
from takifugu.mechanisms.worst_case import Block, GaussianScreen, least_variance_with
from takifugu.problems.problem import Pairs

ALPHA, EPSILON = 3.0, 1.0
ORDERS = (3.0, 64.0, 1_000.0, 10_000.0)
OLD_LIMIT = 15_000_000  # the units of work that a certificate of any size used to have


def run() -> None:
    """Print the processor time of each way and their ratio."""
    calibrate({0: Mixture.gaussian(0, 1), 1: Mixture([0.5, 0.5], [0, 1], [1, 1])}, alpha=ALPHA, epsilon=EPSILON)
    many_gaussians(10_000, swept=10_000)
    many_gaussians(100_000, swept=10_000)
    many_gaussians(1_000_000, swept=10_000)
    finite_laws()
    for count, size in ((60, 4), (60, 20), (2, 3)):
        orders(count, size)
    on_a_circle(10_000)
    on_a_circle(1_000_000)
    proofs(200, 1)
    proofs(50, 4)
    for count, peer in ((12, True), (50, True), (200, False), (1_000, False)):
        many_lists(count, peer=peer)
    reports()


def on_a_circle(count: int) -> None:
    """Where every secret is a vertex none can be left out: runs of neighbours are cleared together."""
    turns = np.linspace(0, 2 * np.pi, count, endpoint=False)
    parameters = zip(np.cos(turns).tolist(), np.sqrt(2 + np.sin(turns)).tolist(), strict=True)
    priors = {i: Mixture.gaussian(*x) for i, x in enumerate(parameters)}
    ours, found = timed(lambda: calibrate(priors, alpha=ALPHA, epsilon=EPSILON))
    print(f"{count:,} normal secrets on a circle, none inside, θ = {found.theta:.6f}: {ours:.2f} s")


def many_lists(count: int, *, peer: bool) -> None:
    """Secrets of fifty values through the best channel within odds of 3, beside a row of the program for every pair."""
    rng = np.random.default_rng(0)
    usual = rng.dirichlet(np.full(50, 2.0))
    shares = [0.5 * usual + 0.5 * rng.dirichlet(np.full(50, 5.0)) for _ in range(count)]
    laws = {k: Finite(range(50), 1 + rng.multinomial(2_000, share)) for k, share in enumerate(shares)}
    ours, found = timed(lambda: calibrate(laws, odds=3))
    line = f"{count} secrets on a list of 50 values, odds within 3: {ours:.2f} s, found, repaired and proved"
    if peer:
        theirs, cost = timed(lambda: every_pair_on_a_list(np.array([law.weights for law in laws.values()])))
        line += f"; HiGHS with a row for every pair {theirs:.2f} s, not proved, {found.error / cost - 1:.0e} cheaper"
    print(line)


def every_pair_on_a_list(weights: np.ndarray, odds: float = 3.0) -> float:
    """The same program as one writes it down: p_i(y) ≤ odds · p_j(y) for every pair, shares kept."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    secrets, n = weights.shape
    mass, values = weights.sum(axis=0) / weights.sum(), np.arange(n)
    published = kron(csr_array(weights / weights.sum(axis=1, keepdims=True)), eye_array(n)).tocsr()
    pairs = [(i, j) for i in range(secrets) for j in range(secrets) if i != j]
    signs = csr_array(
        (np.tile([1.0, -odds], len(pairs)), (np.repeat(np.arange(len(pairs)), 2), np.ravel(pairs))),
        shape=(len(pairs), secrets),
    )
    # The published shares as variables of their own, or every row would have a hundred entries.
    apart = eye_array(secrets * n)
    whole = kron(eye_array(n), np.ones((1, n)))
    kept = kron(mass[None, :], eye_array(n))
    empty = csr_array((2 * n, secrets * n))
    equal = vstack([whole, kept, published]).tocsr()
    beside = vstack([empty, -apart]).tocsr()
    cost = (mass[:, None] * (values[:, None] - values) ** 2).ravel()
    found = linprog(
        np.concatenate([cost, np.zeros(secrets * n)]),
        A_ub=hstack([csr_array((len(pairs) * n, n * n)), kron(signs, eye_array(n))]).tocsr(),
        b_ub=np.zeros(len(pairs) * n),
        A_eq=hstack([equal, beside]).tocsr(),
        b_eq=np.concatenate([np.ones(n), mass, np.zeros(secrets * n)]),
        method="highs",
    )
    return float(found.fun)


def reports() -> None:
    """The whole report, with its comparisons and curves, beside the fit and calibration that it tells of."""
    rng = np.random.default_rng(0)
    census = datasets.load("adult")
    for title, fit in (
        (
            "100 normal secrets",
            lambda: {i: Mixture.gaussian(*x) for i, x in enumerate(rng.uniform(0.5, 1.5, (100, 2)))},
        ),
        ("60 secrets of four bells", lambda: bells(60, 4, rng)),
        ("five races of the census", lambda: fit_priors(census, secret="race", query=Raw("education-num"))),
        ("the same through a channel", lambda: fit_priors(census, secret="race", query=Row("education-num"))),
    ):
        fitting, priors = timed(fit)
        ours, result = timed(lambda priors=priors: calibrate(priors, alpha=ALPHA, epsilon=EPSILON))
        telling, _ = timed(lambda result=result: report(result))
        print(f"{title}: fitted in {fitting:.2f} s, calibrated in {ours:.2f} s, reported in {telling:.2f} s")


def bells(count: int, size: int, rng: np.random.Generator) -> dict[int, Mixture]:
    """Random secrets of several components."""
    return {
        i: Mixture(rng.dirichlet(np.full(size, 3.0)), rng.normal(0, 1, size), rng.uniform(0.3, 1, size))
        for i in range(count)
    }


def many_gaussians(count: int, *, swept: int) -> None:
    """All pairs by the vertices of the hull, beside the sweep over every pair (of `swept` secrets, scaled up)."""
    rng = np.random.default_rng(0)
    parameters = zip(rng.normal(0, 1, count).tolist(), rng.uniform(0.5, 1.5, count).tolist(), strict=True)
    making, priors = timed(lambda: {i: Mixture.gaussian(*x) for i, x in enumerate(parameters)})
    ours, found = timed(lambda: calibrate(priors, alpha=ALPHA, epsilon=EPSILON))
    some = list(priors.values())[:swept]
    sweep, _ = timed(lambda: least_variance_by_sweep(some))
    theirs = sweep * (count / len(some)) ** 2
    how = "sweep over all pairs" if len(some) == count else f"sweep over all pairs (scaled up from {swept:,} secrets)"
    print(
        f"{count:,} Gaussian secrets, θ = {found.theta:.6f}: {ours:.2f} s (making them {making:.2f} s); "
        f"{how} {theirs:,.1f} s; {theirs / ours:,.0f} times faster"
    )


class EveryPair(GaussianScreen):
    """Bounds one pair at a time, where the screen itself may clear runs of them."""

    def blocks(self, pairs: Pairs) -> Iterator[Block]:
        everyone = np.arange(len(self._means))
        extremes = np.unique([f(x) for f in (np.argmin, np.argmax) for x in (self._means, self._stds)])
        yield extremes[:, None], everyone[None, :]
        yield everyone[:, None], extremes[None, :]
        yield from pairs.directed_blocks(1 << 15)


def least_variance_by_sweep(priors: list[Mixture]) -> float:
    """The way of version 0.1: every pair is bounded, none left out."""
    accept = EPSILON * (1 - 1e-12)
    screen = EveryPair(priors, alpha=ALPHA, accept=accept)
    pairs = Pairs(range(len(priors)))
    return least_variance_with(
        screen, Exact(), priors, pairs, alpha=ALPHA, epsilon=EPSILON, accept=accept, floor=0.0
    ).variance


def finite_laws(count: int = 1_000, atoms: int = 50) -> None:
    rng = np.random.default_rng(1)
    priors = {i: Mixture.empirical(np.arange(float(atoms)), rng.integers(1, 99, atoms)) for i in range(count)}
    ours, found = timed(lambda: calibrate(priors, alpha=ALPHA, epsilon=EPSILON))
    each = pair_by_pair(priors, found.theta, ALPHA, sample=200)
    print(
        f"{count:,} laws of {atoms} atoms, θ = {found.theta:.6f}: {ours:.2f} s; one quadrature a pair "
        f"{each * count**2:,.0f} s (scaled up from 200 pairs); {each * count**2 / ours:,.0f} times faster"
    )


def orders(count: int, size: int) -> None:
    """Every order beside one look at each pair, which is what remains where a screen dismisses nothing."""
    rng = np.random.default_rng(1)
    priors = bells(count, size, rng)
    first = None
    for alpha in ORDERS:
        ours, found = timed(lambda alpha=alpha: calibrate(priors, alpha=alpha, epsilon=EPSILON))
        first = first or ours
        beside = ""
        if count > 2:  # of one pair there is nothing to leave out
            each = pair_by_pair(priors, found.theta, alpha, sample=100) * count * (count - 1)
            beside = f"; one quadrature a pair {each:.1f} s; {each / ours:.0f} times faster"
        print(
            f"{count} secrets of {size} components, α = {alpha:g}, θ = {found.theta:.6f}: {ours:.2f} s, "
            f"{ours / first:.1f} times its α = 3{beside}"
        )


def pair_by_pair(priors: dict[int, Mixture], theta: float, alpha: float, *, sample: int) -> float:
    """Seconds to evaluate one pair at the final noise, the mean over a sample."""
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, len(priors), (sample, 2)).tolist()
    seconds, _ = timed(lambda: [divergence(priors[i], priors[j], alpha=alpha, theta=theta) for i, j in pairs])
    return seconds / sample


def proofs(count: int, size: int) -> None:
    """Certify and verify all pairs, beside one proof at a time and the old limit on the whole file."""
    rng = np.random.default_rng(0)
    if size == 1:
        priors = {i: Mixture.gaussian(*x) for i, x in enumerate(rng.uniform(0.5, 1.5, (count, 2)).tolist())}
    else:
        priors = bells(count, size, rng)
    result = calibrate(priors, alpha=ALPHA, epsilon=EPSILON)
    certifying, certificate = timed(lambda: certify(result))
    places = certificate.places
    sample = places[:: max(1, len(places) // 200)]

    def one_at_a_time(place: tuple[int, int, int]) -> Enclosure:
        p, q = (certificate.beliefs[0][k] for k in place[1:])
        return decide(p, q, alpha=ALPHA, epsilon=EPSILON, theta=result.theta).enclosure

    alone, losses = timed(lambda: [one_at_a_time(place) for place in sample])
    effort = Effort(1 << 62)
    again, _ = timed(
        lambda: [settle_alone(certificate, place, loss, effort) for place, loss in zip(sample, losses, strict=True)]
    )
    with tempfile.TemporaryDirectory() as folder:
        certificate.save(path := Path(folder) / "certificate.json")
        verifying, _ = timed(lambda: verify(path))
    start = time.perf_counter()
    certify(result, workers=2)
    shared = time.perf_counter() - start
    scale = len(places) / len(sample)
    print(
        f"{count} secrets of {size} component{'s' * (size > 1)}, {len(places):,} places: certify {certifying:.2f} s "
        f"({shared:.2f} s of clock on two processes), "
        f"verify {verifying:.2f} s; one at a time {alone * scale:.2f} s and {again * scale:.2f} s (scaled up from "
        f"{len(sample)}), {(effort.limit - effort.left) * scale / OLD_LIMIT:.1f} times the old limit on a file"
    )


def settle_alone(certificate, place: tuple[int, int, int], loss: Enclosure, effort: Effort) -> bool | None:
    p, q = (certificate.beliefs[0][k] for k in place[1:])
    claim = Enclosure(loss.lower * (1 - 1e-10), loss.upper * (1 + 1e-10))
    return settle(p, q, claim, alpha=certificate.alpha, theta=certificate.theta, effort=effort).holds
