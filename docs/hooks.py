"""Brings pages that live outside docs/ into the site, and makes their links work in both places.

The proofs and the project's own pages are read where they are: the site holds no second copy of them. In the
repository a page links to `../proofs/x.md`; the site has no folder `docs`, and links are rewritten to match.
"""

import json
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_LINK = re.compile(r"(\]\()([^)#\s:]+)([)#])")
_CODE = re.compile(r"(```.*?```|`[^`]*`|\]\([^)]*\))", re.S)  # links count as code: their targets stay as they are
_WIDE = 12  # columns of a table, beside which no list of contents has room
_SHORT = "[A-Za-z0-9α-ωΑ-Ω∞½]+"
_SUPERSCRIPT = re.compile(rf"\^(?:\{{([^{{}}]*)\}}|\(((?:[^()]|\([^()]*\))*)\)|({_SHORT}))")
_SUBSCRIPT = re.compile(rf"(?<=[A-Za-zα-ωΑ-Ω∫Σ])(?<![A-Za-z]{{2}})_(?:\{{([^{{}}]*)\}}|({_SHORT}))")


def on_config(config):
    """List the proofs in the groups, and in the order, of their own index."""
    index = (ROOT / "proofs/README.md").read_text(encoding="utf-8")
    pages = ["proofs/README.md"]
    for group in index.split("\n## ")[1:]:
        listed = re.findall(r"^\| \[[^]]*\]\(([^)]+\.md)\)", group, re.M)
        pages.append({group.partition("\n")[0]: [f"proofs/{name}" for name in listed]})
    config.nav = [{"Proofs": pages} if "Proofs" in entry else entry for entry in config.nav]
    return config


def on_files(files, config):
    """Add the proofs and the project's pages."""
    for path in [*sorted(ROOT.glob("proofs/*.md")), *(ROOT / name for name in PROJECT)]:
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    for path in sorted(ROOT.glob("docs/notebooks/*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=notebook(path)))
    return files


def notebook(path):
    """A notebook as a page: text, code, and what it printed or showed."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                parts.append("".join(data["text/html"]))
            else:
                text = "".join(output.get("text") or data["text/plain"]).rstrip()
                parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def on_page_markdown(markdown, page, config, files):
    """Point links between pages at where the site has them; raise and lower what formulas do."""
    here = page.file.src_uri
    if any(row.count("|") > _WIDE for row in re.findall(r"^\|.*\|$", markdown, re.M)):
        page.meta["hide"] = ["toc"]  # whose place the table takes
    markdown = _LINK.sub(lambda link: link[1] + in_site(link[2], here) + link[3], markdown)
    if here.startswith("proofs/") or here == "paper.md":
        parts = _CODE.split(markdown)  # text and code in turn
        markdown = "".join(part if i % 2 else formulas(part) for i, part in enumerate(parts))
    return markdown


def formulas(text):
    """p^{1−α} and σ_i as superscript and subscript; in the repository they stay plain text.

    >>> formulas("σ_i² ≤ e^{(α−1)ε} q^((1−α)s), file_name")
    'σ<sub>i</sub>² ≤ e<sup>(α−1)ε</sup> q<sup>(1−α)s</sup>, file_name'
    """
    text = _SUPERSCRIPT.sub(lambda found: f"<sup>{found[1] or found[2] or found[3]}</sup>", text)
    return _SUBSCRIPT.sub(lambda found: f"<sub>{found[1] or found[2]}</sub>", text)


def in_site(target, page):
    """Where a link of a page leads in the site; `page` is named as in the site."""
    target_in_repository = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository(page)), target))
    return posixpath.relpath(target_in_repository.removeprefix("docs/"), posixpath.dirname(page) or ".")


def in_repository(page):
    """Where the repository has a page of the site."""
    return page if page.startswith("proofs/") or page in PROJECT else f"docs/{page}"
