"""The best channel after what was published: against a linear program written out by hand, and at its ends."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import takifugu as tk
from takifugu.channels.finite_channel import FiniteChannel, split
from takifugu.errors import InputError, MechanismError
from takifugu.mechanisms.optimal.program import Program
from takifugu.mechanisms.sequential import Later
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem


def random_problem(rng, *, sizes=(3, 4), secrets=2):
    rows = [(a, b) for a in range(sizes[0]) for b in range(sizes[1])]
    return Problem.of({f"s{k}": tk.Finite(rows, rng.integers(1, 40, len(rows))) for k in range(secrets)})


def by_hand(problem, past, odds):
    """The least square error of the second column, every condition of every outcome written as a row."""
    laws = [law.probabilities for law in problem.beliefs[0].values()]
    rows = problem.beliefs[0]["s0"].values
    firsts, seconds = sorted({a for a, _ in rows}), sorted({b for _, b in rows})
    n = len(seconds)
    pooled = sum(law.weights for law in problem.beliefs[0].values())
    pooled = pooled / pooled.sum()
    cost = np.zeros((n, n))
    for (_, b), mass in zip(rows, pooled, strict=True):
        cost[b] += mass * (np.arange(n) - b) ** 2
    conditions = []
    for h in range(len(past.outputs)):
        for p in laws:
            for q in laws:
                if p is q:
                    continue
                for y in range(n):
                    line = np.zeros((n, n))
                    for (a, b), mine, theirs in zip(rows, p, q, strict=True):
                        line[b, y] += past.matrix[firsts.index(a), h] * (mine - odds * theirs)
                    conditions.append(line.ravel())
    sums = np.kron(np.eye(n), np.ones((1, n)))
    found = linprog(cost.ravel(), A_ub=np.array(conditions), b_ub=np.zeros(len(conditions)), A_eq=sums, b_eq=np.ones(n))
    return found.fun


@pytest.mark.parametrize("seed", range(6))
def test_it_costs_what_the_written_out_program_costs(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, secrets=2 + seed % 2)
    odds = float(rng.uniform(1.3, 4))
    first = Problem.of({s: tk.Finite([0, 1, 2], [law.weights[k * 4 : k * 4 + 4].sum() for k in range(3)])
                        for s, law in problem.beliefs[0].items()})  # fmt: skip
    past = Later(bits=20).find(first, Renyi(math.inf, 0.5 * math.log(odds))).channel
    found = Later(past=past, bits=30).find(problem, Renyi(math.inf, math.log(odds))).channel
    new = split(found, width=1).second
    laws = list(problem.beliefs[0].values())
    pooled = sum(law.weights for law in laws)
    mass = np.array([pooled[k::4].sum() for k in new.inputs]) / pooled.sum()
    gaps = (np.array(new.inputs)[:, None] - np.array(new.outputs)) ** 2
    error = float(mass @ (new.matrix * gaps).sum(axis=1))
    assert error == pytest.approx(by_hand(problem, past, odds), rel=1e-5, abs=1e-7)
    assert found.worst_odds(*laws) <= odds * (1 + 1e-12)


def test_a_past_that_tells_nothing_changes_nothing():
    rng = np.random.default_rng(1)
    problem = random_problem(rng)
    nothing = FiniteChannel.constant(range(3), tk.Finite([0], [1]), bits=3)
    promise = Renyi(math.inf, math.log(1.5))
    found = split(Later(past=nothing).find(problem, promise).channel, width=1).second
    alone = Problem.of(
        {s: tk.Finite(range(4), [law.weights[k::4].sum() for k in range(4)]) for s, law in problem.beliefs[0].items()}
    )
    best = tk.calibrate(alone, odds=1.5, keep=None)
    mass = sum(law.weights for law in alone.beliefs[0].values())
    gaps = (np.arange(4)[:, None] - np.array(found.outputs)) ** 2
    assert found.expected_loss(mass, gaps) == pytest.approx(best.error, rel=1e-4)
    kept = split(Later(past=nothing, keep="marginal").find(problem, promise).channel, width=1).second
    shares = mass / mass.sum()
    assert np.allclose(shares @ kept.matrix, shares, atol=1e-4)


def test_a_past_that_told_the_secret_lets_nothing_follow():
    laws = {"a": tk.Finite([(0, 0), (0, 1)], [1, 1]), "b": tk.Finite([(1, 0), (1, 1)], [1, 1])}
    with pytest.raises(MechanismError, match="already tells"):
        Later(past=FiniteChannel.identity((0, 1), bits=2)).find(Problem.of(laws), Renyi(math.inf, 1.0))


def test_no_bits_left_is_said():
    problem = random_problem(np.random.default_rng(0))
    past = FiniteChannel.constant(range(3), tk.Finite([0, 1], [1, 1]), bits=62)
    with pytest.raises(MechanismError, match="leaves no budget"):
        Later(past=past).find(problem, Renyi(math.inf, 1.0))


def test_chances_are_for_odds_and_above_zero():
    fields = {"laws": np.ones((2, 2)), "constraints": ((0, 1),), "mass": np.ones(2), "loss": 1.0 - np.eye(2)}
    with pytest.raises(InputError, match="whole laws"):
        Program(**fields, alpha=2.0, epsilon=1.0, chances=np.array([0.5, 0.5]))
    for wrong in ([0.5], [0.0, 1.0], [math.nan, 1.0], [math.inf, 1.0]):
        with pytest.raises(InputError, match="chances must"):
            Program(**fields, odds=2.0, chances=np.array(wrong))
    half = Program(**fields, odds=2.0, chances=np.array([0.5, 0.25]), radius=np.array([0.2, 0.0]))
    assert half.shares.sum(axis=1).tolist() == [0.5, 0.25]
    assert half.reach.tolist() == [0.1, 0.0]
