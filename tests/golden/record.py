"""Record the net anew: `python -m tests.golden.record [--texts | --figures | --check] [FAMILY ...]`."""

import argparse
import logging
import sys
import time

from .families import FAMILIES
from .harness import DATA, moved, software


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden.record", description="Record the net anew.")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)}; all by default")
    parser.add_argument("--texts", action="store_true", help="words alone")
    parser.add_argument("--figures", action="store_true", help="figures alone")
    parser.add_argument("--check", action="store_true", help="write nothing, and exit 1 where something moved")
    parser.add_argument("--times", action="store_true", help="which cases take longest")
    arguments = parser.parse_args()
    if unknown := set(arguments.families) - set(FAMILIES):
        parser.error(f"there is no family {', '.join(sorted(unknown))}: there are {', '.join(FAMILIES)}")
    kinds = [kind for kind, alone in (("figures", arguments.texts), ("texts", arguments.figures)) if not alone]
    logging.getLogger().addHandler(logging.NullHandler())  # that a ledger was started is no news here
    found, took = 0, []
    for name in arguments.families or FAMILIES:
        family, seen = FAMILIES[name], {"figures": {}, "texts": {}}
        for case in family.cases:
            start = time.process_time()
            seen["figures"][case], seen["texts"][case] = family.seen(case)
            took.append((time.process_time() - start, f"{name}: {case}"))
        for kind in kinds:
            lines = list(moved(family.recorded(kind), seen[kind]))
            found += len(lines)
            print(f"{name}, {kind}: {len(lines)} moved, of {len(family.cases)} cases")
            for line in lines:
                print(f"  {line}")
            if not arguments.check:
                family.record(kind, seen[kind])
    if not arguments.check:
        (DATA / "software.txt").write_text(software() + "\n", encoding="utf-8")
    if arguments.times:
        print(f"{sum(seconds for seconds, _ in took):.1f} s of processor time")
        for seconds, case in sorted(took, reverse=True)[:25]:
            print(f"  {seconds:5.2f} s  {case}")
    return int(bool(arguments.check and found))


if __name__ == "__main__":
    sys.exit(main())
