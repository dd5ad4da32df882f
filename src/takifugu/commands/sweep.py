"""takifugu sweep: budgets and mechanisms side by side."""

import math
from typing import Any

import click

from takifugu.commands.options import Command, ask, asking, default_of, names_in, single
from takifugu.commands.output import console, print_json
from takifugu.commands.progress import doing, done
from takifugu.errors import InputError


@click.command("sweep", cls=Command)
@asking
@click.option("--alpha", "alphas", multiple=True, help="Rényi orders: 2,3 or repeat the option.")
@click.option("--epsilon", "epsilons", multiple=True, help="Budgets: 0.5,1,2 or repeat the option.")
@click.option("--odds", "odds", multiple=True, help="For --query row: guarantees by odds, 2,3,5 or repeat the option.")
@click.option("--mechanism", "mechanisms", multiple=True, help="Mechanisms, with commas. [default: as calibrate]")
@single("--confidence", type=float, help="Such as 0.95: guarantee it for the population, not only for the sample.")
@single("--assurance", type=click.Choice(["band"]), help="Guarantee it for the population, proved: more noise.")
@single("--csv", "csv_path", type=click.Path(allow_dash=True), help="Write the table as CSV; - for here.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON instead; null is infinite.")
def command(
    alphas: tuple[str, ...],
    epsilons: tuple[str, ...],
    odds: tuple[str, ...],
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
    What odds cost, here where values go out from a list:
      takifugu sweep adult --secret race --pair White Other \\
          --query row:education-num --odds 1.5,2,3
    For a spreadsheet:
      takifugu sweep heart --secret slope --query mean:oldpeak \\
          --alpha 2,3 --epsilon 0.5,1 --csv noise.csv

    Exit status: 0 done, 1 refused, 2 bad input, 130 interrupted.
    """
    from takifugu.atomic import write_text
    from takifugu.calibration import sweep
    from takifugu.mechanisms import draws_needed

    orders, budgets = _numbers("--alpha", alphas), _numbers("--epsilon", epsilons)
    factors = _numbers("--odds", odds)
    if bool(orders) != bool(budgets) or not (orders or factors):
        beside = ", --odds, or all three" if default_of(question["query"]) != "shaped" else ""
        raise InputError(f"give --alpha and --epsilon{beside}: there is nothing to calibrate at")
    names = names_in(mechanisms) or None
    if confidence is not None:
        draws_needed(confidence)  # before the table is read, which may take long
    doing("Reading the table and fitting its priors")
    asked = ask(draws=0 if confidence is None else draws_needed(confidence), **question)
    doing("Calibrating at every combination")
    found = sweep(
        asked.priors,
        alpha=orders,
        epsilon=budgets,
        odds=factors,
        mechanism=names,
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
    for text in ",".join(texts).split(",") if texts else ():
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

    from takifugu.reports import clean

    out = console()
    out.print(Text(clean(question, 400), style="bold"))
    out.print()
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    figures = _of_lists if "changed" in found else _of_noise
    for name in ("mechanism", *figures(None), "worst pair"):
        table.add_column(name, justify="left" if name in ("mechanism", "worst pair") else "right")
    for row in found.itertuples():
        who = "" if row.worst_pair is None else " against ".join(clean(secret, 30) for secret in row.worst_pair)
        table.add_row(row.mechanism, *figures(row).values(), who)
    out.print(table)
    if any(math.isinf(theta) for theta in found["theta"]):
        out.print("∞: the mechanism has no finite answer there.", style="dim")


def _of_noise(row: object) -> dict[str, str]:
    """The columns of noise, with a row's figures."""
    from takifugu.reports import number

    names = {"α": "alpha", "ε": "epsilon", "noise θ": "theta", "variance θ²": "variance"}
    return {title: "" if row is None else number(getattr(row, name)) for title, name in names.items()}


def _of_lists(row: Any) -> dict[str, str]:
    """The same of channels between values of a list; odds are what they are called by."""
    from takifugu.reports import number, share_of

    if row is None:
        return dict.fromkeys(("α", "ε", "odds", "changed", "loss"), "")
    odds = number(math.exp(row.epsilon)) if math.isinf(row.alpha) else "–"
    return {
        "α": number(row.alpha),
        "ε": number(row.epsilon),
        "odds": odds,
        "changed": "–" if math.isnan(row.changed) else share_of(row.changed),
        "loss": number(row.error),
    }
