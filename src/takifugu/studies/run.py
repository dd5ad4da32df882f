"""The whole study: which numbers a plan needs, computed one by one with a word on each."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from takifugu.studies.cache import Cache
from takifugu.studies.curves import EVERY, EXACT, Point, Series, curve
from takifugu.studies.fits import Fitted, fitted
from takifugu.studies.settings import Plan, Setting

Tell = Callable[[int, int, str], None]  # done, of how many, what is running


@dataclass(frozen=True)
class Study:
    """Every prior and every number of a run."""

    plan: Plan
    fits: dict[Setting, Fitted]
    points: tuple[Point, ...]

    def line(self, setting: Setting, series: str, alpha: float) -> list[Point]:
        """The points of one line of a figure, in order of ε."""
        return self._lines.get((setting, series, alpha), [])

    def figures_of(self, point: Point) -> list[str]:
        """The figures that rest on a point."""
        return self._figures.get((point.setting, point.alpha), [])

    @cached_property
    def _lines(self) -> dict[tuple[Setting, str, float], list[Point]]:
        found: dict[tuple[Setting, str, float], list[Point]] = {}
        for point in self.points:
            found.setdefault((point.setting, point.series, point.alpha), []).append(point)
        return found

    @cached_property
    def _figures(self) -> dict[tuple[Setting, float], list[str]]:
        found: dict[tuple[Setting, float], list[str]] = {}
        for figure in self.plan.figures:
            for setting in self.plan.settings_of(figure):
                for alpha in self.plan.orders_of(figure):
                    found.setdefault((setting, alpha), []).append(figure)
        return found


def run(plan: Plan, cache: Cache, tell: Tell) -> Study:
    """Fit and calibrate everything a plan needs; what the cache holds is not computed again."""
    lines = _lines(plan)
    needed = {setting for figure in plan.figures for setting in plan.settings_of(figure)}
    needed |= {setting for setting, _, _ in lines}
    # GWM is finite on the empirical support, so every RAW setting needs that too.
    needed |= {Setting(s.dataset, "raw", "empirical") for s in needed if s.query == "raw"}
    total, done = len(needed) + len(lines), 0
    fits: dict[Setting, Fitted] = {}
    for setting in sorted(needed, key=_cheapest_first):
        tell(done, total, f"fitting {setting}")
        fits[setting] = fitted(setting, cache, quick=plan.quick)
        done += 1
    points: list[Point] = []
    for setting, alpha, several in lines:
        tell(done, total, f"calibrating and proving {setting}, α = {alpha:g}")
        empirical = fits.get(Setting(setting.dataset, "raw", "empirical")) if setting.query == "raw" else None
        for series in several:
            points += curve(fits[setting], series, cache, alpha=alpha, epsilons=plan.epsilons, empirical=empirical)
        done += 1
    tell(done, total, "drawing")
    return Study(plan, fits, tuple(points))


def _lines(plan: Plan) -> list[tuple[Setting, float, tuple[Series, ...]]]:
    """Each setting and order once, however many figures show it."""
    wanted: dict[tuple[Setting, float], tuple[Series, ...]] = {
        (s, alpha): EVERY for f in plan.figures for alpha in plan.orders_of(f) for s in plan.settings_of(f)
    }
    for setting, alpha in plan.extra:
        wanted.setdefault((setting, alpha), (EXACT,) if setting.prior == "empirical" else EVERY)
    return [(setting, alpha, series) for (setting, alpha), series in sorted(wanted.items(), key=lambda kv: kv[0])]


def _cheapest_first(setting: Setting) -> tuple[int, Setting]:
    """An interruption then costs least, and the slow models come when the rest is safe."""
    return {"raw": 0, "mean": 0, "gp": 1, "bnn": 2}.get(setting.query, 0), setting
