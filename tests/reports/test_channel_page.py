"""The report and the command line on finite channels: escaped, self-contained, complete; large and small."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from page_reader import assert_harmless

import takifugu as tk
from takifugu.commands.output import console, tell
from takifugu.problems.answer import Answer
from takifugu.queries.priors import Beliefs, Priors
from takifugu.reports.charts import channel_chart, worst_pair_chart
from takifugu.reports.facts import facts_of
from takifugu.reports.html import render

HOSTILE = "<script>alert(1)</script>\"'&${style}\u202e"


def priors(laws, **about):
    return Priors(laws, rows=dict.fromkeys(laws, 100), **about)


def problems():
    rng = np.random.default_rng(7)
    wide = list(range(200))
    return {
        "numbers": ({k: tk.Finite(range(5), rng.integers(1, 30, 5)) for k in "ab"}, {"odds": 2}),
        "labels": ({k: tk.Finite(["x", "y", HOSTILE], rng.integers(1, 30, 3)) for k in "ab"}, {"odds": 2}),
        "truth values": ({k: tk.Finite([False, True], rng.integers(1, 30, 2)) for k in "ab"}, {"odds": 1.1}),
        "rows": (
            {
                k: tk.Finite([(n, w) for n in (1, 2, 3) for w in ("A", HOSTILE)], rng.integers(1, 30, 6))
                for k in (HOSTILE, "b")
            },
            {"alpha": 2, "epsilon": 0.1},
        ),
        "one value": ({k: tk.Finite(["only"], [1]) for k in "ab"}, {"odds": 2}),
        "twelve secrets": (
            {f"{HOSTILE} {k}": tk.Finite(range(4), rng.integers(5, 30, 4)) for k in range(12)},
            {"alpha": 3, "epsilon": 0.05},
        ),
        "many numbers": (
            {
                k: tk.Finite(wide, 1 + rng.poisson(20 * np.exp(-(((np.array(wide) - m) / 40) ** 2))))
                for k, m in zip("ab", (80, 110), strict=True)
            },
            {"odds": 4},
        ),
        "many labels": (
            {k: tk.Finite([f"label {v}" for v in range(90)], rng.integers(1, 50, 90)) for k in "ab"},
            {"odds": 3},
        ),
        "far apart": (
            {k: tk.Finite([1e-300, 1e12], w) for k, w in zip("ab", ([1, 3], [3, 1]), strict=True)},
            {"odds": 2},
        ),
        "odds beside": (
            {k: tk.Finite(range(3), rng.integers(1, 30, 3)) for k in "ab"},
            {"alpha": 2, "epsilon": 0.05, "odds": 2},
        ),
        "absolute": (
            {k: tk.Finite(range(3), rng.integers(1, 30, 3)) for k in "ab"},
            {"odds": 1.2, "utility": tk.Utility(loss="absolute")},
        ),
        "matrix": (
            {k: tk.Finite(["x", "y"], rng.integers(1, 30, 2)) for k in "ab"},
            {"odds": 1.2, "utility": tk.Utility(loss=[[0, 2], [1, 0]])},
        ),
    }


PROBLEMS = problems()


@pytest.fixture(scope="module", params=PROBLEMS)
def facts(request):
    laws, asked = PROBLEMS[request.param]
    answer = Answer("row", ("x",), ("secret",)) if request.param == "numbers" else None
    return facts_of(tk.calibrate(priors(laws, answer=answer), **asked))


def test_every_channel_has_a_harmless_page(facts):
    page = render(facts)
    reader = assert_harmless(page)
    assert not re.search(r"\b(nan|None|inf)\b", reader.words)
    assert "What the channel does" in reader.words
    assert "What an adversary can still infer" in reader.words
    if math.isinf(facts.alpha):
        assert "by more than a factor of" in reader.words


def test_pictures_stay_within_their_frame(facts):
    for k, column in enumerate(facts.columns):
        for chart in (channel_chart(column, name=f"c{k}"), worst_pair_chart(column, facts.worst_pair, name=f"p{k}")):
            root = ElementTree.fromstring(str(chart))
            _, _, width, height = map(float, root.get("viewBox").split())
            squares = list(root.iter("rect"))
            assert squares
            for square in squares:
                x, y, w, h = (float(square.get(name)) for name in ("x", "y", "width", "height"))
                assert -1 <= x <= x + w <= width + 1
                assert -1 <= y <= y + h <= height + 1
            for text in root.iter("text"):
                if text.get("x"):
                    assert -1 <= float(text.get("x")) <= width + 1


def test_the_command_line_tells_the_same(facts, capsys):
    tell(facts, console())
    told = " ".join(capsys.readouterr().out.split())
    assert "\u202e" not in told
    for said in ("Changed", "Worst odds", "Best guess", "Worst pair’s loss"):
        assert said in told
    from takifugu.reports import words

    start = " ".join(words.channel_answer(facts).split())[:60]
    assert start in told


def test_twelve_secrets_are_a_matrix_and_one_pair_is_none():
    many, one = (
        render(facts_of(tk.calibrate(PROBLEMS[name][0], **PROBLEMS[name][1]))) for name in ("twelve secrets", "numbers")
    )
    assert "The loss of each of 66 pairs" in many
    assert "How close the others come" not in one


def test_beliefs_are_named():
    cells = [
        Priors({"a": tk.Finite([0, 1], [5 + k, 5]), "b": tk.Finite([0, 1], [5, 5 + k])}, label=f"ward = {HOSTILE} {k}")
        for k in range(1, 14)
    ]
    result = tk.calibrate(Beliefs(cells), odds=1.3)
    text = assert_harmless(render(facts_of(result))).words
    assert "each of 13 beliefs" in text
    assert "Of 13 beliefs, the one shown binds: ward = <script>" in text


def test_a_gaussian_calibration_has_its_matrix_too():
    many = {f"{HOSTILE} {k}": tk.Mixture.gaussian(k / 10, 1) for k in range(12)}
    text = assert_harmless(render(facts_of(tk.calibrate(many, alpha=2, epsilon=0.5), compare=False))).words
    assert "The loss of each of 66 pairs" in text
    beliefs = [{"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(k, 1)} for k in (1, 2, 3)]
    text = assert_harmless(render(facts_of(tk.calibrate(beliefs, alpha=2, epsilon=0.5), compare=False))).words
    assert "closest to the limit is “belief 3 of 3”" in text


def test_sixty_values_are_shown_one_by_one():
    laws = {k: tk.Finite(range(60), np.arange(1, 61)[:: 1 if k == "a" else -1]) for k in "ab"}
    chart = str(channel_chart(facts_of(tk.calibrate(laws, odds=5), compare=False).columns[0], name="c"))
    assert chart.count("<g><title>") >= 60
    labels = [t.text for t in ElementTree.fromstring(chart).iter("text") if t.text.isdigit()]
    assert len(labels) < 60  # thinned, so that none covers another


def test_commands_still_tell_gaussian_noise():
    from takifugu.cli import main

    asked = ["calibrate", "heart", "--secret", "slope", "--pair", "1", "3", "--query", "mean:oldpeak"]
    result = CliRunner().invoke(main, [*asked, "--alpha", "2", "--epsilon", "0.5"])
    assert result.exit_code == 0
    assert "Noise θ" in result.output


def test_a_channel_that_changes_more_rows_by_less_says_so():
    rng = np.random.default_rng(0)
    rows = [(k, ward) for k in (10, 20, 30) for ward in ("north", "south")]
    made = tk.calibrate({f"D{k}": tk.Finite(rows, rng.integers(3, 40, 6)) for k in range(12)}, odds=1.5)
    facts = facts_of(made)
    chosen = next(one for one in facts.costs if one.is_chosen)
    assert any(one.changed < chosen.changed for one in facts.costs if one.changed is not None)
    assert "may change more rows, each of them by less" in render(facts)


@pytest.mark.parametrize("own", [True, False])
def test_a_page_says_once_whether_the_probabilities_may_go_out(own):
    """Those that were fitted to the rows are not for the public, at the top of the page as at its end."""
    table = pd.DataFrame({"s": ["a", "b"] * 20, "v": ["x", "x", "y", "y", "x"] * 7 + ["x", "y"] * 2 + ["x"]})
    asked = {"secret": "s", "columns": ["v"], "domain": ["x", "y"], "odds": 2, "confidence": None}
    made = tk.publish(
        table,
        **asked,
        adversary=tk.Adversary(beliefs={"last year": table}, own=own),
        utility=tk.Utility(allow_no_noise=True),
    ).calibration
    page = render(facts_of(made))
    assert ("the probabilities of the channel, the guarantee" in page) is not own
    assert ("The probabilities are for you alone" in page) is own
    assert ("The probabilities may be published" in page) is not own
