"""Strangers at the door: each request that is not the page's own gets a refusal and no data."""

import json
import re
import socket

import pytest
from explorer_process import QUESTION, Explorer

from takifugu.web.gate import MOST_BODY

_PATHS = ("/api/table", "/api/secrets", "/api/answer", "/api/download/report", "/api/download/certificate")


def _own(explorer: Explorer, **changed: str) -> dict[str, str]:
    """The page's own headers, some of them changed."""
    headers = {
        "Host": f"127.0.0.1:{explorer.port}",
        "Origin": f"http://127.0.0.1:{explorer.port}",
        "Content-Type": "application/json",
        "X-Takifugu-Token": explorer.token,
    }
    return headers | {name.replace("_", "-"): value for name, value in changed.items()}


def test_the_token_opens_the_page(explorer: Explorer) -> None:
    status, headers, page = explorer.request("GET", f"/?token={explorer.token}", own=False)
    assert status == 200
    assert b"Takifugu explorer" in page
    assert explorer.token.encode() not in page
    assert len(explorer.token) >= 43  # 256 bits
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


def test_only_what_is_in_the_page_may_run(explorer: Explorer) -> None:
    pages = [explorer.request("GET", f"/?token={explorer.token}", own=False) for _ in range(2)]
    nonces = set()
    for _, headers, page in pages:
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; ")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        (nonce,) = set(re.findall(r"'nonce-([\w-]+)'", policy))
        nonces.add(nonce)
        assert set(re.findall(r'nonce="([^"]*)"', page.decode())) == {nonce}
        assert b"{{" not in page
    assert len(nonces) == 2


@pytest.mark.parametrize(
    "query", ["", "?token=", "?token=wrong", "?token={token}x", "?token={token}&token={token}", "?t={token}"]
)
def test_the_door_stays_closed_without_the_token(explorer: Explorer, query: str) -> None:
    status, headers, page = explorer.request("GET", "/" + query.format(token=explorer.token), own=False)
    assert status == 403
    assert b"The door is closed" in page
    assert explorer.token.encode() not in page
    assert headers["content-security-policy"].startswith("default-src 'none'")


def test_the_token_in_the_address_is_good_for_the_page_alone(explorer: Explorer) -> None:
    assert explorer.request("GET", f"/api/start?token={explorer.token}", own=False)[0] == 403


@pytest.mark.parametrize("token", ["", "wrong", "é", "x" * 5000])
def test_a_wrong_token_gets_nothing(explorer: Explorer, token: str) -> None:
    for path in _PATHS:
        headers = _own(explorer, X_Takifugu_Token=token.encode().decode("latin-1"))
        status, _, content = explorer.request("POST", path, body=QUESTION, headers=headers, own=False)
        assert status == 403
        assert json.loads(content).keys() == {"error"}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_a_foreign_host_is_refused_even_with_the_token(explorer: Explorer, host: str) -> None:
    named = {"Host": host.format(port=explorer.port)}
    assert explorer.request("GET", f"/?token={explorer.token}", headers=named, own=False)[0] in (400, 421)
    assert explorer.request("POST", "/api/answer", body=QUESTION, headers=named)[0] in (400, 421)


def test_the_name_localhost_is_welcome(explorer: Explorer) -> None:
    here = f"localhost:{explorer.port}"
    assert explorer.request("GET", f"/?token={explorer.token}", headers={"Host": here}, own=False)[0] == 200
    headers = _own(explorer, Host=here, Origin=f"http://{here}")
    assert explorer.request("POST", "/api/table", body={"table": "heart"}, headers=headers, own=False)[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"])
def test_another_origin_is_refused_even_with_the_token(explorer: Explorer, origin: str) -> None:
    headers = {"Origin": origin.format(port=explorer.port)}
    assert explorer.request("POST", "/api/answer", body=QUESTION, headers=headers)[0] == 403
    assert explorer.request("GET", "/api/start", headers=headers)[0] == 403
    assert explorer.request("GET", f"/?token={explorer.token}", headers=headers, own=False)[0] == 403


def test_a_question_without_an_origin_is_refused(explorer: Explorer) -> None:
    headers = {"X-Takifugu-Token": explorer.token, "Content-Type": "application/json"}
    assert explorer.request("POST", "/api/answer", body=QUESTION, headers=headers, own=False)[0] == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_the_browsers_word_on_where_a_request_comes_from_counts(explorer: Explorer, site: str) -> None:
    headers = {"Sec-Fetch-Site": site}
    assert explorer.request("POST", "/api/answer", body=QUESTION, headers=headers)[0] == 403
    assert explorer.request("GET", "/api/start", headers=headers)[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(explorer: Explorer, method: str) -> None:
    status, headers, _ = explorer.request(method, "/api/answer", body=QUESTION)
    assert status == 405
    assert "access-control-allow-origin" not in headers


def test_a_body_has_a_limit(explorer: Explorer) -> None:
    assert explorer.request("POST", "/api/answer", body=b" " * (MOST_BODY + 1))[0] == 413
    length = {"Content-Length": "99999999999999999999"}
    assert explorer.request("POST", "/api/answer", body=b"{}", headers=length)[0] in (400, 413)


def test_a_body_that_never_tells_its_length_has_the_same_limit(explorer: Explorer) -> None:
    chunk = b"400\r\n" + b" " * 1024 + b"\r\n"
    head = "".join(f"{name}: {value}\r\n" for name, value in _own(explorer, Transfer_Encoding="chunked").items())
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=600) as line:
        line.sendall(f"POST /api/answer HTTP/1.1\r\n{head}\r\n".encode() + 8 * chunk)
        assert b" 413 " in line.recv(1000).split(b"\r\n")[0]


def test_a_header_sent_twice_is_refused(explorer: Explorer) -> None:
    own = _own(explorer)
    head = "".join(f"{name}: {value}\r\n" for name, value in own.items()) + "Origin: http://evil.example\r\n"
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=600) as line:
        line.sendall(f"GET /api/start HTTP/1.1\r\n{head}\r\n".encode())
        assert b" 400 " in line.recv(1000).split(b"\r\n")[0]


@pytest.mark.parametrize(
    "path", ["/docs", "/openapi.json", "/redoc", "/favicon.ico", "/../../etc/passwd", "/page/app.js", "//"]
)
def test_there_is_nothing_else_to_be_had(explorer: Explorer, path: str) -> None:
    assert explorer.request("GET", path)[0] == 404
    assert explorer.request("GET", path, own=False)[0] == 403


def test_no_other_machine_can_connect(explorer: Explorer) -> None:
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in addresses - {"127.0.0.1"}:
        if address.startswith("127."):
            continue
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((address, explorer.port), timeout=5)


def test_a_web_socket_is_not_opened(explorer: Explorer) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "x" * 22,
        "Sec-WebSocket-Version": "13",
    }
    assert explorer.request("GET", "/", headers=upgrade, own=False)[0] != 101
