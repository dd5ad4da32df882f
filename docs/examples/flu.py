import takifugu as tk

# How many of a household of four have the flu: none, one, … all of them.
household = tk.Group([0.1, 0.15, 0.5, 0.15, 0.1])
priors = household.priors()  # the law of the number, given one member's status
print({name: law.probabilities.round(3).tolist() for name, law in priors.items()})

for odds in (2, 3, 5):
    made = tk.calibrate(
        priors, odds=odds, preserve=None, utility=tk.Utility(loss="square")
    )
    print(f"odds {odds}: mean squared error {made.error:.4f}")
made = tk.calibrate(
    priors, alpha=3, epsilon=1, preserve=None, utility=tk.Utility(loss="square")
)
print(f"(alpha, epsilon) = (3, 1): {made.error:.8f}")
for name in ("wasserstein-laplace", "laplace"):
    scale = tk.calibrate(priors, odds=2, mechanism=name).channel.scale
    print(f"odds 2, {name}: {2 * scale**2:.2f}")
