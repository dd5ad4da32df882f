"""Private counts (proofs/private-counts.md): the noise, the theorem in fractions, and that nothing else sees rows."""

import json
import math
import random
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from takifugu.channels import InsecureSeededBits, discrete_laplace
from takifugu.laws import noisy_draws, without_noise
from takifugu.problems import channel_guarantee, total_guarantee
from takifugu.queries import Cells, PrivateCounts
from takifugu.reports import told
from takifugu.tables import Table

LISTS = {"ill": ["no", "yes"], "x": [0, 1, 2]}
CELLS = Cells.of("ill", ["x"], LISTS, None, 0.5)


def table(counts):
    rows = [(s, x) for s, row in zip(LISTS["ill"], counts, strict=True) for x, n in enumerate(row) for _ in range(n)]
    return pd.DataFrame(rows, columns=["ill", "x"])


def drawn(counts=((50, 30, 20), (20, 25, 40)), seed=1, cells=CELLS):
    return PrivateCounts.with_noise(cells, counts, InsecureSeededBits(seed))


# The noise.


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(0.1), Fraction(3, 2)])
def test_noise_is_drawn_from_the_discrete_laplace_law(rate):
    count = 5_000
    found = Counter(discrete_laplace(rate, count, InsecureSeededBits(3)))
    r = math.exp(-rate)
    for z in range(-6, 7):
        p = (1 - r) / (1 + r) * r ** abs(z)
        assert abs(found[z] - count * p) < 5 * math.sqrt(count * p) + 5


def test_the_sampler_needs_whole_numbers_alone_and_refuses_a_rate_of_nothing():
    with pytest.raises(tk.InputError, match="rate"):
        discrete_laplace(Fraction(0), 1, InsecureSeededBits(0))


# The theorem, in fractions: r stands for e^(−ε_f/2).


def noise(z, r):
    return (1 - r) / (1 + r) * r ** abs(z)


def likelihood(noisy, counts, r):
    return math.prod((noise(a - b, r) for a, b in zip(noisy, counts, strict=True)), start=Fraction(1))


def kept(channel, beliefs, most):
    """A channel that keeps these odds for these beliefs: as much of a constant one mixed in as that takes."""
    size = len(channel[0])
    for share in (Fraction(k, 8) for k in range(9)):
        mixed = [[(1 - share) * k + share / size for k in row] for row in channel]
        out = [[sum(b * row[y] for b, row in zip(law, mixed, strict=True)) for y in range(size)] for law in beliefs]
        if all(p <= most * q and q <= most * p for p, q in zip(*out, strict=True)):
            return mixed
    raise AssertionError


def others_law(others, channel):
    """How likely each multiset of what the other rows become is."""
    law = {(): Fraction(1)}
    for _, x in others:
        new = {}
        for seen, p in law.items():
            for y, k in enumerate(channel[x]):
                key = tuple(sorted((*seen, y)))
                new[key] = new.get(key, 0) + p * k
        law = new
    return law


def joint(secret, noisy, others, belief, channel, r, size):
    """P(Ñ = noisy, the shuffled table) of every table, given the secret of the last person: all that is published."""
    known = others_law(others, channel)
    found = {}
    for x, p in enumerate(belief):
        counts = Counter([*others, (secret, x)])
        seen = likelihood(noisy, [counts[s, v] for s in range(2) for v in range(size)], r)
        for table_of_others, q in known.items():
            for y, k in enumerate(channel[x]):
                key = tuple(sorted((*table_of_others, y)))
                found[key] = found.get(key, 0) + p * seen * q * k
    return found


