"""Who knows every row but one: exact odds, against plain releases of small tables and never against private ones."""

import itertools
import json
import math
import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.audits.all_other_rows import table_chance
from takifugu.channels import InsecureSeededBits
from takifugu.queries import Cells, PrivateCounts

pytestmark = pytest.mark.filterwarnings("ignore::takifugu.DiagnosticWarning", "ignore:.*seed.*:UserWarning")


def rows_of(tallies):
    cells = [("ab"[s], x) for s, row in enumerate(tallies) for x, n in enumerate(row) for _ in range(n)]
    return pd.DataFrame(cells, columns=["s", "x"])


def small(seed, rows=30):
    """A small table of a secret and of a column with two or three values."""
    rng = np.random.default_rng([7, seed])
    first = int(rng.integers(8, rows - 7))
    return rows_of([rng.multinomial(n, rng.dirichlet(np.ones(2 + seed % 2))).tolist() for n in (first, rows - first)])


def lists(rows):
    return {"s": ["a", "b"], "x": list(range(int(rows["x"].max()) + 1))}


def test_how_likely_a_table_is_agrees_with_every_way_in_which_it_may_come_about():
    rng = np.random.default_rng(3)
    matrix = dict(enumerate(rng.dirichlet(np.ones(3), size=2)))
    for tallies in ({0: 2, 1: 3}, {0: 4}, {1: 1}):
        values = [x for x, n in tallies.items() for _ in range(n)]
        for told in itertools.product(range(6), repeat=3):
            if sum(told) == len(values):
                ways = itertools.product(range(3), repeat=len(values))
                found = sum(
                    math.prod(matrix[x][y] for x, y in zip(values, way, strict=True))
                    for way in ways
                    if tuple(way.count(y) for y in range(3)) == told
                )
                assert table_chance(matrix, tallies, told) == pytest.approx(found, rel=1e-12)


def published_privately(rows, seed, odds=3, epsilon=0.2):
    cells = Cells.of("s", ["x"], lists(rows), None, epsilon)
    exact = [[int(((rows["s"] == s) & (rows["x"] == x)).sum()) for x in lists(rows)["x"]] for s in "ab"]
    made = tk.calibrate(PrivateCounts.with_noise(cells, exact, InsecureSeededBits(seed)), odds=odds, confidence=0.8)
    return tk.release(rows, made, insecure_seed=seed), made


def test_sixty_attacks_contradict_no_release_from_private_counts():
    largest = 0.0
    for seed in range(60):
        rows = small(seed)
        table, made = published_privately(rows, seed, epsilon=(0.2, 0.4, 1.0)[seed % 3])
        found = tk.audit(table, rows, made, all_other_rows=True).known_rows
        assert not found.contradicted, seed
        assert found.factor <= found.limit * (1 + 1e-9)
        assert made.total.factor == found.limit > made.guarantee.factor
        assert (found.people, found.is_refitted) == (30, False)
        largest = max(largest, found.factor)
    assert largest > 2  # it is no weak attack


def test_the_counts_and_the_table_together_are_as_telling_as_fractions_say():
    """One value each and three rows, by hand: a cell of the counts above and one below, and what is published."""
    rows = rows_of([[2, 1], [0, 1]])
    table, made = published_privately(rows, 5)
    found = tk.audit(table, rows, made, all_other_rows=True).known_rows
    half, channel = Fraction(math.exp(0.1)), made.channel
    share = [[Fraction(int(n), 1 << 32) for n in row] for row in channel.counts]
    told = Counter(table["x (insecure seed)"] if "x (insecure seed)" in table else table.iloc[:, 0])
    largest = Fraction(1)
    for who, own in {(s, x) for s, x in rows.itertuples(index=False)}:
        others = Counter(rows.itertuples(index=False, name=None)) - Counter([(who, own)])
        seen = []
        for s in "ab":
            law, total = made.beliefs[0][s], Fraction(0)
            for x, share_of_x in zip(law.values, law.probabilities.tolist(), strict=True):
                noisy = made.beliefs[0].counted[s][0][law.values.index(x)]
                values = [v for (_, v), n in others.items() for _ in range(n)] + [x]
                ways = itertools.product(range(len(channel.outputs)), repeat=len(values))
                out = sum(
                    math.prod(share[channel.inputs.index(v)][y] for v, y in zip(values, way, strict=True))
                    for way in ways
                    if Counter(channel.outputs[y] for y in way) == told
                )
                total += Fraction(share_of_x) * (half if noisy > others[s, x] else 1 / half) * out
            seen.append(total)
        largest = max(largest, seen[0] / seen[1], seen[1] / seen[0])
    assert found.factor == pytest.approx(float(largest), rel=1e-9)


