import takifugu as tk

grades = tk.datasets.load("student-por")
query = tk.GP(
    "G3",
    features=["studytime", "absences", "failures"],
    at={"absences": 4, "failures": 0},
    max_rows=100,
    observation=False,  # what the model says is published, not a new pupil's grade
)
priors = tk.fit_priors(grades, secret="schoolsup", query=query)
for finding in priors.findings:
    print(f"{finding.level}: {finding}")

calibration = tk.calibrate(priors, alpha=3, epsilon=1)
means = {secret: round(prior.mean, 1) for secret, prior in priors.items()}
print(f"predictive means {means}, θ = {calibration.theta:.2f}")

prediction = priors["yes"].mean  # what the model of the pupils with support says
published = tk.release(
    [prediction], calibration, ledger="predictions.ledger", clip=(0, 20)
)
print(f"{len(published)} prediction published")