@pytest.mark.parametrize("epsilon", [0.2, 0.4, 1.0])
def test_the_odds_of_counts_channel_and_table_together_never_exceed_e_epsilon_f_times_f(epsilon):
    r = Fraction(math.exp(-epsilon / 2)).limit_denominator(200)
    most, rng, largest, tables = Fraction(2), random.Random(int(10 * epsilon)), Fraction(0), 0
    while tables < 334:  # of each epsilon: a thousand in all
        size = rng.choice([2, 3])
        weights = [[rng.randint(0, 5) for _ in range(size)] for _ in range(2)]
        beliefs = [[Fraction(w, sum(row)) for w in row] for row in weights if sum(row)]
        if len(beliefs) < 2:
            continue
        tables += 1
        others = [(rng.randrange(2), rng.randrange(size)) for _ in range(rng.randrange(4))]
        for _ in range(3):
            counts = Counter(others)
            noisy = [counts[s, v] + rng.randint(-1, 2) for s in range(2) for v in range(size)]
            fitted = random.Random(repr(noisy))  # a channel may be any function of the counts
            rows = [[Fraction(fitted.randint(0, 4)) for _ in range(size)] for _ in range(size)]
            channel = [[k / sum(row) for k in row] if sum(row) else [Fraction(1, size)] * size for row in rows]
            channel = kept(channel, beliefs, most)
            first, second = (joint(s, noisy, others, beliefs[s], channel, r, size) for s in range(2))
            for key in first:
                if first[key] or second[key]:
                    assert first[key] <= most / r**2 * second[key]
                    assert second[key] <= most / r**2 * first[key]
                    largest = max(largest, first[key] / second[key])
    assert largest > 1 / r**2  # more than the counts alone can tell


@pytest.mark.parametrize(("epsilon", "factor"), [(0.2, 1.2214), (0.4, 1.4918), (1.0, 2.7183)])
def test_the_factor_is_attained(epsilon, factor):
    r = Fraction(math.exp(-epsilon / 2))
    two = [[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]]  # odds of 2, exactly
    at = {s: joint(s, [1, 0, 0, 0], [], [[1, 0], [0, 1]][s], two, r, 2) for s in range(2)}
    assert at[0][0,] / at[1][0,] == 2 / r**2
    assert round(float(1 / r**2), 4) == factor == round(math.exp(epsilon), 4)


def test_the_loss_of_a_finite_order_is_within_the_stated_one():
    """Two values and nobody else; counts far out are left out, which only lessens what is added up."""
    epsilon, alpha, r = 0.8, 2.5, math.exp(-0.4)
    beliefs = np.array([[0.8, 0.2], [0.3, 0.7]])
    channel = np.array([[0.7, 0.3], [0.4, 0.6]])

    def loss(p, q):
        return math.log(float((p**alpha * q ** (1 - alpha)).sum())) / (alpha - 1)

    alone, reach = loss(*beliefs @ channel), np.arange(-9, 11)
    single = {n: (1 - r) / (1 + r) * r ** np.abs(reach - n) for n in (0, 1)}
    both = []
    for s in range(2):
        seen = [[single[int(k == 2 * s + x)] for k in range(4)] for x in range(2)]
        counts = [np.einsum("a,b,c,d->abcd", *one).ravel() for one in seen]
        both.append(np.concatenate([beliefs[s] * channel[:, y] @ counts for y in range(2)]))
    assert alone < loss(*both) <= alone + epsilon * (2 * alpha - 1) / (2 * (alpha - 1))


# From a total to the channel's guarantee, and back.


@given(factor=st.floats(1.3, 1e6), private=st.floats(1e-6, 0.25))
def test_the_channels_factor_is_rounded_down_and_the_total_up(factor, private):
    inner = channel_guarantee(tk.Odds(factor), private)
    with mpmath.workdps(60):
        assert mpmath.mpf(inner.factor) * mpmath.exp(mpmath.mpf(private)) <= mpmath.mpf(factor)
        total = total_guarantee(inner, private)
        assert mpmath.mpf(inner.factor) * mpmath.exp(mpmath.mpf(private)) <= mpmath.mpf(total.factor) <= factor
    assert inner.factor == pytest.approx(factor * math.exp(-private), rel=1e-14)


@given(alpha=st.floats(1.1, 50), epsilon=st.floats(3, 20), private=st.floats(1e-6, 0.4))
def test_so_is_the_budget_of_a_finite_order(alpha, epsilon, private):
    inner = channel_guarantee(tk.Renyi(alpha, epsilon), private)
    added = Fraction(private) * (2 * Fraction(alpha) - 1) / (2 * (Fraction(alpha) - 1))
    assert Fraction(inner.epsilon) + added <= Fraction(epsilon)
    assert Fraction(math.nextafter(inner.epsilon, math.inf)) + added > Fraction(epsilon)


