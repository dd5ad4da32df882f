"""The main job in one call: what comes out, what it says, and that nothing is left behind where it fails."""

from inspect import signature

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import takifugu as tk
from takifugu._work import listening
from takifugu.calibration import calibrate
from takifugu.certificates import ChannelCertificate
from takifugu.errors import BudgetError, InputError
from takifugu.problems.diagnostics import Diagnostic
from takifugu.releases.ledger import Ledger
from takifugu.releases.ledgers_nearby import ledger_beside
from takifugu.reports.summary import preserved_within
from takifugu.tables import open as opening
from takifugu.tables.reading import Reading


def test_pupils_are_published_within_odds_of_three(tmp_path):
    pupils = tk.datasets.load("student-por")
    told = []
    with listening(lambda _: None, steps=told.append):
        made = tk.publish(
            pupils, secret="schoolsup", columns=["failures"], ledger=tmp_path / "pupils.ledger", keep=["sex"]
        )
    assert list(made.table.columns) == ["sex", "failures"]
    assert len(made.table) == len(pupils)
    assert set(made.table["failures"]) <= set(made.calibration.channel.outputs)
    assert made.table["sex"].tolist() != pupils["sex"].tolist()
    assert made.table["sex"].tolist() == pupils["sex"].iloc[made._positions].tolist()
    assert made.calibration.guarantee.most_odds == pytest.approx(3)
    assert made.calibration.evidence.level == 0.95
    assert made.calibration.channel.worst_odds(*made.calibration.beliefs[0].values()) <= 3 * (1 + 1e-9)
    assert isinstance(made.certificate, ChannelCertificate)
    assert tk.verify(made.certificate) == made.certificate
    assert made.findings == made.calibration.findings
    assert len(told) == 5
    text = str(made)
    assert "schoolsup" in text or "secret" in text
    assert made.summary.sentences
    assert "table" not in repr(made)  # what was published is not printed with it
    again = {"secret": "schoolsup", "columns": ["failures"], "ledger": tmp_path / "pupils.ledger"}
    begun = []
    for options in ({"keep": ["sex"]}, {}):  # before the work, whatever it would have been
        with (
            listening(begun.append),
            pytest.raises(
                BudgetError,
                match=r"published once: two draws of it reveal more than one|rows that were published before",
            ) as refused,
        ):
            tk.publish(pupils, **again, **options)
        assert isinstance(refused.value, tk.CompositionError)  # which another answer was refused with after the work
    assert set(begun) == {"Looking whether these records were published before"}
    assert Ledger(tmp_path / "pupils.ledger").account().releases == 1


