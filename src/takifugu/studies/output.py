"""Writing the results: one tidy CSV, one JSON, and each figure twice."""

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from takifugu.atomic import write_text
from takifugu.studies.claims import Claim
from takifugu.studies.curves import as_row
from takifugu.studies.figures import lay_out, look
from takifugu.studies.headline import Reduction, drawn_baseline
from takifugu.studies.run import Study

COLUMNS = (
    "figures",
    "dataset",
    "query",
    "prior",
    "alpha",
    "epsilon",
    "series",
    "mechanism",
    "delta",
    "guarantee",
    "theta",
    "variance",
    "worst_pair",
    "certified",
    "drawn",
)


def rows(study: Study) -> list[dict[str, Any]]:
    """Every number, in a fixed order: figures, setting, α, ε, series."""
    found = []
    for point in study.points:
        row = as_row(point)
        figures = study.figures_of(point)
        orders = {"2", "8"} >= set(figures)
        shown = {"paper", "exact", drawn_baseline(point.setting)} | (set() if orders else {"dagwm"})
        row["figures"] = " ".join(figures)
        row["drawn"] = bool(figures) and point.series in shown
        found.append({name: row[name] for name in COLUMNS})
    return found


def write_csv(path: Path, study: Study) -> None:
    """A row a number; floats in full, so that the same numbers are the same bytes."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows(study):
        writer.writerow({name: _cell(value) for name, value in row.items()})
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(text.getvalue(), path)


def write_json(
    path: Path, study: Study, reductions: list[Reduction], found: list[Claim], environment: dict[str, Any]
) -> None:
    """Everything: the plan, the environment, headline, claims, priors and numbers."""
    content = {
        "plan": asdict(study.plan),
        "environment": environment,
        "headline": [asdict(one) for one in reductions],
        "claims": [asdict(one) for one in found],
        "fits": [fit.to_dict() for _, fit in sorted(study.fits.items())],
        "points": rows(study),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", path)


def save_figure(figure: Any, stem: Path) -> bytes:
    """The figure as SVG and PNG; the SVG is returned too."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stem.parent.mkdir(parents=True, exist_ok=True)
    svg = io.BytesIO()
    with look():
        vectors = FigureCanvasSVG(figure)
        lay_out(figure)
        vectors.print_svg(svg, metadata={"Date": None, "Creator": None})
        figure.set_dpi(220)
        FigureCanvasAgg(figure).print_png(stem.with_suffix(".png"), metadata={"Software": None})
    stem.with_suffix(".svg").write_bytes(svg.getvalue())
    return svg.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)
