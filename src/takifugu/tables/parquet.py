"""Parquet files as SQL: their own types, one schema for all of them."""

from collections.abc import Sequence

from takifugu.errors import InputError
from takifugu.tables.engine import Workspace, attempt, exactly, text
from takifugu.tables.layout import check_names


def parquet_sql(space: Workspace, paths: Sequence[str], *, shown: str) -> str:
    """The statement that yields the rows of the files, in order. No column is made of the names of folders."""
    first: list[tuple[str, str]] | None = None
    for path in paths:
        where = shown if len(paths) == 1 else f"the file {path!r}"
        columns = _columns(space, path, where)
        if first is not None and columns != first:
            raise InputError(
                f"the files {paths[0]!r} and {path!r} do not have the same columns of the same types in the same "
                f"order: name only those that do"
            )
        first = columns
    return _read(paths)


def _read(paths: Sequence[str]) -> str:
    files = ", ".join(text(path if "://" in path else exactly(path)) for path in paths)
    return f"SELECT * FROM read_parquet([{files}], hive_partitioning = false, union_by_name = false)"


def _columns(space: Workspace, path: str, where: str) -> list[tuple[str, str]]:
    """Names and types. The engine renames names that differ in capitals alone, so those of the file are looked at."""
    pattern = text(path if "://" in path else exactly(path))
    nodes, why = attempt(
        lambda: space.connection.execute(f"SELECT name, num_children FROM parquet_schema({pattern})").fetchall()
    )
    told, again = attempt(lambda: space.connection.execute(f"DESCRIBE {_read([path])}").fetchall())
    if nodes is None or told is None:
        raise InputError(f"{where} cannot be read: {why or again}")
    check_names(_top(nodes), where)
    return [(name, kind) for name, kind, *_ in told]


def _top(nodes: list[tuple[str, int | None]]) -> list[str]:
    """The names right below the root of a schema that is told depth first."""
    names, place = [], 1
    while place < len(nodes):
        names.append(nodes[place][0])
        waiting = 1
        while waiting:
            waiting += (nodes[place][1] or 0) - 1
            place += 1
    return names
