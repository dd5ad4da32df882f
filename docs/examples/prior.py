import takifugu as tk

grades = tk.datasets.load("student-por")
for kind in ("gaussian", "mixture", "empirical"):
    priors = tk.fit_priors(grades, secret="schoolsup", query=tk.Raw("G3", prior=kind))
    calibration = tk.calibrate(priors, alpha=3, epsilon=1)
    components = {secret: len(prior) for secret, prior in priors.items()}
    print(f"{kind}: {components} components, θ = {calibration.theta:.3f}")
    for finding in priors.findings:
        print(f"  {finding.level}: {finding}")
