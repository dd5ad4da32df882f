"""What several tests of a module look at, made by the first that asks for it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any


class WhenAsked(Mapping[str, Any]):
    """Things by name, each made once, and only when it is asked for.

    Tests can have the names as parameters. Every process that takes part in a run imports every module of tests: what
    a module calibrates while it is imported is calibrated by all of them, and by who runs one test of another module.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._makers, self._made = dict(makers), dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
