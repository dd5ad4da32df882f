"""Brings pages that live outside docs/ into the site, and makes their links work in both places.

The proofs and the project's own pages are read where they are: the site holds no second copy of them. In the
repository a page links to `../proofs/x.md`; the site has no folder `docs`, and links are rewritten to match.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_LINK = re.compile(r"(\]\()([^)#\s:]+)([)#])")


def on_files(files, config):
    """Add the proofs and the project's pages."""
    for path in [*sorted(ROOT.glob("proofs/*.md")), *(ROOT / name for name in PROJECT)]:
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Point links between pages at where the site has them."""
    here = page.file.src_uri
    return _LINK.sub(lambda link: link[1] + in_site(link[2], here) + link[3], markdown)


def in_site(target, page):
    """Where a link of a page leads in the site; `page` is named as in the site."""
    target_in_repository = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository(page)), target))
    return posixpath.relpath(target_in_repository.removeprefix("docs/"), posixpath.dirname(page) or ".")


def in_repository(page):
    """Where the repository has a page of the site."""
    return page if page.startswith("proofs/") or page in PROJECT else f"docs/{page}"