def test_a_conjunction_is_changed_part_by_part_and_what_is_not_known_is_refused():
    inner = channel_guarantee(tk.Renyi(3, 2) & tk.Odds(5), 0.2)
    assert inner == channel_guarantee(tk.Renyi(3, 2), 0.2) & channel_guarantee(tk.Odds(5), 0.2)
    with pytest.raises(tk.InputError, match="known for odds"):
        channel_guarantee(tk.Approximate(1, 1e-5), 0.2)
    with pytest.raises(tk.InputError, match=r"more than odds of 1\.221"):
        channel_guarantee(tk.Odds(1.2), 0.2)


# The counts themselves.


def test_every_combination_of_the_lists_is_counted_whether_it_occurs_or_not():
    cells = Cells.of("ill", ["x", "w"], LISTS | {"w": ["A", "B"]}, None, 1)
    rows = pd.DataFrame({"ill": ["no", "yes", "yes"], "x": [0, 2.4, 9], "w": ["A", "B", "B"]})
    assert cells.count(Table(rows, None)) == [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 2]]  # numbers go to the nearest


def test_a_file_of_counts_is_read_back_to_the_last_bit(tmp_path):
    counts = drawn()
    counts.save(tmp_path / "counts.json")
    again = PrivateCounts.load(tmp_path / "counts.json")
    assert again == counts
    assert again.noisy == counts.noisy
    assert again.sha256 == counts.sha256
    assert (again.total, again.epsilon, again.answer) == (185, 0.5, counts.answer)
    assert tk.calibrate(again, odds=3).channel == tk.calibrate(counts, odds=3).channel


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"secrets": ["no", "ill"]}, "sha256"),
        ({"rows": 1.5}, "whole number"),
        ({"counts": [[1, 2, 3]]}, "2 to 2"),
        ({"counts": [[1, 2, 0.5], [1, 2, 3]]}, "whole numbers"),
        ({"version": 2}, "version"),
        ({"more": 1}, "does not belong"),
    ],
)
def test_a_file_that_was_changed_is_refused(tmp_path, change, told):
    (tmp_path / "counts.json").write_text(json.dumps(drawn().to_dict() | change))
    with pytest.raises(tk.InputError, match=told):
        PrivateCounts.load(tmp_path / "counts.json")


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        ({"ill": ["no", "yes", None], "x": [1, 1, 1]}, "ill"),
        ({"ill": ["no", "yes", "perhaps"], "x": [1, 1, 1]}, "ill"),
        ({"ill": ["no", "yes", "yes"], "x": [1, 1, None]}, "x"),
    ],
)
def test_a_row_that_is_not_on_the_lists_is_refused_and_not_counted(rows, column):
    with pytest.raises(tk.InputError, match=f"no value in '{column}'") as error:
        tk.private_counts(pd.DataFrame(rows), secret="ill", columns=["x"], domain=LISTS, epsilon=1)
    assert "1 of" not in str(error.value)


@pytest.mark.parametrize(
    "asked",
    [
        {"domain": {"x": [0, 1]}},
        {"epsilon": 0},
        {"epsilon": math.inf},
        {"columns": ["ill"]},
        {"domain": {"ill": ["no"], "x": [0, 1]}},
    ],
)
def test_what_is_no_question_is_refused(asked):
    given = {"secret": "ill", "columns": ["x"], "domain": LISTS, "epsilon": 1} | asked
    with pytest.raises(tk.InputError):
        tk.private_counts(table([[3, 3, 3], [3, 3, 3]]), **given)


def test_they_answer_the_question_that_was_counted_and_no_other():
    counts = drawn()
    assert tk.fit_priors(counts) is counts
    assert tk.fit_priors(counts, secret="ill", query=tk.Row("x")) is counts
    for asked in ({"secret": "x"}, {"query": tk.Row("y")}, {"known": ["x"]}):
        with pytest.raises(tk.InputError):
            tk.fit_priors(counts, **asked)
    with pytest.raises(tk.InputError, match="stand alone"):
        tk.calibrate(counts, odds=3, adversary=tk.Adversary(beliefs={"last year": drawn(seed=2)}))
    with pytest.raises(tk.InputError, match="confidence alone"):
        tk.calibrate(counts, odds=3, assurance="band")


# What undoes the noise.


@given(st.lists(st.integers(-30, 60), min_size=1, max_size=9))
def test_the_projection_is_the_nearest_of_all_that_sum_to_the_noisy_total(noisy):
    found = without_noise(noisy)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(max(sum(noisy), 1))
    shift = np.unique(np.round((np.array(noisy) - found)[found > 1e-9], 9))
    assert len(shift) == 1
    assert (np.array(noisy) - shift[0] <= found + 1e-6).all()


