"""The documentation's page of benchmarks, made of what they print."""

import re
from pathlib import Path

_SECTION = re.compile(r"^## `(\w+)`\n(.*?)(?=^## `|\Z)", re.MULTILINE | re.DOTALL)

HEAD = """# Benchmarks

Everything here but the section that comes first is printed by `make bench`, which rewrites this page section by
section. Each figure stands beside that of a peer, measured in the same run on the same machine: compare ratios, since
seconds are those of one small, shared machine. Times are processor time unless a line says otherwise, on one thread for
everyone but databases. Every section says what the peer is, and what limits both.
`python -m benchmarks core --page docs/benchmarks.md` makes one section anew.

## Thousands of cells on a graphics card

A channel between n cells has n² probabilities. HiGHS and the interior point of this package take them to about two
thousand cells. Would a first-order method on a graphics card go further? `python -m benchmarks.first_order 10000 cupy`
measures it: bounded odds of 3, two secrets, two numbers on a square lattice, every step a few passes over the table.

| cells | steps | one H200, float64 | 16 cores, NumPy | loss above the proven bound |
|---:|---:|---:|---:|---:|
| 400 | 16,000 | 10 s | | 0.07 % |
| 2,500 | 1,000 | 1.0 s | 97 s | 56 % |
| 2,500 | 32,000 | 18 s | | 2.5 % |
| 10,000 | 8,000 | 51 s | | 11 % |
| 10,000 | 32,000 | 204 s | | 4.8 % |

A step at 10,000 cells takes 6.4 ms: some thirty passes over 0.8 GB, at the card's memory traffic. The *bound* settles
quickly (within 0.2 % of its last value after 8,000 steps); the channel's last percents come slowly, as first-order
methods do. It is not shipped: a card is not what users have, and the last percents matter more than the first.

"""


class Page:
    """A head, and a section for each benchmark that was ever run."""

    def __init__(self, path: Path) -> None:
        """Read the sections that are there."""
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self.sections: dict[str, str] = dict(_SECTION.findall(text))

    def put(self, room: str, about: str | None, printed: str) -> None:
        """Replace one section."""
        self.sections[room] = f"\n{(about or '').strip()}\n\n```text\n{printed.strip()}\n```\n\n"

    def write(self, order: tuple[str, ...]) -> None:
        """Write the page, sections in order."""
        parts = [f"## `{room}`\n\n{self.sections[room].strip()}\n\n" for room in order if room in self.sections]
        self.path.write_text(HEAD + "".join(parts).rstrip() + "\n", encoding="utf-8")
