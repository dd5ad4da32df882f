"""What was computed lately, so that a slider's next step is quick."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any


class Remembered:
    """The latest results of a function by key; at most `size` of them."""

    def __init__(self, size: int) -> None:
        """Nothing yet."""
        self._size, self._lock = size, Lock()
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        """Whether the result is there."""
        with self._lock:
            return key in self._kept

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result, made where it is not there. An error is not remembered."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return made