def test_draws_from_noisy_counts_are_as_wide_as_noise_and_sampling_together():
    noisy, rate = np.array([400, 300, 300]), 0.1
    laws, sample = noisy_draws(noisy, np.full(3, 1 / 3), rate, 4_000, [7])
    std = math.sqrt(2 * math.exp(-rate)) / (1 - math.exp(-rate))
    of_noise = std / 1_000 * math.sqrt(2 / 3)  # projected to the total
    assert sample.std(axis=0) == pytest.approx(np.full(3, of_noise), rel=0.06)
    assert laws.std(axis=0) ** 2 == pytest.approx(of_noise**2 + np.array([0.24, 0.21, 0.21]) / 1_000, rel=0.12)


def test_confidence_covers_the_sample_as_well_and_is_seen_again_by_verify(tmp_path):
    rng = np.random.default_rng(4)
    counts = [rng.multinomial(2_000, [0.5, 0.3, 0.2]).tolist(), rng.multinomial(2_000, [0.2, 0.3, 0.5]).tolist()]
    made = tk.calibrate(drawn(counts), odds=3, confidence=0.95)
    assert made.guarantee == channel_guarantee(tk.Odds(3), 0.5)
    assert made.total == tk.Odds(3)
    sample = made.channel.through(np.array(counts) / 2_000)
    assert max((sample[0] / sample[1]).max(), (sample[1] / sample[0]).max()) <= made.guarantee.factor
    certificate = tk.certify(made)
    certificate.published().save(tmp_path / "published-certificate.json")
    again = tk.verify(tmp_path / "published-certificate.json")
    assert "every other row" in again.claim
    assert "factor of 3" in again.claim
    content = json.loads((tmp_path / "published-certificate.json").read_text())
    content["calibration"]["problem"]["answer"]["private"] = 0.1  # less noise than was drawn: another total
    (tmp_path / "changed.json").write_text(json.dumps(content))
    with pytest.raises(tk.TakifuguError):
        tk.verify(tmp_path / "changed.json")


def test_a_certificate_of_ones_own_rows_is_not_for_everybody():
    priors = tk.fit_priors(table([[50, 30, 20], [20, 30, 50]]), secret="ill", query=tk.Row("x", domain=LISTS["x"]))
    with pytest.raises(tk.InputError, match="auditor"):
        tk.certify(tk.calibrate(priors, odds=3)).published()


# Nothing else sees the rows.


def refusal(asked):
    """What is said where something is refused."""
    with pytest.raises(tk.TakifuguError) as error:
        asked()
    return str(error.value)


def remembered(counts, rows, folder):
    """Everything that follows from private counts and may be seen, of rows that are published through them."""
    made = tk.calibrate(counts, odds=3, confidence=0.95)
    certificate = tk.certify(made).published().to_dict()
    certificate.pop("nonce"), certificate.pop("sha256")
    tk.report(made, folder / "report.html")
    key = folder / "key.csv"
    rows.to_csv(folder / "rows.csv", index=False)
    with pytest.warns(UserWarning, match="seed"):
        left = tk.release(rows, made, insecure_seed=5)
    with pytest.warns(UserWarning, match="seed"):
        tk.release_file(folder / "rows.csv", folder / "out.csv", made, insecure_seed=5, positions=key)
    refused = [
        refusal(lambda: tk.calibrate(counts, odds=1.6)),
        refusal(lambda: tk.calibrate(counts, odds=3, assurance="band", confidence=0.95)),
        refusal(lambda: tk.release(rows, made, order="keep")),
        refusal(lambda: tk.release(rows, made, keep=["x"])),
        refusal(lambda: tk.release(rows.assign(x=None), made)),
        refusal(lambda: tk.release(rows.drop(columns="ill"), made)),
    ]
    return {
        "counts": json.dumps(counts.to_dict()),
        "channel": json.dumps(made.essentials()),
        "certificate": json.dumps(certificate),
        "another calibration": json.dumps(tk.calibrate(counts, error=0.9).essentials()),
        "budgets": tk.sweep(counts, odds=[2, 4]).drop(columns="seconds", errors="ignore").to_csv(),
        "words": [str(made), *map(str, made.findings), *told(made).sentences],
        "report": (folder / "report.html").read_bytes(),
        "order": key.read_bytes(),
        "number of rows": len(left),
        "refusals": refused,
    }


