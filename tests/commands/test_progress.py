"""What a command says while it works: steps, and what is tried within one."""

import io
import itertools
import logging
import re
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

import takifugu as tk
from takifugu import _work as _listening
from takifugu._work import detail, listening, tell
from takifugu.cli import main
from takifugu.commands import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_long_step_says_what_it_tries():
    heard = []
    priors = tk.fit_priors(tk.datasets.load("student-mat"), secret="schoolsup", query=tk.Row("G3"))
    with listening(heard.append):
        tk.calibrate(priors, odds=3, confidence=0.95, preserve=None)
    tried = [what for what in heard if what.startswith("Trying how wide")]
    assert len(tried) >= 2
    assert re.search(r": channel 2( of about \d+)?$", tried[1])
    searches = [
        re.fullmatch(r"Trying how wide a margin must be \((\d) of (\d)\): channel (.*)", what) for what in tried
    ]
    numbers = [int(one[1]) for one in searches]
    assert numbers == sorted(numbers)
    assert {int(one[2]) for one in searches} == {max(numbers)}
    ends = [one[3].split(" of about ") for one in searches]
    known = [(int(at), int(of[0])) for at, *of in ends if of]
    assert len(known) > len(tried) / 3
    assert all(at <= of for at, of in known)
    assert heard[-1].startswith("Judging the channel by")


def test_an_error_ends_the_listening():
    heard = []
    with pytest.raises(RuntimeError), listening(heard.append):
        raise RuntimeError
    tell("nobody hears this")
    assert heard == []


def test_a_line_is_written_over_on_a_terminal_and_kept_from_files(monkeypatch):
    out = Console(file=io.StringIO(), width=80)
    for stream, seen in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        steps = progress.Steps(out, quiet=False)
        steps("Finding the channel")
        steps.meanwhile("the second margin")
        steps.end()
        assert ("the second margin" in stream.getvalue()) is seen
        assert "\n" not in stream.getvalue()
    assert out.file.getvalue().count(" 1. Finding the channel") == 2


def test_a_long_step_is_told_within_a_margin():
    out = Console(file=io.StringIO(), width=40)
    progress.Steps(out, quiet=False)("Finding the channel, for 1,000 combinations: it may take minutes")
    progress.done()
    assert out.file.getvalue() == " 1. Finding the channel, for 1,000\n    combinations: it may take minutes\n"


def test_in_a_file_a_line_is_added_now_and_then_and_only_while_something_is_done(monkeypatch):
    monkeypatch.setattr("sys.stderr", file := io.StringIO())
    clock = [100.0]
    stopped = threading.Event()  # so that nothing but this test beats, and no clock is waited for
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=lambda _: stopped.wait(60)))
    line = progress._Line()
    line.show("   ", anew=True)
    for _ in range(25):
        clock[0] += 1
        line.beat()
    line.show("    Trying how wide", anew=False)
    for _ in range(20):
        clock[0] += 1
        line.beat()
    line.show("the next step", anew=True)
    clock[0] += 19
    line.beat()
    line.wipe()
    stopped.set()
    assert file.getvalue() == "    … 20 s\n    … 40 s: Trying how wide\n"


def test_the_line_says_of_how_many_seconds_while_that_holds(monkeypatch):
    monkeypatch.setattr("sys.stderr", file := io.StringIO())
    clock, stopped = [100.0], threading.Event()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=lambda _: stopped.wait(60)))
    line = progress._Line()
    line.show("Finding it", anew=True)
    clock[0] += 5
    line.expect(50.0)
    for _ in range(60):
        clock[0] += 1
        line.beat()
    line.show("Proving it", anew=True)
    line.expect(1.0)
    clock[0] += 20
    line.beat()
    line.wipe()
    stopped.set()
    assert [one.strip() for one in file.getvalue().splitlines()] == [
        "… 20 s of about 50 s: Finding it",
        "… 40 s of about 50 s: Finding it",
        "… 60 s: Finding it",
        "… 20 s: Proving it",
    ]


def test_a_search_says_how_long_it_takes_and_a_sweep_where_it_is():
    laws = {name: tk.Finite(range(12), np.random.default_rng(k).dirichlet(np.ones(12))) for k, name in enumerate("ab")}
    expected, told = [], []
    with listening(told.append, expecting=expected.append):
        tk.calibrate(laws, odds=2)
        tk.sweep(laws, odds=[2, 3])
    assert len(expected) == 3
    assert all(0 < one < 2 for one in expected)
    assert [one for one in told if one.startswith("Row")] == ["Row 1 of 2", "Row 2 of 2"]


def test_quiet_is_quiet(monkeypatch):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    steps = progress.Steps(Console(file=(said := io.StringIO())), quiet=True)
    steps("Finding the channel")
    steps.meanwhile("the second margin")
    assert said.getvalue() == terminal.getvalue() == ""


