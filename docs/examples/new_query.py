"""A query of one's own: the share of a group that has a label."""

import math
from dataclasses import dataclass

import narwhals as nw

import takifugu as tk
from takifugu.problems.answer import Answer
from takifugu.queries.priors import Priors, check_roles
from takifugu.tables.count import chosen_secrets


@dataclass(frozen=True)
class Share:
    """Publish which share of a group has `label` in `column`."""

    column: str
    label: str

    def priors(self, table, secret, secrets):
        """One normal per secret: its group's share, and the error of that share."""
        check_roles(secret, self.column)
        has = (nw.col(self.column) == self.label).cast(nw.Int64)
        grouped = table.frame.select(table.secret(secret).alias("secret"), has.alias("has"))
        counted = table.collect(
            grouped.group_by("secret").agg(nw.len().alias("rows"), nw.col("has").sum())
        )
        rows = dict(zip(counted["secret"], counted["rows"], strict=True))
        laws = {}
        for name, n, k in zip(counted["secret"], rows.values(), counted["has"], strict=True):
            share = (k + 1) / (n + 2)  # never 0 or 1: no group is certain
            laws[name] = tk.Mixture.gaussian(share, math.sqrt(share * (1 - share) / n))
        return Priors(laws, answer=Answer("share", (self.column,), (secret,)), rows=rows)
