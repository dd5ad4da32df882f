"""Every way to publish what was not calibrated: each is refused in a sentence, before anything is drawn."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.channels.gaussian import GaussianNoise
from takifugu.cli import main
from takifugu.errors import BudgetError, CalibrationError, InputError
from takifugu.laws.lattice import Lattice
from takifugu.problems.answer import Answer
from takifugu.releases.ledger import Ledger
from takifugu.releases.passed_through import harmless
from takifugu.releases.plan import NoNoiseWarning


def people(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    sick = rng.random(rows) < 0.4
    return pd.DataFrame(
        {
            "diagnosis": np.where(sick, "flu", "none"),
            "stay": rng.integers(1, 9, rows) + 2 * sick,
            "cost": np.round(rng.gamma(3.0, 9000.0, rows)) + 40_000 * sick,
            "ward": np.array(["A", "B", "C"])[rng.integers(0, 3, rows)],
            "id": np.arange(rows),
        }
    )


TABLE = people()


def raw(column="stay", table=TABLE, **options):
    priors = tk.fit_priors(table, secret="diagnosis", query=tk.Raw(column, **options))
    return tk.calibrate(priors, alpha=2, epsilon=0.5)


RAW = raw()
MEAN = tk.calibrate(tk.fit_priors(TABLE, secret="diagnosis", query=tk.Mean("cost")), alpha=2, epsilon=1)
ROW = tk.calibrate(tk.fit_priors(TABLE, secret="diagnosis", query=tk.Row("ward")), odds=1.02)


@pytest.fixture(autouse=True)
def no_draws(monkeypatch, request):
    """Fails a test of a refusal if a random bit is drawn."""
    if "draws" in request.keywords:
        return

    def refuse(self, count):
        raise AssertionError(f"{count} bytes were drawn")

    monkeypatch.setattr("takifugu.channels.sampling.OsBits.read", refuse)


def refused(values, calibration, says, **options):
    with pytest.raises(InputError, match=says) as caught:
        tk.release(values, calibration, **options)
    assert "\n" not in str(caught.value)


# ---- another question


@pytest.mark.parametrize("calibration", [RAW, ROW], ids=["noise", "channel"])
def test_another_column_or_secret_is_refused(calibration):
    refused(TABLE, calibration, "is for the column .* hides nothing in another", column="cost")
    refused(TABLE, calibration, "is for the secret 'diagnosis'", secret="ward")
    refused(TABLE.rename(columns={"diagnosis": "d"}), calibration, "no column 'diagnosis'")
    refused(TABLE.drop(columns=["stay", "ward"]), calibration, "no column")
    refused(TABLE, calibration, "is the secret", keep=["diagnosis"])
    refused(TABLE, calibration, "the name of the column of secrets", secret=TABLE.diagnosis.tolist())


def test_the_secrets_of_a_table_are_never_shown():
    secret = ["Zorngiebel"] * len(TABLE)
    for options in ({"secret": secret}, {}):
        with pytest.raises(InputError) as caught:
            tk.release(TABLE.assign(diagnosis="Zorngiebel"), RAW, **options)
        assert "Zorngiebel" not in str(caught.value)


def test_a_mean_publishes_one_number_and_no_rows():
    refused(TABLE, MEAN, r"one number about a group.*calibrate Raw\('cost'\)")
    by_group = TABLE.groupby("diagnosis")["cost"].mean()
    for several in (by_group.tolist(), by_group, by_group.to_numpy(), pl.Series(by_group.to_numpy())):
        refused(several, MEAN, "reveals which is whose")
    refused(TABLE["cost"], MEAN, "one number about one group")
    refused(np.array([by_group.to_numpy()]), MEAN, "one column")


@pytest.mark.draws
def test_the_one_number_of_a_mean_is_published():
    assert np.shape(tk.release(float(TABLE.cost.mean()), MEAN)) == ()
    assert len(tk.release([TABLE.cost.mean()], MEAN)) == 1


def test_values_without_their_secrets_are_refused():
    for calibration, column in ((RAW, "stay"), (ROW, "ward")):
        for values in (TABLE[column], TABLE[column].to_list(), pl.Series(column, TABLE[column].to_list())):
            refused(values, calibration, "secret is missing: list the secret")


def test_a_channel_has_no_noise_to_speak_of():
    for option in ({"theta": 1.0}, {"clip": (0, 1)}, {"round_to": 1}):
        refused(TABLE, ROW, f"{next(iter(option))} is for noise", **option)
    refused(TABLE, ROW, "granularity is for noise", utility=tk.Utility(granularity=0.5))


# ---- another table


@pytest.mark.parametrize("bounds", [None, (1, 10)])
def test_a_table_that_changed_is_refused(bounds):
    """Bounds that were read are those of the table; public ones take in whatever comes."""
    calibration = raw(bounds=bounds, step=1)
    changed = TABLE.assign(stay=TABLE.stay.where(TABLE.id != 7, 400))
    if bounds is None:
        refused(changed, calibration, "1 of 240 values lie beyond the bounds that were read")
    else:
        assert calibration.answer.domain.snap([400.0]).tolist() == [10.0]
    other = pd.DataFrame({"diagnosis": TABLE.diagnosis, "stay": TABLE.cost})
    if bounds is None:
        refused(other, calibration, "another column or file, or the table has changed")


def test_values_that_the_priors_could_not_have_produced_are_refused():
    atoms = raw(prior="empirical")
    refused(TABLE.assign(stay=TABLE.stay + 0.5), atoms, "240 of 240 values are such that the priors")
    smooth = raw("cost", prior="gaussian")
    refused(TABLE.assign(cost=TABLE.cost * 1000), smooth, "could not have produced")
    refused(pd.DataFrame({"diagnosis": TABLE.diagnosis, "ward": "Q"}), ROW, "240 of 240 rows .* not in its domain")
    numbers = tk.calibrate(tk.fit_priors(TABLE, secret="diagnosis", query=tk.Row("stay")), odds=1.5)
    refused(TABLE.assign(stay=TABLE.cost), numbers, "lie beyond what its domain was read from")
    refused(TABLE.assign(stay="x"), numbers, "something else than numbers.* name them with sentinels=")
    refused(TABLE.assign(stay=np.nan), numbers, "missing values")


def test_a_row_that_never_occurred_is_refused():
    both = pd.DataFrame({"s": list("abab") * 10, "x": [1, 2, 1, 2] * 10, "y": ["p", "q"] * 20})
    calibration = tk.calibrate(tk.fit_priors(both, secret="s", query=tk.Row("x", "y")), odds=1.5, preserve=None)
    crossed = both.assign(y=["q", "p"] * 20)
    refused(crossed, calibration, "40 of 40 values are not among the channel's inputs")


def test_an_answer_of_several_columns_gets_no_noise_for_one():
    """An edited file must not send a second column along bare."""
    data = json.loads(json.dumps(RAW.to_dict()))
    data["problem"]["answer"]["columns"] = ["stay", "cost"]
    refused(TABLE, tk.Calibration.from_dict(data), "publishes one column, and 2 were given")
    by_hand = tk.calibrate({"flu": tk.Mixture.gaussian(0, 1), "none": tk.Mixture.gaussian(1, 1)}, alpha=2, epsilon=1)
    refused(TABLE, by_hand, "publishes one column", column=["stay", "cost"], secret="diagnosis")


# ---- files


def test_an_edited_calibration_is_refused(tmp_path):
    path = tmp_path / "c.json"
    for calibration in (RAW, ROW):
        honest = json.loads(json.dumps(calibration.to_dict()))
        for change in ({"unheard": 1}, {"version": 1}, {"format": "other"}, {"mechanism": "closed-form!"}):
            path.write_text(json.dumps(honest | change))
            with pytest.raises(InputError, match=r"c\.json"):
                tk.Calibration.load(path)
        path.write_text(json.dumps(honest))
        assert tk.Calibration.load(path) == calibration
    weak = dataclasses.replace(RAW, channel=GaussianNoise(RAW.theta / 2))
    weak.save(path)
    with pytest.raises(CalibrationError, match="does not meet the budget"):
        tk.release(TABLE, tk.Calibration.load(path))
    bare = dataclasses.replace(ROW, channel=FiniteChannel.identity(ROW.channel.inputs))
    bare.save(path)
    with pytest.raises(CalibrationError, match="does not meet the budget"):
        tk.release(TABLE, tk.Calibration.load(path))


def test_a_file_of_the_first_version_is_told_what_to_do(tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"theta": 1.0, "alpha": 2.0, "epsilon": 1.0, "mechanism": "exact", "beliefs": []}))
    with pytest.raises(InputError, match=r"made by version 0\.1.*Calibrate again"):
        tk.Calibration.load(path)


def test_a_weaker_promise_is_published_only_when_asked(tmp_path):
    priors = {"flu": tk.Mixture.gaussian(3, 1), "none": tk.Mixture.gaussian(5, 2)}
    weaker = tk.calibrate(priors, alpha=2, epsilon=1, mechanism="wasserstein-approx", delta=0.1)
    with pytest.raises(CalibrationError, match=r"weaker guarantee, \(α, ε, δ\)"):
        tk.release(TABLE, weaker, column="stay", secret="diagnosis")
    weaker.save(tmp_path / "c.json")
    TABLE.to_csv(tmp_path / "in.csv", index=False)
    result = command(tmp_path, "--column", "stay", "--secret", "diagnosis")
    assert result.exit_code == 1
    assert "--accept-weaker-promise" in result.stderr
    assert not (tmp_path / "out.csv").exists()


def command(folder, *arguments):
    given = [folder / "in.csv", folder / "out.csv", "--calibration", folder / "c.json", *arguments]
    try:
        runner = CliRunner(mix_stderr=False)  # click 8.1 keeps the two apart only if asked
    except TypeError:
        runner = CliRunner()
    return runner.invoke(main, ["release", *map(str, given)])


# ---- values that leave as they are


@pytest.mark.draws
def test_bare_values_are_told_in_python_and_refused_on_the_command_line(tmp_path):
    rng = np.random.default_rng(1)
    same = pd.DataFrame({"s": ["a", "b"] * 300, "v": np.repeat(rng.integers(0, 20, 300), 2)})
    same.to_csv(tmp_path / "in.csv", index=False)
    nothing = tk.calibrate(tk.fit_priors(same, secret="s", query=tk.Raw("v")), alpha=2, epsilon=1)
    assert nothing.theta == 0
    with pytest.warns(NoNoiseWarning, match="nothing had to be hidden, so nothing was"):
        assert tk.release(same, nothing, order="keep")["v"].tolist() == same["v"].tolist()
    with pytest.warns(NoNoiseWarning) as told:
        tk.publish(same, secret="s", columns=["v"], confidence=None)
    assert {one.filename for one in told} == {__file__}
    fine = dataclasses.replace(nothing, channel=GaussianNoise(0.25))
    with pytest.warns(NoNoiseWarning, match=r"noise \(0.25\) finer than the data's steps \(1\): .* enough") as told:
        tk.release(same, fine, order="keep")
    assert not any("so nothing was" in str(one.message) for one in told)  # there is noise, if little
    channel = tk.calibrate(tk.fit_priors(same, secret="s", query=tk.Row("v")), odds=3)
    with pytest.warns(NoNoiseWarning):
        tk.release(same, channel, order="keep")
    for calibration in (nothing, fine, channel):
        tk.release(same, calibration, order="keep", utility=tk.Utility(allow_no_noise=True))
        calibration.save(tmp_path / "c.json")
        result = command(tmp_path)
        assert (result.exit_code, (tmp_path / "out.csv").exists()) == (1, False)
        assert "--allow-no-noise" in result.stderr
        result = command(tmp_path, "--allow-no-noise")
        assert result.exit_code == 0, result.output
        assert "Values are published" in result.stdout
        (tmp_path / "out.csv").unlink()


def test_digits_below_the_step_do_not_leave(recwarn):
    low = np.random.default_rng(0).permutation(np.repeat(np.arange(0.0, 20.0), 20))
    table = pd.DataFrame({"s": ["a", "b"] * 200, "v": low})
    calibration = tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Raw("v")), alpha=2, epsilon=1)
    telling = table.assign(v=low + np.where(table.s == "a", 1e-9, 0.0))
    assert tk.release(telling, calibration, order="keep")["v"].tolist() == low.tolist()


def test_a_lattice_between_whole_steps_keeps_its_points(recwarn):
    table = pd.DataFrame({"s": ["a", "b"] * 40, "v": np.tile(np.repeat([0.5, 1.5, 2.5, 3.5], 2), 10)})
    priors = tk.fit_priors(table, secret="s", query=tk.Raw("v", bounds=(0.5, 3.5), step=1))
    calibration = tk.calibrate(priors, alpha=2, epsilon=1)
    assert calibration.theta == 0
    assert tk.release(table, calibration, order="keep")["v"].tolist() == table["v"].tolist()


# ---- columns that go along


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize("others", ["error", "release"])
def test_a_kept_column_that_says_the_secret_is_refused(make, others):
    copies = {
        "copy": TABLE.diagnosis,
        "shouted": TABLE.diagnosis.str.upper() + " ",
        "code": TABLE.diagnosis.map({"flu": 7, "none": 9}),
        "finer": TABLE.diagnosis + TABLE.ward,
    }
    for name, column in copies.items():
        table = make(TABLE.assign(**{name: column}))
        refused(table, ROW, f"{name!r}, which was to be kept, says in every row", keep=["id", name], others=others)


@pytest.mark.parametrize("size", [2, 30_000])
def test_a_copy_of_the_secret_is_found_however_many_secrets_there_are(size):
    law = tk.Mixture.gaussian(0, 1)
    calibration = tk.calibrate({"s0": law, "s1": law}, alpha=2, epsilon=1)
    table = pl.DataFrame({"s": [f"s{k}" for k in range(size)], "v": 0.0, "copy": [f"s{k}" for k in range(size)]})
    refused(table, calibration, "'copy'", secret="s", column="v", keep=["copy"], others="release")


@pytest.mark.draws
def test_a_kept_column_that_only_goes_with_the_secret_leaves():
    published = tk.release(TABLE, RAW, keep=["ward", "id"], order="keep")
    assert published["id"].tolist() == TABLE["id"].tolist()
    lists = TABLE.assign(notes=[[k, k + 1] for k in range(len(TABLE))])
    assert tk.release(lists, RAW, keep=["notes"], order="keep")["notes"].tolist() == lists["notes"].tolist()


@pytest.mark.draws
def test_an_index_does_not_leave():
    coded, numbered = TABLE.diagnosis.map({"flu": 1, "none": 2}), pd.RangeIndex(len(TABLE))
    mixed = TABLE.sample(frac=1, random_state=1)  # its index says where each row once stood
    for table in (TABLE.set_index(TABLE.diagnosis), TABLE.set_index([TABLE.id, coded]), mixed):
        for calibration, column in ((RAW, "stay"), (ROW, "ward")):
            assert tk.release(table, calibration).index.equals(numbered)
            assert tk.release(table, calibration, order="shuffle").index.equals(numbered)
            assert tk.release(table[column], calibration, secret=table.diagnosis.tolist()).index.equals(numbered)
        assert tk.publish(table, secret="diagnosis", columns=["ward"], odds=1.02).table.index.equals(numbered)
    pairs = tk.fit_priors(TABLE, secret="diagnosis", query=tk.Mean(["cost", "stay"]))
    means = TABLE.groupby("diagnosis")[["cost", "stay"]].mean().loc["flu"]
    assert means.name == "flu"  # as pandas names it
    vector = tk.release(means, tk.calibrate(pairs, alpha=2, epsilon=1))
    assert (list(vector.index), vector.name) == (["cost", "stay"], "")
    one = tk.release(TABLE.groupby("diagnosis")["cost"].mean()[["flu"]], MEAN)
    assert (list(one.index), one.name) == ([0], "cost")


@pytest.mark.draws
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_text_that_a_spreadsheet_would_run_is_text(tmp_path, suffix):
    texts = ["=HYPERLINK(1)", "+1", "-1", "@SUM", "\ttab", "\n=1", "\uff1dSUM", "plain"] * 30
    more = {"note": texts, "=1+1": 0, "bytes": [text.encode() for text in texts]}
    TABLE.assign(**more).to_parquet(tmp_path / "in.parquet")
    tk.release_file(tmp_path / "in.parquet", tmp_path / f"out{suffix}", RAW, keep=[*more], order="keep")
    out = pd.read_csv(tmp_path / "out.csv") if suffix == ".csv" else pd.read_parquet(tmp_path / "out.parquet")
    escaped = [t if t == "plain" else f"'{t}".replace("\n=", "\n'=") for t in texts]
    expected = texts if suffix == ".parquet" else escaped
    assert out["note"].tolist() == expected
    assert [one if isinstance(one, str) else one.decode() for one in out["bytes"]] == expected
    assert ("'=1+1" if suffix == ".csv" else "=1+1") in out.columns


def test_no_cell_begins_a_formula_where_semicolons_divide_the_cells_of_a_line():
    """Spreadsheets of half of Europe take "ward;=1+1" for two cells, whatever is quoted for a comma."""
    for before in ("ward;", "ward\t", "ward|", "ward\n", 'ward\r"";'):
        assert harmless(f"{before}=1+1;2") == f"{before}'=1+1;2"
    for text in ("ward = 3", "a-b", "x; y = 2", "1+1", "", "me@here"):
        assert harmless(text) == text


# ---- what libraries store beside the values


@pytest.mark.draws
def test_nothing_of_dropped_rows_or_of_the_source_goes_along(tmp_path):
    extra = pd.concat([people(10, seed=3).assign(diagnosis="rare", ward="Zorngiebel"), TABLE], ignore_index=True)
    extra["ward"] = extra["ward"].astype("category")
    extra.attrs["source"] = "Zorngiebel"
    out = tk.release(extra, RAW, keep=["ward"], others="drop")
    assert "Zorngiebel" not in repr(out.dtypes) + repr(out["ward"].unique())
    assert out.attrs == {}
    assert extra.attrs == {"source": "Zorngiebel"}  # the table itself is left alone
    frame = pl.from_pandas(extra)
    out = tk.release(frame, RAW, keep=["ward"], others="drop")
    assert out["ward"].dtype == pl.String
    table = pa.Table.from_pandas(extra)
    noted = [field.with_metadata({"note": "Zorngiebel"}) for field in table.schema]
    table = table.cast(pa.schema(noted, metadata={"who": "Zorngiebel"}))
    out = tk.release(table, RAW, keep=["ward"], others="drop")
    assert out.schema.metadata is None
    assert all(field.metadata is None for field in out.schema)
    assert out["ward"].type == pa.string()
    pq.write_table(table, tmp_path / "in.parquet")
    tk.release_file(tmp_path / "in.parquet", tmp_path / "out.parquet", RAW, keep=["ward"], others="drop")
    assert b"Zorngiebel" not in (tmp_path / "out.parquet").read_bytes()


@pytest.mark.draws
@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_integers_stay_integers(make):
    import narwhals as nw

    out = nw.from_native(tk.release(make(TABLE), RAW, round_to=1, clip=(0, 9)))
    assert out["stay"].dtype == nw.Int64
    assert nw.from_native(tk.release(make(TABLE), RAW, round_to=0.5))["stay"].dtype == nw.Float64
    column = make(TABLE[["stay"]])["stay"]
    made = tk.release(column, RAW, secret=TABLE.diagnosis.tolist(), round_to=2)
    assert nw.from_native(made, series_only=True).dtype == nw.Int64


@pytest.mark.draws
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_integers_stay_integers_in_files(tmp_path, suffix):
    TABLE.to_csv(tmp_path / "in.csv", index=False)
    tk.release_file(tmp_path / "in.csv", tmp_path / f"out{suffix}", RAW, round_to=1)
    if suffix == ".csv":
        lines = (tmp_path / "out.csv").read_text().splitlines()
        assert all(line.lstrip("-").isdigit() for line in lines[1:])
    else:
        assert pq.read_schema(tmp_path / "out.parquet").field("stay").type == pa.int64()


# ---- what was not checked is said


@pytest.mark.draws
def test_priors_made_by_hand_say_what_was_not_checked(tmp_path):
    calibration = tk.calibrate(
        {"flu": tk.Mixture.gaussian(0, 1), "none": tk.Mixture.gaussian(1, 1)}, alpha=2, epsilon=1
    )
    assert calibration.answer is None
    assert "name no column" in tk.release([1.0], calibration).unchecked[0]
    assert tk.release(TABLE.stay, RAW, secret=TABLE.diagnosis) is not None
    assert tk.release(TABLE.stay.to_numpy(), RAW, secret=TABLE.diagnosis).unchecked == ()
    TABLE.to_csv(tmp_path / "in.csv", index=False)
    calibration.save(tmp_path / "c.json")
    result = command(tmp_path, "--column", "stay", "--secret", "diagnosis", "--quiet")
    assert "was not checked" in result.stdout


# ---- the ledger


@pytest.mark.draws
def test_a_channel_is_published_once(tmp_path):
    ledger = Ledger(tmp_path / "l.db")
    assert ledger.loss(ROW) == 0
    assert 0 < ledger.loss_after(ROW) <= ROW.epsilon
    tk.release(TABLE, ROW, ledger=ledger)
    account = ledger.account()
    assert (account.is_finite, account.releases, account.fraction_spent) == (True, 1, 1.0)
    assert account.next_theta == account.effective_theta == math.inf
    for ask in (ledger.loss, ledger.loss_after):
        with pytest.raises(InputError, match="published once: see the loss of its calibration"):
            ask(ROW)
    with pytest.raises(InputError, match="theta is for noise"):
        ledger.loss_after(ROW, theta=1.0)
    with pytest.raises(BudgetError, match=r"published once.*together, in one call"):
        tk.release(TABLE, ROW, ledger=ledger)
    with pytest.raises(tk.CompositionError):
        tk.release(TABLE, RAW, ledger=ledger)
    assert ledger.account().releases == 1


def test_nothing_is_charged_for_nothing(tmp_path):
    path = tmp_path / "l.db"
    for calibration in (RAW, ROW):
        assert len(tk.release(TABLE[:0], calibration, ledger=path, order="keep")) == 0
        refused(TABLE, calibration, "is the secret", keep=["diagnosis"], ledger=path)
    assert not path.exists() or Ledger(path).account() is None


def test_an_answer_says_itself_in_words():
    assert str(Answer("row", ("a", "b"), ("s",))) == "row:a,b"
    assert Answer("strange", ("a",), ("s",)).words == "the answer 'strange' about a"
    assert RAW.answer.domain == Lattice(RAW.answer.domain.low, RAW.answer.domain.high, 1)


def test_a_kept_column_that_says_one_of_several_secrets_is_refused():
    rng = np.random.default_rng(5)
    table = TABLE.assign(hiv=rng.random(len(TABLE)) < 0.5)
    priors = tk.fit_priors(table, secret=["diagnosis", "hiv"], query=tk.Row("ward"))
    calibration = tk.calibrate(priors, odds=1.1)
    coded = table.assign(code=table.hiv.map({True: "p", False: "n"}))
    refused(coded, calibration, "'code', which was to be kept", keep=["code"])
    refused(table, calibration, "is the secret", keep=["hiv"])


def test_a_column_that_tells_by_what_is_missing_and_one_named_by_an_iterator_are_refused():
    sick = TABLE.diagnosis == "flu"
    for missing in (np.nan, None, pd.NA, pd.NaT):
        table = TABLE.assign(code=pd.Series([1.0 if flu else missing for flu in sick], dtype=object))
        refused(table, RAW, "'code', which was to be kept", keep=["code"])
    cut = tk.calibrate(tk.fit_priors(TABLE, secret=tk.binned("cost", [40_000]), query=tk.Row("ward")), odds=1.02)
    refused(TABLE, cut, "reveals the secret", keep=iter(["cost"]))


def test_rows_are_left_out_of_several_secrets_only_where_one_is_missing():
    table = TABLE.assign(hiv=np.where(TABLE.id % 3 == 0, "p", np.where(TABLE.id % 3 == 1, "n", "unknown")))
    priors = tk.fit_priors(table, secret=["diagnosis", "hiv"], query=tk.Row("ward"))
    pairs = [("diagnosis = flu", "diagnosis = none"), ("hiv = n", "hiv = p")]
    some = tk.calibrate(priors, odds=1.02, pairs=pairs)
    refused(table, some, "laws of the other secrets were counted with them", others="drop")
