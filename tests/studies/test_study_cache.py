"""The store: by content, whole or not at all, and never trusted blindly."""

import json

import pytest

from takifugu.paper import cache as module
from takifugu.paper.cache import Cache, code_digest, default_folder


def refuse():
    raise AssertionError("computed again")


def test_the_same_inputs_are_computed_once(tmp_path):
    store = Cache(tmp_path)
    assert store.get({"a": 1}, lambda: {"x": 0.1}) == {"x": 0.1}
    assert Cache(tmp_path).get({"a": 1}, refuse) == {"x": 0.1}
    assert store.get({"a": 2}, lambda: 7) == 7


def test_infinity_survives(tmp_path):
    assert Cache(tmp_path).get({}, lambda: float("inf")) == Cache(tmp_path).get({}, refuse) == float("inf")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"inputs": "other", "result": 3}', '{"result": 3}'])
def test_a_broken_file_is_computed_again(tmp_path, text):
    Cache(tmp_path).get({"a": 1}, lambda: 1)
    (path,) = tmp_path.iterdir()
    path.write_text(text)
    assert Cache(tmp_path).get({"a": 1}, lambda: 2) == 2
    assert json.loads(path.read_text())["result"] == 2


def test_another_version_is_another_result(tmp_path, monkeypatch):
    Cache(tmp_path).get({"a": 1}, lambda: 1)
    monkeypatch.setattr(module, "versions", lambda: {"numpy": "0"})
    assert Cache(tmp_path).get({"a": 1}, lambda: 2) == 2


def test_a_failure_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        Cache(tmp_path).get({}, lambda: {1, 2})  # a set is no JSON
    assert list(tmp_path.iterdir()) == []


def test_code_is_part_of_the_key():
    assert code_digest("laws") != code_digest("mechanisms")
    assert code_digest("laws") == code_digest("laws")


def test_the_folder_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("TAKIFUGU_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("TAKIFUGU_CACHE")
    monkeypatch.setattr(module.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_folder() == tmp_path / "x" / "takifugu"
