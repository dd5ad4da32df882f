import takifugu as tk

grades = tk.datasets.load("student-por")
priors = tk.fit_priors(grades, secret="schoolsup", query=tk.Mean("G3"))
for secret, prior in priors.items():
    print(f"{secret}: {priors.rows[secret]} pupils, standard error {prior.std:.3f}")
for finding in priors.findings:
    print(finding)

calibration = tk.calibrate(priors, alpha=3, epsilon=1)
published = tk.release(grades, calibration, of="yes", ledger="means.ledger")
print(f"one number published, θ = {calibration.theta:.3f}")
