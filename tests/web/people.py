"""A hospital's export as they come: an identifier, semicolons, decimal commas, twelve diagnoses, a skewed cost."""

from pathlib import Path

import numpy as np

DIAGNOSES = tuple(f"diagnosis {letter}" for letter in "ABCDEFGHIJKL")


def write_people(path: Path, rows: int = 1800) -> Path:
    rng = np.random.default_rng(11)
    lines = ["case_id;diagnosis;sex;ward;stay_days;cost"]
    for k in range(rows):
        d = k % len(DIAGNOSES)
        ward = "north" if rng.random() < 0.3 + 0.03 * d else "south"
        days = min(9, int(rng.poisson(3 + 0.1 * d)))
        cost = f"{np.exp(rng.normal(6 + 0.05 * d, 1.3)):.2f}".replace(".", ",")
        lines.append(f"P{100_000 + k};{DIAGNOSES[d]};{'fm'[k % 2]};{ward};{days};{cost}")
    path.write_text("\n".join(lines) + "\n", encoding="latin-1")
    return path


def write_messy(path: Path, rows: int = 1200) -> Path:
    """The same with what people forget: 999 for a stay nobody knows, capitals and blanks, groups of a handful."""
    rng = np.random.default_rng(7)
    lines = ["case_id;diagnosis;ward;stay_days;cost"]
    for k in range(rows):
        diagnosis = (
            ("Asthma", "asthma ", "Diabetes", "Fracture")[k % 4] if k % 40 else ("HIV", "Sickle cell")[k % 80 > 0]
        )
        ward = ("North", "south", "North ", "South")[(k // 4 + (rng.random() < 0.3)) % 4]
        days = 999 if k % 97 == 5 else min(9, int(rng.poisson(3 + (diagnosis == "Diabetes"))))
        cost = f"{np.exp(rng.normal(6, 1)):.2f}".replace(".", ",")
        lines.append(f"P{200_000 + k};{diagnosis};{ward};{days};{cost}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def other_people(like: Path, path: Path, who: str) -> Path:
    """A file of other people, none of whom a ledger knows by any columns: a digit of cost and the wards are own."""
    digit = sum(map(ord, who)) % 9 + 1
    lines = like.read_text(encoding="latin-1").splitlines()
    told = [line.replace(";north;", f";north {who};").replace(";south;", f";south {who};") for line in lines[1:]]
    path.write_text("\n".join([lines[0], *(f"{who}{line[1:]}{digit}" for line in told)]) + "\n", encoding="latin-1")
    return path
