"""The page: what was found on top, then the figures; one file that needs nothing else."""

import base64
import csv
import io
import json
from dataclasses import asdict
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from takifugu.atomic import write_text
from takifugu.paper.claims import FAILS, HOLDS, LABELS, NOT_RUN, Claim
from takifugu.paper.figures import BASELINES_STATED, caption, lay_out, look
from takifugu.paper.headline import Reduction, drawn_baseline
from takifugu.paper.settings import ORDER
from takifugu.paper.study import Study, as_row, forced_noise

_MARKS = {HOLDS: "✓ holds", FAILS: "✗ fails", NOT_RUN: "– not run"}
_SHOWN = 6  # failing settings listed before the rest is only counted
_NAMES = {**LABELS, "drawn": "the baseline drawn"}


def page(
    study: Study, reductions: list[Reduction], found: list[Claim], environment: dict[str, Any], svgs: dict[str, bytes]
) -> str:
    """The whole page as text."""
    style = files("takifugu.paper").joinpath("page.css").read_text(encoding="utf-8")
    body = "\n".join(
        [
            _head(study, reductions, found),
            _headline(reductions),
            _claims(found),
            "<h2>Figures</h2>",
            f"<p>{escape(BASELINES_STATED)}</p>",
            *(_figure(name, svgs[name], study) for name in study.plan.figures),
            _fits(study),
            _environment(environment),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>The evaluation, reproduced</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _head(study: Study, reductions: list[Reduction], found: list[Claim]) -> str:
    drawn = {r.ours: r for r in reductions if r.theirs == "drawn" and r.mean is not None}
    tiles = [(_share(r.mean), f"less noise than the baseline drawn: {_NAMES[ours]}") for ours, r in drawn.items()]
    raw = next((r for r in reductions if r.over == "RAW" and r.ours == "exact" and r.mean is not None), None)
    if raw:
        tiles.append((_share(raw.mean), "less noise than GWM on RAW: exact, five budgets"))
    proof = next(c for c in found if c.name == "certified")
    tiles.append((f"{proof.checked - len(proof.failures)} / {proof.checked}", "values of θ proved to be enough"))
    quick = (
        '<p class="note"><strong>A quick run.</strong> Five budgets only; GP trained on at most 150 rows a secret '
        "without restarts, BNN on at most 300 rows for 2,000 steps. The numbers of GP and BNN are not those of a "
        "whole run.</p>"
        if study.plan.quick
        else ""
    )
    boxes = "".join(f'<div class="tile"><b>{escape(a)}</b><span>{escape(b)}</span></div>' for a, b in tiles)
    return (
        '<p class="kicker">Rényi Pufferfish Privacy with Gaussian-based priors (Yang et al., 2026)</p>'
        f'<h1>The evaluation, reproduced</h1>{quick}<div class="tiles">{boxes}</div>'
    )


def _headline(reductions: list[Reduction]) -> str:
    lines = [
        "<h2>Average noise reduction</h2>",
        "<p>The mean of 1 − θ/θ′ over settings (dataset, query and ε), α = 3. As in the paper, settings where ours "
        "needs no noise are left out; so are those where the baseline is infinite. The paper reports 48.9 %.</p>",
    ]
    numbers = ("Mean", "No noise as 100 %", "Least", "Most", "Settings", "No noise", "Infinite")
    whole = [[_NAMES[r.ours], _NAMES[r.theirs], *_numbers(r)] for r in reductions if r.over == "evaluation"]
    raw = [[r.over, r.ours, *_numbers(r)] for r in reductions if r.over != "evaluation"]
    if whole:
        lines += [
            _table("Figures 5 to 7: three datasets, four queries", ("Ours", "Against", *numbers), whole, numeric=7),
            _table(
                "RAW at ε = 0.1, 0.5, 1, 2, 5, against GWM on the empirical support",
                ("Over", "Ours", *numbers),
                raw,
                numeric=7,
            ),
        ]
    else:
        lines.append('<p class="note">Needs Figures 5 to 7, which were not part of this run.</p>')
    return "\n".join(lines)


def _numbers(row: Reduction) -> list[str]:
    shares = [_share(x) for x in (row.mean, row.inclusive, row.least, row.most)]
    return [*shares, str(row.settings), str(row.no_noise), str(row.infinite)]


def _share(x: float | None) -> str:
    return "–" if x is None else f"{100 * x:.1f} %".replace("-", "−")


def _claims(found: list[Claim]) -> str:
    lines = [
        "<h2>Claims</h2>",
        "<p>Each sentence of the evaluation that can be checked, in our words, with its verdict on these data. "
        f"{_count(found)}</p>",
        '<table class="claims"><thead><tr><th>Claim</th><th>Paper’s mechanism</th><th>Exact</th></tr></thead><tbody>',
    ]
    for _, group in groupby(found, key=lambda c: c.name if c.name else c.sentence):
        several = list(group)
        first = several[0]
        cells = {c.of: f'<span class="{c.verdict.split()[0]}">{_MARKS[c.verdict]}</span>' for c in several}
        verdicts = (
            f'<td colspan="2">{cells[""]}</td>'
            if "" in cells
            else f"<td>{cells.get('paper', '')}</td><td>{cells.get('exact', '')}</td>"
        )
        remarks = "".join(f"<small>{escape(r)}</small>" for r in dict.fromkeys(c.remark for c in several) if r)
        details = "".join(_failures(c) for c in several if c.failures)
        lines.append(
            f"<tr><td>{escape(first.sentence)} <small>{escape(first.where)}; {first.checked} comparisons.</small>"
            f"{remarks}{details}</td>{verdicts}</tr>"
        )
    return "\n".join([*lines, "</tbody></table>"])


def _count(found: list[Claim]) -> str:
    """How many hold, for the paper's mechanism and for exact."""
    said = []
    for of, name in (("paper", "Of the paper’s mechanism"), ("exact", "of exact")):
        mine = [c for c in found if c.of == of and c.verdict != NOT_RUN]
        said.append(f"{name} {sum(c.verdict == HOLDS for c in mine)} of {len(mine)} hold")
    return ", ".join(said) + "."


def _failures(claim: Claim) -> str:
    label = f"{_NAMES[claim.of]}: " if claim.of else ""
    rest = len(claim.failures) - _SHOWN
    items = "".join(f"<li>{escape(one)}</li>" for one in claim.failures[:_SHOWN])
    more = f"<li>and {rest} more, in results.json</li>" if rest > 0 else ""
    return (
        f"<details><summary>{escape(label)}{len(claim.failures)} of {claim.checked} fail</summary>"
        f"<ul>{items}{more}</ul></details>"
    )


def _figure(name: str, svg: bytes, study: Study) -> str:
    text = caption(name, study.plan)
    data = base64.b64encode(svg).decode("ascii")
    return (
        f'<figure id="figure-{name}"><img alt="Figure {name}. {escape(text, quote=True)}" '
        f'src="data:image/svg+xml;base64,{data}">'
        f"<figcaption><b>Figure {name}.</b> {escape(text)}</figcaption></figure>"
    )


def _fits(study: Study) -> str:
    rows = []
    for setting, fit in sorted(study.fits.items()):
        edge = forced_noise(*fit.priors.values(), alpha=ORDER)
        for secret, prior in fit.priors.items():
            rows.append(
                [
                    str(setting),
                    str(secret),
                    str(fit.rows.get(secret, "–")),
                    str(len(prior)),
                    f"{prior.mean:.4g}",
                    f"{prior.std:.4g}",
                    f"{float(prior.stds.max()):.4g}",
                    f"{edge:.4g}",
                ]
            )
    heads = ("Setting", "Secret", "Rows", "Components", "Mean", "Standard deviation", "Widest component", "Forced θ")
    notes = dict.fromkeys(f"{s}: {text}" for s, fit in sorted(study.fits.items()) for text in fit.findings)
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    why = (
        "<p>The divergence of order 3 is infinite where one side’s widest component outgrows the other’s by too much. "
        "The noise that this alone asks for, whatever the budget, is <i>forced</i>: the tails of the fit ask for it, "
        "not the overlap of the data.</p>"
    )
    return f"<h2>Priors</h2>{why}{_table('', heads, rows, numeric=6)}<h3>What the data have to say</h3><ul>{items}</ul>"


def _environment(environment: dict[str, Any]) -> str:
    listed = ", ".join(f"{name} {value}" for name, value in environment.items())
    return f'<h2>Environment</h2><p class="small">{escape(listed)}</p>'


def _table(title: str, heads: tuple[str, ...], rows: list[list[str]], *, numeric: int) -> str:
    """A table whose last `numeric` columns are numbers."""
    first = len(heads) - numeric

    def cells(tag: str, values: Any) -> str:
        return "".join(f"<{tag}{' class=n' if i >= first else ''}>{escape(v)}</{tag}>" for i, v in enumerate(values))

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    head = f"<caption>{escape(title)}</caption>" if title else ""
    top = f"<thead><tr>{cells('th', heads)}</tr></thead>"
    return f'<div class="wide"><table>{head}{top}<tbody>{body}</tbody></table></div>'


# Writing the results: one tidy CSV, one JSON, and each figure twice.

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