def people(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    second = rng.random(rows) < 0.45
    return pd.DataFrame(
        {
            "diagnosis": np.where(second, "flu", "none"),
            "stay": rng.integers(1, 6, rows) + second,
            "ward": np.where(rng.random(rows) < np.where(second, 0.7, 0.4), "A", "B"),
            "name": [f"n{k}" for k in range(rows)],
        }
    )


TABLE = people()
ASKED = {"secret": "diagnosis", "columns": ["stay", "ward"], "confidence": 0.8}
SAMPLE = ASKED | {"confidence": None}  # where the promise is not what is looked at: it costs far less


def messy(path):
    lines = ["diagnosis;stay;ward;name"]
    lines += [f"{d};{s},0;{w};{n}" for d, s, w, n in TABLE.itertuples(index=False)]
    lines += ["flu;;A;Zorngiebel", "none;3,0;NA;Zorngiebel", ";2,0;A;Zorngiebel"]
    path.write_bytes("\n".join(lines).encode("utf-16"))
    return path


def test_a_messy_file_is_published_without_its_holes(tmp_path):
    made = tk.publish(messy(tmp_path / "people.csv"), **SAMPLE)
    assert made.table.column_names == ["stay", "ward"]
    assert made.table.num_rows == 200
    assert made.table.schema.field("stay").type == pa.int64()
    sentences = [str(finding) for finding in made.findings]
    assert any("missing" in s or "lack" in s or "no value" in s for s in sentences), sentences
    assert not any("Zorngiebel" in s for s in sentences)
    with pytest.raises(InputError, match="missing"):
        tk.publish(tmp_path / "people.csv", **SAMPLE, reading=Reading(missing="refuse"))


def test_a_file_is_looked_through_once_and_only_for_a_promise(tmp_path, monkeypatch):
    source, times = messy(tmp_path / "people.csv"), []
    opened = opening._file
    monkeypatch.setattr(opening, "_file", lambda *given: times.append(given) or opened(*given))
    with pytest.raises(InputError):
        tk.publish(source, **ASKED, odds=0.5)
    assert times == []
    tk.publish(source, **(ASKED | {"confidence": None, "columns": ["stay"]}), keep=["ward"])
    assert len(times) == 1


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_tables_come_back_in_their_own_library(make):
    table = make(TABLE)
    made = tk.publish(table, **SAMPLE)
    assert type(made.table) is type(table)
    assert len(made.table) == len(TABLE)


def kept_of(made):
    return dict(made.calibration.options)["keep"]


def test_the_joint_distribution_is_preserved_by_default():
    asked = {**SAMPLE, "columns": ["stay", "ward"], "odds": 2}
    made, free = tk.publish(TABLE, **asked), tk.publish(TABLE, **asked, utility=tk.Utility(preserve=None))
    assert (kept_of(made), kept_of(free)) == ("marginal", None)
    assert preserved_within(made.calibration) <= 1e-6
    assert preserved_within(free.calibration) > 0.01
    assert free.calibration.error <= made.calibration.error <= 2 * free.calibration.error
    preserved = [line for line in made.summary.details if line.startswith("Preserved")]
    assert len(preserved) == 1
    assert "total variation" in preserved[0]
    assert not any(line.startswith("Preserved") for line in free.summary.details)
    assert not made.summary.never_output
    survives = [one for one in made.compare().figures if one.kind == "mean"]
    assert survives


def test_what_cannot_be_preserved_is_published_without_and_says_so(monkeypatch):
    wished = tk.publish(TABLE, **{**SAMPLE, "columns": ["stay"]}, odds=6, utility=tk.Utility(diagonal=0.1))
    assert kept_of(wished) is None

    def refused(priors, **asked):
        if asked["utility"].preserve in ("auto", "marginal"):
            raise tk.MechanismError("not to be had")
        return calibrate(priors, **asked)

    monkeypatch.setattr("takifugu.publishing.best_channel.calibrate", refused)
    made = tk.publish(TABLE, **SAMPLE, odds=5)
    assert kept_of(made) is None
    assert not any(line.startswith("Preserved") for line in made.summary.details)
    with pytest.raises(tk.MechanismError, match="not to be had"):
        tk.publish(TABLE, **SAMPLE, odds=5, utility=tk.Utility(preserve="marginal"))
    with pytest.raises(InputError, match="preserve must be"):
        tk.publish(TABLE, **SAMPLE, odds=5, utility=tk.Utility(preserve="most"))


def test_what_may_be_asked_for():
    plain = tk.publish(TABLE, **SAMPLE, odds=5)
    assert plain.calibration.evidence is None
    renyi = tk.publish(TABLE, **SAMPLE, alpha=2, epsilon=0.5)
    assert (renyi.calibration.alpha, renyi.calibration.epsilon) == (2, 0.5)
    shares = tk.publish(TABLE, **ASKED, utility=tk.Utility(loss="change"))
    assert dict(shares.calibration.options)["keep"] == "marginal"
    known = tk.publish(
        TABLE, secret="diagnosis", columns=["stay"], adversary=tk.Adversary(known=["ward"]), odds=6, confidence=None
    )
    assert len(known.calibration.beliefs) == 5
    numbers = TABLE.assign(diagnosis=TABLE.diagnosis.map({"flu": 1, "none": 3}))
    assert tk.publish(numbers, **SAMPLE, pairs=[("1", "3")]).calibration.pairs[0] == (1, 3)


def test_the_same_seed_gives_the_same_channel_and_fresh_draws():
    first, second = (tk.publish(TABLE, **ASKED, odds=1.5, adversary=tk.Adversary(seed=3)) for _ in range(2))
    assert first.calibration == second.calibration
    assert not first.table.equals(second.table)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"columns": "stay"}, r"write \['stay'\]"),
        ({"columns": []}, "names of columns"),
        ({"columns": ["stay", "diagnosis"]}, "both the secret and the answer"),
        ({"columns": ["nothing"]}, "no column 'nothing'"),
        ({"secret": []}, "secret must be a column"),
        ({"secret": "nothing"}, "no column 'nothing'"),
        ({"odds": 1}, "odds"),
        ({"alpha": 2}, "epsilon is missing"),
        ({"keep": ["diagnosis"]}, "is the secret"),
        ({"keep": ["copy"]}, "knows the secret"),
        ({"keep": ["absent"]}, "absent"),
        ({"keep": "ward"}, "list of columns"),
        ({"columns": "days,ward"}, r"write \['days', 'ward'\]"),
        ({"pairs": [("flu", "cold")]}, "'cold'"),
        ({"confidence": 3}, "confidence"),
    ],
)
def test_where_it_fails_nothing_is_left_behind(tmp_path, change, says):
    table = TABLE.assign(copy=TABLE.diagnosis.map({"flu": "x", "none": "y"}))
    source = tmp_path / "people.csv"
    table.to_csv(source, index=False)
    for given in (table, source):
        with pytest.raises(InputError, match=says):
            tk.publish(given, **(ASKED | change), ledger=tmp_path / "people.ledger")
    assert [path.name for path in tmp_path.iterdir() if path.name != "people.ledger"] == ["people.csv"]
    assert Ledger(tmp_path / "people.ledger").account() is None


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("order", lambda: tk.publish(TABLE, **ASKED, order="some")),
        ("drift", lambda: tk.Adversary(drift="some")),
        ("repeats", lambda: tk.Adversary(repeats="some")),
        ("preserve", lambda: tk.Utility(preserve="some")),
        ("assurance", lambda: tk.Adversary(assurance="some")),
        ("leave_out", lambda: tk.Reading(leave_out="some")),
    ],
)
def test_a_word_that_is_none_is_refused_before_any_work(name, make):
    told = []
    with listening(told.append), pytest.raises(InputError, match=f"{name} must be"):
        make()
    assert not told


