import math

import takifugu as tk

patients = tk.datasets.load("heart").dropna(subset=["oldpeak"])
patients = patients[patients["slope"].isin([1, 3])]
priors = tk.fit_priors(patients, secret="slope", query=tk.Raw("oldpeak"))
budget = tk.calibrate(priors, alpha=8, epsilon=1)

ledger = tk.Ledger("heart.ledger", budget=budget)
for visit in ("first", "second"):
    tk.release(
        patients["oldpeak"],
        budget,
        secret=patients["slope"],
        theta=math.sqrt(2.001) * budget.theta,
        ledger=ledger,
    )
    account = ledger.account()
    spent, loss = account.fraction_spent, ledger.loss(budget)
    print(f"after the {visit}: {spent:.1%} spent, loss {loss:.3f} of {budget.epsilon}")
