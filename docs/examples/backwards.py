import takifugu as tk

people = tk.datasets.load("adult")
groups = ["White", "Black"]
query = tk.Row("education-num")
priors = tk.fit_priors(people, secret="race", query=query, secrets=groups)

careful = tk.calibrate(priors, best_guess=0.6, confidence=0.95)
useful = tk.calibrate(priors, error=0.2, confidence=0.95)
for made in (careful, useful):
    odds = made.guarantee.most_odds
    guess = tk.best_guess(odds=odds)
    spread = people["education-num"].std()
    off = made.error**0.5 / spread
    print(f"odds {odds:.2f}, best guess {guess:.1%}, off by {off:.2f} of the spread")
