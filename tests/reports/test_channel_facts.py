"""Facts about finite channels, against the channel itself, person by person."""

import json
import math
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.channels import InsecureSeededBits
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.queries import Cells, PrivateCounts
from takifugu.reports import words
from takifugu.reports import words as common_words
from takifugu.reports.channel_facts import STRONGER, ChannelFacts, column_facts
from takifugu.reports.charts import coarsened
from takifugu.reports.common import pair_losses
from takifugu.reports.facts import facts_of

NUMBERS = {"a": tk.Finite([1, 2, 3, 4], [40, 30, 20, 10]), "b": tk.Finite([1, 2, 3, 4], [5, 10, 15, 20])}
LABELS = {"a": tk.Finite(["x", "y", "z"], [6, 3, 1]), "b": tk.Finite(["x", "y", "z"], [1, 3, 6])}
ROWS = {
    "a": tk.Finite([(1, "x"), (2, "x"), (1, "y"), (2, "y")], [8, 4, 2, 1]),
    "b": tk.Finite([(1, "x"), (2, "x"), (1, "y"), (2, "y")], [1, 3, 3, 8]),
}


def random_rows(seed, people=200):
    """A channel between rows of two columns, and how many people have each row."""
    rng = np.random.default_rng(seed)
    rows = [(int(n), label) for n in rng.permutation(4) for label in "pqr"]
    counts = rng.multinomial(1 << 16, rng.dirichlet(np.full(12, 0.3)), size=12)
    return FiniteChannel(tuple(rows), tuple(rows), counts), rng.multinomial(people, rng.dirichlet(np.ones(12)))


@pytest.mark.parametrize("seed", range(3))
def test_columns_are_what_people_see(seed):
    """Every person and every outcome, counted one by one."""
    channel, people = random_rows(seed)
    mass = people / people.sum()
    for position, column in enumerate(column_facts(channel, mass, (mass, mass), ("n", "label"))):
        seen, changed, square, sums = Counter(), 0.0, 0.0, 0.0
        for x, true in enumerate(channel.inputs):
            for y, published in enumerate(channel.outputs):
                share = mass[x] * channel.matrix[x, y]
                seen[true[position], published[position]] += share
                changed += share * (true[position] != published[position])
                if position == 0:
                    square += share * (true[0] - published[0]) ** 2
                    sums += share * (published[0] - true[0])
        joint = column.mass[:, None] * column.matrix
        for i, true in enumerate(column.inputs):
            for j, published in enumerate(column.outputs):
                assert joint[i, j] == pytest.approx(seen[true, published], abs=1e-12)
        assert column.share_changed == pytest.approx(changed)
        assert column.matrix.sum(axis=1) == pytest.approx(1)
        if position == 0:
            assert column.inputs == (0, 1, 2, 3)
            assert column.error == pytest.approx(math.sqrt(square))
            assert column.mean_shift == pytest.approx(sums)
            x = np.repeat(column.inputs, 4), np.tile(column.outputs, 4)
            assert column.correlation == pytest.approx(np.cov(*x, aweights=joint.ravel())[0, 1] / _stds(x, joint))
        else:
            assert column.error is column.spread is column.correlation is None


def _stds(x, joint):
    return math.sqrt(math.prod(np.cov(*x, aweights=joint.ravel()).diagonal()))


