"""All benchmarks, or those named: `python -m benchmarks core fitting`. Each prints ratios measured side by side."""

import sys
from importlib import import_module

ROOMS = (
    "core",
    "fitting",
    "population",
    "certified",
    "sampler",
    "channels",
    "tables",
    "explorer",
    "vector_divergence",
    "shaped",
    "optimal",
    "scale",
    "audit_power",
)


def main() -> None:
    chosen = sys.argv[1:] or ROOMS
    for room in chosen:
        if room not in ROOMS:
            sys.exit(f"there is no benchmark {room!r}; there are {', '.join(ROOMS)}")
    for room in chosen:
        print(f"\n== {room}", flush=True)
        import_module(f"benchmarks.{room}").run()


main()
