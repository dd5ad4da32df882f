"""A hospital's export as it comes: semicolons, decimal commas, Latin-1, NA, 999, percentages, and a rare diagnosis."""

import numpy as np

NAMES = ("Zorngiebel", "Quastenflosser")  # in records alone: no sentence may show them
DIAGNOSES = [f"D{k:02d}" for k in range(1, 12)] + ["Köhler"]
RARE = "Köhler"


def records(rows=600, seed=0):
    """The table as columns of plain values; None is missing."""
    rng = np.random.default_rng(seed)
    which = np.append(rng.integers(0, 11, rows - 3), [11] * 3)
    stay = rng.poisson(3 + 2 * (which % 4)) + 1
    return {
        "patient": [f"P{k:05d}" for k in rng.permutation(rows)],
        "name": [NAMES[k % 2] if k < 2 else f"Name {k}" for k in range(rows)],
        "diagnosis": [DIAGNOSES[k] for k in which],
        "stay_days": [999 if k % 50 == 7 else int(s) for k, s in enumerate(stay)],
        "ward": [None if k % 40 == 3 else ("Süd", "Nord", "West", "Ost")[(w + k) % 4] for k, w in enumerate(which)],
        "bill": [round(float(b), 2) for b in rng.lognormal(6, 1.2, rows)],
        "share": [float(p) for p in rng.integers(0, 21, rows) * 5],
        "positive": [bool(p) for p in rng.random(rows) < 0.2 + 0.05 * (which % 5)],
        "admitted": [f"{d % 28 + 1:02d}.{d % 12 + 1:02d}.2024" for d in rng.integers(0, 365, rows)],
        "clinic": ["Mitte"] * rows,
    }


def export(path, table=None):
    """Write the records as the hospital does."""
    table = records() if table is None else table
    lines = [";".join(table)]
    for row in zip(*table.values(), strict=True):
        cells = dict(zip(table, row, strict=True))
        cells["bill"] = f"{cells['bill']:.2f}".replace(".", ",")
        cells["share"] = f"{cells['share']:g} %"
        cells["positive"] = "TRUE" if cells["positive"] else "FALSE"
        lines.append(";".join("NA" if cell is None else str(cell) for cell in cells.values()))
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("latin-1"))
    return path
