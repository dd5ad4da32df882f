"""A query of one's own: the share of a group that has a label."""

import math
from dataclasses import dataclass

import narwhals as nw

import takifugu as tk
from takifugu.problems.answer import Answer
from takifugu.queries.priors import Priors, check_roles


@dataclass(frozen=True)
class Share:
    """Publish which share of a group has `label` in `column`."""

    column: str
    label: str

    def priors(self, table, secret, secrets):
        """One normal per secret: its group's share, and the error of that share."""
        check_roles(secret, self.column)
        table.require(self.column)
        counted = table.collect(  # the engine counts; rows stay where they are
            table.frame.select(
                table.secret(secret).alias("secret"),
                (nw.col(self.column) == self.label).alias("has"),
            )
            .filter(~nw.col("secret").is_null(), ~nw.col("has").is_null())
            .group_by("secret", "has")
            .agg(nw.len().alias("rows"))
        )
        rows, having = {}, {}
        for name, has, n in zip(*counted.values(), strict=True):
            if secrets is None or name in secrets:
                rows[name] = rows.get(name, 0) + n
                having[name] = having.get(name, 0) + n * has
        laws = {}
        for name, n in rows.items():
            share = having[name] / n
            laws[name] = tk.Mixture.gaussian(share, math.sqrt(share * (1 - share) / n))
        answer = Answer("share", (self.column,), (secret,))
        return Priors(laws, answer=answer, rows=rows)


if __name__ == "__main__":
    people = tk.datasets.load("adult")
    query = Share("marital-status", "Divorced")
    priors = tk.fit_priors(
        people, secret="race", query=query, secrets=["White", "Black"]
    )
    calibration = tk.calibrate(priors, alpha=3, epsilon=1)
    print(calibration)

    published = tk.release([priors["Black"].mean], calibration, ledger="shares.ledger")
    print(f"{len(published)} share published")
    try:
        tk.release(people, calibration)
    except tk.InputError as refusal:
        print(f"refused: {refusal}")
