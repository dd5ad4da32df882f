"""Requests to end: what is put off, what is raised again, and what a command leaves behind at any moment."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import takifugu as tk
from forked import processes
from takifugu import _work
from takifugu._work import heed, step, together, undisturbed, unheard
from takifugu.releases.ledger_file import LedgerFile

MOMENTS = 24


@pytest.fixture(autouse=True)
def own_signals():
    """Spark, once it was started in a process, hears Ctrl-C in its own way."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_a_block_that_is_not_broken_off_ends_first():
    done = []

    def work():
        with undisturbed():
            interrupt()
            done.append("first")
        done.append("second")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["first"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_in_such_a_block_is_that_error():
    def work():
        with undisturbed():
            interrupt()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("beginning", [True, False])
def test_what_belongs_together_is_done_once_it_has_begun(beginning):
    done = []

    def work():
        with together():
            with undisturbed(beginning=beginning):
                done.append("table")
            interrupt()
            done.append("paper")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["table", "paper"][: 1 + beginning]


def test_another_thread_hears_no_signals_and_says_so():
    seen = []

    def work():
        with undisturbed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_a_request_that_was_swallowed_is_raised_again(monkeypatch):
    heed()
    monkeypatch.setattr(_work, "_requests", requests := _work._Requests())
    with pytest.raises(KeyboardInterrupt):
        requests.hear(signal.SIGTERM, None)
    for again in (heed, lambda: step("the next"), lambda: undisturbed().__enter__()):
        with pytest.raises(KeyboardInterrupt):
            again()
    requests.over = True
    heed()
    requests.hear(signal.SIGTERM, None)


def test_processes_that_start_unheard_do_not_hear_ctrl_c():
    with unheard():
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    child.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.3)
    child.kill()
    child.wait()


# Commands that are asked to end at some moment, by Ctrl-C or otherwise: all files or none, and one sentence.

SECRET, COLUMNS = "sex", ["education-num", "marital-status"]
_PROGRAM = """
import atexit, os, signal, sys, time
delay, number, used = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
sys.argv = ["takifugu", *sys.argv[4:]]

def end():
    signal.setitimer(signal.ITIMER_PROF, 0)
    with open(used, "w", encoding="utf-8") as file:
        file.write(str(time.process_time()))

atexit.register(end)
signal.signal(signal.SIGPROF, lambda *_: os.kill(os.getpid(), number))
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.setitimer(signal.ITIMER_PROF, delay)  # of processor time: the machine may be busy with other things
from takifugu.__main__ import main
main()
"""
_COMMANDS = {
    "publish": [
        *("publish", "people.csv", "out.csv", "--secret", SECRET, "--columns", ",".join(COLUMNS)),
        *("--confidence", "0", "--ledger", "old.ledger", "--id", "nr", "--positions", "key.csv"),
    ],
    "csv": ["release", "people.csv", "out.csv", "--calibration", "made.json", "--ledger", "old.ledger", "--id", "nr"],
    "parquet": ["release", "people.parquet", "out.parquet", "--calibration", "made.json", "--positions", "key.csv"],
    "calibrate": [
        *("calibrate", "people.csv", "--secret", SECRET, "--query", "row:education-num", "--odds", "3"),
        *("--confidence", "0.9", "--report", "r.html", "--certificate", "c.json", "--public", "p.json"),
    ],
}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A folder with a table in two forms, what was calibrated on it, and a ledger that knows other people."""
    folder = tmp_path_factory.mktemp("given")
    adult = tk.datasets.load("adult")
    people = adult.iloc[np.random.default_rng(0).integers(0, len(adult), 30_000)].reset_index(drop=True)
    people.insert(0, "nr", np.arange(len(people)))
    others = people.iloc[:2_000].assign(nr=lambda frame: frame["nr"] + 10**6)
    people.to_csv(folder / "people.csv", index=False)
    people.to_parquet(folder / "people.parquet")
    made = tk.calibrate(tk.fit_priors(people, secret=SECRET, query=tk.Row(*COLUMNS)), odds=3)
    made.save(folder / "made.json")
    tk.release(others, made, ledger=tk.Ledger(folder / "old.ledger", id="nr"))
    return folder


def entries(folder):
    """How many entries each ledger has, all of them verified."""
    return {path.name: len(LedgerFile(path).read().entries) for path in folder.glob("*.ledger")}


@pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX's")
@pytest.mark.parametrize("name", _COMMANDS)
def test_a_command_that_is_asked_to_end_leaves_nothing_behind(name, given, tmp_path):
    arguments = _COMMANDS[name]
    program, chance = tmp_path / "asked.py", random.Random(name)
    program.write_text(_PROGRAM, encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = os.environ | {"TMPDIR": str(temporary)}
    known = {path.name for path in given.iterdir()}

    def run(start, delay, number):
        folder = tmp_path / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(given, folder)
        ended = start([program, delay, int(number), tmp_path / "used", *arguments], folder)
        return ended, {path.name for path in folder.iterdir()} - known, folder

    with processes("pandas", "takifugu", environment=environment) as start:
        ended, every, folder = run(start, 600, signal.SIGINT)
        assert ended.status == 0, ended.complained
        before, after = entries(given), entries(folder)
        seconds, interrupted = float((tmp_path / "used").read_text()), 0
        for moment in range(MOMENTS // len(_COMMANDS)):
            number = (signal.SIGINT, signal.SIGTERM)[moment % 2]
            ended, there, folder = run(start, seconds * chance.uniform(0.02, 1.0), number)
            assert ended.status in (0, 130), ended.complained
            assert there in (set(), every)
            assert list(temporary.iterdir()) == []
            assert entries(folder) in (before, after)
            said = [line for line in ended.complained.splitlines() if "ledger" not in line and "…" not in line]
            assert said == [_work.SENTENCE] * (ended.status == 130)
            interrupted += ended.status == 130
        assert interrupted
