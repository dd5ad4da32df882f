import takifugu as tk

tk.datasets.load("adult").to_parquet("people.parquet")

priors = tk.fit_priors("people.parquet", secret="race", query=tk.Row("marital-status"))
calibration = tk.calibrate(priors, odds=3, confidence=0.95)
done = tk.release_file(
    "people.parquet", "published.parquet", calibration, ledger="people.ledger"
)
print(f"{done.rows:,} rows in {done.path}, {calibration.error:.1%} of them changed")
