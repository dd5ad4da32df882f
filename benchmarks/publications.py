"""How often a publication is beyond its guarantee, for 1,000 populations that are known exactly.

`nice python -m benchmarks.publications FOLDER` draws a table from each population of `benchmarks.populations`, calls
`tk.publish` on it with the default confidence, and then draws nothing more: from the population's own joint law and the
probabilities of the channel it computes what every adversary of the stated kind can learn, in every cell of what is
known or kept and of each subset of it, for every pair of secrets both ways, given that a row is published at all. One
line of JSON a publication is added to FOLDER/publications.jsonl, and those that are there are not made again: stop it
and start it as you like. `--first` and `--count` choose numbers, `--table` only prints what is there.
"""

import argparse
import json
import math
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import takifugu as tk
from benchmarks.populations import KINDS, Population, population
from takifugu.errors import TakifuguError

Array = np.ndarray
COUNT = 1_000
_ROUNDING = 1e-9
MOST_UNSAID = 1.25  # odds from being among those published, beyond which a warning is due


def table_of(one: Population, seed: int) -> pd.DataFrame:
    """People drawn from the population, each with as many rows as people have."""
    rng = np.random.default_rng([seed, 7])
    flat = one.law.reshape(len(one.law), -1)
    people = np.repeat(np.arange(one.rows // one.visits), one.visits)
    secret = rng.choice(len(flat), people[-1] + 1, p=flat.sum(axis=1))[people]
    rest = np.empty(len(secret), dtype=np.intp)
    for s, law in enumerate(flat):
        rest[secret == s] = rng.choice(len(law), (secret == s).sum(), p=law / law.sum())
    places = [secret, *np.unravel_index(rest, one.law.shape[1:])]
    table = pd.DataFrame(
        {
            name: pd.Series([values[k] for k in place.tolist()], dtype=object if _is_text(values) else float)
            for (name, values), place in zip(one.columns.items(), places, strict=True)
        }
    )
    return table.assign(person=people) if "id" in one.asked else table


def _is_text(values: tuple[Any, ...]) -> bool:
    return any(isinstance(value, str) for value in values)


def outcome(number: int) -> dict[str, Any]:
    """One publication: what became of it, and how much of the guarantee the population uses up at the worst."""
    one = population(number)
    told: dict[str, Any] = {"number": number, "kind": one.kind, "shape": one.shape, "rows": one.rows}
    told["guarantee"] = {name: one.asked[name] for name in ("odds", "alpha", "epsilon") if name in one.asked}
    table, begin = table_of(one, number), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = tk.publish(table, **as_called(one.asked))
    except TakifuguError as error:
        return told | {"refused": reason(error), "seconds": round(time.process_time() - begin, 2)}
    told["seconds"] = round(time.process_time() - begin, 2)
    return told | judged(one, table, made)


def as_called(asked: dict[str, Any]) -> dict[str, Any]:
    """What is asked, as `publish` takes it: adversary and reading are objects of their own."""
    plain = dict(asked)
    for name, of in (("adversary", tk.Adversary), ("reading", tk.Reading)):
        inside = {field.name: plain.pop(field.name) for field in fields(of) if field.name in plain}
        if inside:
            plain[name] = of(**inside)
    return plain


def reason(error: TakifuguError) -> str:
    """The class of an error and its first words, without what is of this table alone."""
    words = re.sub(r"'[^']*'|[\d,.]+ ?%?", "…", str(error))
    return f"{type(error).__name__}: {re.split('[:.;(]', words)[0].strip()[:100]}"


def judged(one: Population, table: pd.DataFrame, made: Any) -> dict[str, Any]:
    """The share of the guarantee that the worst pair, cell and direction use up, and where that is."""
    channel, domain = made.calibration.channel, made.calibration.answer.domain
    columns = [str(name) for name in one.asked["columns"]]
    law, cells, keys = by_inputs(one, columns, domain, channel)
    published = channel.through(law)  # secret, cell, output
    secrets = [s for s in one.columns["secret"] if s not in one.asked.get("leave_out", ())]
    seen = table.dropna(subset=[c.split(":")[0] for c in columns])
    worst: dict[str, Any] = {"used": 0.0}
    for subset in _subsets(len(cells)):
        rows = _rows_by_cell(seen, [cells[k] for k in subset])
        for key in dict.fromkeys(tuple(cell[k] for k in subset) for cell in keys):
            if key not in rows:
                continue  # nobody with these values is in the table
            inside = [place for place, cell in enumerate(keys) if tuple(cell[k] for k in subset) == key]
            for a, b in permutations(secrets, 2):
                p, q = (published[one.columns["secret"].index(s), inside].sum(axis=0) for s in (a, b))
                if not p.sum() or not q.sum():
                    continue  # the cell itself gives the secret away, whatever is published beside it
                used = share_used(p / p.sum(), q / q.sum(), one.asked)
                if used > worst["used"]:
                    of_pair = [rows[key].get(s, 0) for s in (a, b)]
                    worst = {"used": round(used, 9), "pair": [a, b], "cell": [*map(str, key)], "rows of both": of_pair}
    worst["changed"] = round(channel.share_changed(law.sum(axis=(0, 1))), 4)
    worst["beyond"] = worst["used"] > 1 + _ROUNDING
    worst["being there"] = round(being_there(one, columns, secrets), 4)
    worst["warned"] = any(finding.code == "left-out-tells" for finding in made.findings)
    return worst


def being_there(one: Population, columns: list[str], secrets: list[str]) -> float:
    """The odds between two secrets that it tells to be among those published, whose values are not missing.

    The guarantee says nothing about it: it is given that a row is published.
    """
    axes = {name: axis for axis, name in enumerate(one.columns)}
    law = one.law
    for name in columns:
        values = one.columns[name.split(":")[0]]
        law = law.compress([value is not None for value in values], axis=axes[name.split(":")[0]])
    here = [one.columns["secret"].index(s) for s in secrets]
    rest = tuple(range(1, law.ndim))
    chances = law.sum(axis=rest)[here] / one.law.sum(axis=rest)[here]
    return float(chances.max() / chances.min())


def share_used(p: Array, q: Array, asked: dict[str, Any]) -> float:
    """The loss of p against q over what is allowed: in logarithms of odds, or as a Rényi divergence."""
    here = p > 0
    if (q[here] <= 0).any():
        return math.inf
    ratios = np.log(p[here]) - np.log(q[here])
    if "odds" in asked:
        return float(ratios.max()) / math.log(asked["odds"])
    order = asked["alpha"] - 1
    return float(np.log(p[here] @ np.exp(order * ratios))) / order / asked["epsilon"]


def by_inputs(
    one: Population, columns: list[str], domain: Any, channel: Any
) -> tuple[Array, list[str], list[tuple[Any, ...]]]:
    """P(secret, cell, input of the channel) of the rows that can be published; the cells' columns and their values."""
    cells = [str(name) for name in (*one.asked.get("known", ()), *one.asked.get("keep", ()))]
    inputs = {value if isinstance(value, tuple) else (value,): place for place, value in enumerate(channel.inputs)}
    names = list(one.columns)
    keys: dict[tuple[Any, ...], int] = {}
    entries = []
    for places in zip(*np.nonzero(one.law), strict=True):
        row = {name: one.columns[name][k] for name, k in zip(names, places, strict=True)}
        value = tuple(_on_list(_cut(row, name), listed.values) for name, listed in zip(columns, domain, strict=True))
        if (where := inputs.get(value)) is None:
            continue  # a value is missing, or nobody in the table has it
        cell = keys.setdefault(tuple(_cut(row, name) for name in cells), len(keys))
        entries.append((places[0], cell, where, one.law[places]))
    law = np.zeros((one.law.shape[0], len(keys), len(channel.inputs)))
    for s, cell, where, share in entries:
        law[s, cell, where] += share
    return law, cells, list(keys)


def _cut(row: dict[str, Any], name: str) -> Any:
    """The value of a column, or of one that is cut at edges, as x:30:45 is, the bin in words."""
    column, *edges = name.split(":")
    value = row[column]
    if pd.isna(value):
        return None
    if not edges:
        return value
    place = sum(value >= float(edge) for edge in edges)
    if place == 0:
        return f"below {edges[0]}"
    return f"from {edges[-1]}" if place == len(edges) else f"from {edges[place - 1]} to {edges[place]}"


def _on_list(value: Any, listed: tuple[Any, ...]) -> Any:
    """A value as the list has it: of numbers the nearest, of two the larger."""
    if value is None or isinstance(value, str):
        return value
    return min(listed, key=lambda point: (abs(point - value), -point))


def _subsets(size: int) -> Iterator[tuple[int, ...]]:
    return (chosen for many in range(size + 1) for chosen in combinations(range(size), many))


def _rows_by_cell(table: pd.DataFrame, cells: list[str]) -> dict[tuple[Any, ...], Counter[str]]:
    found: dict[tuple[Any, ...], Counter[str]] = {}
    for row in table.to_dict("records"):
        found.setdefault(tuple(_cut(row, name) for name in cells), Counter())[row["secret"]] += 1
    return found


# ---- many of them


def read(folder: Path) -> list[dict[str, Any]]:
    """What was made so far, by number."""
    path = folder / "publications.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return sorted((json.loads(line) for line in lines), key=lambda one: one["number"])


def make(folder: Path, first: int, count: int) -> None:
    """Make those that are not there yet, each added as soon as it is made."""
    folder.mkdir(parents=True, exist_ok=True)
    there = {one["number"] for one in read(folder)}
    with (folder / "publications.jsonl").open("a", encoding="utf-8") as file:
        for number in range(first, first + count):
            if number not in there:
                file.write(json.dumps(outcome(number)) + "\n")
                file.flush()


def page(found: list[dict[str, Any]]) -> str:
    """A table by kind, and why what was refused was refused."""
    lines = [
        "| populations | published | refused | beyond | share | worst | cells changed |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for kind in (*KINDS, None):
        here = [one for one in found if kind in (None, one["kind"])]
        made = [one for one in here if "refused" not in one]
        over = [one for one in made if one["beyond"]]
        if not made:
            continue
        worst = max(one["used"] for one in made)
        name = "**all**" if kind is None else kind
        changed = float(np.median([one["changed"] for one in made]))
        lines.append(
            f"| {name} | {len(made)} | {len(here) - len(made)} | {len(over)} | {100 * len(over) / len(made):.1f} % "
            f"| {worst:.2f} | {100 * changed:.0f} % |"
        )
    told = [one for one in found if one.get("being there", 1) > MOST_UNSAID]
    if told:
        lines += [
            "",
            f"In {len(told)} of those with missing values, to be published at all tells odds of more than "
            f"{MOST_UNSAID:g}; `publish` warned in {sum(one['warned'] for one in told)} of them.",
        ]
    refused = Counter(one["refused"] for one in found if "refused" in one)
    lines += ["", "| refused | because |", "|--:|---|"] if refused else []
    lines += [f"| {number} | {why} |" for why, number in refused.most_common()]
    return "\n".join(lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--table", action="store_true", help="only print what is there")
    given = parser.parse_args()
    if not given.table:
        make(given.folder, given.first, given.count)
    print(page(read(given.folder)))


if __name__ == "__main__":
    main()
