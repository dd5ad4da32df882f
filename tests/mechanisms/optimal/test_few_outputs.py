"""Channels for many laws through some outputs: beside one linear program, in any order of laws and values, proved."""

import itertools
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu._work import listening
from takifugu.divergences import Masses, within_odds
from takifugu.laws import Finite
from takifugu.mechanisms import most_values
from takifugu.mechanisms.optimal import column_generation, restricted_master
from takifugu.mechanisms.optimal.column_generation import (
    Prices,
    can_preserve,
    coarse,
    fit,
    lower_bound_by_columns,
    searched,
)
from takifugu.mechanisms.optimal.finite_problem import Cells
from takifugu.mechanisms.optimal.restricted_master import ColumnProgram, has_many_laws, outputs_of, through_few

ROWS = tuple(itertools.product(range(5), range(4)))
GROUPS = st.sampled_from(
    [(tuple(range(4)),), (tuple(range(7)),), ((0, 1, 2, 3, 4), (5, 6)), ((0, 1), (1, 2), (2, 3), (3, 0))]
)


def program_of(seed, *, rows=ROWS, groups=(tuple(range(5)),), odds=2.0, keeps=False, shape=0.5):
    rng = np.random.default_rng(seed)
    count = 1 + max(law for group in groups for law in group)
    laws = rng.dirichlet(np.full(len(rows), shape), size=count)
    laws = (1 - 1e-5) * laws + 1e-5 / len(rows)
    mass = rng.dirichlet(np.ones(count)) @ laws
    return ColumnProgram(laws, groups, mass, Cells.of(rows, mass), odds, 0.0, np.zeros(count), keeps)


