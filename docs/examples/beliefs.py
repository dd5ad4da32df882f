import takifugu as tk

query = tk.Raw("G3", bounds=(0, 20), step=1)
ours = tk.fit_priors(tk.datasets.load("student-por"), secret="schoolsup", query=query)
theirs = tk.fit_priors(tk.datasets.load("student-mat"), secret="schoolsup", query=query)
by_hand = {
    "no": tk.Mixture.gaussian(12, 3),
    "yes": tk.Mixture([0.7, 0.3], [11, 5], [2, 1.5]),
}

for name, belief in (
    ("Portuguese", ours),
    ("mathematics", theirs),
    ("by hand", by_hand),
):
    print(f"{name}: θ = {tk.calibrate(belief, alpha=8, epsilon=1).theta:.3f}")

others = {"mathematics": theirs, "by hand": by_hand}
together = tk.calibrate(
    ours, alpha=8, epsilon=1, adversary=tk.Adversary(beliefs=others)
)
print(f"all three: θ = {together.theta:.3f}")
print(f"  decided by {together.problem.words(together.place)}")
