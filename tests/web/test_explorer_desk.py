"""The desk: a page's latest question wins, what it overtook is ended, and only so many are worked on at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import takifugu as tk
from takifugu.web import desk as desks
from takifugu.web.desk import BusyError, Desk, Errand, OvertakenError, WorkerError

_SMALL = {"a": tk.Finite([0, 1], [3, 1]), "b": tk.Finite([0, 1], [1, 3])}


@pytest.fixture
def desk(staffed: Any) -> Any:
    found = Desk()
    with staffed(found):
        yield found
    found.close()


def _large() -> dict[str, tk.Finite]:
    """Laws for which the best channel takes long to find."""
    rng = np.random.default_rng(3)
    values = list(range(700))
    return {name: tk.Finite(values, rng.integers(1, 50, 700)) for name in "abcde"}


def _solve(desk: Desk, page: str, priors: Any, started: threading.Event | None = None) -> Any:
    with desk.errand(page, "answer") as errand:
        errand.tell("solving")
        if started is not None:
            started.set()
        return errand.apart("facts", priors, {"odds": 2}, "?")


def test_work_apart_is_the_work_itself(desk: Desk) -> None:
    apart, here = _solve(desk, "page", _SMALL).calibration, tk.calibrate(_SMALL, odds=2)
    # A process that has done much before may find the last digit of a multiplier otherwise, and with it of the bound.
    assert apart.lower_bound == pytest.approx(here.lower_bound, rel=1e-14)
    assert replace(apart, lower_bound=here.lower_bound) == here


def test_a_newer_question_ends_the_older_one_in_the_middle_of_its_work(desk: Desk) -> None:
    started = threading.Event()
    with ThreadPoolExecutor() as pool:
        older = pool.submit(_solve, desk, "page", _large(), started)
        started.wait(60)
        while desk._latest["page", "answer"].worker is None:  # it is with a worker, or soon will be
            threading.Event().wait(0.01)
        assert desk.progress("page", "answer")["words"].startswith("solving")
        newer = _solve(desk, "page", _SMALL)
        with pytest.raises(OvertakenError):
            older.result(timeout=600)
    assert newer.calibration.guarantee.most_odds == 2
    assert desk.progress("page", "answer") is None


def test_what_a_worker_tries_is_told_with_what_is_done(desk: Desk) -> None:
    priors = tk.fit_priors(tk.datasets.load("student-mat"), secret="schoolsup", query=tk.Row("G3"))
    with desk.errand("page", "answer") as errand:
        errand.tell("finding the channel")
        errand.apart("facts", priors, {"odds": 3, "confidence": 0.9, "preserve": None}, "?")
        told = desk.progress("page", "answer")["words"]
        assert told.startswith("finding the channel. Judging the channel by")
        errand.tell("proving it")
        assert desk.progress("page", "answer")["words"] == "proving it"


def test_another_page_and_another_lane_are_left_alone(desk: Desk) -> None:
    with desk.errand("page", "answer") as mine, desk.errand("other", "answer"), desk.errand("page", "download"):
        mine.check()
        with desk.errand("page", "answer"), pytest.raises(OvertakenError):
            mine.check()


def test_a_question_that_arrives_after_a_later_one_is_the_one_that_is_overtaken(desk: Desk) -> None:
    with desk.errand("page", "answer", 7) as later:
        with pytest.raises(OvertakenError), desk.errand("page", "answer", 6):
            pass
        later.check()
    with pytest.raises(OvertakenError), desk.errand("page", "answer", 6):
        pass
    with desk.errand("other", "answer", 1), desk.errand("page", "answer", 8):
        pass


def test_what_waits_and_is_overtaken_never_starts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk._free["threads"] = 0
    waiting = threading.Event()

    def wait() -> None:
        with desk.errand("page", "answer") as errand:
            waiting.set()
            errand.here(lambda: pytest.fail("it was overtaken"))

    with ThreadPoolExecutor() as pool:
        older = pool.submit(wait)
        waiting.wait(60)
        with desk.errand("page", "answer"), pytest.raises(OvertakenError):
            older.result(timeout=600)


def test_more_than_may_wait_are_sent_away_in_a_sentence(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desks, "MOST_WAITING", 0)
    desk._free["threads"] = 0
    with desk.errand("page", "answer") as errand, pytest.raises(BusyError, match="ask again in a moment"):
        errand.here(lambda: None)


def test_a_refusal_comes_back_as_it_was_and_the_worker_goes_on(desk: Desk) -> None:
    with desk.errand("page", "answer") as errand:
        with pytest.raises(tk.InputError, match="odds must be"):
            errand.apart("facts", _SMALL, {"odds": 0.5}, "?")
        assert errand.apart("facts", _SMALL, {"odds": 2}, "?").question == "?"


def test_a_failure_of_ours_says_nothing_of_the_data(desk: Desk) -> None:
    with desk.errand("page", "answer") as errand, pytest.raises(WorkerError) as told:
        errand.apart("nosuch", "a record")
    assert "record" not in str(told.value)


def test_a_worker_that_was_ended_by_somebody_else_is_replaced(desk: Desk) -> None:
    def kill_it(errand: Errand) -> None:
        while errand.worker is None:
            threading.Event().wait(0.01)
        errand.worker.end()

    with desk.errand("page", "answer") as errand:
        killer = threading.Thread(target=kill_it, args=(errand,))
        killer.start()
        with pytest.raises(WorkerError):
            errand.apart("facts", _large(), {"odds": 2}, "?")
        killer.join()
        assert errand.apart("facts", _SMALL, {"odds": 2}, "?").question == "?"
