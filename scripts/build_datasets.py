"""Rebuild the bundled datasets from the raw UCI files.

    python scripts/build_datasets.py RAW_FOLDER [--output FOLDER]

RAW_FOLDER holds adult/, heart/ and student/ as the repository publishes them. Each input's SHA-256 is
checked before anything is written, and the same inputs give the same bytes.
"""

import argparse
import csv
import gzip
import hashlib
import io
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

INPUTS = {
    "adult/adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult/adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "heart/processed.cleveland.data": "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
    "student/student-mat.csv": "e47f9ee225e1ee6e69b7564e6dac7123e80b8486677fe111f351964cef5dec80",
    "student/student-por.csv": "a7594a11d7771c0efe1a740824e0e833da9c4cad07c39a9766a874575563fb3f",
}
ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,"
    "race,sex,capital-gain,capital-loss,hours-per-week,native-country,income"
)
HEART = "age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,num"
BUNDLED = Path(__file__).resolve().parent.parent / "src" / "takifugu" / "datasets"

Rows = Iterator[list[str]]


def checked(raw: Path, name: str) -> str:
    """The text of one input, once its bytes are known to be the right ones."""
    try:
        content = (raw / name).read_bytes()
    except OSError as error:
        advice = "give the folder that holds adult/, heart/ and student/"
        sys.exit(f"cannot read {raw / name} ({error.strerror}): {advice}")
    if hashlib.sha256(content).hexdigest() != INPUTS[name]:
        sys.exit(f"{raw / name} is not the published file: its SHA-256 differs from {INPUTS[name]}")
    return content.decode("ascii")


def adult(texts: dict[str, str]) -> Rows:
    """Training rows, then test rows, with one spelling of the label."""
    yield ADULT.split(",")
    for name in ("adult/adult.data", "adult/adult.test"):
        for line in texts[name].splitlines():
            if line and not line.startswith("|"):
                yield [field.strip() for field in line.removesuffix(".").split(",")]


def heart(texts: dict[str, str]) -> Rows:
    """Cleveland's fourteen columns; whole numbers lose their decimal point."""
    yield HEART.split(",")
    for line in texts["heart/processed.cleveland.data"].splitlines():
        yield [field.removesuffix(".0") for field in line.split(",")]


def student(course: str, texts: dict[str, str]) -> Rows:
    """As published, without the quotes."""
    yield from csv.reader(texts[f"student/student-{course}.csv"].splitlines(), delimiter=";")


def packed(rows: Rows) -> bytes:
    """A CSV file in gzip's format, with no name, date or operating system in it."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(["" if f == "?" else f for f in row] for row in rows)
    content = text.getvalue().encode("ascii")
    deflate = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)
    # Our own header, because what gzip.compress writes there differs between versions of Python.
    header = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255])
    trailer = struct.pack("<LL", zlib.crc32(content), len(content))
    return header + deflate.compress(content) + deflate.flush() + trailer


def main() -> None:
    """Check every input, then write every output."""
    parser = argparse.ArgumentParser(description="Rebuild the bundled datasets from the raw UCI files.")
    parser.add_argument("raw", type=Path, help="the folder that holds adult/, heart/ and student/")
    parser.add_argument("--output", type=Path, default=BUNDLED, help="where to write (default: the package)")
    arguments = parser.parse_args()
    texts = {name: checked(arguments.raw, name) for name in INPUTS}
    files = {
        "adult": packed(adult(texts)),
        "heart": packed(heart(texts)),
        "student-mat": packed(student("mat", texts)),
        "student-por": packed(student("por", texts)),
    }
    for name, content in files.items():
        (arguments.output / f"{name}.csv.gz").write_bytes(content)
        digest = hashlib.sha256(gzip.decompress(content)).hexdigest()
        print(f"{name}.csv.gz  {len(content)} bytes, SHA-256 of the text {digest}")


if __name__ == "__main__":
    main()
