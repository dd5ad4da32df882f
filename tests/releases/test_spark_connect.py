"""Spark Connect's tables are treated as Spark's are.

In a file and a test of its own: a process has room for one kind of session, and its server for one process.
"""

import pytest
import test_spark_release as spark


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_spark_connect_is_served_like_spark():
    session = spark.session_of(remote=True)
    try:
        spark.test_a_kept_column_is_held_against_the_secret_in_all_rows(session)
        spark.test_a_cluster_releases_its_own_table(session)
        spark.test_a_cluster_s_table_is_calibrated_where_it_lies(session)
    finally:
        session.stop()
