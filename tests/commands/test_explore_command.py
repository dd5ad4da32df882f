"""takifugu explore, from the command line to Ctrl-C."""

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from click.testing import CliRunner

from takifugu.cli import main
from takifugu.web.server import browser_door


def _explore(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-m", "takifugu", "explore", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_ends_it_cleanly_and_the_token_is_shown_once() -> None:
    process = _explore("--no-browser")
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    token = lines[2].strip().partition("token=")[2]
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=600)
    assert process.returncode == 0
    assert out.endswith("The explorer has ended.\n")
    assert errors == ""
    assert len(token) >= 43
    assert token not in out


def test_the_port_is_the_one_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = _explore("--no-browser", "--port", str(port))
        out, errors = process.communicate(timeout=600)
    assert process.returncode == 2
    assert out == ""
    assert errors.startswith(f"takifugu: port {port} cannot be used")
    assert "Traceback" not in errors


def test_a_table_that_is_not_there_is_told_before_anything_is_served() -> None:
    result = CliRunner().invoke(main, ["explore", "nosuch.csv", "--no-browser"])
    assert result.exit_code == 2
    assert "nosuch.csv" in result.output


def test_a_link_that_holds_nothing_is_told_before_anything_is_served() -> None:
    result = CliRunner().invoke(main, ["explore", "--no-browser", "--link", "http://127.0.0.1:8000/"])
    assert result.exit_code == 2
    assert "--link must be a link copied from the page" in result.output


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.web.server.find_spec", lambda name: None)
    result = CliRunner().invoke(main, ["explore", "--no-browser"])
    assert result.exit_code == 1
    assert "takifugu[web]" in result.output


def test_the_browser_gets_the_token_from_a_file_that_only_its_owner_reads() -> None:
    address = "http://127.0.0.1:1/?token=abc"
    with browser_door(address) as door:
        path = Path(unquote(urlparse(door).path))
        assert address in path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.exists()


@pytest.mark.skipif(not hasattr(os, "getpgid"), reason="the stand-in browser is a shell script")
def test_a_browser_is_opened_without_the_token_among_its_arguments(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{seen}.part"\nmv "{seen}.part" "{seen}"\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "takifugu", "explore"]
    environment = os.environ | {"BROWSER": f"{browser} %s"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    waiting = threading.Event()
    while not seen.exists() and process.poll() is None:  # however long it takes
        waiting.wait(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 0
    assert seen.read_text().startswith("file://")
    assert "token" not in seen.read_text()
    assert not Path(unquote(urlparse(seen.read_text()).path)).exists()
