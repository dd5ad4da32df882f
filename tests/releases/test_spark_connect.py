"""Spark Connect's tables are treated as Spark's are.

In a process of its own: one process has room for one kind of session, and the other's modules may be half imported.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SERVED = """
import test_spark_release as spark
session = spark.session_of(remote=True)
try:
    spark.test_a_kept_column_is_held_against_the_secret_in_all_rows(session)
    spark.test_a_cluster_releases_its_own_table(session)
    spark.test_a_cluster_s_table_is_calibrated_where_it_lies(session)
finally:
    session.stop()
print("served")
"""


def test_spark_connect_is_served_like_spark(tmp_path):
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    pytest.importorskip("grpc_status", reason="Spark Connect needs pyspark[connect]")
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java, and there is none")
    script = tmp_path / "served.py"  # a file: Spark Connect starts its server from the name of the main program's
    script.write_text(f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n{SERVED}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.endswith("served\n")
