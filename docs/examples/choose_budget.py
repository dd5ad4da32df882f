import takifugu as tk

people = tk.datasets.load("adult")
priors = tk.fit_priors(
    people, secret="race", query=tk.Raw("education-num"), secrets=["White", "Other"]
)
table = tk.sweep(priors, alphas=[2, 3, 8], epsilons=[0.1, 0.5, 1, 2])
print(table.pivot(index="epsilon", columns="alpha", values="theta").round(2))
