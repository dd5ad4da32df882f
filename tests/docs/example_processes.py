"""Python's examples, each in a process of its own that starts with the libraries already loaded.

Loading them anew took most of the time of most examples. This program loads them once and then, for every line on its
standard input (where the example is, the folder to run it in, where to write what it prints and what it complains of,
as JSON), forks a process that runs the example and ends as a program does; it answers with the exit status.
"""

import gc
import json
import os
import runpy
import sys
import warnings

LOADED = ("flint", "narwhals", "pandas", "pyarrow.compute", "scipy.optimize", "scipy.special")


def main() -> None:
    """Serve until standard input ends."""
    # Every warning is an error but one: what is to be known of a table is shown to whoever fits priors to it.
    warnings.simplefilter("error")
    import takifugu

    warnings.simplefilter("default", takifugu.FindingWarning)
    for name in LOADED:
        __import__(name)
    for name in takifugu.__all__:
        getattr(takifugu, name)
    gc.freeze()  # or each process would, at its end, go through all that this one has loaded, and copy it for that
    for line in sys.stdin:
        example, folder, *streams = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            for number, path in enumerate(streams, start=1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
            sys.argv = [example]
            runpy.run_path(example, run_name="__main__")
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
