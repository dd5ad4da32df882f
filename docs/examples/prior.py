import takifugu as tk

grades = tk.datasets.load("student-por")
for kind in ("gaussian", "mixture", "empirical"):
    priors = tk.fit_priors(grades, secret="schoolsup", query=tk.Raw("G3", prior=kind))
    calibration = tk.calibrate(priors, alpha=3, epsilon=1)
    print(f"{kind}: {len(priors['no'])} and {len(priors['yes'])} components, θ = {calibration.theta:.3f}")
    for finding in priors.findings:
        print(f"  {finding.level}: {finding}")
