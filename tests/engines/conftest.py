"""One table, held by every engine we know, on real servers and clusters where the engine has them."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from agreement import all_priors

from takifugu.queries.priors import Priors

ROOT = Path(__file__).parents[2]
ROWS = 3_000


@pytest.fixture(scope="session")
def people() -> pd.DataFrame:
    """Text, whole and broken numbers, and holes in each of them."""
    rng = np.random.default_rng(11)
    group = rng.choice(["North", "South", "East Side", None], size=ROWS, p=[0.5, 0.3, 0.15, 0.05])
    age = rng.integers(18, 90, size=ROWS)
    income = np.round(np.exp(rng.normal(10, 0.5, size=ROWS)) * np.where(group == "South", 0.7, 1.0), 2)
    return pd.DataFrame(
        {
            "group": pd.array(group, dtype=object),
            "level": pd.array(np.where(rng.random(ROWS) < 0.02, None, rng.integers(1, 4, ROWS)), dtype="Int64"),
            "age": age,
            "years-in-town": pd.array(np.where(rng.random(ROWS) < 0.1, None, rng.integers(0, 40, ROWS)), dtype="Int64"),
            "income": np.where(rng.random(ROWS) < 0.03, np.nan, income),
            "score": rng.normal(size=ROWS) + 0.02 * age,
        }
    )


@pytest.fixture(scope="session")
def expected(people) -> dict[str, Priors]:
    """The priors that every engine must find."""
    return all_priors(people)


@pytest.fixture(scope="session")
def csv(people, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    people.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def parquet(people, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    people.to_parquet(path, engine="pyarrow", index=False)
    return path


@pytest.fixture(scope="session")
def postgres(csv) -> Iterator[str]:
    """A server of our own with the table `people` in it; its address."""
    script = ROOT / "scripts" / "start_postgres.sh"
    # Not under pytest's own folder, which is closed to others: a server started by root runs as another user.
    folder = Path(tempfile.mkdtemp(prefix="takifugu-postgres-"))
    folder.chmod(0o755)
    started = subprocess.run([script, "start", folder, str(free_port())], capture_output=True, text=True, check=False)
    if "server is missing" in started.stderr:
        pytest.skip("PostgreSQL's server is not installed: run scripts/start_postgres.sh install")
    assert started.returncode == 0, started.stderr
    address = started.stdout.strip()
    try:
        import psycopg

        with psycopg.connect(address) as connection, connection.cursor() as cursor:
            cursor.execute(
                'CREATE TABLE people ("group" text, level int, age bigint, "years-in-town" smallint, '
                "income double precision, score double precision)"
            )
            with cursor.copy("COPY people FROM STDIN (FORMAT csv, HEADER)") as copy:
                copy.write(csv.read_bytes())
        yield address
    finally:
        subprocess.run([script, "stop", folder], check=True)
        shutil.rmtree(folder)


@pytest.fixture(scope="module", params=["local", "cluster"])
def spark(request, tmp_path_factory) -> Iterator[Any]:
    """A Spark session: in one process, or on a standalone cluster whose two executors are processes apart."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: install a JDK, 17 or newer")
    from pyspark.sql import SparkSession

    with contextlib.ExitStack() as stack:
        master = "local[2]"
        if request.param == "cluster":
            master = stack.enter_context(cluster(tmp_path_factory.mktemp("spark")))
        session = (
            SparkSession.builder.master(master)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.executor.memory", "512m")
            .config("spark.executor.cores", "1")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            # A job whose results are larger than this fails: rows cannot reach the driver unnoticed.
            .config("spark.driver.maxResultSize", "150k")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        stack.callback(session.stop)
        if request.param == "cluster":
            wait_until(lambda: executors(session) == 2, "two executors")
        yield session


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A Spark master on loopback, and a worker with room for two executors; the master's address.

    Both live in the Java that drives the session: two more of them would cost more than all the queries.
    """
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    java = SparkContext._jvm
    deploy, conf, nothing = java.org.apache.spark.deploy, java.org.apache.spark.SparkConf(), java.scala.Option.empty()
    with contextlib.ExitStack() as stack:
        master = deploy.master.Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, conf)._1()
        stack.callback(master.shutdown)
        address = f"spark://{master.address().hostPort()}"
        masters = SparkContext._gateway.new_array(java.String, 1)
        masters[0] = address
        room = (2, 1024)  # cores and megabytes
        worker = deploy.worker.Worker.startRpcEnvAndEndpoint(
            "127.0.0.1", 0, 0, *room, masters, str(folder / "work"), nothing, conf, nothing
        )
        stack.callback(worker.shutdown)
        yield address


def executors(session: Any) -> int:
    """Processes that work for the session, apart from the one that drives it."""
    return int(session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1


def wait_until(ready: Any, what: str) -> None:
    deadline = time.monotonic() + 300  # a laden machine starts Java slowly
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not start within five minutes")
        time.sleep(0.2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
