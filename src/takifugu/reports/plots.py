"""`.plot()`: channels, calibrations and priors on Matplotlib axes."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from takifugu.audits import Audit
from takifugu.calibration import Calibration
from takifugu.certificates import Certificate, ChannelCertificate
from takifugu.channels import GaussianNoise, ListChannel, named
from takifugu.errors import InputError, MissingExtraError
from takifugu.laws import Finite, Mixture, VectorMixture
from takifugu.mechanisms import worst
from takifugu.problems import Problem, Renyi
from takifugu.reports.channel_facts import ChannelFacts, ColumnFacts, column_facts
from takifugu.reports.charts import coarsened
from takifugu.reports.common import TOO_FEW, curve, grid, is_shown
from takifugu.reports.facts import AxisFacts, VectorFacts, facts_of
from takifugu.reports.noise_facts import NoiseFacts
from takifugu.reports.svg import COLOURS
from takifugu.reports.text import clean

_MOST_DRAWN = 6
_MOST_ATTACKS = 12
_TICKS = 24
_NAME = 24
_MOST_ELLIPSES = 60


def plot(thing: Any, ax: Any = None) -> Any:
    """Draw a channel, a calibration, a certificate, priors, a law or an audit; returns the axes.

    A channel of rows has axes for each column and noise on vectors for each number, of which an array is returned;
    drawn on axes that are given it is the first.
    """
    if find_spec("matplotlib") is None:
        raise MissingExtraError("plots are drawn with Matplotlib: install it with pip install 'takifugu[plots]'")
    if isinstance(thing, Audit):
        return _audit(thing, _axes(ax))
    if isinstance(thing, ChannelCertificate):
        thing = thing.calibration
    if isinstance(thing, Certificate):
        thing = _of_certificate(thing)
    if isinstance(thing, Calibration):
        return _calibration(thing, ax)
    if isinstance(thing, ListChannel):
        even = np.full(len(thing.inputs), 1.0 / len(thing.inputs))
        return _columns(column_facts(thing, even, (even, even), None), ax)
    if isinstance(thing, Finite | Mixture | VectorMixture):
        return _laws({"": thing}, _axes(ax))
    if isinstance(thing, Mapping):
        return _laws(thing, _axes(ax))
    if isinstance(thing, Sequence) and thing and isinstance(thing[0], Mapping):
        return _laws(thing[0], _axes(ax))
    raise InputError(f"there is no plot of a {type(thing).__name__}")


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def _calibration(calibration: Calibration, ax: Any) -> Any:
    """A finite channel as its heat map, Gaussian noise as the worst pair before and after."""
    facts = facts_of(calibration, compare=False)
    if isinstance(facts, ChannelFacts):
        return _columns(facts.columns, ax)
    if isinstance(facts, VectorFacts):
        if facts.unshown:
            return _only_told(facts.unshown, _axes(ax))
        return _side_by_side(facts.axes[:_MOST_DRAWN], ax, _axis)
    if not isinstance(facts, NoiseFacts):
        raise InputError(f"there is no plot of {type(facts).__name__}")
    if facts.unshown:
        return _only_told(facts.unshown, _axes(ax))
    return _before_after(facts, _axes(ax), label="answer", title=f"Noise θ = {facts.theta:.4g}")


def _of_certificate(certificate: Certificate) -> Calibration:
    """What a certificate of noise is about, as the calibration that it proves; its promise is not what is drawn."""
    beliefs = [dict(zip(certificate.secrets, laws, strict=True)) for laws in certificate.beliefs]
    pairs = [(certificate.secrets[a], certificate.secrets[b]) for a, b in certificate.pairs]
    problem, channel = Problem.of(beliefs, pairs), GaussianNoise(certificate.theta)
    return Calibration(
        problem=problem,
        guarantee=Renyi(certificate.alpha, certificate.epsilon),
        channel=channel,
        mechanism=certificate.mechanism,
        place=worst(problem, channel, alpha=certificate.alpha).place,
    )


def _axis(axis: AxisFacts, axes: Any) -> Any:
    """One number of a vector."""
    return _before_after(axis, axes, label=axis.name, title=f"Noise of {axis.noise:.4g} on {clean(axis.name)}")


def _before_after(facts: NoiseFacts | AxisFacts, axes: Any, *, label: str, title: str) -> Any:
    """The worst pair before (thin) and after (thick)."""
    for pair, width, note in ((facts.before, 1.0, ""), (facts.after, 2.5, ", as published")):
        for side, (one, colour) in enumerate(zip(pair, COLOURS, strict=False)):
            name = _plain(f"{clean(one.label, _NAME)}{note}")
            if one.is_mass:  # side by side: one would hide the other
                aside = (side - 0.5) * 0.008 * float(np.ptp(one.x))
                axes.vlines(one.x + aside, 0, one.y, color=colour, linewidth=width, label=name)
            else:
                axes.plot(one.x, one.y, color=colour, linewidth=width, label=name)
    axes.set(xlabel=_plain(label), ylabel="density", title=_plain(title))
    axes.legend()
    return axes


def _columns(columns: Sequence[ColumnFacts], ax: Any) -> Any:
    """One picture for each column."""
    return _side_by_side(columns, ax, _channel)


def _side_by_side(parts: Sequence[Any], ax: Any, draw: Callable[[Any, Any], Any]) -> Any:
    """A picture for each part; on axes that were given, the first alone."""
    if len(parts) == 1 or ax is not None:
        return draw(parts[0], _axes(ax))
    from matplotlib import pyplot

    count = len(parts)
    every = pyplot.subplots(1, count, figsize=(6.4 * min(count, 3), 4.8), layout="constrained")[1]
    for part, axes in zip(parts, every, strict=True):
        draw(part, axes)
    return every


def _audit(audit: Audit, axes: Any) -> Any:
    """How often each attack guesses right, with its interval, beside what the promise allows."""
    best = sorted(audit.attacks, key=lambda one: float(one.guess))[-_MOST_ATTACKS:]
    places = np.arange(len(best))
    shares = np.array([float(one.guess) for one in best])
    reach = np.array([[share - one.guess.low, one.guess.high - share] for share, one in zip(shares, best, strict=True)])
    axes.errorbar(shares, places, xerr=np.maximum(reach.T, 0), fmt="o", color=COLOURS[0])
    axes.axvline(0.5, color="grey", linestyle=":", label="blind luck")
    axes.axvline(audit.guess_limit, color=COLOURS[1], label="at most, by the promise")
    axes.set_yticks(places, [_plain(clean(one.attacker, 40)) for one in best])
    # The legend has a line of its own below the attacks: an interval under it would not be seen.
    axes.set(xlabel="share of right guesses", title="Attacks", ylim=(-1.4, len(best) - 0.5))
    axes.legend(loc="lower right", ncols=2)
    return axes


def _channel(column: ColumnFacts, axes: Any) -> Any:
    shares, rows, columns = coarsened(column)
    # The root makes room for small shares, which are what a reader looks for beside a full diagonal.
    picture = axes.imshow(shares, cmap="Blues", norm="linear" if not shares.any() else _root(), aspect="auto")
    axes.figure.colorbar(picture, ax=axes, label="share of people")
    for axis, names in ((axes.yaxis, rows), (axes.xaxis, columns)):
        places = np.arange(0, len(names), -(-len(names) // _TICKS))
        axis.set_ticks(places, [_plain(clean(names[k], 20)) for k in places])
    if not column.is_numeric:
        axes.tick_params(axis="x", labelrotation=90)
    axes.set(xlabel="published value", ylabel="true value", title=_plain(clean(column.name)))
    return axes


def _root() -> Any:
    from matplotlib.colors import PowerNorm

    return PowerNorm(0.5, vmin=0.0, vmax=1.0)


def _laws(laws: Mapping[Any, Any], axes: Any) -> Any:
    """Masses as bars side by side, mixtures as densities, vectors by their first two numbers."""
    rows = getattr(laws, "rows", {})
    unshown = [str(name) for name in laws if not is_shown(rows.get(name))]
    shown = [(name, law) for name, law in laws.items() if is_shown(rows.get(name))]
    drawn = {_plain(clean(name, _NAME)): law for name, law in shown[:_MOST_DRAWN]}
    if not drawn:
        return _only_told(unshown, axes)
    for kind, draw in ((Mixture, _densities), (Finite, _bars), (VectorMixture, _ellipses)):
        if all(isinstance(law, kind) for law in drawn.values()):
            draw(drawn, axes)
            break
    else:
        raise InputError(f"there is no plot of a {type(next(iter(drawn.values()))).__name__}")
    if unshown:
        return _only_told(unshown, axes)
    if any(str(name) for name in laws):
        axes.legend()
    return axes


def _only_told(names: Sequence[str], axes: Any) -> Any:
    """Secrets of too few rows stand in the legend, and nothing of them is drawn."""
    for name in names[:_MOST_DRAWN]:
        axes.plot([], [], " ", label=_plain(f"{clean(name, _NAME)}: {TOO_FEW}"))
    axes.legend()
    return axes


def _densities(drawn: dict[str, Mixture], axes: Any) -> None:
    x = grid(drawn.values())
    for k, ((name, law), colour) in enumerate(zip(drawn.items(), COLOURS, strict=False)):
        one = curve(name, law, x)
        if one.is_mass:  # side by side: one would hide the other
            aside = (k - (len(drawn) - 1) / 2) * 0.006 * float(np.ptp(x))
            axes.vlines(one.x + aside, 0, one.y, color=colour, linewidth=2.0, label=name)
        else:
            axes.plot(one.x, one.y, color=colour, label=name)
    axes.set(xlabel="answer", ylabel="density")


def _bars(drawn: dict[str, Finite], axes: Any) -> None:
    places: dict[str, int] = {}
    for law in drawn.values():
        values: Any = sorted(law.values) if law.is_numeric else law.values
        for value in values:
            places.setdefault(named(value), len(places))
    for k, ((name, law), colour) in enumerate(zip(drawn.items(), COLOURS, strict=False)):
        width = 0.8 / len(drawn)
        at = np.array([places[named(value)] for value in law.values]) + (k - (len(drawn) - 1) / 2) * width
        axes.bar(at, law.probabilities, width=width, color=colour, label=name)
    every = list(places)
    shown = np.arange(0, len(every), -(-len(every) // _TICKS))
    axes.set_xticks(shown, [_plain(clean(every[k], 20)) for k in shown])
    if not all(law.is_numeric for law in drawn.values()):
        axes.tick_params(axis="x", labelrotation=90)
    axes.set(ylabel="share")


def _ellipses(drawn: dict[str, VectorMixture], axes: Any) -> None:
    """Of each component the ellipse one deviation around its mean, stronger where it is likelier."""
    turn = np.linspace(0.0, 2 * np.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    for (name, law), colour in zip(drawn.items(), COLOURS, strict=False):
        two = law.marginal([0, 1]) if law.dimension > 1 else law.marginal([0])
        heaviest = np.argsort(-two.weights, kind="stable")[:_MOST_ELLIPSES]
        for k in heaviest:
            values, vectors = np.linalg.eigh(two.covariances[k])
            around = two.means[k][:, None] + (vectors * np.sqrt(np.maximum(values, 0.0))) @ circle[: two.dimension]
            x, y = around[0], around[-1] if two.dimension > 1 else np.zeros_like(turn)
            strength = float(0.3 + 0.7 * two.weights[k] / two.weights[heaviest[0]])
            marker = None if two.covariances[k].any() else "o"
            axes.plot(x, y, color=colour, alpha=strength, marker=marker, label=name if k == heaviest[0] else None)
    axes.set(xlabel="first number", ylabel="second number")


def _plain(text: str) -> str:
    """Text that Matplotlib does not take for a formula, nor for a name to be left out of the legend."""
    return text.replace("$", r"\$").lstrip("_") or " "
