import takifugu as tk

people = tk.datasets.load("adult")
priors = tk.fit_priors(
    people, secret="race", query=tk.Raw("education-num"), secrets=["White", "Other"]
)
calibration = tk.calibrate(priors, alpha=3, epsilon=1)

published = tk.release(
    people,
    calibration,
    secret="race",
    column="education-num",
    others="drop",  # rows whose race is in no calibrated pair
    round_to=1,  # whole numbers, as the column had
    clip=(1, 16),
    ledger="adult.ledger",
)
print(f"θ = {calibration.theta:.3f}; columns that left: {list(published.columns)}")

account = tk.Ledger("adult.ledger").account()
print(f"{account.releases} release, {account.fraction_spent:.0%} of the budget spent")
try:
    tk.release(
        people,
        calibration,
        secret="race",
        column="education-num",
        others="drop",
        ledger="adult.ledger",
    )
except tk.BudgetError as refusal:
    print(f"refused: {refusal}")
