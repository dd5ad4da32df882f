"""Numbers out of range are refused wherever they stand, and all others are those of Python's own reader."""

import json

import pytest

from takifugu.errors import InputError
from takifugu.strict_json import parse

DIGEST = '"e123 1e999 00e4567"'  # letters and digits that are no number


@pytest.mark.parametrize(
    ("number", "says"),
    [
        ("1e309", "beyond the largest float"),
        ("-1E+999", "beyond the largest float"),
        ("0.1e0400", "beyond the largest float"),
        ("9" * 99 + "e210", "beyond the largest float"),
        ("9" * 320 + ".0", "beyond the largest float"),
        ("1" * 401, "401 digits"),
        ("0." + "1" * 400, "402 digits"),
        ("1e-" + "1" * 400, "403 digits"),
        ("1" * 5000, "5000 digits"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "[{}]", '{{"a":{}}}', "[1e400x,{}", f"[{DIGEST}, {{}}]"])
def test_a_number_out_of_range_is_refused(number, says, around):
    with pytest.raises(InputError, match=says if "x" not in around else "beyond|not JSON"):
        parse(around.format(number).encode())


@pytest.mark.parametrize(
    "number",
    ["1e308", "-1.7976931348623157e308", "1e-999", "5e-324", "9" * 99 + "e99", "9" * 300, "0.1", "-0.0", "12", "1e+22"],
)
@pytest.mark.parametrize("around", ["{}", '{{"a":[{}, 1]}}', f"[{DIGEST}, {{}}]"])
def test_other_numbers_are_those_of_python(number, around):
    text = around.format(number)
    assert repr(parse(text.encode())) == repr(json.loads(text))