NEVER = ["ods", "cells", "per_cell", "mechanism", "floor", "delta", "rounds", "known", "others", "seed", "step"]


@pytest.mark.parametrize("name", NEVER)
def test_publish_takes_what_it_can_take_and_nothing_else(monkeypatch, name):
    monkeypatch.setattr("takifugu.publishing.publication.made_once", lambda *_, **__: pytest.fail("work was done"))
    doors = {tk.publish: {"table": TABLE, **ASKED}, tk.calibrate: {"priors": {}}, tk.sweep: {"priors": {}}}
    for door, given in doors.items():
        if name not in signature(door).parameters:
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
                door(**given, **{name: None})


def test_what_is_given_twice_or_is_no_such_object_is_refused():
    numbers = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(2, 1)}
    for given, says in (
        ({"radius": 0.1, "adversary": tk.Adversary(radius=0.2)}, "radius is given twice, by itself and in Adversary"),
        ({"preserve": None, "utility": tk.Utility(preserve="mean")}, "preserve is given twice"),
        ({"error": 1.0, "utility": tk.Utility(error=2.0)}, "error is given twice"),
        ({"radius": 0.1, "options": {"radius": 0.1}}, "radius is given twice, in options too"),
        ({"adversary": tk.Utility()}, r"adversary must be an Adversary, such as takifugu\.Adversary\(\), got Utility"),
        ({"adversary": tk.Adversary(known=["sex"])}, "give it to fit_priors"),
        ({"adversary": tk.Adversary(own=False)}, "own=False is for publish"),
        ({"adversary": tk.Adversary(drift="allow")}, "drift of Adversary is about what is published"),
        ({"utility": tk.Utility(allow_no_noise=True)}, "allow_no_noise of Utility is about what is published"),
    ):
        with pytest.raises(InputError, match=says):
            tk.calibrate(numbers, alpha=2, epsilon=1, **given)
    for given in ({"utility": tk.Adversary()}, {"adversary": {"known": ["sex"]}}, {"reading": {"sep": ";"}}):
        with pytest.raises(InputError, match="must be a"):
            tk.publish(TABLE, **ASKED, **given)


