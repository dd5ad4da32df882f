"""The bound against the formula of weak duality in 60 digits, and against channels that keep the promise."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from random_programs import random_program, random_wishes
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.lower_bound import Duals, estimate, lower_bound, no_duals
from takifugu.mechanisms.optimal.program import Program, allowed_moves, shortfall, violation
from takifugu.mechanisms.optimal.solving import solve

mpmath.mp.dps = 60


def random_duals(program: Program, seed: int) -> Duals:
    rng = np.random.default_rng(seed)
    blank = no_duals(program)
    size = float(program.loss.max()) * 10.0 ** rng.uniform(-3, 1)
    return Duals(
        weights=rng.exponential(size, blank.weights.shape) * (rng.random(blank.weights.shape) < 0.7),
        ratios=np.exp(rng.normal(0, 0.5, blank.ratios.shape)),
        odds=rng.exponential(size, blank.odds.shape) * (rng.random(blank.odds.shape) < 0.5),
        kept=rng.normal(0, size, blank.kept.shape),
        mean=rng.normal(0, size, blank.mean.shape),
        diagonal=float(rng.exponential(size)) if program.diagonal is not None else 0.0,
        spread=rng.normal(0, size / program.size[0], blank.spread.shape),
    )


def exact(numbers: Any) -> Any:
    total = sum(Fraction(float(v)) for v in numbers)
    return [
        mpmath.mpf(Fraction(float(v)).numerator)
        / Fraction(float(v)).denominator
        / (mpmath.mpf(total.numerator) / total.denominator)
        for v in numbers
    ]


def oracle(program: Program, duals: Duals) -> Any:  # noqa: PLR0912
    """Σ_x min_y of the Lagrangian's coefficients, from the formula with p^α q^{1−α} itself and C; no radius."""
    laws = [exact(row) for row in program.laws]
    mass = exact(program.mass)
    n, m = program.size
    alpha, mpf = mpmath.mpf(program.alpha), mpmath.mpf
    constant, weights = mpf(0), []
    if program.bounds_divergence:
        big_c = mpmath.exp((alpha - 1) * mpf(program.epsilon))
        # λ̂(G − 1) with G = (f − αp + (α−1)q)/(C−1) is (λ/C)f − λ up to the rows' sums, λ = λ̂C/(C−1).
        weights = [mpf(w) * big_c / (big_c - 1) / big_c for w in duals.weights]
        constant -= sum((w * big_c for w in weights), mpf(0))
    factor = mpf(program.odds) if program.odds is not None else mpmath.inf
    if program.alpha == np.inf:
        factor = min(factor, mpmath.exp(mpf(program.epsilon)))
    total = mpf(0)
    for x in range(n):
        best = mpmath.inf
        for y in range(m):
            if program.forbidden is not None and program.forbidden[x, y]:
                continue
            t = mass[x] * mpf(program.loss[x, y])
            for c, (i, j) in enumerate(program.constraints):
                if duals.weights.size:
                    r = mpf(duals.ratios[y, c])
                    t += weights[c] * (alpha * r ** (alpha - 1) * laws[i][x] - (alpha - 1) * r**alpha * laws[j][x])
                if duals.odds.size:
                    t += mpf(duals.odds[y, c]) * (laws[i][x] - factor * laws[j][x])
            if program.keep == "marginal":
                t += mass[x] * mpf(duals.kept[y])
            if program.unbiased:
                t += mpf(duals.mean[x]) * mpf(program.outputs[y])
            elif program.keep == "mean":
                t += mpf(duals.mean[0]) * mass[x] * mpf(program.outputs[y])
            if program.diagonal is not None and x == y:
                t -= mpf(duals.diagonal) * mass[x]
            best = min(best, t)
        total += best
    if program.keep == "marginal":
        constant -= sum(mpf(duals.kept[y]) * mass[y] for y in range(m))
    if program.unbiased:
        constant -= sum(mpf(duals.mean[x]) * mpf(program.inputs[x]) for x in range(n))
    elif program.keep == "mean":
        constant -= mpf(duals.mean[0]) * sum(mass[x] * mpf(program.inputs[x]) for x in range(n))
    if program.diagonal is not None:
        constant += mpf(duals.diagonal) * mpf(program.diagonal)
    return total + constant