@pytest.fixture(scope="module")
def plain():
    """A table of 15 rows whose channel is another one if somebody's row is another: by far beyond what is stated."""
    rows = rows_of([[3, 0, 5], [2, 2, 3]])
    for seed in range(20):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = tk.publish(rows, secret="s", columns=["x"], domain={"x": [0, 1, 2]}, insecure_seed=seed)
        found = tk.audit(made.table, rows, made.calibration, all_other_rows=True)
        if found.contradicted:
            return rows, made, found
    raise AssertionError("no release of twenty was contradicted")


def test_a_plain_release_of_a_small_table_is_contradicted(plain):
    rows, made, found = plain
    assert found.known_rows.factor > 3
    assert found.known_rows.is_refitted
    assert not found.attacks  # too few rows for any other
    assert found.sentences[0].startswith("for an adversary who knows all other rows the odds of")
    assert "guarantees nothing against them" in found.sentences[0]
    assert json.loads(json.dumps(found.to_dict()))["known_rows"]["beyond"] == found.known_rows.beyond > 0
    assert found.best_guess.high == 1
    with pytest.raises(tk.InputError, match="20 published rows"):
        made.audit(rows)
    with pytest.raises(tk.InputError, match="too few rows"):
        found.report("never.html")


def test_so_it_is_on_the_command_line_and_beside_other_attacks(plain, tmp_path):
    from click.testing import CliRunner

    from takifugu.cli import main

    rows, made, _ = plain
    made.calibration.save(tmp_path / "made.json")
    made.table.to_csv(tmp_path / "out.csv", index=False)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    words = [tmp_path / "out.csv", "--truth", tmp_path / "rows.csv", "--calibration", tmp_path / "made.json"]
    ran = CliRunner().invoke(main, ["audit", *map(str, words), "--all-other-rows", "--quiet"])
    assert ran.exit_code == 1
    assert "knows all other rows" in ran.output
    both = rows_of([[30, 20], [25, 25]])
    table, private = published_privately(both, 1)
    found = tk.audit(table, both, private, all_other_rows=True)
    assert found.attacks
    assert not found.contradicted
    assert any("odds change by no more" in one for one in found.sentences)


def test_of_other_peoples_priors_and_of_no_data_nobody_learns_more_than_is_stated():
    rows = small(4)
    query = tk.Row("x", domain=lists(rows)["x"])
    free = tk.calibrate(query, odds=3, mechanism="data-free")
    found = tk.audit(tk.release(rows, free), rows, free, secret="x", all_other_rows=True).known_rows
    assert 1 < found.factor <= 3 * (1 + 1e-9)
    others = tk.fit_priors(small(6, rows=60), secret="s", query=query)
    made = tk.publish(
        rows, secret="s", columns=["x"], adversary=tk.Adversary(beliefs={"last year": others}, own=False, drift="allow")
    )
    assert not made.calibration.answer.private
    assert tk.audit(made.table, rows, made.calibration, all_other_rows=True).known_rows.factor <= 3 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"alpha": 3, "epsilon": 1}, "bounds none"),
        ({"odds": 3, "adversary": tk.Adversary(seed=5)}, "fits the channel again"),
    ],
)
def test_what_cannot_be_said_exactly_is_refused(asked, told):
    rows = small(3)
    made = tk.publish(rows, secret="s", columns=["x"], domain={"x": lists(rows)["x"]}, insecure_seed=1, **asked)
    with pytest.raises(tk.InputError, match=told):
        tk.audit(made.table, rows, made.calibration, all_other_rows=True)
