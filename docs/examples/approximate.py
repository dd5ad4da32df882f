import takifugu as tk

priors = {"no": tk.Mixture.gaussian(0, 1), "yes": tk.Mixture.gaussian(1, 1)}
for noise in ("gaussian", "laplace", "auto"):
    made = tk.calibrate(priors, epsilon=1, delta=1e-5, noise=noise)
    print(f"{noise}: {made.channel.describe()}, off by {made.channel.std:.3f}")

# Which (ε, δ) does another guarantee keep? Exactly, from its two published laws.
renyi = tk.calibrate(priors, alpha=8, epsilon=0.5)
curve = renyi.privacy_curve()
print(f"{renyi.guarantee} keeps δ = {curve.delta(1.0):.1e} at ε = 1")

# Several guarantees at once: whichever asks for most decides.
both = tk.calibrate(priors, tk.Renyi(3, 1) & tk.Odds(5))
print(f"{both.guarantee}: {both.channel.describe()}")
