import takifugu as tk

priors = {"no": tk.Mixture.gaussian(0, 1), "yes": tk.Mixture.gaussian(1, 1)}
for noise in ("gaussian", "laplace", "auto"):
    made = tk.calibrate(priors, epsilon=1, delta=1e-5, noise=noise)
    print(f"{noise}: {made.channel.describe()}, off by {made.channel.std:.3f}")

# Which (ε, δ) does another guarantee keep? Exactly, from its two published laws.
renyi = tk.calibrate(priors, alpha=8, epsilon=0.5)
curve = renyi.privacy_curve()
print(f"{renyi.guarantee} keeps δ = {curve.delta(1.0):.1e} at ε = 1")
kept = renyi.approximate(1e-5)  # for every pair
print(f"δ = 1e-5: ε = {kept.exact:.3f}; by its best order {kept.by_order:.3f}")

# What (ε, δ) costs, for several of both.
ways = ["exact", "laplace"]
costs = tk.sweep(priors, epsilon=[0.5, 1], delta=[1e-5, 1e-6], mechanism=ways)
shown = costs[["mechanism", "epsilon", "delta", "std"]]
print(shown.to_string(index=False, float_format="{:.3g}".format))

# Several guarantees at once: whichever asks for most decides.
both = tk.calibrate(priors, tk.Renyi(3, 1) & tk.Odds(5))
print(f"{both.guarantee}: {both.channel.describe()}")