@pytest.mark.parametrize(("laws", "loss"), [(NUMBERS, "square"), (LABELS, "change"), (ROWS, "columns")])
@pytest.mark.parametrize(
    "asked", [{"odds": 1.5}, {"alpha": 2, "epsilon": 0.1}, {"alpha": 2, "epsilon": 0.1, "odds": 3}]
)
def test_facts_agree_with_the_calibration(laws, loss, asked):
    result = tk.calibrate(laws, **asked)
    facts = facts_of(result, question="?")
    assert isinstance(facts, ChannelFacts)
    assert (facts.error, facts.lower_bound, facts.loss_name) == (result.error, result.lower_bound, loss)
    assert facts.loss == result.loss
    assert facts.worst_odds == max(result.channel.worst_odds(laws["a"], laws["b"]), 1.0)
    if loss == "square":
        assert facts.columns[0].error ** 2 == pytest.approx(result.error)
    if loss == "change":
        assert [facts.columns[0].share_changed, facts.share_changed] == pytest.approx([result.error] * 2)
    if loss == "columns":
        n, label = facts.columns
        assert (n.error / n.spread) ** 2 + label.share_changed == pytest.approx(result.error)
    told = facts.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    for sentence in (words.channel_answer(facts), words.cost(facts), words.best(facts), words.averages(facts)):
        assert sentence.endswith(".")
        assert "nan" not in sentence
        assert "None" not in sentence


def test_gaussian_noise_is_that_of_the_same_promise():
    facts = facts_of(tk.calibrate(NUMBERS, alpha=2, epsilon=0.1))
    points = {name: tk.Mixture(law.probabilities, law.values, np.zeros(4)) for name, law in NUMBERS.items()}
    noise = next(one for one in facts.costs if one.label == "Gaussian noise")
    assert noise.error == tk.calibrate(points, alpha=2, epsilon=0.1).theta
    assert not noise.is_weaker
    assert not noise.is_least
    assert "Gaussian noise that keeps the same guarantee" in words.gaussian(facts)


def test_no_gaussian_noise_bounds_the_odds_and_the_report_says_so():
    facts = facts_of(tk.calibrate(NUMBERS, odds=1.5))
    noise = next(one for one in facts.costs if one.label == "Gaussian noise")
    assert noise.is_weaker
    assert noise.promise.startswith("(α, ε) = (3, ")
    assert words.gaussian(facts).startswith("No Gaussian noise of any size bounds the odds")
    beside = facts_of(tk.calibrate(NUMBERS, alpha=2, epsilon=0.1, odds=4))
    assert next(one for one in beside.costs if one.label == "Gaussian noise").is_weaker


@pytest.mark.parametrize("asked", [{"odds": 1.5}, {"alpha": 2, "epsilon": 0.1}])
def test_values_replaced_at_random_just_keep_the_promise(asked):
    result = tk.calibrate(LABELS, **asked)
    cost = next(one for one in facts_of(result).costs if one.label == "Values replaced at random")
    pool = np.array([7, 6, 7]) / 20
    share = cost.changed / (1 - pool @ pool)
    losses = []
    for times in (1 - 1e-6, 1 + 1e-6):
        rows = (1 - times * share) * np.eye(3) + times * share * pool
        p, q = (law.probabilities @ rows for law in LABELS.values())
        alpha = result.alpha
        if math.isinf(alpha):
            losses.append(max(np.log(p / q).max(), np.log(q / p).max()))
        else:
            losses.append(max(np.log(np.sum(u**alpha * v ** (1 - alpha))) / (alpha - 1) for u, v in ((p, q), (q, p))))
    assert losses[1] <= result.epsilon <= losses[0]
    assert cost.changed >= facts_of(result).share_changed  # the best channel is better


def test_the_bound_names_what_was_asked_beside_the_promise():
    free, kept = (
        facts_of(tk.calibrate(NUMBERS, odds=1.5, preserve=keep), compare=False) for keep in (None, "marginal")
    )
    assert "leaves the histogram" not in words.best(free)
    assert "leaves the histogram as it is" in words.best(kept)
    assert kept.columns[0].histogram_shift < 1e-6 < free.columns[0].histogram_shift
    assert kept.gap < 1e-3


def test_sentences_add_up_to_a_hundred():
    channel, people = random_rows(5)
    mass = people / people.sum()
    for column in column_facts(channel, mass, (mass, mass), None):
        for sentence in words.sentences(column, most=3):
            numbers = [int(word) for part in sentence.split(", ")[1:] if (word := part.split()[0]).isdigit()]
            assert sum(numbers) == 100 or "all" in sentence
    four = FiniteChannel((3, 4), (3, 4), [[100, 156], [0, 256]])
    column = column_facts(four, np.array([0.5, 0.5]), (np.ones(2), np.ones(2)), None)[0]
    assert words.sentences(column, most=9) == [
        "Of 100 people with 3, 39 stay, 61 become 4.",
        "Of 100 people with 4, all stay.",
    ]