def test_every_argument_of_publish_is_taken():
    """Nothing is offered that is always refused: each option of the channel leads to one that has it."""
    offered = signature(tk.publish).parameters
    assert not any(one.kind is one.VAR_KEYWORD for one in offered.values())
    assert sum(one.kind is one.KEYWORD_ONLY for one in offered.values()) == 14 + 3
    row = (1, "A"), (6, "B")
    wishes = {"loss": "change", "diagonal": 0.1, "forbidden": [row], "unbiased": False}
    made = tk.publish(
        TABLE,
        **SAMPLE,
        adversary=tk.Adversary(radius=0.01),
        utility=tk.Utility(**wishes, allow_no_noise=True),
    )
    told = dict(made.calibration.options)
    assert (told["loss"], told["diagonal"], told["radius"], told["unbiased"]) == ("change", 0.1, 0.01, False)
    assert tuple(told["forbidden"]) == (row,)
    one = {**ASKED, "columns": ["stay"]}
    band = tk.publish(
        TABLE,
        **one,
        odds=20,
        adversary=tk.Adversary(assurance="band"),
        utility=tk.Utility(allow_no_noise=True),
        domain=[1, 4, 7],
    )
    assert type(band.calibration.evidence).__name__ == "ProvedBand"


@pytest.mark.parametrize(
    ("sizes", "secrets", "says"),
    [
        ((20,), 2, None),
        ((25, 20), 2, "for 500 combinations of 2 columns and 2 secrets: about 20 seconds; coarser lists or fewer"),
        ((60,), 60, "for 60 values and 60 secrets: about 40 seconds; coarser lists are quicker"),
    ],
)
def test_a_step_that_may_take_minutes_says_so_before_it_does(monkeypatch, sizes, secrets, says):
    class NoTimeError(Exception):
        pass

    def refuse(*_, **__):
        raise NoTimeError

    monkeypatch.setattr("takifugu.publishing.best_channel.calibrate", refuse)
    every = pd.MultiIndex.from_product([range(secrets), *map(range, sizes)], names=["s", *"ab"[: len(sizes)]])
    told = []
    with listening(told.append), pytest.raises(NoTimeError):
        tk.publish(every.to_frame(index=False), secret="s", columns=[*"ab"[: len(sizes)]])
    assert told[-1].startswith("Finding the channel that changes least")
    assert (": about" in told[-1]) is (says is not None)
    assert says is None or says in told[-1]


