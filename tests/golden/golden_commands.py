"""Transcripts of the command line: what is asked, how it ends, which files appear and what is printed."""

import contextlib
import io
import os
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from .golden_publications import clinic
from .golden_releases import folder, pupils, without_today
from .harness import Family, Seen, numbers_in

COMMANDS = Family("commands")


@contextlib.contextmanager
def started(line: list[str]) -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """What `python -m takifugu` would see, and where what it prints goes."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["takifugu", *line]),
        mock.patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        yield out, err


def run(line: list[str]) -> tuple[int, str, str]:
    """The exit status of a command and what it printed, in this process: to start Python each time takes a second."""
    status = 0
    with started(line) as (out, err):
        try:
            runpy.run_module("takifugu", run_name="__main__", alter_sys=False)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return status, out.getvalue(), err.getvalue()


def normal(text: str, place: Path) -> str:
    """A transcript without what is another one in each run: folders, the day, durations and digests."""
    for path in (str(place.resolve()), str(place)):
        text = text.replace(path, "FOLDER")
    text = without_today(text)
    text = re.sub(r"\b\d+(\.\d+)? (s|ms|seconds?|minutes?)\b", "SOME TIME", text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def transcript(*lines: str) -> Callable[[], Seen]:
    """A case: commands one after the other in a folder with two tables."""

    def case() -> Seen:
        steps, words = [], []
        with folder() as place, contextlib.chdir(place):
            clinic().to_csv("clinic.csv", index=False)
            pupils().to_csv("pupils.csv", index=False)
            there = {path.name for path in place.iterdir()}
            for line in lines:
                status, out, err = run(line.split())
                now = {path.name for path in place.iterdir()}
                told = normal(out, place)
                numbers = "" if "--help" in line else " ".join(numbers_in(told))
                steps.append({"status": status, "new files": sorted(now - there), "numbers": numbers})
                words.append(f"$ takifugu {line}\n{told}\n{normal(err, place)}".rstrip())
                there = now
        return {"steps": steps}, words

    return case


CLINIC = "--secret diagnosis --confidence 0.8 --quiet"
MARKS = "pupils.csv --secret schoolsup --query raw:G3 --bounds 0 20 --step 1"
add = COMMANDS.add
add("nothing", transcript(""))
add("version", transcript("--version"))
for command in ("", "publish", "inspect", "calibrate", "sweep", "certify", "verify", "release", "audit"):
    add(f"help {command}".strip(), transcript(f"{command} --help".strip()))
add("no such command", transcript("publsh"))
add("inspect", transcript("inspect clinic.csv", "inspect clinic.csv --secret diagnosis"))
add(
    "publish, verify, audit, again",
    transcript(
        f"publish clinic.csv out.csv --columns stay,ward --odds 2 {CLINIC}",
        "verify out-certificate.json",
        "verify out-certificate.json --public out-certificate-public.json",
        f"publish clinic.csv again.csv --columns stay,ward --odds 2 {CLINIC}",
    ),
)
add("publish, a dry run", transcript(f"publish clinic.csv out.csv --columns ward --dry-run {CLINIC}"))
add("publish, no such column", transcript(f"publish clinic.csv out.csv --columns wards {CLINIC}"))
add("publish, no such file", transcript(f"publish clinics.csv out.csv --columns ward {CLINIC}"))
add("publish, two guarantees", transcript(f"publish clinic.csv out.csv --columns ward --odds 2 --error 0.1 {CLINIC}"))
add("publish, no such option", transcript(f"publish clinic.csv out.csv --columns ward --odd 2 {CLINIC}"))
add(
    "calibrate, certify, verify, release",
    transcript(
        f"calibrate {MARKS} --alpha 8 --epsilon 1 -o calibration.json --report report.html",
        "certify calibration.json --output certificate.json --public public.json",
        "verify certificate.json --public public.json",
        "release pupils.csv out.csv --calibration calibration.json --ledger pupils.ledger --quiet",
        "release pupils.csv more.csv --calibration calibration.json --ledger pupils.ledger --quiet",
    ),
)
add("calibrate, a row", transcript("calibrate pupils.csv --secret schoolsup --query row:failures --odds 1.5"))
add("calibrate, confidence", transcript(f"calibrate {MARKS} --alpha 3 --epsilon 1 --confidence 0.8"))
add("calibrate, a mean", transcript("calibrate heart --secret slope --pair 1 3 --query mean:oldpeak --best-guess 0.6"))
add("calibrate, no budget", transcript(f"calibrate {MARKS} --alpha 8"))
add("sweep", transcript(f"sweep {MARKS} --alpha 2,8 --epsilon 0.5,1 --mechanism exact,gmm-transport --csv noise.csv"))
add("sweep, odds", transcript("sweep pupils.csv --secret schoolsup --query row:failures --odds 1.2,1.5"))
add("verify, no certificate", transcript("verify clinic.csv"))