@pytest.mark.parametrize("label", [int, lambda k: f"label {k}"])
def test_large_channels_are_shown_coarsely_and_nobody_is_lost(label):
    size = 130
    values = [label(k) for k in range(size)]
    rng = np.random.default_rng(3)
    channel = FiniteChannel(tuple(values), tuple(values), rng.multinomial(1 << 12, np.ones(size) / size, size=size))
    mass = rng.dirichlet(np.ones(size))
    mass[:8] = 0
    mass /= mass.sum()
    column = column_facts(channel, mass, (mass, mass), None)[0]
    shares, rows, columns = coarsened(column)
    assert len(rows) <= 45
    assert shares.shape == (len(rows), len(columns))
    assert shares.sum(axis=1) == pytest.approx(1)


def test_every_pair_and_belief_is_listed():
    twelve = {f"s{k}": tk.Finite(range(6), np.arange(6) * k + 10) for k in range(12)}
    result = tk.calibrate(twelve, alpha=2, epsilon=0.02)
    facts = facts_of(result, compare=False)
    found = facts.pair_losses
    assert found.names == tuple(twelve)
    for i, a in enumerate(found.names):
        for j, b in enumerate(found.names):
            expected = math.nan if i == j else result.losses[a, b]
            assert found.losses[i, j] == pytest.approx(expected, nan_ok=True)
    assert np.nanmax(found.losses) == pytest.approx(facts.loss)
    chosen = tk.calibrate(twelve, alpha=2, epsilon=0.02, pairs=[("s0", "s11"), ("s1", "s2")])
    assert np.isfinite(pair_losses(chosen).losses).sum() == 4


def test_of_thirty_secrets_those_that_lose_most_are_shown():
    many = {k: tk.Finite(range(3), [10 + k, 20, 30]) for k in range(30)}
    found = facts_of(tk.calibrate(many, alpha=2, epsilon=0.01), compare=False).pair_losses
    assert len(found.names) == 20
    assert found.left_out == 10
    assert {"0", "29"} <= set(found.names)


def test_the_belief_that_binds_is_named():
    near, far = ({"a": tk.Finite([0, 1], [5, 5 + k]), "b": tk.Finite([0, 1], [5, 5 - k])} for k in (1, 4))
    result = tk.calibrate([near, far], odds=1.2)
    facts = facts_of(result)
    assert facts.belief == "belief 2 of 2"
    assert facts.beliefs[0].label == "belief 2 of 2"
    assert facts.beliefs[0].loss == pytest.approx(facts.loss)
    assert [one.loss for one in facts.beliefs] == sorted((one.loss for one in facts.beliefs), reverse=True)


def test_what_needs_no_change_says_so():
    same = {"a": tk.Finite(["x", "y"], [1, 1]), "b": tk.Finite(["x", "y"], [2, 2])}
    facts = facts_of(tk.calibrate(same, odds=2))
    assert facts.share_changed == facts.columns[0].share_changed == 0
    assert words.channel_answer(facts).startswith("Nothing needs to change")
    assert words.best(facts) is None
    assert facts.worst_odds == 1


def test_a_radius_is_told():
    facts = facts_of(tk.calibrate(LABELS, odds=3, radius=0.01), compare=False)
    assert "within a total variation of 0.01" in words.radius(facts)
    assert words.radius(facts_of(tk.calibrate(LABELS, odds=3), compare=False)) is None


