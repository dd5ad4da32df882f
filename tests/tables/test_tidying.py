"""Labels that are made the same: alike in every library and file, before counting and drawing, and for the ledger."""

import json
import random
import warnings
from dataclasses import replace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from takifugu.errors import InputError, PublishedOnceError, TakifuguError
from takifugu.problems.nouns import answer_from, answer_to
from takifugu.releases.file_release import release_file
from takifugu.tables.reading import AS_READ, Reading
from takifugu.tables.table import Table, as_read, stream

LABELS = ["HIV", "hiv ", " Hiv", "Flu", "FLU", "sickle\u00a0 cell", " ", None]
READ = Reading(tidy=True, merge=["Rare=HIV, Sickle cell"])
MADE = ["rare", "rare", "rare", "flu", "flu", "rare", None, None]


def kinds(folder):
    table = pd.DataFrame({"d": LABELS, "n": range(8)})
    table.to_csv(folder / "a.csv", index=False, sep=";")
    table.to_parquet(folder / "a.parquet")
    yield table
    yield table.assign(d=table["d"].astype("category"))
    yield pl.from_pandas(table)
    yield pa.Table.from_pandas(table)
    yield folder / "a.csv"
    yield folder / "a.parquet"


def test_labels_become_the_same_in_every_library_and_file(tmp_path):
    for source in kinds(tmp_path):
        table = Table(source, READ)
        found = [None if pd.isna(one) else one for one in table.collect(table.frame)["d"]]
        assert found == MADE
        assert table.columns == ["d", "n"]  # what was read stands beside them, and is no column of the table
        assert {one.code for one in table.findings} >= {"labels-tidied", "labels-merged"}


@given(st.lists(st.text("aB \u00a0\tcÉß", max_size=6), min_size=1, max_size=8))
def test_to_do_it_twice_changes_nothing_and_keeps_what_was_read(labels):
    import narwhals as nw

    frame = nw.from_native(pl.DataFrame({"d": labels}, schema={"d": pl.String}), eager_only=True)
    reading = Reading(tidy=True, merge={"B": ["a", "c é"]})
    once = as_read(frame, reading)
    twice = as_read(once, reading)
    assert once["d"].to_list() == twice["d"].to_list()
    assert once[f"d{AS_READ}"].to_list() == twice[f"d{AS_READ}"].to_list() == labels


def test_a_label_becomes_what_it_does_whatever_stands_in_other_rows():
    alone = [Table(pl.DataFrame({"d": [one]}, schema={"d": pl.String}), READ) for one in LABELS]
    assert [table.collect(table.frame)["d"][0] for table in alone] == MADE


def test_numbers_are_left_alone_and_what_is_nowhere_is_told():
    table = Table(pl.DataFrame({"n": [1, 2], "d": ["x", "y"]}), Reading(merge={"z": ["1", "q"]}))
    assert table.collect(table.frame)["n"] == [1, 2]
    assert [one.code for one in table.findings] == ["merge-unseen"]


@pytest.mark.parametrize(
    ("merge", "why"),
    [
        ("rare=HIV", "list"),
        (["rare"], "such as"),
        (["rare="], "needs a label"),
        ({"rare": "HIV"}, "texts"),
        ({"rare": [1]}, "texts"),
        ({"a": ["x"], "b": ["x"]}, "two labels"),
        ({"a": ["x"], "b": ["a"]}, "last label"),
    ],
)
def test_merges_that_mean_nothing_are_refused(merge, why):
    with pytest.raises(InputError, match=why):
        Reading(merge=merge)


def test_both_ways_to_write_a_merge_are_the_same():
    assert Reading(merge=['rare="a, b",c']) == Reading(merge={"rare": ["a, b", "c"]})
    assert Reading(merge=["rare=a", "rare=b"]).merges == (("rare", ("a", "b")),)


def people(seed=0, count=3_000):
    import numpy as np

    rng = np.random.default_rng(seed)
    d = rng.choice(["Flu", "flu ", "Asthma", "HIV", "Sickle cell"], count, p=[0.3, 0.2, 0.3, 0.12, 0.08])
    stay = rng.integers(0, 4, count) + (d == "HIV")
    return pd.DataFrame({"d": d, "stay": stay, "no": range(count)})


ASKED = {"secret": "d", "columns": ["stay"], "confidence": None}


