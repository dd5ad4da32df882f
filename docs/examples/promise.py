import takifugu as tk

people = tk.datasets.load("adult")
query = tk.Row("marital-status")
priors = tk.fit_priors(people, secret="race", query=query)

print("| odds | best guess at most | changed, for the sample | for the population |")
print("|---|---|---|---|")
for odds in (1.5, 2, 3, 5, 10):
    sample = tk.calibrate(priors, odds=odds)
    made = tk.calibrate(priors, odds=odds, confidence=0.95)
    guess = odds / (1 + odds)
    print(f"| {odds} | {guess:.0%} | {sample.error:.1%} | {made.error:.1%} |")
