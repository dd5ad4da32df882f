"""One block for each cell: the promise to who has read it, what the cell adds, and that nothing leaves its cell."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.channels.finite import FiniteChannel
from takifugu.errors import InputError, MechanismError
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.problems.population_findings import CellTells


def people(seed=0, rows=500):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], rows)
    second = rng.random(rows) < np.where(sex == "f", 0.3, 0.55)
    stay = rng.integers(1, 4, rows) + second * (sex == "f")
    return pd.DataFrame(
        {"diagnosis": np.where(second, "flu", "none"), "sex": sex, "stay": stay, "ward": rng.choice(list("AB"), rows)}
    )


TABLE = people()
QUERY = tk.Row("stay", domain=[1, 2, 3, 4])
PRIORS = tk.fit_priors(TABLE, secret="diagnosis", query=QUERY, known=["sex"], per_cell=True)


@pytest.mark.parametrize("promise", [{"odds": 1.5}, {"alpha": 2, "epsilon": 0.1}])
def test_each_cell_is_within_the_promise_in_fractions_and_no_row_leaves_its_cell(promise):
    made = tk.calibrate(PRIORS, **promise)
    channel = made.channel
    assert made.read == ("sex",)
    assert made.answer.columns == ("sex", "stay")
    for (x, y), count in np.ndenumerate(channel.counts):
        assert count == 0 or channel.inputs[x][0] == channel.outputs[y][0]
    for belief in made.beliefs:
        laws = [[Fraction(float(w)) for w in law.weights] for law in belief.values()]
        shares = [[w / sum(law) for w in law] for law in laws]
        p, q = (
            [sum(s[x] * int(channel.counts[x, y]) for x in range(len(s))) / channel.denominator for y in range(len(s))]
            for s in shares
        )
        for left, right in ((p, q), (q, p)):
            used = [(a, b) for a, b in zip(left, right, strict=True) if a]
            if "odds" in promise:
                assert all(a <= Fraction(promise["odds"]) * b * (1 + Fraction(1, 10**9)) for a, b in used)
            else:
                assert float(sum(a**2 / b for a, b in used)) <= np.exp(promise["epsilon"]) * (1 + 1e-9)
    # Claim 2: the cell and the rest together move the odds by no more than the product of the two.
    if "odds" in promise:
        told = next(one for one in made.findings if isinstance(one, CellTells)).odds
        joint = {}
        for who, group in TABLE.groupby("diagnosis"):
            tally = group.groupby(["sex", "stay"]).size() / len(group)
            law = np.array([tally.get(row, 0.0) for row in channel.inputs])
            joint[who] = law @ channel.matrix
        ratios = joint["flu"] / joint["none"]
        assert max(ratios.max(), (1 / ratios).max()) <= 1.5 * told * 1.1  # the pseudo-rows are a little of it


def test_a_block_is_the_channel_that_its_cell_alone_would_have():
    made = tk.calibrate(PRIORS, odds=1.5, keep=None)
    for cell in ("f", "m"):
        rows = [k for k, row in enumerate(made.channel.inputs) if row[0] == cell]
        belief = next(one for one in made.beliefs if one.label == f"sex = {cell}")
        laws = {s: tk.Finite([made.channel.inputs[k][1] for k in rows], law.weights[rows]) for s, law in belief.items()}
        loss = np.subtract.outer([1, 2, 3, 4], [1, 2, 3, 4]) ** 2
        alone = tk.calibrate(laws, odds=1.5, keep=None, loss=loss)
        block = made.channel.matrix[np.ix_(rows, rows)]
        mass = sum(law.weights for law in laws.values())
        cost = float((mass / mass.sum()) @ (block * loss).sum(axis=1))
        assert cost == pytest.approx(alone.error, rel=1e-4)


def test_it_costs_less_than_hiding_the_cell_from_who_may_not_know_it():
    known = tk.fit_priors(TABLE, secret="diagnosis", query=QUERY, known=["sex"])
    apart = tk.calibrate(PRIORS, odds=1.5, keep=None, loss="change")
    assert apart.error <= tk.calibrate(known, odds=1.5, keep=None, loss="change").error + 1e-6


def test_a_channel_that_leaks_between_cells_is_refused():
    made = tk.calibrate(PRIORS, odds=1.5)
    counts = made.channel.counts.copy()
    counts[0, 0] -= 1
    counts[0, -1] += 1
    leaky = replace(made, channel=FiniteChannel(made.channel.inputs, made.channel.outputs, counts))
    assert made.meets_budget()
    assert not leaky.meets_budget()
    with pytest.raises(tk.TakifuguError):
        tk.certify(leaky)


def test_it_is_certified_verified_read_back_and_says_for_whom():
    made = tk.calibrate(PRIORS, odds=1.5, confidence=0.7)
    again = tk.Calibration.from_dict(made.to_dict())
    assert again == made
    assert again.meets_budget()
    certificate = tk.certify(again)
    assert tk.verify(certificate) == certificate
    assert "for who has read sex" in certificate.claim
    assert certificate.redacted().to_dict()["read"] == ["sex"]
    assert "for who has read 'sex'" in str(made)
    assert any("change the odds between two secrets by a factor of up to" in str(one) for one in made.findings)


def test_publishing_leaves_the_kept_columns_as_they_are():
    made = tk.publish(
        TABLE, secret="diagnosis", columns=["stay", "ward"], keep=["sex"], per_cell=True, odds=1.5, confidence=None
    )
    assert made.table["sex"].tolist() == TABLE["sex"].tolist()
    assert sorted(made.table.columns) == ["sex", "stay", "ward"]
    assert str(made).startswith("Beyond what sex tells by itself, nothing published moves")
    under = tk.publish(
        TABLE, secret="diagnosis", columns=["stay"], keep=["sex"], per_cell=True, alpha=2, epsilon=1, confidence=None
    )
    assert str(under).startswith("Beyond what sex tells by itself, every pair of values of 'diagnosis' is hidden")
    with pytest.raises(InputError, match="contradicts nothing"):
        tk.audit(made.table, TABLE, made.calibration)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": []}, "none is kept"),
        ({"known": ["ward"]}, "'ward' is not: keep it"),
        ({"beliefs": {"x": TABLE}}, "do not go together"),
    ],
)
def test_what_does_not_go_with_cells_is_said(options, words):
    asked = {"secret": "diagnosis", "columns": ["stay"], "keep": ["sex"], "per_cell": True} | options
    with pytest.raises(InputError, match=words):
        tk.publish(TABLE, **asked)


def test_other_queries_and_bins_and_bands_have_no_cells_of_their_own():
    with pytest.raises(InputError, match="per_cell is for a Row"):
        tk.fit_priors(TABLE, secret="diagnosis", query=tk.Raw("stay"), known=["sex"], per_cell=True)
    with pytest.raises(InputError, match="binned one is not"):
        tk.fit_priors(TABLE, secret="diagnosis", query=tk.Row("ward"), known=[tk.binned("stay", [2])], per_cell=True)
    with pytest.raises(MechanismError, match="not for per_cell"):
        tk.calibrate(PRIORS, odds=1.5, assurance="band")
    shared = [{"a": tk.Finite(["x", "y"], [1, 2]), "b": tk.Finite(["x", "y"], [2, 1])}] * 2
    with pytest.raises(InputError, match="row in common"):
        tk.calibrate(shared, odds=2, cells=True)
    with pytest.raises(InputError, match="True or False"):
        Optimal(cells=1)
