import takifugu as tk

pupils = tk.datasets.load("student-mat")
for kind, bounds in {
    "gaussian": ["exact", "closed-form", "wasserstein-aware"],
    "mixture": ["exact", "gmm-transport", "wasserstein-aware"],
}.items():
    query = tk.Raw("G3", prior=kind, step=0)  # the values as they are, as in the paper
    priors = tk.fit_priors(pupils, secret="schoolsup", query=query)
    for mechanism in bounds:
        made = tk.calibrate(priors, alpha=3, epsilon=1, mechanism=mechanism)
        print(f"{kind} priors, {mechanism}: θ = {made.theta:.3f}")

calibration = tk.calibrate(priors, alpha=3, epsilon=1)
proof = tk.certify(calibration)
print(f"proved: {max(loss.upper for loss in proof.losses):.6f} at most, budget 1")
