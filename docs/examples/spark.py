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
query = tk.Raw("education-num", bounds=(1, 16), step=1)
priors = tk.fit_priors(people, secret="race", query=query, secrets=["White", "Other"])
calibration = tk.calibrate(priors, alpha=8, epsilon=1, confidence=0.95)
published = tk.release(people, calibration, others="drop", round_to=1, clip=(1, 16))
published.write.parquet("published.parquet")

rows = published.count()
print(f"{rows:,} rows of {published.columns}, θ = {calibration.theta:.3f}")
spark.stop()
