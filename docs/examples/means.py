import takifugu as tk

grades = tk.datasets.load("student-por")
marks = ["G1", "G2", "G3"]
priors = tk.fit_priors(grades, secret="schoolsup", query=tk.Mean(marks))
calibration = tk.calibrate(priors, alpha=3, epsilon=1)
answer = grades.loc[grades["schoolsup"] == "yes", marks].mean()
published = tk.release(answer, calibration, ledger="means.ledger")
print(
    f"published: one vector of {len(published)} numbers, {', '.join(published.index)}"
)
print(tk.certify(calibration).claim)
