"""All benchmarks, or those named: `python -m benchmarks core fitting`. Each prints ratios measured side by side.

With `--page FILE` what is printed also becomes that page: a section for each benchmark, its own docstring above what it
printed. Sections of benchmarks that were not named stay as they are.
"""

import contextlib
import io
import os
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.page import Page

# One thread for everyone, before anything loads NumPy: several cost peers and us more processor time than they save.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Programs that are started find modules compiled, as those of an installed package are.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOMS = (
    "core",
    "scale",
    "startup",
    "fitting",
    "population",
    "cones",
    "certified",
    "sampler",
    "channels",
    "optimal",
    "columns",
    "vector_divergence",
    "shaped",
    "tables",
    "rows",
    "curve",
    "search_times",
    "explorer",
    "audit_power",
    "tiers",
    "ledgers",
)


class Both(io.StringIO):
    """What is printed, on the screen and remembered."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def main() -> None:
    chosen = sys.argv[1:]
    page = None
    if "--page" in chosen:
        at = chosen.index("--page")
        page = Page(Path(chosen[at + 1]))
        del chosen[at : at + 2]
    for room in chosen:
        if room not in ROOMS:
            sys.exit(f"there is no benchmark {room!r}; there are {', '.join(ROOMS)}")
    for room in chosen or ROOMS:
        print(f"\n== {room}", flush=True)
        module = import_module(f"benchmarks.{room}")
        with contextlib.redirect_stdout(Both()) as printed:
            module.run()
        if page is not None:
            page.put(room, module.__doc__, printed.getvalue())
            page.write(ROOMS)


main()
