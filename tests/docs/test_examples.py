"""Every example runs, and prints what the documentation says it prints."""

import re
import shutil

import pytest
from run_examples import EXAMPLES, output, running


def readable(text: str) -> str:
    """The text with long numbers cut to four digits: the others are the machine's."""
    return re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.4g}", text)


@pytest.fixture(scope="module")
def run():
    with running() as run:
        yield run


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_the_pages_show(run, example, tmp_path):
    if example.stem == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java: install a JDK, 17 or newer")
    assert readable(run(example, tmp_path)) == readable(output(example).read_text(encoding="utf-8"))