def published(table, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tk.publish(table, **{**ASKED, **options})


def test_a_publication_hides_the_merged_secret_and_the_calibration_remembers(tmp_path):
    made = published(people(), reading=READ)
    assert set(made.calibration.pairs.secrets) == {"flu", "asthma", "rare"}
    answer = made.calibration.answer
    assert answer_from(json.loads(json.dumps(answer_to(answer)))).spelling == answer.spelling
    assert made.compare().rows == 3_000
    made.calibration.save(tmp_path / "c.json")
    again = tk.Calibration.load(tmp_path / "c.json")
    people(1).to_csv(tmp_path / "b.csv", index=False)
    assert (
        release_file(tmp_path / "b.csv", tmp_path / "out.csv", again, utility=tk.Utility(allow_no_noise=True)).rows
        == 3_000
    )
    assert len(tk.release(people(2), again, utility=tk.Utility(allow_no_noise=True))) == 3_000
    with pytest.raises(InputError, match="opened without"):
        release_file(Table(tmp_path / "b.csv"), tmp_path / "other.csv", again, utility=tk.Utility(allow_no_noise=True))


def test_a_publication_says_that_merged_secrets_are_not_hidden_from_one_another():
    with pytest.warns(tk.DiagnosticWarning, match="were merged into 'rare', which has"):
        made = tk.publish(people(), **ASKED, reading=READ)
    (said,) = (one for one in made.findings if one.code == "secret-merged")
    assert said.level == "warning"
    assert said["rows"] == made.calibration.beliefs[0].rows["rare"]
    assert "between two values of 'd' (as merged)" in made.summary.sentences[0]
    assert "(as merged) change by at most a factor of" in tk.report(made.calibration)
    assert made.statement.content["merged"] is True
    assert "merged" in made.statement.not_promised
    assert "between two values of 'd' (as merged)" in str(made.statement)
    assert "Values of the secret that were merged into one are not hidden from one another" in str(made.statement)


@pytest.mark.parametrize(
    "reading",
    [
        Reading(tidy=True),
        Reading(merge={"flu": ["Flu"]}),
    ],
)
def test_where_only_spellings_were_made_alike_nothing_is_said_of_merging(reading):
    made = published(people(), reading=reading, confidence=None)
    assert "secret-merged" not in {one.code for one in made.findings}
    assert made.statement.content["merged"] is False
    assert "merged" not in f"{made.summary.sentences[0]} {made.statement}"


def test_a_merge_of_a_group_that_is_not_rare_is_called_one():
    table = pd.DataFrame({"d": ["a"] * 100 + ["b"] * 100 + ["c"] * 100 + ["e"] * 6, "x": [0, 1] * 153})
    priors = published_priors(table, Reading(merge={"rare": ["c", "e"]}))
    (said,) = (one for one in priors.findings if one.code == "secret-merged")
    assert (said["rows"], said["large"]) == (106, (("c", 100),))
    assert "'c' (100 rows) is not rare" in said.sentence


@pytest.mark.parametrize("rows", [19, 20, 99, 100])
def test_what_is_advised_is_not_called_a_loss(rows):
    """Groups of 20 to 99 rows were advised to be merged, and once they were, called not rare."""
    wards = ["a"] * 200 + ["b"] * 200 + ["c"] * rows + ["e"] * 6
    table = pd.DataFrame({"d": wards, "x": [0, 1] * 200 + [0] * (rows + 6)})
    merged = published_priors(table, Reading(merge={"rare": ["c", "e"]}))
    (said,) = (one for one in merged.findings if one.code == "secret-merged")
    (rare,) = (one for one in tk.inspect(table, "d").findings if one.code == "rare-secrets")
    assert bool(said["large"]) is (rows >= 100)
    assert (rare["merge"] == ("e", "c")) is (rows < 100)


@pytest.mark.parametrize(("rows", "is_advised"), [(60, True), (281, False)])
def test_merging_is_advised_of_rare_secrets_alone_with_what_it_costs(rows, is_advised):
    table = pd.DataFrame({"d": ["a"] * 1_000 + ["b"] * 1_000 + ["c"] * rows, "x": ([0, 1] * 1_200)[: 2_000 + rows]})
    said = published(table, columns=["x"], confidence=None).summary._remedies
    assert ("merge rare secrets" in said) == ("merged ones is then not hidden" in said) == is_advised


def published_priors(table, reading):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tk.fit_priors(table, secret="d", query=tk.Row("x"), reading=reading)


def test_merged_labels_can_be_published_as_a_column():
    made = published(people(), columns=["d"], secret="stay", reading=READ)
    assert set(made.table["d"]) <= {"flu", "asthma", "rare"}
    assert list(made.table.columns) == ["d"]


@pytest.mark.parametrize("first", [Reading(), READ, Reading(merge={"a": ["Flu", "flu "], "b": ["Asthma", "HIV"]})])
@pytest.mark.parametrize("as_file", [False, True])
def test_who_merges_in_another_way_is_not_taken_for_somebody_else(first, as_file, tmp_path):
    second = Reading(tidy=True, merge={"c": ["asthma", "hiv", "sickle cell"]})
    table = people(3)
    if as_file:
        table.to_csv(tmp_path / "people.csv", index=False)
        table = tmp_path / "people.csv"
    published(table, reading=first, ledger=tmp_path / "one.ledger")
    for only_new in (False, True):
        ledger = tk.Ledger(tmp_path / "one.ledger", only_new=only_new)
        with pytest.raises(TakifuguError) as refusal:
            published(table, reading=second, ledger=ledger)
        assert isinstance(refusal.value, PublishedOnceError) or "no rows" in str(refusal.value).lower() or only_new


def test_an_id_is_the_same_person_whatever_its_capitals_were_read_as(tmp_path):
    table = people(4).assign(no=[f"ID{k}" for k in range(3_000)])
    published(table, ledger=tmp_path / "ids.ledger", id="no")
    with pytest.raises(PublishedOnceError):
        published(table, ledger=tmp_path / "ids.ledger", id="no", reading=READ)


def test_the_stream_has_what_was_read_beside_its_columns(tmp_path):
    people(5).to_csv(tmp_path / "p.csv", index=False)
    (rows,) = stream(Table(tmp_path / "p.csv", READ), ["stay", "d"])
    assert rows.columns == ["stay", "d", f"d{AS_READ}"]


# What people type may be spelled in any way that tidying makes the same.


def spelled(seed):
    """The same words in other capitals and blanks."""
    marks = random.Random(seed)

    def other(word):
        letters = "".join(marks.choice((one.upper(), one.lower())) for one in word)
        return (
            f"{' ' * marks.randrange(2)}{letters.replace(' ', ' ' * marks.randrange(1, 3))}{' ' * marks.randrange(2)}"
        )

    return other


def in_any_spelling():
    wards = ["North Wing", "NORTH wing", "South Wing", "south wing ", "East"]
    return pd.DataFrame(
        {
            "d": [("Flu", "flu ", "Cold", "Rare One", "HIV")[k % 5] for k in range(300)],
            "ward": [wards[(k + (k % 7 == 0)) % 5] for k in range(300)],
        }
    )


@pytest.mark.parametrize("seed", range(4))
def test_lists_secrets_and_pairs_are_known_in_any_spelling(seed):
    as_typed = spelled(seed)
    reading = Reading(tidy=True, merge={as_typed("rare"): [as_typed("rare one"), as_typed("hiv")]})
    rest = as_typed("elsewhere")
    domain = [as_typed("north wing"), as_typed("south wing"), "south wing", rest]
    query = tk.Row("ward", domain=domain, other=rest)
    secrets = [as_typed("flu"), as_typed("HIV")]
    priors = tk.fit_priors(in_any_spelling(), secret="d", query=query, secrets=secrets, reading=reading)
    assert list(priors) == ["flu", "rare"]
    assert priors.answer.domain[0].values == ("north wing", "south wing", "elsewhere")
    assert priors.answer.domain[0].other == "elsewhere"
    asked = {"secret": "d", "columns": ["ward"], "domain": domain, "odds": 2}
    asked |= {"confidence": None, "utility": tk.Utility(allow_no_noise=True)}

    def leaving(out):
        return replace(reading, leave_out=out, other=rest)

    left = tk.publish(in_any_spelling(), **asked, reading=leaving([as_typed("Rare One")]))
    assert set(left.calibration.pairs.secrets) == {"flu", "cold"}
    pairs = [(as_typed("Flu"), as_typed("Cold"))]
    pair = tk.publish(in_any_spelling(), **asked, pairs=pairs, reading=leaving("others"))
    assert list(map(set, pair.calibration.pairs)) == [{"flu", "cold"}]
    counts = tk.private_counts(
        in_any_spelling(),
        secret="d",
        columns=["ward"],
        domain={"ward": domain, "d": [as_typed("flu"), as_typed("cold"), as_typed("hiv")]},
        other=rest,
        epsilon=1,
        reading=reading,
    )
    assert list(counts) == ["flu", "cold", "rare"]


def test_without_tidying_a_list_is_what_it_says():
    query = tk.Row("ward", domain=["north wing", "South Wing"])
    with pytest.raises(InputError, match="not in its domain"):
        tk.fit_priors(in_any_spelling(), secret="d", query=query)


def test_of_new_rows_alone_those_are_counted_that_were_merged(tmp_path):
    """A dry run with --only-new counted the merged rows of the whole file, most of which had been published before."""
    old = pd.DataFrame({"nr": range(400), "d": ["a", "b", "c", "E"] * 100, "x": [0, 1] * 200})
    new = pd.DataFrame({"nr": range(400, 600), "d": ["a"] * 95 + ["b"] * 95 + ["C"] * 7 + ["e"] * 3, "x": [0, 1] * 100})
    path = tmp_path / "people.csv"
    asked = {"secret": "d", "columns": ["x"], "confidence": None, "utility": tk.Utility(allow_no_noise=True)}
    asked |= {"id": "nr", "reading": Reading(tidy=True, merge={"rare": ["c", "e"]})}
    old.to_csv(path, index=False)
    first = tk.publish(path, **asked, ledger=tmp_path / "people.ledger")
    pd.concat([old, new]).to_csv(path, index=False)
    second = tk.publish(path, **asked, ledger=tk.Ledger(tmp_path / "people.ledger", only_new=True))
    merged = [[f["cells"] for f in made.findings if f.code == "labels-merged"] for made in (first, second)]
    assert merged == [[200], [10]]
    assert len(second.table) == 200
