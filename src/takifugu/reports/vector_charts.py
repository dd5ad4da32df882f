"""The pictures of noise on vectors: the worst pair in each number, and how the noise on the numbers goes together."""

import numpy as np

from takifugu.reports.charts import WIDTH, pair_chart
from takifugu.reports.few_rows import empty_chart
from takifugu.reports.heatmap import heat_map
from takifugu.reports.text import clean, number
from takifugu.reports.vector_facts import AxisFacts, VectorFacts

_NAME = 40


def picture(facts: VectorFacts, axis: AxisFacts, name: str, *, width: int = WIDTH) -> str:
    """The worst pair in one number, as it is and as it is published."""
    a, b = (clean(secret) for secret in facts.worst_pair)
    title = f"{a} and {b} in {clean(axis.name, _NAME)}, before and after noise"
    if facts.unshown:
        return empty_chart(facts.unshown, name=name, title=title, width=width)
    return pair_chart(
        (("before noise", axis.before), ("as published", axis.after)),
        axis=clean(axis.name, _NAME),
        name=name,
        title=title,
        description=f"The noise on {clean(axis.name, _NAME)} has a standard deviation of {number(axis.noise)}.",
        width=width,
    )


def correlation_chart(facts: VectorFacts, *, width: int = WIDTH) -> str:
    """The correlations of the noise, the darker the stronger, whichever their sign."""
    names = [clean(axis.name, _NAME) for axis in facts.axes]
    told = (
        f"{names[i]} and {names[j]} {number(float(facts.correlation[i, j]), 3)}"
        for i in range(len(names))
        for j in range(i)
    )
    return heat_map(
        np.abs(facts.correlation),
        names,
        names,
        texts=lambda i, j: f"{float(facts.correlation[i, j]):.2f}",
        name="tk-correlation",
        title="How the noise on the numbers goes together",
        description=f"Correlations: {'; '.join(told)}.",
        is_numeric=False,
        x_label="correlation of the noise",
        y_label="",
        width=width,
    )