@pytest.mark.parametrize("seed", range(some_of(40)))
def test_it_is_the_formula_of_weak_duality(seed: int):
    rng = np.random.default_rng(seed)
    wishes = random_wishes(seed, 5, 3) | {"radius": None}
    if seed % 4 == 0:
        wishes["diagonal"] = 0.3
    if seed % 5 == 0:
        wishes = {"unbiased": True}
    if seed % 7 == 0:
        forbidden = rng.random((5, 5)) < 0.2
        np.fill_diagonal(forbidden, False)
        wishes["forbidden"] = forbidden
    program = random_program(seed, n=5, secrets=3, **wishes)
    if not np.array_equal(allowed_moves(program), np.ones((5, 5)) if program.forbidden is None else ~program.forbidden):
        program = random_program(1, n=5, secrets=3, alpha=3.0, epsilon=0.3)  # other moves fall out: not this oracle's
    duals = solve(program).duals if seed % 2 else random_duals(program, seed)
    proved, true = lower_bound(program, duals), oracle(program, duals)
    size = 1 + float(program.loss.max()) + float(duals.weights.sum() + duals.odds.sum() + np.abs(duals.mean).sum() * 5)
    size += float(np.abs(duals.kept).sum())
    if duals.weights.size:
        spread = program.alpha * np.maximum(np.log(duals.ratios), 0).max()
        size *= float(np.exp(max(0.0, spread - program.log_budget) + 1)) / min(1.0, program.log_budget)
    assert proved <= max(true, 0)
    assert proved >= float(true) - 1e-11 * size


def feasible_channel(program: Program, seed: int) -> np.ndarray:
    """A channel that keeps promise and wishes, far from the best: part identity, part noise, part constant row."""
    rng = np.random.default_rng(seed)
    n, m = program.size
    channel = rng.dirichlet(np.full(m, 0.5), n) if program.keep is None else np.eye(n)
    row = program.pooled @ channel
    share = 0.0
    while share < 1.0:
        mixed = (1 - share) * channel + share * row
        if violation(program, mixed) <= -0.0 and shortfall(program, mixed) < 1e-12:
            return mixed
        share = min(1.0, 1.5 * share + 0.01)
    return np.tile(row, (n, 1))


@settings(max_examples=some_of(80))
@given(seed=st.integers(0, 10**6), channel=st.integers(0, 10**6), multipliers=st.integers(0, 10**6), good=st.booleans())
def test_no_channel_costs_less(seed: int, channel: int, multipliers: int, good: bool):
    secrets = 2 + seed % 3
    program = random_program(seed, n=4 + seed % 4, secrets=secrets, **random_wishes(seed, 0, secrets))
    duals = solve(program).duals if good else random_duals(program, multipliers)
    cost = program.value(feasible_channel(program, channel))
    assert lower_bound(program, duals) <= cost * (1 + 1e-12)


def test_the_estimate_is_the_bound_up_to_rounding():
    for seed in range(10):
        program = random_program(seed, radius=np.full(3, 0.01), secrets=3)
        duals = solve(program).duals
        allowed = allowed_moves(program)
        assert lower_bound(program, duals) == pytest.approx(
            max(0.0, estimate(program, duals, allowed)), rel=1e-7, abs=1e-12
        )


def test_duals_survive_json_and_are_checked():
    program = random_program(3, alpha=3.0, epsilon=0.2)
    duals = solve(program).duals
    again = Duals.from_json(duals.to_json())
    assert lower_bound(program, again) == lower_bound(program, duals)
    with pytest.raises(InputError, match="exactly"):
        Duals.from_json({"weights": []})
    with pytest.raises(InputError, match="0 or more"):
        lower_bound(program, Duals.from_json(duals.to_json() | {"weights": (-duals.weights - 1).tolist()}))
    with pytest.raises(InputError, match="shape"):
        lower_bound(program, Duals.from_json(duals.to_json() | {"ratios": [[1.0]]}))


def test_huge_budgets_and_multipliers_prove_nothing_false():
    program = random_program(5, alpha=64.0, epsilon=40.0)
    duals = random_duals(program, 1)
    huge = Duals.from_json(duals.to_json() | {"ratios": (duals.ratios * 1e140).tolist()})
    for tried in (duals, huge):
        assert 0.0 <= lower_bound(program, tried) <= program.value(np.tile(program.pooled, (program.size[0], 1)))


@pytest.mark.parametrize("name", ["weights", "kept"])
def test_multipliers_whose_sum_is_beyond_floats_prove_nothing(name):
    """They may come from a stranger's certificate: a sentence is due, and no `OverflowError`."""
    found = tk.calibrate(
        {s: tk.Finite([0, 1, 2], w) for s, w in (("a", [5, 2, 1]), ("b", [1, 2, 5]))}, alpha=2, epsilon=1
    )
    certificate = tk.certify(found)
    data = certificate.calibration.optimality
    forged = replace(data, **{name: np.full_like(getattr(data, name), 1e308)})
    with pytest.raises(tk.CertificationError, match="no channel loses less"):
        tk.verify(replace(certificate, calibration=replace(found, optimality=forged)))
