import takifugu as tk

pupils = tk.datasets.load("student-mat").assign(pupil=range(395))
ledger = tk.Ledger("pupils.ledger", id="pupil", budget=tk.Odds(9))

for column, most in (("freetime", None), ("health", 1.0)):
    priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Row(column))
    utility = tk.Utility(local_price=most)
    calibration = tk.calibrate(priors, odds=1.5, utility=utility)
    tk.release(pupils, calibration, ledger=ledger)

(account,) = ledger.accounts()
print(account.kept, *account.lines, sep="\n")
