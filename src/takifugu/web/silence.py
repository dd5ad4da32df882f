"""Connections that say nothing are closed: seventy of them would otherwise keep the page from whoever asks for it.

The server times out a connection only once it has answered on it. Here one that has not sent the head of a request in
time is closed, whether it is silent or sends a letter now and then; `takifugu.web.gate` does the same for bodies.
"""

from typing import Any

SILENCE = 5.0  # seconds for the head of a request, and for its body


def impatient_protocol() -> Any:
    """The server's protocol, with an end to silence."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):  # type: ignore[misc]
        """Closes a connection on which no request begins in time."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._clock: Any = self.loop.call_later(SILENCE, self._too_late)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._clock is None and self._is_waiting:  # a second request that has begun and does not go on
                self._clock = self.loop.call_later(SILENCE, self._too_late)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._clock is not None:
                self._clock.cancel()
            super().connection_lost(exc)

        @property
        def _is_waiting(self) -> bool:
            return self.cycle is None or bool(self.cycle.response_complete)

        def _too_late(self) -> None:
            self._clock = None
            if self._is_waiting:
                self.transport.close()

    return Impatient
