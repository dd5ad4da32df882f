from pyspark.sql import SparkSession

import takifugu as tk

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
grades = spark.read.csv(
    str(tk.datasets.path("student-por")), header=True, inferSchema=True
)

# Only counts leave the executors.
priors = tk.fit_priors(grades, secret="schoolsup", query=tk.Raw("G3"))
calibration = tk.calibrate(priors, alpha=3, epsilon=1)
published = tk.release(
    grades, calibration, secret="schoolsup", column="G3", round_to=1, clip=(0, 20)
)
published.write.parquet("published.parquet")

print(f"θ = {calibration.theta:.3f}; {published.count()} rows of {published.columns}")
spark.stop()
