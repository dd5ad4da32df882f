import takifugu as tk

grades = tk.datasets.load("student-por")
marks = ["G1", "G2", "G3"]
priors = tk.fit_priors(grades, secret="schoolsup", query=tk.Mean(marks))
calibration = tk.calibrate(priors, alpha=3, epsilon=1)
published = tk.release(grades, calibration, of="yes", ledger="means.ledger")
print(f"published: one vector of {len(published)} numbers")
print(tk.certify(calibration).claim)