def test_what_follows_is_byte_for_byte_the_same_where_the_noisy_counts_are(monkeypatch, tmp_path):
    """The counts of two tables are as different as they may be; only what was drawn of each row is left out here."""
    wanted = [[41, 28, 20], [22, 19, 45]]
    seen = []
    for number, exact in enumerate([[[40, 30, 20], [20, 20, 45]], [[0, 0, 175], [0, 0, 0]]]):
        away = [a - b for row, other in zip(wanted, exact, strict=True) for a, b in zip(row, other, strict=True)]
        monkeypatch.setattr("takifugu.queries.private_counts.discrete_laplace", lambda rate, n, bits, z=away: z)
        rows, folder = table(exact), tmp_path / str(number)
        folder.mkdir()
        found = tk.private_counts(rows, secret="ill", columns=["x"], domain=LISTS, epsilon=0.5)
        assert list(found.noisy.values()) == [tuple(row) for row in wanted]
        seen.append(remembered(found, rows, folder))
    for what, first in seen[0].items():
        assert first == seen[1][what], what


def test_a_release_is_refused_for_no_row_that_is_on_the_lists():
    made = tk.calibrate(drawn([[60, 30, 10], [10, 30, 60]]), odds=3)
    same = table([[0, 0, 40], [40, 0, 0]])  # as unlike the counts as can be
    assert len(tk.release(same, made)) == 80
    with pytest.raises(tk.InputError, match="shuffled"):
        tk.release(same, made, order="keep")


# The ledger.


def test_a_ledger_lets_counts_of_people_be_drawn_once_and_refits_be_free(tmp_path):
    rows, ledger = table([[40, 30, 10], [10, 20, 40]]), tmp_path / "ledger"
    rows["id"] = range(len(rows))
    asked = {"secret": "ill", "columns": ["x"], "domain": LISTS, "epsilon": 0.5, "id": "id", "ledger": ledger}
    counts = tk.private_counts(rows, **asked)
    with pytest.raises(tk.PublishedOnceError, match="once more"):
        tk.private_counts(rows.sample(frac=1, random_state=1).iloc[:5], **asked)
    plain = tk.calibrate(tk.fit_priors(rows, secret="ill", query=tk.Row("x", domain=LISTS["x"])), odds=3)
    with pytest.raises(tk.CompositionError, match="not made of private counts"):
        tk.release(rows, plain, ledger=ledger)
    tk.calibrate(counts, odds=4)
    as_they_are = {"ledger": ledger, "utility": tk.Utility(allow_no_noise=True)}  # counts are drawn: some ask for none
    assert len(tk.release(rows, tk.calibrate(counts, odds=3), **as_they_are)) == 150
    with pytest.raises(tk.PublishedOnceError):
        tk.release(rows, tk.calibrate(counts, odds=4), **as_they_are)
    others = table([[3, 3, 2], [2, 2, 3]]).assign(id=range(1_000, 1_015))  # new people, through the same channel
    assert len(tk.release(others, tk.calibrate(counts, odds=3), **as_they_are)) == 15
    with pytest.raises(tk.PublishedOnceError):
        tk.private_counts(others, **asked)


def test_people_with_several_rows_are_refused():
    rows = table([[40, 30, 10], [10, 20, 40]]).assign(id=[0, 0, *range(1, 149)])
    with pytest.raises(tk.InputError, match="several rows"):
        tk.private_counts(rows, secret="ill", columns=["x"], domain=LISTS, epsilon=1, id="id")


def test_rows_whose_counts_cost_more_than_a_total_has_room_for_are_refused(tmp_path):
    """Counts of these people with ε = 1, and a channel of other people's counts with ε = 0.5: e·F, and not e^0.5·F."""
    rows, ledger = table([[40, 30, 10], [10, 20, 40]]).assign(id=range(150)), tmp_path / "ledger"
    asked = {"secret": "ill", "columns": ["x"], "domain": LISTS, "id": "id", "ledger": ledger}
    tk.private_counts(rows, epsilon=1, **asked)
    with pytest.raises(tk.CompositionError, match=r"epsilon = 1.*room for 0\.5"):
        tk.release(rows, tk.calibrate(drawn(), odds=3), ledger=ledger)
    dearer = Cells.of("ill", ["x"], LISTS, None, 1.5)
    assert len(tk.release(rows, tk.calibrate(drawn(cells=dearer), odds=6), ledger=ledger)) == 150


