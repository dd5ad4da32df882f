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


CALIBRATION, CERTIFICATE = (f'{{\n  "format": "takifugu-{kind}",\n' for kind in ("calibration", "certificate"))
PAGE = "<!DOCTYPE html>\n"


@pytest.mark.parametrize("held", [b"s,x\na,1\n", b"PAR1\x15\x04", b"SQLite format 3\0", b'{"format": 1}', b"\xff\xfe"])
@pytest.mark.parametrize("text", [CALIBRATION, PAGE])
def test_what_is_not_of_its_kind_is_not_written_over(tmp_path, held, text):
    path = tmp_path / "file"
    path.write_bytes(held)
    with pytest.raises(InputError, match="not written over"):
        atomic.write_text(text, path)
    with pytest.raises(InputError, match="not written over"):
        atomic.Files(path)  # before the work
    assert path.read_bytes() == held


def test_a_newer_one_of_its_kind_takes_the_place(tmp_path):
    path = tmp_path / "file"
    for text, other in ((CALIBRATION, CERTIFICATE), (CERTIFICATE, PAGE), (PAGE, CALIBRATION)):
        path.write_bytes(b"")
        atomic.Files(path)
        atomic.write_text(text, path)
        atomic.write_text(f"{text}more", path)
        with pytest.raises(InputError, match="not written over"):
            atomic.write_text(other, path)
        assert path.read_text() == f"{text}more"


def test_a_table_is_not_taken_for_one_of_figures(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("name,age\n")
    with pytest.raises(InputError, match="not written over"):
        atomic.write_text("alpha,theta\n1,2\n", path)


def test_names_are_refused_before_the_work(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        atomic.Files(tmp_path / "report.html", tmp_path / f"{'x' * 250}.json")
    assert os.listdir(tmp_path) == []
