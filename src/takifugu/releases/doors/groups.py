"""One number about a group, or one vector: the mean of the rows with a secret, taken as its priors took it."""

from pathlib import Path
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.atomic import draft, synchronise
from takifugu.errors import InputError
from takifugu.problems.answer import MEAN, Answer
from takifugu.queries.mean import Mean
from takifugu.releases.as_fitted import reading_as_fitted
from takifugu.releases.binding import require_near
from takifugu.releases.doors.frames import publish
from takifugu.releases.doors.leaving import named
from takifugu.releases.doors.saving import appear, writer
from takifugu.releases.plan import Plan
from takifugu.releases.secret_rows import protected_secrets
from takifugu.tables.reading import Reading
from takifugu.tables.secrets import listed, match_secret
from takifugu.tables.table import Table


def group_mean(source: Any, reading: Reading | None, plan: Plan, of: object) -> Array:
    """The mean, or the vector of means, of the rows whose secret is `of`, held against that secret's own laws."""
    answer, calibration = _answer(plan), plan.calibration
    secrets: Any = sorted(protected_secrets(calibration), key=str)
    group = match_secret(of, secrets) if isinstance(of, str | int | float) else None
    if group is None:
        raise InputError(f"of must be one of the secrets that this calibration hides, {listed(secrets)}; got {of!r}")
    table = source if isinstance(source, Table) else Table(source, reading_as_fitted(reading or Reading(), calibration))
    query = Mean(answer.columns[0] if len(answer.columns) == 1 else answer.columns)
    mean: Array = np.ravel(query.priors(table, answer.secret[0], [group])[group].means)
    if plan.drift != "allow":
        require_near(mean, [belief[group] for belief in calibration.beliefs if group in belief])
    return mean


def _answer(plan: Plan) -> Answer:
    answer = plan.calibration.answer
    if answer is None or answer.query != MEAN or len(answer.secret) != 1:
        words = "an answer of priors that were made by hand" if answer is None else answer.words
        raise InputError(
            f"`of` names the group whose mean is published, and this calibration is for {words}: leave it out"
        )
    return answer


def refuse_beside_a_mean(*given: object) -> None:
    """Refuse a column, a secret or columns to keep beside the group of a mean."""
    if any(one is not None and not (isinstance(one, tuple | list) and not one) for one in given):
        raise InputError(
            "the calibration of a mean knows its column and its secret, and nothing is kept beside one number: name "
            "the group alone"
        )


def write_group_mean(source: Any, reading: Reading | None, goal: Path, plan: Plan, of: object) -> None:
    """The published mean as a file of one row; nothing in it says of which group it is."""
    import pyarrow as pa

    ready = group_mean(source, reading, plan, of)
    with draft(goal) as unfinished:
        made = publish(ready, plan, None, []).tolist()
        with writer(unfinished, goal.suffix) as write:
            write(pa.table({named(name, plan): [one] for name, one in zip(_answer(plan).columns, made, strict=True)}))
        synchronise(unfinished)
        appear(unfinished, goal)
    synchronise(goal.parent)
