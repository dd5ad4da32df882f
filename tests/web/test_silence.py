"""Connections that say nothing, or next to nothing, against the server as its users have it."""

import contextlib
import http.client
import socket
import time

import pytest
from explorer_process import Explorer


def ends(connection: socket.socket) -> bytes:
    """What the server sends until it closes the connection; an error where it never does."""
    connection.settimeout(60)
    said = b""
    while part := connection.recv(4096):
        said += part
    return said


def test_seventy_silent_connections_starve_nobody(explorer: Explorer) -> None:
    with contextlib.ExitStack() as open_ones:
        silent = [
            open_ones.enter_context(socket.create_connection(("127.0.0.1", explorer.port), timeout=600))
            for _ in range(70)
        ]
        assert explorer.request("GET", "/api/start")[0] == 200  # while all of them are open
        assert [ends(one) for one in silent] == [b""] * 70
    assert explorer.request("GET", "/api/start")[0] == 200


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"GET / HT", b""),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1", b""),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\nGET /", b"HTTP/1.1 403"),  # a second one that stops short
        (
            b"POST /api/table HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
            b"Content-Type: application/json\r\nX-Takifugu-Token: {token}\r\nContent-Length: 20\r\n\r\n{",
            b"HTTP/1.1 408",
        ),
    ],
    ids=["line", "head", "second", "body"],
)
def test_a_request_that_stops_short_is_ended(explorer: Explorer, sent: bytes, answer: bytes) -> None:
    sent = sent.replace(b"{port}", str(explorer.port).encode()).replace(b"{token}", explorer.token.encode())
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=600) as connection:
        connection.sendall(sent)
        assert ends(connection).startswith(answer)
    assert explorer.request("GET", "/api/start")[0] == 200


def test_a_connection_that_is_used_is_not_closed_by_the_clock_of_its_first_request(explorer: Explorer) -> None:
    """The clock for the first head once closed every connection five seconds after it was opened, used or not.

    A browser that asked at that moment lost its question, and the page waited for an answer that never came.
    """
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=60)) as connection:
        connection.connect()
        opened = connection.sock
        for _ in range(4):  # 6 seconds from the first to the last
            connection.request("GET", "/")
            response = connection.getresponse()
            assert (response.status, bool(response.read())) == (403, True)
            assert connection.sock is opened
            time.sleep(2)
