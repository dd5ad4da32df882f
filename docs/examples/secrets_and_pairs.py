import math

import takifugu as tk

people = tk.datasets.load("adult")
priors = tk.fit_priors(people, secret="race", query=tk.Row("education-num"))
for name, prior in priors.items():
    rows = priors.rows[name]
    print(f"{name}: {rows:,} rows, {prior.probability(13):.1%} with 13 years")

every = tk.calibrate(priors, odds=3, confidence=0.95)
off = every.error**0.5
print(f"{len(every.pairs)} pairs: off by {off:.2f} years, worst {every.worst_pair}")

pairs = [("White", "Other"), ("White", "Black")]
some = tk.calibrate(priors, odds=3, confidence=0.95, pairs=pairs)
print(f"two pairs: off by {some.error**0.5:.2f} years, worst {some.worst_pair}")
for (a, b), loss in some.losses.items():
    print(f"  {a} against {b}: odds move up to {math.exp(loss):.2f}-fold")
