import takifugu as tk

people = tk.datasets.load("adult")
query = tk.Raw("education-num", bounds=(1, 16), step=1)
priors = tk.fit_priors(people, secret="race", query=query, secrets=["White", "Other"])

print("θ for the sample, and for the population")
for alpha in (2, 3, 8):
    for epsilon in (0.1, 0.5, 1, 2):
        promise = {"alpha": alpha, "epsilon": epsilon}
        sample = tk.calibrate(priors, **promise)
        made = tk.calibrate(priors, **promise, confidence=0.95)
        print(f"α = {alpha}, ε = {epsilon}: {sample.theta:.2f}, {made.theta:.2f}")
