import takifugu as tk

grades = tk.datasets.load("student-por")
for kind in ("counts", "mixture", "gaussian", "empirical"):
    query = tk.Raw("G3", prior=kind, bounds=(0, 20), step=1)
    priors = tk.fit_priors(grades, secret="schoolsup", query=query)
    calibration = tk.calibrate(priors, alpha=8, epsilon=1)
    print(f"{kind}: θ = {calibration.theta:.3f}")
    for finding in priors.findings:
        print(f"  {finding.level}: {finding}")
