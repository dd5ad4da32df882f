import math

import takifugu as tk

patients = tk.datasets.load("heart").dropna(subset=["oldpeak"])
patients = patients[patients["slope"].isin([1, 3])]
priors = tk.fit_priors(patients, secret="slope", query=tk.Raw("oldpeak"))
budget = tk.calibrate(priors, alpha=3, epsilon=1)

ledger = tk.Ledger("heart.ledger", budget=budget)
for visit in ("first", "second"):
    tk.release(
        patients["oldpeak"], budget, secret=patients["slope"], theta=math.sqrt(2.001) * budget.theta, ledger=ledger
    )
    account = ledger.account()
    print(f"after the {visit}: {account.fraction_spent:.1%} spent, loss {ledger.loss(budget):.3f} of {budget.epsilon}")
