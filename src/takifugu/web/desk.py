"""A process for work that may take long: it can be ended at any moment, which a thread inside a solver cannot.

It reads one task after another from its standard input and answers on its standard output, both as pickles: whoever
started it speaks to it, and nobody else can. Before an answer it may tell what is being tried.
"""

import os
import pickle
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition
from typing import IO, Any, TypeVar

from takifugu._work import listening
from takifugu.errors import InputError, TakifuguError


def facts(priors: Any, options: Mapping[str, Any], question: str) -> Any:
    """Calibrate, and what there is to say about it, without comparing it with other ways."""
    from takifugu.reports import NoiseFacts, facts_for

    found = facts_for(priors, asked=options, question=question, compare=False)
    if isinstance(found, NoiseFacts):
        _ = found.noise_curves  # here, where it can be ended: under (ε, δ) the curve takes longer than the noise
    return found


def compared(calibration: Any, question: str) -> Any:
    """What there is to say about a calibration, with what other ways would have cost."""
    from takifugu.reports import facts_of

    return facts_of(calibration, question=question)


def proved(calibration: Any) -> Any:
    """The certificate."""
    from takifugu.certificates import certify

    return certify(calibration)


TASKS: dict[str, Callable[..., object]] = {task.__name__: task for task in (facts, compared, proved)}


