"""The pages on channels: small studies, whose numbers are looked at, and the pages that are in the documentation."""

import re
from pathlib import Path

import numpy as np
import pytest

import takifugu as tk
from studies import channel_pages, side_by_side, usefulness
from takifugu.paper.cache import Cache

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    small = {"epsilons": (0.5, 2.0), "budgets": (0.5,), "datasets": ("student-por", "heart"), "most_draws": 3}
    channel_pages.write(folder, Cache(folder / "cache"), **small)
    return folder


@pytest.mark.parametrize("name", ["side-by-side.md", "usefulness.md"])
def test_a_page_is_whole(folder, name):
    page = (folder / name).read_text(encoding="utf-8")
    assert "$" not in page
    assert "nan" not in page
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert len(rows) > 10
    for picture in re.findall(r"\]\((images/[^)]+)\)", page):
        assert (folder / picture).stat().st_size > 10_000
        assert (DOCS / picture).exists()


@pytest.mark.parametrize("name", ["side-by-side.md", "usefulness.md"])
def test_the_documentation_has_the_page_that_is_written_now(folder, name):
    """All but the numbers: those take minutes."""

    def skeleton(path: Path) -> list[str]:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [re.sub(r"[\d.,−]+", "#", line) for line in lines if line.startswith(("#", "!", "- ", "```"))]

    ours, theirs = skeleton(folder / name), skeleton(DOCS / name)
    assert set(ours) <= set(theirs)


def test_the_best_channel_errs_least_and_its_bounds_hold(folder):
    found = side_by_side.measured(Cache(folder / "cache"), datasets=("student-por",), epsilons=(0.5, 2.0))
    for epsilon in (0.5, 2.0):
        at = {one.line: one for one in found if one.epsilon == epsilon}
        best = at["optimal"]
        assert best.bound <= best.error <= at["optimal-kept"].error
        assert all(best.error < one.error for one in at.values() if one.line != "optimal")
    own = side_by_side.reduction(found, "optimal", datasets=("student-por",))
    ratios = [
        next(o.error for o in found if (o.epsilon, o.line) == (e, "optimal"))
        / next(o.error for o in found if (o.epsilon, o.line) == (e, "wasserstein"))
        for e in (0.5, 2.0)
    ]
    assert own.mean == pytest.approx(1 - np.mean(ratios))
    assert own.squared == pytest.approx(1 - np.mean(np.square(ratios)))
    assert own.least == pytest.approx(1 - max(ratios))
    assert own.mean > 0.9


def test_the_ways_keep_the_same_promise():
    """In plain sums; of noise the rounding is post-processing, so its loss is at most that."""
    column = usefulness.column_of("student-por")
    laws = [dict(zip(law.values, law.probabilities, strict=True)) for law in column.laws.values()]
    for way in usefulness.ways(column, 0.5):
        assert way.chances.sum(axis=1) == pytest.approx(1)
        p, q = (np.array([law.get(v, 0.0) for v in column.values.tolist()]) @ way.chances for law in laws)
        losses = [np.log(np.sum(a[a > 0] ** 3 * b[a > 0] ** -2.0)) / 2 for a, b in ((p, q), (q, p))]
        assert 0.45 < max(losses) <= 0.5 * (1 + 1e-6)


def test_randomized_response_is_the_least_that_is_enough():
    column = usefulness.column_of("student-por")
    chances = usefulness.randomized_response(column, 0.5)
    share = 1 - (chances[0, 0] - chances[0, 1])
    size = len(chances)
    weaker = (1 - 0.99 * share) * np.eye(size) + 0.99 * share / size
    laws = [tk.Finite(column.values.tolist(), law.probabilities @ weaker) for law in column.laws.values()]
    assert max(tk.renyi_divergence(*laws, alpha=3), tk.renyi_divergence(*laws[::-1], alpha=3)) > 0.5


def test_measures_of_what_was_not_changed():
    column = usefulness.column_of("heart")
    same = usefulness.Way("same", column.values, np.eye(len(column.values)))
    for one in usefulness.measures(column, same, draws=2, seed=1):
        assert one["mean"] == pytest.approx(0, abs=1e-12)
        assert one["quantiles"] == 0
        assert one["histogram"] == pytest.approx(0, abs=1e-12)
        assert one["slope"] == pytest.approx(1)


def test_noise_in_a_predictor_flattens_as_theory_says():
    """By the spread of the values over that of values and noise; the correction brings it back."""
    column = usefulness.column_of("adult")
    noise = usefulness.ways(column, 0.5)[0]
    spread = float(column.shares @ column.values**2 - (column.shares @ column.values) ** 2)
    added = float(column.shares @ (noise.chances * (column.values[:, None] - noise.outputs) ** 2).sum(axis=1))
    published, corrected = usefulness.measures(column, noise, draws=2, seed=2)
    assert published["slope"] == pytest.approx(spread / (spread + added), abs=0.02)
    assert corrected["slope"] == pytest.approx(1, abs=0.06)
