from pyspark.sql import SparkSession

import takifugu as tk

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
people = spark.read.csv(str(tk.datasets.path("adult")), header=True, inferSchema=True)

# Only counts leave the executors.
priors = tk.fit_priors(people, secret="race", query=tk.Row("marital-status"))
calibration = tk.calibrate(priors, odds=3, confidence=0.95)
published = tk.release(people, calibration)
published.write.parquet("published.parquet")

rows, changed = published.count(), calibration.error
print(f"{rows:,} rows of {published.columns}, {changed:.1%} of them changed")
spark.stop()
