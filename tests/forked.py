"""Python programs, each in a process of its own that starts with the libraries already loaded.

Loading them anew took most of the time of most programs. Run as a program itself, with the names of the libraries,
this file loads them once; then, for every line on its standard input (a program and its arguments, the folder to run it
in, where to write what it prints and what it complains of, as JSON) it forks a process that runs the program and
ends as a program does, and answers with the exit status and the most memory the process had, in kilobytes.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Ended(NamedTuple):
    """A program that has ended: its status, what it said on either stream, and the most memory it had."""

    status: int
    said: str
    complained: str
    kilobytes: int


Run = Callable[[Sequence[object], Path], Ended]


@contextlib.contextmanager
def processes(*libraries: str, environment: Mapping[str, str] = os.environ) -> Iterator[Run]:
    """A function that runs a program with its arguments in a folder, with these libraries loaded."""
    paths = [environment.get("PYTHONPATH"), *sys.path]
    with (
        tempfile.TemporaryDirectory() as heard,
        subprocess.Popen(
            [sys.executable, __file__, *libraries],
            env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        asked, answered = server.stdin, server.stdout
        streams = [Path(heard) / name for name in ("said", "complained")]

        def run(program: Sequence[object], folder: Path) -> Ended:
            for stream in streams:
                stream.write_bytes(b"")
            print(json.dumps([list(map(str, program)), str(folder), *map(str, streams)]), file=asked, flush=True)
            status, kilobytes = json.loads(answered.readline() or "[-1, 0]")
            said, complained = (stream.read_text(encoding="utf-8") for stream in streams)
            return Ended(status, said, complained, kilobytes)

        yield run
        asked.close()


def main() -> None:
    """Serve until standard input ends."""
    # Every warning is an error but one: what is to be known of a table is shown to whoever fits priors to it.
    warnings.simplefilter("error")
    from takifugu import DiagnosticWarning

    warnings.simplefilter("default", DiagnosticWarning)
    for name in sys.argv[1:]:
        library = importlib.import_module(name)
        for offered in getattr(library, "__all__", ()):  # some are loaded when they are asked for
            getattr(library, offered)
    gc.freeze()  # or each process would, at its end, go through all that this one has loaded, and copy it for that
    for line in sys.stdin:
        program, folder, *streams = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            for number, path in enumerate(streams, start=1):
                os.dup2(os.open(path, os.O_WRONLY), number)
            sys.argv = program
            runpy.run_path(program[0], run_name="__main__")
            return
        _, status, used = os.wait4(child, 0)
        # On Linux this is the process's own peak, since it was forked here and is no other program: kilobytes.
        print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_maxrss]), flush=True)


if __name__ == "__main__":
    main()
