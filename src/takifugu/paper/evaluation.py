"""From nothing to the whole evaluation: one call, one folder."""

import platform
from pathlib import Path
from typing import Any

from takifugu.atomic import write_text
from takifugu.paper.becoming import as_csv, becoming, becoming_page
from takifugu.paper.cache import Cache, versions
from takifugu.paper.claims import Claim, claims
from takifugu.paper.figures import draw, require_matplotlib
from takifugu.paper.headline import Reduction, headline
from takifugu.paper.page import page, save_figure, write_csv, write_json
from takifugu.paper.settings import Plan
from takifugu.paper.study import Study, Tell, run


def reproduce(
    folder: Path,
    plan: Plan,
    cache: Cache,
    tell: Tell = lambda done, total, what: None,
    *,
    population: bool = False,
) -> "Results":
    """Compute the plan and write results.csv, results.json, figures/ and index.html into a folder.

    With `population` also population.html and population.csv: what the numbers of RAW become for the population.
    """
    require_matplotlib()
    study = run(plan, cache, tell)
    results = Results(study, headline(study), claims(study), environment())
    drawn = {name: save_figure(draw(name, study), folder / "figures" / f"figure-{name}") for name in plan.figures}
    write_csv(folder / "results.csv", study)
    write_json(folder / "results.json", study, results.headline, results.claims, results.environment)
    write_text(page(study, results.headline, results.claims, results.environment, drawn), folder / "index.html")
    if population:
        become = []
        for done, name in enumerate(plan.datasets):
            tell(done, len(plan.datasets), f"what {name} needs for the population")
            become += becoming(name, cache)
        write_text(as_csv(become), folder / "population.csv")
        write_text(becoming_page(become), folder / "population.html")
    return results


class Results:
    """What a run found."""

    def __init__(self, study: Study, reductions: list[Reduction], found: list[Claim], where: dict[str, Any]) -> None:
        """Hold the numbers together with what follows from them."""
        self.study, self.headline, self.claims, self.environment = study, reductions, found, where


def environment() -> dict[str, Any]:
    """What the numbers were computed with."""
    from takifugu import __version__

    return {"takifugu": __version__, **versions(), "system": platform.system(), "machine": platform.machine()}
