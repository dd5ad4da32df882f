import takifugu as tk

people = tk.datasets.load("adult")
query = tk.Raw("education-num", bounds=(1, 16), step=1)
priors = tk.fit_priors(people, secret="race", query=query, secrets=["White", "Other"])
calibration = tk.calibrate(priors, alpha=8, epsilon=1, confidence=0.95)

published = tk.release(
    people,
    calibration,
    others="drop",  # rows whose race is in no calibrated pair
    round_to=1,  # whole numbers, as the column had
    clip=(1, 16),
    ledger="adult.ledger",
)
print(f"θ = {calibration.theta:.3f}; columns that left: {list(published.columns)}")

account = tk.Ledger("adult.ledger").account()
print(f"{account.releases} release, {account.fraction_spent:.0%} of the budget spent")
try:
    tk.release(people, calibration, others="drop", ledger="adult.ledger")
except tk.BudgetError as refusal:
    print(f"refused: {refusal}")
