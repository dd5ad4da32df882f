import takifugu as tk

people = tk.datasets.load("adult")
groups = ["White", "Black", "Asian-Pac-Islander"]
statuses = [
    "Divorced",
    "Married-AF-spouse",
    "Married-civ-spouse",
    "Married-spouse-absent",
]
statuses += ["Never-married", "Separated", "Widowed"]


def told(name, calibration):
    print(f"{name}: {calibration.error:.1%} of the cells changed")


def fit(**more):
    query = tk.Row("marital-status", domain=statuses)
    return tk.fit_priors(people, secret="race", query=query, secrets=groups, **more)


told("these rows' own shares", tk.calibrate(fit(), odds=3))
made = tk.calibrate(fit(), odds=3, confidence=0.95)
told("the population, by draws", made)
print(f"  {made.evidence.sentence}")
made = tk.calibrate(fit(), odds=3, assurance="band")
told("the population, proved", made)
print(f"  {made.evidence.sentence}")

knows = fit(known=["sex", tk.binned("age", [30, 50])])
made = tk.calibrate(knows, odds=3, confidence=0.95)
told(f"who may know sex and age band ({len(knows)} beliefs)", made)
print(f"  decided by {made.problem.words(made.place)}")
