"""The whole study, small: what is written, that it is proved, that it is the same again."""

import csv
import json
import math
import re

import pytest
from click.testing import CliRunner
from small_study import small_models, small_plan

import takifugu as tk
from takifugu.cli import main
from takifugu.paper import evaluation as reproducing
from takifugu.paper import figures
from takifugu.paper.cache import Cache
from takifugu.paper.evaluation import reproduce
from takifugu.paper.settings import FIGURES, Setting


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        small_models(patch)
        told = []
        cache = Cache(folder / "cache")
        results = reproduce(folder / "out", small_plan(*FIGURES), cache, lambda *step: told.append(step))
    return folder, results, told


def read(folder):
    with (folder / "out" / "results.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_figure_comes_twice_and_the_numbers_once(done):
    folder, results, _ = done
    names = {path.relative_to(folder / "out").as_posix() for path in (folder / "out").rglob("*") if path.is_file()}
    drawn = {f"figures/figure-{name}.{kind}" for name in FIGURES for kind in ("svg", "png")}
    assert names == drawn | {"index.html", "results.csv", "results.json"}
    rows = read(folder)
    keys = [(r["dataset"], r["query"], r["prior"], r["alpha"], r["epsilon"], r["series"]) for r in rows]
    assert len(set(keys)) == len(keys) == len(results.study.points)


def test_every_theta_of_ours_is_proved(done):
    rows = [row for row in read(done[0]) if row["series"] in ("paper", "exact")]
    assert len(rows) > 100
    assert {row["certified"] for row in rows} == {"yes"}


def test_exact_is_least_among_what_promises_the_same(done):
    _, results, _ = done
    best = {}
    for p in results.study.points:
        if p.guarantee == "rpp" and p.series != "gwm-empirical":
            best.setdefault((p.dataset, p.query, p.prior, p.alpha, p.epsilon), {})[p.series] = p.theta
    assert all(each["exact"] <= min(each.values()) * (1 + 1e-9) for each in best.values())


def test_a_point_is_what_calibrate_says(done):
    _, results, _ = done
    setting = Setting("heart", "raw", "mixture")
    priors = results.study.fits[setting].priors
    query = tk.Raw("oldpeak", prior="mixture", step=0)  # the paper's setting: values as they are
    assert priors == dict(tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=query, secrets=[1, 3]))
    (low, high) = results.study.line(setting, "exact", 3.0)
    assert low.theta == tk.calibrate(priors, alpha=3, epsilon=low.epsilon).theta
    assert low.theta > high.theta


def test_gwm_on_fitted_gaussians_is_infinite_and_said_so(done):
    rows = [r for r in read(done[0]) if r["series"] == "gwm" and r["query"] == "mean"]
    assert rows
    assert {row["theta"] for row in rows} == {"inf"}


def test_the_json_holds_it_all_without_nan(done):
    folder, _, _ = done
    content = json.loads((folder / "out" / "results.json").read_text(), parse_constant=pytest.fail)
    assert set(content) == {"plan", "environment", "headline", "claims", "fits", "points"}
    assert content["environment"]["takifugu"] == tk.__version__
    assert all(math.isfinite(r["mean"]) for r in content["headline"] if r["settings"])


def test_the_page_opens_offline(done):
    text = (done[0] / "out" / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<script|<link", re.sub(r"base64,[^\"]*", "", text))
    assert text.count("<figure") == len(FIGURES)
    assert "A quick run" in text


def test_the_same_again_byte_for_byte_and_nothing_computed(done, tmp_path, monkeypatch):
    folder, results, _ = done
    small_models(monkeypatch)
    cache = Cache(folder / "cache")
    reproduce(tmp_path, results.study.plan, cache)
    assert cache.computed == 0
    for name in ("results.csv", "results.json", "index.html", "figures/figure-3.svg", "figures/figure-8.png"):
        assert (tmp_path / name).read_bytes() == (folder / "out" / name).read_bytes(), name


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    # Figures are drawn when all is computed, and others look at them.
    monkeypatch.setattr(reproducing, "draw", lambda name, study: None)
    monkeypatch.setattr(reproducing, "save_figure", lambda figure, stem: b"<svg/>")
    plan, kept = small_plan("2"), tmp_path / "cache"

    def stop(done, total, what):
        if done == 6:
            raise KeyboardInterrupt

    first = Cache(kept)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path / "out", plan, first, stop)
    assert not (tmp_path / "out").exists()
    second = Cache(kept)
    reproduce(tmp_path / "out", plan, second)
    assert second.found == first.computed > 0
    whole = Cache(None)
    reproduce(tmp_path / "again", plan, whole)
    assert whole.computed == second.found + second.computed
    assert (tmp_path / "again" / "results.csv").read_bytes() == (tmp_path / "out" / "results.csv").read_bytes()


def test_progress_names_every_step(done):
    told = done[2]
    assert [step[0] for step in told] == list(range(len(told)))
    assert told[-1][0] == told[-1][1]
    assert any("Adult RAW" in what for _, _, what in told)


def test_the_command_draws_what_it_is_asked_for(tmp_path):
    arguments = ["reproduce", "-o", str(tmp_path / "out"), "--cache", str(tmp_path / "c"), "--quick", "--only", "2"]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    assert "Proved: 80 of 80" in found.output
    assert [path.name for path in sorted((tmp_path / "out" / "figures").iterdir())] == ["figure-2.png", "figure-2.svg"]
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "not run" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--only", "9"], "there is no figure '9'"), (["1", "2"], "--only 1 2"), (["--only", "1", "x"], "no figure 'x'")],
)
def test_a_wrong_figure_is_refused_in_a_sentence(arguments, said):
    found = CliRunner().invoke(main, ["reproduce", *arguments])
    assert found.exit_code == 2
    assert said in found.output


def test_without_matplotlib_the_extra_is_named_before_anything_is_computed(monkeypatch, tmp_path):
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    cache = Cache(None)
    with pytest.raises(tk.MissingExtraError, match=r"takifugu\[studies\]"):
        reproduce(tmp_path, small_plan("2"), cache)
    assert cache.computed == 0
