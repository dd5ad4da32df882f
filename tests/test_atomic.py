"""Files appear whole or not at all."""

import os

import pytest

from takifugu import InputError, atomic


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "file.txt"
    atomic.write_text("one", path)
    atomic.write_text("zwei θ", path)
    assert path.read_text(encoding="utf-8") == "zwei θ"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_an_interruption_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    atomic.write_text("one", path)

    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        atomic.write_text("two", path)
    assert path.read_text() == "one"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_a_link_keeps_pointing_where_it_did(tmp_path):
    (tmp_path / "real.txt").write_text("one")
    (tmp_path / "link.txt").symlink_to("real.txt")
    atomic.write_text("two", tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "two"


def test_what_is_no_file_is_written_to(capfd):
    atomic.write_text("three", "/dev/null")
    assert os.path.exists("/dev/null")


@pytest.mark.parametrize("name", ["no/such/folder.txt", "", "a\0b"])
def test_what_cannot_be_written_is_a_sentence(tmp_path, name):
    with pytest.raises(InputError, match="cannot be written"):
        atomic.write_text("x", f"{tmp_path}/{name}")


def test_a_private_file_is_for_its_owner_alone(tmp_path):
    atomic.write_text("secret", tmp_path / "private", private=True)
    atomic.write_text("open", tmp_path / "public")
    assert (tmp_path / "private").stat().st_mode & 0o077 == 0
    assert (tmp_path / "public").stat().st_mode & 0o400
