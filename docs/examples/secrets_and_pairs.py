import takifugu as tk

people = tk.datasets.load("adult")
priors = tk.fit_priors(people, secret="race", query=tk.Raw("education-num"))
for name, prior in priors.items():
    rows = priors.rows[name]
    print(f"{name}: {rows:,} rows, mean {prior.mean:.2f}, std {prior.std:.2f}")

every = tk.calibrate(priors, alpha=3, epsilon=1)
print(f"{len(every.pairs)} pairs: θ = {every.theta:.3f}, worst {every.worst_pair}")

some = tk.calibrate(
    priors, alpha=3, epsilon=1, pairs=[("White", "Other"), ("White", "Black")]
)
print(f"two pairs: θ = {some.theta:.3f}, worst {some.worst_pair}")
for (a, b), loss in some.losses.items():
    print(f"  {a} against {b}: loss {loss:.3f}")
