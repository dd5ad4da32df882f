"""Every example runs, and prints what the documentation says it prints."""

import shutil

import pytest
from run_examples import EXAMPLES, output, run


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_the_pages_show(example, tmp_path):
    if example.stem == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java: install a JDK, 17 or newer")
    assert run(example, tmp_path) == output(example).read_text(encoding="utf-8")
