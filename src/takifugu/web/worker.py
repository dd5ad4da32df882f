"""A process for work that may take long: it can be ended at any moment, which a thread inside a solver cannot.

It reads one task after another from its standard input and answers on its standard output, both as pickles: whoever
started it speaks to it, and nobody else can. Before an answer it may tell what is being tried.
"""

import os
import pickle
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any

from takifugu._work import listening
from takifugu.errors import TakifuguError


def facts(priors: Any, options: Mapping[str, Any], question: str) -> Any:
    """Calibrate, and what there is to say about it, without comparing it with other ways."""
    from takifugu.reports import facts_for

    return facts_for(priors, question=question, compare=False, **options)


def compared(calibration: Any, question: str) -> Any:
    """What there is to say about a calibration, with what other ways would have cost."""
    from takifugu.reports import facts_of

    return facts_of(calibration, question=question)


def proved(calibration: Any) -> Any:
    """The certificate."""
    from takifugu.certificates import certify

    return certify(calibration)


TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (facts, compared, proved)}


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


def _send(answers: IO[bytes], message: tuple[str, Any]) -> None:
    pickle.dump(message, answers)
    answers.flush()


def facts_are_ready() -> None:
    """Import what every task needs, before the first one comes."""
    from takifugu.certificates import certify  # noqa: F401
    from takifugu.reports import facts_for  # noqa: F401


if __name__ == "__main__":
    main()
