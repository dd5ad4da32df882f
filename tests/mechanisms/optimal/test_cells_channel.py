"""One block for each cell: the promise to who has read it, what the cell adds, and that nothing leaves its cell."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.channels.finite import FiniteChannel
from takifugu.errors import InputError, MechanismError
from takifugu.laws.bounds import Bounds
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


def test_bands_within_the_cells_are_proved_for_the_population_of_each(tmp_path):
    made = tk.calibrate(PRIORS, odds=3, assurance="band")
    plain = tk.calibrate(PRIORS, odds=3)
    assert made.error > plain.error
    tk.certify(made).save(tmp_path / "c.json")
    assert tk.verify(tmp_path / "c.json").calibration.evidence == made.evidence
    with pytest.raises(tk.CertificationError, match="about the population does not hold"):
        tk.certify(replace(plain, evidence=made.evidence))
    # Each block alone, on the counts of its cell, as a channel of its own: by the same bounds, four laws at once.
    for cell, belief in enumerate(made.beliefs):
        here = slice(4 * cell, 4 * cell + 4)
        counts = [belief.counted[s][0][here] for s in made.pairs.secrets]
        for seen, other in (counts, counts[::-1]):
            bounds = [Bounds.of_counts(one, level=0.95, laws=4, ordered=True) for one in (seen, other)]
            block = made.channel.counts[here, here]
            most, least = (
                [int(sum(int(a) * int(b) for a, b in zip(law, column, strict=True))) for law, column in both]
                for both in (
                    zip(bounds[0].extreme(block, largest=True), block.T, strict=True),
                    zip(bounds[1].extreme(block, largest=False), block.T, strict=True),
                )
            )
            assert all(p <= 3 * q for p, q in zip(most, least, strict=True))
    leaky = made.channel.counts.copy()
    leaky[0] = np.roll(leaky[0], 4)
    channel = FiniteChannel(made.channel.inputs, made.channel.outputs, leaky)
    assert not made.evidence.holds(made.problem, channel, made.guarantee)


def test_a_cell_in_which_a_secret_was_never_seen_is_covered_whatever_its_law():
    table = pd.concat([TABLE, pd.DataFrame({"diagnosis": "flu", "sex": "x", "stay": [1, 2] * 40, "ward": "A"})])
    table = table[~((table["sex"] == "x") & (table["diagnosis"] == "none"))]
    with pytest.warns(tk.FindingWarning):
        priors = tk.fit_priors(table, secret="diagnosis", query=QUERY, known=["sex"], per_cell=True)
    made = tk.calibrate(priors, odds=3, assurance="band")
    rows = [k for k, row in enumerate(made.channel.inputs) if row[0] == "x"]
    block = made.channel.counts[np.ix_(rows, rows)]
    flu = made.beliefs[[belief.label for belief in made.beliefs].index("sex = x")]["flu"].probabilities[rows] @ block
    assert (block.max(axis=0) <= 3 * flu).all()  # the other's law may be anything there
    assert (flu <= 3 * block.min(axis=0)).all()


def test_an_audit_stays_within_the_cells():
    table = people(seed=4, rows=4000)
    made = tk.publish(table, secret="diagnosis", columns=["stay"], keep=["sex"], per_cell=True, odds=2, confidence=None)
    found = tk.audit(made.table, table, made.calibration, seed=1)
    assert not found.contradicted
    assert {attack.where for attack in found.attacks} == {" where sex = f", " where sex = m"}
    # The sex tells more than the promise allows for the rest; only what is published bare within a cell contradicts it.
    bare = tk.audit(table[["sex", "stay"]], table, tk.calibrate(made.calibration.problem, odds=1.2, cells=True), seed=1)
    assert bare.contradicted
    few = [*np.flatnonzero(table["sex"] == "f")[:36], *np.flatnonzero(table["sex"] == "m")[:24]]
    assert table.iloc[few]["diagnosis"].value_counts().min() >= 20
    with pytest.raises(InputError, match="no cell of 'sex' has 20 published rows"):
        tk.audit(table.iloc[few][["sex", "stay"]], table.iloc[few], made.calibration)


def test_of_a_column_that_is_cut_the_bin_is_published_and_not_the_value():
    priors = tk.fit_priors(
        TABLE, secret="diagnosis", query=tk.Row("ward"), known=[tk.binned("stay", [2])], per_cell=True
    )
    made = tk.calibrate(priors, odds=1.02)
    for (x, y), count in np.ndenumerate(made.channel.counts):
        assert count == 0 or made.channel.inputs[x][0] == made.channel.outputs[y][0]
    published = tk.release(TABLE, made)
    assert set(published.columns) == {"stay:2", "ward"}
    assert published["stay:2"].tolist() == np.where(TABLE["stay"] < 2, "below 2", "from 2").tolist()


def test_other_queries_and_bands_have_no_cells_of_their_own():
    with pytest.raises(InputError, match="per_cell is for a Row"):
        tk.fit_priors(TABLE, secret="diagnosis", query=tk.Raw("stay"), known=["sex"], per_cell=True)
    with pytest.raises(InputError, match="each of `known` must be a column"):
        tk.fit_priors(TABLE, secret="diagnosis", query=tk.Row("ward"), known=[2], per_cell=True)
    by_hand = [{"a": tk.Finite(["x", "y"], [1, 2]), "b": tk.Finite(["x", "y"], [2, 1])}]
    with pytest.raises(MechanismError, match="'band' is for"):
        tk.calibrate(by_hand, odds=2, cells=True, assurance="band")
    shared = [{"a": tk.Finite(["x", "y"], [1, 2]), "b": tk.Finite(["x", "y"], [2, 1])}] * 2
    with pytest.raises(InputError, match="row in common"):
        tk.calibrate(shared, odds=2, cells=True)
    with pytest.raises(InputError, match="True or False"):
        Optimal(cells=1)
