"""`python -m studies.unseen`: one table about all of them, as Markdown. See docs/unseen.md."""

import argparse
import sys
from pathlib import Path

from studies.unseen.reading import read
from studies.unseen.study import Line, study
from studies.unseen.tables import TABLES
from studies.unseen.telling import sources, summary, told
from studies.unseen.wheels import content
from takifugu.errors import TakifuguError
from takifugu.paper.cache import default_folder


def main(arguments: list[str] | None = None) -> int:
    """Run the study; exit status 1 where a guarantee was contradicted, 2 where a table could not be had."""
    parser = argparse.ArgumentParser(prog="python -m studies.unseen", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[table.name for table in TABLES], metavar="TABLE")
    parser.add_argument("--wheels", type=Path, help="the folder that wheels are kept in")
    parser.add_argument("--sources", action="store_true", help="print where the tables come from, and run nothing")
    given = parser.parse_args(arguments)
    chosen = [table for table in TABLES if given.only is None or table.name in given.only]
    if given.sources:
        print(sources(chosen))
        return 0
    folder = given.wheels or default_folder() / "wheels"
    lines: list[Line] = []
    for table in chosen:
        try:
            frame = read(table, content(table, folder))
            lines.append(study(table, frame, lambda what: print(what, file=sys.stderr, flush=True)))
        except TakifuguError as error:
            # Half a study would look like a whole one.
            print(f"{table.name}: {error}", file=sys.stderr)
            return 2
    print(f"{told(lines)}\n\n{summary(lines)}")
    return int(any(line.contradicted for line in lines))


if __name__ == "__main__":
    sys.exit(main())
