"""What a command says while it works: steps, and what is tried within one."""

import io

import pytest
from rich.console import Console

import takifugu as tk
from takifugu._listening import listening, tell
from takifugu.commands import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_long_step_says_what_it_tries():
    heard = []
    priors = tk.fit_priors(tk.datasets.load("student-mat"), secret="schoolsup", query=tk.Row("G3"))
    with listening(heard.append):
        tk.calibrate(priors, odds=3, confidence=0.95, keep=None)
    tried = [what for what in heard if what.startswith("Trying how wide")]
    assert len(tried) >= 2
    assert tried[1].endswith("channel 2")
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
        assert ("the second margin" in stream.getvalue()) is seen
        assert "\n" not in stream.getvalue()
    assert out.file.getvalue().count(" 1. Finding the channel") == 2


def test_quiet_is_quiet(monkeypatch):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    steps = progress.Steps(Console(file=(said := io.StringIO())), quiet=True)
    steps("Finding the channel")
    steps.meanwhile("the second margin")
    assert said.getvalue() == terminal.getvalue() == ""
