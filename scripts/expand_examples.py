"""Put the examples into the pages that show them: `python scripts/expand_examples.py [--check]`.

A page names the file in a comment, and the block of code after it holds what the file holds, so that a reader of the
repository sees what a reader of the site sees.
"""

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Code and transcripts stand in a block of code; a file that is Markdown itself, up to the comment that ends it.
_BLOCK = re.compile(
    r"^(?P<indent> *)<!-- (?P<file>docs/\S+) -->\n(?P=indent)```(?P<language>\w*)\n(?P<body>.*?)^(?P=indent)```$",
    re.M | re.S,
)
_LINES = re.compile(
    r"^<!-- (?P<file>docs/\S+) -->\n(?P<body>(?:^> - .*\n)+)", re.M
)  # sentences, which a block would cut
_PART = re.compile(r"^<!-- (?P<file>docs/\S+) -->\n(?P<body>.*?)^<!-- end of (?P=file) -->$", re.M | re.S)


def pages() -> list[Path]:
    """Every page in Markdown that may show an example."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("proofs/*.md")])


def shown(text: str) -> list[str]:
    """The files that a page shows."""
    return [found["file"] for pattern in (_BLOCK, _LINES, _PART) for found in pattern.finditer(text)]


def expanded(text: str) -> str:
    """The same page, every block as its file is now."""

    def block(found: re.Match[str]) -> str:
        body = f"```{found['language']}\n{_content(found['file'])}```"
        return textwrap.indent(f"<!-- {found['file']} -->\n{body}", found["indent"])

    def part(found: re.Match[str]) -> str:
        return f"<!-- {found['file']} -->\n\n{_content(found['file'])}\n<!-- end of {found['file']} -->"

    def lines(found: re.Match[str]) -> str:
        return f"<!-- {found['file']} -->\n" + textwrap.indent(_content(found["file"]), "> - ")

    return _PART.sub(part, _LINES.sub(lines, _BLOCK.sub(block, text)))


def _content(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8").strip("\n") + "\n"


def expand() -> list[Path]:
    """Rewrite every page that shows an example as it no longer is; which they were."""
    changed = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (renewed := expanded(text)) != text:
            page.write_text(renewed, encoding="utf-8")
            changed.append(page)
    return changed


def main() -> int:
    """Rewrite the pages; with --check only say which of them would change."""
    if "--check" in sys.argv[1:]:
        stale = [page for page in pages() if expanded(text := page.read_text(encoding="utf-8")) != text]
    else:
        stale = expand()
    print(*(page.relative_to(ROOT) for page in stale), sep="\n")
    return int("--check" in sys.argv[1:] and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
