import takifugu as tk

pupils = tk.datasets.load("student-mat").assign(pupil=range(395))
ledger = tk.Ledger("pupils.ledger", id="pupil", budget=tk.Odds(9))

for column, options in (("freetime", {}), ("health", {"local_price": 1})):
    priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Row(column))
    calibration = tk.calibrate(priors, odds=1.5, **options)
    tk.release(pupils, calibration, ledger=ledger)

(account,) = ledger.accounts()
print(account.kept, *account.lines, sep="\n")