@pytest.mark.parametrize("of", [iter, tuple, dict.fromkeys])
def test_names_may_come_once_and_are_heeded_all_the_same(of):
    """An iterator is empty the second time: what an adversary knows was forgotten, and nothing said so."""
    told = TABLE.assign(sex=["f", "m"] * (len(TABLE) // 2) + ["f"] * (len(TABLE) % 2))
    made = tk.publish(
        told,
        secret=of(["diagnosis"]),
        columns=of(["ward"]),
        adversary=tk.Adversary(known=of(["sex"])),
        utility=tk.Utility(allow_no_noise=True),
        confidence=None,
    )
    assert made.calibration.answer.known == ("sex",)
    assert len(made.calibration.problem.beliefs) > 1
    with pytest.raises(InputError, match="known must be a list of columns, got the text 'sex'"):
        tk.publish(told, **ASKED, adversary=tk.Adversary(known="sex"))


def test_rows_of_other_secrets_are_the_callers_to_decide():
    three = pd.concat([TABLE, TABLE[:40].assign(diagnosis="cold")], ignore_index=True)
    chosen = SAMPLE | {"pairs": [("flu", "none")]}
    with pytest.raises(InputError, match="40 of 240 rows have a secret outside"):
        tk.publish(three, **chosen)
    dropped = tk.publish(three, **chosen, reading=tk.Reading(leave_out="others"))
    assert len(dropped.table) == 200
    assert "40 rows of other secrets were left out" in [one.sentence for one in dropped.findings]


def test_where_a_ledger_lies():
    assert ledger_beside("a/people.csv.gz").as_posix() == "a/people.ledger"
    assert ledger_beside("people").as_posix() == "people.ledger"
    assert ledger_beside("a.b/people.v2.parquet").as_posix() == "a.b/people.v2.ledger"


def test_the_ledger_of_a_pattern_has_a_name_that_every_system_allows(tmp_path):
    for name in ("a1.csv", "a2.csv"):
        (tmp_path / "of 2024").mkdir(exist_ok=True)
        (tmp_path / "of 2024" / name).touch()
    for pattern, name in {"of 2024/a*.csv": "a", "of */a[12].csv": "a12", "**/*.csv": "tables"}.items():
        assert ledger_beside(tmp_path / pattern) == tmp_path / "of 2024" / f"{name}.ledger"


def test_secrets_can_be_left_out_in_python_too():
    people = tk.datasets.load("heart")
    made = tk.publish(
        people,
        secret="slope",
        columns=["sex"],
        utility=tk.Utility(allow_no_noise=True),
        reading=tk.Reading(leave_out=[3]),
        odds=2,
    )
    assert set(made.calibration.pairs.secrets) == {1, 2}
    assert len(made.table) == (people["slope"] != 3).sum()
    for given, words in (
        ({"leave_out": [9]}, r"not among the values of .*: they are"),
        ({"leave_out": [3, 2]}, "two are needed"),
    ):
        with pytest.raises(tk.InputError, match=words):
            tk.publish(people, secret="slope", columns=["sex"], reading=tk.Reading(**given))
    with pytest.raises(tk.InputError, match="must be a list"):
        tk.Reading(leave_out="3")
    with pytest.raises(tk.InputError, match="there are several: give leave_out='others'"):
        tk.publish(people, secret=["slope", "exang"], columns=["sex"], reading=tk.Reading(leave_out=[3]))


def test_pairs_restrict_what_is_hidden_and_every_other_secret_is_named():
    people = tk.datasets.load("heart")
    asked = {"secret": "slope", "columns": ["sex"], "pairs": [(1, 2)], "odds": 2, "confidence": None}
    unchanged = tk.Utility(allow_no_noise=True)
    for left_out in ("others", [3], ["3"]):
        made = tk.publish(people, **asked, utility=unchanged, reading=tk.Reading(leave_out=left_out))
        assert len(made.table) == (people["slope"] != 3).sum()
        assert set(made.calibration.pairs.secrets) == {1, 2}
    four = people.assign(slope=people["slope"].where(people.index > 9, 4))
    with pytest.raises(InputError, match="have a secret outside the calibrated pairs"):
        tk.publish(four, **asked, reading=tk.Reading(leave_out=[3]))
    made = tk.publish(four, **asked, utility=unchanged, reading=tk.Reading(leave_out=[3, 4]))
    assert len(made.table) == four["slope"].isin([1, 2]).sum()


@pytest.mark.parametrize("given", [{"leave_out": [3]}, {"leave_out": "others"}, {"other": "rest"}])
def test_what_publish_alone_heeds_is_refused_elsewhere(given, tmp_path):
    people, reading = tk.datasets.load("heart"), tk.Reading(**given)
    people.to_csv(tmp_path / "heart.csv", index=False)
    query, lists = tk.Row("sex"), {"slope": [1, 2, 3], "sex": ["F", "M"]}
    made = tk.calibrate(tk.fit_priors(people, secret="slope", query=query), odds=2)
    for act in (
        lambda: tk.fit_priors(people, secret="slope", query=query, reading=reading),
        lambda: tk.inspect(people, secret="slope", reading=reading),
        lambda: tk.private_counts(people, secret="slope", columns=["sex"], domain=lists, epsilon=1, reading=reading),
        lambda: tk.release_file(
            tmp_path / "heart.csv", tmp_path / "out.csv", made, reading=reading, utility=tk.Utility(allow_no_noise=True)
        ),
        lambda: tk.audit(people[["sex"]], people, made, reading=reading),
        lambda: tk.estimate(people[["sex"]], made, reading=reading),
    ):
        with pytest.raises(InputError, match="is for publish"):
            act()


@pytest.fixture
def telling():
    """A kept note that tells the secret of 99 rows in 100, and one that only a difference nobody counts would tell."""
    rng = np.random.default_rng(4)
    secret = rng.choice(["a", "b"], 1500)
    tells = (secret == "a") ^ (rng.random(1500) < 0.01)
    return pd.DataFrame(
        {
            "s": secret,
            "x": rng.integers(0, 3, 1500),
            "note": np.where(tells, "n", "m"),
            "zero": np.where(tells, 0.0, -0.0),
            "small": np.where(tells, 0.0, -0.0).astype(np.float32),
            "mixed": [1 if one else "1" for one in tells],
        }
    )


@pytest.mark.parametrize("secret", ["s", ["s", "other"]])
def test_what_kept_columns_tell_by_themselves_is_said(telling, secret):
    telling["other"] = np.random.default_rng(5).choice(["u", "v"], 1500)
    made = tk.publish(
        telling, secret=secret, columns=["x"], keep=["note"], utility=tk.Utility(allow_no_noise=True), confidence=None
    )
    told = next(one for one in made.findings if one.code == "cell-tells")
    shares = pd.crosstab(telling["s"], telling["note"], normalize="index").to_numpy()
    assert told["guess"] == pytest.approx(0.5 + 0.25 * np.abs(shares[0] - shares[1]).sum())
    assert told["odds"] == pytest.approx(np.maximum(shares[0] / shares[1], shares[1] / shares[0]).max())
    assert "99 %" in told.sentence
    assert str(made).startswith("For any adversary whose beliefs are covered and who knows note, through x, posterior")
    assert "not hidden" in " ".join(made.summary.details)


def test_priors_of_others_alone_tell_nothing_about_kept_columns(telling):
    asked = {
        "secret": "s",
        "columns": ["x"],
        "keep": ["note"],
        "confidence": None,
        "utility": tk.Utility(allow_no_noise=True),
    }
    made = tk.publish(telling, adversary=tk.Adversary(own=False, beliefs={"then": telling}), **asked)
    assert [one for one in made.findings if one.code == "cell-tells"] == [
        Diagnostic("cell-tells", columns=("note",), odds=None, guess=None)
    ]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_kept_columns_leave_without_what_their_cells_were_counted_without(telling, make):
    keep = ["zero", "small"]
    if make is pd.DataFrame:
        keep.append("mixed")
    asked = {
        "secret": "s",
        "columns": ["x"],
        "keep": keep,
        "confidence": None,
        "utility": tk.Utility(allow_no_noise=True),
    }
    made = tk.publish(make(telling[["s", "x", *keep]]), **asked)
    for name in ("zero", "small"):
        column = np.asarray(made.table[name])
        assert not np.signbit(column).any()
        assert column.dtype == telling[name].dtype
    if "mixed" in keep:
        assert set(made.table["mixed"]) == {"1"}


def test_whose_belief_it_is_names_what_was_added_in_cells(telling):
    """A cell's law has rows of other cells added to it: who believes the cell's own shares is not promised as much."""
    asked = {"secret": "s", "columns": ["x"], "confidence": None, "utility": tk.Utility(allow_no_noise=True)}
    made = tk.publish(telling, **asked)
    assert "(proved for the shares as counted, not for the population; no guarantee against one who knows" in str(made)
    assert "rows of other cells" not in " ".join(made.summary.details)
    made = tk.publish(telling, adversary=tk.Adversary(known=["note"]), **asked)
    assert "rows of other cells" in " ".join(made.summary.details)


def test_what_may_be_reason_not_to_wait_is_told_before_the_search(monkeypatch):
    table = people().assign(seen=[f"2026-01-{1 + k % 9:02}" for k in range(200)])

    def found(*_, **__):
        raise InputError("the search began")

    monkeypatch.setattr("takifugu.publishing.best_channel.calibrate", found)
    with (
        pytest.warns(tk.DiagnosticWarning, match="'seen' holds dates") as told,
        pytest.raises(InputError, match="began"),
    ):
        tk.publish(table, secret="diagnosis", columns=["seen", "ward"])
    assert {one.filename for one in told} == {__file__}


def test_what_was_told_before_is_not_told_again():
    table = people().assign(seen=[f"2026-01-{1 + k % 9:02}" for k in range(200)])
    with pytest.warns(tk.DiagnosticWarning, match="'seen' holds dates") as told:
        tk.publish(
            table, secret="diagnosis", columns=["seen"], confidence=None, utility=tk.Utility(allow_no_noise=True)
        )
    texts = [str(one.message) for one in told]
    assert len(texts) == len(set(texts))


def test_the_secret_is_not_kept():
    with pytest.raises(InputError, match=r"'diagnosis' is the secret, and cannot leave .*: leave it out of `keep`"):
        tk.publish(people(), secret="diagnosis", columns=["ward"], keep=["diagnosis"])


def test_a_lazy_table_of_an_engine_is_refused_before_the_work():
    relation = duckdb.sql("SELECT 'a' AS s, 1 AS x UNION ALL SELECT 'b', 2")
    began = []
    with (
        listening(began.append),
        pytest.raises(InputError, match=r"a lazy table of duckdb would be drawn anew.*: collect it first"),
    ):
        tk.publish(relation, secret="s", columns=["x"])
    assert not began


def test_a_lazy_table_is_made_once_and_comes_back_lazy():
    import polars as pl

    made = []

    def changing(frame):
        made.append(len(made))
        return frame.with_columns(pl.col("x") ^ (len(made) % 2))  # another table whenever it is read

    frame = pl.DataFrame({"s": ["a", "b"] * 300, "x": [0, 1, 1, 1, 0, 0] * 100})
    lazy = frame.lazy().map_batches(changing)
    published = tk.publish(lazy, secret="s", columns=["x"], odds=1.2, confidence=None).table
    assert isinstance(published, pl.LazyFrame)
    assert published.collect().height == 600
    assert len(made) == 1


@pytest.mark.parametrize("when", ["Finding the channel", "Drawing"])
def test_a_file_that_changes_after_it_was_counted_is_not_published(tmp_path, when):
    path, counted = tmp_path / "people.parquet", people()
    counted.to_parquet(path)

    def step(what):
        if what.startswith(when):
            pd.concat([counted, counted.head(3)]).to_parquet(path)  # nothing in them is strange

    asked = {"secret": "diagnosis", "columns": ["stay"], "confidence": None, "ledger": tmp_path / "people.ledger"}
    with listening(step), pytest.raises(InputError, match="changed since it was counted"):
        tk.publish(path, **asked)
    assert not (tmp_path / "people.ledger").exists()
    assert len(tk.publish(path, **asked).table) == len(counted) + 3
