"""takifugu sweep: budgets and mechanisms side by side."""

import math
from typing import Any

import click

from takifugu.commands.asking import ask, asking, default_of
from takifugu.commands.options import Command, names_in, single
from takifugu.commands.progress import doing, done
from takifugu.commands.telling import console, print_json
from takifugu.errors import InputError


@click.command("sweep", cls=Command)
@asking
@click.option("--alpha", "alphas", required=True, multiple=True, help="Rényi orders: 2,3 or repeat the option.")
@click.option("--epsilon", "epsilons", required=True, multiple=True, help="Budgets: 0.5,1,2 or repeat the option.")
@click.option("--mechanism", "mechanisms", multiple=True, help="Mechanisms, with commas. [default: as calibrate]")
@single("--confidence", type=float, help="Such as 0.95: promise it for the population, not only for the sample.")
@single("--assurance", type=click.Choice(["band"]), help="Promise it for the population, proved: more noise.")
@single("--csv", "csv_path", type=click.Path(allow_dash=True), help="Write the table as CSV; - for here.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON instead; null is infinite.")
def command(
    alphas: tuple[str, ...],
    epsilons: tuple[str, ...],
    mechanisms: tuple[str, ...],
    confidence: float | None,
    assurance: str | None,
    csv_path: str | None,
    as_json: bool,
    **question: Any,
) -> None:
    """Calibrate TABLE at every combination of orders, budgets and mechanisms.

    \b
    What a tenfold budget saves, and what the paper's bound would add:
      takifugu sweep adult --secret race --pair White Other \\
          --query raw:education-num --alpha 3 --epsilon 0.1,0.3,1 \\
          --mechanism exact,gmm-transport
    For a spreadsheet:
      takifugu sweep heart --secret slope --query mean:oldpeak \\
          --alpha 2,3 --epsilon 0.5,1 --csv noise.csv

    Exit status: 0 done, 1 refused, 2 bad input, 130 interrupted.
    """
    from takifugu.atomic import write_text
    from takifugu.calibration import sweep
    from takifugu.mechanisms.draws import draws_needed

    orders, budgets = _numbers("--alpha", alphas), _numbers("--epsilon", epsilons)
    names = names_in(mechanisms) or [default_of(question["query"])]
    if confidence is not None:
        draws_needed(confidence)  # before the table is read, which may take long
    doing("Reading the table and fitting its priors")
    asked = ask(draws=0 if confidence is None else draws_needed(confidence), **question)
    doing("Calibrating at every combination")
    found = sweep(
        asked.priors,
        alphas=orders,
        epsilons=budgets,
        mechanisms=names,
        pairs=asked.pairs,
        confidence=confidence,
        assurance=assurance,
    )
    done()
    if csv_path is not None:
        text = _csv(found)
        if csv_path == "-":
            click.echo(text, nl=False)
        else:
            write_text(text, csv_path)
    if as_json:
        print_json([_row(row) for row in found.to_dict("records")])
    elif csv_path is None:
        _tell(asked.question, found)


def _numbers(option: str, texts: tuple[str, ...]) -> list[float]:
    numbers = []
    for text in ",".join(texts).split(","):
        try:
            numbers.append(float(text))
        except ValueError:
            raise InputError(
                f"{option} must be numbers with commas between them, such as 0.5,1; got {text!r}"
            ) from None
    return numbers


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"worst_pair": None if row["worst_pair"] is None else list(row["worst_pair"])}


def _csv(found: Any) -> str:
    """The table with the pair in two columns; floats lose no bit."""
    flat = found.assign(
        worst_first=[None if pair is None else pair[0] for pair in found["worst_pair"]],
        worst_second=[None if pair is None else pair[1] for pair in found["worst_pair"]],
    ).drop(columns="worst_pair")
    text: str = flat.to_csv(index=False, lineterminator="\n")
    return text


def _tell(question: str, found: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    from takifugu.reports.text import clean, number

    out = console()
    out.print(Text(clean(question, 400), style="bold"))
    out.print()
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for name in ("mechanism", "α", "ε", "noise θ", "variance θ²", "worst pair"):
        table.add_column(name, justify="left" if name in ("mechanism", "worst pair") else "right")
    for row in found.itertuples():
        who = "" if row.worst_pair is None else " against ".join(clean(secret, 30) for secret in row.worst_pair)
        figures = (number(x) for x in (row.alpha, row.epsilon, row.theta, row.variance))
        table.add_row(row.mechanism, *figures, who)
    out.print(table)
    if any(math.isinf(theta) for theta in found["theta"]):
        out.print("∞: the mechanism has no finite answer there.", style="dim")
