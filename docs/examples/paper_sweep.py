import takifugu as tk

pupils = tk.datasets.load("student-mat")
priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Raw("G3", step=0))
rules = ["exact", "gmm-transport", "wasserstein-aware"]
costs = tk.sweep(priors, alpha=3, epsilon=[0.1, 0.5, 1, 2], mechanism=rules)
print(costs.pivot(index="epsilon", columns="mechanism", values="theta")[rules].round(3))