def by_one_program(program, outputs=None):
    """The least cost there is, by SciPy's `linprog` with every pair, output and move."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, kron, vstack

    n = program.size
    outputs = np.arange(n) if outputs is None else outputs
    m = len(outputs)
    pairs = [pair for group in program.groups for pair in itertools.permutations(group, 2)]
    lean = np.array([program.laws[i] - program.odds * program.laws[j] for i, j in pairs])
    equal = [kron(eye_array(n), np.ones((1, m)))]
    limit = [np.ones(n)]
    if program.keeps_marginal:
        equal.append(kron(program.mass[None, :], eye_array(m)))
        limit.append(program.mass)
    found = linprog(
        (program.mass[:, None] * program.cells.between(np.arange(n), outputs)).ravel(),
        A_ub=kron(csr_array(lean), eye_array(m)),
        b_ub=np.zeros(len(pairs) * m),
        A_eq=vstack(equal),
        b_eq=np.concatenate(limit),
    )
    assert found.status == 0
    return found.fun, 1e-7 * float(np.abs(found.ineqlin.marginals).sum() + np.abs(found.eqlin.marginals).sum())


def check(program, sources, targets, shares):
    assert np.bincount(sources, weights=shares) == pytest.approx(np.ones(program.size))
    out = np.zeros(program.laws.shape)
    for law, line in zip(program.laws, out, strict=True):
        np.add.at(line, targets, law[sources] * shares)
    for group in program.groups:
        part = out[list(group)]
        assert (part.max(axis=0) <= program.odds * part.min(axis=0) * (1 + 1e-9)).all()


def cost_of(program, found):
    return float((program.mass[found.sources] * found.shares) @ program.cells.along(found.sources, found.targets))


@settings(max_examples=some_of(12))
@given(
    st.integers(0, 10_000), GROUPS, st.sampled_from([1.2, 2.0, 20.0]), st.booleans(), st.sampled_from([0.1, 0.5, 5.0])
)
def test_the_cost_is_that_of_one_program_with_every_move(seed, groups, odds, keeps, shape):
    program = program_of(seed, groups=groups, odds=odds, keeps=keeps, shape=shape)
    best, doubt = by_one_program(program)
    found = through_few(program)
    check(program, found.sources, found.targets, found.shares)
    assert best * (1 - 1e-6) - 1e-9 <= cost_of(program, found) <= best * 1.006 + 1e-4
    bound = lower_bound_by_columns(program, Prices(found.prices, found.kept))
    assert best * 0.99 - 1e-4 <= bound <= best + doubt + 1e-12


@settings(max_examples=some_of(10))
@given(st.integers(0, 10_000), GROUPS, st.sampled_from([1.5, 4.0]))
def test_through_some_outputs_it_is_the_best_for_those(seed, groups, odds):
    program = program_of(seed, groups=groups, odds=odds)
    with patch.object(restricted_master, "outputs_of", lambda *_: 6):
        found = through_few(program)
    check(program, found.sources, found.targets, found.shares)
    chosen = np.unique(found.targets)
    assert len(chosen) <= 6
    best, doubt = by_one_program(program)
    among, _ = by_one_program(program, chosen)
    assert best - doubt <= cost_of(program, found) <= among * 1.006 + 1e-4
    assert lower_bound_by_columns(program, Prices(found.prices)) <= best + doubt


MANY = tuple(itertools.product(range(18), range(10)))


@settings(max_examples=some_of(3))
@given(st.integers(0, 10_000), st.sampled_from([6, 8]))
def test_many_laws_cost_no_more_than_between_groups_of_values(seed, count):
    program = program_of(seed, rows=MANY, groups=(tuple(range(count)),), odds=3.0)
    with patch.object(column_generation, "_MOST_OF_MANY", 0):
        assert not fit(program.size, program.groups)
        found = searched(program, rounds=3)
    check(program, found.moves.sources, found.moves.targets, found.moves.shares)
    cost = found.moves.cost(program)
    # What the search is solved to: a program between groups, solved to a vertex, may be as good to within that.
    assert cost <= coarse(program, np.random.default_rng(0)).cost(program) * (1 + restricted_master._CLOSE)
    if found.prices is not None:
        assert 0.98 * cost <= lower_bound_by_columns(program, found.prices) <= cost


def laws_of(seed, names="abcde", rows=ROWS):
    rng = np.random.default_rng(seed)
    return {s: Finite(rows, 0.05 + rng.dirichlet(np.full(len(rows), 0.5)) * 50) for s in names}


def moves_of(made):
    sources, targets, shares = made.channel.as_list().entries
    inputs, outputs = made.channel.inputs, made.channel.outputs
    return {(inputs[x], outputs[y]): share for x, y, share in zip(sources, targets, shares, strict=True)}


@settings(max_examples=some_of(8))
@given(
    st.integers(0, 10_000), st.permutations("abcde"), st.permutations(range(len(ROWS))), st.booleans(), st.booleans()
)
def test_no_order_of_secrets_and_values_changes_the_channel(seed, names, places, many, cautious):
    laws = laws_of(seed, names if many else [name for name in names if name in "abc"])
    other = {name: Finite([ROWS[k] for k in places], [laws[name].weights[k] for k in places]) for name in sorted(laws)}
    options = {"solver": "columns"} | ({"caution": 0.5} if cautious else {})
    with patch.object(column_generation, "_MOST_OF_MANY", 0):
        found, again = (tk.calibrate(one, odds=2, options=options) for one in (laws, other))
    assert again.error == pytest.approx(found.error, rel=1e-12)
    assert moves_of(again) == moves_of(found)
    assert (found.lower_bound is None) == (again.lower_bound is None)
    if found.lower_bound is not None:
        assert again.lower_bound == pytest.approx(found.lower_bound, rel=1e-9)


def test_what_is_found_for_many_laws_is_proved(tmp_path):
    rows = tuple(itertools.product(range(30), range(16)))
    laws = laws_of(1, "abcdefg", rows)
    heard = []
    with listening(heard.append):
        made = tk.calibrate(laws, odds=3)
    assert dict(made.options)["solver"] == "columns"
    assert any("from 480 values to 480 of them" in line for line in heard)
    for a, b in made.pairs.directed():
        p, q = (made.channel.exactly(Masses.of(np.array(laws[s].weights))) for s in (a, b))
        assert within_odds(p, q, odds=Fraction(3))
    assert 0.99 * made.error <= made.lower_bound <= made.error
    tk.certify(made).save(tmp_path / "certificate.json")
    assert tk.verify(tmp_path / "certificate.json").lower_bound == made.lower_bound


def test_a_step_takes_no_longer_for_more_values_and_laws():
    for count in (4, 7, 10, 30):
        numbers = [outputs_of(size, [tuple(range(count))]) for size in (50, 200, 1_000, 3_000, 10_000, 50_000)]
        assert numbers[0] == 50
        assert all(
            1 <= number <= size for number, size in zip(numbers, (50, 200, 1_000, 3_000, 10_000, 50_000), strict=True)
        )
        assert numbers[2:] == sorted(numbers[2:], reverse=True)


def test_few_laws_stay_with_the_linear_program():
    assert not has_many_laws([(0, 1)])
    assert not has_many_laws([(0, 1, 2)])
    assert has_many_laws([(0, 1, 2, 3)])
    assert most_values(2) == 2_000
    assert can_preserve(800, [tuple(range(5))])
    assert not can_preserve(3_000, [tuple(range(5))])
    assert fit(800, [tuple(range(5))])
    assert not fit(400, [tuple(range(10))])


def test_odds_that_leave_nothing_inside_are_for_others():
    program = program_of(0)
    assert through_few(replace(program, odds=1.0)) is None
    found = searched(replace(program, odds=1.0), rounds=1)
    check(replace(program, odds=1.0), found.moves.sources, found.moves.targets, found.moves.shares)
