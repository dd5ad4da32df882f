import math
import warnings

import takifugu as tk

columns = {
    "adult": ("race", ["White", "Other"], "education-num"),
    "student-mat": ("schoolsup", ["no", "yes"], "G3"),
    "heart": ("slope", [1, 3], "oldpeak"),
}
rules = ["wasserstein-laplace", "kantorovich-relaxed", "laplace"]
warnings.simplefilter("ignore", tk.DiagnosticWarning)  # some groups are small

print("| standard deviation | W∞ | relaxed | exact | (3, .1) G | L | (3, .5) G | L |")
print("|---|--:|--:|--:|--:|--:|--:|--:|")
for table, (secret, groups, column) in columns.items():
    query = tk.Raw(column, prior="counts")
    priors = tk.fit_priors(table, secret=secret, query=query, secrets=groups)
    found = [*tk.sweep(priors, odds=math.e, mechanism=rules).variance]
    for epsilon in (0.1, 0.5):
        noises = ["exact", "laplace"]
        both = tk.sweep(priors, alpha=3, epsilon=epsilon, mechanism=noises)
        found += [*both.variance]
    stds = " | ".join(f"{math.sqrt(variance):.2f}" for variance in found)
    print(f"| {table}: {column} | {stds} |")
