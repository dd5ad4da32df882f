import takifugu as tk

tk.datasets.load("student-por").to_parquet("grades.parquet")

priors = tk.fit_priors("grades.parquet", secret="schoolsup", query=tk.Raw("G3"))
calibration = tk.calibrate(priors, alpha=3, epsilon=1)
done = tk.release_file(
    "grades.parquet",
    "published.parquet",
    calibration,
    column="G3",
    secret="schoolsup",
    ledger="grades.ledger",
)
print(f"{done.rows} rows in {done.path}, θ = {done.theta:.3f}")
