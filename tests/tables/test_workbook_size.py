"""Workbooks that would take all memory are refused before they are unpacked."""

import zipfile

import openpyxl
import pytest

import takifugu as tk
from takifugu.tables import files as workbook_size
from takifugu.tables.files import is_too_large


def write(path, stray=()):
    book = openpyxl.Workbook()
    for row in [("s", "x"), *(("ab"[k % 2], k % 3) for k in range(60))]:
        book.active.append(row)
    for row, column in stray:
        book.active.cell(row, column, "a stray cell")
    book.save(path)
    return path


def changed(path, before, after):
    """The same workbook with other places in its sheet."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, content.replace(before, after) if "worksheets" in name else content)
    return path


@pytest.mark.parametrize("stray", [[(1_048_576, 16_384)], [(1, 16_384), (1_048_576, 1)], [(1_048_576, 1), (1, 60)]])
def test_a_stray_cell_far_away_is_told_and_does_not_end_the_process(tmp_path, stray):
    path = write(tmp_path / "people.xlsx", stray)
    with pytest.raises(tk.InputError, match=r"people.xlsx' is too large to be read.*Delete a stray cell"):
        tk.fit_priors(path, secret="s", query=tk.Row("x"))


def test_places_that_no_program_writes_are_not_looked_past(tmp_path):
    for place in (b"r='XFD1048576'", b'r = "XFD1048576"', b'r="&#88;FD1048576"', b'r="ABCDE12"', b'r="B4294967295"'):
        path = changed(write(tmp_path / "people.xlsx"), b'r="B61"', place)
        assert is_too_large(path)


def test_what_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch):
    path = changed(write(tmp_path / "people.xlsx"), b"</sheetData>", b"</sheetData>" + b" " * 10_000_000)
    assert path.stat().st_size < 20_000
    assert not is_too_large(path)
    monkeypatch.setattr(workbook_size, "MOST_BYTES", 5_000_000)
    assert is_too_large(path)


@pytest.mark.parametrize("stray", [[], [(1_048_576, 3)], [(5_000, 5_000)]])
def test_others_are_read(tmp_path, stray):
    assert not is_too_large(write(tmp_path / "people.xlsx", stray))


def test_a_place_is_found_wherever_a_piece_ends(tmp_path, monkeypatch):
    path = write(tmp_path / "people.xlsx", [(1_048_576, 16_384)])
    for size in (64, 101, 257):
        monkeypatch.setattr(workbook_size, "_AT_ONCE", size)
        assert is_too_large(path)
        assert not is_too_large(write(tmp_path / "small.xlsx"))