def test_a_line_lives_while_nothing_is_told(monkeypatch):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setattr(progress, "_BEAT", 0.01)
    clock = itertools.count()  # a second passes at each look
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=time.sleep))
    steps = progress.Steps(Console(file=io.StringIO()), quiet=False)
    steps("Finding the channel")
    steps.meanwhile("x" * 200)
    before = len(terminal.getvalue())
    while len(terminal.getvalue()) < before + 400:  # by the thread alone: nothing is told here
        time.sleep(0.01)
    steps.end()
    lines = terminal.getvalue().split("\r")
    assert max(map(len, lines)) <= 76
    assert re.search(r"x … \d+ s *$", lines[-3])
    assert lines[-2].strip() == lines[-1] == ""  # wiped at the end


def test_threads_end_with_their_line(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr(progress, "_BEAT", 0.001)
    before = threading.active_count()
    for _ in range(5):
        progress.doing("one thing")
        progress.doing("another", anew=False)
        progress.done()
    for thread in threading.enumerate():
        if thread.daemon and "_count" in thread.name:
            thread.join(60)
    assert threading.active_count() <= before


def test_details_follow_what_was_told_and_are_few(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(_listening, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    heard = []
    with listening(heard.append):
        clock[0] = 10.0
        detail("a first step")
        tell("The second margin")
        for k in range(1, 10):
            clock[0] += 0.125
            detail(f"step {k}")
    detail("nobody hears this")
    assert heard == ["A first step", "The second margin", "The second margin: step 4", "The second margin: step 8"]


def test_one_large_program_tells_its_steps():
    rng = np.random.default_rng(0)
    laws = {name: tk.Finite(range(70), rng.dirichlet(np.ones(70))) for name in "ab"}
    heard = []
    with pytest.MonkeyPatch.context() as patch, listening(heard.append):
        patch.setattr(_listening, "_EVERY", 0.0)
        tk.calibrate(laws, alpha=3, epsilon=0.1, preserve=None)
        tk.calibrate(laws, odds=2, options={"solver": "columns"})
    assert any(re.match(r"Step \d+ of the solver, within", what) for what in heard)
    assert any(re.match(r"Round \d+ of the linear program, of [\d,]+ moves", what) for what in heard)


def test_counts_are_shown_on_a_terminal_and_wiped_at_the_end(monkeypatch):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    with progress.counting("proved", quiet=False) as show:
        show(3, 12)
    assert "proved 3 of 12 (25%)" in terminal.getvalue()
    assert terminal.getvalue().split("\r")[-2].strip() == ""
    with progress.counting("proved", quiet=True) as show:
        assert show is None
    monkeypatch.setattr("sys.stderr", file := io.StringIO())
    with progress.counting("proved", quiet=False) as show:  # of which a file is told now and then, if it takes long
        show(3, 12)
    assert file.getvalue() == ""


def test_what_the_library_logs_stands_above_the_line(monkeypatch):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    log = logging.getLogger("takifugu")
    with progress.noticing():
        progress.doing("Drawing")
        log.warning("started a new ledger, %s", "people.ledger")
        progress.done()
    assert [line.split("\r")[-1] for line in terminal.getvalue().split("\n")] == [
        "started a new ledger, people.ledger",
        "",
    ]
    monkeypatch.setattr("sys.stderr", file := io.StringIO())
    with progress.noticing():
        log.warning("another: give odds")
    log.warning("nobody hears this")
    assert file.getvalue() == "another: give --odds\n"


def test_a_publication_says_of_about_how_long_it_searches_and_how_many_rows_are_left(monkeypatch, tmp_path):
    monkeypatch.setattr(progress, "_BEAT", 0.01)
    monkeypatch.setattr(progress, "_SELDOM", 0.0)  # every beat is a line, as every twentieth second is in a file
    monkeypatch.setattr(progress, "WORTH_COUNTING", 0.0)
    monkeypatch.setattr(_listening, "WORTH_COUNTING", 0.0)
    monkeypatch.setattr("takifugu.mechanisms.Size.seconds", 3_000.0)  # so that it holds on any machine
    asked = ["--secret", "schoolsup", "--columns", "G3", "--odds", "3", "--preserve", "none"]
    ended = CliRunner().invoke(main, ["publish", "student-por", str(tmp_path / "out.csv"), *asked])
    assert ended.exit_code == 0, ended.output
    lines = [line.strip() for line in ended.stderr.splitlines()]
    assert any(re.fullmatch(r"… \d+ s of about 50 min: Trying how wide .*", line) for line in lines)
    assert not any(" of about 50 min" in line and "rows" in line for line in lines)  # what is expected ends with it