def test_for_whom_the_promise_is_is_told():
    pupils = tk.datasets.load("student-por")
    priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Row("G3"))
    sample, population = (facts_of(tk.calibrate(priors, odds=3, confidence=c), compare=False) for c in (None, 0.9))
    assert "these rows’ own shares" in common_words.population(sample)
    told = common_words.population(population)
    assert "90 % confidence" in told
    assert "not a proof" in told
    assert population.error > sample.error
    # What it costs is the figure that the bound on the best channel stands beside, digit by digit.
    (cost,) = re.findall(r"It costs (\S+) in place of", told)
    assert f"which keeps it for the population: {cost}." in words.best(population)
    assert common_words.population(facts_of(tk.calibrate(LABELS, odds=3), compare=False)) is None
    assert "for every prior that near" in words.best(facts_of(tk.calibrate(priors, odds=3, radius=0.01), compare=False))
    assert "for every prior that near" not in words.best(sample)
    assert not np.any(dict(population.calibration.options)["radius"])
    assert "for these rows alone" in words.best(population)  # through bounds, for which none is proved best
    assert "saved" not in words.best(population)


def test_a_publication_tells_the_same_figures():
    from takifugu.reports.summary import told

    result = tk.calibrate(ROWS, odds=1.5)
    facts, publication = facts_of(result, compare=False), told(result)
    assert [c.to_dict() for c in publication.columns] == [c.to_dict() for c in facts.columns]
    assert publication.worst_odds == facts.worst_odds
    assert publication.adversary == facts.adversary
    guarantee, accuracy, changed, never, survives = publication.sentences
    assert guarantee.startswith("For any adversary whose beliefs are covered, posterior odds between two values of")
    assert guarantee.endswith("change by at most a factor of 1.5 (proved for the priors as given).")
    assert accuracy.startswith("Attack accuracy, at most: ")
    assert changed.startswith("Changed: column 1 about")
    assert never.startswith("Never output: ")
    assert never.startswith("Never output: none") == (publication.gone == 0)
    assert survives.startswith("What survives, on average: ")


def test_what_was_not_published_is_told_as_what_would_be():
    from takifugu.reports.summary import told

    guarantee, _, changed, never, survives = told(tk.calibrate(ROWS, odds=1.5)).lines(would=True)
    assert "would change by at most a factor of 1.5" in guarantee
    starts = ("Would be changed: ", "Would never be output: ", "What would survive, on average: ")
    for line, start in zip((changed, never, survives), starts, strict=True):
        assert line.startswith(start)


def test_values_that_are_never_output_are_named():
    from takifugu.reports.summary import told

    laws = {"a": tk.Finite(["x", "y", "rare"], [60, 39, 1]), "b": tk.Finite(["x", "y", "rare"], [40, 60, 0])}
    found = told(tk.calibrate(laws, odds=2, preserve=None))
    assert found.gone == 1
    assert found.sentences[3] == "Never output: answer rare."


def test_advice_is_never_what_cannot_be_done():
    """Two secrets are not merged, and of one column none is left out."""
    from takifugu.reports.summary import told

    one = {"a": tk.Finite([0, 1], [99, 1]), "b": tk.Finite([0, 1], [1, 99])}
    (advice,) = [line for line in told(tk.calibrate(one, odds=1.2)).details if "allow larger odds" in line]
    assert "fewer columns" not in advice
    assert "merge" not in advice


def test_why_little_is_left_of_a_column_that_is_the_secret():
    from takifugu.reports.summary import told

    same = {"a": tk.Finite([0, 1], [99, 1]), "b": tk.Finite([0, 1], [1, 99])}
    publication = told(tk.calibrate(same, odds=1.2))
    assert "(single cells say little)" in publication.sentences[2]
    sentences = publication.details
    assert any("say little. True rows nearly give the secret away" in one for one in sentences)


def test_what_is_for_these_rows_alone_says_so_beside_a_promise_for_the_population():
    query = tk.Row("G3", domain=[0, 4, 8, 12, 16, 20])
    priors = tk.fit_priors(tk.datasets.load("student-mat"), secret="schoolsup", query=query)
    for promise in ({"odds": 3.0}, {"alpha": 3.0, "epsilon": 1.0}):
        facts = facts_of(tk.calibrate(priors, **promise, confidence=0.9, preserve=None))
        others = [one for one in facts.costs if not one.is_chosen and one.label not in ("Best channel", *STRONGER)]
        assert others
        assert all(one.is_weaker and one.promise.endswith("for these rows alone") for one in others)
        assert "for these rows alone" in words.gaussian(facts)
        assert "times as much" not in words.gaussian(facts)


