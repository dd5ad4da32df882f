"""The picture in the page's guide is what the page shows."""

import struct
import subprocess
import sys
from pathlib import Path

from which_browser import chromium

ROOT = Path(__file__).parents[2]
SIZE = (1280, 1000)


def _size(path: Path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def test_the_picture_of_the_page_is_drawn_by_its_script(tmp_path: Path) -> None:
    chromium()
    made = tmp_path / "explorer.png"
    command = [sys.executable, str(ROOT / "scripts/draw_page.py"), str(made)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout.strip()
    guide = (ROOT / "docs/guides/explorer.md").read_text(encoding="utf-8")
    assert told in guide, "python scripts/draw_page.py draws it anew"  # the figure on it, in the words beside it
    assert _size(made) == _size(ROOT / "docs/images/explorer.png") == SIZE
    assert made.stat().st_size > 50_000
