"""A table that no wheel holds, for the tests of the study over unseen tables."""

from studies.unseen.settings import Unseen, Wheel


def made_up_table(*, high: float) -> Unseen:
    return Unseen(
        name="made-up",
        title="nobody",
        wheel=Wheel("made-up", "1.0", "MIT"),
        member="made/up.csv",
        sha256="",
        secret="s",
        number="x",
        low=0,
        high=high,
        step=1,
        label="ward",
        source="nowhere",
    )