def main() -> None:
    """Answer until the other end is closed."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # a solver's own prints are no answers
    facts_are_ready()
    while True:
        try:
            task, arguments = pickle.load(questions)
        except EOFError:
            return
        answer: tuple[str, Any]
        try:
            with listening(lambda words: _send(answers, ("telling", words))):
                answer = ("done", TASKS[task](*arguments))
        except TakifuguError as error:
            answer = ("refused", error)
        except Exception as error:
            answer = ("failed", type(error).__name__)  # its message may hold what is in the table
        _send(answers, answer)


def _send(answers: IO[bytes], message: tuple[str, object]) -> None:
    pickle.dump(message, answers)
    answers.flush()


def facts_are_ready() -> None:
    """Import what every task needs, before the first one comes."""
    from takifugu.certificates import certify  # noqa: F401
    from takifugu.reports import facts_for  # noqa: F401


# Who works on what: each page's latest question wins, and only so many are worked on at a time.
#
# A question that a newer one of the same page has overtaken is dropped: where it waits it never starts, and where a
# worker is at it, the worker is ended and another takes its place.


T = TypeVar("T")

MOST_WORKERS = 2  # processes that solve at the same time
MOST_THREADS = 4  # lighter questions that are answered at the same time
MOST_WAITING = 8  # questions that may wait for their turn
_PAGES = 32  # whose latest question is remembered


class OvertakenError(Exception):
    """A newer question of the same page has come: nobody waits for this one any more."""


class BusyError(InputError):
    """Too many questions wait already."""


class WorkerError(Exception):
    """A worker failed in a way that is a mistake of ours, or was ended by somebody else."""


class Errand:
    """One question on its way to an answer."""

    def __init__(self, desk: "Desk") -> None:
        """Begin."""
        self._desk = desk
        self.is_overtaken = False
        self.words, self.since = "waiting for its turn", time.monotonic()
        self.tried = ""  # what a worker is at, within that
        self.worker: _Worker | None = None

    def tell(self, words: str) -> None:
        """What is being done now, for whoever waits."""
        self.check()
        self.words, self.since, self.tried = words, time.monotonic(), ""

    def check(self) -> None:
        """Stop here where a newer question has come."""
        if self.is_overtaken:
            raise OvertakenError

    def here(self, act: Callable[[], T]) -> T:
        """Do light work in this thread, when it is its turn."""
        with self._desk.turn(self, "threads"):
            return act()

    def apart(self, task: str, *arguments: object) -> Any:
        """Do heavy work in a process that is ended when a newer question comes."""
        with self._desk.turn(self, "workers"), self._desk.worker(self) as worker:
            return worker.answer(task, arguments, self.hear)

    def hear(self, words: str) -> None:
        """What a worker tells of its work."""
        self.tried = words


class Desk:
    """Takes questions from pages and hands them to threads and workers."""

    def __init__(self) -> None:
        """Nothing to do yet."""
        self._changed = Condition()
        self._free = {"threads": MOST_THREADS, "workers": MOST_WORKERS}
        self._waiting = 0
        self._idle: list[_Worker] = []
        self._latest: dict[tuple[str, str], Errand] = {}
        self._turns: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._closed = False

    @contextmanager
    def errand(self, page: str, lane: str, turn: int = 0) -> Iterator[Errand]:
        """A question of a page; what the page asked before in the same lane is overtaken.

        Two questions may arrive in another order than they were asked in: of two turns the larger is the later.
        """
        mine = Errand(self)
        with self._changed:
            if turn < self._turns.get((page, lane), 0):
                raise OvertakenError
            self._turns[page, lane] = turn
            self._turns.move_to_end((page, lane))
            while len(self._turns) > _PAGES:
                self._turns.popitem(last=False)
            before = self._latest.get((page, lane))
            if before is not None:
                before.is_overtaken = True
                if before.worker is not None:
                    before.worker.end()
            self._latest[page, lane] = mine
            self._changed.notify_all()
        try:
            yield mine
        finally:
            with self._changed:
                if self._latest.get((page, lane)) is mine:
                    del self._latest[page, lane]

    def progress(self, page: str, lane: str) -> dict[str, Any] | None:
        """What is being done for a page, and for how many seconds; None where nothing is."""
        with self._changed:
            found = self._latest.get((page, lane))
        if found is None:
            return None
        words = ". ".join(filter(None, (found.words, found.tried)))
        return {"words": words, "seconds": int(time.monotonic() - found.since)}

    def warm(self) -> None:
        """Have a worker ready before it is needed: it takes a second to start."""
        with self._changed:
            if not self._idle and not self._closed and self._free["workers"] == MOST_WORKERS:
                self._idle.append(_Worker())

    @contextmanager
    def turn(self, errand: Errand, kind: str) -> Iterator[None]:
        """Wait until one more may be worked on."""
        with self._changed:
            if not self._free[kind] and self._waiting >= MOST_WAITING:
                raise BusyError("the explorer is at work on other questions: ask again in a moment")
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: errand.is_overtaken or self._free[kind])
            finally:
                self._waiting -= 1
            errand.check()
            self._free[kind] -= 1
        try:
            yield
        finally:
            with self._changed:
                self._free[kind] += 1
                self._changed.notify_all()

    @contextmanager
    def worker(self, errand: Errand) -> Iterator["_Worker"]:
        """A worker for an errand alone."""
        with self._changed:
            errand.check()
            mine = self._idle.pop() if self._idle else _Worker()
            errand.worker = mine
        try:
            yield mine
        except WorkerError:
            errand.check()  # ended because nobody waits any more
            raise
        finally:
            with self._changed:
                errand.worker = None
                if mine.is_well and not self._closed:
                    self._idle.append(mine)
                else:
                    mine.close()

    def close(self) -> None:
        """End every worker."""
        with self._changed:
            self._closed = True
            for errand in self._latest.values():
                if errand.worker is not None:
                    errand.worker.end()
            for worker in self._idle:
                worker.close()
            self._idle.clear()


class _Worker:
    """One process, which runs `main`: what follows a line of its input, until that is closed."""

    def __init__(self) -> None:
        home = str(Path(__file__).parents[2])
        paths = [home, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        self._process = subprocess.Popen(
            # -P: nothing is imported from the folder that happens to be the current one.
            [sys.executable, "-P", "-m", "takifugu.web.desk"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback may hold what is in a table
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl-C is for the server, which ends its workers itself
        )
        self.is_well = True

    def answer(self, task: str, arguments: tuple[object, ...], hear: Callable[[str], None] = lambda words: None) -> Any:
        """Hand a task over and wait; `hear` is told what is being tried meanwhile."""
        ask, tell = self._process.stdin, self._process.stdout
        kind, content = "failed", "end"
        try:
            if ask is not None and tell is not None:
                pickle.dump((task, arguments), ask)
                ask.flush()
                kind, content = pickle.load(tell)
                while kind == "telling":
                    hear(content)
                    kind, content = pickle.load(tell)
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):
            self.is_well = False
        if kind == "refused" and isinstance(content, TakifuguError):
            raise content
        if kind != "done":
            raise WorkerError(content)
        return content

    def end(self) -> None:
        """Now, whatever it is doing: whoever waits for its answer learns that there will be none."""
        self.is_well = False
        self._process.kill()

    def close(self) -> None:
        """The end, and what is left of it put away: for the thread that has it."""
        self.end()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what could not be written is for nobody
                if pipe is not None:
                    pipe.close()


if __name__ == "__main__":
    main()