# What the default does not promise, and what it would cost.


def test_the_report_says_what_is_not_promised_and_what_a_guarantee_against_all_other_rows_would_cost(tmp_path):
    query = tk.Row("G3", domain=[0, 4, 8, 12, 16, 20])
    made = tk.calibrate(tk.fit_priors(tk.datasets.load("student-por"), secret="schoolsup", query=query), odds=3)
    facts = facts_of(made)
    costs = {one.label: one for one in facts.costs}
    free = tk.calibrate(query, odds=3, mechanism="data-free").channel
    law = np.array([sum(made.beliefs[0].counted[s][0][k] for s in made.pairs.secrets) for k in range(6)])
    gaps = (np.array(free.inputs)[:, None] - np.array(free.outputs)[None, :]) ** 2
    assert costs["No data at all"].error == pytest.approx(math.sqrt(law @ (free.matrix * gaps).sum(1) / law.sum()))
    assert costs["Private counts (ε = 0.2)"].error > costs["This channel"].error
    assert all(
        costs[label].promise == "odds within a factor of 3, also for an adversary who knows all other rows"
        for label in STRONGER
    )
    told = words.all_other_rows(facts)
    assert "nothing against an adversary who knows all other rows; for a table of fewer than 5,000 rows" in told
    tk.report(made, tmp_path / "report.html")
    assert told in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_what_is_proposed_follows_from_the_number_of_rows_alone():
    query, rows = tk.Row("x", domain=[0, 1]), {"s": ["a", "b"] * 2_499, "x": [0, 1, 1, 0] * 1_249 + [0, 1]}
    for more, ways in (
        (0, "one fitted to another table or to no data does"),
        (1, "one fitted to private counts"),
    ):
        table = pd.DataFrame({name: values + values[-2:] * more for name, values in rows.items()})
        made = tk.calibrate(tk.fit_priors(table, secret="s", query=query), odds=3)
        assert len(table) == 4_998 + 2 * more
        assert ways in words.stronger(made)


def test_nothing_is_said_of_channels_that_promise_it_already():
    counts = PrivateCounts.with_noise(
        Cells.of("s", ["x"], {"s": ["a", "b"], "x": [0, 1]}, None, 0.5), [[40, 20], [20, 40]], InsecureSeededBits(1)
    )
    for made in (
        tk.calibrate(counts, odds=3),
        tk.calibrate(tk.Row("x", domain=[0, 1, 2]), odds=3, mechanism="data-free"),
    ):
        assert words.all_other_rows(facts_of(made)) is None
        assert not {one.label for one in facts_of(made).costs} & set(STRONGER)


def test_no_line_of_a_summary_refutes_another():
    from takifugu.reports.summary import told

    apart = {"a": tk.Finite([0, 1, 2], [98, 1, 1]), "b": tk.Finite([0, 1, 2], [1, 98, 1])}
    publication = told(tk.calibrate(apart, odds=1.2, preserve="marginal"))
    told_of = "\n".join((*publication.sentences, *publication.details))
    assert "all 2 averages" in told_of
    assert "ittle of use" not in told_of
    assert "Preserved:" in told_of
    assert "preserve='marginal'" not in told_of  # it is


def test_a_bound_that_says_less_than_the_priors_says_so():
    alike = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(0.3, 1)}
    facts = facts_of(tk.calibrate(alike, alpha=3, epsilon=0.1))
    assert facts.adversary.guess_before < facts.calibration.guarantee.best_guess()
    sentence = words.in_guesses(facts.calibration.guarantee, facts.adversary.guess_before)
    assert "by those given, even a true value allows 56 % at most" in sentence
