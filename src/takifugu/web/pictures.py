"""The pictures beside the figures: the worst pair in full, every other pair as a matrix."""

from takifugu.reports import channel_charts, charts, vector_charts
from takifugu.reports.channel_facts import ChannelFacts
from takifugu.reports.common import Facts
from takifugu.reports.few_rows import empty_chart
from takifugu.reports.noise_facts import NoiseFacts
from takifugu.reports.spread_of_losses import loss_matrix
from takifugu.reports.text import clean
from takifugu.reports.vector_facts import VectorFacts

_MOST_COLUMNS = 4  # of a row, with pictures of their own
_NARROW = 340  # units: on a telephone a unit is then about as large as a pixel


def drawn(facts: Facts, *, narrow: bool) -> list[dict[str, str]]:
    """Name, caption and SVG of each picture, in the order in which they are shown."""
    width = _NARROW if narrow else charts.WIDTH
    if isinstance(facts, ChannelFacts):
        found = _channel(facts, width)
    elif isinstance(facts, NoiseFacts):
        found = _noise(facts, width)
    elif isinstance(facts, VectorFacts):
        found = _vector(facts, width)
    else:
        return []
    matrix = loss_matrix(facts, width=width)
    if matrix is not None:
        found.insert(1, ("losses", "Every pair: its loss in percent of the limit", matrix.chart))
    return [{"id": name, "caption": caption, "svg": svg} for name, caption, svg in found]


def _noise(facts: NoiseFacts, width: int) -> list[tuple[str, str, str]]:
    few = len(facts.densities) <= 2
    held = "What the adversary believes beforehand"
    return [
        ("before-after", _pair(facts, "before and after the noise"), charts.before_after_chart(facts, width=width)),
        ("noise", "The noise against the budget", charts.noise_chart(facts, width=width)),
        ("density", held if few else f"{held}, for the worst pair first", charts.density_chart(facts, width=width)),
    ]


def _vector(facts: VectorFacts, width: int) -> list[tuple[str, str, str]]:
    found = []
    for k, axis in enumerate(facts.axes[: 1 if facts.unshown else _MOST_COLUMNS]):  # nothing is said once for each
        told = _pair(facts, f"{clean(axis.name, 40)} before and after the noise")
        found.append((f"axis-{k + 1}", told, vector_charts.picture(facts, axis, f"tk-axis-{k + 1}", width=width)))
    together = vector_charts.correlation_chart(facts, width=width)
    return [*found, ("correlation", "How the noise on the columns goes together", together)]


def _channel(facts: ChannelFacts, width: int) -> list[tuple[str, str, str]]:
    found = []
    several = len(facts.columns) > 1
    if facts.unshown:
        told = _pair(facts, "true and published values")
        found.append(("pair-1", told, empty_chart(facts.unshown, name="tk-pair-1", title=told, width=width)))
    for k, column in enumerate(facts.columns[:_MOST_COLUMNS]):
        name = f" of {clean(column.name, 40)}" if several else ""
        if not facts.unshown:
            pair = channel_charts.worst_pair_chart(column, facts.worst_pair, name=f"tk-pair-{k + 1}", width=width)
            found.append((f"pair-{k + 1}", _pair(facts, f"true and published values{name}"), pair))
        become = channel_charts.channel_chart(column, name=f"tk-channel-{k + 1}", width=width)
        found.append((f"channel-{k + 1}", f"What becomes of each value{name}", become))
    return found


def _pair(facts: Facts, what: str) -> str:
    a, b = (clean(name, 30) for name in facts.worst_pair)
    others = "" if len(facts.calibration.pairs) == 1 else ", the pair hardest to hide"
    return f"{a} and {b}{others}: {what}"