# What leaves beside the rows.


def test_nothing_is_kept_beside_rows_that_go_with_private_counts():
    rows = table([[6, 3, 1], [1, 3, 6]]).assign(ward=0)
    with pytest.raises(tk.InputError, match="kept"):
        tk.release(rows, tk.calibrate(drawn(), odds=3), keep=["ward"])


def test_no_row_is_left_out_for_want_of_a_value_even_where_that_was_asked_for(tmp_path):
    rows, made = table([[6, 3, 1], [1, 3, 6]]).astype({"x": float}), tk.calibrate(drawn(), odds=3)
    rows.loc[3, "x"] = None
    with pytest.raises(tk.InputError):
        tk.release(rows, made, reading=tk.Reading(missing="drop"))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(tk.InputError):
        tk.release_file(tmp_path / "rows.csv", tmp_path / "out.csv", made, reading=tk.Reading(missing="drop"))


def test_the_cells_of_a_file_are_read_as_they_were_counted(tmp_path):
    (tmp_path / "rows.csv").write_text("ill;x\n" + "no;0,9\nyes;1,9\n" * 30)
    reading = tk.Reading(sep=";", decimal=",")
    asked = {"secret": "ill", "columns": ["x"], "domain": LISTS, "epsilon": 2}
    counts = tk.private_counts(tmp_path / "rows.csv", reading=reading, **asked)
    counts.save(tmp_path / "counts.json")
    again = PrivateCounts.load(tmp_path / "counts.json")
    assert again.answer.spelling == reading.spelling
    assert tk.private_counts(tmp_path / "rows.csv", **asked).answer.spelling is None  # the file's own way is not told
    assert tk.release_file(tmp_path / "rows.csv", tmp_path / "out.csv", tk.calibrate(again, odds=9)).rows == 60


def test_a_public_certificate_holds_no_diagnostic_of_ones_own_rows(tmp_path):
    rows = table([[50, 30, 20], [20, 30, 50]])
    others = tk.fit_priors(rows, secret="ill", query=tk.Row("x", domain=LISTS["x"]))
    ours = rows.assign(visit=[k // 2 for k in range(200)])  # a column that seems to name people, twice each
    made = tk.publish(
        ours, secret="ill", columns=["x"], adversary=tk.Adversary(beliefs={"last year": others}, own=False)
    )
    assert any(one.code == "several-rows" for one in made.calibration.findings)
    public = made.certificate.published()
    assert not {one.code for one in public.calibration.findings} & {"several-rows", "few-rows"}
    made.certificate.save(tmp_path / "private.json")
    public.save(tmp_path / "public.json")
    assert [(tmp_path / f"{name}.json").stat().st_mode & 0o077 for name in ("private", "public")] == [0, 0o044]
    assert tk.verify(tmp_path / "public.json").claim == made.certificate.claim


def test_the_page_states_the_total_and_for_whom():
    publication = told(tk.calibrate(drawn(), odds=3))
    assert "also one who knows all other rows" in publication.sentences[0]
    assert "by at most a factor of 3 (" in publication.sentences[0]
    sentences = " ".join(publication.details)
    assert "knows all other rows: the channel was fitted to private counts alone (epsilon = 0.5)" in sentences
    assert "stay private" not in sentences
    free = tk.calibrate(tk.Row("x", domain=LISTS["x"]), odds=3, mechanism="data-free")
    assert "fitted to no rows" in " ".join(told(free).details)


def test_of_few_rows_other_ways_are_proposed_by_their_public_number_alone():
    for total, is_few in ((4_999, True), (5_000, False)):
        for noisy in ([[900, 300, 210], [190, 410, 1_390]], [[1, 2, 3], [9_000, 9_000, 0]]):
            codes = [
                one.code for one in tk.calibrate(PrivateCounts(CELLS, noisy, total), odds=5, confidence=0.8).findings
            ]
            assert ("few-for-counts" in codes) is is_few
    assert "take the priors of another table, or a channel that needs no data" in " ".join(map(str, drawn().findings))
